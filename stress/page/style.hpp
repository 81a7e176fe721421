#pragma once

#include <string_view>

namespace handlepool::stress::page {

// The style sheet of the page: light and dark, phone and desk, screen and paper.
std::string_view style_sheet();

} // namespace handlepool::stress::page
