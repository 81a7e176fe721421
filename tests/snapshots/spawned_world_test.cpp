// SPDX-License-Identifier: MIT

// Frames by spawners that are taken back and played again, that go on from a snapshot, and that a replica
// follows.

#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/replica.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/snapshots/world_hash.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>
#include <tests/spawners/spawned_frames.hpp>
#include <tests/support/repetitions.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using dense_numbers = plain_case<copied_number>;
using stable_numbers = plain_case<copied_number, with_placement<stable_placement, default_traits>>;
using tiny_numbers = plain_case<copied_number, with_policy<tiny_claims, default_traits>>;
struct ordered_numbers : dense_numbers {
    static pool_options options() { return {.name = "ordered", .keep_order = true}; }
};

template <class Case>
class spawned_world_taken_back : public testing::Test {};
using captured_cases =
    testing::Types<dense_numbers, ordered_numbers, tiny_numbers, stable_numbers, plain_case<moved_number>,
                   plain_case<moved_number, with_placement<stable_placement, default_traits>>, cleared_case,
                   row_case, raw_case>;
TYPED_TEST_SUITE(spawned_world_taken_back, captured_cases);

TYPED_TEST(spawned_world_taken_back, comes_to_the_same_again) {
    using frames_type = spawned_frames<TypeParam>;
    for (int seed = 0; seed != support::repetitions(6); ++seed) {
        frames_type run(static_cast<std::uint64_t>(seed), {.threads = 4, .seed = 3});
        change_log log(run.pool());
        capture_ring ring(log, {.frames = 16});
        std::mt19937_64 random(static_cast<std::uint64_t>(seed));
        std::vector<transcript> told(1);
        std::vector<typename frames_type::memory> known{run.remembered()};
        std::uint64_t frame = 0; // of the last capture
        std::uint64_t oldest = 0;
        ring.capture(frame);
        for (int step = 0; step != 80; ++step) {
            if (random() % 4 == 0) {
                const std::uint64_t then = frame - random() % std::min<std::uint64_t>(frame - oldest + 1, 6);
                ring.restore(then);
                run.remember(known[then]);
                frame = then;
            }
            ++frame;
            const transcript now = run.play(frame);
            if (frame == told.size()) {
                told.push_back(now);
                known.push_back(run.remembered());
            } else {
                ASSERT_EQ(now, told[frame]) << "seed " << seed << ", frame " << frame;
            }
            ring.capture(frame);
            if (frame > oldest + 10) {
                oldest = frame - 10;
                ring.confirm(oldest);
            }
        }
    }
}

template <class Case>
class spawned_world : public testing::Test {};
using saved_cases =
    testing::Types<dense_numbers, ordered_numbers, tiny_numbers, stable_numbers, cleared_case, raw_case>;
TYPED_TEST_SUITE(spawned_world, saved_cases);

constexpr unsigned saved_id = 97;

TYPED_TEST(spawned_world, goes_on_from_a_snapshot_as_it_would_have) {
    using frames_type = spawned_frames<TypeParam>;
    for (int seed = 0; seed != support::repetitions(6); ++seed) {
        std::vector<std::byte> bytes;
        typename frames_type::memory known;
        std::vector<transcript> expected;
        {
            frames_type run(static_cast<std::uint64_t>(seed), {.threads = 2, .seed = 5}, saved_id);
            for (std::uint64_t frame = 0; frame != 30; ++frame) {
                run.play(frame);
            }
            snapshot game;
            game.add("pool", run.pool());
            game.save(bytes);
            known = run.remembered();
            run.do_only_what_follows_from_a_snapshot();
            for (std::uint64_t frame = 30; frame != 60; ++frame) {
                expected.push_back(run.play(frame));
            }
        }
        frames_type run(static_cast<std::uint64_t>(seed), {.threads = 4, .seed = 6}, saved_id);
        snapshot game;
        game.add("pool", run.pool());
        game.load(bytes);
        run.remember(known);
        run.do_only_what_follows_from_a_snapshot();
        for (std::uint64_t frame = 30; frame != 60; ++frame) {
            ASSERT_EQ(run.play(frame), expected[frame - 30]) << "seed " << seed << ", frame " << frame;
        }
    }
}

// Whose claims are saved, too.
TYPED_TEST(spawned_world, is_saved_in_as_many_bytes_whatever_threads_have_looked) {
    using frames_type = spawned_frames<TypeParam>;
    const auto sizes_after = [](int threads) {
        frames_type run(3, {.threads = 1, .seed = 5}, saved_id);
        run.play(0);
        snapshot game;
        game.add("pool", run.pool());
        std::vector<std::byte> before;
        game.save(before);
        std::vector<std::jthread> lookers;
        for (int i = 0; i != threads; ++i) {
            lookers.emplace_back([&] { static_cast<void>(run.pool().access()); });
        }
        lookers.clear();
        std::vector<std::byte> after;
        game.save(after);
        return std::pair(before.size(), after.size());
    };
    const auto [before, after] = sizes_after(6);
    EXPECT_EQ(before, after);
}

TYPED_TEST(spawned_world, is_followed_by_a_replica) {
    using frames_type = spawned_frames<TypeParam>;
    for (int seed = 0; seed != support::repetitions(6); ++seed) {
        std::vector<std::byte> bytes;
        std::vector<std::vector<std::byte>> deltas;
        std::vector<std::uint64_t> hashes;
        typename frames_type::memory known;
        std::vector<transcript> expected;
        {
            frames_type run(static_cast<std::uint64_t>(seed), {.threads = 2, .seed = 7}, saved_id);
            change_log log(run.pool());
            for (std::uint64_t frame = 0; frame != 10; ++frame) {
                run.play(frame);
            }
            snapshot game;
            game.add("pool", run.pool());
            delta_recorder recorder;
            recorder.add("pool", log);
            game.save(bytes);
            recorder.begin(0);
            world_hash hash;
            hash.add("pool", log);
            for (std::uint64_t frame = 10; frame != 40; ++frame) {
                run.play(frame);
                recorder.append(frame - 9, deltas.emplace_back());
                hashes.push_back(hash.update());
            }
            known = run.remembered();
            run.do_only_what_follows_from_a_snapshot();
            for (std::uint64_t frame = 40; frame != 60; ++frame) {
                expected.push_back(run.play(frame));
            }
        }
        frames_type run(static_cast<std::uint64_t>(seed), {.threads = 4, .seed = 8}, saved_id);
        change_log log(run.pool());
        world_hash hash;
        hash.add("pool", log);
        replica follower;
        follower.add("pool", run.pool());
        follower.load(bytes, 0);
        for (std::size_t i = 0; i != deltas.size(); ++i) {
            follower.apply(deltas[i]);
            ASSERT_EQ(hash.update(), hashes[i]) << "seed " << seed << ", frame " << i;
        }
        follower.take_over();
        run.remember(known);
        run.do_only_what_follows_from_a_snapshot();
        for (std::uint64_t frame = 40; frame != 60; ++frame) {
            ASSERT_EQ(run.play(frame), expected[frame - 40]) << "seed " << seed << ", frame " << frame;
        }
    }
}

} // namespace
} // namespace handlepool::test
