# SPDX-License-Identifier: MIT

# A project whose sources are united builds in a folder that is not where its path leads to: behind a link, and with
# the sources behind one.
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work}/a/deeper/folder/build ${work}/b)
file(CREATE_LINK ${work}/a/deeper/folder/build ${work}/b/build SYMBOLIC)
file(CREATE_LINK ${source} ${work}/b/source SYMBOLIC)
set(source ${work}/b/source/tests/repository/ci/united)
set(build ${work}/b/build)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${source} -B ${build} -G ${generator} -D CMAKE_CXX_COMPILER=${compiler}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${build}/program COMMAND_ERROR_IS_FATAL ANY)
