# The library is C++ alone; its C interface is tested and shown by programs in C, which are compiled by the C++ compiler's sibling:
# sanitizers of two compilers don't go together.
if(NOT CMAKE_C_COMPILER)
    string(REGEX REPLACE "clang\\+\\+([^/]*)$" "clang\\1" handlepool_c_compiler ${CMAKE_CXX_COMPILER})
    string(REGEX REPLACE "g\\+\\+([^/]*)$" "gcc\\1" handlepool_c_compiler ${handlepool_c_compiler})
    if(EXISTS ${handlepool_c_compiler} AND NOT handlepool_c_compiler STREQUAL CMAKE_CXX_COMPILER)
        set(CMAKE_C_COMPILER ${handlepool_c_compiler})
    endif()
endif()
enable_language(C)
