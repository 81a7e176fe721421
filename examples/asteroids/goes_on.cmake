# SPDX-License-Identifier: MIT

# Runs the simulation in a folder, in several processes with other numbers of threads, and requires that it comes to the same as in
# one without a folder; that a process with nothing left to do says so, too; and that the rules stay what they were.
set(folder asteroids_goes_on)
file(REMOVE_RECURSE ${folder})
function(run result)
    execute_process(
        COMMAND ${asteroids} --entities 1000 --json ${ARGN}
        OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
    foreach(member fingerprint hits)
        string(JSON value GET ${printed} ${member})
        list(APPEND values ${value})
    endforeach()
    set(${result} "${values}" PARENT_SCOPE)
    set(printed "${printed}" PARENT_SCOPE)
endfunction()

run(expected --frames 100 --threads 2)
set(threads 0)
foreach(frames 1 30 70 100 100)
    math(EXPR threads "${threads} % 3 + 1")
    run(found --frames ${frames} --threads ${threads} --world ${folder} --snapshot-every 20)
    if(frames EQUAL 30)
        foreach(member mark record hand_over append_in_another_thread)
            string(JSON time GET ${printed} mean_microseconds_to_keep_frame ${member})
            if(NOT time GREATER 0)
                message(FATAL_ERROR "${member} took ${time} µs")
            endif()
        endforeach()
        string(JSON share GET ${printed} journal_share)
        if(NOT share GREATER 0 OR NOT share LESS 1)
            message(FATAL_ERROR "the journal's share of a frame is ${share}")
        endif()
    endif()
endforeach()
if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${found} in the folder, and ${expected} without it")
endif()

function(refuse message)
    execute_process(
        COMMAND ${asteroids} ${ARGN}
        OUTPUT_QUIET ERROR_VARIABLE printed RESULT_VARIABLE code)
    if(NOT code EQUAL 1 OR NOT printed STREQUAL "${message}\n")
        message(FATAL_ERROR "exit code ${code}, and: ${printed}")
    endif()
endfunction()
set(rules "--world: ${folder} has a world of 1000 entities with seed 1, and can't go on with")
refuse("${rules} 1001 entities and seed 1" --entities 1001 --world ${folder})
refuse("${rules} 1000 entities and seed 2" --entities 1000 --seed 2 --world ${folder})
refuse("--frames: ${folder} has 100 frames already, and can't be led to frame 99" --entities 1000 --frames 99 --world ${folder})
run(found --frames 100 --world ${folder}) # as it was
if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${found} after refusals, and ${expected} before")
endif()
file(REMOVE_RECURSE ${folder})
