# Runs the simulation with several numbers of threads, and compares the fingerprints of the worlds that come out.
foreach(threads 1 2 4)
    execute_process(
        COMMAND ${asteroids} --entities 2000 --frames 200 --threads ${threads} --json
        OUTPUT_VARIABLE result COMMAND_ERROR_IS_FATAL ANY)
    string(JSON fingerprint GET ${result} fingerprint)
    message("${threads} threads: ${fingerprint}")
    list(APPEND fingerprints ${fingerprint})
endforeach()
list(REMOVE_DUPLICATES fingerprints)
list(LENGTH fingerprints different)
if(NOT different EQUAL 1)
    message(FATAL_ERROR "the outcome depends on the number of threads")
endif()
