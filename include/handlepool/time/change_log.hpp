// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/columns/named_columns.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/pool/pool_access.hpp>
#include <handlepool/detail/pool/projected_view.hpp>
#include <handlepool/detail/time/frame_logger.hpp>
#include <handlepool/detail/time/frame_refusals.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/raw_type.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/time/frame_record.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// What a change_log keeps.
struct change_log_options {
    /// The frames whose records are kept, 1 to 65,536: readers that are further behind find a gap.
    std::size_t frames = 8;

    /// A checked build ends the program when an object has changed in a frame that was not marked: it hashes
    /// the bytes of all objects that consist of bytes, at the end of each frame. Off, for objects of which
    /// not every change is to be told.
    bool check_marks = true;

    /// Of a pool of columns, each has marks of its own: so upload_ranges() of a column gives what was written
    /// there. Without this option, a mark of a column is one of the row. It costs a byte of address space for
    /// each handle index and column, and a bit for each position, column and frame.
    bool mark_columns = false;
};

/// Makes a change_log keep the values of destroyed objects, too: `change_log log(ships, keep_destroyed)`.
struct keep_destroyed_t {
    /// Of a number, so that {} is no such argument.
    explicit constexpr keep_destroyed_t(int) noexcept {}
};
/// Given to the constructor of a change_log.
inline constexpr keep_destroyed_t keep_destroyed{0};

/// Positions from `first` to before `last`.
struct position_range {
    /// The first one, and the one after the last.
    std::size_t first = 0;
    std::size_t last = 0;

    /// Compare as a whole.
    friend bool operator==(position_range, position_range) = default;
};

/// Follows a pool: what each frame did to it, and which positions were written since then. For whoever
/// uploads what changed, sends it to others, or looks at it later. Each reader remembers the number of the
/// frame that it has seen, so none disturbs another.
///
/// ```
///   ships.compact()          ships.compact()          ships.compact()
///  ───────┬────────────────────────┬────────────────────────┬──────▶
///  frame  7       edit(h)  erase   8     emplace  mark(h)   9
///         ▲                                                 ▲
///         └─ seen = log.frame()        changes_since(seen): records of 8 and 9
///                                      upload_ranges(seen): positions written in 8 and 9
/// ```
///
///     handlepool::change_log log(ships);
///     std::uint64_t seen = log.frame();
///     log.edit(ship)->x = 1;                       // any thread
///     ships.compact();
///     if (const auto ranges = log.upload_ranges(seen)) {
///         for (const auto [first, last] : *ranges) ... // upload items() from `first` to before `last`
///     } else { ... }                                   // upload all
///     seen = log.frame();
///
/// A frame ends with compact(), try_compact(), compact_some(), a compaction of the pool's service, drain() or
/// reset(). All that happens under exclusive access is one frame, which ends with it, or with compact(). What
/// is in which list of a record, frame_record says.
///
/// A reader that finds a gap begins anew: for_each_known() gives the objects that the records have told of.
///
/// With `keep_destroyed` the log also has the values of the objects that a record tells the end of: for an
/// undo, for replicas that are sent the last state, for what is left of them.
///
///     handlepool::change_log log(ships, handlepool::keep_destroyed);
///     ...
///     if (const auto ended = log.destroyed_entries(log.frame())) {
///         for (const auto [handle, ship] : *ended) ...
///     }
///
/// A value is a copy, which the log's hook of on_destroy() makes after all early ones: so it has what was
/// written after the object was erased, and what is done with the object itself does not concern it. Of which
/// objects there is one:
///
/// | ended by | value |
/// | --- | --- |
/// | erase, erase_if, clear, reset | what the object was when the frame destroyed it |
/// | extract, drain | the same, before its sink has it |
/// | exclusive access | what the object was when the call destroyed it |
/// | an object that is in no record, because it was born in the same frame | none |
/// | a restore by a capture_ring that undoes its birth | the same as by erase |
/// | a restore that only writes to it: it does not end | none |
/// | the end of the pool, which is no frame | none; the copies that it makes end with the log |
///
/// The memory of the values is used again. They end in the compacting thread when the log has not kept their
/// frame any more, or with the log; so destructors run for an object and for each copy of it.
///
/// In a pool of columns, edits and marks may name the columns that are written, by index or by type, and a
/// reader asks for one. Births and moves write all columns, and so does a mark that names none:
///
///     handlepool::change_log log(movers, {.mark_columns = true});
///     log.edit<position>(mover)->x = 1;     // an element, where edit(mover) gives the row
///     log.mark<position, velocity>(mover);
///     movers.compact();
///     log.upload_ranges<position>(seen);    // of that column
///
/// The log and the pool may be destroyed in either order; when the pool has gone, frame(), oldest(),
/// changes_since(), destroyed_entries() and upload_ranges() are left. A pool may have any number of logs,
/// each with marks of its own. Its compactions note what they destroy, a bit for each slot and position, and
/// those of a stable pool also look at a word for each of its groups; with `keep_destroyed` they call the log
/// for each object that they destroy, in the compacting thread, as they do for attached containers. A pool
/// without a log pays a look at a flag when it is sorted, for a revoke and for each object that a compaction
/// destroys. If there is no memory for a record, or a value can't be copied, its frame is lost, and readers
/// find a gap; a program without exceptions ends.
///
/// Threads: edit(), mark() and mark_at() may be called by any thread within the frame contract: no compaction
/// runs meanwhile, as with pointers to objects. All else may be called by any number of threads between two
/// compactions.
///
/// @tparam Pool type of the pool: of objects, rows or objects of run-time types, in any placement
template <class Pool>
class change_log {
    using core_type = std::remove_reference_t<decltype(detail::pool_access::pool_of(std::declval<Pool&>()))>;
    using parts_type = typename core_type::parts_type;
    using element_type = typename Pool::handle_type::element_type;
    using columns_type = detail::named_columns<element_type>;
    using logger_type = detail::frame_logger<parts_type, typename Pool::handle_type>;
    static constexpr std::size_t any_column = logger_type::written_type::any_column;
    static constexpr bool can_keep_destroyed = detail::object_type<element_type>::may_copy;
    template <std::size_t... Indices>
    static constexpr bool are_columns = sizeof...(Indices) != 0 && ((Indices < columns_type::count) && ...);
    template <class... Columns>
    static constexpr bool name_columns =
        sizeof...(Columns) != 0 && (columns_type::template has<Columns> && ...);

public:
    /// The pool's handles, what it gives for them, and what a frame did to it.
    using handle_type = typename Pool::handle_type;
    using pointer = typename Pool::pointer;
    using const_pointer = typename Pool::const_pointer;
    using record_type = frame_record<handle_type>;

