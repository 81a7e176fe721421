// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/snapshots/journal_reader.hpp>
#include <handlepool/snapshots/told_lives.hpp>

#include <nlohmann/json.hpp>
#include <tools/recorded_world/recorded_world.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace handlepool::inspect_tool {

/// The frames of a world that the program keeps in a folder, or has kept: what each has changed. For one
/// thread.
class recorded_past {
public:
    /// Throws what recorded_frames does.
    explicit recorded_past(const std::string& folder) : folder_(folder), frames_(folder) {}

    /// How many frames there are by now, and the numbers of the first and the last.
    nlohmann::ordered_json frames();

    /// In what the last recorded frames up to these two differ: `most` for each part. Throws not_found if
    /// there is none. Quick when they follow those of the call before; else linear in what lies between a
    /// frame and the snapshot before it.
    nlohmann::ordered_json changes(std::uint64_t from, std::uint64_t to, std::size_t most);

    /// Whose lives began and ended in the last recorded frame up to this one, and who did that, if a
    /// delta_recorder has told it: `most` of them. Throws not_found. Quick when the frame follows that of the
    /// call before; else linear in what lies between it and the snapshot before it.
    nlohmann::ordered_json lives(std::uint64_t frame, std::size_t most);

private:
    std::uint64_t last_up_to(std::uint64_t frame) const;
    void go_to(std::uint64_t frame);
    std::vector<told_lives> lives_in(std::uint64_t frame);

    std::string folder_;
    recorded_worlds::recorded_frames frames_;
    std::optional<recorded_worlds::recorded_world> world_; // at the last frame that was asked for
    std::optional<std::uint64_t> frame_of_bytes_;
    std::vector<std::byte> bytes_;          // a snapshot of it
    std::optional<journal_reader> journal_; // up to the last frame whose lives were asked for
};

} // namespace handlepool::inspect_tool
