# SPDX-License-Identifier: MIT

# Runs the simulation for few frames, and requires that no part of them took longer than a larger part of them did.
foreach(frames 1 2 3 4 5 10 99 100 101)
    execute_process(
        COMMAND ${asteroids} --entities 100 --frames ${frames} --threads 1 --json
        OUTPUT_VARIABLE result COMMAND_ERROR_IS_FATAL ANY)
    set(before 0)
    foreach(name best median percentile_99 worst)
        string(JSON time GET ${result} frame_milliseconds ${name})
        if(time LESS before)
            message(FATAL_ERROR "${frames} frames: ${name} is ${time} ms, but the time before it ${before} ms")
        endif()
        set(before ${time})
    endforeach()
endforeach()
