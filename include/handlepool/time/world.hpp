// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/time/value_participant.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/world_participant.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
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
class world {
public:
    /// Without participants. Throws std::invalid_argument for a number of frames that can't be kept.
    explicit world(world_options options = {}) : capacity_(options.frames) {
        if (capacity_ == 0 || capacity_ > most_frames) {
            detail::throw_exception(std::invalid_argument("world: frames is " + std::to_string(capacity_) +
                                                          ", and must be 1 to 65535"));
        }
    }

    world(const world&) = delete;
    world& operator=(const world&) = delete;

    // ---- Participants

    /// Adds a pool, by its ring, which has no captures and keeps more than the world: one that is taken back
    /// because another participant failed must not cost the oldest one. Throws std::invalid_argument if that
    /// is not so. Like the others, throws std::invalid_argument for what was added before, std::logic_error
    /// when something is captured already, and std::bad_alloc; then nothing has changed.
    template <class Pool>
    void add(capture_ring<Pool>& ring) {
        if (ring.capacity() <= capacity_ || ring.size() != 0) {
            detail::throw_exception(std::invalid_argument(
                "world: a ring has " + std::to_string(ring.size()) + " captures and keeps " +
                std::to_string(ring.capacity()) + "; it must have none, and keep more than the world's " +
                std::to_string(capacity_)));
        }
        require_addable(&ring);
        auto participant = std::make_unique<ring_participant<Pool>>(ring);
        pools_.reserve(pools_.size() + 1);
        pool_participant* const pool = participant.get();
        own(std::move(participant), &ring, pools_.size());
        pools_.push_back(pool);
    }
    /// Adds a participant of the program's own.
    void add(world_participant& participant) {
        require_addable(&participant);
        insert(participant, &participant, all_.size());
    }
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
    void capture(std::uint64_t frame) {
        const call running(*this, "capture()");
        if (restore_has_failed_) {
            detail::throw_exception(std::logic_error("world: the restore of frame " +
                                                     std::to_string(numbers_.back()) +
                                                     " has failed, and must be repeated before a capture"));
        }
        if (!numbers_.empty() && frame <= numbers_.back()) {
            detail::throw_exception(std::invalid_argument(
                "world: frame " + std::to_string(frame) + " can't be captured after frame " +
                std::to_string(numbers_.back()) + "; numbers ascend"));
        }
        numbers_.reserve(capacity_ + 1);
        captured_participants done(*this);
        for (world_participant* const each : all_) {
            each->capture(frame);
            ++done.count;
        }
        for (const pool_participant* const each : pools_) {
            each->require_as_captured();
        }
        done.all = true;
        numbers_.push_back(frame);
        std::size_t oldest = numbers_.size() > capacity_ ? 1 : 0;
        while (oldest + 1 != numbers_.size() && !in_all_pools(numbers_[oldest])) {
            ++oldest;
        }
        if (oldest != 0) {
            give_up_before(oldest);
        }
    }

    /// Takes all participants back to a frame, and forgets the captures after it. Throws std::out_of_range
    /// when it is not kept, std::logic_error when a pool was reset since then, and what
    /// capture_ring::restore() throws before it changes its pool; then nothing has changed. Also throws what
    /// capture_ring::restore() and the participants throw later: then some may have been restored, the
    /// captures after that frame are forgotten, and the call must be repeated, for this frame or an earlier
    /// one, before the next capture.
    void restore(std::uint64_t frame) {
        const call running(*this, "restore()");
        const std::size_t place = place_of(frame);
        for (pool_participant* const each : pools_) {
            if (!each->contains(frame)) {
                each->restore(frame); // throws, and says why
            }
        }
        if (!restore_has_failed_) {
            for (pool_participant* const each : pools_) {
                each->forget_undone();
            }
        }
        std::size_t done = 0;
        const std::exception_ptr error = detail::capture_exception([&] {
            for (world_participant* const each : all_) {
                each->restore(frame);
                ++done;
            }
        });
        // The first pool keeps the later captures if it has refused to begin.
        const bool is_refused = error != nullptr && done == 0 && !pools_.empty() &&
                                place + 1 != numbers_.size() && pools_.front()->contains(numbers_.back());
        if (!is_refused) {
            numbers_.resize(place + 1);
            restore_has_failed_ = error != nullptr;
        }
        if (error != nullptr) {
            std::rethrow_exception(error);
        }
    }

