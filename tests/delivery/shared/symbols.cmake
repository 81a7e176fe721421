# SPDX-License-Identifier: MIT
cmake_minimum_required(VERSION 3.21) # which has IN_LIST
execute_process(COMMAND ${nm} --dynamic --defined-only --demangle ${library}
                OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
set(exported)
set(foreign)
foreach(symbol IN LISTS symbols)
    # Address and kind, then the name; what stands before its first bracket tells whose it is.
    string(REGEX REPLACE "^[0-9a-f]* *. " "" name "${symbol}")
    list(APPEND exported "${name}")
    if(NOT name MATCHES "^[^<(]*handlepool::")
        string(APPEND foreign "\n  ${name}")
    endif()
endforeach()
if(foreign)
    message(FATAL_ERROR "${library} exports what is not in namespace handlepool:${foreign}")
endif()

# What is marked HANDLEPOOL_EXPORT is not hidden in its object file; neither are templates of others.
execute_process(COMMAND ${objdump} --syms --demangle ${objects}
                OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
set(marked 0)
set(missing)
foreach(symbol IN LISTS symbols)
    # Address, flags and section, then size, visibility if it is another than the default one, and name.
    if(symbol MATCHES "^[0-9a-f]+ (g|u| w)[^*\t]*\t[0-9a-f]+ +([^. ].*)$")
        set(name "${CMAKE_MATCH_2}")
        if(name MATCHES "^[^<(]*handlepool::")
            math(EXPR marked "${marked} + 1")
            if(NOT name IN_LIST exported)
                string(APPEND missing "\n  ${name}")
            endif()
        endif()
    endif()
endforeach()
if(missing)
    message(FATAL_ERROR "${library} doesn't export what is marked so:${missing}")
endif()
if(marked EQUAL 0)
    message(FATAL_ERROR "${library} exports no function")
endif()

execute_process(COMMAND ${objdump} -p ${library} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
if(NOT soname MATCHES "\\.so\\.${soversion}$" OR NOT headers MATCHES "SONAME +${soname}\n")
    message(FATAL_ERROR "The soname of ${library} is not ${soname} with version ${soversion}:\n${headers}")
endif()
