// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

namespace handlepool::inspect_tool {

/// A file of the page, which is part of the program.
struct asset {
    std::string_view name; ///< "charts.js"
    std::string_view type; ///< "text/javascript; charset=utf-8"
    std::string_view content;
};

/// The files of the folder assets/.
std::span<const asset> assets();

} // namespace handlepool::inspect_tool
