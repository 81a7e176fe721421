// SPDX-License-Identifier: MIT
#include "pool_growth.hpp"

#include <algorithm>

namespace handlepool::inspect_tool {

namespace {

constexpr std::size_t enough_looks = 20;
constexpr double enough_seconds = 2;
constexpr double most_seconds = 60;

} // namespace

void pool_growth::add(double seconds, std::uint64_t alive) {
    looks_.push_back({.seconds = seconds, .alive = alive});
    while (looks_.size() > enough_looks && looks_.front().seconds < seconds - most_seconds) {
        looks_.pop_front();
    }
}

std::uint64_t pool_growth::least_of_quarter(std::size_t quarter) const {
    const std::size_t size = looks_.size() / 4;
    const auto first = looks_.begin() + static_cast<std::ptrdiff_t>(quarter * size);
    return std::ranges::min_element(first, first + static_cast<std::ptrdiff_t>(size), {}, &look::alive)
        ->alive;
}

std::optional<double> pool_growth::per_second() const {
    if (looks_.size() < enough_looks || looks_.back().seconds - looks_.front().seconds < enough_seconds) {
        return std::nullopt;
    }
    for (std::size_t quarter = 1; quarter != 4; ++quarter) {
        if (least_of_quarter(quarter) <= least_of_quarter(quarter - 1)) {
            return 0;
        }
    }
    // It goes on: there are more now than there ever were before the last quarter.
    const std::size_t last_quarter = 3 * (looks_.size() / 4);
    const auto before = looks_.begin() + static_cast<std::ptrdiff_t>(last_quarter);
    if (looks_.back().alive <= std::ranges::max_element(looks_.begin(), before, {}, &look::alive)->alive) {
        return 0;
    }
    return static_cast<double>(least_of_quarter(3) - least_of_quarter(0)) /
           (looks_[last_quarter].seconds - looks_.front().seconds);
}

void growth_of_pools::tell(std::vector<program_report>& reports) {
    std::map<std::pair<std::size_t, const void*>, known_pool> seen;
    for (program_report& report : reports) {
        for (pool_report& pool : report.pools) {
            const std::pair<std::size_t, const void*> place(report.copy, pool.listed.core);
            const auto found = known_.find(place);
            const bool is_known = found != known_.end() && is_same_pool(found->second.listed, pool.listed);
            known_pool& known =
                seen.emplace(place, is_known ? std::move(found->second)
                                             : known_pool{.listed = pool.listed, .growth = {}})
                    .first->second;
            known.growth.add(static_cast<double>(pool.counts.at) * 1e-9, pool.counts.alive);
            pool.growth = known.growth.per_second();
        }
    }
    known_ = std::move(seen);
}

} // namespace handlepool::inspect_tool
