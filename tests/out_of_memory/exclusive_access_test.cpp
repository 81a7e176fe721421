// SPDX-License-Identifier: MIT

// Exclusive access to a pool, and to a service, while memory runs out: all happens, or nothing.

#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

class exclusive_memory_test : public testing::TestWithParam<shortage> {
protected:
    /// A view does what is asked, unless an allocation fails; then the pool is as it was, and goes on.
    template <class Pool>
    void try_all() {
        Pool pool({.name = "pool", .capacity = 200});
        std::vector<typename Pool::handle_type> made;
        made.reserve(1000);
        std::vector<std::string> delivered;
        delivered.reserve(1000);
        const auto expect_size = [&](std::size_t size) {
            EXPECT_EQ(pool.size(), size);
            auto alone = pool.exclusive_access();
            EXPECT_EQ(alone.size(), size);
            EXPECT_EQ(std::distance(alone.begin(), alone.end()), static_cast<std::ptrdiff_t>(size));
        };
        with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
            const std::size_t before = pool.size();
            bool thrown = true;
            {
                auto alone = pool.exclusive_access();
                thrown =
                    when.hits([&] { alone.emplace_n(3, std::back_inserter(made), std::size_t{1}, 'x'); });
            }
            expect_size(before + (thrown ? 0 : 3));
        });
        with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
            const std::size_t before = pool.size();
            const std::size_t taken = delivered.size();
            bool thrown = true;
            {
                auto alone = pool.exclusive_access();
                thrown = when.hits([&] {
                    alone.extract(made.back(),
                                  [&](std::string&& text) { delivered.push_back(std::move(text)); });
                });
                EXPECT_EQ(delivered.size(), taken + (thrown ? 0 : 1));
                EXPECT_EQ(alone.contains(made.back()), thrown);
            }
            expect_size(before - (thrown ? 0 : 1));
        });
        std::size_t told = 0;
        with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
            auto alone = pool.exclusive_access();
            scoped_hook births;
            const bool thrown =
                when.hits([&] { births = alone.on_birth([&](auto, const std::string&) { ++told; }); });
            told = 0;
            alone.erase(alone.emplace(std::size_t{1}, 'y'));
            EXPECT_EQ(told, thrown ? 0U : 1U);
        });
    }
};

TEST_P(exclusive_memory_test, of_a_dense_pool) {
    try_all<pool<std::string>>();
}
TEST_P(exclusive_memory_test, of_a_stable_pool) {
    try_all<stable_pool<std::string>>();
}

TEST_P(exclusive_memory_test, of_plain_steps_needs_none) {
    pool<std::string> dense({.name = "dense", .capacity = 200});
    stable_pool<std::string> stable({.name = "stable", .capacity = 200});
    const auto steps = [](auto& pool) {
        auto alone = pool.exclusive_access();
        for (int i = 0; i != 150; ++i) {
            alone.erase(alone.emplace(std::size_t{1}, 'x'));
            alone.emplace(std::size_t{1}, 'x');
        }
        alone.clear();
    };
    expect_no_allocation([&] { steps(dense); });
    expect_no_allocation([&] { steps(stable); });
}

TEST_P(exclusive_memory_test, of_a_service_closes_all_or_nothing) {
    service all;
    auto& ships = all.add<pool<std::string>>("ships", {.capacity = 100});
    all.add<stable_pool<int>>("rocks", {.capacity = 100});
    all.add<raw_pool<>>("raw", {.capacity = 100}, raw_type{.size = 8, .alignment = 8});
    ships.emplace("Argo");
    const auto expect_open = [&] {
        EXPECT_FALSE(all.is_compacting());
        EXPECT_TRUE(all.try_compact());
        EXPECT_TRUE(all.try_exclusive_access());
    };
    const std::size_t blocking = with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
        when.hits([&] { EXPECT_EQ(all.exclusive_access().size(), 3U); });
        expect_open();
    });
    const std::size_t trying = with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
        when.hits([&] { EXPECT_TRUE(all.try_exclusive_access()); });
        expect_open();
    });
    EXPECT_GT(blocking, 4U);
    EXPECT_EQ(blocking, trying);
}

INSTANTIATE_TEST_SUITE_P(, exclusive_memory_test, both_shortages, name_of_shortage);

} // namespace
} // namespace handlepool::test
