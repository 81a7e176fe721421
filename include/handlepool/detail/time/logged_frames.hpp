// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/marks/written_positions.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/time/destroyed_values.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/time/frame_record.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace handlepool::detail {

/// What a log keeps of a frame: its record, which positions were written in it, and the values of the objects
/// that it has destroyed, if they are asked for.
template <class Handle, class Policy>
struct logged_frame {
    using element_type = typename Handle::element_type;

    /// Throws reservation_failed and std::bad_alloc.
    logged_frame(const allocation_label& what_for, std::size_t positions, std::size_t columns,
                 const object_type<element_type>& type)
        : written(what_for, positions, columns), values(type) {}

    frame_record<Handle> record;
    written_positions<Policy> written;
    kept_values<element_type> values;
};

/// The last frames of a log, by their numbers: each takes the place of the one that is no longer kept. A
/// frame that was lost takes those before it along, since nobody can go past it:
///
/// ```
///   places of 4 frames      4   5   2   3      frame 5 has ended: the records after frame 1 are kept
///   frame 6 is lost         4   5   ·   3      those after 6, which are none so far
///   frame 7 ends            4   5   ·   7      those after 6
/// ```
template <class Handle, class Policy>
class logged_frames {
public:
    using frame_type = logged_frame<Handle, Policy>;
    using record_type = frame_record<Handle>;
    using written_type = written_positions<Policy>;

    /// Looks at the records of some frames after `seen`.
    struct record_projection {
        using value_type = record_type;

        std::size_t size() const noexcept { return static_cast<std::size_t>(count); }
        const record_type& operator()(std::size_t position) const noexcept {
            return frames->at(seen + 1 + position).record;
        }

        const logged_frames* frames = nullptr;
        std::uint64_t seen = 0;
        std::uint64_t count = 0;
    };

    /// Makes places for so many frames of a store with positions below `positions`, in which so many columns
    /// are told apart. Before all others, once. Throws reservation_failed and std::bad_alloc.
    void make_places(std::size_t frames, const allocation_label& what_for, std::size_t positions,
                     std::size_t columns, const object_type<typename Handle::element_type>& type) {
        places_.reserve(frames);
        for (std::size_t i = 0; i != frames; ++i) {
            places_.push_back(std::make_unique<frame_type>(what_for, positions, columns, type));
        }
    }

    /// The number of the last frame, and of the earliest one after which all are kept.
    std::uint64_t last() const noexcept { return last_; }
    std::uint64_t oldest() const noexcept { return oldest_; }

    const frame_type& at(std::uint64_t frame) const noexcept { return *places_[frame % places_.size()]; }
    record_projection records_after(std::uint64_t seen) const noexcept {
        return {.frames = this, .seen = seen, .count = last_ - seen};
    }

    /// Calls `visit(first, last)` for what was written after frame `seen`, as
    /// written_positions::for_each_joined_run() does.
    template <class Visit>
    void for_each_joined_run(std::uint64_t seen, std::size_t column, std::size_t gap, Visit visit) const {
        written_type::for_each_joined_run(
            last_ - seen, [&](std::size_t i) -> const written_type& { return at(seen + 1 + i).written; },
            column, gap, visit);
    }

    /// A frame ends: returns its place, with an empty record and without positions. The values are those of
    /// the frame that was there.
    frame_type& begin_next() noexcept {
        ++last_;
        frame_type& next = *places_[last_ % places_.size()];
        next.written.clear();
        clear(next.record);
        next.record.frame = last_;
        return next;
    }
    /// All of the frame is at its place, or it is lost.
    void end_next(bool is_kept) noexcept {
        const std::uint64_t before_kept = last_ - least<std::uint64_t>(last_, places_.size());
        oldest_ = is_kept ? greatest(oldest_, before_kept) : last_;
    }

    memory_use memory() const noexcept {
        memory_use sum;
        for (const auto& each : places_) {
            const std::size_t bytes = each->values.bytes();
            sum = sum + each->written.memory() + memory_use{.reserved = bytes, .resident = bytes};
        }
        return sum;
    }

private:
    /// Keeps the lists' memory, for the next frames.
    static void clear(record_type& record) noexcept {
        record.born.clear();
        record.destroyed.clear();
        record.moved.clear();
        record.renamed.clear();
        record.edited.clear();
        record.never_seen = 0;
        record.cleared = false;
        record.reset = false;
        record.reordered = false;
    }

    std::vector<std::unique_ptr<frame_type>> places_; // of frame f at f % size
    std::uint64_t last_ = 0;
    std::uint64_t oldest_ = 0;
};

} // namespace handlepool::detail
