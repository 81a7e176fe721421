// SPDX-License-Identifier: MIT
#pragma once

#include "figures.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace handlepool_bench::peers {

/// How long single operations of one kind took, in nanoseconds. Its memory is there before the first is
/// recorded.
class latencies {
public:
    using clock = std::chrono::steady_clock;

    explicit latencies(std::size_t most) : times_(most) {}

    void record(clock::time_point start, clock::time_point end) {
        const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count();
        constexpr std::int64_t limit = std::numeric_limits<std::uint32_t>::max();
        times_[count_++] = static_cast<std::uint32_t>(std::min<std::int64_t>(spent, limit));
    }

    void clear() { count_ = 0; }

    void append_to(std::vector<std::uint32_t>& all) const {
        all.insert(all.end(), times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(count_));
    }

private:
    std::vector<std::uint32_t> times_;
    std::size_t count_ = 0;
};

/// Adds quantiles to `found`, as "name_50", "name_99", "name_99.9", "name_99.99" and "name_worst". There must
/// be times.
inline void add_quantiles(figures& found, const std::string& name, std::vector<std::uint32_t> times) {
    std::ranges::sort(times);
    const auto at = [&](double part) {
        const auto rank = static_cast<std::size_t>(part * static_cast<double>(times.size()));
        return static_cast<double>(times[std::min(rank, times.size() - 1)]);
    };
    found.emplace_back(name + "_50", at(0.5));
    found.emplace_back(name + "_99", at(0.99));
    found.emplace_back(name + "_99.9", at(0.999));
    found.emplace_back(name + "_99.99", at(0.9999));
    found.emplace_back(name + "_worst", at(1));
}

} // namespace handlepool_bench::peers
