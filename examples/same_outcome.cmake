# SPDX-License-Identifier: MIT

# Runs a simulation with several numbers of threads, and requires that what comes out has this hash each time:
# cmake -D "program=PROGRAM" -D "options=OPTIONS" -D member=MEMBER -D hash=HASH -P same_outcome.cmake
# The hash ends a line of what it prints that begins with MEMBER, or with --json is a member of that.
separate_arguments(options)
foreach(threads 1 2 4 8)
    execute_process(
        COMMAND ${program} ${options} --threads ${threads}
        OUTPUT_VARIABLE result COMMAND_ERROR_IS_FATAL ANY)
    if("${options}" MATCHES "--json")
        string(JSON found GET ${result} ${member})
    elseif(result MATCHES "(^|\n)${member} +([0-9a-f]+)\n")
        set(found ${CMAKE_MATCH_2})
    else()
        message(FATAL_ERROR "there is no ${member} in: ${result}")
    endif()
    message("${threads} threads: ${found}")
    if(NOT found STREQUAL hash)
        message(FATAL_ERROR "the ${member} is ${found}, and must be ${hash}")
    endif()
endforeach()
