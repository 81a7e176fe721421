// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace handlepool_bench::peers {

/// What a task of a workload measured, each figure by its name.
using figures = std::vector<std::pair<std::string, double>>;

} // namespace handlepool_bench::peers
