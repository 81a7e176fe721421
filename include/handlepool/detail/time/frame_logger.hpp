// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/contract.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/time/destroyed_values.hpp>
#include <handlepool/detail/time/frame_recorder.hpp>
#include <handlepool/detail/time/frame_refusals.hpp>
#include <handlepool/detail/time/logged_frames.hpp>
#include <handlepool/detail/time/mark_check.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace handlepool::detail {

/// What a frame_logger is to keep.
struct log_plan {
    std::size_t frames = 0;
    std::size_t columns = 0; // that have marks of their own
    bool checks_marks = false;
    bool keeps_destroyed = false;
};

/// Writes down what each frame of a pool did, for a change_log, by the parts of this room:
///
/// ```
///   mark()        any thread      ──▶ frame_recorder      what was edited
///   keep()        an object ends  ──▶ destroyed_values    what it was
///   end_frame()   a frame ends    ──▶ logged_frames       all that these two have found
///                                 ──▶ mark_check          what has changed without a mark
/// ```
///
/// The pool calls begin(), keep() and end_frame(), while its gate is closed. Objects that end before begin()
/// are in no record. All else, but for marks, may be asked between compactions.
template <class Parts, class Handle>
class frame_logger {
    using element_type = typename Handle::element_type;
    using policy = typename Parts::policy;
    using recorder_type = frame_recorder<Parts, Handle>;
    using values_type = destroyed_values<element_type, policy>;
    using check_type = mark_check<element_type>;

public:
    using frames_type = logged_frames<Handle, policy>;
    using written_type = typename frames_type::written_type;
    using notes_type = typename recorder_type::notes_type;
    using value_type = typename Parts::value_type;
    using pointer = typename Parts::pointer;

    explicit frame_logger(std::string_view pool) : name_(pool) {}

    /// For messages, also when the pool has gone.
    std::string owner() const { return "change_log of " + quoted_pool(name_); }

    // ---- What the pool calls

    /// Follows the pool from here on. Throws reservation_failed and std::bad_alloc.
    void begin(const Parts& parts, const log_plan& plan) {
        const auto what_for = allocation_label::of_pool(name_);
        frames_.make_places(plan.frames, what_for.part(" written positions"),
                            recorder_type::most_positions(parts), plan.columns, parts.objects.type());
        parts_ = &parts;
        checks_marks_ = plan.checks_marks;
        if (plan.keeps_destroyed) {
            values_.emplace(what_for.part(" change log"), parts.geometry.slot_limit, parts.objects.type());
        }
        recorder_.emplace(what_for.part(" change log"), parts, plan.columns);
    }

    /// An object ends, and values of objects are kept.
    void keep(value_type handle, pointer object) noexcept {
        if (!recorder_) { // before begin()
            return;
        }
        const slot_index slot = parts_->table.slot_of(handle);
        if (recorder_->is_told(*parts_, slot)) {
            values_->add(slot, object);
        }
    }

    void end_frame(const notes_type& notes, const Parts& parts) noexcept {
        auto& now = frames_.begin_next();
        const bool has_values = !values_ || values_->prepare(now.values);
        const bool is_kept = recorder_->end_frame(parts, notes, has_values, now.record, now.written);
        frames_.end_next(is_kept);
        if constexpr (check_type::looks) {
            if (!is_kept) {
                marks_.forget(); // what was written is not known
            } else if (checks_marks_) {
                check_marks(parts, now.written);
            }
        }
        if (values_) {
            if (is_kept) {
                values_->give(now.record, now.values);
            } else {
                now.values.clear();
            }
            values_->begin_frame();
        }
    }

    // ---- Marks: any thread, like frame_recorder::mark()

    /// The object of a handle was written, or a column of it.
    void mark(Handle handle) noexcept { recorder_->mark(slot_of(handle)); }
    void mark(Handle handle, std::size_t column) noexcept { recorder_->mark(slot_of(handle), column); }
    /// The same of the object at a position of the dense store, or of its columns. That the store has it,
    /// only a checked build verifies.
    void mark_at(std::size_t position) noexcept { recorder_->mark(slot_at(position)); }
    template <class... Columns>
    void mark_at(std::size_t position, Columns... columns) noexcept {
        const slot_index slot = slot_at(position);
        (recorder_->mark(slot, columns), ...);
    }

    // ---- What is known

    const frames_type& frames() const noexcept { return frames_; }
    bool keeps_destroyed() const noexcept { return values_.has_value(); }

    /// Throws std::out_of_range for a frame that is yet to come.
    void require_ended(std::uint64_t seen) const {
        if (seen > frames_.last()) {
            throw_not_ended(owner(), seen, frames_.last());
        }
    }
    /// Calls `visit(first, last)` for positions of the store that were written after frame `seen`, in this
    /// column or in any. Returns false if not all of these frames are kept. Throws std::out_of_range like
    /// require_ended(), and what `visit` throws.
    template <class Visit>
    bool for_each_range(std::size_t column, std::uint64_t seen, std::size_t max_gap, Visit visit) const {
        require_ended(seen);
        if (seen < frames_.oldest()) {
            return false;
        }
        const std::size_t end = recorder_->positions();
        frames_.for_each_joined_run(seen, column, max_gap, [&](std::size_t first, std::size_t last) {
            if (first < end) {
                visit(first, least(last, end));
            }
        });
        return true;
    }

    /// The object at a position that the records have told of, and its handle; null where there is none.
    Handle told_at(std::size_t position) const noexcept {
        return position < recorder_->positions() ? recorder_->told_at(position) : Handle();
    }
    pointer told_object_at(std::size_t position) const noexcept {
        return position < recorder_->positions() ? recorder_->told_object_at(*parts_, position) : pointer();
    }
    /// Calls `visit(handle, position)` for each of them. Throws what `visit` throws.
    template <class Visit>
    void for_each_told(Visit& visit) const {
        for (std::size_t position = 0, end = recorder_->positions(); position != end; ++position) {
            if (const Handle handle = recorder_->told_at(position)) {
                visit(handle, position);
            }
        }
    }
    /// The position of a living object, if it is in the store. Any thread.
    std::optional<std::size_t> position_of(Handle handle) const noexcept {
        return recorder_->position_of(*parts_, handle.value());
    }

    memory_use memory() const noexcept {
        const memory_use all = recorder_->memory() + frames_.memory();
        return values_ ? all + values_->memory() : all;
    }

private:
    static slot_index slot_of(Handle handle) noexcept {
        return slot_index{static_cast<std::uint32_t>(handle.index())};
    }
    slot_index slot_at(std::size_t position) const noexcept {
        if constexpr (checked) {
            expects(position < parts_->objects.size(), name_,
                    "mark_at() of a change_log was given a position that the store doesn't have");
        }
        return parts_->objects.owner(dense_position{static_cast<std::uint32_t>(position)});
    }
    void check_marks(const Parts& parts, const written_type& written) noexcept {
        const bool has_memory =
            capture_exception([&] {
                marks_.end_frame(
                    name_, recorder_->positions(),
                    [&](std::size_t at) { return recorder_->told_object_at(parts, at); },
                    [&](std::size_t at, std::size_t column) { return written.contains(at, column); },
                    [&](std::size_t at) { return recorder_->told_at(at); });
            }) == nullptr;
        if (!has_memory) {
            marks_.forget();
        }
    }

    std::string name_; // of the pool
    const Parts* parts_ = nullptr;
    std::optional<recorder_type> recorder_;
    std::optional<values_type> values_; // if they are asked for
    [[no_unique_address]] check_type marks_;
    bool checks_marks_ = false;
    frames_type frames_;
};

} // namespace handlepool::detail
