// SPDX-License-Identifier: MIT

// Exclusive access to all pools of a service.

#include <handlepool/columns.hpp>
#include <handlepool/error.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;

/// A service with a pool of each kind.
class exclusive_service_test : public testing::Test {
protected:
    struct ship {
        std::string name;
    };
    struct rock {
        std::shared_ptr<int> weight;
    };
    using cargo = columns<std::uint32_t, std::string>;

    service all_;
    pool<ship>& ships_ = all_.add<pool<ship>>("ships", {.capacity = 100});
    stable_pool<rock>& rocks_ = all_.add<stable_pool<rock>>("rocks", {.capacity = 100});
    pool<cargo>& cargo_ = all_.add<pool<cargo>>("cargo", {.capacity = 100});
    raw_pool<>& raw_ = all_.add<raw_pool<>>("raw", {.capacity = 100}, raw_type{.size = 8, .alignment = 8});

    /// All can be closed and used.
    void expect_open() {
        EXPECT_FALSE(all_.is_compacting());
        EXPECT_FALSE(all_.has_guards());
        EXPECT_TRUE(all_.try_compact());
        EXPECT_TRUE(all_.try_exclusive_access());
    }
};

TEST_F(exclusive_service_test, routes_handles_to_views) {
    const auto weight = std::make_shared<int>(7);
    const any_handle argo = ships_.emplace("Argo");
    const any_handle stone = rocks_.emplace(weight);
    const any_handle tea = cargo_.emplace(5U, "tea");
    const any_handle bytes = raw_.emplace();
    auto alone = all_.exclusive_access();
    EXPECT_EQ(alone.size(), 4U);
    EXPECT_TRUE(all_.is_compacting());
    for (const any_handle each : {argo, stone, tea, bytes}) {
        EXPECT_TRUE(alone.contains(each));
        EXPECT_EQ(alone.state(each), handle_state::alive);
    }
    EXPECT_EQ(alone.find<ship>(argo)->name, "Argo");
    EXPECT_EQ(alone.find<rock>(argo), nullptr);
    EXPECT_EQ(alone.find<cargo>(tea)->get<1>(), "tea");
    EXPECT_EQ(alone.name_of(stone), "rocks");
    EXPECT_EQ(alone.describe(argo), "ships #0 generation " + std::to_string(argo.generation()) + ": alive");
    EXPECT_EQ(alone.describe({}), "null");
    EXPECT_TRUE((alone.handle_cast<ship>(argo)));
    EXPECT_FALSE((alone.handle_cast<ship>(stone)));
    EXPECT_EQ(alone.route(bytes)->name(), "raw");

    EXPECT_EQ(weight.use_count(), 2);
    EXPECT_TRUE(alone.erase(stone));
    EXPECT_EQ(weight.use_count(), 1); // at once
    EXPECT_FALSE(alone.erase(stone));
    EXPECT_EQ(alone.state(stone), handle_state::stale);
    const any_handle renamed = alone.revoke(argo);
    EXPECT_FALSE(alone.contains(argo));
    EXPECT_EQ(alone.find<ship>(renamed)->name, "Argo");
    const any_handle reserved = alone.view_of(ships_).reserve_handle();
    EXPECT_TRUE(alone.cancel(reserved));
    EXPECT_FALSE(alone.cancel(reserved));
    EXPECT_FALSE(alone.contains(any_handle()));
    EXPECT_EQ(alone.route(any_handle()), nullptr);
}

TEST_F(exclusive_service_test, clears_a_pool_at_once) {
    const auto weight = std::make_shared<int>(7);
    ships_.emplace("Argo");
    rocks_.emplace(weight);
    rocks_.emplace(weight);
    std::size_t told = 0;
    const scoped_hook hook = ships_.on_destroy([&](auto, ship&) { ++told; });
    auto alone = all_.exclusive_access();
    alone.find_any_pool("ships")->clear();
    EXPECT_EQ(told, 1U);
    EXPECT_TRUE(alone.view_of(ships_).items().empty());
    alone.find_any_pool("rocks")->clear();
    EXPECT_EQ(weight.use_count(), 1);
    EXPECT_EQ(alone.view_of(rocks_).begin(), alone.view_of(rocks_).end());
}

