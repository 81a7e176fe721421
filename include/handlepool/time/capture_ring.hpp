// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/scratch_array.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/captures/allocator_capture.hpp>
#include <handlepool/detail/captures/captured_lives.hpp>
#include <handlepool/detail/captures/captured_objects.hpp>
#include <handlepool/detail/captures/captured_slots.hpp>
#include <handlepool/detail/captures/index_journal.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/pool/pool_access.hpp>
#include <handlepool/detail/pool/pool_cut.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/time/frame_refusals.hpp>
#include <handlepool/freelist.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/pool_base.hpp>
#include <handlepool/time/change_log.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

class world;

/// What a capture_ring keeps.
struct capture_ring_options {
    /// The latest captures that are kept, 1 to 65,536: a restore goes back to one of them. To go back n
    /// frames from the newest, n + 1 of them are needed.
    std::size_t frames = 8;

    /// Whether handles that a restore undoes stay stale for ever, as an editor needs whose windows and
    /// scripts hold them: no other object gets one of them, as long as the pool lives and is not loaded.
    /// Their slots go on with generations above those, also for what other rings restore, and after a load,
    /// so the next handles are not those that came the first time. Snapshots and deltas don't have them: who
    /// loads one into another pool, or follows, gives out the handles that were undone. Costs a hook that is
    /// called for each object that ends.
    bool undone_stay_stale = false;
};

/// Takes a pool back to what it was some frames ago: for predictions that were wrong, for replays, and for
/// tools that undo.
///
/// ```
///   capture(7)    capture(8)    capture(9)
///  ─────┬─────────────┬─────────────┬──────▶ the pool
///       ▲                           │
///       └────── restore(7) ─────────┘        ──▶ capture(8), capture(9) again, of another course of events
/// ```
///
///     handlepool::change_log log(ships);
///     handlepool::capture_ring past(log);
///     past.capture(7);                        // instead of ships.compact()
///     log.edit(ship)->x = 1;
///     ships.emplace();
///     past.capture(8);
///     const auto undone = past.restore(7);    // handles that were given out since then
///
/// After a restore the pool has the objects that it had, with the same handles, contents, positions and
/// order. Each handle that was valid then is valid, those that were reserved are reserved, and each other one
/// is stale. The next handles are those that came the first time, and the next objects stand where they did,
/// as long as the same calls come from the same threads in the same order. The more threads have used the
/// pool since it was made, the fewer slots each of them claims at once: so none uses it for the first time
/// between a capture and its restore, and two machines that are to give the same handles have as many. Frame
/// numbers are the user's own, and only ascend.
///
/// A capture copies what was written since the one before, as the log knows it: what is changed without a
/// mark of the log is not taken back, and a checked build ends with a message that names it. Any number of
/// frames of the log is enough, as long as it keeps those from one capture to the next: a compaction in
/// between is one. A sort that goes on over frames goes on as it did.
///
/// What was given out after the frame that is restored is undone: later, another object may have the same
/// handle. So holders that are not restored themselves drop the handles that restore() returns, or wait with
/// what must last until is_confirmed(); or all such handles stay stale, which is an option.
///
/// Others who follow the pool see a restore as a frame: objects that are undone are erased and compacted,
/// which calls on_destroy() hooks and so takes them out of attached containers; on_birth() hooks are called
/// for those that come back; and the log has a record of it. What hooks of on_destroy() create is undone too.
///
/// Several pools, and what belongs to them, are captured and restored together by a world.
///
/// The log and the pool must outlive it. It costs the pool nothing but the log. If its pool is reset(), the
/// captures before that are forgotten by the next capture() or restore(), and the next capture begins anew. A
/// pool may have several rings; one that finds the pool restored by another looks at all of it.
///
/// Objects are copied by their copy constructor and, in a capture, by copy assignment where there is one,
/// which must leave them equal; in rows each element, and objects of run-time types by their raw_type's
/// `copy`. Destructors of what a restore replaces may use the pool; they run when it is whole.
///
/// Objects that can't be copied, because they own a file or a socket, come back as themselves, with what they
/// contain by then. Those that end are kept as long as a capture has them, and destroyed by the capture(),
/// confirm() or drop_newest() that gives it up, by restore(), or with the ring. A row is such an object if
/// one of its elements is. What extract() or drain() hands over can't come back. Such a pool has one ring at
/// a time.
///
/// In a stable pool each object stands again at the address that it had. Where the contents of objects that
/// can be copied go back, or their lives, a copy is moved there: what is replaced ends, also if it is the
/// same object to its handle. Objects that can't be copied are moved out of their places when they end, which
/// others may get then, and moved in again when they come back; those that live then and now are not touched.
///
/// In a recycling_pool what is replaced or given up is cleared before it is destroyed, and what is undone is
/// cleared and kept as always. What the pool keeps is no part of a capture: it stays, but its destructor runs
/// within restore() where an object comes back, and in groups of 64 places that had never been used at that
/// time. Where an object that can't be copied has ended, nothing is left to the next one while a capture has
/// it.
///
/// Threads: nobody else may use the pool during capture() and restore(), which is more than compact() asks:
/// other threads must neither create nor erase. All else may be called by any number of threads between
/// these two.
///
/// @tparam Pool type of the pool: of any placement and any objects or rows that are nothrow move
///     constructible. Its freelist is a capturable_freelist
template <class Pool>
class capture_ring {
    using core_type = std::remove_reference_t<decltype(detail::pool_access::pool_of(std::declval<Pool&>()))>;
    using parts_type = typename core_type::parts_type;
    using config = typename parts_type::config;
    using layout = typename config::layout;
    using tag_type = typename layout::tag_type;
    using object_type = typename Pool::handle_type::element_type;

