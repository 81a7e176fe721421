// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace handlepool::stress {

// Counts values in buckets whose width grows with the value: each bound is exact to 3 %. (The bucketing of
// HdrHistogram, hdrhistogram.org.)
class histogram {
public:
    void add(std::uint64_t value) noexcept {
        ++counts_[bucket_of(value)];
        ++count_;
        smallest_ = std::min(smallest_, value);
        largest_ = std::max(largest_, value);
    }

    histogram& operator+=(const histogram& other) noexcept {
        for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
            counts_[bucket] += other.counts_[bucket];
        }
        count_ += other.count_;
        smallest_ = std::min(smallest_, other.smallest_);
        largest_ = std::max(largest_, other.largest_);
        return *this;
    }

    std::uint64_t count() const noexcept { return count_; }
    // Exact; the largest and the smallest possible number when there are none.
    std::uint64_t smallest() const noexcept { return smallest_; }
    std::uint64_t largest() const noexcept { return largest_; }

    // The smallest value that this part of the values, from 0 to 1, is not above: of the values in order the
    // first for 0, the last for 1, and in between the part rounded up to whole values. 0 without values.
    std::uint64_t quantile(double part) const noexcept {
        const auto wanted = static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(count_)));
        std::uint64_t seen = 0;
        for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
            seen += counts_[bucket];
            if (seen != 0 && seen >= wanted) {
                return std::clamp(upper_of(bucket), smallest_, largest_);
            }
        }
        return count_ == 0 ? 0 : largest_; // rounding asks for more than there are
    }

    // Calls `each(largest value, count)` for each bucket that is not empty, upwards.
    template <class Each>
    void for_each_bucket(Each each) const {
        for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
            if (counts_[bucket] != 0) {
                each(upper_of(bucket), counts_[bucket]);
            }
        }
    }

private:
    static constexpr unsigned fine_bits = 5; // of a value, below its highest one
    static constexpr std::size_t fine = 1 << fine_bits;

    static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
        const auto width = static_cast<unsigned>(std::bit_width(value));
        if (width <= fine_bits + 1) {
            return static_cast<std::size_t>(value);
        }
        const unsigned shift = width - fine_bits - 1;
        return (std::size_t{shift} << fine_bits) + static_cast<std::size_t>(value >> shift);
    }

    static constexpr std::uint64_t upper_of(std::size_t bucket) noexcept {
        if (bucket < 2 * fine) {
            return bucket;
        }
        const auto shift = static_cast<unsigned>((bucket >> fine_bits) - 1);
        const std::uint64_t mantissa = bucket - (std::size_t{shift} << fine_bits);
        return ((mantissa + 1) << shift) - 1;
    }

    static constexpr std::size_t buckets = (64 - fine_bits + 1) << fine_bits;

    std::array<std::uint64_t, buckets> counts_{};
    std::uint64_t count_ = 0;
    std::uint64_t smallest_ = ~std::uint64_t{0};
    std::uint64_t largest_ = 0;
};

} // namespace handlepool::stress
