# SPDX-License-Identifier: MIT

# cpack -G DEB: libhandlepool-dev, handlepool-tools where the harness or the tool of journals is built, and the libraries that programs load, where there
# are any: libhandlepool0.1, or libhandlepool-c0.1 if only the C interface is a shared library. ci/packages.sh builds them as
# Debian would, installs them and uses them.

set(handlepool_runtime_package libhandlepool${handlepool_soversion})
if(NOT BUILD_SHARED_LIBS)
    set(handlepool_runtime_package libhandlepool-c${handlepool_soversion})
endif()
set(CPACK_COMPONENTS_ALL handlepool_dev)
set(handlepool_recommended)
foreach(component IN ITEMS core ${handlepool_components})
    set(target handlepool_${component})
    if(component STREQUAL "core")
        set(target handlepool)
    endif()
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
        list(APPEND CPACK_COMPONENTS_ALL handlepool_runtime)
    endif()
    # Pools need no other package; users of a component need those of its headers.
    handlepool_installed_links(links ${target})
    foreach(package IN ITEMS fmt TBB Boost libzmq)
        if(handlepool_${package}_target IN_LIST links)
            string(REPLACE " " ";" debian ${handlepool_${package}_debian})
            list(APPEND handlepool_recommended ${debian})
        endif()
    endforeach()
    if("hiredis" IN_LIST links) # which has no target
        list(APPEND handlepool_recommended ${handlepool_hiredis_debian})
    endif()
endforeach()
if(HANDLEPOOL_BUILD_STRESS OR HANDLEPOOL_BUILD_TOOLS)
    list(APPEND CPACK_COMPONENTS_ALL handlepool_tools)
endif()
list(REMOVE_DUPLICATES CPACK_COMPONENTS_ALL)
list(REMOVE_DUPLICATES handlepool_recommended)
list(JOIN handlepool_recommended ", " handlepool_recommended)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME handlepool)
set(CPACK_PACKAGE_VENDOR handlepool)
set(CPACK_PACKAGE_CONTACT "handlepool authors <handlepool@packages.invalid>" CACHE STRING
    "Maintainer of the packages: NAME <ADDRESS>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # or it would stand above each description
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/packages)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# What Debian wants in each package: its copyright and its changes.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/documents.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_CURRENT_BINARY_DIR})
set(handlepool_release ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

# handlepool_describe(COMPONENT PACKAGE SECTION SYNOPSIS LINES...)
function(handlepool_describe component package section synopsis)
    string(TOUPPER ${component} variable)
    set(CPACK_DEBIAN_${variable}_PACKAGE_NAME ${package} PARENT_SCOPE)
    set(CPACK_DEBIAN_${variable}_PACKAGE_SECTION ${section} PARENT_SCOPE)
    string(JOIN "\n" description
        ${synopsis}
        "Threads create, look up and erase objects by 64-bit handles, without a lock,"
        "while the objects stay contiguous in memory. A handle resolves to its own"
        "object or to nothing, never to another object."
        "."
        ${ARGN})
    set(CPACK_COMPONENT_${variable}_DESCRIPTION ${description} PARENT_SCOPE)
endfunction()
handlepool_describe(handlepool_dev libhandlepool-dev libdevel
    "concurrent handle pool for C++20 (development files)"
    "This package has the headers, the files for CMake and pkg-config, and what"
    "programs link.")
handlepool_describe(handlepool_runtime ${handlepool_runtime_package} libs
    "concurrent handle pool for C++20 (shared libraries)"
    "This package has what programs load.")
handlepool_describe(handlepool_tools handlepool-tools devel
    "stress harness of a concurrent handle pool for C++20"
    "This package has handlepool-stress, which puts the pool under load and checks"
    "every answer, records the allocations of programs, and replays them on the"
    "pool. It also has handlepool-journal, which lists, verifies, cuts off, replays"
    "and compares journals, and handlepool-inspect, which shows the pools of"
    "running programs.")
set(CPACK_DEBIAN_HANDLEPOOL_DEV_PACKAGE_RECOMMENDS ${handlepool_recommended})
set(CPACK_DEBIAN_HANDLEPOOL_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_HANDLEPOOL_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)
set(CPACK_DEBIAN_HANDLEPOOL_TOOLS_PACKAGE_SHLIBDEPS ON)

if("handlepool_runtime" IN_LIST CPACK_COMPONENTS_ALL)
    set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
    if(NOT BUILD_SHARED_LIBS) # the other package has the same library
        set(CPACK_DEBIAN_HANDLEPOOL_RUNTIME_PACKAGE_CONFLICTS libhandlepool${handlepool_soversion})
    endif()
    set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
    set(CPACK_DEBIAN_HANDLEPOOL_DEV_PACKAGE_DEPENDS "${handlepool_runtime_package} (= ${handlepool_release})")
    if(BUILD_SHARED_LIBS)
        set(CPACK_DEBIAN_HANDLEPOOL_TOOLS_PACKAGE_DEPENDS "${handlepool_runtime_package} (= ${handlepool_release})")
    endif()
endif()
include(CPack)
