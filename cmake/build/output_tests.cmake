# SPDX-License-Identifier: MIT

# add_output_test(NAME EXPRESSION COMMAND... [FAILS]): a test whose command must print what the regular expression matches, and exit
# with 0; with FAILS, with another number. Once CTest knows what a test prints, it does not look at the exit code.
function(add_output_test name expression)
    cmake_parse_arguments(PARSE_ARGV 2 arg "FAILS" "" "")
    set(command ${arg_UNPARSED_ARGUMENTS})
    list(GET command 0 program)
    if(TARGET ${program})
        get_target_property(emulator ${program} CROSSCOMPILING_EMULATOR)
        list(POP_FRONT command)
        list(PREPEND command $<TARGET_FILE:${program}>)
        if(emulator)
            list(PREPEND command ${emulator})
        endif()
    endif()
    add_test(NAME ${name}
             COMMAND ${CMAKE_COMMAND} -D "expression=${expression}" -D fails=${arg_FAILS}
                     -P ${PROJECT_SOURCE_DIR}/cmake/build/expect_output.cmake -- ${command})
endfunction()
