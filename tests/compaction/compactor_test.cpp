// SPDX-License-Identifier: MIT
#include <handlepool/detail/compaction/compactor.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/parts_rig.hpp>
#include <tests/support/random.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;

constexpr std::uint32_t pool_id = parts_rig<default_policy>::pool_id;

/// The parts of a pool around a compactor.
template <class Policy, class Layout = default_layout>
class compactor_rig : public parts_rig<Policy, Layout> {
    using rig = parts_rig<Policy, Layout>;

public:
    using rig::allocator, rig::fresh_tag, rig::objects, rig::people, rig::table;
    using typename rig::value_type;

    using rig::rig;

    ~compactor_rig() {
        for (std::uint32_t index = 0; index != allocator.list().fresh(); ++index) {
            if (const auto tag = table.tag(slot_index{index}); Layout::is_alive(tag)) {
                erase(Layout::value_of(index, tag));
            }
        }
        run();
    }

    void erase(value_type handle) {
        EXPECT_TRUE(this->kill(handle));
        if (!this->record(handle)) {
            work.demand_sweep();
        }
    }

    compaction_stats run() {
        inline_executor executor;
        return run(executor);
    }
    template <class Executor>
    compaction_stats run(Executor& executor) {
        const compaction_stats done = work.run(executor);
        this->expect_consistent();
        return done;
    }

    compactor<counted, pool_config<Layout, Policy>> work{"compaction", *this};
};

using numbers = std::vector<std::uint64_t>;

template <class Policy>
class compactor_test : public testing::Test {
protected:
    compactor_rig<Policy> parts;
};

using policies = testing::Types<default_policy, support::tiny_policy<1>, support::tiny_policy<2>>;
TYPED_TEST_SUITE(compactor_test, policies);

TYPED_TEST(compactor_test, an_empty_run_does_nothing) {
    const auto done = this->parts.run();
    EXPECT_EQ(done.removed + done.born + done.moved + done.retired + done.swept + done.size, 0U);
    EXPECT_EQ(this->parts.work.runs(), 1U);
}

TYPED_TEST(compactor_test, newborns_are_appended_in_the_order_of_their_creation) {
    const auto handles = this->parts.emplace_sequence(5);
    const auto done = this->parts.run();
    EXPECT_EQ(done.born, 5U);
    EXPECT_EQ(done.size, 5U);
    EXPECT_EQ(this->parts.values(), (numbers{0, 1, 2, 3, 4}));
    for (std::uint64_t i = 0; i != 5; ++i) {
        EXPECT_EQ(this->parts.value(handles[i]), i);
    }
    EXPECT_EQ(this->parts.work.left_nursery(), 5U);
}

TYPED_TEST(compactor_test, newborns_behind_an_unpublished_one_wait_for_it_also_in_other_chunks) {
    const std::size_t behind = TypeParam::nursery_chunk + 5; // at least one chunk further
    const auto wait = [&](auto& executor) {
        std::vector handles{this->parts.emplace(0)};
        const auto unpublished = this->parts.construct(1);
        for (std::uint64_t value = 2; value != 2 + behind; ++value) {
            handles.push_back(this->parts.emplace(value));
        }
        EXPECT_EQ(this->parts.run(executor).born, 1U);
        EXPECT_EQ(this->parts.run(executor).born, 0U);
        handles.push_back(this->parts.publish(unpublished));
        EXPECT_EQ(this->parts.run(executor).born, 1 + behind);
        const numbers values = this->parts.values();
        ASSERT_EQ(values.size(), 2 + behind);
        for (std::uint64_t value = 0; value != values.size(); ++value) {
            EXPECT_EQ(values[value], value);
        }
        for (const auto each : handles) { // of the next one's room
            this->parts.erase(each);
        }
        this->parts.run(executor);
    };
    inline_executor here; // which does it in one pass
    wait(here);
    thread_executor two(2);
    wait(two);
}

TYPED_TEST(compactor_test, newborns_fill_holes_in_the_order_of_the_removals) {
    const auto handles = this->parts.emplace_sequence(5);
    this->parts.run();
    this->parts.erase(handles[3]);
    this->parts.erase(handles[1]);
    this->parts.emplace(10);
    this->parts.emplace(11);
    this->parts.emplace(12);
    const auto done = this->parts.run();
    EXPECT_EQ(done.removed, 2U);
    EXPECT_EQ(done.born, 3U);
    EXPECT_EQ(done.moved, 0U);
    EXPECT_EQ(this->parts.values(), (numbers{0, 11, 2, 10, 4, 12}));
}

