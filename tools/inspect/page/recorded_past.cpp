// SPDX-License-Identifier: MIT
#include "recorded_past.hpp"

#include "pool_watch.hpp"

#include <handlepool/detail/text/text.hpp>
#include <handlepool/snapshots/compare_snapshots.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
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
