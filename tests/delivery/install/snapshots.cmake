# SPDX-License-Identifier: MIT
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# Snapshots, from a build that was asked for them alone, static and shared; they bring what they stand on.
foreach(shared IN ITEMS OFF ON)
    set(folder ${work}/shared-${shared})
    run(${CMAKE_COMMAND} -S ${source} -B ${folder}/build -G ${generator} ${settings} -D CMAKE_BUILD_TYPE=Release
        -D CMAKE_INSTALL_PREFIX=${folder}/installed -D CMAKE_INSTALL_LIBDIR=lib
        -D HANDLEPOOL_COMPONENTS=snapshots -D HANDLEPOOL_BUILD_EXAMPLES=OFF -D BUILD_SHARED_LIBS=${shared})
    run(${CMAKE_COMMAND} --build ${folder}/build)
    run(${CMAKE_COMMAND} --install ${folder}/build)
    set(prefix "${folder}/moved to here")
    file(RENAME ${folder}/installed ${prefix})
    run(${CMAKE_COMMAND} -S ${tests}/snapshots -B ${folder}/snapshots -G ${generator} ${settings} -D CMAKE_BUILD_TYPE=Release
        -D CMAKE_PREFIX_PATH=${prefix})
    run(${CMAKE_COMMAND} --build ${folder}/snapshots)
    run(${folder}/snapshots/program)
    expect_failure("The component 'service' is not installed in .*; beside the pools there is: time, snapshots\\."
        ${CMAKE_COMMAND} -S ${tests}/pools -B ${folder}/missing -G ${generator} ${settings}
        -D CMAKE_PREFIX_PATH=${prefix} -D components=service)

    # The package that it was built with is nowhere in what users have: neither in a header nor in a file for CMake or pkg-config.
    file(GLOB_RECURSE files ${prefix}/*.hpp ${prefix}/*.cmake ${prefix}/*.pc)
    if(NOT files)
        message(FATAL_ERROR "Nothing is installed in ${prefix}")
    endif()
    foreach(file IN LISTS files)
        file(STRINGS ${file} mentioned REGEX "xxhash|XXHASH")
        if(mentioned)
            message(FATAL_ERROR "${file} mentions a package that users don't need: ${mentioned}")
        endif()
    endforeach()
endforeach()

# What is too old is as good as none: an error that names the package, where the component was asked for.
file(WRITE ${work}/old/xxhash.h "#define XXH_VERSION_MAJOR 0\n#define XXH_VERSION_MINOR 7\n")
expect_failure("component snapshots needs: libxxhash-dev"
    ${CMAKE_COMMAND} -S ${source} -B ${work}/without -G ${generator} ${settings} -D HANDLEPOOL_XXHASH_INCLUDE=${work}/old
    -D HANDLEPOOL_COMPONENTS=snapshots -D HANDLEPOOL_BUILD_EXAMPLES=OFF)
