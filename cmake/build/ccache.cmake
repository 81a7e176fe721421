# SPDX-License-Identifier: MIT

# Where ccache is installed, it keeps what was compiled, for every folder that holds these sources: it names files relative to the
# sources, leaves the build folder's own name out, and a configuration that differs in a flag differs there too.
if(NOT HANDLEPOOL_CCACHE OR CMAKE_CXX_COMPILER_LAUNCHER)
    return()
endif()
find_program(HANDLEPOOL_CCACHE_PROGRAM ccache DOC "Keeps what was compiled")
mark_as_advanced(HANDLEPOOL_CCACHE_PROGRAM)
if(HANDLEPOOL_CCACHE_PROGRAM)
    foreach(language IN ITEMS C CXX)
        set(CMAKE_${language}_COMPILER_LAUNCHER
            ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${HANDLEPOOL_CCACHE_PROGRAM})
    endforeach()
endif()