    static constexpr bool copies = detail::object_type<object_type>::may_copy;

    static_assert(
        detail::object_type<object_type>::moves_nothrow,
        "a restore moves objects to their places and can't fail half-way: they must be nothrow move "
        "constructible");
    static_assert(capturable_freelist<typename config::freelist>,
                  "the pool's freelist can't be taken back: see the concept capturable_freelist");

public:
    /// The pool's handles, and the log that the ring needs.
    using handle_type = typename Pool::handle_type;
    using log_type = change_log<Pool>;

    /// Without captures. Throws std::invalid_argument for a number of frames that no ring can keep, and for a
    /// raw_type whose objects can't be copied; std::logic_error when another ring keeps objects that can't;
    /// reservation_failed and std::bad_alloc. For such objects, and if handles that are undone are to stay
    /// stale, it is subject to the same rules as on_destroy() of the pool, and throws what that throws.
    explicit capture_ring(log_type& log, capture_ring_options options = {})
        : capture_ring(log, checked(detail::pool_access::pool_of(log.pool())),
                       checked(options, log.pool().name())) {}

    /// Not while the pool is captured or restored.
    ~capture_ring() = default;

    capture_ring(const capture_ring&) = delete;
    capture_ring& operator=(const capture_ring&) = delete;

    // ---- Instead of a compaction

    /// Compacts the pool, which ends a frame of it, and keeps what it is then under a number of the user's,
    /// larger than those before. The oldest capture is given up when there are more than the options say.
    /// Linear in what was written since the capture before, in threads, and in indices that have come to
    /// wait; in a stable pool in its groups of 64 places; while a sort goes on over frames, also in handle
    /// indices. After a gap in the log, linear in the pool. Throws compaction_conflict like pool::compact(),
    /// and also if hooks or other threads keep creating or erasing; std::invalid_argument for a number that
    /// is not larger; std::bad_alloc, and what copying throws. Then there is no such capture, the others are
    /// as they were, and at most a frame of the pool has ended.
    void capture(std::uint64_t frame) {
        core_.expect_in_use();
        cut_type cut(core_);
        const parts_type& parts = cut.parts();
        if (parts.fresh_tag != fresh_tag_) { // it was reset
            forget_all();
            fresh_tag_ = parts.fresh_tag;
        }
        if (count_ != 0 && frame <= newest_frame().number) {
            detail::throw_not_ascending(owner_of(name_), frame, newest_frame().number);
        }
        look_for_changes(cut);
        kept_frame& next = at(count_);
        const std::exception_ptr error = detail::capture_exception([&] { compare(cut, next); });
        if (error) {
            objects_.discard(next.objects);
            std::rethrow_exception(error);
        }
        next.number = frame;
        objects_.commit(next.objects);
        slots_.commit(next.slot_changes);
        ++count_;
        seen_ = log_.frame();
        follows_journal_ = true;
        if (count_ == 1) {
            settle_oldest();
        } else if (count_ == frames_.size()) {
            drop_oldest();
        }
        objects_.destroy_former();
    }

