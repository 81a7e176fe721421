# SPDX-License-Identifier: MIT

# Draws a picture, and requires that its outermost element says what it shows, and not how large it is to be shown.
execute_process(
    COMMAND ${asteroids} --entities 100 --frames 1 --threads 1 --picture scales.svg
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(READ scales.svg text)
file(REMOVE scales.svg)
if(NOT text MATCHES "^<svg [^>]*viewBox=\"0 0 1200 1290\"[^>]*>")
    message(FATAL_ERROR "there is no viewBox in ${text}")
endif()
if(CMAKE_MATCH_0 MATCHES "(width|height)=")
    message(FATAL_ERROR "a fixed size: ${CMAKE_MATCH_0}")
endif()
if(NOT text MATCHES "</svg></svg>\n$")
    message(FATAL_ERROR "the picture is not whole")
endif()
