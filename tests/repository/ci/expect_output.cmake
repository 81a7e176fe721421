# SPDX-License-Identifier: MIT

# What tests of programs take for right: what is printed, and the exit code.
function(expect right expression fails)
    execute_process(COMMAND ${CMAKE_COMMAND} -D expression=${expression} -D fails=${fails}
                            -P ${source}/cmake/build/expect_output.cmake -- ${ARGN}
                    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(right AND NOT result EQUAL 0)
        message(FATAL_ERROR "This is right: ${ARGN}\n${output}")
    elseif(NOT right AND result EQUAL 0)
        message(FATAL_ERROR "This is wrong, with '${expression}' and ${fails}: ${ARGN}\n${output}")
    endif()
endfunction()

set(succeeds ${CMAKE_COMMAND} -E echo "one: two")
set(fails ${CMAKE_COMMAND} -E cat /no/such/file)
set(crashes sh -c "kill -SEGV \$\$")
expect(ON "^one: two\n$" OFF ${succeeds})
expect(ON "two" OFF ${succeeds})
expect(ON "/no/such/file" ON ${fails})
expect(OFF "^two\n$" OFF ${succeeds})
expect(OFF "^one: two$" OFF ${succeeds})
expect(OFF "^one: two\n$" ON ${succeeds})
expect(OFF "/no/such/file" OFF ${fails})
expect(OFF "/no/such/other" ON ${fails})
expect(OFF "^" OFF ${crashes})
expect(OFF "^" ON ${crashes})
expect(OFF "^" OFF /no/such/program)
