# SPDX-License-Identifier: MIT

# Asks the compiler which loops of a look-up it has vectorized. The same by hand:
#
#   g++ -std=c++20 -O3 -Iinclude -c tests/properties/look_up.cpp -o look_up.o -fopt-info-vec
#   clang++-19 -std=c++20 -O3 -Iinclude -c tests/properties/look_up.cpp -o look_up.o -Rpass=loop-vectorize
#   objdump -d -C look_up.o | grep pcmpgtd
set(options -fopt-info-vec)
set(expected "bag_buffer.hpp:[0-9]+:[0-9]+: optimized: loop vectorized using 16 byte vectors")
if(id MATCHES "Clang")
    set(options -Rpass=loop-vectorize)
    set(expected "bag_buffer.hpp:[0-9]+:[0-9]+: remark: vectorized loop")
endif()
execute_process(
    COMMAND ${compiler} -std=c++20 -O3 -I${source}/include -c ${CMAKE_CURRENT_LIST_DIR}/look_up.cpp -o /dev/null ${options}
    OUTPUT_VARIABLE output ERROR_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "The compiler has not vectorized a look-up. It says:\n${output}")
endif()
string(REGEX MATCH "[^\n]*${expected}[^\n]*" line "${output}")
message(STATUS "${line}")
