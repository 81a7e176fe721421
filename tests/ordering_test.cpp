// Witnesses of ORDERING.md: a numbered access that it lists beside one of these, made weaker, turns that red,
// on any machine. What is handed over is a relaxed word, so that nothing but the accesses under test orders
// it.

#include <handlepool/access_guard.hpp>
#include <handlepool/detail/access_gate.hpp>
#include <handlepool/detail/chunk_pool.hpp>
#include <handlepool/detail/lane.hpp>
#include <handlepool/detail/nursery.hpp>
#include <handlepool/detail/removal_queue.hpp>
#include <handlepool/detail/slot_table.hpp>
#include <handlepool/fifo_freelist.hpp>
#include <handlepool/handle.hpp>

#include <gtest/gtest.h>
#include <support/drain_newborns.hpp>
#include <support/freelist_tools.hpp>
#include <support/objects_at.hpp>
#include <support/tiny_policy.hpp>
#include <support/weak_memory.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace handlepool::test {

using namespace detail;
namespace {

constexpr auto relaxed = std::memory_order::relaxed;
using word = weak_atomic<std::uint32_t>;
using layout = default_layout;

void await(const std::function<bool()>& condition) {
    while (!condition()) {
        weak_run::yield();
    }
}

// ---- slot_table: (1), (2), (3), (4)
// -------------------------------------------------------------------------------

struct slot_scene {
    static constexpr auto tag = layout::make_tag(3, 1);
    static constexpr auto handle = layout::value_of(5, tag);

    slot_table<layout, weak_policy> slots{"slots", 10, 0};
    word object;

