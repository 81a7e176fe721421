# SPDX-License-Identifier: MIT

# Writes a manual page, `page`, of `program` or of its `command`, whose name is `name`, and which is there to `what`.
execute_process(COMMAND ${help2man} --no-info --section=1 --manual=handlepool --source "handlepool ${version}"
                        --name ${what} --version-string "handlepool-stress ${version}"
                        --include ${CMAKE_CURRENT_LIST_DIR}/manual.h2m "${program} ${command}"
                OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)

# help2man knows programs only, and no lists of examples.
if(command)
    string(TOUPPER ${name} title)
    string(REGEX REPLACE "\n\\.TH [^ ]+" "\n.TH ${title}" text "${text}")
    string(REGEX REPLACE "\n\\.SH NAME\n[^ ]+" "\n.SH NAME\n${name}" text "${text}")
endif()
string(REPLACE "\nhandlepool\\-stress" "\n.br\nhandlepool\\-stress" text "${text}")
string(REPLACE ".IP\n.br\n" ".IP\n" text "${text}")

file(WRITE ${page} "${text}")
