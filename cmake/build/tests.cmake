# SPDX-License-Identifier: MIT
include(GoogleTest)

# define_path(TARGET NAME PATH): a path of tests/support/paths.hpp that tests of the target use, in a text of its own.
function(define_path target name path)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_${name}.cpp)
    file(GENERATE OUTPUT ${file} CONTENT "#include <tests/support/paths.hpp>

const char* const handlepool::support::paths::${name} = R\"(${path})\";
")
    target_sources(${target} PRIVATE ${file})
endfunction()

# discover_tests(PROGRAM [ENVIRONMENT ...] [PROPERTIES ...]): makes a test of each one in a program of GoogleTest's. A sanitized
# process takes longer to start than most tests to run: there, four processes share a program's tests, of which the environment
# variable GTEST_FILTER may choose some.
function(discover_tests program)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ENVIRONMENT;PROPERTIES")
    if(NOT HANDLEPOOL_SANITIZE)
        # Some bugs would show as a wait without end.
        gtest_discover_tests(${program} DISCOVERY_TIMEOUT 600
            PROPERTIES TIMEOUT 600 ENVIRONMENT "${arg_ENVIRONMENT}" ${arg_PROPERTIES})
        return()
    endif()
    set(shards 4)
    foreach(shard RANGE 1 ${shards})
        math(EXPR index "${shard} - 1")
        set(test ${program}.${shard}_of_${shards})
        add_test(NAME ${test} COMMAND ${program})
        set_tests_properties(${test} PROPERTIES
            TIMEOUT 1200
            ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index};GTEST_BRIEF=1;${arg_ENVIRONMENT}"
            ${arg_PROPERTIES})
    endforeach()
endfunction()
