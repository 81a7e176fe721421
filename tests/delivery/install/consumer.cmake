# SPDX-License-Identifier: MIT
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

run(${CMAKE_COMMAND} --install ${build} --config "${config}" --prefix ${work}/installed)
set(prefix "${work}/moved to here")
file(RENAME ${work}/installed ${prefix})

# ---- By find_package: the configurations need not agree, contracts do ---------------------------------------

foreach(type IN ITEMS Debug Release)
    set(folder ${work}/build-${type})
    run(${CMAKE_COMMAND} -S ${tests}/consumer -B ${folder} -G ${generator} ${settings}
        -D CMAKE_BUILD_TYPE=${type} -D CMAKE_CONFIGURATION_TYPES=${type} -D CMAKE_RUNTIME_OUTPUT_DIRECTORY=${folder}/$<0:>
        -D CMAKE_PREFIX_PATH=${prefix} -D checked=${checked})
    run(${CMAKE_COMMAND} --build ${folder} --config ${type})
    run(${folder}/consumer)
endforeach()
expect_failure("The component 'tpp' is not installed in .*; beside the pools there is: time, snapshots,( redis,)?( zeromq,)? service, tbb, fmt, boost, properties, c"
    ${CMAKE_COMMAND} -S ${tests}/consumer -B ${work}/missing -G ${generator} ${settings}
    -D CMAKE_PREFIX_PATH=${prefix} -D component=tpp)

# ---- By a project in C, which has no C++ compiler -------------------------------------------------------------

set(cxx_runtime)
if(sanitize AND c_compiler MATCHES "clang") # for the library, which is not C
    set(cxx_runtime "-DCMAKE_EXE_LINKER_FLAGS=-fsanitize-link-c++-runtime -lstdc++")
endif()
run(${CMAKE_COMMAND} -S ${tests}/c -B ${work}/build-c -G ${generator} -D CMAKE_C_COMPILER=${c_compiler} "-DCMAKE_C_FLAGS=${flags_of_cmake}"
    ${cxx_runtime} -D CMAKE_BUILD_TYPE=Release -D CMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${work}/build-c)
run(${work}/build-c/program)

# ---- By hand: a program with another value of HANDLEPOOL_CHECKED does not link ------------------------------

file(GLOB_RECURSE file ${prefix}/${library})
set(by_hand ${compiler} -std=c++20 ${flags} -I ${prefix}/include ${tests}/consumer/by_hand.cpp ${file} -pthread)
run(${by_hand} -D HANDLEPOOL_CHECKED=${checked} -o ${work}/by_hand)
run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${prefix}/lib ${work}/by_hand)
math(EXPR other "1 - ${checked}")
expect_failure("library_built_with_HANDLEPOOL_CHECKED<" ${by_hand} -D HANDLEPOOL_CHECKED=${other} -o ${work}/mismatch)
# Nor when the linker throws away what is not used.
expect_failure("library_built_with_HANDLEPOOL_CHECKED<" ${by_hand} -D HANDLEPOOL_CHECKED=${other} -o ${work}/mismatch
    -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections)

# ---- The harness: runs, and finds the recording library that was installed with it --------------------------

if(stress)
    # LD_PRELOAD allows no spaces.
    file(COPY ${prefix}/ DESTINATION ${work}/moved)
    set(prefix ${work}/moved)
    run(${prefix}/bin/handlepool-stress churn --frames 5 --alive 100 --threads 1)
    if(NOT sanitize)
        run(${prefix}/bin/handlepool-stress record --output ${work}/trace.zst -- ${work}/build-Release/consumer)
        run(${prefix}/bin/handlepool-stress replay ${work}/trace.zst)
    endif()
endif()