    /// Follows the pool from here on; its frame is 0 now. Subject to the same rules as on_destroy() of the
    /// pool. Linear in the objects. Throws what that throws, std::invalid_argument for a number of frames
    /// that no log can keep and for `mark_columns` of a pool without columns, reservation_failed and
    /// std::bad_alloc; then nothing has changed.
    explicit change_log(Pool& pool, change_log_options options = {}) : change_log(pool, options, false) {}

    /// The same, and keeps the values of destroyed objects, which must be copy constructible; in a row, each
    /// element. Also throws std::invalid_argument for a raw_pool of a type with functions: only objects that
    /// consist of bytes can be copied.
    change_log(Pool& pool, keep_destroyed_t, change_log_options options = {})
        requires(detail::object_type<typename Pool::handle_type::element_type>::may_copy)
        : change_log(pool, options, true) {}

    /// Not while the pool is compacted.
    ~change_log() = default;

    /// The pool refers to it.
    change_log(const change_log&) = delete;
    change_log& operator=(const change_log&) = delete;

    // ---- Marks: any thread, within the frame contract

    /// Like find() of the pool, and marks the object, if there is one, as edited.
    /// Progress: wait-free, constant.
    pointer edit(handle_type handle) noexcept {
        const pointer object = pool_.find(handle);
        if (object) {
            logger_.mark(handle);
        }
        return object;
    }

    /// Marks the handle's object as edited. Returns false, and does nothing, when the handle is stale.
    /// Progress: wait-free, constant.
    bool mark(handle_type handle) noexcept {
        const bool alive = pool_.contains(handle);
        if (alive) {
            logger_.mark(handle);
        }
        return alive;
    }

    /// Marks the object at a position of the dense store, for loops over items(). The position must be below
    /// the number of items, which only a checked build verifies.
    /// Progress: wait-free, constant.
    void mark_at(std::size_t position) noexcept
        requires requires(const Pool& pool) { pool.handle_at(0); }
    {
        logger_.mark_at(position);
    }

    /// Like edit() and mark(), of one element of a row: returns that, or null, and marks its column alone if
    /// the option `mark_columns` says so. A column is named by its index, or by its type where no other has
    /// the same.
    /// Progress: wait-free, constant.
    template <std::size_t Index>
        requires are_columns<Index>
    auto edit(handle_type handle) noexcept {
        const pointer row = pool_.find(handle);
        if (row) {
            logger_.mark(handle, Index);
        }
        return row ? std::addressof(row->template get<Index>()) : nullptr;
    }
    template <class C>
        requires name_columns<C>
    C* edit(handle_type handle) noexcept {
        return edit<columns_type::template index<C>>(handle);
    }

