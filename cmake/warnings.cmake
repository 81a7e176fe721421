# Linked by every target of this project, exported to none of its users.
add_library(handlepool_warnings INTERFACE)
target_compile_options(handlepool_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow
    $<$<BOOL:${HANDLEPOOL_WERROR}>:-Werror>)
