// SPDX-License-Identifier: MIT
#include <handlepool/detail/recorder/life_recorder.hpp>
#include <handlepool/detail/recorder/recorded_event.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <tests/support/stop_at_every_access.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace handlepool::test {
namespace {

using namespace detail;

using recorder_type = life_recorder<default_policy>;

constexpr slot_index first_slot{0};
constexpr slot_index last_slot{9};

recorder_type recorder_of(std::size_t lives) {
    return {"recorder", 10, 10, 20, lives, 0};
}

// Each address of code comes back, also on processors whose programs have 48 bits of addresses.
TEST(code_addresses, are_whole_as_sites) {
    using arm64 = code_addresses<48, 2>;
    for (const std::uint64_t address : {0xaaaa'aaab'1234ULL, 0xffff'9ab3'4568ULL, 0x5555'5555'1234ULL}) {
        EXPECT_EQ(arm64::address_of(arm64::site_of(address)), address);
        EXPECT_EQ(arm64::site_of(address) & is_depot_entry, 0U);
        EXPECT_EQ(arm64::site_of(address | 0x00b7'0000'0000'0000ULL), arm64::site_of(address)); // signed
    }
    using others = code_addresses<47, 0>;
    for (const std::uint64_t address : {0x7fff'f7a1'2345ULL, 0x5555'5555'1235ULL}) {
        EXPECT_EQ(others::address_of(others::site_of(address)), address);
        EXPECT_EQ(others::site_of(address) & is_depot_entry, 0U);
    }
}

// Of two revokes the later one may be recorded first: it has not ended what the other one has.
TEST(life_recorder, tells_no_revoke_as_that_of_a_life_before_the_last) {
    recorder_type one = recorder_of(8);
    const auto told = [&one](std::uint32_t generation) {
        return recorded_life_of(one, first_slot, generation, false,
                                [](const life_record& record) { return recorded(record, 0); });
    };
    one.began(first_slot, 1, life_event::created, caller{7});
    one.renamed(first_slot, 5, caller{9});
    EXPECT_FALSE(told(1).end);
    one.renamed(first_slot, 3, caller{8});
    ASSERT_TRUE(told(1).end);
    EXPECT_EQ(told(1).end->event, life_event::revoked);
    EXPECT_EQ(told(1).end->site.value(), recorded({.who = caller{8}}, 0).site.value());
}

TEST(life_recorder, records_nothing_and_needs_nothing_for_no_lives) {
    recorder_type none = recorder_of(0);
    EXPECT_FALSE(none.is_on());
    none.began(first_slot, 1, life_event::created, caller{7});
    none.ended(first_slot, 1, life_event::erased, caller{8});
    none.ended_in_queue(0, first_slot, 1, life_event::erased, caller{8});
    none.take_over(0, 1);
    none.renamed(first_slot, 3, caller{8});
    none.forgot_all(4, caller{8});
    none.next_frame();
    none.reset();
    EXPECT_TRUE(none.has_end(first_slot, 1)) << "nobody waits for it";
    EXPECT_EQ(none.from_here(), caller::unknown);
    EXPECT_EQ(none.from_site(7), caller::unknown);
    EXPECT_EQ(none.memory().reserved, 0U);
}

TEST(life_recorder, keeps_all_of_a_beginning_and_of_an_end) {
    recorder_type some = recorder_of(1);
    for (int i = 0; i != 5; ++i) {
        some.next_frame();
    }
    some.began(last_slot, 7, life_event::created, caller{0xffff'7fff'ffff'ffff});
    some.next_frame();
    EXPECT_FALSE(some.has_end(last_slot, 7));
    some.ended(last_slot, 7, life_event::forgotten, caller{1});
    some.next_frame();

    const auto beginning = some.beginning(last_slot, 7);
    ASSERT_TRUE(beginning);
    EXPECT_EQ(beginning->generation, 7U);
    EXPECT_EQ(beginning->event, life_event::created);
    EXPECT_EQ(beginning->frame, 5U);
    EXPECT_EQ(beginning->who, caller{0xffff'7fff'ffff'ffff});
    EXPECT_EQ(some.frames_since(*beginning), 2U);
    const auto end = some.end(last_slot, 7, true);
    ASSERT_TRUE(end);
    EXPECT_TRUE(some.has_end(last_slot, 7));
    EXPECT_EQ(end->event, life_event::forgotten);
    EXPECT_EQ(end->frame, 6U);
    EXPECT_EQ(end->who, caller{1});
    EXPECT_EQ(some.frames_since(*end), 1U);

    EXPECT_FALSE(some.beginning(slot_index{8}, 7)) << "another slot";
    EXPECT_FALSE(some.beginning(last_slot, 5)) << "another life";
    EXPECT_FALSE(some.end(last_slot, 9, true));
}

TEST(life_recorder, keeps_as_many_lives_of_each_slot_as_it_was_told) {
    for (const std::size_t lives : {1U, 2U, 8U}) {
        recorder_type some = recorder_of(lives);
        constexpr std::uint32_t count = 20;
        for (std::uint32_t life = 0; life != count; ++life) {
            for (const slot_index slot : {first_slot, last_slot}) {
                some.began(slot, 2 * life + 1, life_event::created, caller{100 + life});
                some.ended(slot, 2 * life + 1, life_event::erased, caller{200 + life});
            }
        }
        for (std::uint32_t life = 0; life != count; ++life) {
            const bool is_kept = life + lives >= count;
            for (const slot_index slot : {first_slot, last_slot}) {
                const auto beginning = some.beginning(slot, 2 * life + 1);
                const auto end = some.end(slot, 2 * life + 1, true);
                ASSERT_EQ(beginning.has_value(), is_kept) << life << " of " << lives;
                ASSERT_EQ(end.has_value(), is_kept);
                if (is_kept) {
                    EXPECT_EQ(beginning->who, caller{100 + life});
                    EXPECT_EQ(end->who, caller{200 + life});
                }
            }
        }
    }
}

TEST(life_recorder, a_life_has_32_bytes) {
    const recorder_type one = recorder_of(1);
    const recorder_type eight("recorder", 1U << 20, 10, 1000, 8, 0);
    EXPECT_GE(one.memory().reserved, 10U * 32);
    EXPECT_LT(eight.memory().reserved, (std::size_t{8} * 32 << 20) + (1U << 22));
    EXPECT_LT(eight.memory().resident, 1U << 20) << "memory comes by use";
}

TEST(life_recorder, a_life_that_begins_again_has_no_end_yet) {
    recorder_type some = recorder_of(2);
    some.began(first_slot, 3, life_event::created, caller{1});
    some.ended(first_slot, 3, life_event::erased, caller{2});
    some.began(first_slot, 3, life_event::created, caller{3}); // after a restore
    EXPECT_FALSE(some.end(first_slot, 3, true));
    EXPECT_FALSE(some.has_end(first_slot, 3));
    EXPECT_EQ(some.beginning(first_slot, 3)->who, caller{3});
}

TEST(life_recorder, a_revoke_tells_of_the_life_that_it_begins_alone) {
    recorder_type some = recorder_of(1);
    some.began(first_slot, 3, life_event::created, caller{1});
    some.ended(first_slot, 5, life_event::erased, caller{2}); // faster than the revoke
    some.renamed(first_slot, 5, caller{3});
    EXPECT_EQ(some.beginning(first_slot, 5)->event, life_event::renamed);
    EXPECT_EQ(some.beginning(first_slot, 5)->who, caller{3});
    EXPECT_EQ(some.end(first_slot, 5, true)->who, caller{2});
}

TEST(life_recorder, the_last_reset_is_known_by_its_generation) {
    recorder_type some = recorder_of(1);
    some.began(first_slot, 3, life_event::created, caller{1});
    some.reset();
    some.forgot_all(4, caller{9});
    EXPECT_FALSE(some.beginning(first_slot, 3));
    EXPECT_FALSE(some.last_reset(2));
    ASSERT_TRUE(some.last_reset(4));
    EXPECT_EQ(some.last_reset(4)->who, caller{9});
    EXPECT_EQ(some.last_reset(4)->event, life_event::forgotten);
}

TEST(life_recorder, frames_are_counted_modulo_a_power_of_two) {
    const life_record old{.generation = 0xffff'ffff,
                          .event = life_event::forgotten,
                          .frame = life_record::frame_mask,
                          .who = caller{1}};
    const life_record same = life_record::of(static_cast<std::uint64_t>(old.who), old.stamp());
    EXPECT_EQ(same.generation, old.generation);
    EXPECT_EQ(same.event, old.event);
    EXPECT_EQ(same.frame, old.frame);
    EXPECT_EQ(same.who, old.who);
    recorder_type some = recorder_of(1);
    some.next_frame();
    some.next_frame();
    EXPECT_EQ(some.frames_since(same), 3U);
}

TEST(life_recorder, what_a_restore_has_taken_back_is_marked_and_waits_for_another_end) {
    recorder_type some = recorder_of(4);
    for (const std::uint32_t generation : {1U, 3U, 5U}) {
        some.began(first_slot, generation, life_event::created, caller{generation});
        some.ended(first_slot, generation, life_event::erased, caller{generation + 1});
    }
    some.began(last_slot, 3, life_event::created, caller{9});
    some.take_back(first_slot, 3); // where the object of this generation lives again
    EXPECT_FALSE(some.end(first_slot, 1, true)->is_undone);
    EXPECT_TRUE(some.has_end(first_slot, 1));
    EXPECT_FALSE(some.beginning(first_slot, 3)->is_undone);
    ASSERT_TRUE(some.end(first_slot, 3, true));
    EXPECT_TRUE(some.end(first_slot, 3, true)->is_undone);
    EXPECT_EQ(some.end(first_slot, 3, true)->event, life_event::erased);
    EXPECT_EQ(some.end(first_slot, 3, true)->who, caller{4});
    EXPECT_FALSE(some.has_end(first_slot, 3));
    EXPECT_TRUE(some.beginning(first_slot, 5)->is_undone);
    EXPECT_TRUE(some.end(first_slot, 5, true)->is_undone);
    EXPECT_FALSE(some.beginning(last_slot, 3)->is_undone) << "another slot";
    EXPECT_FALSE(some.beginning(first_slot, 7)) << "nothing there";
    some.ended(first_slot, 3, life_event::cleared, caller{10});
    EXPECT_TRUE(some.has_end(first_slot, 3));
    some.take_back(first_slot, 4); // where it has ended
    EXPECT_TRUE(some.has_end(first_slot, 3));
}

// A thread that writes is stopped between any two words.
TEST(life_recorder, a_record_that_is_being_written_is_none) {
    struct scene {
        scene() {
            some.began(first_slot, 1, life_event::created, caller{1});
            some.ended(first_slot, 1, life_event::erased, caller{2});
        }
        void expect_whole_records() const {
            for (const std::uint32_t generation : {1U, 3U}) {
                if (const auto beginning = some.beginning(first_slot, generation)) {
                    EXPECT_EQ(beginning->who, caller{generation});
                }
                if (const auto end = some.end(first_slot, generation, true)) {
                    EXPECT_EQ(end->who, caller{generation + 1});
                }
            }
        }
        life_recorder<support::step_policy> some{"recorder", 1, 1, 4, 1, 0};
    };
    stop_at_every_access<scene>(
        [](scene& now) {
            now.some.began(first_slot, 3, life_event::created, caller{3});
            now.some.ended(first_slot, 3, life_event::erased, caller{4});
        },
        [](scene& now) { now.expect_whole_records(); },
        [](scene& now) {
            now.expect_whole_records();
            EXPECT_TRUE(now.some.beginning(first_slot, 3));
            EXPECT_TRUE(now.some.end(first_slot, 3, true));
        });
}

TEST(life_recorder, an_end_waits_with_its_removal_until_it_is_taken_over) {
    recorder_type some = recorder_of(2);
    some.began(first_slot, 3, life_event::created, caller{1});
    some.next_frame();
    some.ended_in_queue(7, first_slot, 3, life_event::erased, caller{2});
    some.next_frame();
    const auto expect_end = [&some] {
        const auto end = some.end(first_slot, 3, true);
        ASSERT_TRUE(end);
        EXPECT_EQ(end->event, life_event::erased);
        EXPECT_EQ(end->who, caller{2});
        EXPECT_EQ(some.frames_since(*end), 1U);
        EXPECT_FALSE(end->is_undone);
    };
    expect_end();
    EXPECT_FALSE(some.end(first_slot, 3, false)) << "who knows that none waits doesn't look for it";
    EXPECT_FALSE(some.has_end(first_slot, 3)) << "who sweeps must leave it to its record";
    EXPECT_FALSE(some.end(first_slot, 1, true));
    EXPECT_FALSE(some.end(first_slot, 5, true));
    EXPECT_FALSE(some.end(last_slot, 3, true));
    some.take_over(6, 1);
    EXPECT_FALSE(some.has_end(first_slot, 3)) << "another position";
    some.take_over(5, 3);
    expect_end();
    EXPECT_TRUE(some.has_end(first_slot, 3));
    some.ended(first_slot, 3, life_event::cleared, caller{9}); // by whoever comes later
    some.take_over(5, 3);
    EXPECT_EQ(some.end(first_slot, 3, true)->event, life_event::cleared) << "nothing waits any more";
}

TEST(life_recorder, takes_over_all_ends_of_a_run_and_no_others) {
    constexpr std::uint32_t slots = 100;
    recorder_type some("recorder", slots, slots, slots, 4, 0);
    for (std::uint32_t i = 0; i != slots;
         ++i) {           // a run may be longer than what is asked for ahead, or shorter
        if (i % 3 != 0) { // others have no record of their end, or have it elsewhere
            some.ended_in_queue(i, slot_index{slots - 1 - i}, 2 * (i % 5) + 1, life_event::erased, caller{i});
        }
    }
    for (std::uint32_t first = 0, count = 1; first != slots; first += count) {
        count = std::min<std::uint32_t>(first / 2 + 1, slots - first);
        some.take_over(first, count);
        for (std::uint32_t i = 0; i != slots; ++i) {
            const slot_index slot{slots - 1 - i};
            ASSERT_EQ(some.has_end(slot, 2 * (i % 5) + 1), i % 3 != 0 && i < first + count) << i;
            if (i % 3 != 0) {
                ASSERT_EQ(some.end(slot, 2 * (i % 5) + 1, true)->who, caller{i});
            }
        }
    }
}

TEST(life_recorder, an_end_that_a_restore_took_back_is_not_the_one_that_waits) {
    recorder_type some = recorder_of(1);
    some.began(first_slot, 3, life_event::created, caller{1});
    some.ended(first_slot, 3, life_event::erased, caller{2});
    some.take_back(first_slot, 3);
    EXPECT_TRUE(some.end(first_slot, 3, true)->is_undone);
    some.ended_in_queue(0, first_slot, 3, life_event::erased, caller{4});
    EXPECT_EQ(some.end(first_slot, 3, true)->who, caller{4});
    EXPECT_FALSE(some.end(first_slot, 3, true)->is_undone);
    some.take_over(0, 1);
    EXPECT_EQ(some.end(first_slot, 3, true)->who, caller{4});
    EXPECT_FALSE(some.end(first_slot, 3, true)->is_undone);
}

TEST(life_recorder, a_reset_forgets_the_ends_that_wait) {
    recorder_type some = recorder_of(1);
    some.ended_in_queue(3, first_slot, 3, life_event::erased, caller{2});
    some.reset();
    EXPECT_FALSE(some.end(first_slot, 3, true));
    some.take_over(0, 4);
    EXPECT_FALSE(some.end(first_slot, 3, true));
    some.ended_in_queue(3, first_slot, 5, life_event::erased, caller{3});
    EXPECT_EQ(some.end(first_slot, 5, true)->who, caller{3});
}

// Compaction is stopped between any two words.
TEST(life_recorder, an_end_is_known_while_it_is_taken_over) {
    struct scene {
        scene() { some.ended_in_queue(1, first_slot, 3, life_event::erased, caller{2}); }
        void expect_end() const {
            const auto end = some.end(first_slot, 3, true);
            ASSERT_TRUE(end);
            EXPECT_EQ(end->who, caller{2});
        }
        life_recorder<support::step_policy> some{"recorder", 1, 1, 2, 1, 0};
    };
    stop_at_every_access<scene>([](scene& now) { now.some.take_over(0, 2); },
                                [](scene& now) { now.expect_end(); },
                                [](scene& now) {
                                    now.expect_end();
                                    EXPECT_TRUE(now.some.has_end(first_slot, 3));
                                });
}

// And the thread that asks is stopped, while all of it is taken over.
TEST(life_recorder, an_end_is_known_to_who_has_begun_to_ask) {
    struct scene {
        scene() { some.ended_in_queue(1, first_slot, 3, life_event::erased, caller{2}); }
        life_recorder<support::step_policy> some{"recorder", 2, 2, 2, 1, 0};
        std::optional<life_record> found;
    };
    stop_at_every_access<scene>([](scene& now) { now.found = now.some.end(first_slot, 3, true); },
                                [](scene& now) {
                                    now.some.take_over(0, 2);
                                    now.some.ended_in_queue(1, slot_index{1}, 3, life_event::erased,
                                                            caller{7});
                                },
                                [](scene& now) {
                                    ASSERT_TRUE(now.found);
                                    EXPECT_EQ(now.found->who, caller{2});
                                });
}

// While a thread writes one life after the other, what another one reads is one of them or nothing.
TEST(life_recorder, halves_of_two_records_are_no_record) {
    recorder_type some = recorder_of(1);
    constexpr std::uint32_t lives = 200'000;
    std::atomic<std::uint32_t> latest{1};
    std::atomic<bool> is_over{false};
    std::uint64_t read = 0;
    in_threads(2, [&](std::size_t thread) {
        if (thread == 0) {
            for (std::uint32_t life = 0; life != lives; ++life) {
                some.began(first_slot, 2 * life + 1, life_event::created, caller{life});
                some.ended(first_slot, 2 * life + 1, life_event::erased, caller{~std::uint64_t{life}});
                latest.store(2 * life + 1, std::memory_order::relaxed);
            }
            is_over = true;
            return;
        }
        while (!is_over) {
            const std::uint32_t generation = latest.load(std::memory_order::relaxed);
            for (std::uint32_t next = generation; next != generation + 6; next += 2) {
                if (const auto beginning = some.beginning(first_slot, next)) {
                    ASSERT_EQ(beginning->who, caller{next / 2});
                    ++read;
                }
                if (const auto end = some.end(first_slot, next, true)) {
                    ASSERT_EQ(end->who, caller{~std::uint64_t{next / 2}});
                    ++read;
                }
            }
        }
    });
    EXPECT_EQ(some.end(first_slot, 2 * lives - 1, true)->who, caller{~std::uint64_t{lives - 1}});
    RecordProperty("read", std::to_string(read));
}

} // namespace
} // namespace handlepool::test
