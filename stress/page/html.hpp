#pragma once

#include <string>
#include <string_view>

namespace handlepool::stress::page {

// As text or as the value of a quoted attribute, in HTML and in SVG. Control characters, which HTML has not,
// become U+FFFD.
std::string escaped(std::string_view text);

} // namespace handlepool::stress::page
