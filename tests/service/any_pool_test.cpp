// SPDX-License-Identifier: MIT
#include <handlepool/any_pool.hpp>
#include <handlepool/detail/service/any_pool_adaptor.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/hostile_types.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;

using ints = pool<int>;
using tiny_ints = pool<int, with_policy<support::tiny_policy<2>>>;
using any = any_pool<default_layout>;

constexpr raw_type three_bytes{.size = 3, .alignment = 1};

TEST(any_pool_test, does_what_the_pool_does) {
    detail::any_pool_adaptor<ints> owned(pool_options{.name = "ints", .capacity = 10, .reuse_delay = 0});
    any& pool = owned;
    EXPECT_EQ(pool.name(), "ints");
    EXPECT_EQ(pool.id(), owned.get().id());
    EXPECT_EQ(pool.size(), 0U);
    EXPECT_TRUE(pool.idle());

    const handle<int> one = owned.get().emplace(1);
    const handle<int> two = owned.get().emplace(2);
    EXPECT_FALSE(pool.idle());
    EXPECT_EQ(pool.size(), 2U);
    EXPECT_TRUE(pool.contains(one));
    EXPECT_EQ(pool.find(one), owned.get().find(one));
    EXPECT_EQ(pool.describe(one), owned.get().describe(one));
    EXPECT_THAT(pool.oldest(1), ElementsAre(any_handle(one)));

    EXPECT_TRUE(pool.erase(one));
    EXPECT_FALSE(pool.erase(one));
    EXPECT_EQ(pool.find(one), nullptr);
    inline_executor executor;
    EXPECT_EQ(pool.compact(executor).removed, 1U);
    EXPECT_TRUE(pool.idle());
    EXPECT_EQ(pool.stats().compactions, 1U);
    pool.clear();
    EXPECT_FALSE(pool.contains(two));
    EXPECT_TRUE(pool.try_compact(executor));
    EXPECT_EQ(pool.stats().alive, 0U);
}

TEST(any_pool_test, conflicts_and_guards_are_those_of_the_pool) {
    detail::any_pool_adaptor<ints> owned(pool_options{.name = "ints", .capacity = 10});
    any& pool = owned;
    inline_executor executor;
    const auto guard = owned.get().access();
    EXPECT_THROW(pool.compact(executor), compaction_conflict);
    EXPECT_EQ(pool.try_compact(executor), std::nullopt);
    EXPECT_THROW(pool.on_destroy([](any_handle, void*) {}).release(), compaction_conflict);
}

TEST(any_pool_test, compacts_with_the_executor_that_it_is_given) {
    struct counting_executor : inline_executor {
        void begin_compaction(std::string_view pool) { compacted.emplace_back(pool); }
        void begin_phase(compaction_phase) {}
        void end_compaction(const compaction_stats&) {}
        std::vector<std::string> compacted;
    };
    detail::any_pool_adaptor<ints> owned(pool_options{.name = "ints", .capacity = 10});
    counting_executor executor;
    any& pool = owned;
    pool.compact(executor);
    EXPECT_TRUE(pool.try_compact(executor));
    EXPECT_THAT(executor.compacted, ElementsAre("ints", "ints"));
}

TEST(any_pool_test, hooks_get_untyped_handles_and_addresses) {
    std::vector<std::pair<any_handle, int>> seen;
    detail::any_pool_adaptor<ints> owned(pool_options{.name = "ints", .capacity = 10});
    any& pool = owned;
    const scoped_hook hook = pool.on_destroy(
        [&](any_handle handle, void* object) { seen.emplace_back(handle, *static_cast<int*>(object)); });
    const any_handle one = owned.get().emplace(1);
    pool.erase(one);
    inline_executor executor;
    pool.compact(executor);
    EXPECT_THAT(seen, ElementsAre(std::pair(one, 1)));
}

TEST(any_pool_test, holds_a_raw_pool_too) {
    std::vector<void*> seen;
    detail::any_pool_adaptor<raw_pool<>> owned(pool_options{.name = "raw", .capacity = 10}, three_bytes);
    any& pool = owned;
    pool.on_destroy([&](any_handle, void* object) { seen.push_back(object); }).release();
    const any_handle one = owned.get().emplace();
    EXPECT_TRUE(pool.contains(one));
    void* const where = pool.find(one);
    EXPECT_EQ(where, owned.get().find(one));
    pool.erase(one);
    inline_executor executor;
    pool.compact(executor);
    EXPECT_THAT(seen, ElementsAre(where));
}

TEST(any_pool_test, the_pool_comes_back_only_as_what_it_is) {
    detail::any_pool_adaptor<ints> owned(pool_options{.name = "ints", .capacity = 10});
    any& pool = owned;
    EXPECT_EQ(pool.as<ints>(), &owned.get());
    EXPECT_EQ(pool.as<handlepool::pool<long>>(), nullptr);
    EXPECT_EQ(pool.as<handlepool::pool<const int*>>(), nullptr);
    EXPECT_EQ(pool.as<tiny_ints>(), nullptr) << "objects of the same type, but another policy";
    EXPECT_EQ(pool.as<raw_pool<>>(), nullptr);

    detail::any_pool_adaptor<raw_pool<>> raw_owned(pool_options{.name = "raw", .capacity = 10}, three_bytes);
    any& raw = raw_owned;
    EXPECT_EQ(raw.as<raw_pool<>>(), &raw_owned.get());
    EXPECT_EQ(raw.as<ints>(), nullptr);
}

TEST(any_pool_test, objects_type_does_not_depend_on_policies) {
    detail::any_pool_adaptor<ints> one(pool_options{.name = "one", .capacity = 10});
    detail::any_pool_adaptor<tiny_ints> other(pool_options{.name = "other", .capacity = 10});
    detail::any_pool_adaptor<raw_pool<>> raw(pool_options{.name = "raw", .capacity = 10}, three_bytes);
    for (const any* const pool : {static_cast<any*>(&one), static_cast<any*>(&other)}) {
        EXPECT_TRUE(pool->holds<int>());
        EXPECT_FALSE(pool->holds<unsigned>());
        EXPECT_FALSE(pool->holds<void>());
    }
    const any& untyped = raw;
    EXPECT_FALSE(untyped.holds<int>());
    EXPECT_TRUE(untyped.holds<void>());
}

TEST(any_pool_test, its_end_is_the_pools_end) {
    census counts;
    detail::any_pool_adaptor<pool<counted>> owned(pool_options{.name = "counted", .capacity = 10});
    owned.get().emplace(counts);
    any& pool = owned;
    EXPECT_EQ(pool.size(), 1U);
    EXPECT_EQ(counts.born(), 1);
}

TEST(any_pool_test, hooks_find_the_object_in_containers_that_were_attached_before) {
    detail::any_pool_adaptor<ints> owned(pool_options{.name = "ints", .capacity = 10});
    any& pool = owned;
    handle_map<void, int> sprites;
    sprites.attach(pool);
    std::vector<int> found;
    const scoped_hook deaths =
        pool.on_destroy([&](any_handle dead, void*) { found.push_back(sprites.at(dead)); });
    const any_handle one = owned.get().emplace(1);
    sprites.try_emplace(one, 7);
    pool.erase(one);
    inline_executor executor;
    pool.compact(executor);
    EXPECT_THAT(found, ElementsAre(7));
    EXPECT_TRUE(sprites.empty());
}

} // namespace
} // namespace handlepool::test
