# SPDX-License-Identifier: MIT
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})
execute_process(COMMAND ${python} ${tool} --output ${work}/handlepool.hpp COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${work}/handlepool.hpp own_includes REGEX "^ *# *include *(<handlepool|\")")
if(own_includes)
    message(FATAL_ERROR "The header needs others of handlepool: ${own_includes}")
endif()
execute_process(COMMAND ${compiler} -std=c++20 -Wall -Wextra -Wpedantic -Werror -D HANDLEPOOL_CHECKED=${checked} -I ${work}
                        ${CMAKE_CURRENT_LIST_DIR}/main.cpp ${CMAKE_CURRENT_LIST_DIR}/other.cpp -o ${work}/program -pthread
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${work}/program OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL "100 numbers, then 99: pool 'numbers': handle #0 generation 1 pool 0 is stale: erased\n")
    message(FATAL_ERROR "The program prints: ${output}")
endif()
