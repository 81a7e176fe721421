// SPDX-License-Identifier: MIT

// Records of ends that are written while others sweep, where an undone end is still recorded.

#include <handlepool/pool.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <support/steps/tiny_policy.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace handlepool::test {
namespace {

/// Each of them lives again after a restore, where the end that was taken back is still recorded.
TEST(stopped_eraser_undone, of_what_has_ended_before_a_restore_is_recorded_exactly) {
    using pool_type = pool<int, with_policy<support::tiny_policy<1, support::step_policy>>>;
    using handle_type = pool_type::handle_type;
    for (std::size_t steps = 0;; ++steps) {
        SCOPED_TRACE(steps);
        pool_type pool({.name = "late",
                        .capacity = 3,
                        .reuse_delay = 0,
                        .slot_limit = 3,
                        .removal_queue_size = 1,
                        .max_threads = 64,
                        .record_lives = 1});
        change_log<pool_type> log(pool);
        capture_ring<pool_type> ring(log, {.frames = 2});
        std::array<handle_type, 3> first;
        for (handle_type& each : first) {
            each = pool.emplace(1);
        }
        ring.capture(1);
        pool.clear();
        pool.compact();
        ring.restore(1);
        support::stepper victim(steps, [&] {
            const scoped_site here("victim");
            pool.erase(first[0]);
        });
        const bool stopped = victim.stopped();
        pool.erase(first[1]);
        pool.erase(first[2]); // its queue of one is full: a sweep
        pool.compact();
        std::vector<handle_type> next;
        while (const handle_type made = pool.try_emplace(2)) {
            next.push_back(made);
        }
        const scoped_site there("next eraser");
        for (const handle_type each : next) {
            pool.erase(each);
        }
        victim.finish();
        for (const handle_type each : next) {
            const recorded_life life = pool.life_of(each);
            ASSERT_TRUE(life.end && !life.end->is_undone);
            EXPECT_EQ(life.end->site.name(), "next eraser");
        }
        for (int i = 0; i != 3; ++i) {
            pool.compact();
        }
        EXPECT_EQ(pool.stats().waiting_removals, 0U);
        if (!stopped || testing::Test::HasFailure()) {
            return;
        }
    }
}

} // namespace
} // namespace handlepool::test