    /// Forgets the captures before this frame, which can't be undone any more; see capture_ring::confirm().
    /// Throws std::out_of_range when it is not kept.
    void confirm(std::uint64_t frame) {
        const call running(*this, "confirm()");
        give_up_before(place_of(frame));
    }

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
        detail::throw_exception(std::invalid_argument("world: the ring whose undone handles are asked for "
                                                      "is no participant"));
    }

    // ---- What is kept

    /// Returns whether a frame can be restored. Linear in the captures.
    bool contains(std::uint64_t frame) const noexcept {
        return std::find(numbers_.begin(), numbers_.end(), frame) != numbers_.end() && in_all_pools(frame);
    }
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
    memory_use memory() const noexcept {
        memory_use sum;
        for (const world_participant* const each : all_) {
            sum = sum + each->memory();
        }
        return sum;
    }

private:
    /// A pool of any type.
    class pool_participant : public world_participant {
    public:
        virtual bool contains(std::uint64_t frame) const noexcept = 0;
        virtual void require_as_captured() const = 0;
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
                detail::throw_exception(std::logic_error(
                    "world: objects of " + detail::quoted_pool(ring_.name_) +
                    " were created or erased after it was captured, such as by hooks of a pool that must be "
                    "added before it"));
            }
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

    /// Participants that have captured a frame, which forget it unless all have.
    struct captured_participants {
        explicit captured_participants(world& whole) noexcept : whole_(whole) {}
        ~captured_participants() {
            for (std::size_t i = 0; !all && i != count; ++i) {
                whole_.all_[i]->drop_newest();
            }
        }
        captured_participants(const captured_participants&) = delete;
        captured_participants& operator=(const captured_participants&) = delete;

        std::size_t count = 0;
        bool all = false;

    private:
        world& whole_;
    };

    /// A call that changes the world, while which there is no other.
    struct call {
        call(world& whole, const char* name) : whole_(whole) {
            whole_.require_idle(name);
            whole_.running_ = name;
        }
        ~call() { whole_.running_ = nullptr; }
        call(const call&) = delete;
        call& operator=(const call&) = delete;

    private:
        world& whole_;
    };

    void require_idle(const char* name) const {
        if (running_ != nullptr) {
            detail::throw_exception(std::logic_error(std::string("world: ") + name + " is called during " +
                                                     running_ + ", by a hook or a participant"));
        }
    }
    void require_addable(const void* what) const {
        require_idle("add()");
        if (!numbers_.empty()) {
            detail::throw_exception(std::logic_error("world: nothing can be added after a capture"));
        }
        if (std::find(added_.begin(), added_.end(), what) != added_.end()) {
            detail::throw_exception(std::invalid_argument("world: a participant is added twice"));
        }
    }
    void own(std::unique_ptr<world_participant> participant, const void* what, std::size_t place) {
        own_.reserve(own_.size() + 1);
        insert(*participant, what, place);
        own_.push_back(std::move(participant));
    }
    void insert(world_participant& participant, const void* what, std::size_t place) {
        all_.reserve(all_.size() + 1);
        added_.reserve(added_.size() + 1);
        all_.insert(all_.begin() + static_cast<std::ptrdiff_t>(place), &participant);
        added_.insert(added_.begin() + static_cast<std::ptrdiff_t>(place), what);
    }

    std::size_t place_of(std::uint64_t frame) const {
        const auto found = std::find(numbers_.begin(), numbers_.end(), frame);
        if (found == numbers_.end()) {
            detail::throw_exception(std::out_of_range(
                "world: frame " + std::to_string(frame) + " is not kept; " +
                (numbers_.empty() ? "none is"
                                  : "the oldest is " + std::to_string(numbers_.front()) + ", the newest " +
                                        std::to_string(numbers_.back()))));
        }
        return static_cast<std::size_t>(found - numbers_.begin());
    }
    bool in_all_pools(std::uint64_t frame) const noexcept {
        return std::all_of(pools_.begin(), pools_.end(),
                           [frame](const pool_participant* each) { return each->contains(frame); });
    }
    void give_up_before(std::size_t place) noexcept {
        for (world_participant* const each : all_) {
            each->confirm(numbers_[place]);
        }
        numbers_.erase(numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(place));
    }

    static constexpr std::size_t most_frames = 65'535;

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
