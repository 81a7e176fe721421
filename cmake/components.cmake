# What stands above the pools. Headers that need another library have a target of their own, so that the pool needs none.

if("service" IN_LIST handlepool_components)
    # Many pools, their limits from JSON, their statistics.
    add_library(handlepool_service
        src/pool_limits.cpp
        src/service.cpp
        src/service_stats.cpp
        src/timeline.cpp)
    add_library(handlepool::service ALIAS handlepool_service)
    set_target_properties(handlepool_service PROPERTIES EXPORT_NAME service)
    target_link_libraries(handlepool_service
        PUBLIC handlepool
        PRIVATE fmt::fmt $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
    handlepool_finish_library(handlepool_service)
endif()

if("properties" IN_LIST handlepool_components)
    # Small dynamic data of objects; as JSON and in files too.
    add_library(handlepool_properties
        src/bag_buffer.cpp
        src/bag_file.cpp
        src/bag_store.cpp
        src/block_arena.cpp
        src/key_table.cpp
        src/property_bag.cpp
        src/property_error.cpp
        src/property_json_reader.cpp
        src/property_json_writer.cpp
        src/property_merge.cpp
        src/property_view.cpp)
    add_library(handlepool::properties ALIAS handlepool_properties)
    set_target_properties(handlepool_properties PROPERTIES EXPORT_NAME properties)
    target_link_libraries(handlepool_properties
        PUBLIC handlepool
        PRIVATE fmt::fmt $<BUILD_INTERFACE:nlohmann_json::nlohmann_json> $<BUILD_INTERFACE:Boost::headers>)
    handlepool_finish_library(handlepool_properties)
endif()

if("c" IN_LIST handlepool_components)
    # Pools of types that are known at run time, for C and what calls C. Shared, whatever the others are: where those are static,
    # it contains them.
    add_library(handlepool_c SHARED
        src/c/failures.cpp
        src/c/library.cpp
        src/c/pools.cpp
        src/c/services.cpp
        src/c/types.cpp)
    add_library(handlepool::c ALIAS handlepool_c)
    set_target_properties(handlepool_c PROPERTIES EXPORT_NAME c DEFINE_SYMBOL HANDLEPOOL_C_BUILD)
    target_compile_features(handlepool_c PRIVATE cxx_std_20)
    target_compile_definitions(handlepool_c PRIVATE
        HANDLEPOOL_BUILT_VERSION=${PROJECT_VERSION_MAJOR}*1000000+${PROJECT_VERSION_MINOR}*1000+${PROJECT_VERSION_PATCH}
        HANDLEPOOL_BUILT_VERSION_TEXT="${PROJECT_VERSION}")
    handlepool_add_include_directory(handlepool_c)
    target_link_libraries(handlepool_c PRIVATE handlepool_service)
    handlepool_finish_library(handlepool_c EXPORTS exports_c.map)
endif()

function(handlepool_add_headers component)
    if(component IN_LIST handlepool_components)
        add_library(handlepool_${component} INTERFACE)
        add_library(handlepool::${component} ALIAS handlepool_${component})
        set_target_properties(handlepool_${component} PROPERTIES EXPORT_NAME ${component})
        target_link_libraries(handlepool_${component} INTERFACE ${ARGN})
    endif()
endfunction()
handlepool_add_headers(fmt handlepool fmt::fmt)
handlepool_add_headers(boost handlepool Boost::headers)
handlepool_add_headers(tbb handlepool_service TBB::tbb)

if(TARGET handlepool_tbb AND HANDLEPOOL_SANITIZE MATCHES "undefined")
    # oneTBB's flow graph casts a task to its type behind its destructor.
    target_compile_options(handlepool_tbb INTERFACE $<BUILD_INTERFACE:-fno-sanitize=vptr>)
endif()

# Another project may export from its build folder what it links with the pools and components: not with those that need a package
# which is a part of that project itself, and may be in no export.
set(handlepool_exported handlepool)
foreach(component IN LISTS handlepool_components)
    set(handlepool_all_imported ON)
    foreach(package IN LISTS handlepool_${component}_needs)
        get_target_property(handlepool_imported ${handlepool_${package}_target} IMPORTED)
        if(NOT handlepool_imported)
            set(handlepool_all_imported OFF)
        endif()
    endforeach()
    if(handlepool_all_imported)
        list(APPEND handlepool_exported handlepool_${component})
    endif()
endforeach()
export(TARGETS ${handlepool_exported} NAMESPACE handlepool:: FILE handlepool-build.cmake)