    /// Takes the pool back to a frame that was captured, again and again if need be, and forgets the captures
    /// after it, and what was created, erased or marked since then. Ends two frames of the pool or more.
    /// Returns the handles that were given out since then, which may have been erased meanwhile, in the order
    /// of their indices and generations; only these can name other objects later. If they are to stay stale,
    /// some of which an earlier restore has told may be among them. Linear in what was written
    /// since that frame, in what waits in the freelist, in threads, and in a stable pool in groups. Throws
    /// std::out_of_range when that frame is not kept, std::logic_error when the pool was reset since the
    /// latest capture (then none is kept any more), or when an object that can't be copied lived then and is
    /// not there to come back, std::overflow_error when handles are to stay stale and a slot has used up its
    /// generations since that frame, and compaction_conflict like capture(); nothing has changed then but
    /// that a frame has ended. Throws std::bad_alloc and what copying throws, and the last three also
    /// because of what hooks of on_destroy() do meanwhile: then the captures after that frame are forgotten,
    /// objects that came after it may have been erased, and the call may be repeated.
    HANDLEPOOL_NOINLINE std::vector<handle_type> restore(std::uint64_t frame) {
        const auto from = detail::caller_scope::within(detail::return_address());
        core_.expect_in_use();
        require_kept(frame);
        cut_type cut(core_);
        require_restorable(cut, frame);
        look_for_changes(cut);
        const kept_frame& newest = newest_frame();
        const std::optional<std::uint64_t> seen = std::exchange(seen_, std::nullopt); // unless all goes well
        follows_journal_ = false;
        while (newest_frame().number != frame) {
            undo_newest();
        }
        end_undone_objects(cut, newest, seen);
        require_objects(frame);                  // which hooks may have handed over
        require_generations(cut.parts(), frame); // and these used up

        slots_.find_reserved(fresh_tag_);
        std::vector<handle_type> undone = undone_handles(cut.parts());
        const std::vector<handle_type> revived = revived_handles(cut.parts());
        objects_.prepare(cut.parts());
        detail::scratch_array<std::uint32_t> order = copy_of(newest_frame().order);

        rewrite(cut, revived.size(), std::move(order));
        cut.end_frame();
        seen_ = log_.frame();
        rewrites_ = cut.rewrites();
        follows_journal_ = true;
        // What follows is of the next frame: what hooks do, and destructors.
        for (const handle_type each : revived) {
            cut.report_birth(cut.parts().table.slot_of(each.value()));
        }
        objects_.destroy_former();
        return undone;
    }

    // ---- What can be undone

    /// Gives up the captures before this frame, which is the oldest now and can still be restored: what led
    /// to it can't be undone any more. Linear in what has changed until then. Throws std::out_of_range when
    /// that frame is not kept.
    void confirm(std::uint64_t frame) {
        require_kept(frame);
        while (at(0).number != frame) {
            drop_oldest();
        }
        objects_.destroy_former();
    }

    /// Forgets the newest capture; the pool stays as it is. The next capture is linear in the pool.
    void drop_newest() noexcept {
        if (count_ > 1) {
            undo_newest();
            seen_.reset();
            follows_journal_ = false;
        } else {
            forget_all();
        }
        objects_.destroy_former();
    }

    /// Returns whether no restore gives the handle to another object any more: it was given out in the oldest
    /// frame that is kept, or before. False for a null handle, and for one of another pool. Constant.
    bool is_confirmed(handle_type handle) const noexcept {
        return handle.pool_id() == pool_id_ && slots_.is_confirmed(handle.value(), fresh_tag_);
    }

    /// Returns whether a frame can be restored: it is kept, and the pool was not reset since then. Linear in
    /// the captures.
    bool contains(std::uint64_t frame) const noexcept {
        return is_kept(frame) && cut_type::fresh_tag_of(core_) == fresh_tag_;
    }
    /// Captures that are kept.
    std::size_t size() const noexcept { return count_; }
    /// Captures that are kept at most.
    std::size_t capacity() const noexcept { return frames_.size() - 1; }
    /// The numbers of the oldest capture and the newest; nothing when there is none.
    std::optional<std::uint64_t> oldest() const noexcept {
        return count_ == 0 ? std::nullopt : std::optional(at(0).number);
    }
    std::optional<std::uint64_t> newest() const noexcept {
        return count_ == 0 ? std::nullopt : std::optional(newest_frame().number);
    }

    /// Bytes of memory that the captures have reserved and use, without what their objects own. Linear in the
    /// captures.
    memory_use memory() const noexcept {
        std::size_t bytes = journal_.bytes();
        for (const kept_frame& each : frames_) {
            bytes += each.bytes();
        }
        return objects_.memory() + slots_.memory() + memory_use{.reserved = bytes, .resident = bytes};
    }

private:
    friend class world; // which asks whether others have changed the pool since it was captured

