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
        const auto found = pool.find(handle);
        ASSERT_TRUE(bool(found)) << in.name(handle);
        if constexpr (std::is_void_v<typename game<Kind>::element_type>) {
            ASSERT_EQ(Kind::read(found), (content{id, object.value})) << in.name(handle);
        } else {
            ASSERT_EQ(Kind::read(*found), (content{id, object.value})) << in.name(handle);
        }
        ASSERT_EQ(pool.state(handle), handle_state::alive);
        if constexpr (!is_dense<Pool>) {
            ASSERT_EQ(Kind::address(found), object.address) << "objects of a stable pool never move";
        }
    }
    for (const handle_type handle : truth.reserved) {
        ASSERT_EQ(pool.state(handle), handle_state::reserved) << in.name(handle);
        ASSERT_FALSE(pool.contains(handle));
    }
    const std::size_t part = all ? 1 : 1 + in.truth.ever.size() / 150;
    std::size_t number = in.random.below(part);
    for (const handle_type handle : in.truth.ever) {
        if (number++ % part == 0) {
            ASSERT_EQ(pool.state(handle), truth.state(handle)) << in.name(handle);
            ASSERT_EQ(pool.contains(handle), truth.living.contains(handle)) << in.name(handle);
            ASSERT_EQ(bool(pool.find(handle)), truth.living.contains(handle)) << in.name(handle);
        }
    }
    for (const std::uint64_t bits : {std::uint64_t{0}, ~std::uint64_t{0}, in.random.bits()}) {
        const handle_type made_up = handle_type::from_value(bits);
        ASSERT_EQ(pool.contains(made_up), truth.living.contains(made_up));
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
    const std::string told = pool.describe(handle);
    const std::string text = told.substr(told.find(": ") + 2);
    SCOPED_TRACE(told);
    EXPECT_EQ(text.starts_with("alive"), truth.living.contains(handle));
    EXPECT_EQ(text == "reserved, no object yet", truth.reserved.contains(handle));
    const recorded_life life = pool.life_of(handle);
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

// ---- Containers

template <class Handle>
std::set<Handle> set_of(std::span<const Handle> handles) {
    return {handles.begin(), handles.end()};
}

template <class Kind>
void check_bags(game<Kind>& in) {
    ASSERT_EQ(in.bags.size(), in.truth.members.bags.size());
    for (const auto& [handle, properties] : in.truth.members.bags) {
        ASSERT_TRUE(in.bags.contains(handle)) << in.name(handle);
        for (std::size_t i = 0; i != bag_paths.size(); ++i) {
            const auto found = properties.find(i);
            ASSERT_EQ(in.bags.view(handle).template get<float>(bag_paths[i]),
                      found != properties.end() ? std::optional(found->second) : std::nullopt)
                << in.name(handle);
        }
    }
}

template <class Kind>
void check_containers(game<Kind>& in) {
    using handle_type = typename game<Kind>::handle_type;
    const members_truth<handle_type>& members = in.truth.members;
    EXPECT_EQ(in.set.attached(), members.attached.set);
    EXPECT_EQ(in.map.attached(), members.attached.map);
    EXPECT_EQ(in.index.attached(), members.attached.index);
    EXPECT_EQ(in.family.attached(), members.attached.family);
    EXPECT_EQ(in.bags.attached(), members.attached.bags);

    EXPECT_EQ(in.set.size(), members.set.size());
    EXPECT_EQ(set_of(in.set.handles()), members.set);

    ASSERT_EQ(in.map.size(), members.map.size());
    for (const auto& [handle, value] : members.map) {
        ASSERT_TRUE(in.map.contains(handle)) << in.name(handle);
        ASSERT_EQ(in.map.at(handle), value) << in.name(handle);
    }

    ASSERT_EQ(in.index.size(), members.index.size());
    for (const auto& [handle, given] : members.index) {
        ASSERT_NE(in.index.key_of(handle), nullptr) << in.name(handle);
        ASSERT_EQ(*in.index.key_of(handle), given.key) << in.name(handle);
    }
    for (std::uint64_t key = 0; key != 18; ++key) {
        const auto found = in.index.find_all(key);
        ASSERT_EQ(std::vector<handle_type>(found.begin(), found.end()), members.with_key(key)) << key;
    }
    EXPECT_TRUE(in.index.refused().empty());

    ASSERT_EQ(in.family.size(), members.family.size());
    std::map<handle_type, std::set<handle_type>> children;
    for (const auto& [handle, parent] : members.family) {
        ASSERT_TRUE(in.family.contains(handle)) << in.name(handle);
        ASSERT_EQ(in.family.parent(handle), parent) << in.name(handle);
        children[parent].insert(handle);
    }
    for (const auto& [handle, parent] : members.family) {
        ASSERT_EQ(set_of(in.family.children(handle)), children[handle]) << in.name(handle);
    }
    EXPECT_EQ(set_of(in.family.roots()), children[{}]);
    check_bags(in);
}

/// All that the containers have, in their order.
template <class Kind>
std::string text_of_containers(game<Kind>& in) {
    using handle_type = typename game<Kind>::handle_type;
    std::string text = "set";
    for (const handle_type each : in.set) {
        text += ' ' + in.name(each);
    }
    text += "\nmap";
    in.map.for_each([&](handle_type each, std::uint64_t value) {
        text += ' ' + in.name(each) + '=' + std::to_string(value);
    });
    text += "\nindex";
    for (const handle_type each : in.index.handles()) {
        text += ' ' + in.name(each) + '=' + std::to_string(*in.index.key_of(each));
    }
    for (std::uint64_t key = 0; key != 18; ++key) {
        text += "\n" + std::to_string(key);
        for (const handle_type each : in.index.find_all(key)) {
            text += ' ' + in.name(each);
        }
    }
    text += "\nfamily";
    for (const handle_type each : in.family.handles()) {
        text += ' ' + in.name(each) + " above";
        for (const handle_type child : in.family.children(each)) {
            text += ' ' + in.name(child);
        }
    }
    for (const handle_type each : in.family.roots()) {
        text += " root " + in.name(each);
    }
    text += "\nbags";
    in.bags.for_each([&](handle_type each, property_view bag) {
        text += ' ' + in.name(each);
        for (const property_path path : bag_paths) {
            const std::optional<float> value = bag.template get<float>(path);
            text += value ? '=' + std::to_string(*value) : "=";
        }
    });
    return text;
}

// ---- The log of changes

/// What the store is now, as a log should know it.
template <class Kind>
auto known_now(game<Kind>& in) {
    using known_object = typename game<Kind>::known_object;
    std::map<id_type, known_object> now;
    for (std::size_t i = 0; i != in.truth.pool.store.size(); ++i) {
        const id_type id = in.truth.pool.store[i];
        const auto& object = in.truth.pool.objects.at(id);
        const auto before = in.known_to_log.find(id);
        if (before == in.known_to_log.end() && object.ended) {
            continue; // no record tells of it
        }
        std::size_t position = i;
        if constexpr (!is_dense<typename game<Kind>::pool_type>) {
            position = object.ended ? before->second.position
                                    : in.log->position_of(object.handle).value_or(~std::size_t{0});
        }
        now[id] = {object.handle, position};
    }
    return now;
}

/// The records of the frames that have ended lead from what was known to what there is.
template <class Kind, class Known>
void check_path_of_records(game<Kind>& in, const Known& now) {
    using handle_type = typename game<Kind>::handle_type;
    std::map<handle_type, std::size_t> told;
    for (const auto& [id, known] : in.known_to_log) {
        told[known.handle] = known.position;
    }
    const auto records = in.log->changes_since(in.frame_seen);
    ASSERT_TRUE(records);
    for (const auto& record : *records) {
        for (const auto& each : record.destroyed) {
            ASSERT_EQ(told.at(each.handle), each.position);
            told.erase(each.handle);
        }
        for (const auto& each : record.renamed) {
            ASSERT_TRUE(told.contains(each.before)) << in.name(each.before);
        }
        std::map<handle_type, std::size_t> renamed = std::move(told);
        for (const auto& each : record.renamed) {
            const std::size_t position = renamed.at(each.before);
            renamed.erase(each.before);
            ASSERT_TRUE(renamed.emplace(each.after, position).second);
        }
        told = std::move(renamed);
        for (const auto& each : record.moved) {
            ASSERT_EQ(told.at(each.handle), each.from) << in.name(each.handle);
            told.at(each.handle) = each.to;
        }
        for (const auto& each : record.born) {
            ASSERT_TRUE(told.emplace(each.handle, each.position).second) << in.name(each.handle);
        }
        for (const auto& each : record.edited) {
            ASSERT_EQ(told.at(each.handle), each.position);
        }
        ASSERT_EQ(record.size, told.size());
    }
    std::map<handle_type, std::size_t> expected;
    for (const auto& [id, known] : now) {
        expected[known.handle] = known.position;
    }
    ASSERT_EQ(told, expected);
}

/// Of one frame, each list.
template <class Kind, class Known>
void check_one_record(game<Kind>& in, const Known& now) {
    using handle_type = typename game<Kind>::handle_type;
    using record_type = frame_record<handle_type>;
    const record_type& record = in.log->changes_since(in.frame_seen)->front();
    record_type expected;
    std::vector<content> last_values;
    const auto position = [](std::size_t of) { return static_cast<std::uint32_t>(of); };
    std::map<std::size_t, id_type> ended_at;
    for (const auto& [id, before] : in.known_to_log) {
        const auto found = now.find(id);
        if (found == now.end()) {
            ended_at[before.position] = id;
            continue;
        }
        const auto& after = found->second;
        if (after.handle != before.handle) {
            expected.renamed.push_back({before.handle, after.handle, position(after.position)});
        }
        if (after.position != before.position) {
            expected.moved.push_back({after.handle, position(before.position), position(after.position)});
        }
        if (in.edited.contains(id)) {
            expected.edited.push_back({after.handle, position(after.position)});
        }
    }
    for (const auto& [at, id] : ended_at) {
        expected.destroyed.push_back({in.known_to_log.at(id).handle, position(at)});
        if (const auto ended = in.ended_in_frame.find(id); ended != in.ended_in_frame.end()) {
            last_values.push_back(ended->second.what);
        }
    }
    for (const auto& [id, after] : now) {
        if (!in.known_to_log.contains(id)) {
            expected.born.push_back({after.handle, position(after.position)});
        }
    }
    for (const auto& [id, ended] : in.ended_in_frame) {
        expected.never_seen += in.known_to_log.contains(id) ? 0U : 1U;
    }
    std::ranges::sort(expected.born, {}, &record_type::placed::position);
    std::ranges::sort(expected.moved, {}, &record_type::moved_object::from);
    std::ranges::sort(expected.edited, {}, &record_type::placed::position);
    EXPECT_EQ(record.born, expected.born);
    EXPECT_EQ(record.destroyed, expected.destroyed);
    EXPECT_EQ(record.moved, expected.moved);
    EXPECT_EQ(record.edited, expected.edited);
    EXPECT_TRUE(std::ranges::is_permutation(record.renamed, expected.renamed));
    EXPECT_EQ(record.never_seen, expected.never_seen);
    EXPECT_EQ(record.cleared, !in.known_to_log.empty() && ended_at.size() == in.known_to_log.size());
    EXPECT_EQ(record.reset, in.is_reset_by_frame);
    EXPECT_EQ(record.reordered, in.was_sorted);

    const auto values = in.log->destroyed_entries(in.log->frame());
    ASSERT_TRUE(values);
    ASSERT_EQ(values->size(), last_values.size());
    for (std::size_t i = 0; i != last_values.size(); ++i) {
        EXPECT_EQ((*values)[i].handle, record.destroyed[i].handle);
        EXPECT_EQ(Kind::read((*values)[i].object), last_values[i]) << "the value that it had";
    }

    std::set<std::size_t> written;
    const auto ranges = in.log->upload_ranges(in.frame_seen);
    ASSERT_TRUE(ranges);
    for (const auto& [first, last] : *ranges) {
        for (std::size_t i = first; i != last; ++i) {
            written.insert(i);
        }
    }
    for (const auto* const list : {&expected.born, &expected.edited}) {
        for (const auto& each : *list) {
            EXPECT_TRUE(written.contains(each.position)) << "a position to be uploaded: " << each.position;
        }
    }
    for (const auto& each : expected.moved) {
        EXPECT_TRUE(written.contains(each.to)) << "a position to be uploaded: " << each.to;
    }
}

/// If frames have ended, their records are right. Returns how many.
template <class Kind>
std::uint64_t check_log(game<Kind>& in) {
    const auto now = known_now(in);
    if (std::exchange(in.log_is_new, false)) {
        in.known_to_log = now;
        in.ended_in_frame.clear();
    }
    const std::uint64_t frames = in.log->frame() - in.frame_seen;
    if (frames != 0) {
        check_path_of_records(in, now);
        if (frames == 1 && !in.was_rewritten) {
            check_one_record(in, now);
        }
        in.known_to_log = now;
        in.frame_seen = in.log->frame();
        in.ended_in_frame.clear();
        in.edited.clear();
        in.was_sorted = false;
        in.is_reset_by_frame = false;
        in.was_rewritten = false;
    }
    return frames;
}

} // namespace handlepool::test
