# SPDX-License-Identifier: MIT
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

foreach(fetch IN ITEMS OFF ON)
    # A build without a type, as parent projects may have it.
    run(${CMAKE_COMMAND} -S ${tests}/subproject -B ${work}/${fetch} -G ${generator} ${settings} -D handlepool_source=${source}
            -D fetch=${fetch})
    run(${CMAKE_COMMAND} --build ${work}/${fetch})
    run(${CMAKE_COMMAND} -E chdir ${work}/${fetch} ./program)

    # What nobody links is not built, and nothing of the library is installed.
    file(GLOB_RECURSE objects RELATIVE ${work}/${fetch}/handlepool ${work}/${fetch}/handlepool/*.o)
    list(FILTER objects EXCLUDE REGEX "^src/core/CMakeFiles/handlepool.dir/")
    if(objects)
        message(FATAL_ERROR "A program that uses pools only also builds ${objects}")
    endif()
    if(NOT fetch)
        run(${CMAKE_COMMAND} --build ${work}/${fetch} --target all_libraries)
    endif()
    # Another project, of another configuration, takes the library from that build folder.
    run(${CMAKE_COMMAND} -S ${tests}/build_folder -B ${work}/use-${fetch} -G ${generator} ${settings} -D CMAKE_BUILD_TYPE=Debug
            -D exported=${work}/${fetch})
    run(${CMAKE_COMMAND} --build ${work}/use-${fetch})
    run(${work}/use-${fetch}/program)

    run(${CMAKE_COMMAND} --install ${work}/${fetch} --prefix ${work}/prefix-${fetch})
    file(GLOB installed RELATIVE ${work}/prefix-${fetch} ${work}/prefix-${fetch}/*)
    if(NOT installed STREQUAL "CMakeLists.txt")
        message(FATAL_ERROR "A part of a project installs: ${installed}")
    endif()
endforeach()
