# SPDX-License-Identifier: MIT

# Manual pages: what --help says, by help2man.
find_program(HANDLEPOOL_HELP2MAN help2man)
mark_as_advanced(HANDLEPOOL_HELP2MAN)
set(handlepool_makes_manuals OFF)
if(HANDLEPOOL_INSTALL AND HANDLEPOOL_HELP2MAN AND NOT CMAKE_CROSSCOMPILING AND NOT HANDLEPOOL_SANITIZE)
    set(handlepool_makes_manuals ON)
endif()

# add_manual(PROGRAM NAME WHAT [COMMAND]): adds the page of that name, of the program or of one of its commands, to the list `manuals`.
# The program's manual.h2m has what to see, too.
function(add_manual program name what)
    set(page ${CMAKE_CURRENT_BINARY_DIR}/${name}.1)
    set(script ${PROJECT_SOURCE_DIR}/cmake/deliver/manual.cmake)
    set(also ${CMAKE_CURRENT_SOURCE_DIR}/manual.h2m)
    add_custom_command(OUTPUT ${page}
        COMMAND ${CMAKE_COMMAND} -D help2man=${HANDLEPOOL_HELP2MAN} -D version=${PROJECT_VERSION} -D page=${page} -D of=${program}
                -D name=${name} -D what=${what} -D also=${also} -D program=$<TARGET_FILE:${program}> -D command=${ARGN} -P ${script}
        DEPENDS ${program} ${script} ${also} VERBATIM)
    set(manuals ${manuals} ${page} PARENT_SCOPE)
endfunction()
