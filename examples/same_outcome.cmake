# SPDX-License-Identifier: MIT

# Runs a simulation with several numbers of threads, and compares the fingerprints of what comes out:
# cmake -D program=PROGRAM -D "options=OPTIONS" -P same_outcome.cmake
# A fingerprint ends what it prints, or with --json is a member of that.
separate_arguments(options)
foreach(threads 1 2 4)
    execute_process(
        COMMAND ${program} ${options} --threads ${threads}
        OUTPUT_VARIABLE result COMMAND_ERROR_IS_FATAL ANY)
    if("${options}" MATCHES "--json")
        string(JSON fingerprint GET ${result} fingerprint)
    elseif(result MATCHES "fingerprint ([0-9a-f]+)\n$")
        set(fingerprint ${CMAKE_MATCH_1})
    else()
        message(FATAL_ERROR "there is no fingerprint in: ${result}")
    endif()
    message("${threads} threads: ${fingerprint}")
    list(APPEND fingerprints ${fingerprint})
endforeach()
list(REMOVE_DUPLICATES fingerprints)
list(LENGTH fingerprints different)
if(NOT different EQUAL 1)
    message(FATAL_ERROR "the outcome depends on the number of threads")
endif()