    /// Like mark(), of some columns of a row.
    /// Progress: wait-free, linear in these columns.
    template <std::size_t... Indices>
        requires are_columns<Indices...>
    bool mark(handle_type handle) noexcept {
        const bool alive = pool_.contains(handle);
        if (alive) {
            (logger_.mark(handle, Indices), ...);
        }
        return alive;
    }
    template <class... Columns>
        requires name_columns<Columns...>
    bool mark(handle_type handle) noexcept {
        return mark<columns_type::template index<Columns>...>(handle);
    }

    /// Like mark_at(), of some columns of a row.
    /// Progress: wait-free, linear in these columns.
    template <std::size_t... Indices>
        requires are_columns<Indices...>
    void mark_at(std::size_t position) noexcept {
        logger_.mark_at(position, Indices...);
    }
    template <class... Columns>
        requires name_columns<Columns...>
    void mark_at(std::size_t position) noexcept {
        mark_at<columns_type::template index<Columns>...>(position);
    }

    // ---- Reading: any number of threads, between compactions

    /// The number of the last frame that has ended since the log was attached.
    std::uint64_t frame() const noexcept { return logger_.frames().last(); }

    /// The earliest frame after which all records are kept: what changed since that one, or a later one, can
    /// be asked.
    std::uint64_t oldest() const noexcept { return logger_.frames().oldest(); }

    /// The records of the frames after `seen`, the earliest first; nothing if some of them are no longer
    /// kept. They stay until the next compaction. Constant. Throws std::out_of_range for a frame that has not
    /// ended yet.
    auto changes_since(std::uint64_t seen) const {
        logger_.require_ended(seen);
        const detail::projected_view records(logger_.frames().records_after(seen));
        return seen < oldest() ? std::nullopt : std::optional(records);
    }

    /// The objects in `destroyed` of this frame's record, in its order, with the values that they had: a
    /// random-access range of pool_entry, like entries() of a const pool. Nothing if the frame is no longer
    /// kept. They stay until the next compaction. Constant. Throws std::logic_error when the log was made
    /// without keep_destroyed, and std::out_of_range for a frame that has not ended yet.
    auto destroyed_entries(std::uint64_t frame) const
        requires can_keep_destroyed
    {
        logger_.require_ended(frame);
        if (!logger_.keeps_destroyed()) {
            detail::throw_exception(std::logic_error(
                prefix() + "values of destroyed objects are kept by a log that is made with keep_destroyed"));
        }
        const auto& of_frame = logger_.frames().at(frame);
        const detail::projected_view entries(
            detail::destroyed_projection<typename Pool::const_entry_type, typename record_type::placed,
                                         element_type>(of_frame.record.destroyed, of_frame.values));
        return frame <= oldest() ? std::nullopt : std::optional(entries);
    }

    /// The positions of the store that were written after frame `seen`: where objects were born, to which
    /// objects have moved, and where they were marked as edited; in ascending order. Ranges with no more than
    /// `max_gap` positions between them are one. Nothing if some of the frames are no longer kept: then all
    /// is to be uploaded. A stable pool has a position for each place; position_of() tells that of an object.
    /// Linear in what was written, and in positions / 4,096 for each frame. Throws std::out_of_range for a
    /// frame that has not ended yet, and std::bad_alloc.
    std::optional<std::vector<position_range>> upload_ranges(std::uint64_t seen,
                                                             std::size_t max_gap = 0) const {
        return ranges_of(any_column, seen, max_gap);
    }

    /// The same of one column: positions whose rows were born or have moved, which writes all columns, or
    /// were marked as edited in this column or as a whole. Without the option `mark_columns`, as for all
    /// columns together.
    template <std::size_t Index>
        requires are_columns<Index>
    std::optional<std::vector<position_range>> upload_ranges(std::uint64_t seen,
                                                             std::size_t max_gap = 0) const {
        return ranges_of(Index, seen, max_gap);
    }
    template <class C>
        requires name_columns<C>
    std::optional<std::vector<position_range>> upload_ranges(std::uint64_t seen,
                                                             std::size_t max_gap = 0) const {
        return ranges_of(columns_type::template index<C>, seen, max_gap);
    }

    /// The same without memory: calls `visit(range)` for each, and returns false if some of the frames are no
    /// longer kept. Throws std::out_of_range, and what `visit` throws.
    template <class Visit>
    bool for_each_upload_range(std::uint64_t seen, std::size_t max_gap, Visit visit) const {
        return for_each_range_of(any_column, seen, max_gap, visit);
    }
    template <std::size_t Index, class Visit>
        requires are_columns<Index>
    bool for_each_upload_range(std::uint64_t seen, std::size_t max_gap, Visit visit) const {
        return for_each_range_of(Index, seen, max_gap, visit);
    }
    template <class C, class Visit>
        requires name_columns<C>
    bool for_each_upload_range(std::uint64_t seen, std::size_t max_gap, Visit visit) const {
        return for_each_range_of(columns_type::template index<C>, seen, max_gap, visit);
    }

