// SPDX-License-Identifier: MIT

// What pools say of lives that were taken back.

#include <handlepool/pool.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>
#include <handlepool/time/world.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace handlepool::test {
namespace {

template <class Pool>
class recorded_lives_undone : public testing::Test {
protected:
    /// " by thread "NAME" in PLACE", as this thread is told of.
    std::string by_me(const std::string& place) {
        const scoped_site here(place);
        return " by thread \"" + used.life_of(first).beginning->thread + "\" in " + place;
    }

    Pool used{{.name = "ships", .capacity = 100, .reuse_delay = 0, .record_lives = 2}};
    change_log<Pool> log{used};
    capture_ring<Pool> ring{log, {.frames = 16}};
    typename Pool::handle_type first = [this] {
        const scoped_site here("maker");
        return used.emplace(1);
    }();
};

using kinds = testing::Types<pool<int>, stable_pool<int>>;
TYPED_TEST_SUITE(recorded_lives_undone, kinds);

TYPED_TEST(recorded_lives_undone, say_so) {
    auto& pool = this->used;
    const std::string made = "created 2 frames ago" + this->by_me("maker");
    this->ring.capture(1);
    const auto undone = [&] {
        const scoped_site here("later maker");
        return pool.emplace(2);
    }();
    const auto gone = [&] {
        const scoped_site here("later maker");
        return pool.emplace(3);
    }();
    {
        const scoped_site here("eraser");
        pool.erase(this->first);
        pool.erase(gone);
    }
    pool.compact();
    {
        const scoped_site here("restorer");
        this->ring.restore(1);
    }
    const auto told = [&pool](auto handle) {
        // Frames are not what this is about.
        std::string text = pool.describe(handle);
        for (const std::string ago : {" in this frame", " 1 frame ago", " 2 frames ago", " 3 frames ago",
                                      " 4 frames ago", " 5 frames ago", " 6 frames ago"}) {
            for (std::size_t at = text.find(ago); at != text.npos; at = text.find(ago)) {
                text.erase(at, ago.size());
            }
        }
        return text;
    };
    const std::string maker = this->by_me("maker");
    const std::string later_maker = this->by_me("later maker");
    const std::string eraser = this->by_me("eraser");
    const std::string restorer = this->by_me("restorer");
    EXPECT_EQ(told(this->first),
              "ships #0 generation 1: alive; created" + maker + "; taken back: erased" + eraser);
    EXPECT_EQ(told(undone), "ships #1 generation 1: undone by a restore; created" + later_maker);
    EXPECT_EQ(told(gone),
              "ships #2 generation 1: undone by a restore; erased" + eraser + "; created" + later_maker);
    const recorded_life life = pool.life_of(undone);
    ASSERT_TRUE(life.end);
    EXPECT_EQ(to_string(life.end->event), "undone");
    EXPECT_EQ(life.end->site.name(), "restorer");

    // The other course of events.
    const auto again = [&] {
        const scoped_site here("another maker");
        return pool.emplace(4);
    }();
    ASSERT_EQ(again, undone);
    const std::string another = this->by_me("another maker");
    EXPECT_EQ(told(again), "ships #1 generation 1: alive; created" + another);
    {
        const scoped_site here("another eraser");
        pool.erase(this->first);
    }
    EXPECT_EQ(told(this->first),
              "ships #0 generation 1: erased" + this->by_me("another eraser") + "; created" + maker);
}

TYPED_TEST(recorded_lives_undone, tell_of_a_revoke_that_was_taken_back) {
    this->ring.capture(1);
    {
        const scoped_site here("undone revoker");
        EXPECT_TRUE(this->used.revoke(this->first));
    }
    this->ring.restore(1);
    const recorded_life life = this->used.life_of(this->first);
    ASSERT_TRUE(life.end);
    EXPECT_EQ(to_string(life.end->event), "revoked");
    EXPECT_EQ(life.end->site.name(), "undone revoker");
    EXPECT_TRUE(life.end->is_undone);
}

TYPED_TEST(recorded_lives_undone, give_way_to_what_happens_then) {
    auto& pool = this->used;
    const auto told = [&pool](auto handle) {
        const recorded_life life = pool.life_of(handle);
        return life.end && !life.end->is_undone
                   ? std::string(to_string(life.end->event)) + " in " + life.end->site.name()
                   : "nothing";
    };
    this->ring.capture(1);
    {
        const scoped_site here("undone eraser");
        pool.erase(this->first);
    }
    this->ring.restore(1);
    EXPECT_EQ(told(this->first), "nothing");
    {
        const scoped_site here("undone revoker");
        EXPECT_TRUE(pool.revoke(this->first));
    }
    EXPECT_EQ(told(this->first), "revoked in undone revoker") << "no erase";
    this->ring.restore(1);
    EXPECT_EQ(told(this->first), "nothing");
    EXPECT_TRUE(pool.life_of(this->first).end->is_undone);
    typename TypeParam::handle_type renewed;
    {
        const scoped_site here("revoker");
        renewed = pool.revoke(this->first);
    }
    EXPECT_EQ(told(this->first), "revoked in revoker");
    EXPECT_EQ(pool.describe(renewed),
              "ships #0 generation 3: alive; given this handle in this frame" + this->by_me("revoker"))
        << "nothing of this life was taken back";

    // A handle that another object had in another course of events, and that is given up now.
    const auto undone = pool.emplace(5);
    this->ring.restore(1);
    const auto reserved = pool.reserve_handle();
    ASSERT_EQ(reserved, undone);
    EXPECT_TRUE(pool.life_of(reserved).beginning->is_undone);
    {
        const scoped_site here("canceller");
        pool.cancel(reserved);
    }
    EXPECT_EQ(pool.describe(reserved),
              "ships #1 generation 1: reserved and cancelled in this frame" + this->by_me("canceller"));
}

TYPED_TEST(recorded_lives_undone, by_a_world_say_who_has_called_it) {
    auto& pool = this->used;
    world game;
    game.add(this->ring);
    game.capture(1);
    const auto undone = pool.emplace(2);
    {
        const scoped_site here("restorer");
        game.restore(1);
    }
    const recorded_life life = pool.life_of(undone);
    ASSERT_TRUE(life.end);
    EXPECT_EQ(life.end->site.name(), "restorer");

    const auto other = pool.emplace(3);
    {
        const scoped_site here(call_site(0x1234)); // which has no name
        game.restore(1);
    }
    EXPECT_EQ(pool.life_of(other).end->site.value(), 0x1234U);
}

// A handle that a restore has taken back stays stale here, and the object gets a later one.
TEST(recorded_lives_undone_for_good, end_by_what_ended_them) {
    pool<int> used({.name = "ships", .capacity = 100, .reuse_delay = 0, .record_lives = 4});
    change_log log(used);
    capture_ring ring(log, {.frames = 16, .undone_stay_stale = true});
    const auto revoke_in = [&used](handle<int> which, const char* place) {
        const scoped_site here(place);
        return used.revoke(which);
    };
    const auto first = used.emplace(1);
    ring.capture(1);
    const auto undone = revoke_in(first, "former");
    {
        const scoped_site here("restorer");
        ring.restore(1);
    }
    EXPECT_FALSE(used.contains(undone));
    const recorded_life before = used.life_of(undone);
    const auto last = revoke_in(first, "later");
    ASSERT_TRUE(used.contains(last));
    EXPECT_GT(last.generation(), undone.generation());

    const recorded_life of_first = used.life_of(first);
    ASSERT_TRUE(of_first.end);
    EXPECT_EQ(of_first.end->event, life_event::revoked);
    EXPECT_FALSE(of_first.end->is_undone);
    EXPECT_EQ(of_first.end->site.name(), "later");

    const recorded_life of_undone = used.life_of(undone);
    ASSERT_EQ(of_undone.end.has_value(), before.end.has_value());
    if (before.end) {
        EXPECT_EQ(of_undone.end->site.name(), before.end->site.name());
        EXPECT_EQ(of_undone.end->event, before.end->event);
    }
    ASSERT_TRUE(of_undone.beginning);
    EXPECT_TRUE(of_undone.beginning->is_undone);
    EXPECT_EQ(used.describe(undone).find("later"), std::string::npos);
    EXPECT_NE(used.describe(first).find("later"), std::string::npos);
}

TEST(recorded_lives_undone_for_good, end_by_a_revoke_behind_handles_that_were_only_reserved) {
    pool<int> used({.name = "ships", .capacity = 1, .reuse_delay = 0, .record_lives = 8});
    change_log log(used);
    capture_ring ring(log, {.frames = 16, .undone_stay_stale = true});
    const auto first = used.emplace(1);
    ring.capture(1);
    used.erase(first);
    used.compact();
    const auto reserved = used.reserve_handle();
    EXPECT_EQ(reserved.generation(), first.generation() + 2);
    ring.restore(1);
    const scoped_site here("revoker");
    const auto renewed = used.revoke(first);
    EXPECT_GT(renewed.generation(), reserved.generation());
    const recorded_life of_first = used.life_of(first);
    ASSERT_TRUE(of_first.end);
    EXPECT_EQ(of_first.end->event, life_event::revoked);
    EXPECT_FALSE(of_first.end->is_undone);
    EXPECT_EQ(of_first.end->site.name(), "revoker");
}

TEST(recorded_lives_undone_for_good, end_by_no_later_life_behind_a_handle_that_was_cancelled) {
    pool<int> used({.name = "ships", .capacity = 1, .reuse_delay = 0, .record_lives = 8});
    const auto first = used.emplace(1);
    {
        const scoped_site here("eraser");
        used.erase(first);
    }
    used.compact();
    used.cancel(used.reserve_handle());
    const auto later = used.emplace(2);
    ASSERT_EQ(later.index(), first.index());
    used.revoke(later);
    const recorded_life of_first = used.life_of(first);
    ASSERT_TRUE(of_first.end);
    EXPECT_EQ(of_first.end->event, life_event::erased);
    EXPECT_EQ(of_first.end->site.name(), "eraser");
}

[[gnu::noinline]] void restore_first(world& game) {
    game.restore(1);
    static std::atomic<int> after; // so that the call is not the end of the function
    ++after;
}

TYPED_TEST(recorded_lives_undone, by_a_world_say_where_that_was_called) {
    world game;
    game.add(this->ring);
    game.capture(1);
    const auto undone = this->used.emplace(2);
    restore_first(game);
    const auto function = reinterpret_cast<std::uintptr_t>(&restore_first);
    const auto addresses = this->used.life_of(undone).end->site.addresses();
    ASSERT_EQ(addresses.size(), 1U);
    EXPECT_GT(addresses[0], function);
    EXPECT_LT(addresses[0], function + 1000);
}

} // namespace
} // namespace handlepool::test
