# SPDX-License-Identifier: MIT
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

find_program(pkg_config pkg-config REQUIRED)
run(${CMAKE_COMMAND} --install ${build} --config "${config}" --prefix ${work}/installed)
set(prefix "${work}/moved to here")
file(RENAME ${work}/installed ${prefix})
set(libraries "${prefix}/${library_directory}")
set(ENV{PKG_CONFIG_PATH} "${libraries}/pkgconfig")
set(ENV{LD_LIBRARY_PATH} "${libraries}")
set(suffix)
if(checked)
    set(suffix -checked)
endif()

# compile(PROGRAM SOURCE NAMES [FLAGS...]): as a shell does it, with what pkg-config says of these packages.
function(compile program source names)
    list(TRANSFORM names APPEND "${suffix}")
    list(JOIN names " " names)
    list(JOIN ARGN " " more)
    run(sh -ec "flags=$('${pkg_config}' --cflags --libs ${names})
                eval \"'${compiler}' -std=c++20 ${more} '${tests}/${source}' -o '${work}/${program}' $flags\"")
    run(${work}/${program})
endfunction()

# ---- Each part is there, with what it requires --------------------------------------------------------------

file(GLOB files RELATIVE ${libraries}/pkgconfig ${libraries}/pkgconfig/*.pc)
list(LENGTH files count)
if(count LESS 9)
    message(FATAL_ERROR "Of the pools, and of each component, a file should be installed; there are: ${files}")
endif()
foreach(file IN LISTS files)
    string(REGEX REPLACE "\\.pc$" "" name ${file})
    run(${pkg_config} --print-errors --exists "${name} >= 0.1")
    execute_process(COMMAND ${pkg_config} --cflags --libs ${name} OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "\\" "" flags "${flags}")
    if(NOT flags MATCHES "-I[^ ]*/moved to here/" OR flags MATCHES "/installed")
        message(FATAL_ERROR "${file} does not move with its folder: ${flags}")
    endif()
endforeach()

# ---- Programs -----------------------------------------------------------------------------------------------

compile(by_hand consumer/by_hand.cpp handlepool)
compile(consumer consumer/main.cpp
    "handlepool;handlepool_fmt;handlepool_boost;handlepool_time;handlepool_snapshots;handlepool_service;handlepool_tbb;handlepool_properties"
    -DLIBRARY_CHECKS_CONTRACTS=${checked})
# Each of these brings the pools by itself.
compile(time time/main.cpp handlepool_time)
compile(snapshots snapshots/main.cpp handlepool_snapshots)
foreach(name IN ITEMS handlepool_service handlepool_tbb handlepool_properties handlepool_fmt handlepool_boost)
    compile(${name} consumer/by_hand.cpp ${name})
endforeach()
