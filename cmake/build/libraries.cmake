# SPDX-License-Identifier: MIT

# What the compiled libraries have in common.

# 0.x promises nothing to programs built with another minor version.
set(handlepool_soversion ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
    string(APPEND handlepool_soversion .${PROJECT_VERSION_MINOR})
endif()

# handlepool_add_include_directory(LIBRARY): its headers are a system's to users, who get no warnings about them: to other projects, that
# is; an installed library is one by itself.
function(handlepool_add_include_directory library)
    set(system SYSTEM)
    if(PROJECT_IS_TOP_LEVEL)
        set(system)
    endif()
    target_include_directories(${library} ${system} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# handlepool_finish_library(LIBRARY [EXPORTS SCRIPT]): the script of the linker says what the library exports if it is a shared one.
function(handlepool_finish_library library)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXPORTS" "")
    if(NOT arg_EXPORTS)
        set(arg_EXPORTS exports.map)
    endif()
    # Not by linking, which an export would mention.
    target_compile_options(${library} PRIVATE $<TARGET_PROPERTY:handlepool_warnings,INTERFACE_COMPILE_OPTIONS>)
    get_target_property(type ${library} TYPE)
    # A library that checks contracts has a name of its own: it can be installed beside one that doesn't, and neither
    # a linker nor a loader takes one for the other.
    set_target_properties(${library} PROPERTIES
        OUTPUT_NAME ${library}$<${handlepool_checked}:-checked>
        POSITION_INDEPENDENT_CODE ON
        VERSION ${PROJECT_VERSION}
        SOVERSION ${handlepool_soversion})
    if(type STREQUAL "SHARED_LIBRARY")
        # What users need is marked HANDLEPOOL_EXPORT.
        set_target_properties(${library} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
        if(CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF")
            # Hides what others' headers leave in the library.
            set(script ${PROJECT_SOURCE_DIR}/cmake/build/${arg_EXPORTS})
            set_target_properties(${library} PROPERTIES LINK_DEPENDS ${script})
            target_link_options(${library} PRIVATE LINKER:--version-script=${script})
        endif()
    endif()
    if(NOT PROJECT_IS_TOP_LEVEL AND NOT HANDLEPOOL_INSTALL)
        set_target_properties(${library} PROPERTIES EXCLUDE_FROM_ALL ON) # built when it is linked
    endif()
endfunction()
