// SPDX-License-Identifier: MIT
#include "judged_row.hpp"

#include <bench/tools/comparison.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <iterator>

namespace handlepool_bench::peers {

judged_row::judged_row(const std::vector<double>& ours_ns, const std::vector<double>& theirs_ns) {
    std::vector<double> ratios;
    std::ranges::transform(ours_ns, theirs_ns, std::back_inserter(ratios), std::divides());
    const quartiles found(std::move(ratios));
    ratio = found.median;
    lower = found.lower;
    upper = found.upper;
}

std::string judged_row::to_text() const {
    return fmt::format("{}: {:.2f} ×, half of the rounds {:.2f} to {:.2f} (must be ≤ {} ×, aim {} ×): {}\n",
                       name, ratio, lower, upper, must, aim,
                       ratio <= aim ? "reaches the aim" : (holds() ? "holds" : "MISSES"));
}

nlohmann::json judged_row::to_json() const {
    return {{"name", name},   {"ours", ours}, {"theirs", theirs}, {"ratio", ratio},  {"lower", lower},
            {"upper", upper}, {"must", must}, {"aim", aim},       {"holds", holds()}};
}

} // namespace handlepool_bench::peers
