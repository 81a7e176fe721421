// SPDX-License-Identifier: MIT
#include "recorded_past.hpp"

#include "pool_watch.hpp"

#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/snapshots/compare_snapshots.hpp>
#include <handlepool/snapshots/saved_world.hpp>

#include <fmt/format.h>
#include <tools/recorded_world/delta_in_entry.hpp>
#include <tools/recorded_world/life_text.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>

namespace handlepool::inspect_tool {

using nlohmann::ordered_json;

ordered_json recorded_past::frames() {
    frames_.update();
    const std::vector<std::uint64_t>& all = frames_.all();
    return {{"folder", detail::printable(folder_)},
            {"count", all.size()},
            {"first", all.front()},
            {"last", all.back()}};
}

ordered_json recorded_past::changes(std::uint64_t from, std::uint64_t to, std::size_t most) {
    from = last_up_to(from);
    to = last_up_to(to);
    go_to(from);
    const std::vector<std::byte> before = bytes_;
    go_to(to);
    const snapshot_differences found = compare_snapshots(before, bytes_, {.most = most});
    ordered_json differences = ordered_json::array();
    for (const snapshot_difference& each : found.found) {
        differences.push_back({{"part", detail::printable(each.part)},
                               {"object", detail::printable(each.object)},
                               {"what", detail::printable(each.what)},
                               {"before", detail::printable(each.first)},
                               {"after", detail::printable(each.second)}});
    }
    return {
        {"from", from}, {"to", to}, {"differences", std::move(differences)}, {"left_out", found.left_out}};
}

ordered_json recorded_past::lives(std::uint64_t frame, std::size_t most) {
    frame = last_up_to(frame);
    ordered_json lives = ordered_json::array();
    std::size_t count = 0;
    try {
        for (const told_lives& of : lives_in(frame)) {
            for (const told_life& each : of.lives) {
                if (count++ < most) {
                    lives.push_back({{"pool", detail::printable(of.pool)},
                                     {"name", detail::name_of_handle(each.index, each.generation)},
                                     {"handle", fmt::format("{:#x}", each.handle)},
                                     {"has_ended", each.end.has_value()},
                                     {"text", recorded_worlds::text_of(each)}});
                }
            }
        }
    } catch (const std::exception& error) { // files may be removed, and be damaged
        journal_.reset();
        throw not_found(detail::printable(error.what()));
    }
    return {{"frame", frame}, {"left_out", count - lives.size()}, {"lives", std::move(lives)}};
}

/// Of the journal that goes on from the last snapshot before the frame.
std::vector<told_lives> recorded_past::lives_in(std::uint64_t frame) {
    if (frame == frames_.all().front()) { // that of the first snapshot
        return {};
    }
    const std::vector<std::uint64_t> snapshots = saved_frames(folder_);
    const auto behind = std::ranges::lower_bound(snapshots, frame);
    if (behind == snapshots.begin()) {
        throw not_found(fmt::format("frame {} is not there any more", frame));
    }
    const std::uint64_t from = *(behind - 1);
    const std::string file = journal_file_of(folder_, from).string();
    if (!journal_ || journal_->origin().frame != from || journal_->frame() > frame) {
        journal_.emplace(std::filesystem::path(file));
    }
    while (journal_->frame() < frame && journal_->next()) {
    }
    if (journal_->frame() != frame) {
        throw not_found(fmt::format("frame {} is not in '{}'", frame, file));
    }
    return read_lives(recorded_worlds::delta_in_entry(*journal_, "", file),
                      fmt::format("{}, frame {}", file, frame));
}

std::uint64_t recorded_past::last_up_to(std::uint64_t frame) const {
    const std::vector<std::uint64_t>& all = frames_.all();
    const auto behind = std::ranges::upper_bound(all, frame);
    if (behind == all.begin()) {
        throw not_found(fmt::format("frame {} is not recorded: the first one is {}", frame, all.front()));
    }
    return *(behind - 1);
}

/// The bytes are kept: the next question is mostly what the frame after this one has changed.
void recorded_past::go_to(std::uint64_t frame) {
    if (frame_of_bytes_ == frame) {
        return;
    }
    frame_of_bytes_.reset();
    try {
        const bool is_next = world_ && world_->frame() < frame && world_->next() && world_->frame() == frame;
        if (!is_next) {
            world_.emplace(folder_, ""); // there may be further snapshots
            if (!world_->begin(frame) || world_->frame() != frame) {
                throw not_found(fmt::format("frame {} is not there any more", frame));
            }
        }
    } catch (const std::exception& error) { // files may be removed, and be damaged
        world_.reset();
        throw not_found(detail::printable(error.what()));
    }
    world_->save(bytes_);
    frame_of_bytes_ = frame;
}

} // namespace handlepool::inspect_tool