TEST_F(exclusive_service_test, has_views_of_their_types) {
    {
        auto alone = all_.exclusive_access();
        auto& ships = alone.view_of(ships_);
        static_assert(std::is_same_v<decltype(ships), exclusive_pool<ship>&>);
        const auto argo = ships.emplace("Argo");
        ships.erase(ships.emplace("Ark"));
        EXPECT_EQ(ships.items().size(), 1U);
        alone.view_of(cargo_).emplace(1U, "salt");
        alone.view_of(raw_).emplace();
        alone.view_of(rocks_).emplace(nullptr);
        EXPECT_EQ(alone.find_any_pool("ships")->as<exclusive_pool<ship>>(), &ships);
        EXPECT_EQ(alone.find_any_pool("ships")->as<pool<ship>>(), nullptr);
        EXPECT_EQ(alone.find_any_pool("whales"), nullptr);
        EXPECT_EQ(alone.find<ship>(argo), &ships.at(argo));
        const service_stats stats = alone.stats();
        ASSERT_EQ(stats.pools.size(), 4U);
        EXPECT_EQ(stats.pools[0].created, 2U);
        EXPECT_EQ(stats.pools[0].destroyed, 1U);
    }
    EXPECT_EQ(ships_.items().size(), 1U);
    EXPECT_EQ(cargo_.size(), 1U);
    expect_open();

    pool<ship> other({.name = "other", .capacity = 10});
    auto alone = all_.exclusive_access();
    EXPECT_EQ(message_of<std::invalid_argument>([&] { alone.view_of(other); }),
              "handlepool: pool 'other': no view of it belongs to this exclusive access");
    auto& late = all_.add<pool<ship>>("late", {.capacity = 10});
    EXPECT_EQ(message_of<std::invalid_argument>([&] { alone.view_of(late); }),
              "handlepool: pool 'late': no view of it belongs to this exclusive access");
    const any_handle there = late.emplace("late");
    EXPECT_FALSE(alone.contains(there));
}

TEST_F(exclusive_service_test, keeps_hooks_and_containers_up_to_date) {
    handle_set<ship> fleet;
    fleet.attach(ships_);
    std::vector<std::string> ended;
    const scoped_hook hook = all_.find_any_pool("ships")->on_destroy(
        [&](any_handle, void* object) { ended.push_back(static_cast<ship*>(object)->name); });
    const auto argo = ships_.emplace("Argo");
    fleet.insert(argo);
    auto alone = all_.exclusive_access();
    EXPECT_TRUE(alone.erase(argo));
    EXPECT_EQ(fleet.size(), 0U);
    EXPECT_THAT(ended, ElementsAre("Argo"));
    // Hooks that are added to a view are the pool's.
    std::size_t born = 0;
    const scoped_hook births = alone.find_any_pool("ships")->on_birth([&](any_handle, void*) { ++born; });
    alone.view_of(ships_).emplace("Ark");
    EXPECT_EQ(born, 1U);
}

/// Erases its child by a view of all pools.
struct parent_by_views {
    ~parent_by_views() {
        if (views != nullptr) {
            erased += views->contains(child) && views->erase(child) ? 1 : 0;
            made += views->view_of(*children).emplace() ? 1 : 0;
        }
    }
    parent_by_views() = default;
    parent_by_views(parent_by_views&& other) noexcept
        : views(std::exchange(other.views, nullptr)), children(other.children), child(other.child) {}
    parent_by_views& operator=(parent_by_views&&) = delete;

    inline static int erased = 0;
    inline static int made = 0;
    exclusive_service* views = nullptr;
    stable_pool<int>* children = nullptr;
    any_handle child;
};

// With keep_order, an erased object may end with the view.
TEST(exclusive_service, has_all_views_until_nothing_waits_in_them) {
    for (const bool children_first : {false, true}) {
        service all;
        stable_pool<int>* children = nullptr;
        const auto add_children = [&] {
            children = &all.add<stable_pool<int>>("children", {.capacity = 10});
        };
        if (children_first) {
            add_children();
        }
        auto& parents = all.add<pool<parent_by_views>>("parents", {.capacity = 10, .keep_order = true});
        if (!children_first) {
            add_children();
        }
        parent_by_views::erased = parent_by_views::made = 0;
        {
            auto alone = all.exclusive_access();
            parent_by_views mine;
            mine.views = &alone;
            mine.children = children;
            mine.child = alone.view_of(*children).emplace(1);
            alone.erase(alone.view_of(parents).emplace(std::move(mine)));
        }
        EXPECT_EQ(parent_by_views::erased, 1);
        EXPECT_EQ(parent_by_views::made, 1);
        EXPECT_EQ(children->size(), 1U);
        EXPECT_EQ(parents.size(), 0U);
    }
}

