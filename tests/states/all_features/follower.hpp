// SPDX-License-Identifier: MIT
#pragma once

#include "operations_on_the_past.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

/// The game goes on in a replica, when its origin is no more.
namespace handlepool::test {

/// What an origin has told, and what it would have done next.
template <class Kind>
struct legacy {
    std::vector<std::byte> snapshot;
    typename game<Kind>::truth_type truth;
    std::vector<typename game<Kind>::told_frame> frames;
    std::vector<typename game<Kind>::handle_type> next;
    bool skips_handles = false;
};

template <class Kind>
legacy<Kind> leave_legacy(game<Kind>& in) {
    tell_frame(in);
    legacy<Kind> left{in.snapshot_of_follower, in.truth_of_snapshot, in.told_frames, {}, false};
    if (!testing::Test::HasFailure()) {
        left.next = make_next(in);
        left.skips_handles = in.skips_handles;
    }
    return left;
}

/// All is what the origin was.
template <class Kind>
void become(game<Kind>& in, const typename game<Kind>::truth_type& truth) {
    const auto attached = in.truth.members.attached;
    in.truth = truth;
    in.truth.members.attached = attached;
    for (auto& [id, object] : in.truth.pool.objects) {
        object.taken_in_from = 0;
        object.taken_in_until = ~std::uint64_t{0} - 1;
        object.address =
            is_dense<typename Kind::pool_type> ? nullptr : Kind::address(in.pool->find(object.handle));
    }
    in.truth.pool.ends.clear();
    in.was_rewritten = true;
    EXPECT_EQ(look_at_store(in, *in.pool), truth.pool.store) << "in the order of the origin";
    in.truth.pool.store = truth.pool.store;
    check_handles(in, *in.pool, true);
    check_containers(in);
    EXPECT_GE(check_log(in), 1U);
}

/// Hooks are told of what came and went, and of nothing else.
template <class Kind>
void check_told_hooks(game<Kind>& in, const std::map<typename game<Kind>::handle_type, id_type>& before) {
    const auto& after = in.truth.pool.living;
    const auto has_id = [](const auto& living, id_type id) {
        return std::ranges::any_of(living, [id](const auto& each) { return each.second == id; });
    };
    std::set<typename game<Kind>::handle_type> expected;
    for (const auto& [handle, id] : before) {
        if (!has_id(after, id)) {
            expected.insert(handle);
        }
    }
    std::multiset<typename game<Kind>::handle_type> seen;
    for (const auto& each : in.ends) {
        seen.insert(each.handle);
    }
    EXPECT_TRUE(std::ranges::equal(seen, expected)) << "ends";
    expected.clear();
    seen.clear();
    for (const auto& [handle, id] : after) {
        if (!has_id(before, id)) {
            expected.insert(handle);
        }
    }
    for (const auto& each : in.begins) {
        seen.insert(each.handle);
    }
    EXPECT_TRUE(std::ranges::equal(seen, expected)) << "births";
}

/// Follows an origin to its last frame, and takes over.
template <class Kind>
void inherit(game<Kind>& in, const legacy<Kind>& left) {
    in.tell("a replica loads");
    check_log(in);
    in.only_notes_hooks = true;
    replica follower;
    in.add_all_to(follower);
    EXPECT_TRUE(follower.load(left.snapshot, 0).empty());
    become(in, left.truth);
    for (std::size_t i = 0; i != left.frames.size() && !testing::Test::HasFailure(); ++i) {
        const auto& told = left.frames[i];
        in.tell("a replica applies frame " + std::to_string(i + 1));
        const auto before = in.truth.pool.living;
        const before_frame<Kind> nothing(in);
        follower.apply(told.bytes);
        EXPECT_EQ(follower.frame(), i + 1);
        become(in, told.truth);
        EXPECT_EQ(text_of_containers(in), told.text);
        EXPECT_EQ(in.hash->update(), told.hash) << "equal worlds have equal hashes";
        if (!told.was_rewritten) {
            check_told_hooks(in, before);
        }
    }
    follower.take_over();
    in.only_notes_hooks = false;
    in.truth.forget_undone();
    in.forgets_lives = true;
    in.resets = 1; // perhaps
    in.tell("a replica has taken over");
    const auto next = make_next(in);
    if (!left.skips_handles) { // which is no part of what it tells
        EXPECT_EQ(next, left.next) << "the next handles are those of the origin";
    }
}

} // namespace handlepool::test
