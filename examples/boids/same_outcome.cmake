# Runs the simulation with several numbers of threads, and compares what it prints of the boids that come out.
foreach(threads 1 2 4)
    execute_process(
        COMMAND ${boids} --boids 2000 --frames 60 --threads ${threads}
        OUTPUT_VARIABLE result COMMAND_ERROR_IS_FATAL ANY)
    if(NOT result MATCHES "fingerprint ([0-9a-f]+)\n$")
        message(FATAL_ERROR "there is no fingerprint in: ${result}")
    endif()
    message("${threads} threads: ${CMAKE_MATCH_1}")
    list(APPEND fingerprints ${CMAKE_MATCH_1})
endforeach()
list(REMOVE_DUPLICATES fingerprints)
list(LENGTH fingerprints different)
if(NOT different EQUAL 1)
    message(FATAL_ERROR "the outcome depends on the number of threads")
endif()
