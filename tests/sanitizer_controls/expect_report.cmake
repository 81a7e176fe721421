# SPDX-License-Identifier: MIT

# Runs a control: correct, it must end well and say nothing; planted, it must be reported and fail.
# usage: cmake -D program=PROGRAM -D report=TEXT -P expect_report.cmake
execute_process(COMMAND ${program} correct RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE errors)
if(NOT result STREQUAL "0" OR NOT errors STREQUAL "")
    message(FATAL_ERROR "${program}: without its fault it ended with ${result}, and this on stderr:\n${errors}")
endif()

# A crash leaves words in `result`, not a number.
execute_process(COMMAND ${program} planted RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE errors)
string(FIND "${errors}" "${report}" found)
if(NOT result MATCHES "^[1-9][0-9]*$" OR found EQUAL -1)
    message(FATAL_ERROR
        "${program}: its fault was to be reported as \"${report}\"; it ended with ${result}, and this on stderr:\n"
        "${errors}")
endif()
