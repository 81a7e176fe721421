// SPDX-License-Identifier: MIT
#include "pool_growth.hpp"

#include <algorithm>
#include <utility>

namespace handlepool::inspect_tool {

namespace {

constexpr std::size_t enough_looks = 20;
constexpr double enough_seconds = 2;
constexpr double most_seconds = 60;

} // namespace

void pool_growth::add(double seconds, std::uint64_t alive) {
    looks_.push_back({.seconds = seconds, .alive = alive});
    const auto may_go = looks_.end() - static_cast<std::ptrdiff_t>(std::min(looks_.size(), enough_looks));
    looks_.erase(looks_.begin(), std::find_if(looks_.begin(), may_go, [seconds](const look& each) {
                     return each.seconds >= seconds - most_seconds;
                 }));
}

std::span<const pool_growth::look> pool_growth::quarter(std::size_t number) const {
    const std::size_t size = looks_.size() / 4;
    return std::span(looks_).subspan(number * size, size);
}

std::optional<double> pool_growth::per_second() const {
    if (looks_.size() < enough_looks || looks_.back().seconds - looks_.front().seconds < enough_seconds) {
        return std::nullopt;
    }
    const auto least = [this](std::size_t number) {
        return std::ranges::min(quarter(number), {}, &look::alive).alive;
    };
    const auto most = [this](std::size_t number) {
        return std::ranges::max(quarter(number), {}, &look::alive).alive;
    };
    const bool rises = least(0) < least(1) && least(1) < least(2) && least(2) < least(3);
    const bool goes_on = most(2) < most(3);
    return rises && goes_on ? static_cast<double>(least(3) - least(0)) /
                                  (quarter(3).front().seconds - looks_.front().seconds)
                            : 0;
}

void pool_growth::tell(pool_report& pool) {
    add(static_cast<double>(pool.counts.at) * 1e-9, pool.counts.alive);
    pool.growth = per_second();
}

void growth_of_pools::tell(std::vector<program_report>& reports) {
    std::map<place, known_pool> seen;
    for (program_report& report : reports) {
        for (pool_report& pool : report.pools) {
            const place where(report.process, report.copy, pool.listed.core);
            const auto found = known_.find(where);
            const bool is_known = found != known_.end() && is_same_pool(found->second.listed, pool.listed);
            known_pool& known =
                seen.emplace(where, is_known ? std::move(found->second)
                                             : known_pool{.listed = pool.listed, .growth = {}})
                    .first->second;
            known.growth.tell(pool);
        }
    }
    known_ = std::move(seen);
}

} // namespace handlepool::inspect_tool
