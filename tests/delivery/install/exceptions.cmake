# SPDX-License-Identifier: MIT
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# A program and the library have exceptions, both or neither: else they don't link, and the linker says why.
foreach(library IN ITEMS exceptions no-exceptions)
    set(prefix ${work}/${library})
    run(${CMAKE_COMMAND} -S ${source} -B ${work}/build-${library} -G ${generator} -D CMAKE_CXX_COMPILER=${compiler}
        -D CMAKE_CXX_FLAGS=-f${library} -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX=${prefix} -D CMAKE_INSTALL_LIBDIR=lib
        -D HANDLEPOOL_COMPONENTS= -D HANDLEPOOL_BUILD_EXAMPLES=OFF)
    run(${CMAKE_COMMAND} --build ${work}/build-${library})
    run(${CMAKE_COMMAND} --install ${work}/build-${library})
    foreach(program IN ITEMS exceptions no-exceptions)
        set(link ${compiler} -std=c++20 -f${program} -O2 -ffunction-sections -I ${prefix}/include -D HANDLEPOOL_CHECKED=0
            ${tests}/consumer/by_hand.cpp -L ${prefix}/lib -lhandlepool -pthread -Wl,--gc-sections -o ${work}/program)
        if(program STREQUAL library)
            run(${link})
            run(${work}/program)
            expect_failure("library_built_with_GLIBCXX_DEBUG<true>" ${link} -D _GLIBCXX_DEBUG) # whose containers are others
        elseif(program STREQUAL "exceptions")
            expect_failure("library_built_with_exceptions<true>" ${link})
        else()
            expect_failure("library_built_with_exceptions<false>" ${link})
        endif()
    endforeach()
endforeach()
