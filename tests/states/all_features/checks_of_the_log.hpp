// SPDX-License-Identifier: MIT
#pragma once

#include "game.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

/// What the log of changes tells of each frame, compared with what has become of the objects.
namespace handlepool::test {

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

/// The positions that are to be uploaded: of born, moved and edited objects, and else of none that the log
/// knows. What happens under exclusive access, and sorts, may write others.
template <class Kind, class Known, class Record>
void check_ranges(game<Kind>& in, const std::optional<std::vector<position_range>>& ranges,
                  const Record& expected, const Known& now, const std::set<std::size_t>& edited) {
    ASSERT_TRUE(ranges);
    std::set<std::size_t> written;
    for (const auto& [first, last] : *ranges) {
        for (std::size_t i = first; i != last; ++i) {
            written.insert(i);
        }
    }
    std::set<std::size_t> needed = edited;
    for (const auto& each : expected.born) {
        needed.insert(each.position);
    }
    for (const auto& each : expected.moved) {
        needed.insert(each.to);
    }
    EXPECT_TRUE(std::ranges::includes(written, needed));
    if (!in.writes_more_positions) {
        for (const auto& [id, known] : now) {
            EXPECT_EQ(written.contains(known.position), needed.contains(known.position)) << known.position;
        }
    }
}
template <class Kind, class Known, class Record>
void check_uploads(game<Kind>& in, const Record& expected, const Known& now) {
    const auto edited_in = [&](edit_truth columns) {
        std::set<std::size_t> positions;
        for (const auto& [id, marked] : in.edited) {
            if (now.contains(id) && in.known_to_log.contains(id) && (marked & columns) != 0) {
                positions.insert(now.at(id).position);
            }
        }
        return positions;
    };
    check_ranges(in, in.log->upload_ranges(in.frame_seen), expected, now, edited_in(edited_as_a_whole));
    if constexpr (column_count<Kind> != 0) {
        check_ranges(in, in.log->template upload_ranges<0>(in.frame_seen), expected, now, edited_in(1));
        check_ranges(in, in.log->template upload_ranges<1>(in.frame_seen), expected, now, edited_in(2));
    }
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
    check_uploads(in, expected, now);
}

/// Another log tells the same of these frames, which may have other numbers there.
template <class Kind>
void check_other_log(game<Kind>& in, std::uint64_t frames) {
    if (!in.other.log || in.other.log->frame() < frames) {
        return;
    }
    const auto records = in.log->changes_since(in.log->frame() - frames);
    const auto others = in.other.log->changes_since(in.other.log->frame() - frames);
    if (!records || !others) {
        return;
    }
    for (std::size_t i = 0; i != records->size(); ++i) {
        const auto& one = (*records)[i];
        const auto& other = (*others)[i];
        EXPECT_EQ(one.born, other.born);
        EXPECT_EQ(one.destroyed, other.destroyed);
        EXPECT_EQ(one.moved, other.moved);
        EXPECT_EQ(one.edited, other.edited);
        EXPECT_EQ(one.renamed, other.renamed);
        EXPECT_EQ(one.never_seen, other.never_seen);
        EXPECT_EQ(one.size, other.size);
        EXPECT_EQ(one.cleared, other.cleared);
        EXPECT_EQ(one.reset, other.reset);
        EXPECT_EQ(one.reordered, other.reordered);
    }
    EXPECT_EQ(in.log->upload_ranges(in.log->frame() - frames),
              in.other.log->upload_ranges(in.other.log->frame() - frames));
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
        check_other_log(in, frames);
        if (frames == 1 && !in.was_rewritten) {
            check_one_record(in, now);
        }
        in.known_to_log = now;
        in.frame_seen = in.log->frame();
        in.ended_in_frame.clear();
        in.edited.clear();
        in.was_sorted = false;
        in.writes_more_positions = false;
        in.is_reset_by_frame = false;
        in.was_rewritten = false;
    }
    return frames;
}

} // namespace handlepool::test
