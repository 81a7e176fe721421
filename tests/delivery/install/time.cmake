# SPDX-License-Identifier: MIT
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# The pool over time, from a build that has no other component, static and shared.
foreach(shared IN ITEMS OFF ON)
    set(folder ${work}/shared-${shared})
    run(${CMAKE_COMMAND} -S ${source} -B ${folder}/build -G ${generator} ${settings} -D CMAKE_BUILD_TYPE=Release
        -D CMAKE_INSTALL_PREFIX=${folder}/installed -D CMAKE_INSTALL_LIBDIR=lib
        -D HANDLEPOOL_COMPONENTS=time -D HANDLEPOOL_BUILD_EXAMPLES=OFF -D BUILD_SHARED_LIBS=${shared})
    run(${CMAKE_COMMAND} --build ${folder}/build)
    run(${CMAKE_COMMAND} --install ${folder}/build)
    set(prefix "${folder}/moved to here")
    file(RENAME ${folder}/installed ${prefix})
    foreach(program IN ITEMS time pools)
        run(${CMAKE_COMMAND} -S ${tests}/${program} -B ${folder}/${program} -G ${generator} ${settings} -D CMAKE_BUILD_TYPE=Release
            -D CMAKE_PREFIX_PATH=${prefix})
    endforeach()
    run(${CMAKE_COMMAND} --build ${folder}/time)
    run(${folder}/time/program)
    expect_failure("The component 'service' is not installed in .*; beside the pools there is: time\\."
        ${CMAKE_COMMAND} -S ${tests}/pools -B ${folder}/missing -G ${generator} ${settings}
        -D CMAKE_PREFIX_PATH=${prefix} -D components=service)

    # A program that names the pools alone is built, and runs, where that library is not.
    file(GLOB library ${prefix}/lib/libhandlepool_time*)
    if(NOT library)
        message(FATAL_ERROR "There is no library in ${prefix}/lib")
    endif()
    file(REMOVE ${library})
    run(${CMAKE_COMMAND} --build ${folder}/pools)
    run(${folder}/pools/program)
endforeach()

# Its headers need those of the pools, and of the standard library: no others of this library, and no package's.
file(GLOB headers RELATIVE ${source}/include ${source}/include/handlepool/time/*.hpp)
list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>")
list(JOIN headers "\n" headers)
file(WRITE ${work}/headers.cpp "${headers}\n")
execute_process(COMMAND ${compiler} -std=c++20 -I . -M ${work}/headers.cpp WORKING_DIRECTORY ${source}/include
                OUTPUT_VARIABLE included COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "handlepool/[a-z_/]+\\.hpp" included "${included}")
if(NOT included MATCHES "/detail/time/frame_recorder\\.hpp")
    message(FATAL_ERROR "These should be the headers that those of the pool over time include: ${included}")
endif()
foreach(header IN LISTS included)
    file(STRINGS ${source}/include/${header} packages REGEX "#include <(fmt|nlohmann|boost|oneapi|tbb)/")
    if(packages OR header MATCHES "/detail/(service|properties|containers)/|service\\.hpp|/property_")
        message(FATAL_ERROR "A header of the pool over time includes ${header}, which is not of the pools, or needs: ${packages}")
    endif()
endforeach()
