# SPDX-License-Identifier: MIT
option(HANDLEPOOL_BUILD_TESTS "Build the tests" OFF)
option(HANDLEPOOL_SEPARATE_TESTS "Build a program for each file of the library's tests, instead of one for many" OFF)
option(HANDLEPOOL_UNITE_SOURCES "Compile several files of the tests and the harness at once: for whole builds" OFF)
option(HANDLEPOOL_CCACHE "Compile through ccache where it is installed: what was compiled once, in any folder, is not compiled again" OFF)
option(HANDLEPOOL_BUILD_STRESS "Build the stress harness handlepool-stress" OFF)
set(handlepool_all_commands run replay churn record recover report)
set(HANDLEPOOL_STRESS_COMMANDS ${handlepool_all_commands} CACHE STRING
    "Commands of handlepool-stress: what one of them alone needs is built sooner")
option(HANDLEPOOL_BUILD_TOOLS "Build handlepool-journal, for journals, and handlepool-inspect, which shows the pools of running programs" OFF)
option(HANDLEPOOL_BUILD_BENCH "Build the benchmarks" OFF)
option(HANDLEPOOL_BUILD_PEERS "Build the comparison with containers of others, too, as ci/peers.sh does" OFF)
option(HANDLEPOOL_BUILD_MODELS "Build handlepool-model, the model checker's program; not with a sanitizer" OFF)
option(HANDLEPOOL_BUILD_FUZZERS "Build the fuzzers of tests/fuzz/, as the target fuzzers; needs clang" OFF)
option(HANDLEPOOL_INSTALL "Generate the install target" ${PROJECT_IS_TOP_LEVEL})
option(HANDLEPOOL_EMBED_GDB_SCRIPT
    "Name the gdb printers of the installation in the static library, so that gdb loads them with every program: for packages" OFF)
option(HANDLEPOOL_WERROR "Treat warnings as errors" OFF)

set(HANDLEPOOL_COMPONENTS AUTO CACHE STRING
    "Parts to build beside the pools: a list of time, snapshots, redis, zeromq, service, tbb, fmt, boost, properties and c, or AUTO, those whose packages are found")

if(PROJECT_IS_TOP_LEVEL)
    set(handlepool_examples AUTO)
else()
    set(handlepool_examples OFF)
endif()
set(HANDLEPOOL_BUILD_EXAMPLES ${handlepool_examples} CACHE STRING
    "Build the examples: AUTO (those whose packages are found), ON (all of them) or OFF")
set_property(CACHE HANDLEPOOL_BUILD_EXAMPLES PROPERTY STRINGS AUTO ON OFF)

set(HANDLEPOOL_CHECKED AUTO CACHE STRING "Check contracts at run time: AUTO (in Debug builds), ON or OFF")
set_property(CACHE HANDLEPOOL_CHECKED PROPERTY STRINGS AUTO ON OFF)
# 1 or 0, when it is generated.
if(HANDLEPOOL_CHECKED STREQUAL "AUTO")
    set(handlepool_checked $<CONFIG:Debug>)
else()
    set(handlepool_checked $<BOOL:${HANDLEPOOL_CHECKED}>)
endif()

set(HANDLEPOOL_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread; empty for none")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_CXX_EXTENSIONS OFF)
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()
