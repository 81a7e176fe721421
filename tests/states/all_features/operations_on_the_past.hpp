// SPDX-License-Identifier: MIT
#pragma once

#include "operations_on_captures.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// Snapshots, and what others are told of each frame.
namespace handlepool::test {

/// Containers that are detached keep members whose objects end while the pool is saved, which a load or a
/// replica refuses: here, nothing is left to end then.
template <class Kind>
void settle_detached(game<Kind>& in) {
    const auto& attached = in.truth.members.attached;
    if (!attached.all()) {
        settle(in);
    }
    prune_all(in);
    drop_reserved(in);
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
    in.truth.forget_undone();
    in.truth.next_id = next_id;
    in.truth.members.attached = attached;
    std::set<id_type> came;
    for (const auto& each : in.came_back) {
        EXPECT_TRUE(came.insert(each.what.id).second);
    }
    EXPECT_EQ(came.size(), in.truth.pool.objects.size()) << "births are told of all that was loaded";
    for (const auto handle : given) {
        EXPECT_EQ(in.pool->state(in.with_any_user(handle)), in.truth.pool.state(handle)) << in.name(handle);
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
    for (auto* const past : {&in.past, &in.other}) {
        std::erase_if(past->captures, [&](const auto& each) {
            EXPECT_TRUE(in.resets != 0 || past->ring->contains(each.first));
            return !past->ring->contains(each.first);
        });
    }
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
    for (std::uint64_t key = 0; key != 18; ++key) {
        for (const handle_type each : then.members.with_key(key)) {
            members.give_key(names.find(each), key);
        }
    }
    for (const auto& [each, bag] : then.members.bags) {
        members.take(members.bags, names.find(each));
        members.bags[names.find(each)] = bag;
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
    case 4:
    case 5:
    case 6:
        return act_on_captures(in);
    case 7:
        return in.random.one_in(2) ? change_other_past(in) : act_on_captures(in);
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
