// SPDX-License-Identifier: MIT

// A process that goes on with a world that more threads had made than it has, and those who have followed so
// far.

#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/replica.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <latch>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using crowd = pool<std::uint64_t>;

pool_options crowd_options() {
    return {.name = "crowd", .capacity = 5'000, .pool_id = 97};
}

/// A snapshot of a pool in which several threads have claimed slots for later.
std::vector<std::byte> made_by_threads(int count) {
    crowd made(crowd_options());
    snapshot world;
    world.add("crowd", made);
    std::latch all(count);
    std::vector<std::thread> threads;
    for (int i = 0; i != count; ++i) {
        threads.emplace_back([&] {
            made.emplace(1U);
            all.arrive_and_wait(); // so that each is a thread of its own
        });
    }
    for (std::thread& each : threads) {
        each.join();
    }
    std::vector<std::byte> bytes;
    world.save(bytes);
    return bytes;
}

/// What another process has told, which has gone on from there with one thread.
struct gone_on {
    std::vector<std::vector<std::byte>> deltas;
    std::vector<std::vector<std::byte>> snapshots;
    std::vector<handle<std::uint64_t>> handles;
};
gone_on go_on_from(const std::vector<std::byte>& bytes, std::uint64_t frames, std::uint64_t births) {
    gone_on told;
    crowd here(crowd_options());
    change_log<crowd> log(here);
    snapshot world;
    world.add("crowd", here);
    delta_recorder changes;
    changes.add("crowd", log);
    world.load(bytes);
    changes.begin(0);
    for (std::uint64_t frame = 1; frame <= frames; ++frame) {
        for (std::uint64_t i = 0; i != births; ++i) {
            told.handles.push_back(here.emplace(frame));
        }
        here.erase(told.handles[static_cast<std::size_t>(frame)]);
        changes.append(frame, told.deltas.emplace_back());
    }
    for (std::uint64_t i = 0; i != births; ++i) { // those that come next
        told.handles.push_back(here.emplace(0U));
    }
    return told;
}

/// Follows the one that has gone on, in the same thread.
void follow(const std::vector<std::byte>& bytes, std::uint64_t births) {
    const gone_on told = go_on_from(bytes, 4, births);
    replay past(bytes, 0);
    crowd copy(crowd_options());
    replica follower;
    follower.add("crowd", copy);
    follower.load(bytes, 0);
    for (const std::vector<std::byte>& each : told.deltas) {
        past.apply(each);
        follower.apply(each);
    }
    std::vector<std::byte> from_past;
    past.save(from_past);
    std::vector<handle<std::uint64_t>> found;
    for (const auto each : copy.entries()) {
        found.push_back(each.handle);
    }
    follower.take_over();
    std::vector<handle<std::uint64_t>> next;
    for (std::uint64_t i = 0; i != births; ++i) {
        next.push_back(copy.emplace(0U));
    }
    EXPECT_EQ(next,
              std::vector(told.handles.end() - static_cast<std::ptrdiff_t>(births), told.handles.end()));
    snapshot world;
    world.add("crowd", copy);
    world.load(from_past);
    std::vector<handle<std::uint64_t>> replayed;
    for (const auto each : copy.entries()) {
        replayed.push_back(each.handle);
    }
    EXPECT_EQ(replayed, found);
}

class recording_after_load : public testing::TestWithParam<std::uint64_t> {};

TEST_P(recording_after_load, is_followed_by_who_has_the_bytes_that_were_loaded) {
    const std::vector<std::byte> bytes = made_by_threads(4);
    // One that has the number of one of those, and keeps it, whatever other threads of the process end.
    std::thread([&] { follow(bytes, GetParam()); }).join();
}

// Few, of the thread's own; and more, of those that the absent ones had claimed.
INSTANTIATE_TEST_SUITE_P(of_births, recording_after_load, testing::Values(2U, 50U, 200U));

} // namespace
} // namespace handlepool::test
