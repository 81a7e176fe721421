# SPDX-License-Identifier: MIT

# Linked by every target of this project, exported to none of its users. Where files are compiled together, a local name may be a
# global one of another file, and types are made of the local types of a file that includes them.
add_library(handlepool_warnings INTERFACE)
if(MSVC)
    target_compile_options(handlepool_warnings INTERFACE /W4 /permissive- /Zc:__cplusplus $<$<BOOL:${HANDLEPOOL_WERROR}>:/WX>)
    return()
endif()
target_compile_options(handlepool_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion
    "$<IF:$<BOOL:${HANDLEPOOL_UNITE_SOURCES}>,$<$<CXX_COMPILER_ID:GNU>:-Wshadow=local;-Wno-subobject-linkage>,-Wshadow>"
    $<$<BOOL:${HANDLEPOOL_WERROR}>:-Werror>)
