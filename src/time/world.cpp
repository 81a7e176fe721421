// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/time/frame_refusals.hpp>
#include <handlepool/time/world.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace handlepool {

// Here, so that a program has one table of its functions.
world_participant::~world_participant() = default;

/// A capture of each participant, or of none.
class world::joint_capture {
public:
    explicit joint_capture(world& whole) noexcept : whole_(whole) {}
    ~joint_capture() {
        for (std::size_t i = 0; i != to_undo_; ++i) {
            whole_.all_[i]->drop_newest();
        }
    }
    joint_capture(const joint_capture&) = delete;
    joint_capture& operator=(const joint_capture&) = delete;

    void make(std::uint64_t frame) {
        for (world_participant* const each : whole_.all_) {
            each->capture(frame);
            ++to_undo_;
        }
        for (const pool_participant* const each : whole_.pools_) {
            each->require_as_captured();
        }
        to_undo_ = 0;
    }

private:
    world& whole_;
    std::size_t to_undo_ = 0;
};

/// A call that changes the world, while which there is no other.
class world::call {
public:
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

world::world(world_options options) : capacity_(options.frames) {
    constexpr std::size_t most_frames = 65'535;
    if (capacity_ == 0 || capacity_ > most_frames) {
        detail::throw_not_so_many("world", capacity_, most_frames);
    }
}

world::~world() = default;

// ---- Participants

void world::add(world_participant& participant) {
    require_addable(&participant);
    insert(participant, &participant, all_.size());
}

void world::require_enough(std::string_view pool, std::size_t captures_of_ring,
                           std::size_t kept_by_ring) const {
    const std::string ring = "world: the ring of " + detail::quoted_pool(pool);
    if (captures_of_ring != 0) {
        detail::throw_exception(std::invalid_argument(ring + " has " + std::to_string(captures_of_ring) +
                                                      " captures; it must have none when it is added"));
    }
    if (kept_by_ring <= capacity_) {
        detail::throw_exception(std::invalid_argument(ring + " keeps " + std::to_string(kept_by_ring) +
                                                      " captures; it must keep more than the " +
                                                      std::to_string(capacity_) + " of the world"));
    }
}

void world::require_idle(const char* name) const {
    if (running_ != nullptr) {
        detail::throw_exception(std::logic_error(std::string("world: ") + name + " is called during " +
                                                 running_ + ", by a hook or a participant"));
    }
}

void world::require_addable(const void* what) const {
    require_idle("add()");
    if (!numbers_.empty()) {
        detail::throw_exception(std::logic_error("world: nothing can be added after a capture"));
    }
    if (std::find(added_.begin(), added_.end(), what) != added_.end()) {
        detail::throw_exception(std::invalid_argument("world: a participant is added twice"));
    }
}

void world::own(std::unique_ptr<world_participant> participant, const void* what, std::size_t place) {
    own_.reserve(own_.size() + 1);
    insert(*participant, what, place);
    own_.push_back(std::move(participant));
}

void world::insert(world_participant& participant, const void* what, std::size_t place) {
    all_.reserve(all_.size() + 1);
    added_.reserve(added_.size() + 1);
    all_.insert(all_.begin() + static_cast<std::ptrdiff_t>(place), &participant);
    added_.insert(added_.begin() + static_cast<std::ptrdiff_t>(place), what);
}

void world::throw_no_participant() {
    detail::throw_exception(
        std::invalid_argument("world: the ring whose undone handles are asked for is no participant"));
}

// ---- Frames

void world::capture(std::uint64_t frame) {
    const call running(*this, "capture()");
    if (restore_has_failed_) {
        detail::throw_exception(std::logic_error("world: the restore of frame " +
                                                 std::to_string(numbers_.back()) +
                                                 " has failed, and must be repeated before a capture"));
    }
    if (!numbers_.empty() && frame <= numbers_.back()) {
        detail::throw_not_ascending("world", frame, numbers_.back());
    }
    numbers_.reserve(capacity_ + 1);
    joint_capture(*this).make(frame);
    numbers_.push_back(frame);
    std::size_t oldest = numbers_.size() > capacity_ ? 1 : 0;
    while (oldest + 1 != numbers_.size() && !in_all_pools(numbers_[oldest])) {
        ++oldest;
    }
    if (oldest != 0) {
        give_up_before(oldest);
    }
}

void world::throw_changed(std::string_view pool) {
    detail::throw_exception(std::logic_error(
        "world: objects of " + detail::quoted_pool(pool) +
        " were created or erased after it was captured, such as by hooks of a pool that must "
        "be added before it"));
}

HANDLEPOOL_NOINLINE void world::restore(std::uint64_t frame) {
    const auto from = detail::caller_scope::for_all_within(detail::return_site());
    const call running(*this, "restore()");
    const std::size_t place = place_of(frame);
    for (pool_participant* const each : pools_) {
        each->require_restorable(frame);
    }
    if (!restore_has_failed_) {
        for (pool_participant* const each : pools_) {
            each->forget_undone();
        }
    }
    numbers_.resize(place + 1);
    restore_has_failed_ = true; // unless all goes well
    for (world_participant* const each : all_) {
        each->restore(frame);
    }
    restore_has_failed_ = false;
}

void world::confirm(std::uint64_t frame) {
    const call running(*this, "confirm()");
    give_up_before(place_of(frame));
}

void world::give_up_before(std::size_t place) noexcept {
    for (world_participant* const each : all_) {
        each->confirm(numbers_[place]);
    }
    numbers_.erase(numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(place));
}

// ---- What is kept

bool world::contains(std::uint64_t frame) const noexcept {
    return std::find(numbers_.begin(), numbers_.end(), frame) != numbers_.end() && in_all_pools(frame);
}

memory_use world::memory() const noexcept {
    memory_use sum;
    for (const world_participant* const each : all_) {
        sum = sum + each->memory();
    }
    return sum;
}

std::size_t world::place_of(std::uint64_t frame) const {
    const auto found = std::find(numbers_.begin(), numbers_.end(), frame);
    if (found == numbers_.end()) {
        detail::throw_not_kept("world", frame, oldest(), newest());
    }
    return static_cast<std::size_t>(found - numbers_.begin());
}

bool world::in_all_pools(std::uint64_t frame) const noexcept {
    return std::all_of(pools_.begin(), pools_.end(),
                       [frame](const pool_participant* each) { return each->contains(frame); });
}

} // namespace handlepool