    using cut_type = decltype(detail::pool_cut(std::declval<core_type&>()));
    using slots_type = detail::captured_slots<config>;
    using objects_type = std::conditional_t<copies, detail::captured_objects<object_type, parts_type>,
                                            detail::captured_lives<object_type, parts_type>>;

    /// A capture: how it differs from the one before, and what is not worth a difference.
    struct kept_frame {
        std::uint64_t number = 0;
        std::vector<typename slots_type::change> slot_changes;
        typename objects_type::capture objects;
        detail::allocator_capture<config> allocator;
        std::size_t reserved = 0;
        std::uint64_t turn = 0;
        std::vector<std::uint32_t> order; // numbers of a sort that has begun
        std::uint32_t ordered = 0;
        std::uint32_t next_position = 0;

        std::size_t bytes() const noexcept {
            return slot_changes.capacity() * sizeof(slot_changes[0]) + objects.bytes() +
                   order.capacity() * sizeof(order[0]) + allocator.bytes();
        }
    };

    capture_ring(log_type& log, core_type& core, const capture_ring_options& options)
        : log_(log),
          core_(core),
          name_(log.pool().name()),
          pool_id_(log.pool().id()),
          slots_(detail::allocation_label::of_pool(name_).part(" captured"), core.geometry().slot_limit,
                 options.undone_stay_stale),
          objects_(detail::allocation_label::of_pool(name_).part(" captured"), core.geometry(), core.type()),
          frames_(options.frames + 1),
          undone_stay_stale_(options.undone_stay_stale) {
        if constexpr (!copies) {
            if (!core.while_closed([this](parts_type& parts) { return objects_.follow(parts); })) {
                detail::throw_kept_by_another(owner_of(name_));
            }
        }
        if (undone_stay_stale_) {
            core.make_floors();
        }
    }

    static core_type& checked(core_type& core) {
        if (copies && !core.type().can_copy()) {
            detail::throw_no_copies(owner_of(core.name()), core.type().has_destructor());
        }
        return core;
    }
    static std::string owner_of(std::string_view pool) {
        return "capture_ring of " + detail::quoted_pool(pool);
    }
    static const capture_ring_options& checked(const capture_ring_options& options, std::string_view name) {
        if (options.frames == 0 || options.frames > most_frames) {
            detail::throw_not_so_many(owner_of(name), options.frames, most_frames);
        }
        return options;
    }

    kept_frame& at(std::size_t i) noexcept { return frames_[(first_ + i) % frames_.size()]; }
    const kept_frame& at(std::size_t i) const noexcept { return frames_[(first_ + i) % frames_.size()]; }
    const kept_frame& newest_frame() const noexcept { return at(count_ - 1); }

    /// Which of the captures it is; `count_` if it is not kept.
    std::size_t place_of(std::uint64_t frame) const noexcept {
        std::size_t place = 0;
        while (place != count_ && at(place).number != frame) {
            ++place;
        }
        return place;
    }
    bool is_kept(std::uint64_t frame) const noexcept { return place_of(frame) != count_; }
    void require_kept(std::uint64_t frame) const {
        if (!is_kept(frame)) {
            detail::throw_not_kept(owner_of(name_), frame, oldest(), newest());
        }
    }
    /// Forgets the captures of a pool that was reset.
    void require_not_reset(const parts_type& parts) {
        if (parts.fresh_tag != fresh_tag_) {
            const std::uint64_t newest = newest_frame().number;
            forget_all();
            objects_.destroy_former();
            detail::throw_was_reset(owner_of(name_), newest);
        }
    }

    /// What a restore of this frame throws before it changes the pool.
    void require_restorable(const cut_type& cut, std::uint64_t frame) {
        require_not_reset(cut.parts());
        require_objects(frame);
        if (undone_stay_stale_) {
            look_for_changes(cut);
            require_generations(cut.parts(), frame);
        }
    }
    /// All that lived then, if they are no copies.
    void require_objects(std::uint64_t frame) const {
        if constexpr (!copies) {
            if (const auto lost = handle_type::from_value(objects_.find_lost(count_ - 1 - place_of(frame)))) {
                detail::throw_lost_object(owner_of(name_), frame, lost.index(), lost.generation());
            }
        }
    }
    /// For the handles that a restore of this frame undoes, if they are to stay stale; of slots that
    /// look_for_changes() has found.
    void require_generations(const parts_type& parts, std::uint64_t frame) const {
        if (!undone_stay_stale_) {
            return;
        }
        std::optional<detail::slot_index> used_up = slots_.find_used_up(parts.table, fresh_tag_);
        for (std::size_t i = place_of(frame) + 1; i != count_ && !used_up; ++i) {
            used_up = slots_.find_used_up(parts.table, fresh_tag_, at(i).slot_changes);
        }
        if (used_up) {
            detail::throw_used_up(owner_of(name_), frame, detail::raw(*used_up));
        }
    }

