// SPDX-License-Identifier: MIT
#pragma once

#include "result_file.hpp"

#include <span>
#include <string>

namespace handlepool::stress::page {

// One HTML page about all of them that needs nothing else: no network, no script. Throws std::runtime_error
// if there are none.
std::string make_page(std::span<const result_file> files);

} // namespace handlepool::stress::page