    void make() {
        object.store(7, relaxed);
        slots.publish(5, tag, 0);
    }
};

/// One thread makes an object, another waits for `there(scene)` and must see it complete.
void expect_complete_object(const std::function<bool(slot_scene&)>& there) {
    in_weak_runs(500, [&](weak_run& run) {
        slot_scene scene;
        std::uint32_t seen = 0;
        run.threads({[&] { scene.make(); },
                     [&] {
                         await([&] { return there(scene); });
                         seen = scene.object.load(relaxed);
                     }});
        ASSERT_EQ(seen, 7U);
    });
}

TEST(ordering_slot_table_test, who_finds_an_object_sees_it_complete) {
    expect_complete_object(
        [](slot_scene& at) { return at.slots.find(at.handle, test::objects_at{&at.object}) != nullptr; });
}

TEST(ordering_slot_table_test, who_knows_that_an_object_lives_sees_it_complete) {
    expect_complete_object([](slot_scene& at) { return at.slots.is_alive(at.handle); });
}

TEST(ordering_slot_table_test, who_kills_an_object_sees_it_complete) {
    expect_complete_object([](slot_scene& at) { return at.slots.kill(at.handle); });
}

TEST(ordering_slot_table_test, who_reads_a_tag_sees_the_object_complete) {
    expect_complete_object([](slot_scene& at) { return at.slots.tag(5) == at.tag; });
}

// A sweep learns of an object from the tag that its eraser left, not from its maker's.
TEST(ordering_slot_table_test, who_reads_the_tag_of_a_dead_object_sees_it_complete) {
    in_weak_runs(500, [](weak_run& run) {
        slot_scene scene;
        std::uint32_t seen = 0;
        run.threads({[&] { scene.make(); }, [&] { await([&] { return scene.slots.kill(scene.handle); }); },
                     [&] {
                         await([&] { return scene.slots.tag(5) == scene.tag + 1; });
                         seen = scene.object.load(relaxed);
                     }});
        ASSERT_EQ(seen, 7U);
    });
}

// ---- nursery: (5), (6)
// --------------------------------------------------------------------------------------------

TEST(ordering_nursery_test, what_a_throwing_constructor_wrote_happens_before_the_next_use_of_its_memory) {
    in_weak_runs(1000, [](weak_run& run) {
        slot_table<layout, weak_policy> slots("slots", 10, 0);
        nursery<layout, weak_policy, fifo_freelist> newborns("nursery", 2, 1);
        std::vector<word> memory(newborns.positions());
        newborn_chain<weak_policy> lane;
        std::uint32_t seen = 0;
        run.threads({[&] {
                         std::uint32_t outer = 0;
                         std::uint32_t inner = 0;
                         newborns.take(lane, outer);
                         newborns.take(lane, inner); // by the constructor at `outer`, which then throws
                         memory[outer].store(1, relaxed);
                         newborns.give_back(lane, outer);
                     },
                     [&] {
                         for (bool recycled = false; !recycled; weak_run::yield()) {
                             test::drain_newborns(newborns, lane, slots, [](std::uint32_t) {});
                             newborns.recycle([&](std::uint32_t) { recycled = true; });
                         }
                         seen = memory[0].load(relaxed);
                     }});
        ASSERT_EQ(seen, 1U);
    });
}

// ---- removal_queue: (7), (8)
// --------------------------------------------------------------------------------------

TEST(ordering_removal_queue_test, what_a_producer_did_happens_before_its_record_is_drained) {
    in_weak_runs(500, [](weak_run& run) {
        constexpr std::uint32_t count = 3;
        removal_queue<std::uint64_t, weak_policy, fifo_freelist> queue(
            "queue", 4, 2, std::numeric_limits<std::size_t>::max());
        removal_chain<weak_policy> lane;
        std::vector<word> payload(count);
        std::size_t wrong = 0;
        run.threads({[&] {
                         for (std::uint32_t record = 0; record != count; ++record) {
                             payload[record].store(record + 1, relaxed);
                             queue.push(lane, record);
                         }
                     },
                     [&] {
                         for (std::uint32_t drained = 0; drained != count; weak_run::yield()) {
                             queue.drain(lane, [&](std::uint64_t record) {
                                 wrong +=
                                     record == drained && payload[record].load(relaxed) == ++drained ? 0 : 1;
                             });
                         }
                     }});
        ASSERT_EQ(wrong, 0U);
    });
}

// ---- access_gate: (9), (22), (23), (24), (25)
// ----------------------------------------------------------------------

/// Lets a test say which thread it is.
struct chosen_weak_thread : weak_policy {
    inline static thread_local std::uint32_t chosen = 0;
    static std::uint32_t thread_index(std::uint64_t) noexcept { return chosen; }
};

TEST(ordering_access_gate_test, a_guard_and_a_compaction_exclude_each_other_also_in_a_new_lane) {
    for (const bool known : {false, true}) {
        in_weak_runs(2000, [known](weak_run& run) {
            lane_table<chosen_weak_thread> lanes("lanes", 4);
            access_gate<chosen_weak_thread> gate(lanes, "pool 'ships'");
            if (known) {
                lanes.mine();
            }
            bool inside = false;
            bool compacting = false;
            std::size_t together = 0;
            run.threads({[&] {
                             chosen_weak_thread::chosen = 0;
                             const access_guard<chosen_weak_thread> guard(gate, *lanes.mine());
                             inside = true;
                             together += compacting ? 1 : 0;
                             weak_run::yield();
                             inside = false;
                         },
                         [&] {
                             chosen_weak_thread::chosen = 1;
                             if (gate.try_close()) {
                                 compacting = true;
                                 together += inside ? 1 : 0;
                                 weak_run::yield();
                                 compacting = false;
                                 gate.open();
                             }
                         }});
            ASSERT_EQ(together, 0U);
        });
    }
}

// What passes through the gate with guards and compactions; the word itself orders nothing.
TEST(ordering_access_gate_test, each_guard_and_each_compaction_sees_what_the_others_before_it_did) {
    in_weak_runs(2000, [](weak_run& run) {
        lane_table<chosen_weak_thread> lanes("lanes", 4);
        access_gate<chosen_weak_thread> gate(lanes, "pool 'ships'");
        word data;
        std::uint32_t expected = 0;
        std::size_t wrong = 0;
        const auto change = [&] {
            wrong += data.load(relaxed) == expected ? 0 : 1;
            ++expected;
            data.store(expected, relaxed);
        };
        const auto guard = [&] {
            chosen_weak_thread::chosen = 0;
            for (int i = 0; i != 2; ++i) {
                const access_guard<chosen_weak_thread> held(gate, *lanes.mine());
                change();
            }
        };
        const auto compaction = [&](std::uint32_t thread) {
            chosen_weak_thread::chosen = thread;
            for (int done = 0; done != 2; weak_run::yield()) {
                if (gate.try_close()) {
                    change();
                    gate.open();
                    ++done;
                }
            }
        };
        run.threads({guard, [&] { compaction(1); }, [&] { compaction(2); }});
        ASSERT_EQ(wrong, 0U);
        ASSERT_EQ(expected, 6U);
    });
}

// ---- fifo_freelist: (10) to (16)
// ----------------------------------------------------------------------------

using weak_list = fifo_freelist<support::tiny_policy<1, weak_policy>>;

// In use are never more than four, one less than the limit: fresh and freed indices take turns.
TEST(ordering_fifo_freelist_test, a_claim_is_not_refused_while_fewer_than_the_limit_are_in_use) {
    for (const std::size_t delay : {0U, 1U, 2U}) {
        in_weak_runs(1000, [delay](weak_run& run) {
            weak_list list("list", {.index_limit = 100, .waiting_limit = 100, .reuse_delay = delay});
            indices others = claim(list, 4);
            indices victims;
            run.threads({[&] { victims = claim(list, 1, 5); },
                         [&] {
                             for (int i = 0; i != 4; ++i) {
                                 free_all(list, {others[0]});
                                 others.erase(others.begin());
                                 const indices next = claim(list, 1, 5);
                                 others.insert(others.end(), next.begin(), next.end());
                             }
                         }});
            ASSERT_EQ(victims.size(), 1U);
            ASSERT_EQ(others.size(), 4U);
            others.push_back(victims[0]);
            std::ranges::sort(others);
            ASSERT_EQ(std::ranges::adjacent_find(others), others.end()) << "an index went out twice";
        });
    }
}

TEST(ordering_fifo_freelist_test, each_index_goes_out_once_and_is_read_before_its_place_is_used_again) {
    in_weak_runs(2000, [](weak_run& run) {
        weak_list list("list", {.index_limit = 6, .waiting_limit = 6, .reuse_delay = 0});
        const indices all = claim(list, 6);
        free_all(list, {all[5], all[4], all[3]});
        std::vector<indices> taken(2);
        const auto consume = [&](indices& mine) {
            for (int i = 0; i != 4; ++i) {
                weak_run::keep_reads([&] {
                    std::uint32_t index = 0;
                    const bool won =
                        list.claim(&index, 1, 6, 1) != 0; // a try that fails may read what it likes
                    mine.insert(mine.end(), won ? 1 : 0, index);
                    return won;
                });
            }
        };
        run.threads({[&] { consume(taken[0]); }, [&] { consume(taken[1]); },
                     [&] {
                         for (std::size_t i = 0; i != 3; ++i) {
                             free_all(list, {all[i]});
                         }
                     }});
        indices held = claim(list, 6);
        held.insert(held.end(), taken[0].begin(), taken[0].end());
        held.insert(held.end(), taken[1].begin(), taken[1].end());
        std::ranges::sort(held);
        ASSERT_EQ(held, sequence(0, 6)) << "an index went out twice, or was lost";
        ASSERT_EQ(run.disturbed_reads(), 0U);
    });
}

// All indices that ever were in service are six: no view may say that more wait, or are in use.
TEST(ordering_fifo_freelist_test, views_are_never_larger_than_what_is_in_service) {
    in_weak_runs(1000, [](weak_run& run) {
        weak_list list("list", {.index_limit = 100, .waiting_limit = 100, .reuse_delay = 0});
        free_all(list, claim(list, 6));
        std::size_t waiting = 0;
        std::size_t in_use = 0;
        run.threads({[&] { waiting = list.waiting(); }, [&] { in_use = list.in_use(); },
                     [&] {
                         for (int round = 0; round != 2; ++round) {
                             free_all(list, claim(list, 6));
                         }
                     }});
        ASSERT_LE(waiting, 6U);
        ASSERT_LE(in_use, 6U);
    });
}

} // namespace
} // namespace handlepool::test
