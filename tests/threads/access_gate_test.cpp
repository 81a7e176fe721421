// SPDX-License-Identifier: MIT
#include <handlepool/access_guard.hpp>
#include <handlepool/detail/parts/shard.hpp>
#include <handlepool/detail/threads/access_gate.hpp>
#include <handlepool/error.hpp>
#include <handlepool/policy.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/stop_at_every_access.hpp>
#include <tests/support/threads.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace handlepool::test {
namespace {

using namespace detail;

/// Tells when a thread waits.
template <class Base>
struct noticed_wait : Base {
    inline static std::atomic<int> waits{0};
    static void wait(std::uint64_t waited = 0) noexcept {
        ++waits;
        Base::wait(waited);
    }
    static void await_a_waiting_thread() {
        for (const int before = waits; waits == before;) {
            std::this_thread::yield();
        }
    }
};

template <class Base>
struct gate_rig {
    using policy = noticed_wait<Base>;

    shard<policy>& mine() { return *shards.mine(); }
    std::uint32_t pins() { return mine().guards(); }

    shard_table<policy> shards{"shards", 1000};
    access_gate<shard<policy>> gate{shards, "pool 'ships'"};
};

class access_gate_test : public testing::Test, protected gate_rig<default_policy> {};

TEST_F(access_gate_test, a_guard_pins_its_shard_while_it_lives) {
    EXPECT_FALSE(gate.pinned());
    {
        const auto guard = gate.access();
        EXPECT_TRUE(gate.pinned());
    }
    EXPECT_FALSE(gate.pinned());
}

// One who polls instead never comes in beside a thread that takes one guard after the other.
TEST_F(access_gate_test, close_within_keeps_new_guards_off_while_it_waits) {
    auto guard = gate.access();
    std::atomic<bool> closed = false;
    std::jthread compaction(
        [&] { closed = gate.close_within(std::uint64_t{3600} * 1'000'000'000, gate_use::compaction); });
    while (!gate.running()) {
        std::this_thread::yield();
    }
    std::jthread([&] { EXPECT_FALSE(gate.try_access()); }).join();
    EXPECT_FALSE(closed);
    guard.reset();
    compaction.join();
    EXPECT_TRUE(closed);
    EXPECT_FALSE(gate.try_access());
    gate.open();
    EXPECT_TRUE(gate.try_access());
}

TEST_F(access_gate_test, close_within_gives_up_and_leaves_the_gate_as_it_was) {
    const auto guard = gate.access();
    std::jthread([&] { EXPECT_FALSE(gate.close_within(1'000'000, gate_use::compaction)); }).join();
    EXPECT_FALSE(gate.running());
    std::jthread([&] { EXPECT_TRUE(gate.try_access()); }).join();
}

TEST_F(access_gate_test, close_within_leaves_a_compaction_alone_that_runs) {
    ASSERT_TRUE(gate.try_close());
    std::jthread([&] { EXPECT_FALSE(gate.close_within(1'000'000, gate_use::compaction)); }).join();
    EXPECT_TRUE(gate.running());
    EXPECT_FALSE(gate.try_access());
    gate.open();
}

TEST_F(access_gate_test, try_close_succeeds_only_while_no_guard_is_held) {
    {
        const auto guard = gate.access();
        EXPECT_FALSE(gate.try_close());
        EXPECT_FALSE(gate.try_close()); // the failure left the gate open
    }
    EXPECT_TRUE(gate.try_close());
    EXPECT_FALSE(gate.try_close());
    gate.open();
    EXPECT_TRUE(gate.try_close());
    gate.open();
}

TEST_F(access_gate_test, guards_nest) {
    {
        const auto outer = gate.access();
        {
            const auto inner = gate.access();
            EXPECT_EQ(pins(), 2U);
            EXPECT_FALSE(gate.try_close());
        }
        EXPECT_EQ(pins(), 1U);
        EXPECT_FALSE(gate.try_close());
    }
    EXPECT_EQ(pins(), 0U);
    EXPECT_TRUE(gate.try_close());
    gate.open();
}

TEST_F(access_gate_test, close_waits_for_a_guard) {
    std::atomic<bool> closed = false;
    auto guard = gate.access();
    std::jthread compaction([&] {
        gate.close_or_throw();
        closed = true;
        gate.open();
    });
    policy::await_a_waiting_thread();
    EXPECT_FALSE(closed);
    guard.reset();
    compaction.join();
    EXPECT_TRUE(closed);
}

// It would wait for a compaction that waits for it.
TEST_F(access_gate_test, a_nested_guard_does_not_wait_for_a_compaction_that_waits) {
    auto outer = gate.access();
    std::jthread compaction([&] {
        gate.close_or_throw();
        gate.open();
    });
    policy::await_a_waiting_thread();
    {
        const auto inner = gate.access();
    }
    EXPECT_EQ(pins(), 1U);
    outer.reset();
}

TEST_F(access_gate_test, a_guard_waits_for_a_running_compaction) {
    std::atomic<bool> entered = false;
    gate.close_or_throw();
    std::jthread user([&] {
        const auto guard = gate.access();
        entered = true;
    });
    policy::await_a_waiting_thread();
    EXPECT_FALSE(entered);
    EXPECT_FALSE(gate.pinned()); // who waits pins nothing
    gate.open();
    user.join();
    EXPECT_TRUE(entered);
}

TEST_F(access_gate_test, close_by_a_thread_with_a_guard_is_a_conflict) {
    const auto guard = gate.access();
    EXPECT_THAT(
        message_of<compaction_conflict>([&] { gate.close_or_throw(); }),
        testing::AllOf(testing::HasSubstr("pool 'ships'"), testing::HasSubstr("has made an access guard")));
    EXPECT_FALSE(gate.try_close());
    EXPECT_EQ(pins(), 1U);
}

TEST_F(access_gate_test, close_while_closed_is_a_conflict_and_leaves_it_closed) {
    gate.close_or_throw();
    EXPECT_THAT(
        message_of<compaction_conflict>([&] { gate.close_or_throw(); }),
        testing::AllOf(testing::HasSubstr("pool 'ships'"), testing::HasSubstr("while one is running")));
    EXPECT_FALSE(gate.try_close());
    gate.open();
    EXPECT_TRUE(gate.try_close());
    gate.open();
}

TEST_F(access_gate_test, a_guard_in_the_compacting_thread_is_a_conflict_and_pins_nothing) {
    gate.close_or_throw();
    EXPECT_THAT(message_of<compaction_conflict>([&] { const auto guard = gate.access(); }),
                testing::HasSubstr("in a thread that is compacting"));
    EXPECT_EQ(pins(), 0U);
    gate.open();
    {
        const auto guard = gate.access();
    }
    EXPECT_TRUE(gate.try_close());
    EXPECT_THROW(static_cast<void>(gate.access()), compaction_conflict);
    gate.open();
}

TEST_F(access_gate_test, a_guard_may_be_moved_and_ended_early) {
    auto guard = gate.access();
    access_guard<policy> moved(std::move(guard));
    EXPECT_FALSE(guard);
    EXPECT_TRUE(moved);
    EXPECT_EQ(pins(), 1U);
    auto other = gate.access();
    EXPECT_EQ(pins(), 2U);
    other = std::move(moved);
    EXPECT_TRUE(other);
    EXPECT_EQ(pins(), 1U);
    other.reset();
    other.reset();
    EXPECT_FALSE(other);
    EXPECT_EQ(pins(), 0U);
}

TEST_F(access_gate_test, an_attempt_gives_an_empty_guard_where_it_would_wait_or_throw) {
    {
        const auto guard = gate.try_access();
        EXPECT_TRUE(guard);
        EXPECT_TRUE(gate.pinned());
    }
    gate.close_or_throw();
    EXPECT_FALSE(gate.try_access());
    EXPECT_FALSE(gate.pinned());
    gate.open();
}

// Counted by a load and a store, the pin would be lost in one of the two threads.
TEST_F(access_gate_test, guards_may_end_in_another_thread_while_their_maker_makes_more) {
    constexpr int rounds = 20'000;
    std::atomic<access_guard<policy>*> handed{nullptr};
    std::jthread ender([&] {
        for (int i = 0; i != rounds; ++i) {
            access_guard<policy>* taken = nullptr;
            while ((taken = handed.exchange(nullptr)) == nullptr) {
            }
            delete taken;
        }
    });
    for (int i = 0; i != rounds; ++i) {
        auto made = std::make_unique<access_guard<policy>>(gate.access());
        access_guard<policy>* nobody_has = nullptr;
        while (!handed.compare_exchange_strong(nobody_has, made.get())) {
            nobody_has = nullptr;
            const auto another = gate.access();
        }
        static_cast<void>(made.release());
    }
    ender.join();
    EXPECT_EQ(pins(), 0U);
    EXPECT_TRUE(gate.try_close());
    gate.open();
}

// One holds a guard of the first gate and wants one of the second, the other the other way round; and both
// gates are wanted by compactions, each of which waits for one of the guards.
TEST_F(access_gate_test, guards_of_two_gates_in_any_order_beside_waiting_compactions_hang_nobody) {
    gate_rig<default_policy> other;
    for (int round = 0; round != 5; ++round) {
        std::latch held(2);
        std::latch wanted(4);
        const auto hold = [&](auto& first, auto& second) {
            const auto outer = first.gate.access();
            held.arrive_and_wait();
            wanted.arrive_and_wait();
            std::this_thread::sleep_for(std::chrono::milliseconds(1)); // most likely they wait by now
            const auto inner = second.gate.access();
        };
        const auto compact = [&](auto& one) {
            held.wait();
            wanted.arrive_and_wait();
            one.gate.close_or_throw();
            one.gate.open();
        };
        gate_rig<default_policy>& mine = *this;
        std::jthread one([&] { hold(mine, other); });
        std::jthread two([&] { hold(other, mine); });
        std::jthread three([&] { compact(mine); });
        std::jthread four([&] { compact(other); });
    }
}

TEST_F(access_gate_test, while_a_compaction_waits_inside_another_gate_guards_of_that_gate_pass) {
    gate_rig<default_policy> service;
    auto held = gate.access();
    std::jthread compaction([&] {
        service.gate.close_or_throw();
        EXPECT_EQ(gate.close(&service.gate), gate_refusal::none);
        EXPECT_FALSE(gate.pinned());
        EXPECT_FALSE(service.gate.pinned());
        gate.open();
        service.gate.open();
    });
    policy::await_a_waiting_thread();
    {
        const auto passes = service.gate.access(); // holds a guard of the inner gate
        held.reset();
    }
    compaction.join();
}

TEST_F(access_gate_test, compactions_and_guards_exclude_each_other) {
    constexpr int rounds = 3000;
    // Plain: written by compactions, read by guards. The gate must carry it, so what counts is relaxed.
    std::uint64_t data = 0;
    std::atomic<int> reading{0};
    std::atomic<int> together{0};
    std::atomic<int> changed{0};
    in_threads(4, [&](std::size_t thread) {
        for (int round = 0; round != rounds; ++round) {
            if (thread < 2) {
                const auto guard = gate.access();
                reading.fetch_add(1, std::memory_order::relaxed);
                const std::uint64_t before = data;
                const auto nested = gate.access();
                changed.fetch_add(before != data ? 1 : 0, std::memory_order::relaxed);
                reading.fetch_sub(1, std::memory_order::relaxed);
            } else {
                if (gate.try_close()) {
                    together += reading.load(std::memory_order::relaxed);
                    ++data;
                    gate.open();
                }
                std::this_thread::yield();
            }
        }
    });
    EXPECT_EQ(together, 0);
    EXPECT_EQ(changed, 0);
}

// Counted by a load and a store, one of the two would be lost.
TEST(access_gate_step_test, a_guard_that_ends_elsewhere_while_its_maker_makes_another_is_counted) {
    struct rig_with_a_guard : gate_rig<support::step_policy> {
        rig_with_a_guard() : first(gate.access()) {}
        access_guard<policy> first;
        access_guard<policy> second;
    };
    test::stop_at_every_access<rig_with_a_guard>([](rig_with_a_guard& at) { at.first.reset(); },
                                                 [](rig_with_a_guard& at) { at.second = at.gate.access(); },
                                                 [](rig_with_a_guard& at) {
                                                     EXPECT_EQ(at.pins(), 1U);
                                                     at.second.reset();
                                                     EXPECT_TRUE(at.gate.try_close());
                                                 });
}

// A new thread's shard, too, is seen by a compaction that starts before or after any of its steps.
TEST(access_gate_step_test, a_guard_stopped_at_any_step_and_a_compaction_exclude_each_other) {
    std::size_t closed = 0;
    std::size_t refused = 0;
    bool stopped = true;
    for (std::size_t step = 0; stopped; ++step) {
        gate_rig<support::step_policy> rig;
        std::atomic<bool> inside = false;
        support::stepper victim(step, [&] {
            const auto guard = rig.gate.access();
            inside = true;
            rig.pins(); // somewhere to stop
            inside = false;
        });
        stopped = victim.stopped();
        if (rig.gate.try_close()) {
            ++closed;
            // The victim goes on while the compaction runs, until it waits for it or comes inside.
            const int waits = decltype(rig)::policy::waits;
            while (victim.stopped() && !inside && decltype(rig)::policy::waits == waits &&
                   victim.steps() < step + 50) {
                victim.advance();
            }
            EXPECT_FALSE(inside) << "stopped before step " << step;
            rig.gate.open();
        } else {
            ++refused;
        }
        victim.finish();
        EXPECT_FALSE(rig.gate.pinned());
    }
    EXPECT_GT(closed, 2U);
    EXPECT_GT(refused, 2U);
}

TEST(access_gate_step_test, a_compaction_stopped_at_any_step_and_a_guard_exclude_each_other) {
    std::size_t inside_first = 0;
    bool stopped = true;
    for (std::size_t step = 0; stopped; ++step) {
        gate_rig<support::step_policy> rig;
        std::atomic<bool> running = false;
        rig.mine();
        support::stepper compaction(step, [&] {
            if (rig.gate.try_close()) {
                running = true;
                rig.pins(); // somewhere to stop
                running = false;
                rig.gate.open();
            }
        });
        stopped = compaction.stopped();
        // The guard would wait for ever for a compaction that is stopped with the gate closed: it gets a
        // thread of its own, which ends inside or when it begins to wait.
        const int waits = decltype(rig)::policy::waits;
        std::atomic<bool> inside = false;
        std::atomic<bool> leave = false;
        std::jthread user([&] {
            const auto guard = rig.gate.access();
            inside = true;
            while (!leave) {
                std::this_thread::yield();
            }
        });
        while (!inside && decltype(rig)::policy::waits == waits) {
            std::this_thread::yield();
        }
        if (inside) {
            ++inside_first;
            EXPECT_FALSE(running) << "stopped before step " << step;
            while (compaction.stopped()) { // with the guard held it can't get in
                compaction.advance();
                EXPECT_FALSE(running) << "stopped before step " << step;
            }
        }
        leave = true;
        compaction.finish();
    }
    EXPECT_GT(inside_first, 1U);
}

// A guard refuses to wait for a compaction of its own thread, and must not take one that has only begun for
// that.
void expect_guard_to_wait_for_the_next_compaction(bool last_is_refused) {
    bool stopped = true;
    for (std::size_t step = 0; stopped; ++step) {
        SCOPED_TRACE("stopped before step " + std::to_string(step));
        gate_rig<support::step_policy> rig;
        rig.mine();
        access_guard<decltype(rig)::policy> held;
        if (last_is_refused) {
            in_threads(1, [&](std::size_t) { held = rig.gate.access(); });
        }
        ASSERT_EQ(rig.gate.try_close(), !last_is_refused);
        if (!last_is_refused) {
            rig.gate.open();
        }
        held = {};
        support::stepper compaction(step, [&] {
            if (rig.gate.try_close()) {
                rig.gate.open();
            }
        });
        stopped = compaction.stopped();
        std::atomic<bool> done = false;
        const int waits = decltype(rig)::policy::waits;
        const std::jthread other([&] {
            while (!done && decltype(rig)::policy::waits == waits) {
                std::this_thread::yield();
            }
            compaction.finish();
        });
        EXPECT_NO_THROW(const auto guard = rig.gate.access());
        done = true;
    }
}

TEST(access_gate_step_test, a_guard_in_the_thread_that_compacted_last_waits_for_the_next_compaction) {
    expect_guard_to_wait_for_the_next_compaction(false);
}
TEST(access_gate_step_test, a_guard_in_the_thread_that_could_not_compact_waits_for_the_next_compaction) {
    expect_guard_to_wait_for_the_next_compaction(true);
}

// Of the two stores that open the gate, the one that forgets who compacted must not come behind the next
// compaction's beginning: the guard would wait for its own thread.
TEST(access_gate_step_test, a_guard_is_refused_to_who_compacts_while_another_thread_still_opens) {
    std::size_t closed = 0;
    bool stopped = true;
    for (std::size_t step = 0; stopped; ++step) {
        SCOPED_TRACE("stopped before step " + std::to_string(step));
        gate_rig<support::step_policy> rig;
        ASSERT_TRUE(rig.gate.try_close()); // its thread has a shard
        rig.gate.open();
        support::stepper opening(step, [&] {
            if (rig.gate.try_close()) {
                rig.gate.open();
            }
        });
        stopped = opening.stopped();
        if (!rig.gate.try_close()) {
            continue;
        }
        ++closed;
        opening.finish();
        std::atomic<bool> done = false;
        const int waits = decltype(rig)::policy::waits;
        const std::jthread watching([&] {
            while (!done) {
                if (decltype(rig)::policy::waits != waits) {
                    rig.gate.open(); // so that it does not wait for ever
                    return;
                }
                std::this_thread::yield();
            }
        });
        EXPECT_THROW(static_cast<void>(rig.gate.access()), compaction_conflict);
        done = true;
        rig.gate.open();
    }
    EXPECT_GT(closed, 1U);
}

/// A thread that waits for a guard stays where it is until the compacting thread waits for it, and that one
/// waits until the guard has ended.
struct one_after_the_other : default_policy {
    inline static std::atomic<bool> waits, may_go_on, done;
    inline static thread_local bool compacts = false;

    static void reset() {
        waits = may_go_on = done = false;
        compacts = true;
    }
    static void wait(std::uint64_t = 0) noexcept {
        if (compacts) {
            may_go_on = true;
            done.wait(false);
        } else {
            waits = true;
            waits.notify_all();
            while (!may_go_on) {
                std::this_thread::yield();
            }
        }
    }
};

/// A guard that a compaction has kept waiting; its thread has not noticed yet that the gate is open.
struct a_guard_that_waits : testing::Test {
    using policy = one_after_the_other;

    a_guard_that_waits() {
        policy::reset();
        gate.close_or_throw();
        other = std::thread([this] {
            {
                const auto guard = gate.access();
            }
            policy::done = true;
            policy::done.notify_all();
        });
        policy::waits.wait(false);
        gate.open();
    }
    ~a_guard_that_waits() override {
        policy::may_go_on = true;
        other.join();
    }

    shard_table<policy> shards{"shards", 1000};
    access_gate<shard<policy>> gate{shards, "pool 'ships'"};
    std::thread other;
};

TEST_F(a_guard_that_waits, goes_before_the_next_compaction) {
    gate.close_or_throw();
    EXPECT_TRUE(policy::done);
    gate.open();
}

TEST_F(a_guard_that_waits, goes_before_an_attempt_to_compact) {
    const bool closed = gate.try_close();
    EXPECT_FALSE(closed);
    if (closed) {
        gate.open();
    }
    policy::may_go_on = true;
    policy::done.wait(false);
    EXPECT_TRUE(gate.try_close());
    gate.open();
}

/// The time is what a test says; and how long a compaction has waited when it waits once more.
struct set_clock : default_policy {
    inline static std::atomic<std::uint64_t> time{1};
    inline static std::atomic<std::uint64_t> step{0};
    inline static std::atomic<std::uint64_t> longest_wait{0};

    inline static thread_local bool is_user = false; // of the gate, whose looks at the clock are counted
    inline static std::atomic<int> looks_of_user{0};

    static std::uint64_t now() noexcept {
        looks_of_user += is_user ? 1 : 0;
        return time.fetch_add(step) + 1;
    }
    static void wait(std::uint64_t waited = 0) noexcept {
        if (waited > longest_wait) {
            longest_wait = waited;
        }
        default_policy::wait();
    }
};

/// A compaction that waits for a guard of the test's.
struct a_compaction_that_waits : testing::Test, protected gate_rig<set_clock> {
    a_compaction_that_waits() {
        set_clock::step = 0;
        set_clock::longest_wait = 0;
        compaction = std::jthread([this] {
            gate.close_or_throw();
            gate.open();
        });
        policy::await_a_waiting_thread();
    }
    ~a_compaction_that_waits() override { held.reset(); }

    access_guard<policy> held = gate.access();
    std::jthread compaction;
};

TEST_F(a_compaction_that_waits, says_for_how_long_so_that_it_sleeps_in_the_end) {
    set_clock::step = 1'000'000;
    for (int i = 0; i != 100; ++i) {
        policy::await_a_waiting_thread();
    }
    EXPECT_GE(set_clock::longest_wait, 50'000'000U);
}

TEST_F(a_compaction_that_waits, goes_before_other_guards_but_not_for_ever) {
    std::atomic<bool> entered = false;
    set_clock::looks_of_user = 0;
    std::jthread user([&] {
        set_clock::is_user = true;
        const auto guard = gate.access();
        entered = true;
    });
    while (set_clock::looks_of_user < 1000 && !entered) {
        policy::await_a_waiting_thread();
    }
    EXPECT_FALSE(entered);
    while (!entered) { // more than once, should the guard not wait yet
        set_clock::time += policy::guard_patience;
        policy::await_a_waiting_thread();
    }
    user.join();
    EXPECT_TRUE(entered);
    EXPECT_TRUE(held);
}

} // namespace
} // namespace handlepool::test