TYPED_TEST(compactor_test, holes_left_open_are_filled_from_the_end_and_survivors_move_once) {
    const auto handles = this->parts.emplace_sequence(6);
    this->parts.run();
    this->parts.erase(handles[0]);
    this->parts.erase(handles[4]);
    this->parts.erase(handles[1]);
    const auto done = this->parts.run();
    EXPECT_EQ(done.removed, 3U);
    EXPECT_EQ(done.moved, 2U);
    EXPECT_EQ(this->parts.values(), (numbers{5, 3, 2}));
    EXPECT_EQ(this->parts.value(handles[5]), 5U);
    EXPECT_EQ(this->parts.people.born(), 6 + 6 + 2); // made, moved in, moved
}

TYPED_TEST(compactor_test, every_set_of_removals_and_newborns_leaves_the_store_dense) {
    constexpr std::uint64_t before = 5;
    for (std::uint64_t erased = 0; erased != 1U << before; ++erased) {
        for (std::uint64_t born = 0; born != before + 2; ++born) {
            compactor_rig<TypeParam> rig;
            const auto handles = rig.emplace_sequence(before);
            rig.run();
            std::vector<std::uint64_t> expected;
            for (std::uint64_t i = 0; i != before; ++i) {
                if ((erased >> i & 1) != 0) {
                    rig.erase(handles[i]);
                } else {
                    expected.push_back(i);
                }
            }
            for (std::uint64_t i = 0; i != born; ++i) {
                rig.emplace(100 + i);
                expected.push_back(100 + i);
            }
            const auto done = rig.run();
            ASSERT_EQ(done.size, expected.size());
            auto values = rig.values();
            std::ranges::sort(values);
            ASSERT_EQ(values, expected);
            ASSERT_EQ(rig.people.alive(), static_cast<std::int64_t>(expected.size()));
            for (std::uint64_t i = 0; i != before; ++i) {
                ASSERT_EQ(rig.table.is_alive(handles[i]), (erased >> i & 1) == 0);
                if (rig.table.is_alive(handles[i])) {
                    ASSERT_EQ(rig.value(handles[i]), i);
                }
            }
        }
    }
}

TYPED_TEST(compactor_test, an_object_erased_in_the_nursery_is_destroyed_there) {
    const auto handles = this->parts.emplace_sequence(3);
    this->parts.erase(handles[1]);
    const auto done = this->parts.run();
    EXPECT_EQ(done.removed, 1U);
    EXPECT_EQ(done.born, 2U);
    EXPECT_EQ(this->parts.values(), (numbers{0, 2}));
    EXPECT_EQ(this->parts.people.alive(), 2);
}

TYPED_TEST(compactor_test, an_erased_newborn_whose_record_is_late_moves_and_is_destroyed_next_time) {
    const auto handles = this->parts.emplace_sequence(2);
    EXPECT_TRUE(this->parts.kill(handles[0])); // the eraser is stopped before it queues the record
    EXPECT_EQ(this->parts.run().born, 2U);
    EXPECT_EQ(this->parts.people.alive(), 2);
    EXPECT_TRUE(this->parts.record(handles[0]));
    EXPECT_EQ(this->parts.run().removed, 1U);
    EXPECT_EQ(this->parts.values(), numbers{1});
}

TYPED_TEST(compactor_test, a_freed_slot_is_used_again_and_old_handles_stay_dead) {
    std::vector<std::uint64_t> old;
    for (std::uint64_t round = 0; round != 300; ++round) {
        const auto handle = this->parts.emplace(round);
        EXPECT_EQ(this->parts.value(handle), round);
        if (round % 2 == 0) {
            this->parts.run();
        }
        this->parts.erase(handle);
        this->parts.run();
        old.push_back(handle);
    }
    EXPECT_LE(this->parts.allocator.list().fresh(), 100U);
    for (const auto handle : old) {
        ASSERT_FALSE(this->parts.table.is_alive(handle));
    }
    EXPECT_EQ(this->parts.work.destroyed(), 300U);
}