    // ---- Capturing

    /// Finds all slots and positions that can differ from the latest capture.
    void look_for_changes(const cut_type& cut) {
        // Another ring has restored the pool: other slots wait than the journal says.
        if (cut.rewrites() != rewrites_) {
            seen_.reset();
            follows_journal_ = false;
            rewrites_ = cut.rewrites();
        }
        slots_.look_at_none();
        objects_.look_at_none();
        look_for_changes_since(cut.parts(), count_ == 0 ? nullptr : &newest_frame(), seen_);
    }
    /// The same since a capture that the log has seen at some frame of its own.
    void look_for_changes_since(const parts_type& parts, const kept_frame* since,
                                std::optional<std::uint64_t> seen) {
        const bool is_known =
            since != nullptr && seen && log_.for_each_upload_range(*seen, 0, [this](position_range written) {
                objects_.look_at(written.first, written.last);
            });
        if (!is_known) {
            objects_.look_at_all(parts);
            slots_.look_at_all(detail::greatest(parts.allocator.list().fresh(), fresh_));
            return;
        }
        objects_.look_for_changes(parts);
        since->allocator.for_each_gone(parts.allocator, journal_,
                                       [this](detail::slot_index slot) { slots_.look_at(slot); });
        slots_.look_at_reserved();
        const auto records = log_.changes_since(*seen);
        for (const auto& record : *records) {
            for (const auto& each : record.renamed) {
                slots_.look_at(slot_of(each.after));
            }
            for (const auto& each : record.moved) {
                slots_.look_at(slot_of(each.handle));
            }
            for (const auto& each : record.destroyed) { // and has another one since then, or is used up
                slots_.look_at(slot_of(each.handle));
            }
        }
    }

    void compare(const cut_type& cut, kept_frame& next) {
        const parts_type& parts = cut.parts();
        next.slot_changes.clear();
        next.reserved = cut.reserved();
        next.turn = cut.turn();
        const detail::scratch_array<std::uint32_t>& order = parts.order.numbers();
        next.order.clear();
        for (std::size_t i = 0; i != order.size(); ++i) {
            next.order.push_back(order[i]);
        }
        next.ordered = parts.order.size();
        next.next_position = parts.order.next_position();
        slots_.compare(parts.table, fresh_tag_, next.slot_changes);
        objects_.compare(parts, next.objects);
        const auto* const before = count_ == 0 ? nullptr : &newest_frame().allocator;
        journal_.truncate(before == nullptr ? journal_.end() : before->journal_end());
        next.allocator.take(parts.allocator, parts.shards, follows_journal_ ? before : nullptr, journal_);
        fresh_ = detail::greatest(fresh_, next.allocator.fresh());
    }

    static detail::slot_index slot_of(handle_type handle) noexcept {
        return detail::slot_index{static_cast<std::uint32_t>(handle.index())};
    }

    // ---- Giving up

    /// Nothing is before the oldest one: how it differs from that is not needed.
    void settle_oldest() noexcept {
        objects_.confirm(at(0).objects, count_ - 1);
        slots_.confirm(at(0).slot_changes, fresh_tag_);
        at(0).slot_changes.clear();
        journal_.forget_before(at(0).allocator.journal_begin());
    }
    void drop_oldest() noexcept {
        first_ = (first_ + 1) % frames_.size();
        --count_;
        settle_oldest();
    }
    void forget_all() noexcept {
        for (std::size_t i = 0; i != count_; ++i) {
            objects_.discard(at(i).objects);
        }
        objects_.forget();
        count_ = 0;
        seen_.reset();
        follows_journal_ = false;
    }
    void undo_newest() noexcept {
        slots_.undo(newest_frame().slot_changes);
        objects_.undo(at(count_ - 1).objects, at(count_ - 2).objects);
        --count_;
    }

    // ---- Restoring

