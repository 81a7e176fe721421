# SPDX-License-Identifier: MIT
if(HANDLEPOOL_BUILD_FUZZERS)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "HANDLEPOOL_BUILD_FUZZERS needs clang, which has libFuzzer: "
            "-D CMAKE_CXX_COMPILER=clang++-19 (${CMAKE_CXX_COMPILER_ID} is in use)")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link) # counts what is reached; the targets link the rest
endif()
if(HANDLEPOOL_SANITIZE)
    add_compile_options(-fsanitize=${HANDLEPOOL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${HANDLEPOOL_SANITIZE})
endif()

# For what uses Asio: g++ warns of fences, which ThreadSanitizer can't see; Asio's locks order the same, and Boost's own counters.
function(leave_out_fences_of_asio target)
    if(HANDLEPOOL_SANITIZE MATCHES "thread")
        target_compile_definitions(${target} PUBLIC BOOST_ASIO_DISABLE_FENCED_BLOCK BOOST_ASIO_DISABLE_STD_ATOMIC)
    endif()
endfunction()
