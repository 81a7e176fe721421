// SPDX-License-Identifier: MIT
#pragma once

#include "operations_on_frames.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

/// Captures and restores, by a ring that lives by the game's log, and by another one.
namespace handlepool::test {

/// Compacts until nothing waits, as a capture does.
template <class Kind>
void expect_settled(game<Kind>& in, const before_frame<Kind>& before) {
    end_frame(in, *in.pool, before, frame_extent::exclusive);
    EXPECT_EQ(in.truth.pool.waiting(), 0U) << "nothing waits";
    EXPECT_EQ(in.truth.pool.store.size(), in.truth.pool.living.size());
    EXPECT_GE(check_log(in), 1U);
}

template <class Kind>
void capture(game<Kind>& in, typename game<Kind>::past_type& past) {
    const before_frame<Kind> before(in);
    past.last_capture += 1 + in.random.below(3);
    in.tell("capture " + std::to_string(past.last_capture));
    past.ring->capture(past.last_capture);
    expect_settled(in, before);
    past.captures[past.last_capture] = in.truth.pool;
    if (past.captures.size() > past.ring->capacity()) {
        past.captures.erase(past.captures.begin());
    }
}

template <class Kind>
void check_captures(const game<Kind>& in, const typename game<Kind>::past_type& past) {
    for (const auto& [frame, then] : past.captures) {
        EXPECT_TRUE(past.ring->contains(frame)) << frame;
    }
    if (!past.captures.empty()) {
        EXPECT_EQ(past.ring->newest(), past.captures.rbegin()->first);
    }
    // A load can bring earlier ones back that a reset had taken away.
    if (!past.captures.empty() && past.ring->oldest() == past.captures.begin()->first) {
        for (const auto& [handle, id] : past.captures.begin()->second.living) {
            ASSERT_TRUE(past.ring->is_confirmed(handle)) << "an earlier restore: " << in.name(handle);
        }
    }
}

/// What comes back is remembered as born in this frame, also if it is restored once more.
template <class Kind, class Handle>
void count_as_born_now(game<Kind>& in, Handle handle) {
    const auto count = [&](pool_truth<Handle>& truth) {
        if (const auto found = truth.living.find(handle); found != truth.living.end()) {
            truth.objects.at(found->second).taken_in_until = in.frame_of_pool();
        }
    };
    count(in.truth.pool);
    for (auto* const past : {&in.past, &in.other}) {
        for (auto& [frame, truth] : past->captures) {
            count(truth);
        }
    }
}

/// What is undone are the handles that were given out since then.
template <class Kind, class Handle>
void forget_undone(game<Kind>& in, bool for_ever, const std::vector<Handle>& undone,
                   const std::set<Handle>& given_before) {
    const std::set<Handle> told(undone.begin(), undone.end());
    EXPECT_EQ(told.size(), undone.size());
    for (const Handle each : told) {
        EXPECT_EQ(in.pool->state(each), handle_state::stale) << in.name(each);
        EXPECT_TRUE(given_before.contains(each) || in.has_unknown_handles) << in.name(each);
        if (for_ever) {
            in.truth.undone_for_ever.insert(each);
            in.skips_handles = true;
        }
        if (!in.truth.undone_for_ever.contains(each)) { // others may get it
            in.truth.ever.erase(each);
            in.given_before_loads.insert(each);
        }
        drop_member(in, each);
    }
}

/// The births that a restore tells are those of objects that had gone.
template <class Kind, class Handle>
void take_births_of_restore(game<Kind>& in, const std::set<Handle>& survivors) {
    std::set<Handle> destroyed;
    for (const auto& each : in.ends) {
        destroyed.insert(each.handle);
    }
    std::set<Handle> came;
    for (const auto& each : in.came_back) {
        EXPECT_TRUE(came.insert(each.handle).second) << "a birth was told twice";
        const auto found = in.truth.pool.objects.find(each.what.id);
        ASSERT_NE(found, in.truth.pool.objects.end());
        EXPECT_EQ(found->second.handle, each.handle);
        EXPECT_EQ(found->second.value, each.what.value);
        count_as_born_now(in, each.handle);
        auto& members = in.truth.members;
        if (members.attached.index && members.admits(members.index, each.handle)) {
            members.give_key(each.handle, members.key_of(each.what.id));
        }
    }
    for (const auto& [handle, id] : in.truth.pool.living) {
        const bool was_there = survivors.contains(handle) && !destroyed.contains(handle);
        EXPECT_NE(came.contains(handle), was_there)
            << "hooks are told of what comes back: " << in.name(handle);
    }
}

template <class Kind>
void restore(game<Kind>& in, typename game<Kind>::past_type& past, std::uint64_t frame) {
    const before_frame<Kind> before(in);
    in.tell("restore " + std::to_string(frame));
    // What lives now and not then is ended first; then the pool is what it was. Handles alone tell who is
    // who: after a load, the same one may be that of another object.
    const auto then = past.captures.at(frame);
    std::set<typename game<Kind>::handle_type> survivors;
    for (const auto& [handle, id] : std::map(in.truth.pool.living)) {
        const auto found = then.living.find(handle);
        if (found != then.living.end() &&
            then.objects.at(found->second).address == in.truth.pool.objects.at(id).address) {
            survivors.insert(handle);
        } else {
            in.end_object(handle, life_event::undone);
        }
    }
    auto given_before = in.truth.ever;
    given_before.insert(in.given_before_loads.begin(), in.given_before_loads.end());
    in.hooks_may_act = false;
    in.something_comes_back = true;
    in.came_back.clear();
    const auto undone = past.ring->restore(frame);
    in.something_comes_back = false;
    in.hooks_may_act = true;
    for (const auto& [id, object] : in.truth.pool.objects) {
        EXPECT_TRUE(!object.ended || survivors.contains(object.handle)) << "not destroyed: " << id;
    }
    in.truth.pool = then;
    for (const auto handle : survivors) {
        count_as_born_now(in, handle);
    }
    take_births_of_restore(in, survivors);
    forget_undone(in, past.undone_stay_stale, undone, given_before);
    past.captures.erase(past.captures.upper_bound(frame), past.captures.end());
    in.forgets_lives = true;
    in.rewritten_since_told = true;
    in.was_rewritten = true;
    EXPECT_EQ(look_at_store(in, *in.pool), then.store) << "each at its place";
    look(in, *in.pool);
    EXPECT_GE(check_log(in), 2U);
    check_handles(in, *in.pool, true);
}

template <class Kind>
void restore_any(game<Kind>& in, typename game<Kind>::past_type& past) {
    if (past.captures.empty()) {
        EXPECT_THROW(past.ring->restore(past.last_capture + 1), std::out_of_range);
        return;
    }
    auto chosen = past.captures.begin();
    std::advance(chosen, in.random.below(past.captures.size()));
    restore(in, past, chosen->first);
}

/// The handles that come next.
template <class Kind>
std::vector<typename game<Kind>::handle_type> make_next(game<Kind>& in) {
    std::vector<typename game<Kind>::handle_type> made;
    for (int i = 0; i != 12; ++i) {
        const content what = in.begin_object();
        made.push_back(Kind::from(what, [&](auto&&... from) { return in.pool->try_emplace(from...); }));
        take_made(in, what.id, made.back());
    }
    return made;
}

/// After a restore, the same calls give the same handles once more.
template <class Kind>
void repeat_after_restore(game<Kind>& in, typename game<Kind>::past_type& past) {
    capture(in, past);
    const auto first = make_next(in);
    if (in.random.one_in(2)) {
        compact(in);
    }
    restore(in, past, past.last_capture);
    const auto again = make_next(in);
    if (past.undone_stay_stale) {
        EXPECT_TRUE(std::ranges::find_first_of(again, first) == again.end()) << "they stay stale";
        return;
    }
    EXPECT_EQ(again, first) << "the next handles are those that came the first time";
}

template <class Kind>
void forget_captures(game<Kind>& in, typename game<Kind>::past_type& past) {
    if (past.captures.empty()) {
        return;
    }
    if (in.random.one_in(2)) {
        auto chosen = past.captures.begin();
        std::advance(chosen, in.random.below(past.captures.size()));
        in.tell("confirm " + std::to_string(chosen->first));
        past.ring->confirm(chosen->first);
        past.captures.erase(past.captures.begin(), chosen);
    } else {
        in.tell("drop_newest");
        past.ring->drop_newest();
        past.captures.erase(std::prev(past.captures.end()));
    }
}

/// Another log, and another ring that lives by it, begin or end in the midst of the game. They begin when
/// nothing waits, so that the log knows all that the first one knows.
template <class Kind>
void change_other_past(game<Kind>& in) {
    using type = game<Kind>;
    if (in.other.ring) {
        in.tell("the other past ends");
        in.other.end();
        return;
    }
    settle(in);
    in.tell("another past begins");
    in.other.undone_stay_stale = in.random.one_in(2);
    in.other.log = std::make_unique<typename type::log_type>(
        *in.pool, change_log_options{.frames = 3 + in.random.below(6)});
    in.other.ring = std::make_unique<typename type::ring_type>(
        *in.other.log, capture_ring_options{.frames = 1 + in.random.below(4),
                                            .undone_stay_stale = in.other.undone_stay_stale});
}

template <class Kind>
void act_on_captures(game<Kind>& in) {
    auto& past = in.other.ring && in.random.one_in(2) ? in.other : in.past;
    switch (in.random.below(8)) {
    case 0:
    case 1:
    case 2:
    case 3:
        return capture(in, past);
    case 4:
    case 5:
        return restore_any(in, past);
    case 6:
        return in.random.one_in(2) ? repeat_after_restore(in, past) : restore_any(in, past);
    default:
        return forget_captures(in, past);
    }
}

} // namespace handlepool::test
