# SPDX-License-Identifier: MIT

# The library is C++ alone; programs in C test and show its C interface. They are compiled by the C++ compiler's sibling: sanitizers
# of two compilers don't go together.
if(NOT CMAKE_C_COMPILER)
    string(REGEX REPLACE "clang\\+\\+([^/]*)$" "clang\\1" handlepool_c_compiler ${CMAKE_CXX_COMPILER})
    string(REGEX REPLACE "g\\+\\+([^/]*)$" "gcc\\1" handlepool_c_compiler ${handlepool_c_compiler})
    if(EXISTS ${handlepool_c_compiler} AND NOT handlepool_c_compiler STREQUAL CMAKE_CXX_COMPILER)
        set(CMAKE_C_COMPILER ${handlepool_c_compiler})
    endif()
endif()
enable_language(C)

# add_c_program(NAME FILES...): in C99, on the C interface.
function(add_c_program name)
    add_executable(${name} ${ARGN})
    set_target_properties(${name} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
    target_compile_options(${name} PRIVATE -pedantic -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes
        $<$<BOOL:${HANDLEPOOL_WERROR}>:-Werror>)
    target_link_libraries(${name} PRIVATE handlepool::c)
    if(HANDLEPOOL_SANITIZE) # the library is sanitized too, and needs what sanitizers of C++ have
        set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    endif()
endfunction()
