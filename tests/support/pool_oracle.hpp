// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <unordered_map>
#include <vector>

/// Random operations against an oracle, a map of what must be alive, on pools of all kinds.
namespace handlepool::test {

struct default_case {
    using policy = default_policy;
    using layout = default_layout;
    using placement = dense_placement;
    static pool_options options() { return {.name = "default", .capacity = 400}; }
};
struct batches_of_one : default_case {
    using policy = support::tiny_policy<1>;
    static pool_options options() { return {.name = "batches of one", .capacity = 400, .reuse_delay = 0}; }
};
struct batches_of_two : default_case {
    using policy = support::tiny_policy<2>;
    static pool_options options() { return {.name = "batches of two", .capacity = 400, .reuse_delay = 3}; }
};
struct small_queues : default_case {
    using policy = support::tiny_policy<2>;
    static pool_options options() {
        return {.name = "small queues", .capacity = 400, .reuse_delay = 0, .removal_queue_size = 2};
    }
};
struct narrow_generations : default_case {
    using layout = handle_layout<32, 3, 29>;
    static pool_options options() {
        return {.name = "narrow generations", .capacity = 400, .reuse_delay = 0, .slot_limit = 50'000};
    }
};
struct small_handles : default_case {
    using layout = handle_layout<12, 16, 4>;
    static pool_options options() { return {.name = "small handles", .capacity = 400, .max_threads = 64}; }
};
struct capacity_of_one : default_case {
    using policy = support::tiny_policy<1>;
    static pool_options options() { return {.name = "capacity of one", .capacity = 1}; }
};

/// The same in a stable_pool.
template <class Case>
struct stable : Case {
    using placement = stable_placement;
};

template <class Case>
class pool_oracle : public testing::Test {
protected:
    using pool_type =
        pool<counted, with_placement<typename Case::placement,
                                     with_layout<typename Case::layout, with_policy<typename Case::policy>>>>;
    using handle_type = typename pool_type::handle_type;

    // The pool's and the oracle's view of one thread's objects.
    struct population {
        std::unordered_map<handle_type, std::uint64_t> living;
        std::vector<handle_type> dead;
        std::uint64_t next_value;
        std::size_t errors = 0;

        void expect(bool condition) { errors += condition ? 0 : 1; } // threads can't stop the test
    };

    static handle_type any_of(const population& mine, std::mt19937_64& random) {
        // The map's own order will do: it follows from the handles' hash.
        auto found = mine.living.begin();
        std::advance(found, random() % std::min<std::size_t>(mine.living.size(), 8));
        return found->first;
    }

    /// `pool` is a pool or a view of it.
    template <class Pool>
    void step(Pool& pool, population& mine, std::mt19937_64& random, std::size_t most) {
        switch (random() % 8) {
        case 0:
        case 1:
        case 2:
            if (mine.living.size() < most) {
                const std::uint64_t value = mine.next_value++;
                if (const handle_type made = pool.try_emplace(counts_, value)) {
                    mine.expect(mine.living.emplace(made, value).second);
                    mine.expect(pool.contains(made));
                }
            }
            break;
        case 3:
        case 4:
            if (!mine.living.empty()) {
                const handle_type victim = any_of(mine, random);
                mine.expect(pool.erase(victim));
                mine.expect(!pool.erase(victim));
                mine.living.erase(victim);
                mine.dead.push_back(victim);
            }
            break;
        case 5:
            if (!mine.living.empty()) {
                const handle_type one = any_of(mine, random);
                const auto* const found = pool.find(one);
                mine.expect(found != nullptr && found->value() == mine.living[one]);
            }
            break;
        case 6:
            if (!mine.dead.empty()) {
                const handle_type stale = mine.dead[random() % mine.dead.size()];
                mine.expect(!pool.contains(stale) && pool.find(stale) == nullptr && !pool.erase(stale));
            }
            break;
        default: {
            const auto forged =
                handle_type::from_value(static_cast<typename handle_type::value_type>(random()));
            mine.expect(mine.living.contains(forged) || !pool.contains(forged) ||
                        pool.size() > mine.living.size());
        }
        }
    }

    void expect_same(pool_type& pool, const std::vector<population>& all) {
        expect_consistent(pool);
        std::size_t living = 0;
        for (const population& one : all) {
            living += one.living.size();
            EXPECT_EQ(one.errors, 0U);
            for (const auto& [handle, value] : one.living) {
                const auto* const found = pool.find(handle);
                ASSERT_NE(found, nullptr);
                ASSERT_EQ(found->value(), value);
            }
            for (const handle_type handle : one.dead) {
                ASSERT_FALSE(pool.contains(handle));
            }
        }
        EXPECT_EQ(pool.size(), living);
        EXPECT_EQ(counts_.alive(), static_cast<std::int64_t>(living));
    }

    census counts_;
};

using oracle_cases = testing::Types<default_case, batches_of_one, batches_of_two, small_queues,
                                    narrow_generations, small_handles, capacity_of_one, stable<default_case>,
                                    stable<batches_of_one>, stable<batches_of_two>, stable<small_queues>,
                                    stable<narrow_generations>, stable<capacity_of_one>>;

} // namespace handlepool::test
