# SPDX-License-Identifier: MIT

# unite(TARGET [OF COUNT] [EXCEPT FILES...]): with HANDLEPOOL_UNITE_SOURCES, the target's files are compiled several at a time,
# which halves the time of a whole build: headers are read, and templates instantiated, once for all of them. Not the files named,
# which have local names in common with others, nor those that have options of their own.
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
    file(REAL_PATH ${CMAKE_CURRENT_BINARY_DIR} folder_of_texts)
    foreach(file IN LISTS files)
        get_source_file_property(options ${file} COMPILE_OPTIONS)
        if(options OR file IN_LIST arg_EXCEPT)
            continue()
        endif()
        string(MD5 hash ${file})
        string(SUBSTRING ${hash} 0 4 digits)
        math(EXPR group "0x${digits} % ${groups}")
        # Named relative to the text that includes it: so ccache finds the same text in any folder. Between where folders are,
        # and not where links to them are: the system follows links before it goes up.
        cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE path)
        cmake_path(GET path FILENAME name)
        cmake_path(GET path PARENT_PATH path)
        file(REAL_PATH ${path} path)
        cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${folder_of_texts})
        string(APPEND text_${group} "#include \"${path}/${name}\"\n")
        set_source_files_properties(${file} PROPERTIES HEADER_FILE_ONLY ON)
    endforeach()
    foreach(group RANGE ${groups})
        if(DEFINED text_${group})
            set(united ${CMAKE_CURRENT_BINARY_DIR}/${target}_${group}.cpp)
            file(CONFIGURE OUTPUT ${united} CONTENT "${text_${group}}" @ONLY)
            target_sources(${target} PRIVATE ${united})
        endif()
    endforeach()
endfunction()

# United texts are large: g++ would spend a tenth of its time on collecting what it could as well keep until its end.
if(HANDLEPOOL_UNITE_SOURCES AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(--param=ggc-min-heapsize=1048576) # KiB
endif()
