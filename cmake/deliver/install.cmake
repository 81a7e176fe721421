# SPDX-License-Identifier: MIT
include(CMakePackageConfigHelpers)

set(handlepool_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/handlepool)

# What is installed belongs to handlepool_dev, for those who build programs, unless it says otherwise: handlepool_runtime is what
# their programs load, handlepool_tools the harness.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME handlepool_dev)

install(DIRECTORY include/handlepool DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h PATTERN *.hpp)

# An export set for each set of dependencies: a user finds only what the components asked for need.
function(handlepool_install component target)
    install(TARGETS ${target} EXPORT handlepool-${component}
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT handlepool_runtime NAMELINK_COMPONENT handlepool_dev
            RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT handlepool_runtime)
    install(EXPORT handlepool-${component}
            NAMESPACE handlepool::
            FILE handlepool-${component}.cmake
            DESTINATION ${handlepool_package_dir})
endfunction()
handlepool_install(core handlepool)
foreach(component IN LISTS handlepool_components)
    handlepool_install(${component} handlepool_${component})
endforeach()
foreach(library IN ITEMS handlepool_time handlepool_snapshots handlepool_redis handlepool_zeromq handlepool_service handlepool_properties handlepool_c)
    if(BUILD_SHARED_LIBS AND TARGET ${library} AND NOT DEFINED CMAKE_INSTALL_RPATH)
        # It stands beside the pools' library, wherever the two are moved.
        set_target_properties(${library} PROPERTIES INSTALL_RPATH $ORIGIN)
    endif()
endforeach()

# Programs link what a static library uses; a shared one brings it.
set(handlepool_text_package "fmt::fmt fmt 9")
set(handlepool_zeromq_package "PkgConfig::libzmq PkgConfig")
if(BUILD_SHARED_LIBS)
    set(handlepool_text_package "Threads::Threads Threads")
    set(handlepool_zeromq_package "Threads::Threads Threads")
endif()
configure_package_config_file(cmake/deliver/handlepool-config.cmake.in handlepool-config.cmake
                              INSTALL_DESTINATION ${handlepool_package_dir})
write_basic_package_version_file(handlepool-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/handlepool-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/handlepool-config-version.cmake
        DESTINATION ${handlepool_package_dir})

# What debuggers load; see docs/debuggers.md.
foreach(folder IN ITEMS debuggers gdb lldb natvis)
    install(DIRECTORY tools/${folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/handlepool
            PATTERN __pycache__ EXCLUDE PATTERN auto-load.py EXCLUDE)
endforeach()
# gdb looks there for the path of a library, whose prefix is known when it is installed.
if(BUILD_SHARED_LIBS)
    set(handlepool_library_path "\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}")
    if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
        set(handlepool_library_path ${CMAKE_INSTALL_LIBDIR})
    endif()
    install(FILES tools/gdb/auto-load.py RENAME $<TARGET_FILE_NAME:handlepool>-gdb.py
            DESTINATION "${CMAKE_INSTALL_DATADIR}/gdb/auto-load${handlepool_library_path}")
elseif(HANDLEPOOL_EMBED_GDB_SCRIPT)
    install(FILES tools/gdb/auto-load.py RENAME handlepool.py DESTINATION ${CMAKE_INSTALL_DATADIR}/gdb/auto-load)
endif()

include(cmake/deliver/pkg_config.cmake)
if(PROJECT_IS_TOP_LEVEL)
    include(cmake/deliver/deb.cmake)
endif()
