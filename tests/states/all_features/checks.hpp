// SPDX-License-Identifier: MIT
#pragma once

#include "game.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// All that can be seen of the game, compared with what is true.
namespace handlepool::test {

// ---- The pool, whatever is attached to it

/// Which objects are in the store, in its order.
template <class Kind, class Pool>
std::vector<id_type> look_at_store(game<Kind>& in, Pool& pool) {
    std::vector<id_type> ids;
    std::size_t living = 0;
    const void* last_address = nullptr;
    for (auto&& [handle, object] : pool.entries()) {
        const content what = Kind::read(object);
        const auto found = in.truth.pool.objects.find(what.id);
        if (found == in.truth.pool.objects.end()) {
            ADD_FAILURE() << "the store has an object that was destroyed, or never was: " << what.id;
            continue;
        }
        EXPECT_EQ(handle, found->second.handle);
        EXPECT_EQ(what.value, found->second.value);
        living += found->second.ended ? 0U : 1U;
        if constexpr (!is_dense<Pool>) {
            EXPECT_LT(last_address, Kind::address(&object)) << "iteration is in the order of places";
            last_address = Kind::address(&object);
        } else {
            EXPECT_EQ(pool.handle_at(ids.size()), handle);
        }
        ids.push_back(what.id);
    }
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), ids.size()) << "an object is in the store twice";
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::distance(pool.living())), living);
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::distance(pool.handles())), ids.size());
    return ids;
}

/// Each handle is in the state that it should be in, and finds its own object.
template <class Kind, class Pool>
void check_handles(game<Kind>& in, Pool& pool, bool all) {
    using handle_type = typename game<Kind>::handle_type;
    const auto& truth = in.truth.pool;
    for (const auto& [handle, id] : truth.living) {
        const object_truth<handle_type>& object = truth.objects.at(id);
        const auto found = pool.find(in.with_any_user(handle));
        ASSERT_TRUE(bool(found)) << in.name(handle);
        if constexpr (std::is_void_v<typename game<Kind>::handle_type::element_type>) {
            ASSERT_EQ(Kind::read(found), (content{id, object.value})) << in.name(handle);
        } else {
            ASSERT_EQ(Kind::read(*found), (content{id, object.value})) << in.name(handle);
        }
        ASSERT_EQ(pool.state(in.with_any_user(handle)), handle_state::alive);
        if constexpr (!is_dense<Pool>) {
            ASSERT_EQ(Kind::address(found), object.address) << "objects of a stable pool never move";
        }
    }
    for (const handle_type handle : truth.reserved) {
        ASSERT_EQ(pool.state(in.with_any_user(handle)), handle_state::reserved) << in.name(handle);
        ASSERT_FALSE(pool.contains(in.with_any_user(handle)));
    }
    const std::size_t part = all ? 1 : 1 + in.truth.ever.size() / 150;
    std::size_t number = in.random.below(part);
    for (const handle_type handle : in.truth.ever) {
        if (number++ % part == 0) {
            ASSERT_EQ(pool.state(in.with_any_user(handle)), truth.state(handle)) << in.name(handle);
            ASSERT_EQ(pool.contains(in.with_any_user(handle)), truth.living.contains(handle))
                << in.name(handle);
            ASSERT_EQ(bool(pool.find(in.with_any_user(handle))), truth.living.contains(handle))
                << in.name(handle);
        }
    }
    for (const std::uint64_t bits : {std::uint64_t{0}, ~std::uint64_t{0}, in.random.bits()}) {
        const handle_type made_up = handle_type::from_value(bits);
        ASSERT_EQ(pool.contains(made_up), truth.living.contains(made_up.without_user()));
    }
}

