# SPDX-License-Identifier: MIT
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# The pools and the component that needs nothing else, from a build of several configurations; the pools alone, from one with
# contracts checked in a release.
set(without_examples -D HANDLEPOOL_BUILD_EXAMPLES=OFF)
run(${CMAKE_COMMAND} -S ${source} -B ${work}/multi -G "Ninja Multi-Config" ${settings} ${without_examples} -D HANDLEPOOL_COMPONENTS=time)
foreach(type IN ITEMS Debug Release)
    run(${CMAKE_COMMAND} --build ${work}/multi --config ${type})
    run(${CMAKE_COMMAND} --install ${work}/multi --config ${type} --prefix ${work}/both)
endforeach()
run(${CMAKE_COMMAND} --install ${work}/multi --config Release --prefix ${work}/release)
run(${CMAKE_COMMAND} -S ${source} -B ${work}/single -G ${generator} ${settings} ${without_examples}
    -D HANDLEPOOL_COMPONENTS= -D CMAKE_BUILD_TYPE=Release -D HANDLEPOOL_CHECKED=ON)
run(${CMAKE_COMMAND} --build ${work}/single)
run(${CMAKE_COMMAND} --install ${work}/single --config Release --prefix ${work}/checked)

# Users of each configuration get a library that is there, and agree with it.
function(expect_use use type value library)
    file(READ ${work}/use-${use}/${type}.txt used)
    if(NOT used MATCHES "^HANDLEPOOL_CHECKED=${value} ${library}\\.(a|so)")
        message(FATAL_ERROR "In ${use}, a ${type} program gets '${used}' instead of ${value} and ${library}")
    endif()
    run(${CMAKE_COMMAND} --build ${work}/use-${use} --config ${type})
    run(${work}/use-${use}/${type}/program)
endfunction()
foreach(prefix IN ITEMS both release checked)
    run(${CMAKE_COMMAND} -S ${tests}/pools -B ${work}/use-${prefix} -G "Ninja Multi-Config" ${settings}
        -D CMAKE_PREFIX_PATH=${work}/${prefix})
endforeach()
expect_use(both Debug 1 libhandlepool-checked)
expect_use(both Release 0 libhandlepool)
expect_use(both RelWithDebInfo 0 libhandlepool)
expect_use(release Debug 0 libhandlepool)
expect_use(release Release 0 libhandlepool)
expect_use(checked Debug 1 libhandlepool-checked)
expect_use(checked Release 1 libhandlepool-checked)
# A project may map its configurations to those of the packages that it uses.
run(${CMAKE_COMMAND} -S ${tests}/pools -B ${work}/use-mapped -G "Ninja Multi-Config" ${settings} -D CMAKE_PREFIX_PATH=${work}/both
    -D CMAKE_MAP_IMPORTED_CONFIG_DEBUG=Release -D CMAKE_MAP_IMPORTED_CONFIG_RELWITHDEBINFO=Debug)
expect_use(mapped Debug 0 libhandlepool)
expect_use(mapped RelWithDebInfo 1 libhandlepool-checked)
expect_use(mapped Release 0 libhandlepool)

# The component's library is that of the pools' configuration.
run(${CMAKE_COMMAND} -S ${tests}/time -B ${work}/use-time -G "Ninja Multi-Config" ${settings} -D CMAKE_PREFIX_PATH=${work}/both)
foreach(use IN ITEMS "Debug libhandlepool_time-checked" "Release libhandlepool_time" "RelWithDebInfo libhandlepool_time")
    string(REGEX MATCH "^([^ ]+) (.*)$" use ${use})
    set(type ${CMAKE_MATCH_1})
    set(library ${CMAKE_MATCH_2})
    file(READ ${work}/use-time/${type}.txt used)
    if(NOT used MATCHES "^${library}\\.(a|so)")
        message(FATAL_ERROR "A ${type} program gets '${used}' instead of ${library}")
    endif()
    run(${CMAKE_COMMAND} --build ${work}/use-time --config ${type})
    run(${work}/use-time/${type}/program)
endforeach()

# A project has either the package or the sources.
set(twice ${CMAKE_COMMAND} -S ${tests}/twice -G ${generator} ${settings} -D CMAKE_PREFIX_PATH=${work}/both
    -D handlepool_source=${source} --no-warn-unused-cli)
set(once "a project has either its package or its sources")
expect_failure("handlepool is there already, by find_package or add_subdirectory: ${once}"
    ${twice} -B ${work}/package-sources -D first=package -D second=sources)
expect_failure("handlepool is there already, by find_package or add_subdirectory: ${once}"
    ${twice} -B ${work}/sources-sources -D first=sources -D second=sources)
expect_failure("The sources of handlepool are a part of this project: ${once}"
    ${twice} -B ${work}/sources-package -D first=sources -D second=package)
run(${twice} -B ${work}/package-package -D first=package -D second=package)

# A postfix of the packager's stands in the library's name, and so in what pkg-config says.
find_program(pkg_config pkg-config REQUIRED)
run(${CMAKE_COMMAND} -S ${source} -B ${work}/postfix -G ${generator} ${settings} ${without_examples}
    -D HANDLEPOOL_COMPONENTS=time -D CMAKE_BUILD_TYPE=Debug -D CMAKE_DEBUG_POSTFIX=d)
run(${CMAKE_COMMAND} --build ${work}/postfix)
run(${CMAKE_COMMAND} --install ${work}/postfix --config Debug --prefix ${work}/postfixed)
file(GLOB_RECURSE files ${work}/postfixed/*.pc)
list(GET files 0 file)
get_filename_component(folder ${file} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${folder})
run(sh -ec "'${compiler}' -std=c++20 '${tests}/time/main.cpp' -o '${work}/by_pkg_config' $('${pkg_config}' --cflags --libs handlepool_time-checked)")
run(${work}/by_pkg_config)
run(${CMAKE_COMMAND} -S ${tests}/pools -B ${work}/use-postfixed -G "Ninja Multi-Config" ${settings} -D CMAKE_PREFIX_PATH=${work}/postfixed)
expect_use(postfixed Debug 1 libhandlepool-checkedd)
expect_use(postfixed Release 1 libhandlepool-checkedd)
