// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace handlepool_bench::peers {

/// The same numbers in all programs of the comparison, in whatever language: SplitMix64.
class random_numbers {
public:
    explicit random_numbers(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        return mixed ^ (mixed >> 31);
    }
    /// From 0 to `end` - 1.
    std::size_t below(std::size_t end) { return next() % end; }

private:
    std::uint64_t state_;
};

} // namespace handlepool_bench::peers