TYPED_TEST(compactor_test, a_sweep_finds_what_has_no_record) {
    const auto handles = this->parts.emplace_sequence(6);
    this->parts.run();
    const auto young = this->parts.emplace(10);
    this->parts.emplace(11);
    this->parts.kill(handles[2]);
    this->parts.kill(young);
    this->parts.erase(handles[4]);
    this->parts.work.demand_sweep();
    this->parts.work.demand_sweep();
    const auto done = this->parts.run();
    EXPECT_EQ(done.removed, 3U);
    EXPECT_EQ(done.swept, 2U);
    EXPECT_EQ(done.size, 5U);
    EXPECT_EQ(this->parts.work.sweeps(), 1U);
    this->parts.run();
    EXPECT_EQ(this->parts.work.sweeps(), 1U) << "a demand counts once";
}

TYPED_TEST(compactor_test, a_record_that_comes_after_a_sweep_buries_nobody_else) {
    for (const bool in_nursery : {false, true}) {
        for (int reuse = 0; reuse != 4; ++reuse) {
            compactor_rig<TypeParam> rig;
            const auto victim = rig.emplace(0);
            const auto other = rig.emplace(1);
            if (!in_nursery) {
                rig.run();
            }
            rig.kill(victim); // its record is late
            rig.work.demand_sweep();
            EXPECT_EQ(rig.run().swept, 1U);
            // Meanwhile its slot may be free, or have another object: in the nursery, in the dense store, or
            // erased.
            typename compactor_rig<TypeParam>::value_type next = 0;
            if (reuse != 0) {
                do {
                    next = rig.emplace(2);
                } while (default_layout::index_of(next) != default_layout::index_of(victim));
            }
            if (reuse == 2) {
                rig.run();
            }
            const auto alive = rig.people.alive();
            if (reuse == 3) {
                rig.erase(next);
            }
            rig.record(victim);
            EXPECT_EQ(rig.run().removed, reuse == 3 ? 1U : 0U);
            EXPECT_EQ(rig.people.alive(), alive - (reuse == 3 ? 1 : 0));
            EXPECT_EQ(rig.value(other), 1U);
        }
    }
}

// The location of a slot without an object is an old one, where another object may live now.
TYPED_TEST(compactor_test, a_record_that_comes_after_a_sweep_buries_nothing_wherever_its_slot_points) {
    auto& rig = this->parts;
    const auto victim = rig.emplace(0);
    const slot_index slot = rig.table.slot_of(victim);
    const std::uint32_t birthplace = raw(rig.table.location_of(slot));
    rig.emplace(1);
    rig.run();
    rig.kill(victim); // its record is late
    rig.work.demand_sweep();
    EXPECT_EQ(rig.run().swept, 1U);
    const auto capacity = rig.objects.capacity();
    const auto locations = static_cast<std::uint32_t>(rig.objects.locations());
    using slots_type = decltype(rig.table);
    // The last three are what a reserved slot has instead of a place.
    const auto reserved = slots_type::reservation(rig.table.next_tag(slot, rig.fresh_tag));
    for (const std::uint32_t number :
         {0U, 1U, capacity - 1, capacity, birthplace, locations - 1, raw(reserved),
          raw(slots_type::being_fulfilled), raw(slots_type::cancelled)}) {
        SCOPED_TRACE(number);
        rig.table.set_location(slot, location{number});
        rig.record(victim);
        EXPECT_EQ(rig.run().removed, 0U);
        EXPECT_EQ(rig.people.alive(), 1);
    }
}

TYPED_TEST(compactor_test, a_record_that_comes_twice_destroys_once) {
    const auto handles = this->parts.emplace_sequence(3);
    this->parts.run();
    this->parts.erase(handles[1]);
    this->parts.record(handles[1]);
    EXPECT_EQ(this->parts.run().removed, 1U);
    EXPECT_EQ(this->parts.people.alive(), 2);
}

TYPED_TEST(compactor_test, a_full_removal_queue_loses_nothing) {
    for (const std::size_t limit : {1U, 2U}) {
        compactor_rig<TypeParam> rig(100, limit);
        const auto handles = rig.emplace_sequence(20);
        rig.run();
        const auto young = rig.emplace(100);
        for (std::size_t i = 0; i != 10; ++i) {
            rig.erase(handles[2 * i]);
        }
        rig.erase(young);
        const auto done = rig.run();
        EXPECT_EQ(done.removed, 11U);
        EXPECT_EQ(done.swept, 11U - limit);
        EXPECT_EQ(done.size, 10U);
    }
}

