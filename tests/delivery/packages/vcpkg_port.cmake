# SPDX-License-Identifier: MIT

# cmake -D work=FOLDER -D features=LIST -P tests/delivery/packages/vcpkg_port.cmake: runs the port of vcpkg, portfile.cmake, and builds and
# runs a program with what it installs. Where vcpkg is not to be had, this stands in for it: the port is vcpkg's, the functions that
# it calls are the simple ones below, and its dependencies are packages of the machine.
cmake_minimum_required(VERSION 3.25)
cmake_path(ABSOLUTE_PATH work)
cmake_path(SET project NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../..)
set(port ${project}packaging/vcpkg/handlepool)
file(REMOVE_RECURSE ${work})

# ---- What the port's manifest says --------------------------------------------------------------------------

file(READ ${port}/vcpkg.json manifest)
file(STRINGS ${project}CMakeLists.txt version REGEX "^project\\(handlepool VERSION ")
string(JSON of_port GET "${manifest}" version-semver)
if(NOT version MATCHES "VERSION ${of_port} ")
    message(FATAL_ERROR "The port is of version ${of_port}, the project is not: ${version}")
endif()
foreach(feature IN LISTS features)
    string(JSON ignored GET "${manifest}" features ${feature} description) # or an error
endforeach()

# ---- vcpkg's functions --------------------------------------------------------------------------------------

set(PORT handlepool)
set(FEATURES core ${features})
set(CURRENT_PACKAGES_DIR ${work}/packages)

function(run)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "") # keeps lists that are one argument
    execute_process(COMMAND ${arg_UNPARSED_ARGUMENTS} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()

# A debug build and a release, as vcpkg makes both.
function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" SOURCE_PATH OPTIONS)
    run(${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${work}/Debug -G Ninja ${arg_OPTIONS} -D CMAKE_BUILD_TYPE=Debug
        -D CMAKE_INSTALL_LIBDIR=lib -D CMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}/debug)
    run(${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${work}/Release -G Ninja ${arg_OPTIONS} -D CMAKE_BUILD_TYPE=Release
        -D CMAKE_INSTALL_LIBDIR=lib -D CMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR})
endfunction()

function(vcpkg_cmake_install)
    foreach(type IN ITEMS Debug Release)
        run(${CMAKE_COMMAND} --build ${work}/${type})
        run(${CMAKE_COMMAND} --install ${work}/${type})
    endforeach()
endfunction()

# One set of files, share/handlepool, for both.
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" CONFIG_PATH "")
    set(share ${CURRENT_PACKAGES_DIR}/share/${PORT})
    file(COPY ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/ DESTINATION ${share})
    file(GLOB of_debug ${CURRENT_PACKAGES_DIR}/debug/${arg_CONFIG_PATH}/*-debug.cmake)
    file(COPY ${of_debug} DESTINATION ${share})
    file(GLOB files ${share}/*.cmake)
    foreach(file IN LISTS files)
        file(READ ${file} text)
        if(file MATCHES "-debug\\.cmake$")
            string(REPLACE "\${_IMPORT_PREFIX}/lib" "\${_IMPORT_PREFIX}/debug/lib" text "${text}")
        endif()
        # They stand one folder higher.
        string(REPLACE "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\nget_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\nget_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\n"
            "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\nget_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\n" text "${text}")
        string(REPLACE "/../../../\" ABSOLUTE" "/../../\" ABSOLUTE" text "${text}")
        file(WRITE ${file} "${text}")
    endforeach()
    file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH} ${CURRENT_PACKAGES_DIR}/debug/${arg_CONFIG_PATH})
endfunction()

function(vcpkg_fixup_pkgconfig)
    file(GLOB files ${CURRENT_PACKAGES_DIR}/lib/pkgconfig/*.pc)
    if(NOT files)
        message(FATAL_ERROR "The port installs nothing for pkg-config")
    endif()
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" FILE_LIST)
    configure_file(${arg_FILE_LIST} ${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright COPYONLY)
endfunction()

include(${port}/portfile.cmake)

# ---- What vcpkg requires of a port, and a program -----------------------------------------------------------

foreach(file IN ITEMS include/handlepool/pool.hpp share/handlepool/usage share/handlepool/copyright
        share/handlepool/handlepool-config.cmake lib/libhandlepool.a debug/lib/libhandlepool-checked.a)
    if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/${file})
        message(FATAL_ERROR "The port does not install ${file}")
    endif()
endforeach()
if(EXISTS ${CURRENT_PACKAGES_DIR}/debug/include)
    message(FATAL_ERROR "The port installs headers twice")
endif()
foreach(type IN ITEMS Debug Release)
    run(${CMAKE_COMMAND} -S ${project}tests/delivery/install/pools -B ${work}/user-${type} -G Ninja -D CMAKE_BUILD_TYPE=${type}
        -D CMAKE_PREFIX_PATH=${CURRENT_PACKAGES_DIR} "-Dcomponents=${features}")
    run(${CMAKE_COMMAND} --build ${work}/user-${type})
    run(${work}/user-${type}/program)
endforeach()
