// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/captures/captured_pool.hpp>
#include <handlepool/detail/captures/frame_ring.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/pool/pool_access.hpp>
#include <handlepool/detail/pool/pool_cut.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/time/frame_refusals.hpp>
#include <handlepool/freelist.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/time/change_log.hpp>

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
    using object_type = typename Pool::handle_type::element_type;

    static_assert(
        detail::object_type<object_type>::moves_nothrow,
        "a restore moves objects to their places and can't fail half-way: they must be nothrow move "
        "constructible");
    static_assert(capturable_freelist<typename parts_type::config::freelist>,
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
        if (parts.fresh_tag != captured_.fresh_tag()) { // it was reset
            forget_all();
            captured_.begin(parts.fresh_tag);
        }
        if (const auto last = newest(); last && frame <= *last) {
            detail::throw_not_ascending(owner_of(name_), frame, *last);
        }
        look_for_changes(cut);
        auto& next = frames_.next();
        const std::exception_ptr error =
            detail::capture_exception([&] { captured_.compare(cut, frames_.newest(), next); });
        if (error) {
            captured_.discard(next);
            std::rethrow_exception(error);
        }
        captured_.commit(next);
        frames_.add_next(frame);
        seen_ = log_.frame();
        if (frames_.size() == 1) {
            settle_oldest();
        } else if (frames_.size() > frames_.capacity()) {
            drop_oldest();
        }
        captured_.destroy_former();
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
        const auto from = detail::caller_scope::within(detail::return_site());
        core_.expect_in_use();
        require_kept(frame);
        cut_type cut(core_);
        require_restorable(cut, frame);
        look_for_changes(cut);
        const auto& newest = *frames_.newest();
        const std::optional<std::uint64_t> seen = seen_;
        lose_track(); // unless all goes well
        while (frames_.newest_number() != frame) {
            undo_newest();
        }
        end_undone_objects(cut, newest, seen);
        require_objects(frame);                  // which hooks may have handed over
        require_generations(cut.parts(), frame); // and these used up

        captured_.find_reserved();
        std::vector<handle_type> undone = captured_.undone_handles(cut.parts());
        const std::vector<handle_type> revived = captured_.revived_handles(cut.parts());
        captured_.prepare(cut.parts(), *frames_.newest());
        captured_.write(cut, *frames_.newest(), revived.size());
        cut.end_frame();
        seen_ = log_.frame();
        rewrites_ = cut.rewrites();
        // What follows is of the next frame: what hooks do, and destructors.
        for (const handle_type each : revived) {
            cut.report_birth(cut.parts().table.slot_of(each.value()));
        }
        captured_.destroy_former();
        return undone;
    }

    // ---- What can be undone

    /// Gives up the captures before this frame, which is the oldest now and can still be restored: what led
    /// to it can't be undone any more. Linear in what has changed until then. Throws std::out_of_range when
    /// that frame is not kept.
    void confirm(std::uint64_t frame) {
        require_kept(frame);
        while (frames_.oldest_number() != frame) {
            drop_oldest();
        }
        captured_.destroy_former();
    }

    /// Forgets the newest capture; the pool stays as it is. The next capture is linear in the pool.
    void drop_newest() noexcept {
        if (frames_.size() > 1) {
            undo_newest();
            lose_track();
        } else {
            forget_all();
        }
        captured_.destroy_former();
    }

    /// Returns whether no restore gives the handle to another object any more: it was given out in the oldest
    /// frame that is kept, or before. False for a null handle, and for one of another pool. Constant.
    bool is_confirmed(handle_type handle) const noexcept {
        return handle.pool_id() == pool_id_ && captured_.is_confirmed(handle);
    }

    /// Returns whether a frame can be restored: it is kept, and the pool was not reset since then. Linear in
    /// the captures.
    bool contains(std::uint64_t frame) const noexcept {
        return frames_.contains(frame) && cut_type::fresh_tag_of(core_) == captured_.fresh_tag();
    }
    /// Captures that are kept.
    std::size_t size() const noexcept { return frames_.size(); }
    /// Captures that are kept at most.
    std::size_t capacity() const noexcept { return frames_.capacity(); }
    /// The numbers of the oldest capture and the newest; nothing when there is none.
    std::optional<std::uint64_t> oldest() const noexcept { return frames_.oldest_number(); }
    std::optional<std::uint64_t> newest() const noexcept { return frames_.newest_number(); }

    /// Bytes of memory that the captures have reserved and use, without what their objects own. Linear in the
    /// captures.
    memory_use memory() const noexcept {
        const std::size_t bytes = frames_.bytes();
        return captured_.memory() + memory_use{.reserved = bytes, .resident = bytes};
    }

