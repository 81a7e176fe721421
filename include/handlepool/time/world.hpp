// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/captures/value_participant.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/world_participant.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// What a world keeps.
struct world_options {
    /// The latest captures that are kept, 1 to 65,535. Rings of its pools keep at least one more.
    std::size_t frames = 8;
};

/// Pools, what is attached to them, and the program's own state, captured and restored together.
///
/// ```
///   world ──┬── capture_ring ── change_log ── pool             first all pools,
///           ├── handle_set, handle_index, property_store ...   then the others, in the order in which they
///           └── random numbers, scores ...                     were added
/// ```
///
///     handlepool::world game;
///     game.add(past_of_ships);      // a capture_ring
///     game.add(burning);            // a handle_set, attached to the ships
///     game.add(random_engine);      // anything that can be copied
///     game.capture(7);
///     ...
///     game.restore(7);
///
/// What can be copied is kept as copies, each made by an assignment to one that was given up, so that memory
/// which it owns is used again; they end with the world. Containers of handles and a property_store stay
/// attached, and go on as they did, in the same order. So does a class of the program's own that has their
/// functions assign(other) and swap_contents(other); another one may derive from world_participant.
///
/// What is added must exist as long as the world is used, and is captured and restored by it alone. The world
/// can be added to as long as nothing is captured. One thread at a time; nobody else uses the pools
/// meanwhile, see capture_ring. Hooks and participants that are called meanwhile get std::logic_error from
/// each function that changes the world. Copies of values and their ends must not change participants. Pools
/// whose hooks change other pools are added before those, which are captured later: what hooks change
/// afterwards, edits included, would be missing after a restore. What hooks change in pools that come later,
/// and in the other participants, a restore undoes.
///
/// If one of the pools is reset(), the captures before that can't be restored any more, and the next capture
/// gives them up.
class HANDLEPOOL_EXPORT world {
public:
    /// Without participants. Throws std::invalid_argument for a number of frames that can't be kept.
    explicit world(world_options options = {});
    /// What was added stays as it is.
    ~world();

    world(const world&) = delete;
    world& operator=(const world&) = delete;

    // ---- Participants

    /// Adds a pool, by its ring, which has no captures and keeps more than the world: one that is taken back
    /// because another participant failed must not cost the oldest one. Throws std::invalid_argument if that
    /// is not so. Like the others, throws std::invalid_argument for what was added before, std::logic_error
    /// when something is captured already, and std::bad_alloc; then nothing has changed.
    template <class Pool>
    void add(capture_ring<Pool>& ring) {
        require_enough(ring.name_, ring.size(), ring.capacity());
        require_addable(&ring);
        auto participant = std::make_unique<ring_participant<Pool>>(ring);
        pools_.reserve(pools_.size() + 1);
        pool_participant* const pool = participant.get();
        own(std::move(participant), &ring, pools_.size());
        pools_.push_back(pool);
    }
    /// Adds a participant of the program's own.
    void add(world_participant& participant);
    /// Adds a container of handles, a property_store, or another value that can be copied.
    template <class Value>
        requires(!std::derived_from<Value, world_participant> && std::is_copy_constructible_v<Value> &&
                 std::is_copy_assignable_v<Value>)
    void add(Value& value) {
        require_addable(std::addressof(value));
        own(std::make_unique<detail::value_participant<Value>>(value), std::addressof(value), all_.size());
    }

    // ---- Frames

    /// Captures all participants under a number that is larger than those before; see
    /// capture_ring::capture(). The oldest capture is given up when there are more than the options say.
    /// Throws std::invalid_argument when the number is not larger; std::logic_error when a restore has failed
    /// and not been repeated, and when objects of a pool were created or erased after its turn; and what the
    /// participants throw: then there is no such capture, and the others are as they were.
    void capture(std::uint64_t frame);

    /// Takes all participants back to a frame, and forgets the captures after it. Throws std::out_of_range
    /// when it is not kept, std::logic_error when a pool was reset since then, and what
    /// capture_ring::restore() throws before it changes its pool; then nothing has changed. Also throws what
    /// capture_ring::restore() and the participants throw later: then some may have been restored, the
    /// captures after that frame are forgotten, and the call must be repeated, for this frame or an earlier
    /// one, before the next capture. If a pool is reset before that, there is no way on but another world.
    void restore(std::uint64_t frame);

    /// Forgets the captures before this frame, which can't be undone any more; see capture_ring::confirm().
    /// Throws std::out_of_range when it is not kept.
    void confirm(std::uint64_t frame);

