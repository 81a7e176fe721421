// SPDX-License-Identifier: MIT

// What pools say of who began and ended their objects' lives.

#include <handlepool/columns.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/error.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/spawner.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/message_of.hpp>

#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace handlepool::test {
namespace {

constexpr unsigned dense_id = 411;

/// Of a recycling pool.
struct kept_number {
    kept_number() = default;
    explicit kept_number(int number) : value(number) {}
    kept_number& operator=(int number) {
        value = number;
        return *this;
    }
    void clear() noexcept { value = 0; }

    int value = 0;
};

pool_options recording(std::string name, std::size_t lives = 2) {
    return {.name = std::move(name), .capacity = 100, .reuse_delay = 0, .record_lives = lives};
}

/// " by thread "NAME" in PLACE", as this thread is told of.
std::string by_me(const char* place) {
    const scoped_site here(place);
    pool<int> one(recording("one"));
    const recorded_life life = one.life_of(one.emplace(1));
    return " by thread \"" + life.beginning->thread + "\" in " + place;
}

/// One event, without frames and names.
std::string told(const std::optional<recorded_event>& event) {
    return event ? std::string(to_string(event->event)) + " in " + event->site.name() : "nothing";
}

template <class Pool>
class recorded_lives : public testing::Test {
protected:
    using handle_type = typename Pool::handle_type;

    handle_type make(int number = 1) {
        if constexpr (std::is_same_v<Pool, raw_pool<>>) {
            return used.emplace();
        } else {
            return used.emplace(number);
        }
    }

    static Pool pool_of(const pool_options& options) {
        if constexpr (std::is_same_v<Pool, raw_pool<>>) {
            return Pool(options, raw_type{.size = 4, .alignment = 4});
        } else {
            return Pool(options);
        }
    }

