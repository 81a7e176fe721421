# SPDX-License-Identifier: MIT
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# Installed printers are found by gdb: with the shared library by its path, with a program by what the static one left in it.
# In a prefix that is none of gdb's own, gdb must be told that it may.
separate_arguments(debug)
set(prefix ${work}/installed)
set(trust -iex "add-auto-load-safe-path ${prefix}" -iex "add-auto-load-scripts-directory ${prefix}/share/gdb/auto-load")

foreach(shared IN ITEMS ON OFF)
    file(REMOVE_RECURSE ${prefix} ${work}/build)
    run(${CMAKE_COMMAND} -S ${source} -B ${work}/build -G ${generator} ${settings} -D CMAKE_BUILD_TYPE=Release
        -D CMAKE_INSTALL_PREFIX=${prefix} -D CMAKE_INSTALL_LIBDIR=lib
        -D HANDLEPOOL_COMPONENTS= -D HANDLEPOOL_BUILD_EXAMPLES=OFF
        -D BUILD_SHARED_LIBS=${shared} -D HANDLEPOOL_EMBED_GDB_SCRIPT=ON)
    run(${CMAKE_COMMAND} --build ${work}/build)
    run(${CMAKE_COMMAND} --install ${work}/build)
    set(program ${work}/program_${shared})
    run(${compiler} -std=c++20 ${debug} -I ${prefix}/include -D HANDLEPOOL_CHECKED=0 ${tests}/consumer/by_hand.cpp
        -L ${prefix}/lib -lhandlepool -Wl,-rpath,${prefix}/lib -pthread -o ${program})
    execute_process(COMMAND ${gdb} -nx -batch ${trust} -ex "break 6" -ex "run" -ex "print numbers" ${program}
                    OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT output MATCHES "= numbers: 0 alive of 10 \\(0 dense, 0 newborn\\), pool id 0")
        message(FATAL_ERROR "BUILD_SHARED_LIBS=${shared}: gdb does not print the pool, but\n${output}")
    endif()
endforeach()
