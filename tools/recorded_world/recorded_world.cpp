// SPDX-License-Identifier: MIT
#include "recorded_world.hpp"

#include <handlepool/snapshots/saved_world.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace handlepool::recorded_worlds {

namespace fs = std::filesystem;

namespace {

std::vector<std::uint64_t> snapshots_in(const std::string& folder) {
    std::vector<std::uint64_t> snapshots = saved_frames(folder);
    if (snapshots.empty()) {
        throw not_replayed(fmt::format("folder '{}' has no snapshot", folder));
    }
    return snapshots;
}

/// The journal that goes on from this frame, if there is one.
std::optional<journal_reader> journal_from(const fs::path& folder, std::uint64_t frame) {
    const fs::path file = journal_file_of(folder, frame);
    if (!fs::exists(file)) {
        return std::nullopt;
    }
    std::optional<journal_reader> journal(file);
    if (journal->origin().frame != frame) {
        throw not_replayed(fmt::format("journal '{}' goes on from frame {}; its name says {}", file.string(),
                                       journal->origin().frame, frame));
    }
    return journal;
}

} // namespace

recorded_world::recorded_world(const std::string& folder, const std::string& part)
    : folder_(folder), part_(part), snapshots_(snapshots_in(folder)) {}

double recorded_world::part_read() const {
    const std::uint64_t read = read_before_ + (journal_ ? journal_->offset() : 0);
    return static_cast<double>(read) / static_cast<double>(bytes_);
}

bool recorded_world::begin(std::uint64_t frame) {
    const auto behind = std::ranges::upper_bound(snapshots_, frame);
    if (behind == snapshots_.begin()) {
        throw not_replayed(
            fmt::format("folder '{}' has no snapshot up to frame {}: the first one is of frame {}",
                        folder_.string(), frame, snapshots_.front()));
    }
    const std::uint64_t from = *(behind - 1);
    const std::string file = snapshot_file_of(folder_, from).string();
    const std::vector<std::byte> bytes = read_snapshot_file(file);
    world_.emplace(bytes, from, file);
    before_ = from;
    count_bytes(from);
    open_journal();
    while (this->frame() < frame) {
        if (!next()) {
            return false;
        }
    }
    return true;
}

bool recorded_world::next() {
    while (journal_) {
        if (journal_->next()) {
            before_ = frame();
            const auto delta = delta_in_entry(*journal_, part_, file_);
            world_->apply(delta, fmt::format("{}, frame {}", file_, journal_->frame()));
            delta_.assign(delta.begin(), delta.end());
            return true;
        }
        const bool has_frames = journal_->frame() != journal_->origin().frame;
        read_before_ += journal_->offset();
        journal_.reset();
        if (has_frames) {
            open_journal();
        }
    }
    return false;
}

/// Of the journals of the snapshots from this frame on: only the bar needs it.
void recorded_world::count_bytes(std::uint64_t from) {
    bytes_ = 1;
    read_before_ = 0;
    for (auto each = std::ranges::lower_bound(snapshots_, from); each != snapshots_.end(); ++each) {
        std::error_code error;
        const std::uintmax_t size = fs::file_size(journal_file_of(folder_, *each), error);
        bytes_ += error ? 0 : size;
    }
}

void recorded_world::open_journal() {
    journal_ = journal_from(folder_, frame());
    file_ = journal_file_of(folder_, frame()).string();
}

recorded_frames::recorded_frames(const std::string& folder)
    : folder_(folder), frames_{snapshots_in(folder).front()} {}

void recorded_frames::update() {
    // What came before has been removed, perhaps.
    const std::uint64_t first = snapshots_in(folder_.string()).front();
    std::erase_if(frames_, [first](std::uint64_t frame) { return frame < first; });
    if (frames_.empty()) {
        frames_.push_back(first);
        journal_.reset();
    }
    for (;;) {
        if (!journal_) {
            journal_ = journal_from(folder_, frames_.back());
        }
        if (!journal_) {
            return;
        }
        while (journal_->next()) {
            frames_.push_back(journal_->frame());
        }
        // What goes on from its last frame, or else the same one when more was written.
        if (journal_->origin().frame == frames_.back() ||
            !fs::exists(journal_file_of(folder_, frames_.back()))) {
            return;
        }
        journal_.reset();
    }
}

} // namespace handlepool::recorded_worlds
