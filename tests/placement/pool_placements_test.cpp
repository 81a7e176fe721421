// SPDX-License-Identifier: MIT

// Objects that come and go in numbers, or are handed out, are the same whatever the pool's placement and its
// handles.

#include <handlepool/pool.hpp>
#include <handlepool/raw_stable_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/thread_executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/consistency.hpp>
#include <tests/support/tabulate.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <new>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

using with_user_bits = handle_layout<20, 20, 8, 16>;
using keyed = keyed_layout<struct of_this_test, with_user_bits>;

template <class Pool>
class pool_placements : public testing::Test {
public:
    using handle_type = typename Pool::handle_type;

    Pool pool{pool_options{.name = "strings", .capacity = 1'000}};

    /// With user bits, where there are any.
    static handle_type marked(handle_type handle) {
        if constexpr (Pool::layout::user_bits != 0) {
            return handle.with_user(5);
        } else {
            return handle;
        }
    }
    std::vector<handle_type> make(const std::vector<std::string>& objects) {
        std::vector<handle_type> made;
        pool.insert_range(objects, std::back_inserter(made));
        return made;
    }
    std::vector<std::string> promoted() {
        std::vector<std::string> found;
        pool.for_each([&](const std::string& object) { found.push_back(object); });
        return found;
    }
};

using placements =
    testing::Types<pool<std::string>, pool<std::string, with_layout<keyed>>, stable_pool<std::string>,
                   stable_pool<std::string, with_layout<keyed>>, recycling_pool<std::string>>;
TYPED_TEST_SUITE(pool_placements, placements);

TYPED_TEST(pool_placements, ranges_and_generators_come_all_at_once) {
    const auto made = this->make({"a", "b", "c"});
    ASSERT_EQ(made.size(), 3U);
    EXPECT_EQ(this->pool.at(this->marked(made[1])), "b");
    std::vector<typename TypeParam::handle_type> more;
    this->pool.emplace_n(2, std::back_inserter(more), [](std::size_t i) { return std::to_string(i); });
    this->pool.compact();
    EXPECT_THAT(this->promoted(), ElementsAre("a", "b", "c", "0", "1"));
    expect_consistent(this->pool);
}

TYPED_TEST(pool_placements, ranges_whose_making_makes_others_leave_nothing_behind) {
    for (const std::size_t count : {2U, 63U, 64U, 65U, 200U}) {
        SCOPED_TRACE(count);
        const std::size_t before = this->pool.size();
        std::vector<typename TypeParam::handle_type> made;
        this->pool.emplace_n(count, std::back_inserter(made), [&](std::size_t i) {
            if (i == count / 2) {
                this->pool.emplace("another");
            }
            return std::to_string(i);
        });
        EXPECT_EQ(this->pool.compact().born, count + 1);
        EXPECT_EQ(this->promoted().size(), before + count + 1);
        EXPECT_TRUE(this->pool.idle());
        this->pool.emplace("the next one");
        EXPECT_EQ(this->pool.compact().born, 1U);
        expect_consistent(this->pool);
    }
}

TYPED_TEST(pool_placements, a_taken_object_goes_to_its_sink_newborn_or_not) {
    const auto old = this->make({"a", "b", "c"});
    this->pool.compact();
    const auto newborn = this->make({"d", "e"});
    std::vector<typename TypeParam::handle_type> ended;
    const scoped_hook ends =
        this->pool.on_destroy([&](auto handle, const std::string&) { ended.push_back(handle); });
    std::vector<std::string> taken;
    const auto sink = [&](std::string&& object) { taken.push_back(std::move(object)); };
    EXPECT_TRUE(this->pool.extract(this->marked(old[1]), sink));
    EXPECT_TRUE(this->pool.extract(this->marked(newborn[0]), sink));
    EXPECT_FALSE(this->pool.extract(old[1], sink));
    EXPECT_EQ(this->pool.compact().removed, 2U);
    EXPECT_THAT(taken, ElementsAre("b", "d"));
    EXPECT_THAT(ended, ElementsAre(old[1], newborn[0]));
    EXPECT_THAT(this->promoted(), UnorderedElementsAre("a", "c", "e"));
    EXPECT_TRUE(this->pool.idle());
    expect_consistent(this->pool);
    // Their places and slots serve again.
    this->make({"f", "g"});
    this->pool.compact();
    EXPECT_THAT(this->promoted(), UnorderedElementsAre("a", "c", "e", "f", "g"));
}

TYPED_TEST(pool_placements, a_revoked_object_can_be_taken_under_its_new_handle_only) {
    const auto made = this->make({"a"});
    const auto now = this->pool.revoke(made[0]);
    std::string taken;
    const auto sink = [&](std::string&& object) { taken = std::move(object); };
    EXPECT_FALSE(this->pool.extract(made[0], sink));
    EXPECT_TRUE(this->pool.extract(now, sink));
    this->pool.compact();
    EXPECT_EQ(taken, "a");
    EXPECT_EQ(this->pool.size(), 0U);
}

TYPED_TEST(pool_placements, a_reserved_handle_has_nothing_to_take) {
    const auto reserved = this->pool.reserve_handle();
    EXPECT_FALSE(this->pool.extract(reserved, [](std::string&&) { ADD_FAILURE(); }));
    EXPECT_EQ(this->pool.drain([](auto, std::string&&) { ADD_FAILURE(); }), 0U);
    this->pool.fulfill(reserved, "later");
    EXPECT_TRUE(this->pool.extract(reserved, [](std::string&&) {}));
    this->pool.compact();
}

TYPED_TEST(pool_placements, erase_if_sees_all_living_objects) {
    this->make({"a", "bb", "c"});
    this->pool.compact();
    const auto newborn = this->make({"dd", "e"});
    this->pool.erase(newborn[1]);
    const auto is_long = [](const std::string& object) { return object.size() > 1; };
    EXPECT_EQ(erase_if(this->pool, is_long), 2U);
    this->pool.compact();
    EXPECT_THAT(this->promoted(), UnorderedElementsAre("a", "c"));
    EXPECT_EQ(erase_if(this->pool, std::not_fn(is_long)), 2U);
    EXPECT_EQ(this->pool.size(), 0U);
    this->pool.compact();
    expect_consistent(this->pool);
}

TYPED_TEST(pool_placements, erase_if_sees_each_object_once_in_any_number_of_threads) {
    const auto many = tabulate(500, [&](int i) { return std::to_string(i); });
    this->make(many);
    this->pool.compact();
    this->make(many); // not yet in the store
    std::atomic<std::size_t> seen = 0;
    thread_executor executor(3);
    EXPECT_EQ(erase_if(
                  this->pool,
                  [&](const std::string& object) noexcept {
                      seen.fetch_add(1);
                      return object.size() == 3;
                  },
                  executor),
              800U);
    EXPECT_EQ(seen.load(), 1'000U);
    EXPECT_EQ(this->pool.size(), 200U);
    this->pool.compact(executor);
    expect_consistent(this->pool);
}

TYPED_TEST(pool_placements, drain_hands_out_everything_and_leaves_an_empty_pool) {
    this->make({"a", "b", "c"});
    this->pool.compact();
    const auto newborn = this->make({"d"});
    std::vector<std::string> drained;
    EXPECT_EQ(this->pool.drain([&](auto handle, std::string&& object) {
        EXPECT_FALSE(this->pool.contains(handle));
        drained.push_back(std::move(object));
    }),
              4U);
    EXPECT_THAT(drained, UnorderedElementsAre("a", "b", "c", "d"));
    EXPECT_FALSE(this->pool.contains(newborn[0]));
    EXPECT_EQ(this->pool.size(), 0U);
    EXPECT_THAT(this->promoted(), ElementsAre());
    this->make({"e"});
    this->pool.compact();
    EXPECT_THAT(this->promoted(), ElementsAre("e"));
    expect_consistent(this->pool);
}

// More are erased than there is room for records, so that the same compaction looks for the others.
TYPED_TEST(pool_placements, drain_hands_out_what_lives_where_a_sweep_is_due_or_begun) {
    constexpr std::size_t count = 600;
    for (const bool begun : {false, true}) {
        TypeParam strings(pool_options{.name = "strings", .capacity = count, .removal_queue_size = 1});
        std::vector<std::string> all;
        std::vector<std::string> living;
        std::vector<std::string> ended;
        std::vector<std::string> taken;
        std::vector<std::string> drained;
        const scoped_hook ends =
            strings.on_destroy([&](auto, const std::string& object) { ended.push_back(object); });
        std::vector<typename TypeParam::handle_type> made;
        for (std::size_t i = 0; i != count; ++i) {
            if (i == count / 2) {
                strings.compact();
            }
            all.push_back(std::to_string(i));
            made.push_back(strings.emplace(all.back()));
        }
        for (std::size_t i = 1; i != count; ++i) {
            if (i % 3 == 0) {
                living.push_back(all[i]);
            } else {
                strings.erase(made[i]);
            }
        }
        if (begun) {
            strings.compact_some(10);
        }
        strings.extract(made[0], [&](std::string&& object) { taken.push_back(std::move(object)); });
        EXPECT_EQ(strings.drain([&](auto, std::string&& object) { drained.push_back(std::move(object)); }),
                  living.size());
        EXPECT_THAT(drained, UnorderedElementsAreArray(living));
        EXPECT_THAT(taken, ElementsAre("0"));
        EXPECT_THAT(ended, UnorderedElementsAreArray(all)) << "each once";
        expect_consistent(strings);
    }
}

TYPED_TEST(pool_placements, births_are_reported_once_with_the_handle_that_resolves) {
    std::vector<std::string> born;
    std::vector<std::string> dead;
    const scoped_hook births = this->pool.on_birth([&](auto handle, const std::string& object) {
        EXPECT_EQ(this->pool.find(handle), &object);
        born.push_back(object);
    });
    const scoped_hook deaths =
        this->pool.on_destroy([&](auto, const std::string& object) { dead.push_back(object); });
    const auto made = this->make({"a", "b", "c"});
    this->pool.erase(made[0]);
    const auto now = this->pool.revoke(made[1]); // reported under the handle that it has by then
    EXPECT_TRUE(now);
    this->pool.compact();
    EXPECT_THAT(born, UnorderedElementsAre("b", "c"));
    EXPECT_THAT(dead, ElementsAre("a"));
    this->pool.compact();
    EXPECT_EQ(born.size(), 2U) << "once";
    this->pool.erase(now);
    this->pool.compact();
    EXPECT_THAT(dead, ElementsAre("a", "b"));
}

TYPED_TEST(pool_placements, births_are_reported_of_objects_that_were_reserved_or_know_their_handles) {
    std::size_t born = 0;
    const scoped_hook births = this->pool.on_birth([&](auto, const std::string&) { ++born; });
    const auto reserved = this->pool.reserve_handle();
    this->pool.compact();
    EXPECT_EQ(born, 0U);
    this->pool.fulfill(reserved, "later");
    this->pool.emplace_with([](auto handle) { return std::to_string(handle.value()); });
    this->pool.compact();
    EXPECT_EQ(born, 2U);
}

TYPED_TEST(pool_placements, views_show_the_store_with_handles) {
    const auto made = this->make({"a", "b", "c", "d"});
    this->pool.compact();
    this->pool.erase(made[1]);
    this->pool.compact();
    const auto newborn = this->make({"e"});
    this->pool.erase(made[0]);
    const auto revoked = this->pool.revoke(made[2]);

    std::vector<std::string> all;
    for (const auto [handle, object] : this->pool.entries()) {
        EXPECT_EQ(this->pool.contains(handle), object != "a");
        all.push_back(object);
    }
    EXPECT_THAT(all, UnorderedElementsAre("a", "c", "d"));
    std::vector<std::string> living;
    for (const auto& [handle, object] : std::as_const(this->pool).living()) {
        EXPECT_EQ(this->pool.find(handle), &object);
        living.push_back(object);
    }
    EXPECT_THAT(living, UnorderedElementsAre("c", "d"));
    const auto handles = this->pool.handles();
    EXPECT_EQ(std::ranges::distance(handles), 3);
    EXPECT_EQ(std::ranges::count(handles, revoked), 1);
    EXPECT_EQ(std::ranges::count(handles, newborn[0]), 0) << "not yet in the store";
    // Backwards, the same.
    auto last = this->pool.living().end();
    EXPECT_EQ((*--last).object, living.back());
    EXPECT_EQ((*--last).object, living.front());
    EXPECT_TRUE(last == this->pool.living().begin());
}

TYPED_TEST(pool_placements, views_of_empty_stores_are_empty) {
    EXPECT_TRUE(this->pool.handles().empty());
    EXPECT_TRUE(this->pool.living().empty());
    const auto made = this->make({"a"});
    EXPECT_TRUE(this->pool.entries().empty()) << "not yet in the store";
    this->pool.compact();
    this->pool.erase(made[0]);
    EXPECT_FALSE(this->pool.entries().empty());
    EXPECT_TRUE(this->pool.living().empty());
    this->pool.compact();
    EXPECT_TRUE(this->pool.entries().empty());
}

TYPED_TEST(pool_placements, a_view_ends_where_it_would_have_while_others_create) {
    this->make({"a", "b"});
    this->pool.compact();
    std::size_t seen = 0;
    for (const auto entry : this->pool.living()) {
        this->make(std::vector<std::string>(100, "newborn"));
        seen += entry.object == "newborn" ? 0U : 1U;
    }
    EXPECT_EQ(seen, 2U);
}

TEST(pool_placements_keys, handles_of_two_keys_do_not_mix) {
    using here = stable_pool<int, with_layout<keyed_layout<struct here_key>>>;
    using there = stable_pool<int, with_layout<keyed_layout<struct there_key>>>;
    static_assert(!std::is_convertible_v<here::handle_type, there::handle_type>);
    static_assert(!std::is_constructible_v<here::handle_type, there::handle_type>);
}

TEST(pool_placements_of_objects_that_cannot_move, they_are_handed_out_where_they_are) {
    struct pinned {
        explicit pinned(int number) : value(number) {}
        pinned(const pinned&) = delete;
        pinned& operator=(const pinned&) = delete;
        int value;
    };
    stable_pool<pinned> pool({.name = "pinned", .capacity = 10});
    std::vector<stable_pool<pinned>::handle_type> made;
    pool.emplace_n(3, std::back_inserter(made), [](std::size_t i) { return static_cast<int>(i); });
    pool.compact();
    int sum = 0;
    EXPECT_TRUE(pool.extract(made[2], [&](pinned&& object) { sum += object.value; }));
    EXPECT_EQ(pool.drain([&](auto, pinned&& object) { sum += 10 * object.value; }), 2U);
    EXPECT_EQ(sum, 12);
}

TEST(pool_placements_of_raw_objects, are_handed_out_in_place) {
    raw_stable_pool<> pool({.name = "raw", .capacity = 10}, {.size = sizeof(int), .alignment = alignof(int)});
    const auto make = [&](int value) {
        return pool.emplace([value](void* memory) { ::new (memory) int(value); });
    };
    const auto a = make(1);
    make(20);
    pool.compact();
    make(300);
    int sum = 0;
    const auto add = [&](void* object) { sum += *static_cast<int*>(object); };
    EXPECT_TRUE(pool.extract(a, add));
    EXPECT_EQ(erase_if(pool, [](void* object) { return *static_cast<int*>(object) == 20; }), 1U);
    EXPECT_EQ(pool.drain([&](auto, void* object) { add(object); }), 1U);
    EXPECT_EQ(sum, 301);
}

} // namespace
} // namespace handlepool::test