/// Erases the next one when it ends.
class link_of_a_chain {
public:
    link_of_a_chain(exclusive_service& views, any_handle next) : views_(&views), next_(next) {}
    link_of_a_chain(link_of_a_chain&& other) noexcept
        : views_(std::exchange(other.views_, nullptr)), next_(other.next_) {}
    link_of_a_chain& operator=(link_of_a_chain&& other) noexcept {
        std::swap(views_, other.views_);
        std::swap(next_, other.next_);
        return *this;
    }
    ~link_of_a_chain() {
        if (views_ != nullptr && next_) {
            ended += views_->erase(next_) ? 1 : 0;
        }
    }

    inline static int ended = 0;

private:
    exclusive_service* views_;
    any_handle next_;
};

// From pool to pool and back, whichever is looked at first.
TEST(exclusive_service, ends_what_waits_for_what_waits) {
    for (const bool from_first : {false, true}) {
        service all;
        auto& first = all.add<pool<link_of_a_chain>>("first", {.capacity = 10, .keep_order = true});
        auto& second = all.add<pool<link_of_a_chain>>("second", {.capacity = 10, .keep_order = true});
        link_of_a_chain::ended = 0;
        {
            auto alone = all.exclusive_access();
            any_handle next;
            for (int i = 0; i != 6; ++i) { // the last one that is made begins
                auto& pool = (i % 2 == 0) == from_first ? second : first;
                next = alone.view_of(pool).emplace(alone, next);
            }
            alone.erase(next);
        }
        EXPECT_EQ(link_of_a_chain::ended, 5);
        EXPECT_EQ(first.size() + second.size(), 0U);
    }
}

