# SPDX-License-Identifier: MIT

# What pkg-config reads: handlepool.pc, and handlepool_X.pc for each component X. They are called like the libraries, so those that
# check contracts have files of their own: handlepool-checked.pc.
#
# Nothing is private in them. Programs link what a static library uses, and no static library stands beside a shared one.

# By their names in CMake. Boost has no file for its headers, which stand where compilers look.
set(handlepool_pkg_config_names
    "fmt::fmt" "fmt >= ${handlepool_fmt_arguments}"
    "hiredis" "hiredis"
    "TBB::tbb" "tbb >= ${handlepool_TBB_arguments}"
    "PkgConfig::libzmq" "libzmq >= ${handlepool_libzmq_arguments}"
    "Boost::headers" "")

set(handlepool_pkg_config_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# Wherever the files are moved; but files in a folder of its own don't move.
set(handlepool_pkg_config_prefix ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    file(RELATIVE_PATH handlepool_pkg_config_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
    string(REGEX REPLACE "/$" "" handlepool_pkg_config_prefix "\${pcfiledir}/${handlepool_pkg_config_prefix}")
endif()
set(handlepool_pkg_config_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
    set(handlepool_pkg_config_includedir ${CMAKE_INSTALL_INCLUDEDIR})
endif()
set(handlepool_pkg_config_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    set(handlepool_pkg_config_libdir ${CMAKE_INSTALL_LIBDIR})
endif()
# As pkg-config itself writes a space in pcfiledir.
foreach(folder IN ITEMS prefix includedir libdir)
    string(REPLACE " " "\\ " handlepool_pkg_config_${folder} "${handlepool_pkg_config_${folder}}")
endforeach()

# Sets `links` to what users of an installed target link.
function(handlepool_installed_links links target)
    get_target_property(all ${target} INTERFACE_LINK_LIBRARIES)
    set(installed)
    foreach(link IN LISTS all)
        string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" link "${link}")
        if(link AND NOT link MATCHES "^\\$<BUILD_INTERFACE:")
            list(APPEND installed ${link})
        endif()
    endforeach()
    set(${links} "${installed}" PARENT_SCOPE)
endfunction()

function(handlepool_install_pkg_config target description)
    set(suffix $<${handlepool_checked}:-checked>)
    set(requires)
    set(cflags "-I\${includedir}")
    set(libs)
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
        set(libs "-L\${libdir} -l$<TARGET_LINKER_FILE_BASE_NAME:${target}>") # with a postfix of the packager's
    endif()
    if(target STREQUAL "handlepool")
        string(APPEND cflags " -DHANDLEPOOL_CHECKED=${handlepool_checked}")
    endif()

    handlepool_installed_links(links ${target})
    foreach(link IN LISTS links)
        list(FIND handlepool_pkg_config_names ${link} found)
        if(link STREQUAL "Threads::Threads")
            string(APPEND cflags " -pthread")
            string(APPEND libs " -pthread")
        elseif(link STREQUAL "${CMAKE_DL_LIBS}")
            string(APPEND libs " -l${link}")
        elseif(link MATCHES "^handlepool(_.*)?$" AND TARGET ${link})
            list(APPEND requires "${link}${suffix} = ${PROJECT_VERSION}")
        elseif(NOT found EQUAL -1)
            math(EXPR found "${found} + 1")
            list(GET handlepool_pkg_config_names ${found} name)
            list(APPEND requires ${name})
        else()
            message(FATAL_ERROR "cmake/deliver/pkg_config.cmake does not say how pkg-config calls ${link}, which ${target} links")
        endif()
    endforeach()
    list(JOIN requires ", " requires)

    set(name ${target}${suffix})
    set(file ${CMAKE_CURRENT_BINARY_DIR}/pkgconfig/$<CONFIG>/${name}.pc)
    file(GENERATE OUTPUT ${file} CONTENT
"prefix=${handlepool_pkg_config_prefix}
includedir=${handlepool_pkg_config_includedir}
libdir=${handlepool_pkg_config_libdir}

Name: ${name}
Description: ${description}
Version: ${PROJECT_VERSION}
Requires: ${requires}
Cflags: ${cflags}
Libs: ${libs}
")
    install(FILES ${file} DESTINATION ${handlepool_pkg_config_dir})
endfunction()

handlepool_install_pkg_config(handlepool "${PROJECT_DESCRIPTION}")
foreach(component IN LISTS handlepool_components)
    handlepool_install_pkg_config(handlepool_${component} "${PROJECT_DESCRIPTION}: ${component}")
endforeach()
