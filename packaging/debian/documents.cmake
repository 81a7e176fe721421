# SPDX-License-Identifier: MIT

# Run by CPack before it makes the packages, whose files stand in a folder for each component.
set(version "${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")
file(READ ${CPACK_RESOURCE_FILE_LICENSE} license)
string(REGEX MATCH "Copyright \\(c\\) ([^\n]*)" ignored "${license}")
set(holder "${CMAKE_MATCH_1}")
string(REGEX REPLACE "^.*\n(Permission is )" "\\1" license "${license}")
string(REGEX REPLACE "\n\n" "\n.\n" license "${license}")
string(REGEX REPLACE "\n+$" "" license "${license}")
string(REGEX REPLACE "\n" "\n " license "${license}")
set(copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: handlepool

Files: *
Copyright: ${holder}
License: Expat
 ${license}
")
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC) # or SOURCE_DATE_EPOCH
set(changes "handlepool (${version}) unstable; urgency=medium

  * Made by CPack from handlepool ${CPACK_PACKAGE_VERSION}; its changes are in changelog.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")

find_program(gzip gzip REQUIRED)
cmake_path(GET CPACK_RESOURCE_FILE_LICENSE PARENT_PATH source)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} variable)
    set(package ${CPACK_DEBIAN_${variable}_PACKAGE_NAME})
    set(documents ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share/doc/${package})
    file(WRITE ${documents}/copyright "${copyright}")
    file(WRITE ${documents}/changelog.Debian "${changes}")
    configure_file(${source}/CHANGELOG.md ${documents}/changelog COPYONLY)
    file(GLOB pages ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share/man/man*/*)
    execute_process(COMMAND ${gzip} -9nf ${documents}/changelog ${documents}/changelog.Debian ${pages}
                    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
