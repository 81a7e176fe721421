# SPDX-License-Identifier: MIT

# What takes longer to compile than a pool stands behind what needs it: the header of a pool includes none of these headers of
# libstdc++, however deep.
set(heavy algorithm|chrono|functional|map|memory|mutex|ostream|ranges|thread|tuple)
foreach(header pool raw_pool stable_pool recycling_pool exclusive_pool)
    execute_process(
        COMMAND ${compiler} -std=c++20 -I${source}/include -M -x c++ ${source}/include/handlepool/${header}.hpp
        OUTPUT_VARIABLE included COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "/c\\+\\+/[0-9]+/(${heavy})[ \n]" found "${included}")
    if(found OR NOT included MATCHES "/c\\+\\+/[0-9]+/string[ \n]")
        message(SEND_ERROR "handlepool/${header}.hpp includes, and must not: ${found}")
    endif()
endforeach()
