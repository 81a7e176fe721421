// SPDX-License-Identifier: MIT

// A delta that memory is missing for is not written, and not applied; the next attempt has all.

#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/replica.hpp>

#include <gtest/gtest.h>
#include <tests/snapshots/followed_world.hpp>
#include <tests/snapshots/made_delta.hpp>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

template <class Case>
void happen(told_world<Case>& world, std::uint64_t seed) {
    auto& pool = world.pool();
    for (std::uint64_t i = 0; i != 10; ++i) {
        world.ever().push_back(pool.emplace(Case::object(seed + i)));
    }
    pool.erase(world.ever()[world.ever().size() - 8]);
    pool.erase(world.ever()[world.ever().size() / 2]);
    static_cast<void>(pool.try_reserve_handle());
    ++world.log().edit(world.ever().back())->value;
    ++world.calls();
    pool.compact();
}

template <class Case>
void expect_all_or_nothing(shortage kind) {
    told_world<Case> world;
    happen(world, 1);
    const std::vector<std::byte> first = world.save();
    world.recorder().begin(0);
    replay past(first, 0);
    std::uint64_t frame = 0;
    const std::size_t appends = with_each_allocation_failing(kind, [&](memory_shortage& when) {
        happen(world, 100 * frame);
        std::vector<std::byte> delta(3);
        if (when.hits([&] { world.recorder().append(frame + 1, delta); })) {
            ASSERT_EQ(delta.size(), 3U);
            return;
        }
        ++frame;
        delta.erase(delta.begin(), delta.begin() + 3);
        past.apply(delta);
    });
    EXPECT_GT(appends, 5U);
    ASSERT_EQ(frame, 1U); // which has what was not told before

    happen(world, 5'000);
    const std::vector<std::byte> delta = world.append(2);
    std::vector<std::byte> before;
    past.save(before);
    const std::size_t applies = with_each_allocation_failing(kind, [&](memory_shortage& when) {
        if (when.hits([&] { past.apply(delta); })) {
            std::vector<std::byte> now;
            past.save(now);
            ASSERT_EQ(now, before);
            ASSERT_EQ(past.frame(), 1U);
        }
    });
    EXPECT_GT(applies, 5U);
    ASSERT_EQ(past.frame(), 2U);
    std::vector<std::byte> replayed;
    past.save(replayed);
    EXPECT_EQ(replayed, world.save());
    with_each_allocation_failing(kind, [&](memory_shortage& when) {
        std::vector<std::byte> bytes(3);
        const bool failed = when.hits([&] { past.save(bytes); });
        ASSERT_EQ(bytes, failed ? std::vector<std::byte>() : replayed);
    });
}

/// What a replica of such a world applies, when each allocation fails.
template <class Case>
void expect_to_follow_or_stay(shortage kind) {
    pool_options options = Case::options();
    options.pool_id = 94;
    std::vector<std::byte> snapshot;
    std::vector<std::byte> delta;
    std::vector<typename Case::handle_type> ever;
    std::vector<std::pair<handle_state, std::uint64_t>> states;
    {
        eventful_world<Case> origin(options);
        snapshot = origin.snapshot;
        delta = origin.delta;
        ever = origin.world.ever();
        states = origin.world.states(ever);
    }
    told_world<Case> world(64, options);
    replica follower;
    Case::add_to(follower, world.pool());
    follower.add("calls", world.calls());
    follower.load(snapshot, 7);
    const auto before = world.states(ever);
    const std::size_t allocations = with_each_allocation_failing(kind, [&](memory_shortage& when) {
        if (when.interrupts([&] { follower.apply(delta); })) {
            ASSERT_EQ(follower.frame(), 7U);
            ASSERT_EQ(world.states(ever), before);
        } else { // also when a log could not note what happened
            ASSERT_EQ(follower.frame(), 9U);
            ASSERT_EQ(world.states(ever), states);
            follower.load(snapshot, 7);
        }
    });
    EXPECT_GT(allocations, 20U);
    follower.apply(delta);
    EXPECT_EQ(world.states(ever), states);
}

/// The same with containers.
template <class Case>
void expect_containers_to_follow_or_stay(shortage kind) {
    pool_options options = Case::options();
    options.pool_id = 86;
    std::vector<std::byte> snapshot;
    std::vector<std::byte> delta;
    std::vector<typename Case::handle_type> ever;
    std::vector<std::pair<handle_state, std::uint64_t>> states;
    std::string contents;
    {
        followed_world<Case> origin(64, options);
        happen(origin, 1);
        origin.play_with_containers(1, 200);
        origin.prune();
        snapshot = origin.save();
        origin.recorder().begin(0);
        happen(origin, 100);
        origin.play_with_containers(2, 100);
        origin.prune();
        delta = origin.append(1);
        ever = origin.ever();
        states = origin.states(ever);
        contents = origin.contents();
    }
    followed_world<Case> world(64, options);
    replica follower;
    world.add_to(follower);
    follower.load(snapshot, 0);
    const auto states_before = world.states(ever);
    const std::string contents_before = world.contents();
    ASSERT_NE(contents, contents_before);
    std::size_t stayed = 0;
    with_each_allocation_failing(kind, [&](memory_shortage& when) {
        if (when.interrupts([&] { follower.apply(delta); })) {
            ++stayed;
            ASSERT_EQ(follower.frame(), 0U);
            ASSERT_EQ(world.states(ever), states_before);
            ASSERT_EQ(world.contents(), contents_before);
        } else { // also when a log could not note what happened
            ASSERT_EQ(follower.frame(), 1U);
            ASSERT_EQ(world.states(ever), states);
            ASSERT_EQ(world.contents(), contents);
            follower.load(snapshot, 0);
        }
    });
    EXPECT_GT(stayed, 100U);
    follower.apply(delta);
    EXPECT_EQ(world.states(ever), states);
    EXPECT_EQ(world.contents(), contents);
}

class delta_memory : public testing::TestWithParam<shortage> {};

TEST_P(delta_memory, a_delta_of_numbers_is_made_and_applied_as_a_whole) {
    expect_all_or_nothing<told_case<told_number, with_policy<told_blocks>>>(GetParam());
}
TEST_P(delta_memory, a_delta_of_texts_is_made_and_applied_as_a_whole) {
    expect_all_or_nothing<told_case<told_text, with_placement<stable_placement, with_policy<told_blocks>>>>(
        GetParam());
}

TEST_P(delta_memory, a_replica_of_numbers_follows_or_stays) {
    expect_to_follow_or_stay<told_case<told_number, with_policy<told_blocks>, true>>(GetParam());
}
TEST_P(delta_memory, a_replica_of_texts_follows_or_stays) {
    expect_to_follow_or_stay<told_case<told_text, with_policy<told_blocks>>>(GetParam());
}
TEST_P(delta_memory, a_replica_of_kept_texts_follows_or_stays) {
    expect_to_follow_or_stay<
        told_case<told_text, with_placement<recycling_placement, with_policy<told_blocks>>>>(GetParam());
}

TEST_P(delta_memory, containers_of_a_replica_follow_or_stay) {
    expect_containers_to_follow_or_stay<told_case<told_number, with_policy<told_blocks>>>(GetParam());
}
TEST_P(delta_memory, containers_of_a_stable_replica_follow_or_stay) {
    expect_containers_to_follow_or_stay<
        told_case<told_text, with_placement<stable_placement, with_policy<told_blocks>>>>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(shortages, delta_memory, both_shortages, name_of_shortage);

} // namespace
} // namespace handlepool::test