template <class Kind, class Pool>
void check_numbers(game<Kind>& in, Pool& pool) {
    const auto& truth = in.truth.pool;
    EXPECT_EQ(pool.size(), truth.living.size());
    EXPECT_EQ(pool.empty(), truth.living.empty());
    const pool_stats seen = pool.stats();
    EXPECT_EQ(seen.alive, truth.living.size());
    EXPECT_EQ(seen.waiting_removals, truth.waiting());
    EXPECT_EQ(seen.dense, truth.store.size());
    EXPECT_EQ(seen.dense + seen.newborn, seen.alive + seen.waiting_removals);
    EXPECT_EQ(seen.created, seen.alive + seen.waiting_removals + seen.destroyed);
    EXPECT_EQ(seen.slots_reserved, truth.reserved.size());
    EXPECT_EQ(seen.slots_in_service, seen.alive + seen.waiting_removals + seen.slots_free +
                                         seen.slots_claimed + seen.slots_reserved + seen.slots_retired);
    EXPECT_GE(seen.smallest_reuse_distance, seen.reuse_delay);
    EXPECT_FALSE(pool.idle()) << "a pool that a log follows never is";
}

/// The oldest objects come first, by the frames in which they were made.
template <class Kind, class Pool>
void check_ages(game<Kind>& in, Pool& pool) {
    using handle_type = typename game<Kind>::handle_type;
    const std::vector<handle_type> oldest = pool.oldest(1000);
    EXPECT_EQ(oldest.size(), in.truth.pool.living.size());
    EXPECT_EQ(std::set(oldest.begin(), oldest.end()).size(), oldest.size());
    const std::uint64_t now = in.frame_of_pool();
    std::uint64_t before = 0;
    handle_type latest; // of those that were passed
    for (const handle_type each : oldest) {
        const auto found = in.truth.pool.living.find(each);
        ASSERT_NE(found, in.truth.pool.living.end()) << in.name(each);
        const auto& object = in.truth.pool.objects.at(found->second);
        ASSERT_LE(before, (std::min)(object.taken_in_until, now))
            << pool.describe(each) << " after " << pool.describe(latest);
        if (const std::uint64_t from = (std::min)(object.taken_in_from, now); from > before) {
            before = from;
            latest = each;
        }
    }
}

/// What the pool says of a handle's life.
template <class Kind, class Pool>
void check_life(game<Kind>& in, Pool& pool, typename game<Kind>::handle_type handle) {
    const auto& truth = in.truth.pool;
    const std::string told = pool.describe(in.with_any_user(handle));
    const std::string text = told.substr(told.find(": ") + 2);
    SCOPED_TRACE(told);
    EXPECT_EQ(text.starts_with("alive"), truth.living.contains(handle));
    EXPECT_EQ(text == "reserved, no object yet", truth.reserved.contains(handle));
    const recorded_life life = pool.life_of(in.with_any_user(handle));
    if (truth.living.contains(handle)) {
        EXPECT_TRUE(!life.end || life.end->is_undone);
        EXPECT_TRUE(life.beginning || in.forgets_lives);
        return;
    }
    const auto end = truth.ends.find(handle);
    if (end == truth.ends.end() || truth.last_of_slot.at(handle.index()) != handle) {
        return;
    }
    EXPECT_TRUE(life.end || in.forgets_lives);
    if (life.end && !in.forgets_lives) {
        EXPECT_EQ(life.end->event, end->second.event);
        EXPECT_FALSE(life.end->is_undone);
        EXPECT_EQ(life.end->frames_ago, in.frame_of_pool() - end->second.frame);
    }
}

template <class Kind, class Pool>
void check_pool(game<Kind>& in, Pool& pool, bool all = false) {
    check_handles(in, pool, all);
    check_numbers(in, pool);
    check_ages(in, pool);
    if (!in.truth.ever.empty()) {
        check_life(in, pool, in.any_handle());
        if (!in.truth.pool.last_of_slot.empty()) {
            auto any = in.truth.pool.last_of_slot.begin();
            std::advance(any, in.random.below(in.truth.pool.last_of_slot.size()));
            check_life(in, pool, any->second);
        }
    }
}

} // namespace handlepool::test
