# SPDX-License-Identifier: MIT

# embed(OUTPUT FILES...): writes a source with the contents of these files, for tools/inspect/page/assets.hpp.
function(embed output)
    set(type_of_html "text/html; charset=utf-8")
    set(type_of_css "text/css; charset=utf-8")
    set(type_of_js "text/javascript; charset=utf-8")
    set(entries)
    foreach(file IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
        cmake_path(GET file FILENAME name)
        cmake_path(GET file EXTENSION LAST_ONLY extension)
        string(SUBSTRING ${extension} 1 -1 extension)
        file(READ ${file} content)
        string(APPEND entries "    {\"${name}\", \"${type_of_${extension}}\", R\"~~~(${content})~~~\"},\n")
    endforeach()
    file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[#include <tools/inspect/page/assets.hpp>

namespace handlepool::inspect_tool {

namespace {

constexpr asset all[] = {
@entries@};

} // namespace

std::span<const asset> assets() { return all; }

} // namespace handlepool::inspect_tool
]])
endfunction()
