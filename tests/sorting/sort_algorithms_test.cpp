// SPDX-License-Identifier: MIT
#include <handlepool/detail/sorting/parallel_sort.hpp>
#include <handlepool/detail/sorting/sort_algorithms.hpp>
#include <handlepool/detail/sorting/sort_keys.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;

struct entry {
    std::uint32_t key;
    std::uint32_t where;

    std::uint32_t position() const { return where; }
    friend bool operator==(const entry&, const entry&) = default;
};
using entries = std::vector<entry>;

// Counts what it is asked.
struct counting_order {
    bool operator()(const entry& a, const entry& b) const {
        ++*asked;
        return a.key != b.key ? a.key < b.key : a.where < b.where;
    }
    std::size_t* asked;
};

entries make(std::size_t count, auto key_at) {
    entries all(count);
    for (std::size_t i = 0; i != count; ++i) {
        all[i] = {static_cast<std::uint32_t>(key_at(i)), static_cast<std::uint32_t>(i)};
    }
    return all;
}

entries sorted(entries all) {
    std::ranges::sort(all, {}, [](const entry& one) { return std::pair(one.key, one.where); });
    return all;
}

std::size_t comparisons_to_sort(entries all) {
    std::size_t asked = 0;
    const counting_order before{&asked};
    const entries expected = sorted(all);
    entries spare(all.size());
    const std::size_t ordered = ordered_prefix(all.size(), before, [&](std::size_t i) { return all[i]; });
    sort_adaptively(all.data(), spare.data(), all.size(), ordered, before);
    EXPECT_EQ(all, expected);
    return asked;
}

TEST(sort_adaptively, asks_few_questions_of_what_is_nearly_in_order) {
    constexpr std::size_t count = 10'000;
    random_source random(51);
    const auto half = [&](std::size_t i) { return 2 * i; };
    EXPECT_LE(comparisons_to_sort(make(count, half)), count);
    // One too large, one too small, at each end and in the middle.
    for (const std::size_t place : {std::size_t{0}, count / 2, count - 1}) {
        for (const std::size_t key : {std::size_t{0}, 4 * count, count}) {
            EXPECT_LE(comparisons_to_sort(
                          make(count, [&](std::size_t i) { return i == place ? key : half(i) + 1; })),
                      2 * count + 50);
        }
    }
    // Some percent anywhere.
    EXPECT_LE(
        comparisons_to_sort(make(
            count, [&](std::size_t i) { return random.one_in(50) ? random.below(2 * count) : half(i); })),
        3 * count);
    // Several that are too large at a place.
    EXPECT_LE(comparisons_to_sort(
                  make(count, [&](std::size_t i) { return i >= 500 && i < 520 ? 3 * count - i : half(i); })),
              2 * count + 1000);
}

TEST(sort_adaptively, asks_not_many_more_of_the_others_than_a_sort) {
    constexpr std::size_t count = 1U << 14U;
    random_source random(52);
    const auto most = static_cast<std::size_t>(1.35 * 14 * count);
    EXPECT_LE(comparisons_to_sort(make(count, [&](std::size_t) { return random.below(count); })), most);
    EXPECT_LE(comparisons_to_sort(make(count, [&](std::size_t i) { return count - i; })), most);
    EXPECT_LE(comparisons_to_sort(make(count, [&](std::size_t i) { return (i * 7) % 11; })), most);
    EXPECT_LE(comparisons_to_sort(make(count, [&](std::size_t i) { return (i + count / 2) % count; })), most);
}

TEST(merge, agrees_for_sequences_of_all_lengths) {
    random_source random(53);
    std::size_t asked = 0;
    for (std::size_t left = 0; left != 40; ++left) {
        for (std::size_t right = 0; right != 40; ++right) {
            entries all = make(left + right, [&](std::size_t) { return random.below(30); });
            const auto middle = all.begin() + static_cast<std::ptrdiff_t>(left);
            std::sort(all.begin(), middle, counting_order{&asked});
            std::sort(middle, all.end(), counting_order{&asked});
            entries out(all.size());
            merge(all.data(), all.data() + left, all.data() + left, all.data() + all.size(), out.data(),
                  counting_order{&asked});
            ASSERT_EQ(out, sorted(all)) << left << " + " << right;
        }
    }
}

// What an order says that contradicts itself may be anything, but no entry may be lost.
TEST(parallel_sorting, divides_its_work_whatever_the_order_says) {
    random_source random(54);
    std::mt19937_64 engine = random.fork();
    inline_executor executor;
    for (int round = 0; round != 2000; ++round) {
        entries all = make(random.below(300) + 2, [&](std::size_t) { return random.below(50); });
        entries spare(all.size());
        const std::uint64_t kind = random.below(3);
        const auto any = [&](const entry& a, const entry& b) {
            return kind == 0   ? engine() % 2 == 0
                   : kind == 1 ? engine() % 50 == 0
                               : (a.key * 31 + b.key * 17 + a.where) % 5 < 2;
        };
        parallel_sort<default_policy, entry, decltype(any)> work(all.size(), 1 + random.below(9), any);
        const entry* const found = work.run(executor, all.data(), spare.data());
        entries outcome(found == nullptr ? all.data() : found,
                        (found == nullptr ? all.data() : found) + all.size());
        std::ranges::sort(outcome, {}, &entry::where);
        for (std::size_t i = 0; i != outcome.size(); ++i) {
            ASSERT_EQ(outcome[i].where, i);
        }
    }
}

TEST(parallel_sorting, agrees_for_all_numbers_of_blocks) {
    random_source random(55);
    std::size_t asked = 0;
    inline_executor executor;
    for (std::size_t count = 2; count != 300; ++count) {
        for (const std::size_t grain : {1U, 2U, 7U, 64U}) {
            entries all = make(count, [&](std::size_t) { return random.below(count); });
            const entries expected = sorted(all);
            const bool in_order = all == expected;
            entries spare(count);
            parallel_sort<default_policy, entry, counting_order> work(count, grain, counting_order{&asked});
            const entry* const found = work.run(executor, all.data(), spare.data());
            ASSERT_EQ(found == nullptr, in_order);
            ASSERT_EQ(found == nullptr ? all : entries(found, found + count), expected);
        }
    }
}

} // namespace
} // namespace handlepool::test