    Pool used{pool_of(recording("ships"))};
};

using kinds = testing::Types<pool<int>, stable_pool<int>, pool<columns<int, float>>, raw_pool<>,
                             recycling_pool<kept_number>>;
TYPED_TEST_SUITE(recorded_lives, kinds);

TYPED_TEST(recorded_lives, tell_of_each_way_to_end) {
    auto& pool = this->used;
    const auto at = [](const char* place) { return scoped_site(place); };
    const auto ended = [&pool](auto handle) { return told(pool.life_of(handle).end); };

    const auto erased = [&] {
        const auto here = at("maker");
        return this->make();
    }();
    EXPECT_EQ(told(pool.life_of(erased).beginning), "created in maker");
    EXPECT_EQ(ended(erased), "nothing");
    const auto all = [&] {
        std::vector<std::remove_const_t<decltype(erased)>> made;
        for (int i = 0; i != 8; ++i) {
            made.push_back(this->make());
        }
        return made;
    }();
    {
        const auto here = at("eraser");
        EXPECT_TRUE(pool.erase(erased));
    }
    {
        const auto here = at("other eraser");
        EXPECT_FALSE(pool.erase(erased));
    }
    EXPECT_EQ(ended(erased), "erased in eraser");
    {
        const auto here = at("range");
        EXPECT_EQ(pool.erase(std::array{all[0], all[1], erased}), 2U);
    }
    EXPECT_EQ(ended(all[0]), "erased in range");
    EXPECT_EQ(ended(all[1]), "erased in range");
    EXPECT_EQ(ended(erased), "erased in eraser");
    {
        const auto here = at("extractor");
        EXPECT_TRUE(pool.extract(all[2], [](auto&&) {}));
    }
    EXPECT_EQ(ended(all[2]), "extracted in extractor");
    const auto renewed = [&] {
        const auto here = at("revoker");
        return pool.revoke(all[3]);
    }();
    EXPECT_EQ(ended(all[3]), "revoked in revoker");
    EXPECT_EQ(told(pool.life_of(renewed).beginning), "given this handle in revoker");
    EXPECT_EQ(ended(renewed), "nothing");
    const auto reserved = pool.reserve_handle();
    EXPECT_EQ(told(pool.life_of(reserved).beginning), "nothing");
    {
        const auto here = at("canceller");
        EXPECT_TRUE(pool.cancel(reserved));
    }
    EXPECT_EQ(ended(reserved), "cancelled in canceller");
    pool.compact();
    EXPECT_EQ(ended(erased), "erased in eraser") << "the object is destroyed, and its slot is free";
    EXPECT_EQ(ended(all[2]), "extracted in extractor");
    if constexpr (!std::is_same_v<TypeParam, raw_pool<>>) {
        const auto here = at("predicate");
        EXPECT_EQ(erase_if(pool, [taken = 0](auto&&) mutable { return taken++ == 0; }), 1U);
        EXPECT_EQ(ended(all[4]).substr(0, 6) == "erased" || ended(all[5]).substr(0, 6) == "erased" ||
                      ended(all[6]).substr(0, 6) == "erased" || ended(all[7]).substr(0, 6) == "erased" ||
                      ended(renewed).substr(0, 6) == "erased",
                  true);
    }
    {
        const auto here = at("drainer");
        EXPECT_GT(pool.drain([](auto, auto&&) {}), 0U);
    }
    EXPECT_TRUE(ended(all[7]) == "drained in drainer" || ended(all[6]) == "drained in drainer");
    const auto cleared = this->make();
    {
        const auto here = at("cleaner");
        pool.clear();
    }
    EXPECT_EQ(ended(cleared), "cleared in cleaner");
    pool.compact();
    EXPECT_EQ(ended(cleared), "cleared in cleaner");
}

TYPED_TEST(recorded_lives, tell_of_each_way_to_begin) {
    auto& pool = this->used;
    const auto began = [&pool](auto handle) { return told(pool.life_of(handle).beginning); };
    const auto reserved = pool.reserve_handle();
    const scoped_site here("maker");
    if constexpr (std::is_same_v<TypeParam, raw_pool<>>) {
        const auto nothing = [](void*) {};
        EXPECT_EQ(began(pool.try_emplace()), "created in maker");
        EXPECT_EQ(began(pool.emplace_entry().handle), "created in maker");
        EXPECT_EQ(began(pool.emplace_with([](void*, auto) {})), "created in maker");
        pool.fulfill(reserved, nothing);
    } else {
        EXPECT_EQ(began(pool.try_emplace(1)), "created in maker");
        EXPECT_EQ(began(pool.emplace_entry(1).handle), "created in maker");
        std::vector<typename TypeParam::handle_type> many;
        pool.emplace_n(5, std::back_inserter(many), 1);
        for (const auto each : many) {
            EXPECT_EQ(began(each), "created in maker");
        }
        pool.fulfill(reserved, 1);
    }
    EXPECT_EQ(began(reserved), "created in maker");
}

TYPED_TEST(recorded_lives, are_told_by_who_has_exclusive_access) {
    auto& pool = this->used;
    typename TypeParam::handle_type erased, cleared;
    {
        auto alone = pool.exclusive_access();
        const auto make = [&] {
            const scoped_site here("maker");
            if constexpr (std::is_same_v<TypeParam, raw_pool<>>) {
                return alone.emplace();
            } else {
                return alone.emplace(1);
            }
        };
        erased = make();
        cleared = make();
        EXPECT_EQ(told(alone.life_of(erased).beginning), "created in maker");
        {
            const scoped_site here("eraser");
            EXPECT_TRUE(alone.erase(erased));
        }
        EXPECT_EQ(told(alone.life_of(erased).end), "erased in eraser");
        const scoped_site here("cleaner");
        alone.clear();
    }
    EXPECT_EQ(told(pool.life_of(erased).end), "erased in eraser");
    EXPECT_EQ(told(pool.life_of(cleared).end), "cleared in cleaner");
}

// What goes another way there than a single object of a pool that nobody watches.
TYPED_TEST(recorded_lives, are_told_by_who_has_exclusive_access_to_batches_and_with_hooks) {
    auto& pool = this->used;
    std::vector<typename TypeParam::handle_type> batch;
    {
        auto alone = pool.exclusive_access();
        if constexpr (!std::is_same_v<TypeParam, raw_pool<>>) {
            const scoped_site here("batch maker");
            alone.emplace_n(3, std::back_inserter(batch), 1);
        }
        for (const auto each : batch) {
            EXPECT_EQ(told(alone.life_of(each).beginning), "created in batch maker");
        }
    }
    const auto hook = pool.on_destroy([](auto, auto&&) {});
    const auto first = this->make();
    const auto second = this->make();
    {
        auto alone = pool.exclusive_access();
        {
            const scoped_site here("eraser");
            alone.erase(first);
        }
        const scoped_site here("cleaner");
        alone.clear();
    }
    EXPECT_EQ(told(pool.life_of(first).end), "erased in eraser");
    EXPECT_EQ(told(pool.life_of(second).end), "cleared in cleaner");
}

TEST(recorded_life, is_in_the_messages_of_a_pool) {
    pool_options options = recording("ships", 1);
    options.pool_id = dense_id;
    pool<int> ships(options); // whose first generation is later where there was one with this id
    const auto number_of = [](handle<int> which) {
        return detail::name_of_handle(which.index(), which.generation());
    };
    const auto name_of = [&](handle<int> which) { return "ships " + number_of(which); };
    const std::string wave = by_me("waves.cpp:30");
    const std::string blast = by_me("ship.cpp:88");
    const auto first = [&] {
        const scoped_site here("waves.cpp:30");
        return ships.emplace(1);
    }();
    EXPECT_EQ(ships.describe(first), name_of(first) + ": alive; created in this frame" + wave);
    ships.compact();
    EXPECT_EQ(ships.describe(first), name_of(first) + ": alive; created 1 frame ago" + wave);
    {
        const scoped_site here("ship.cpp:88");
        ships.erase(first);
    }
    for (int i = 0; i != 3; ++i) {
        ships.compact();
    }
    EXPECT_EQ(ships.describe(first),
              name_of(first) + ": erased 3 frames ago" + blast + "; created 4 frames ago" + wave);
    EXPECT_EQ(message_of<stale_handle>([&] { ships.at(first); }),
              "pool 'ships': handle " + number_of(first) + " pool 411 is stale: erased 3 frames ago" + blast +
                  "; created 4 frames ago" + wave);
    EXPECT_EQ(message_of<not_reserved>([&] { ships.fulfill(first, 1); }),
              "pool 'ships': handle " + number_of(first) + " pool 411 is not reserved: erased 3 frames ago" +
                  blast + "; created 4 frames ago" + wave);

    const auto next = ships.emplace(2);
    ASSERT_EQ(next.index(), first.index());
    EXPECT_EQ(ships.describe(first),
              name_of(first) +
                  ": erased, and the slot has been used again since, or revoked; the slot is at "
                  "generation " +
                  std::to_string(next.generation()) + ", and its last life is recorded")
        << "one life is kept, and that is another one's";

    const auto renewed = [&] {
        const scoped_site here("ship.cpp:88");
        return ships.revoke(next);
    }();
    EXPECT_EQ(ships.describe(next), name_of(next) + ": revoked in this frame" + blast);
    EXPECT_EQ(ships.describe(renewed), name_of(renewed) + ": alive; given this handle in this frame" + blast);

    const auto reserved = ships.reserve_handle();
    EXPECT_EQ(ships.describe(reserved), name_of(reserved) + ": reserved, no object yet");
    {
        const scoped_site here("ship.cpp:88");
        ships.cancel(reserved);
    }
    EXPECT_EQ(ships.describe(reserved), name_of(reserved) + ": reserved and cancelled in this frame" + blast);

    {
        const scoped_site here("ship.cpp:88");
        ships.reset();
    }
    ships.compact();
    EXPECT_FALSE(ships.life_of(renewed).beginning);
    EXPECT_EQ(ships.describe(renewed), name_of(renewed) +
                                           ": its object was forgotten by a reset, the last one 1 frame ago" +
                                           blast + ", or lived in a former pool with this id");
}

TEST(recorded_life, names_the_thread_and_its_task) {
    pool<int> ships(recording("ships"));
    const auto handle = ships.emplace(1);
    std::thread physics([&] {
        const scoped_task outer("explosions\n");
        {
            const scoped_task inner("inner");
            const scoped_site outer_site("outer.cpp:1");
            const scoped_site here("ship.cpp:99");
            const auto other = ships.emplace(2);
            ships.erase(other);
            EXPECT_EQ(ships.life_of(other).end->task, "inner");
            EXPECT_EQ(ships.life_of(other).end->site.name(), "ship.cpp:99");
        }
        const scoped_site here("ship.cpp:88");
        ships.erase(handle);
    });
    physics.join();
    const recorded_life life = ships.life_of(handle);
    ASSERT_TRUE(life.end);
    EXPECT_EQ(life.end->task, "explosions\xEF\xBF\xBD") << "which has no line of its own in a message";
    EXPECT_EQ(life.end->to_string(), "erased in this frame by thread \"" + life.end->thread +
                                         "\", task \"explosions\xEF\xBF\xBD\" in ship.cpp:88");
    EXPECT_EQ(life.beginning->task, "");
    EXPECT_EQ(ships.emplace(3).index(), 2U);
    EXPECT_EQ(ships.life_of(decltype(handle)()).beginning, std::nullopt);
}

TEST(recorded_life, of_what_is_no_handle_of_the_pool_is_empty) {
    pool<int> ships(recording("ships"));
    pool<int> others(recording("others"));
    pool<int> silent({.name = "silent", .capacity = 100});
    const auto handle = ships.emplace(1);
    const auto foreign = others.emplace(1);
    const auto unknown = silent.emplace(1);
    using handle_type = pool<int>::handle_type;
    const std::array none{handle_type(),
                          foreign,
                          handle_type::from_value(handle.value() + (std::uint64_t{1} << 32)),
                          handle_type::from_value(handle.value() + 1),
                          handle_type::from_value(handle.value() + (std::uint64_t{1} << 31)),
                          handle_type::from_value(~std::uint64_t{0})};
    for (const handle_type each : none) {
        const recorded_life life = ships.life_of(each);
        EXPECT_FALSE(life.beginning || life.end) << each.value();
    }
    EXPECT_FALSE(silent.life_of(unknown).beginning);
    EXPECT_EQ(silent.describe(unknown),
              "silent " + detail::name_of_handle(unknown.index(), unknown.generation()) + ": alive");
}

TEST(recorded_life, of_a_newborn_that_its_constructor_creates_has_its_own_site) {
    struct nest {
        explicit nest(pool<nest>& all, int depth) {
            if (depth != 0) {
                const scoped_site here("inside");
                all.emplace(all, depth - 1);
            }
        }
    };
    pool<nest> nests(recording("nests"));
    const auto outer = [&] {
        const scoped_site here("outside");
        return nests.emplace(nests, 1);
    }();
    nests.compact();
    std::vector<std::string> all;
    for (const auto handle : nests.handles()) {
        all.push_back(told(nests.life_of(handle).beginning));
    }
    EXPECT_EQ(told(nests.life_of(outer).beginning), "created in outside");
    EXPECT_EQ(all, (std::vector<std::string>{"created in outside", "created in inside"}));
}

TEST(recorded_life, of_a_batch_that_could_not_be_written_says_who_has_tried) {
    struct failing_iterator {
        using difference_type = std::ptrdiff_t;
        failing_iterator& operator*() { return *this; }
        failing_iterator& operator++() { return *this; }
        failing_iterator operator++(int) { return *this; }
        failing_iterator& operator=(pool<int>::handle_type handle) {
            *last = handle;
            throw std::runtime_error("full");
        }
        pool<int>::handle_type* last;
    };
    pool<int> ships(recording("ships"));
    pool<int>::handle_type last;
    const scoped_site here("maker");
    EXPECT_THROW(ships.emplace_n(3, failing_iterator{&last}, 1), std::runtime_error);
    EXPECT_EQ(told(ships.life_of(last).beginning), "created in maker");
    EXPECT_EQ(told(ships.life_of(last).end), "erased in maker");
}

TEST(recorded_life, of_a_subtree_is_the_place_that_erases_it) {
    pool<int> ships(recording("ships"));
    hierarchy<int> tree;
    const auto root = ships.emplace(1);
    const auto child = ships.emplace(2);
    tree.set_parent(child, root);
    {
        const scoped_site here("eraser");
        EXPECT_EQ(tree.erase_subtree(ships, root), 2U);
    }
    EXPECT_EQ(told(ships.life_of(child).end), "erased in eraser");
}

TEST(recorded_life, options_that_no_pool_can_have_are_refused) {
    pool_options options = recording("ships");
    options.record_lives = 1025;
    EXPECT_EQ(pool<int>::validate(options),
              "pool 'ships': record_lives = 1025 is not allowed; allowed are 0 to 1024");
    options.record_lives = 2;
    options.record_stack = 16;
    EXPECT_EQ(pool<int>::validate(options),
              "pool 'ships': record_stack = 16 is not allowed; allowed are 0 to 15");
    options.record_lives = 0;
    options.record_stack = 1;
    EXPECT_EQ(pool<int>::validate(options),
              "pool 'ships': record_stack = 1 is not allowed; it needs record_lives = 1 or more");
    options.record_lives = 1024;
    options.record_stack = 15;
    EXPECT_EQ(pool<int>::validate(options), "");
}

TEST(recorded_life, of_three_lives_is_kept_for_four) {
    pool<int> ships({.name = "ships", .capacity = 1, .reuse_delay = 0, .slot_limit = 1, .record_lives = 3});
    std::vector<pool<int>::handle_type> lives;
    for (int i = 0; i != 6; ++i) {
        lives.push_back(ships.emplace(i));
        ships.erase(lives.back());
        ships.compact();
    }
    for (std::size_t i = 0; i != lives.size(); ++i) {
        EXPECT_EQ(ships.life_of(lives[i]).end.has_value(), i >= 2) << i;
    }
}

// Each is told of as the call that has deferred it.
TEST(recorded_life, of_what_spawners_end_names_who_has_asked) {
    pool_options options = recording("spawned", 4);
    options.spawners = 2;
    pool<int> ships(options);
    std::vector<handle<int>> all;
    {
        auto alone = ships.exclusive_access();
        for (int i = 0; i != 60; ++i) {
            all.push_back(alone.emplace(i));
        }
    }
    std::vector<std::string> expected;
    {
        auto spawners = ships.spawners(2);
        for (std::size_t i = 0; i != all.size(); ++i) {
            const std::string place = "task " + std::to_string(i);
            const scoped_site here(place.c_str());
            auto& mine = spawners[i % 2];
            switch (i % 4) {
            case 0:
                mine.erase(all[i]);
                break;
            case 1:
                mine.extract(all[i], [](int&&) {});
                break;
            case 2:
                mine.revoke(all[i]);
                break;
            default:
                spawners[0].erase(all[i]);
                const scoped_site later("who comes later");
                spawners[1].erase(all[i]);
            }
            constexpr const char* events[] = {"erased", "extracted", "revoked", "erased"};
            expected.push_back(std::string(events[i % 4]) + " in " + place);
        }
    }
    ships.compact();
    for (std::size_t i = 0; i != all.size(); ++i) {
        EXPECT_EQ(told(ships.life_of(all[i]).end), expected[i]);
    }
}

TEST(recorded_life, memory_counts_as_the_pools) {
    const pool<int> four({.name = "four", .capacity = 100'000, .record_lives = 4});
    const pool<int> one({.name = "one", .capacity = 100'000, .record_lives = 1});
    const pool<int> without({.name = "without", .capacity = 100'000});
    const std::size_t slots = without.stats().slot_limit;
    const std::size_t three_lives = four.stats().bytes_reserved - one.stats().bytes_reserved;
    EXPECT_GE(three_lives, slots * 3 * 32);
    EXPECT_LT(three_lives, slots * 3 * 32 + (1U << 16));
    // And address space for the ends that wait, as much as for the queues of removals.
    const std::size_t a_life = one.stats().bytes_reserved - without.stats().bytes_reserved;
    EXPECT_GE(a_life, slots * (32 + 24));
    EXPECT_LT(a_life, slots * (32 + 2 * 24));
    EXPECT_LT(four.stats().bytes_resident, without.stats().bytes_resident + (1U << 20));
}

} // namespace
} // namespace handlepool::test