TYPED_TEST(compactor_test, a_slot_at_its_last_generation_is_retired) {
    using small = handle_layout<16, 4, 12>; // generations 1, 3 ... 13
    compactor_rig<TypeParam, small> rig(1);
    std::vector<std::uint32_t> handles;
    std::size_t retired = 0;
    for (int life = 0; life != 7; ++life) {
        handles.push_back(rig.emplace(0));
        EXPECT_EQ(small::index_of(handles.back()), 0U);
        rig.erase(handles.back());
        retired += rig.run().retired;
    }
    EXPECT_EQ(retired, 1U);
    EXPECT_EQ(rig.allocator.retired(), 1U);
    const auto next = rig.emplace(0);
    EXPECT_NE(small::index_of(next), 0U);
    for (const auto handle : handles) {
        EXPECT_FALSE(rig.table.is_alive(handle));
        EXPECT_EQ(small::pool_id_of(small::tag_of(handle)), pool_id);
    }
    rig.erase(next);
}

TYPED_TEST(compactor_test, the_order_of_the_objects_does_not_depend_on_the_executor) {
    constexpr std::uint64_t count = 6000; // some of the compactor's grains
    thread_executor threads(3);
    compactor_rig<TypeParam> alone(2 * count, 100'000);
    compactor_rig<TypeParam> parallel(2 * count, 100'000);
    random_source random;
    std::vector<std::uint64_t> handles;
    for (int frame = 0; frame != 6; ++frame) {
        for (std::uint64_t i = 0; i != (frame % 2 == 0 ? count : count / 8); ++i) {
            handles.push_back(alone.emplace(i));
            ASSERT_EQ(parallel.emplace(i), handles.back());
        }
        for (std::uint64_t i = 0; i != count / 2; ++i) {
            std::swap(handles[random.below(handles.size())], handles.back());
            alone.erase(handles.back());
            parallel.erase(handles.back());
            handles.pop_back();
        }
        ASSERT_EQ(alone.run().size, handles.size());
        ASSERT_EQ(parallel.run(threads).size, handles.size());
        ASSERT_EQ(alone.values(), parallel.values());
    }
}

TYPED_TEST(compactor_test, shrink_gives_back_the_working_lists_between_runs) {
    const auto handles = this->parts.emplace_sequence(50);
    this->parts.run();
    this->parts.erase(handles[7]);
    this->parts.run();
    EXPECT_GT(this->parts.work.memory().resident, 0U);
    this->parts.work.shrink();
    EXPECT_EQ(this->parts.work.memory().resident, 0U);
    this->parts.emplace_sequence(50);
    this->parts.erase(handles[8]);
    EXPECT_EQ(this->parts.run().size, 98U);
}

// What erasers leave behind is plain, and their demands alone hand it to compaction: ThreadSanitizer reports
// it when one of them doesn't.
TEST(compactor_order_test, a_sweep_comes_after_all_the_erases_that_demanded_it) {
    constexpr std::size_t erasers = 3;
    for (int round = 0; round != 20; ++round) {
        compactor_rig<default_policy> parts;
        const auto handles = parts.emplace_sequence(erasers);
        std::vector<int> left(erasers);
        std::atomic<std::size_t> done = 0;
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i != erasers; ++i) {
            threads.emplace_back([&, i] {
                left[i] = 1;
                parts.kill(handles[i]);
                parts.work.demand_sweep();
                done.fetch_add(1, std::memory_order::relaxed); // orders nothing
            });
        }
        while (done.load(std::memory_order::relaxed) != erasers) {
            std::this_thread::yield();
        }
        EXPECT_EQ(parts.run().swept, erasers);
        EXPECT_EQ(left, std::vector<int>(erasers, 1));
    }
}

// The maker, the eraser and compaction are three threads, and the eraser leaves neither a record nor a
// demand.
TEST(compactor_order_test, a_sweep_sees_a_newborn_complete_whose_eraser_has_said_nothing) {
    for (int round = 0; round != 20; ++round) {
        compactor_rig<default_policy> parts;
        std::atomic<std::uint64_t> handle = 0;
        std::atomic<bool> killed = false;
        const std::jthread maker([&] { handle.store(parts.emplace(7), std::memory_order::relaxed); });
        const std::jthread eraser([&] {
            while (handle.load(std::memory_order::relaxed) == 0) {
                std::this_thread::yield();
            }
            parts.kill(handle.load(std::memory_order::relaxed));
            killed.store(true, std::memory_order::relaxed);
        });
        while (!killed.load(std::memory_order::relaxed)) {
            std::this_thread::yield();
        }
        parts.work.demand_sweep();
        EXPECT_EQ(parts.run().swept, 1U);
    }
}

} // namespace
} // namespace handlepool::test
