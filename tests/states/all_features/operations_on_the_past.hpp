// SPDX-License-Identifier: MIT
#pragma once

#include "operations_on_frames.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// Captures and restores, snapshots, and what others are told of each frame.
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
void capture(game<Kind>& in) {
    const before_frame<Kind> before(in);
    in.last_capture += 1 + in.random.below(3);
    in.tell("capture " + std::to_string(in.last_capture));
    in.ring->capture(in.last_capture);
    expect_settled(in, before);
    in.captures[in.last_capture] = in.truth.pool;
    if (in.captures.size() > in.ring->capacity()) {
        in.captures.erase(in.captures.begin());
    }
}

template <class Kind>
void check_captures(game<Kind>& in) {
    for (const auto& [frame, then] : in.captures) {
        EXPECT_TRUE(in.ring->contains(frame)) << frame;
    }
    if (!in.captures.empty()) {
        EXPECT_EQ(in.ring->newest(), in.captures.rbegin()->first);
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
    for (auto& [frame, truth] : in.captures) {
        count(truth);
    }
}

/// From all containers.
template <class Kind, class Handle>
void drop_member(game<Kind>& in, Handle handle) {
    auto& members = in.truth.members;
    EXPECT_EQ(in.set.erase(in.marked(handle)), members.set.erase(handle) == 1);
    EXPECT_EQ(in.map.erase(in.marked(handle)), members.map.erase(handle) == 1);
    EXPECT_EQ(in.index.erase(in.marked(handle)), members.index.erase(handle) == 1);
    EXPECT_EQ(in.family.erase(in.marked(handle)), members.family.contains(handle));
    members.erase_node(handle);
    EXPECT_EQ(in.bags.erase(in.marked(handle)), members.bags.erase(handle) == 1);
}

/// What is undone are the handles that were given out since then.
template <class Kind, class Handle>
void forget_undone(game<Kind>& in, const std::vector<Handle>& undone, const std::set<Handle>& given_before) {
    const std::set<Handle> told(undone.begin(), undone.end());
    EXPECT_EQ(told.size(), undone.size());
    for (const Handle each : told) {
        EXPECT_EQ(in.pool->state(in.marked(each)), handle_state::stale) << in.name(each);
        EXPECT_TRUE(given_before.contains(each) || in.has_unknown_handles) << in.name(each);
        in.truth.ever.erase(each); // others may get it
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
void restore(game<Kind>& in, std::uint64_t frame) {
    const before_frame<Kind> before(in);
    in.tell("restore " + std::to_string(frame));
    // What lives now and not then is ended first; then the pool is what it was. Handles alone tell who is
    // who: after a load, the same one may be that of another object.
    const auto then = in.captures.at(frame);
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
    const auto undone = in.ring->restore(frame);
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
    forget_undone(in, undone, given_before);
    in.captures.erase(in.captures.upper_bound(frame), in.captures.end());
    in.forgets_lives = true;
    in.rewritten_since_told = true;
    in.was_rewritten = true;
    EXPECT_EQ(look_at_store(in, *in.pool), then.store) << "each at its place";
    look(in, *in.pool);
    EXPECT_GE(check_log(in), 2U);
    check_handles(in, *in.pool, true);
}

template <class Kind>
void restore_any(game<Kind>& in) {
    if (in.captures.empty()) {
        EXPECT_THROW(in.ring->restore(in.last_capture + 1), std::out_of_range);
        return;
    }
    auto chosen = in.captures.begin();
    std::advance(chosen, in.random.below(in.captures.size()));
    restore(in, chosen->first);
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
void repeat_after_restore(game<Kind>& in) {
    capture(in);
    const auto first = make_next(in);
    if (in.random.one_in(2)) {
        compact(in);
    }
    restore(in, in.last_capture);
    EXPECT_EQ(make_next(in), first) << "the next handles are those that came the first time";
}

template <class Kind>
void forget_captures(game<Kind>& in) {
    if (in.captures.empty()) {
        return;
    }
    if (in.random.one_in(2)) {
        auto chosen = in.captures.begin();
        std::advance(chosen, in.random.below(in.captures.size()));
        in.tell("confirm " + std::to_string(chosen->first));
        in.ring->confirm(chosen->first);
        in.captures.erase(in.captures.begin(), chosen);
    } else {
        in.tell("drop_newest");
        in.ring->drop_newest();
        in.captures.erase(std::prev(in.captures.end()));
    }
}

/// Containers that are detached keep members whose objects end while the pool is saved, which a load or a
/// replica refuses: here, nothing is left to end then.
template <class Kind>
void settle_detached(game<Kind>& in) {
    const auto& attached = in.truth.members.attached;
    if (!attached.set || !attached.map || !attached.index || !attached.family || !attached.bags) {
        in.hooks_may_act = false;
        do {
            compact(in);
        } while (in.truth.pool.waiting() != 0);
        in.hooks_may_act = true;
    }
    prune_all(in);
    for (const auto handle : in.truth.pool.reserved) { // after a restore, detached ones can have it
        drop_member(in, handle);
    }
}

/// The bytes of a snapshot of all there is. Containers must not have members that are stale.
template <class Kind>
std::vector<std::byte> save_all(game<Kind>& in) {
    settle_detached(in);
    const before_frame<Kind> before(in);
    in.tell("save");
    in.hooks_may_act = false; // they would revoke or erase what was pruned
    snapshot all;
    in.add_all_to(all);
    std::vector<std::byte> bytes;
    all.save(bytes);
    in.hooks_may_act = true;
    expect_settled(in, before);
    return bytes;
}

template <class Kind>
void save(game<Kind>& in) {
    auto bytes = save_all(in);
    in.saves.push_back({std::move(bytes), in.truth, in.resets, text_of_containers(in)});
    if (in.saves.size() > 3) {
        in.saves.erase(in.saves.begin());
    }
}

/// After a load all is what it was when it was saved.
template <class Kind>
void load(game<Kind>& in) {
    if (in.saves.empty()) {
        return;
    }
    const auto saved = in.saves[in.random.below(in.saves.size())];
    const before_frame<Kind> before(in);
    in.tell("load");
    for (const auto& [handle, id] : std::map(in.truth.pool.living)) {
        in.end_object(handle, life_event::erased);
    }
    in.hooks_may_act = false;
    in.something_comes_back = true;
    in.came_back.clear();
    snapshot all;
    in.add_all_to(all);
    EXPECT_TRUE(all.load(saved.bytes).empty());
    in.something_comes_back = false;
    in.hooks_may_act = true;
    EXPECT_EQ(in.truth.pool.objects.size(), 0U) << "hooks saw all that was there";

    const auto attached = in.truth.members.attached;
    const auto next_id = in.truth.next_id;
    const auto given = in.truth.ever;
    in.given_before_loads.insert(given.begin(), given.end());
    in.truth = saved.truth;
    in.truth.next_id = next_id;
    in.truth.members.attached = attached;
    std::set<id_type> came;
    for (const auto& each : in.came_back) {
        EXPECT_TRUE(came.insert(each.what.id).second);
    }
    EXPECT_EQ(came.size(), in.truth.pool.objects.size()) << "births are told of all that was loaded";
    for (const auto handle : given) {
        EXPECT_EQ(in.pool->state(handle), in.truth.pool.state(handle)) << in.name(handle);
    }
    for (auto& [id, object] : in.truth.pool.objects) {
        EXPECT_TRUE(came.contains(id));
        object.taken_in_from = 0;
        count_as_born_now(in, object.handle);
        if constexpr (!is_dense<typename Kind::pool_type>) {
            object.address = Kind::address(in.pool->find(object.handle));
        }
    }
    in.truth.pool.ends.clear(); // what was recorded was of other lives
    in.forgets_lives = true;
    in.rewritten_since_told = true;
    in.was_rewritten = true;
    EXPECT_EQ(look_at_store(in, *in.pool), saved.truth.pool.store) << "in the order in which it was saved";
    EXPECT_EQ(text_of_containers(in), saved.text);
    look(in, *in.pool);
    EXPECT_GE(check_log(in), 1U);
    std::erase_if(in.captures, [&](const auto& each) {
        EXPECT_TRUE(in.resets != 0 || in.ring->contains(each.first));
        return !in.ring->contains(each.first);
    });
    check_handles(in, *in.pool, true);
}

/// The objects of a snapshot come once more, as others.
template <class Kind>
void merge(game<Kind>& in) {
    if (in.saves.empty() || !Kind::can_merge) {
        return;
    }
    using handle_type = typename game<Kind>::handle_type;
    const auto& saved = in.saves[in.random.below(in.saves.size())];
    const auto& then = saved.truth;
    in.tell("merge");
    const id_type added = creature_archive::added_to_ids = in.truth.next_id;
    snapshot all;
    in.add_all_to(all);
    handle_renaming names;
    try {
        names = all.merge(saved.bytes);
    } catch (const pool_exhausted&) {
        expect_full(in, then.pool.living.size());
        creature_archive::added_to_ids = 0;
        in.tell("merge was refused");
        in.has_unknown_handles = true;
        return;
    }
    creature_archive::added_to_ids = 0;
    in.truth.next_id += then.next_id;
    EXPECT_EQ(names.size(), then.pool.living.size());
    std::uint64_t turn = added;
    for (const id_type id : then.pool.store) {
        const handle_type made = names.find(then.pool.objects.at(id).handle);
        EXPECT_TRUE(bool(made));
        in.truth.pool.objects[id + added] = {.value = then.pool.objects.at(id).value, .turn = turn++};
        in.name_object(id + added, made);
    }
    // Members come in the order in which they were saved; each is as if it was inserted.
    auto& members = in.truth.members;
    for (const handle_type each : then.members.set) {
        members.take(members.set, names.find(each));
        members.set.insert(names.find(each));
    }
    for (const auto& [each, value] : then.members.map) {
        members.take(members.map, names.find(each));
        members.map[names.find(each)] = value;
    }
    for (const auto& [each, bag] : then.members.bags) {
        members.take(members.bags, names.find(each));
        members.bags[names.find(each)] = bag;
    }
    for (std::uint64_t key = 0; key != 18; ++key) {
        for (const handle_type each : then.members.with_key(key)) {
            members.give_key(names.find(each), key);
        }
    }
    for (const auto& [each, parent] : then.members.family) {
        add_node(in, names.find(each));
    }
    for (const auto& [each, parent] : then.members.family) {
        members.family[names.find(each)] = parent ? names.find(parent) : handle_type();
    }
}
template <class Kind>
void begin_to_tell(game<Kind>& in) {
    in.tell("a follower begins");
    in.snapshot_of_follower = save_all(in);
    const before_frame<Kind> before(in);
    in.hooks_may_act = false;
    in.recorder->begin(0);
    in.hooks_may_act = true;
    end_frame(in, *in.pool, before, frame_extent::exclusive);
    check_log(in);
    in.told_frames.clear();
    in.rewritten_since_told = false;
    in.frame_when_told = in.log->frame();
    in.truth_of_snapshot = in.truth;
}

/// A frame is told to those who follow.
template <class Kind>
void tell_frame(game<Kind>& in) {
    if (in.snapshot_of_follower.empty() || in.told_frames.size() > 30) {
        return begin_to_tell(in);
    }
    settle_detached(in);
    const before_frame<Kind> before(in);
    const std::uint64_t frame = in.told_frames.size() + 1;
    in.tell("tell frame " + std::to_string(frame));
    in.hooks_may_act = false;
    std::vector<std::byte> delta;
    in.recorder->append(frame, delta);
    in.hooks_may_act = true;
    // Of frames that the log keeps no more, nobody knows what was revoked, and what has ended.
    const bool is_gap = in.log->oldest() > in.frame_when_told;
    in.frame_when_told = in.log->frame();
    expect_settled(in, before);
    in.told_frames.push_back({std::move(delta), in.truth, text_of_containers(in), in.hash->update(),
                              std::exchange(in.rewritten_since_told, false) || is_gap});

    world_hash anew;
    anew.add("pool", *in.log);
    EXPECT_EQ(anew.update(), in.hash->value()) << "the hash follows what has changed";
}

/// Logs and all that lives by them end, and others begin.
template <class Kind>
void follow_anew(game<Kind>& in) {
    compact(in);
    if (in.truth.pool.waiting() == 0) {
        in.tell("another log");
        in.follow();
    }
}

template <class Kind>
void act_on_the_past(game<Kind>& in) {
    switch (in.random.below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
        return capture(in);
    case 4:
    case 5:
        return restore_any(in);
    case 6:
        return in.random.one_in(2) ? repeat_after_restore(in) : restore_any(in);
    case 7:
        return forget_captures(in);
    case 8:
    case 9:
        return save(in);
    case 10:
        return load(in);
    case 11:
        return in.random.one_in(3) ? merge(in) : tell_frame(in);
    case 12:
        return in.random.one_in(4) ? follow_anew(in) : tell_frame(in);
    default:
        return tell_frame(in);
    }
}

} // namespace handlepool::test
