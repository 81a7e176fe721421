// SPDX-License-Identifier: MIT

// Counting by buckets, and series that stay short.

#include "oracle/histogram.hpp"
#include "results/series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace handlepool::stress {
namespace {

TEST(histogram, is_exact_to_three_percent) {
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> values;
    histogram counted;
    for (int i = 0; i < 20'000; ++i) {
        values.push_back(random() >> (random() % 64));
        counted.add(values.back());
    }
    std::sort(values.begin(), values.end());
    EXPECT_EQ(counted.count(), values.size());
    EXPECT_EQ(counted.smallest(), values.front());
    EXPECT_EQ(counted.largest(), values.back());
    for (const double part : {0.0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        const auto position = std::min(values.size() - 1, static_cast<std::size_t>(part * 20'000));
        const auto low = static_cast<double>(values[position - std::min<std::size_t>(position, 2)]);
        const auto high = static_cast<double>(values[std::min(position + 2, values.size() - 1)]);
        const auto found = static_cast<double>(counted.quantile(part));
        EXPECT_GE(found, low * 0.999) << part;
        EXPECT_LE(found, high * 1.032 + 1) << part;
    }
}

TEST(histogram, of_the_smallest_and_the_largest) {
    histogram counted;
    EXPECT_EQ(counted.quantile(0.5), 0U);
    for (const std::uint64_t value : {std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max()}) {
        counted.add(value);
    }
    EXPECT_EQ(counted.quantile(0), 0U);
    EXPECT_EQ(counted.quantile(1), std::numeric_limits<std::uint64_t>::max());
}

TEST(histogram, quantiles_are_in_order_whatever_the_number_of_values) {
    std::mt19937_64 random(1);
    for (std::uint64_t count = 1; count <= 300; ++count) {
        histogram counted;
        for (std::uint64_t i = 0; i < count; ++i) {
            counted.add(random() >> (random() % 64));
        }
        EXPECT_LE(counted.smallest(), counted.quantile(0)) << count;
        EXPECT_LE(counted.quantile(0), counted.quantile(0.5)) << count;
        EXPECT_LE(counted.quantile(0.5), counted.quantile(0.99)) << count;
        EXPECT_LE(counted.quantile(0.99), counted.quantile(0.999)) << count;
        EXPECT_LE(counted.quantile(0.999), counted.quantile(1)) << count;
        EXPECT_EQ(counted.quantile(1), counted.largest()) << count;
    }
}

TEST(histogram, a_part_of_the_values_is_rounded_up_to_whole_ones) {
    for (std::uint64_t count = 1; count <= 60; ++count) { // values that have a bucket each
        histogram counted;
        for (std::uint64_t value = 1; value <= count; ++value) {
            counted.add(value);
        }
        EXPECT_EQ(counted.quantile(0), 1) << count;
        EXPECT_EQ(counted.quantile(0.5), (count + 1) / 2) << count;
        EXPECT_EQ(counted.quantile(0.9), (9 * count + 9) / 10) << count;
        EXPECT_EQ(counted.quantile(0.99), (99 * count + 99) / 100) << count;
        EXPECT_EQ(counted.quantile(1), count) << count;
    }
}

TEST(histogram, buckets_cover_all_values_in_order) {
    histogram counted;
    for (std::uint64_t value = 0; value < 100'000; ++value) {
        counted.add(value);
    }
    std::uint64_t below = 0; // values that the buckets so far cover
    std::uint64_t sum = 0;
    counted.for_each_bucket([&](std::uint64_t upper, std::uint64_t count) {
        sum += count;
        if (sum < 100'000) {
            EXPECT_EQ(upper + 1, sum);
        }
        EXPECT_GE(upper, below);
        below = upper + 1;
    });
    EXPECT_EQ(sum, 100'000U);
}

TEST(histogram, sums_are_those_of_all_values) {
    histogram low;
    histogram high;
    low.add(1);
    low.add(2);
    high.add(1000);
    low += high;
    EXPECT_EQ(low.count(), 3U);
    EXPECT_EQ(low.smallest(), 1U);
    EXPECT_EQ(low.largest(), 1000U);
    EXPECT_EQ(low.quantile(0.5), 2U);
}

TEST(longest_series, keeps_the_longest_whatever_their_number) {
    longest_series series;
    std::mt19937 random(1);
    for (std::uint64_t i = 0; i < 123'457; ++i) {
        series.add(i == 77'777 ? 5000.0 : static_cast<double>(random() % 1000));
        ASSERT_LE(series.points().size(), 1000U);
        ASSERT_EQ(series.points().back().last, i);
    }
    double longest = 0;
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < series.points().size(); ++i) {
        if (i != 0) {
            ASSERT_GT(series.points()[i].last, series.points()[i - 1].last);
        }
        if (series.points()[i].longest > longest) {
            longest = series.points()[i].longest;
            at = series.points()[i].last;
        }
    }
    EXPECT_EQ(longest, 5000.0);
    EXPECT_NEAR(static_cast<double>(at), 77'777, 300);
    EXPECT_GE(series.points().size(), 400U);
}

TEST(time_series, keeps_moments_of_the_whole_run) {
    time_series line;
    for (std::uint64_t i = 0; i <= 100'000; ++i) {
        line.add({static_cast<double>(i) * 0.0005, i, 1});
        ASSERT_LE(line.points().size(), 1000U);
    }
    EXPECT_GE(line.points().size(), 400U);
    EXPECT_NEAR(line.points().back().seconds, 50, 1);
    for (std::size_t i = 1; i < line.points().size(); ++i) {
        ASSERT_GT(line.points()[i].seconds, line.points()[i - 1].seconds);
    }
}

} // namespace
} // namespace handlepool::stress
