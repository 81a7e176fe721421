option(HANDLEPOOL_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(HANDLEPOOL_BUILD_STRESS "Build the stress harness handlepool-stress" ${PROJECT_IS_TOP_LEVEL})
option(HANDLEPOOL_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(HANDLEPOOL_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(HANDLEPOOL_INSTALL "Generate the install target" ${PROJECT_IS_TOP_LEVEL})
option(HANDLEPOOL_WERROR "Treat warnings as errors" OFF)

set(HANDLEPOOL_CHECKED AUTO CACHE STRING "Check contracts at run time: AUTO (in Debug builds), ON or OFF")
set_property(CACHE HANDLEPOOL_CHECKED PROPERTY STRINGS AUTO ON OFF)

set(HANDLEPOOL_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread; empty for none")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_CXX_EXTENSIONS OFF)
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()
