// SPDX-License-Identifier: MIT
#include "added_part.hpp"
#include "delta_frames.hpp"
#include "settled_entries.hpp"
#include "snapshot_format.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>

#include <stdexcept>
#include <string>

namespace handlepool {

// Here, so that a program has one table of its functions.
detail::recorded_entry::~recorded_entry() = default;
detail::recorded_whole::~recorded_whole() = default;

namespace {

using entry_list = std::vector<std::unique_ptr<detail::recorded_entry>>;

/// One moment of all entries, while it lives.
class moment {
public:
    /// Throws what the entries throw.
    explicit moment(const entry_list& entries) : locked_(entries) {
        for (const auto& each : entries) {
            each->lock();
        }
        detail::repeat_until_settled(
            entries, &detail::recorded_entry::settle,
            "delta_recorder: hooks create or erase objects again and again at the end of a frame");
    }
    moment(const moment&) = delete;
    moment& operator=(const moment&) = delete;

private:
    struct locked_entries {
        explicit locked_entries(const entry_list& all) noexcept : entries(all) {}
        ~locked_entries() {
            for (const auto& each : entries) {
                each->unlock();
            }
        }
        locked_entries(const locked_entries&) = delete;
        locked_entries& operator=(const locked_entries&) = delete;

        const entry_list& entries;
    };

    locked_entries locked_; // also when the constructor throws
};

/// The records of a frame, which are those of all entries, or of none.
class recording {
public:
    explicit recording(const entry_list& entries) noexcept : entries_(entries) {}
    ~recording() {
        for (std::size_t i = 0; i != to_undo_; ++i) {
            entries_[i]->undo();
        }
    }
    recording(const recording&) = delete;
    recording& operator=(const recording&) = delete;

    void make(detail::snapshot_writer& to) {
        for (const auto& each : entries_) {
            each->record(to);
            ++to_undo_;
        }
    }
    void commit() noexcept {
        to_undo_ = 0;
        for (const auto& each : entries_) {
            each->commit();
        }
    }

private:
    const entry_list& entries_;
    std::size_t to_undo_ = 0;
};

} // namespace

delta_recorder::delta_recorder() = default;
delta_recorder::~delta_recorder() = default;

void delta_recorder::require_bytes(bool consists_of_bytes, std::string_view name) {
    detail::require_bytes_in("delta_recorder", name, consists_of_bytes);
}

void delta_recorder::require_lives(bool records_lives, std::string_view name, std::string_view pool) {
    if (!records_lives) {
        detail::refuse_part("delta_recorder", name,
                            detail::quoted_pool(pool) +
                                " records no lives; pool_options::record_lives says how many");
    }
}

std::string delta_recorder::checked_name(std::string_view name) const {
    if (frame_) {
        detail::throw_exception(std::logic_error("delta_recorder, '" + detail::printable(name) +
                                                 "': nothing can be added after begin()"));
    }
    detail::require_free_name("delta_recorder", name, entries_);
    if (name == detail::frames_name) {
        detail::refuse_part("delta_recorder", name, "under this name a delta has its number");
    }
    return std::string(name);
}

void delta_recorder::own(std::unique_ptr<detail::recorded_entry> entry) {
    entries_.push_back(std::move(entry));
}

void delta_recorder::begin(std::uint64_t frame) {
    frame_.reset();
    const moment now(entries_);
    for (const auto& each : entries_) {
        each->begin();
    }
    frame_ = frame;
}

void delta_recorder::append(std::uint64_t frame, std::vector<std::byte>& out) {
    if (!frame_) {
        detail::throw_exception(std::logic_error("delta_recorder: append() is called before begin()"));
    }
    if (frame <= *frame_) {
        detail::throw_exception(std::invalid_argument("delta_recorder: frame " + std::to_string(frame) +
                                                      " does not come after frame " +
                                                      std::to_string(*frame_) + ", which was told last"));
    }
    detail::snapshot_writer to(out);
    detail::write(to, detail::delta_frames{.before = *frame_, .after = frame});
    const moment now(entries_);
    recording all(entries_);
    all.make(to);
    to.finish();
    all.commit();
    frame_ = frame;
}

} // namespace handlepool