    /// The handle of the object that the records have told of at a position of the store, as they have told
    /// of it; null where there is none, as in a stable pool's places without an object. It may have been
    /// erased, which the next record tells. Constant.
    handle_type told_at(std::size_t position) const noexcept { return logger_.told_at(position); }
    /// The object that told_at() names, which is there until the next compaction, erased or not, but not
    /// under exclusive access, which destroys at once; null where there is none. Constant.
    const_pointer told_object_at(std::size_t position) const noexcept {
        return logger_.told_object_at(position);
    }
    /// Calls `visit(handle, position)` for each object that the records have told of, as they have told of
    /// it, in ascending order of positions: what a reader begins with that has found a gap. Some may have
    /// been erased, which the next records tell. Linear in the positions. Throws what `visit` throws.
    template <class Visit>
    void for_each_known(Visit visit) const {
        logger_.for_each_told(visit);
    }

    /// The position of an object of the store: that of the dense store, or of its place in a stable pool;
    /// nothing when the handle is stale, or the object is not in the store yet.
    /// Progress: wait-free, constant.
    std::optional<std::size_t> position_of(handle_type handle) const noexcept {
        return pool_.contains(handle) ? logger_.position_of(handle) : std::nullopt;
    }

    /// The pool, while it exists.
    Pool& pool() const noexcept { return pool_; }

    /// Whether the pool still exists.
    bool attached() const noexcept { return frames_.connected(); }

    /// Bytes of memory that the log has reserved and uses, also for values of destroyed objects, without what
    /// these own, and without those of the lists. Linear in the frames.
    memory_use memory() const noexcept { return logger_.memory(); }

private:
    change_log(Pool& pool, const change_log_options& options, bool keeps_destroyed)
        : pool_(pool), logger_(pool.name()) {
        static_assert(!detail::is_view(static_cast<const Pool*>(nullptr)),
                      "a change_log is made of the pool: a view of it ends before");
        if (options.frames == 0 || options.frames > most_frames) {
            detail::throw_not_so_many(logger_.owner(), options.frames, most_frames);
        }
        if (options.mark_columns && columns_type::count == 0) {
            detail::throw_exception(std::invalid_argument(prefix() + "mark_columns is for pools of columns"));
        }
        if constexpr (std::is_void_v<element_type>) {
            const raw_type& type = pool.object_type_description();
            if (keeps_destroyed && (type.relocate != nullptr || type.destroy != nullptr)) {
                detail::throw_exception(std::invalid_argument(
                    prefix() + "keep_destroyed is for objects that consist of bytes, and their type has a "
                               "function to relocate or destroy them"));
            }
        }
        core_type& core = detail::pool_access::pool_of(pool);
        if constexpr (can_keep_destroyed) {
            if (keeps_destroyed) {
                ends_ = core.add_destroy_hook(
                    [this](auto handle, auto object) { logger_.keep(handle, object); }, hook_order::late);
            }
        }
        const detail::log_plan plan{.frames = options.frames,
                                    .columns = options.mark_columns ? columns_type::count : 0,
                                    .checks_marks = options.check_marks,
                                    .keeps_destroyed = keeps_destroyed};
        frames_ = core.add_frame_hook(
            [this](const auto& notes, const parts_type& parts) { logger_.end_frame(notes, parts); },
            [&](const parts_type& parts) { logger_.begin(parts, plan); });
    }

    std::string prefix() const { return logger_.owner() + ": "; }

    /// What the functions for uploads do for a column, or for any.
    template <class Visit>
    bool for_each_range_of(std::size_t column, std::uint64_t seen, std::size_t max_gap, Visit& visit) const {
        return logger_.for_each_range(column, seen, max_gap, [&visit](std::size_t first, std::size_t last) {
            visit(position_range{first, last});
        });
    }
    std::optional<std::vector<position_range>> ranges_of(std::size_t column, std::uint64_t seen,
                                                         std::size_t max_gap) const {
        std::vector<position_range> ranges;
        const auto add = [&ranges](position_range written) { ranges.push_back(written); };
        const bool is_kept = for_each_range_of(column, seen, max_gap, add);
        return is_kept ? std::optional(std::move(ranges)) : std::nullopt;
    }

    static constexpr std::size_t most_frames = 65'536;

    Pool& pool_;
    logger_type logger_;
    // Last, so that they end first.
    scoped_hook ends_; // of objects whose values are kept
    scoped_hook frames_;
};

} // namespace handlepool
