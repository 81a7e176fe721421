# unite(TARGET [OF COUNT] [EXCEPT FILES...]): with HANDLEPOOL_UNITE_SOURCES, the target's files are compiled several at a time,
# which halves the time of a whole build: headers are read, and templates instantiated, once for all of them. Not the files named,
# which have local names in common with others.
#
# Which files are compiled together depends on their names only: a new file joins one group, and leaves the others as they were.
# Where a build leaves files out, COUNT is the number of all, so that it compiles nothing together that the others don't.
function(unite target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "OF" "EXCEPT")
    if(NOT HANDLEPOOL_UNITE_SOURCES)
        return()
    endif()
    get_target_property(files ${target} SOURCES)
    list(LENGTH files count)
    if(arg_OF)
        set(count ${arg_OF})
    endif()
    set(groups 1)
    while(count GREATER 8) # a group has 4 to 8 files, more or less
        math(EXPR groups "${groups} * 2")
        math(EXPR count "${count} / 2")
    endwhile()
    foreach(file IN LISTS files)
        string(MD5 hash ${file})
        string(SUBSTRING ${hash} 0 4 digits)
        math(EXPR group "0x${digits} % ${groups}")
        set_source_files_properties(${file} PROPERTIES UNITY_GROUP group_${group})
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    set_source_files_properties(${arg_EXCEPT} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
