# SPDX-License-Identifier: MIT
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# Where a packager puts things: shared pools and the C interface, built once, installed in the folders of each layout, and found there by
# find_package, by pkg-config and by gdb.
find_program(pkg_config pkg-config REQUIRED)
set(build ${work}/build)
file(STRINGS ${source}/CMakeLists.txt version REGEX "^project\\(handlepool VERSION ")
string(REGEX REPLACE "^[^0-9]*([0-9.]+).*" "libhandlepool.so.\\1" shared_library "${version}")

# lay_out(NAME PREFIX [MOVED] [FOLDERS -D...] INCLUDE DIR LIBRARIES DIR DATA DIR): the last three are where things must be found; with
# MOVED, relative to the folder to which the prefix is moved.
function(lay_out name prefix)
    cmake_parse_arguments(PARSE_ARGV 2 arg "MOVED" "INCLUDE;LIBRARIES;DATA" "FOLDERS")
    message(STATUS "layout: ${name}")
    run(${CMAKE_COMMAND} -S ${source} -B ${build} -G ${generator} ${settings} -D CMAKE_BUILD_TYPE=Release -D BUILD_SHARED_LIBS=ON
        -D HANDLEPOOL_COMPONENTS=c -D HANDLEPOOL_BUILD_EXAMPLES=OFF
        -U CMAKE_INSTALL_*DIR -D CMAKE_INSTALL_PREFIX=${prefix} ${arg_FOLDERS})
    run(${CMAKE_COMMAND} --build ${build})
    run(${CMAKE_COMMAND} --install ${build})
    if(arg_MOVED)
        set(moved "${prefix} moved")
        file(RENAME "${prefix}" "${moved}")
        foreach(folder IN ITEMS INCLUDE LIBRARIES DATA)
            cmake_path(ABSOLUTE_PATH arg_${folder} BASE_DIRECTORY "${moved}")
        endforeach()
        set(prefix ${moved})
    endif()
    foreach(file IN ITEMS ${arg_INCLUDE}/handlepool/pool.hpp ${arg_LIBRARIES}/libhandlepool.so ${arg_DATA}/handlepool/gdb/handlepool_gdb.py)
        if(NOT EXISTS ${file})
            message(FATAL_ERROR "There is no ${file}")
        endif()
    endforeach()
    file(GLOB_RECURSE documents ${arg_INCLUDE}/handlepool/*.md) # those are for readers of the sources
    if(documents)
        message(FATAL_ERROR "These were installed, too: ${documents}")
    endif()

    # find_package, from C++ and from C.
    set(package -D handlepool_DIR=${arg_LIBRARIES}/cmake/handlepool)
    run(${CMAKE_COMMAND} -S ${tests}/pools -B ${work}/${name}-pools -G ${generator} ${settings} ${package} -D components=service)
    run(${CMAKE_COMMAND} --build ${work}/${name}-pools)
    run(${work}/${name}-pools/program)
    run(${CMAKE_COMMAND} -S ${tests}/c -B ${work}/${name}-c -G ${generator} -D CMAKE_C_COMPILER=${c_compiler} ${package})
    run(${CMAKE_COMMAND} --build ${work}/${name}-c)
    run(${work}/${name}-c/program)

    # pkg-config: says what is there, and works without it knowing more than the folder of its files.
    set(ENV{PKG_CONFIG_PATH} "${arg_LIBRARIES}/pkgconfig")
    foreach(variable IN ITEMS includedir=${arg_INCLUDE} libdir=${arg_LIBRARIES})
        string(REGEX MATCH "^([a-z]+)=(.*)$" variable ${variable})
        set(wanted ${CMAKE_MATCH_2})
        execute_process(COMMAND ${pkg_config} --variable=${CMAKE_MATCH_1} handlepool OUTPUT_VARIABLE said
                        OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
        string(REPLACE "\\" "" said "${said}")
        cmake_path(NORMAL_PATH said)
        if(NOT said STREQUAL wanted)
            message(FATAL_ERROR "pkg-config says '${said}' of ${CMAKE_MATCH_1}, which is '${wanted}'")
        endif()
    endforeach()
    foreach(language IN ITEMS "${compiler} -std=c++20;consumer/by_hand.cpp;handlepool" "${c_compiler};c/program.c;handlepool_c")
        list(GET language 0 compile)
        list(GET language 1 file)
        list(GET language 2 package)
        run(sh -ec "eval \"${compile} ${debug} '${tests}/${file}' -o '${work}/${name}-${package}' $('${pkg_config}' --cflags --libs ${package})\"")
        run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${arg_LIBRARIES} ${work}/${name}-${package})
    endforeach()

    # gdb looks for a library's script by the path of the library, which must not have moved.
    set(scripts ${arg_DATA}/gdb/auto-load)
    if(NOT arg_MOVED AND NOT EXISTS ${scripts}${arg_LIBRARIES}/${shared_library}-gdb.py)
        file(GLOB_RECURSE found ${scripts}/*)
        message(FATAL_ERROR "gdb finds nothing for ${arg_LIBRARIES}/${shared_library} in ${scripts}, only: ${found}")
    endif()
    if(gdb AND NOT arg_MOVED)
        execute_process(COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${arg_LIBRARIES} ${gdb} -nx -batch -iex "set auto-load safe-path /"
                                -iex "add-auto-load-scripts-directory ${scripts}" -ex "break 6" -ex run -ex "print numbers"
                                ${work}/${name}-handlepool
                        OUTPUT_VARIABLE output ERROR_VARIABLE output)
        if(NOT output MATCHES "= numbers: 0 alive of 10 \\(0 dense, 0 newborn\\), pool id 0")
            message(FATAL_ERROR "gdb does not print the pool, but\n${output}")
        endif()
    endif()
endfunction()

lay_out(beside "${work}/beside others" MOVED
    FOLDERS -D CMAKE_INSTALL_INCLUDEDIR=include/handlepool-1 -D CMAKE_INSTALL_LIBDIR=lib64/some -D CMAKE_INSTALL_DATADIR=share/some
    INCLUDE include/handlepool-1 LIBRARIES lib64/some DATA share/some)
# As distributions set them.
set(usr "${work}/dist ribution/usr")
lay_out(absolute "${usr}"
    FOLDERS -D CMAKE_INSTALL_INCLUDEDIR=${usr}/include -D CMAKE_INSTALL_LIBDIR=${usr}/lib/x86_64-linux-gnu
            -D CMAKE_INSTALL_BINDIR=${usr}/bin -D CMAKE_INSTALL_DATADIR=${usr}/share
    INCLUDE ${usr}/include LIBRARIES ${usr}/lib/x86_64-linux-gnu DATA ${usr}/share)
lay_out(libraries "${work}/libraries"
    FOLDERS -D CMAKE_INSTALL_LIBDIR=${work}/libraries/lib/some
    INCLUDE ${work}/libraries/include LIBRARIES ${work}/libraries/lib/some DATA ${work}/libraries/share)
# Each output in a prefix of its own; not below the sources, where CMake allows headers in the prefix only.
execute_process(COMMAND mktemp -d OUTPUT_VARIABLE outputs OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
lay_out(outputs "${outputs}/out"
    FOLDERS -D CMAKE_INSTALL_INCLUDEDIR=${outputs}/dev/include -D CMAKE_INSTALL_LIBDIR=${outputs}/lib
            -D CMAKE_INSTALL_DATADIR=${outputs}/data
    INCLUDE ${outputs}/dev/include LIBRARIES ${outputs}/lib DATA ${outputs}/data)
file(REMOVE_RECURSE ${outputs})