    /// Erases the objects that the latest capture doesn't have, as anybody would, and those that hooks create
    /// meanwhile.
    void end_undone_objects(cut_type& cut, const kept_frame& newest, std::optional<std::uint64_t> seen) {
        for (int i = 0; erase_undone_objects(cut) != 0; ++i) {
            if (i == most_rounds) {
                detail::throw_never_undone(owner_of(name_));
            }
            cut.compact();
            look_for_changes_since(cut.parts(), &newest, seen);
        }
    }
    /// Whether a living object of a slot is one of the latest capture. Another course of events may have
    /// given its handle to another object; in a stable pool, that would stand at another place.
    bool is_captured(detail::slot_index slot, const typename slots_type::words_type& now) const noexcept {
        const auto& then = slots_.captured(slot);
        return now.tag == then.tag && (!parts_type::placement::stable || now.where == then.where);
    }
    std::size_t erase_undone_objects(cut_type& cut) const {
        const auto& table = cut.parts().table;
        std::size_t count = 0;
        const detail::caller who = core_.from_here();
        slots_.for_each_looked_at([&](detail::slot_index slot) {
            const auto now = table.words_of(slot);
            if (layout::is_alive(now.tag) && !is_captured(slot, now)) {
                cut.erase(table.handle_of(slot, now.tag), who, detail::life_event::undone);
                ++count;
            }
        });
        return count;
    }

    std::vector<handle_type> undone_handles(const parts_type& parts) const {
        std::vector<handle_type> undone;
        slots_.for_each_looked_at([&](detail::slot_index slot) {
            slots_.for_each_undone(parts.table, slot, fresh_tag_, [&undone](auto handle) {
                undone.push_back(handle_type::from_value(handle));
            });
        });
        return undone;
    }
    std::vector<handle_type> revived_handles(const parts_type& parts) const {
        std::vector<handle_type> revived;
        slots_.for_each_looked_at([&](detail::slot_index slot) {
            const tag_type tag = slots_.captured(slot).tag;
            if (layout::is_alive(tag) && tag != parts.table.words_of(slot).tag) {
                revived.push_back(handle_type::from_value(parts.table.handle_of(slot, tag)));
            }
        });
        return revived;
    }
    static detail::scratch_array<std::uint32_t> copy_of(const std::vector<std::uint32_t>& numbers) {
        detail::scratch_array<std::uint32_t> copy(numbers.size());
        std::copy(numbers.begin(), numbers.end(), copy.data());
        return copy;
    }

    /// The pool becomes what the latest capture is, in which so many objects live that don't now.
    void rewrite(cut_type& cut, std::size_t revived, detail::scratch_array<std::uint32_t>&& order) noexcept {
        parts_type& parts = cut.parts();
        const kept_frame& then = newest_frame();
        cut.count_objects(revived, parts.promoted() + revived - then.objects.objects());
        const std::size_t reserved = cut.reserved();
        cut.count_reserved(then.reserved - detail::least(then.reserved, reserved),
                           reserved - detail::least(then.reserved, reserved));

        objects_.write(parts, then.objects, [&parts](std::size_t position) {
            parts.watch.note_rewritten(detail::dense_position{static_cast<std::uint32_t>(position)});
        });
        slots_.for_each_looked_at([&](detail::slot_index slot) {
            slots_.restore(parts.table, slot, fresh_tag_);
            cut.take_back_lives(slot, slots_.captured(slot).tag);
        });
        then.allocator.restore(parts.allocator, parts.shards, journal_);
        cut.set_turn(then.turn);
        cut.count_rewrite();
        parts.order.replace(std::move(order), then.ordered);
        parts.order.set_next_position(then.next_position);
    }

    static constexpr std::size_t most_frames = 65'536;
    static constexpr int most_rounds = 16;

    log_type& log_;
    core_type& core_;
    std::string name_;      // for messages
    std::uint32_t pool_id_; // of the handles that it knows
    slots_type slots_;
    objects_type objects_;
    detail::index_journal journal_;
    std::vector<kept_frame> frames_; // one more than are kept: the next one is made there
    bool undone_stay_stale_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    std::size_t fresh_ = 0;             // the most slots that a capture has seen in service
    tag_type fresh_tag_{};              // of the pool; another one when it was reset
    std::uint64_t rewrites_ = 0;        // of the pool, by whatever ring
    bool follows_journal_ = true;       // the slots that wait, those of the latest capture
    std::optional<std::uint64_t> seen_; // the log's frame at the latest capture, if that is the pool now
};

} // namespace handlepool
