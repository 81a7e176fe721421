# SPDX-License-Identifier: MIT

# Writes a manual page, `page`, of `program`, which is called `of`, or of its `command`. The page's name is `name`, and what it is about
# is there to `what`. The file `also` has other pages.
execute_process(COMMAND ${help2man} --no-info --section=1 --manual=handlepool --source "handlepool ${version}"
                        --name ${what} --version-string "${of} ${version}"
                        --include ${also} "${program} ${command}"
                OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)

# help2man knows programs only, and no lists of examples.
if(command)
    string(TOUPPER ${name} title)
    string(REGEX REPLACE "\n\\.TH [^ ]+" "\n.TH ${title}" text "${text}")
    string(REGEX REPLACE "\n\\.SH NAME\n[^ ]+" "\n.SH NAME\n${name}" text "${text}")
endif()
string(REPLACE "-" "\\-" of "${of}")
string(REPLACE "\n${of}" "\n.br\n${of}" text "${text}")
string(REPLACE ".IP\n.br\n" ".IP\n" text "${text}")

file(WRITE ${page} "${text}")
