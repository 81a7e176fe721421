# SPDX-License-Identifier: MIT
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# Followers by Redis and by ZeroMQ, from a build that was asked for them alone, static and shared; they bring what they stand on.
find_program(pkg_config pkg-config REQUIRED)
foreach(shared IN ITEMS OFF ON)
    set(folder ${work}/shared-${shared})
    run(${CMAKE_COMMAND} -S ${source} -B ${folder}/build -G ${generator} ${settings} -D CMAKE_BUILD_TYPE=Release
        -D CMAKE_INSTALL_PREFIX=${folder}/installed -D CMAKE_INSTALL_LIBDIR=lib
        -D "HANDLEPOOL_COMPONENTS=redis\\;zeromq" -D HANDLEPOOL_BUILD_EXAMPLES=OFF -D BUILD_SHARED_LIBS=${shared})
    run(${CMAKE_COMMAND} --build ${folder}/build)
    run(${CMAKE_COMMAND} --install ${folder}/build)
    set(prefix "${folder}/moved to here")
    file(RENAME ${folder}/installed ${prefix})
    expect_failure("The component 'service' is not installed in .*; beside the pools there is: time, snapshots, redis, zeromq\\."
        ${CMAKE_COMMAND} -S ${tests}/pools -B ${folder}/missing -G ${generator} ${settings}
        -D CMAKE_PREFIX_PATH=${prefix} -D components=service)

    set(ENV{PKG_CONFIG_PATH} "${prefix}/lib/pkgconfig")
    foreach(component IN ITEMS redis zeromq)
        set(program ${folder}/${component})
        run(${CMAKE_COMMAND} -S ${tests}/followers -B ${program} -G ${generator} ${settings} -D CMAKE_BUILD_TYPE=Release
            -D CMAKE_PREFIX_PATH=${prefix} -D component=${component})
        run(${CMAKE_COMMAND} --build ${program})
        run(${program}/program)

        set(ENV{LD_LIBRARY_PATH} "${prefix}/lib")
        run(sh -ec "flags=$('${pkg_config}' --cflags --libs handlepool_${component})
                    eval \"'${compiler}' -std=c++20 '${tests}/followers/${component}.cpp' -o '${program}/by_pkg_config' $flags\"")
        run(${program}/by_pkg_config)
        unset(ENV{LD_LIBRARY_PATH})
    endforeach()

    # The headers that it was built with are nowhere in what users have.
    file(GLOB_RECURSE files ${prefix}/*.hpp ${prefix}/*.cmake ${prefix}/*.pc)
    foreach(file IN LISTS files)
        file(STRINGS ${file} mentioned REGEX "zmq\\.hpp|cppzmq|CPPZMQ")
        if(mentioned)
            message(FATAL_ERROR "${file} mentions a package that users don't need: ${mentioned}")
        endif()
    endforeach()
endforeach()

# What is too old is as good as none: an error that names the package, where the component was asked for.
file(WRITE ${work}/old/zmq.hpp "#define CPPZMQ_VERSION_MAJOR 4\n#define CPPZMQ_VERSION_MINOR 3\n#define CPPZMQ_VERSION_PATCH 0\n")
expect_failure("component zeromq needs: cppzmq-dev"
    ${CMAKE_COMMAND} -S ${source} -B ${work}/without -G ${generator} ${settings} -D HANDLEPOOL_CPPZMQ_INCLUDE=${work}/old
    -D HANDLEPOOL_COMPONENTS=zeromq -D HANDLEPOOL_BUILD_EXAMPLES=OFF)
