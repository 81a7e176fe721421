// SPDX-License-Identifier: MIT
#pragma once

#include "delta_in_entry.hpp"

#include <handlepool/snapshots/journal_reader.hpp>
#include <handlepool/snapshots/replay.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace handlepool::recorded_worlds {

/// A folder with snapshots of a world and the journals between them, read frame by frame. Throws
/// not_replayed, invalid_journal, invalid_snapshot, frame_gap and std::system_error.
class recorded_world {
public:
    /// `part` is the name of the part that has the delta, in each entry; empty: the only one.
    recorded_world(const std::string& folder, const std::string& part);

    std::uint64_t first_frame() const { return snapshots_.front(); }
    std::uint64_t frame() const { return world_->frame(); }
    /// That led to this frame from the one before.
    std::span<const std::byte> delta() const { return delta_; }
    std::uint64_t frame_before() const { return before_; }
    void save(std::vector<std::byte>& to) const { world_->save(to); }
    /// From 0 to 1.
    double part_read() const;

    /// Goes to the first frame that is not before this one. Returns false if there is none. Throws
    /// not_replayed if this one is before the first frame, too, whose files may have been removed.
    bool begin(std::uint64_t frame);
    /// Goes on to the next frame. Returns false if there is none, for now.
    bool next();

private:
    void count_bytes(std::uint64_t from);
    void open_journal();

    std::filesystem::path folder_;
    std::string part_;
    std::vector<std::uint64_t> snapshots_;
    std::optional<handlepool::replay> world_;
    std::optional<journal_reader> journal_;
    std::string file_; // its name
    std::vector<std::byte> delta_;
    std::uint64_t before_ = 0;
    std::uint64_t bytes_ = 1;       // of all journals
    std::uint64_t read_before_ = 0; // of those before this one
};

/// The frames of such a folder, from the first snapshot on, as far as its journals go on from each other;
/// also while they are written.
class recorded_frames {
public:
    /// Throws not_replayed, as update() does the same as recorded_world.
    explicit recorded_frames(const std::string& folder);

    /// Reads on from where it was, and forgets what is not there any more.
    void update();
    const std::vector<std::uint64_t>& all() const noexcept { return frames_; }

private:
    std::filesystem::path folder_;
    std::optional<journal_reader> journal_;
    std::vector<std::uint64_t> frames_;
};

} // namespace handlepool::recorded_worlds