private:
    friend class world; // which asks whether others have changed the pool since it was captured

    using cut_type = decltype(detail::pool_cut(std::declval<core_type&>()));
    using captured_type = detail::captured_pool<parts_type, handle_type>;
    using capture_type = typename captured_type::capture;

    capture_ring(log_type& log, core_type& core, const capture_ring_options& options)
        : log_(log),
          core_(core),
          name_(log.pool().name()),
          pool_id_(log.pool().id()),
          captured_(detail::allocation_label::of_pool(name_).part(" captured"), core.geometry(), core.type(),
                    options.undone_stay_stale),
          frames_(options.frames),
          undone_stay_stale_(options.undone_stay_stale) {
        if constexpr (!captured_type::copies) {
            if (!core.while_closed([this](parts_type& parts) { return captured_.follow(parts); })) {
                detail::throw_kept_by_another(owner_of(name_));
            }
        }
        if (undone_stay_stale_) {
            core.make_floors();
        }
    }

    static core_type& checked(core_type& core) {
        if (captured_type::copies && !core.type().can_copy()) {
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

    void require_kept(std::uint64_t frame) const {
        if (!frames_.contains(frame)) {
            detail::throw_not_kept(owner_of(name_), frame, oldest(), newest());
        }
    }
    /// What a restore of this frame throws before it changes the pool. Forgets the captures of a pool that
    /// was reset.
    void require_restorable(const cut_type& cut, std::uint64_t frame) {
        if (cut.parts().fresh_tag != captured_.fresh_tag()) {
            const std::uint64_t last = *newest();
            forget_all();
            captured_.destroy_former();
            detail::throw_was_reset(owner_of(name_), last);
        }
        require_objects(frame);
        if (undone_stay_stale_) {
            look_for_changes(cut);
            require_generations(cut.parts(), frame);
        }
    }
    /// All that lived then, if they are no copies.
    void require_objects(std::uint64_t frame) const {
        if constexpr (!captured_type::copies) {
            if (const auto lost = captured_.find_lost(frames_.size() - 1 - frames_.find(frame))) {
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
        std::optional<detail::slot_index> used_up = captured_.find_used_up(parts);
        for (std::size_t i = frames_.find(frame) + 1; i != frames_.size() && !used_up; ++i) {
            used_up = captured_.find_used_up(parts, frames_.at(i));
        }
        if (used_up) {
            detail::throw_used_up(owner_of(name_), frame, detail::raw(*used_up));
        }
    }

    /// Finds all slots and positions that can differ from the latest capture.
    void look_for_changes(const cut_type& cut) {
        // Another ring has restored the pool: other slots wait than the journal says.
        if (cut.rewrites() != rewrites_) {
            lose_track();
            rewrites_ = cut.rewrites();
        }
        captured_.look_at_none();
        captured_.look_for_changes(cut.parts(), log_, frames_.newest(), seen_);
    }
    /// Neither the log nor the journal leads from the latest capture to what the pool is.
    void lose_track() noexcept {
        seen_.reset();
        captured_.leave_journal();
    }

    /// Nothing is before the oldest one: how it differs from that is not needed.
    void settle_oldest() noexcept { captured_.confirm(frames_.at(0), frames_.size() - 1); }
    void drop_oldest() noexcept {
        frames_.drop_oldest();
        settle_oldest();
    }
    void forget_all() noexcept {
        for (std::size_t i = 0; i != frames_.size(); ++i) {
            captured_.discard(frames_.at(i));
        }
        captured_.forget();
        frames_.drop_all();
        lose_track();
    }
    void undo_newest() noexcept {
        captured_.undo(frames_.at(frames_.size() - 1), frames_.at(frames_.size() - 2));
        frames_.drop_newest();
    }

    /// Erases the objects that the latest capture doesn't have, as anybody would, and those that hooks create
    /// meanwhile. What these change, the log tells since another capture, as for look_for_changes().
    void end_undone_objects(cut_type& cut, const capture_type& newest, std::optional<std::uint64_t> seen) {
        for (int i = 0; erase_undone_objects(cut) != 0; ++i) {
            if (i == most_rounds) {
                detail::throw_never_undone(owner_of(name_));
            }
            cut.compact();
            captured_.look_for_changes(cut.parts(), log_, &newest, seen);
        }
    }
    std::size_t erase_undone_objects(cut_type& cut) const {
        std::size_t count = 0;
        const detail::caller who = core_.from_here();
        captured_.for_each_undone_object(cut.parts(), [&](auto handle) {
            cut.erase(handle, who, detail::life_event::undone);
            ++count;
        });
        return count;
    }

    static constexpr std::size_t most_frames = 65'536;
    static constexpr int most_rounds = 16;

    log_type& log_;
    core_type& core_;
    std::string name_;       // for messages
    std::uint32_t pool_id_;  // of the handles that it knows
    captured_type captured_; // as of the latest capture
    detail::frame_ring<capture_type> frames_;
    bool undone_stay_stale_;
    std::uint64_t rewrites_ = 0;        // of the pool, by whatever ring
    std::optional<std::uint64_t> seen_; // the log's frame at the latest capture, if that is the pool now
};

} // namespace handlepool