    /// The handles of a pool that the last restore() has undone, as capture_ring::restore() returns them:
    /// those who keep such handles outside of the world drop them. Valid until the next one; if it was
    /// repeated after failing, those of each time. Throws std::invalid_argument for a ring that was not
    /// added.
    template <class Pool>
    std::span<const typename Pool::handle_type> undone(const capture_ring<Pool>& ring) const {
        for (std::size_t i = 0; i != pools_.size(); ++i) {
            if (added_[i] == &ring) {
                return static_cast<const ring_participant<Pool>&>(*pools_[i]).undone();
            }
        }
        throw_no_participant();
    }

    // ---- What is kept

    /// Returns whether a frame can be restored. Linear in the captures.
    bool contains(std::uint64_t frame) const noexcept;
    /// The numbers of the captures that are kept, ascending.
    const std::vector<std::uint64_t>& frames() const noexcept { return numbers_; }
    /// Captures that are kept, and how many there can be.
    std::size_t size() const noexcept { return numbers_.size(); }
    std::size_t capacity() const noexcept { return capacity_; }
    /// The numbers of the oldest capture and the newest; nothing when there is none.
    std::optional<std::uint64_t> oldest() const noexcept {
        return numbers_.empty() ? std::nullopt : std::optional(numbers_.front());
    }
    std::optional<std::uint64_t> newest() const noexcept {
        return numbers_.empty() ? std::nullopt : std::optional(numbers_.back());
    }

    /// Bytes of memory that the captures of all participants have reserved and use: of pools without what
    /// their objects own, of values with what their function `memory()` says, if they have one. Linear in
    /// participants and captures.
    memory_use memory() const noexcept;

private:
    /// A pool of any type.
    class pool_participant : public world_participant {
    public:
        virtual bool contains(std::uint64_t frame) const noexcept = 0;
        virtual void require_as_captured() const = 0;
        virtual void require_restorable(std::uint64_t frame) = 0;
        virtual void forget_undone() noexcept = 0;
    };

    template <class Pool>
    class ring_participant final : public pool_participant {
    public:
        using handle_type = typename Pool::handle_type;

        explicit ring_participant(capture_ring<Pool>& ring) noexcept : ring_(ring) {}

        void capture(std::uint64_t frame) override { ring_.capture(frame); }
        void drop_newest() noexcept override { ring_.drop_newest(); }
        void restore(std::uint64_t frame) override {
            join_undone(); // what there was no memory for
            latest_ = ring_.restore(frame);
            join_undone();
        }
        void confirm(std::uint64_t frame) noexcept override {
            if (ring_.contains(frame)) { // unless the pool was reset
                ring_.confirm(frame);
            }
        }
        memory_use memory() const noexcept override { return ring_.memory(); }

        bool contains(std::uint64_t frame) const noexcept override { return ring_.contains(frame); }
        void require_as_captured() const override {
            if (!capture_ring<Pool>::cut_type::is_idle(ring_.core_)) {
                throw_changed(ring_.name_);
            }
        }
        void require_restorable(std::uint64_t frame) override {
            ring_.require_kept(frame);
            ring_.require_restorable(typename capture_ring<Pool>::cut_type(ring_.core_), frame);
        }
        void forget_undone() noexcept override {
            undone_.clear();
            latest_.clear();
        }
        std::span<const handle_type> undone() const noexcept { return undone_; }

    private:
        /// Throws std::bad_alloc; then the latest ones wait for the next call.
        void join_undone() {
            if (undone_.empty()) {
                undone_.swap(latest_);
            } else {
                undone_.insert(undone_.end(), latest_.begin(), latest_.end());
            }
            latest_.clear();
        }

        capture_ring<Pool>& ring_;
        std::vector<handle_type> undone_;
        std::vector<handle_type> latest_; // which are not among them yet
    };

    class joint_capture;
    class call;

    [[noreturn]] static void throw_changed(std::string_view pool);
    [[noreturn]] static void throw_no_participant();
    void require_enough(std::string_view pool, std::size_t captures_of_ring, std::size_t kept_by_ring) const;
    void require_idle(const char* name) const;
    void require_addable(const void* what) const;
    void own(std::unique_ptr<world_participant> participant, const void* what, std::size_t place);
    void insert(world_participant& participant, const void* what, std::size_t place);
    std::size_t place_of(std::uint64_t frame) const;
    bool in_all_pools(std::uint64_t frame) const noexcept;
    void give_up_before(std::size_t place) noexcept;

    std::size_t capacity_;
    std::vector<std::uint64_t> numbers_;
    bool restore_has_failed_ = false;
    const char* running_ = nullptr; // the call that changes the world
    std::vector<std::unique_ptr<world_participant>> own_;
    std::vector<pool_participant*> pools_;
    std::vector<world_participant*> all_; // in the order in which they are captured and restored: pools first
    std::vector<const void*> added_;      // what they stand for
};

} // namespace handlepool
