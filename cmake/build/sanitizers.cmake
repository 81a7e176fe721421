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