TEST(exclusive_service, comes_in_among_guards_that_follow_each_other) {
    service all;
    std::vector<pool<int>*> pools;
    for (int i = 0; i != 16; ++i) {
        pools.push_back(&all.add<pool<int>>("pool " + std::to_string(i), {.capacity = 10}));
    }
    constexpr int most = 2000;
    std::atomic<bool> ends{false};
    std::atomic<int> guards{0};
    std::jthread user([&] {
        while (!ends && guards < most) {
            for (pool<int>* const each : pools) {
                const auto guard = each->access();
                ++guards;
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }
    });
    while (guards == 0) {
        std::this_thread::yield();
    }
    for (int i = 0; i != 5; ++i) {
        auto alone = all.exclusive_access();
        alone.view_of(*pools.front()).emplace(1);
    }
    EXPECT_LT(guards.load(), most);
    ends = true;
}

TEST_F(exclusive_service_test, tells_the_numbers_of_the_service) {
    all_.compact();
    all_.compact();
    ships_.emplace("Argo");
    const auto expect_numbers = [&](const exclusive_service& alone) {
        const service_stats found = alone.stats();
        EXPECT_EQ(found.frames, 2U);
        std::vector<std::string> names;
        for (const pool_stats& pool : found.pools) {
            names.push_back(pool.name);
        }
        EXPECT_THAT(names, ElementsAre("ships", "rocks", "cargo", "raw"));
        EXPECT_EQ(found.pools[0].alive, 1U);
    };
    expect_numbers(all_.exclusive_access());
    expect_numbers(*all_.try_exclusive_access());
    std::atomic<bool> held{false};
    std::jthread user([&] { // the views are made in another order
        const auto guard = raw_.access();
        held = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
    });
    while (!held) {
        std::this_thread::yield();
    }
    expect_numbers(all_.exclusive_access());
}

TEST_F(exclusive_service_test, has_no_views_of_another_services_pools) {
    service other;
    auto& ships = other.add<pool<ship>>("ships", {.capacity = 100});
    auto alone = all_.exclusive_access();
    EXPECT_EQ(message_of<std::invalid_argument>([&] { static_cast<void>(alone.view_of(ships)); }),
              "handlepool: pool 'ships': no view of it belongs to this exclusive access");
    EXPECT_EQ(alone.name_of({}), "");
}

TEST_F(exclusive_service_test, keeps_a_removed_pool_until_it_ends) {
    const auto weight = std::make_shared<int>(7);
    rocks_.emplace(weight);
    {
        auto alone = all_.exclusive_access();
        EXPECT_TRUE(all_.remove_pool("rocks"));
        EXPECT_EQ(alone.view_of(rocks_).size(), 1U);
        EXPECT_EQ(message_of<compaction_conflict>([&] { all_.compact(); }),
                  "handlepool: service: compaction was asked for while a thread has exclusive access");
        EXPECT_FALSE(all_.try_compact());
        EXPECT_EQ(weight.use_count(), 2);
    }
    all_.compact();
    EXPECT_EQ(weight.use_count(), 1);
    expect_open();
}

TEST_F(exclusive_service_test, is_refused_and_leaves_nothing_closed) {
    {
        const auto guard = all_.access();
        EXPECT_EQ(message_of<compaction_conflict>([&] { static_cast<void>(all_.exclusive_access()); }),
                  "handlepool: service: exclusive access was asked for by a thread that has made an access "
                  "guard or spawners, which still live");
        EXPECT_FALSE(all_.try_exclusive_access());
    }
    expect_open();
    {
        const auto guard = cargo_.access();
        EXPECT_EQ(message_of<compaction_conflict>([&] { static_cast<void>(all_.exclusive_access()); }),
                  "handlepool: pool 'cargo': exclusive access was asked for by a thread that has made an "
                  "access guard or spawners, which still live");
        EXPECT_FALSE(all_.try_exclusive_access());
        EXPECT_TRUE(ships_.try_exclusive_access());
        EXPECT_TRUE(raw_.try_exclusive_access());
    }
    expect_open();
    {
        const auto view = raw_.exclusive_access();
        EXPECT_EQ(
            message_of<compaction_conflict>([&] { static_cast<void>(all_.exclusive_access()); }),
            "handlepool: pool 'raw': exclusive access was asked for while a thread has exclusive access");
        EXPECT_FALSE(all_.try_exclusive_access());
    }
    expect_open();
    auto alone = all_.exclusive_access();
    EXPECT_EQ(message_of<compaction_conflict>([&] { static_cast<void>(all_.exclusive_access()); }),
              "handlepool: service: exclusive access was asked for while a thread has exclusive access");
    EXPECT_FALSE(all_.try_exclusive_access());
    EXPECT_FALSE(ships_.try_exclusive_access());
    EXPECT_FALSE(all_.try_access());
    // A view is no pool that can be closed once more.
    any_pool<default_layout>& view = *alone.find_any_pool("ships");
    EXPECT_EQ(message_of<compaction_conflict>([&] { static_cast<void>(view.exclusive_access()); }),
              "handlepool: pool 'ships': exclusive access was asked for while a thread has exclusive access");
    EXPECT_EQ(view.try_exclusive_access(), nullptr);
    EXPECT_FALSE(view.has_guards());
    EXPECT_TRUE(view.is_compacting());
    inline_executor executor;
    EXPECT_TRUE(view.try_compact(executor));
}

TEST_F(exclusive_service_test, lives_on_where_it_is_moved_to) {
    std::optional<exclusive_service> kept;
    {
        auto alone = all_.exclusive_access();
        kept.emplace(std::move(alone));
    }
    EXPECT_TRUE(all_.is_compacting());
    const auto argo = kept->view_of(ships_).emplace("Argo");
    kept.reset();
    EXPECT_TRUE(ships_.contains(argo));
    expect_open();
}

TEST_F(exclusive_service_test, of_no_pools) {
    service none;
    auto alone = none.exclusive_access();
    EXPECT_EQ(alone.size(), 0U);
    EXPECT_FALSE(alone.erase(ships_.emplace("Argo")));
}

// A thread that has a guard of a pool takes one of the service, and another the other way round: neither
// waits for the thread that closes them all and waits for both.
TEST_F(exclusive_service_test, waits_for_guards_that_are_taken_in_any_order) {
    std::atomic<bool> ends{false};
    std::atomic<std::size_t> rounds{0};
    std::atomic<int> held{0}; // guards, by the threads that have them
    std::vector<std::jthread> threads;
    threads.emplace_back([&] {
        while (!ends) {
            const auto outer = cargo_.access();
            ++held;
            std::this_thread::yield();
            const auto inner = all_.access();
            ++rounds;
            --held;
        }
    });
    threads.emplace_back([&] {
        while (!ends) {
            const auto outer = all_.access();
            ++held;
            std::this_thread::yield();
            const auto inner = ships_.access();
            const auto innermost = raw_.access();
            ++rounds;
            --held;
        }
    });
    std::size_t entered = 0;
    while (entered < 200 || rounds == 0) {
        {
            auto alone = all_.exclusive_access();
            alone.erase(alone.view_of(ships_).emplace("Argo"));
            EXPECT_EQ(held.load(), 0);
            ++entered;
        }
        if (auto alone = all_.try_exclusive_access()) {
            alone->view_of(raw_).clear();
        }
        std::this_thread::yield();
    }
    ends = true;
    threads.clear();
    expect_open();
}

} // namespace
} // namespace handlepool::test
