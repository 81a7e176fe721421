function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)

set(flags)
if(sanitize)
    set(flags -fsanitize=${sanitize})
endif()
run(${CMAKE_COMMAND} -S ${consumer} -B ${work}/build -G ${generator}
    -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_FLAGS=${flags} -D CMAKE_PREFIX_PATH=${work}/prefix
    -D TBB_DIR=${tbb})
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/consumer)

if(stress)
    # The installed harness runs, and finds the recording library that was installed with it.
    run(${work}/prefix/bin/handlepool-stress churn --frames 5 --alive 100 --threads 1)
    if(NOT sanitize)
        run(${work}/prefix/bin/handlepool-stress record --output ${work}/trace.zst -- ${work}/build/consumer)
        run(${work}/prefix/bin/handlepool-stress replay ${work}/trace.zst)
    endif()
endif()
