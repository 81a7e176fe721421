# SPDX-License-Identifier: MIT

# install_tool(PROGRAM): installs it with the other tools; it finds the shared libraries beside it.
function(install_tool program)
    if(NOT HANDLEPOOL_INSTALL)
        return()
    endif()
    if(BUILD_SHARED_LIBS AND NOT DEFINED CMAKE_INSTALL_RPATH)
        file(RELATIVE_PATH libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
        set_target_properties(${program} PROPERTIES INSTALL_RPATH $ORIGIN/${libraries})
    endif()
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT handlepool_tools)
endfunction()
