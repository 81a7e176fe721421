# unite(TARGET [EXCEPT FILES...]): with HANDLEPOOL_UNITE_SOURCES, the target's files are compiled several at a time, which halves
# the time of a whole build: headers are read, and templates instantiated, once for all of them. Not the files named, which
# have local names in common with others.
function(unite target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" EXCEPT)
    if(HANDLEPOOL_UNITE_SOURCES)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
        set_source_files_properties(${arg_EXCEPT} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
endfunction()
