# SPDX-License-Identifier: MIT

# For the scripts in this folder.

file(REMOVE_RECURSE ${work})
set(flags)
if(sanitize)
    set(flags -fsanitize=${sanitize})
    if(sanitize MATCHES "undefined") # unoptimized, oneTBB's flow graph casts a task that it has ended already
        list(APPEND flags -fno-sanitize=vptr)
    endif()
endif()
list(JOIN flags " " flags_of_cmake)
set(settings -D CMAKE_CXX_COMPILER=${compiler} "-DCMAKE_CXX_FLAGS=${flags_of_cmake}" -D TBB_DIR=${tbb})

# All that is compiled here, the library and the programs that use it, is compiled once.
find_program(ccache ccache)
if(ccache)
    set(ENV{CMAKE_C_COMPILER_LAUNCHER} ${ccache})
    set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} ${ccache})
    set(ENV{CCACHE_BASEDIR} ${source})
    set(ENV{CCACHE_NOHASHDIR} 1)
endif()

# Runs a command, which must succeed.
function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Runs a command, which must fail and say `message`, a regular expression.
function(expect_failure message)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    string(REGEX REPLACE "[ \n]+" " " output "${output}") # CMake breaks lines
    if(result EQUAL 0)
        message(FATAL_ERROR "This succeeds, and must not: ${ARGN}\n${output}")
    elseif(NOT output MATCHES "${message}")
        message(FATAL_ERROR "This fails, but does not say '${message}': ${ARGN}\n${output}")
    endif()
endfunction()
