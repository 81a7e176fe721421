include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(handlepool_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/handlepool)

install(DIRECTORY include/handlepool DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# An export set for each set of dependencies: a user finds only what the components asked for need.
install(TARGETS handlepool EXPORT handlepool-core
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(component IN ITEMS fmt boost service tbb)
    install(TARGETS handlepool_${component} EXPORT handlepool-${component}
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
foreach(component IN ITEMS core fmt boost service tbb)
    install(EXPORT handlepool-${component}
            NAMESPACE handlepool::
            FILE handlepool-${component}.cmake
            DESTINATION ${handlepool_package_dir})
endforeach()

configure_package_config_file(cmake/handlepool-config.cmake.in handlepool-config.cmake
                              INSTALL_DESTINATION ${handlepool_package_dir})
write_basic_package_version_file(handlepool-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/handlepool-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/handlepool-config-version.cmake
        DESTINATION ${handlepool_package_dir})
