#pragma once

#include <handlepool/config.hpp>
#include <handlepool/error.hpp>
#include <handlepool/lane.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace handlepool {

/// Keeps compaction and the holders of access guards apart, by Dekker's protocol: a guard pins its lane and
/// then looks at the flag, compaction sets the flag and then looks at the pins, each in the one order of
/// sequentially consistent accesses, so that one of them sees the other. The flag also keeps compactions
/// apart.
template <class Policy>
class access_gate {
public:
    /// `owner`, "pool 'ships'" say, is for messages.
    access_gate(lane_table<Policy>& lanes, std::string owner) : lanes_(lanes), owner_(std::move(owner)) {}

    /// Guard: comes back when no compaction runs, and none can start until leave(). Waits for a running one.
    /// Throws compaction_conflict when the calling thread itself runs it.
    void enter(lane<Policy>& mine) {
        const std::uint32_t depth = mine.pins.load(std::memory_order::relaxed);
        if (depth != 0) {
            // Nested: to look at the flag again would wait for a compaction that waits for this thread.
            mine.pins.store(depth + 1, std::memory_order::relaxed);
            return;
        }
        while (true) {
            // (22) seq_cst: with (23), (24) and (25) the Dekker protocol
            mine.pins.store(1, std::memory_order::seq_cst);
            // (23) seq_cst: see (22); acquire: pairs with (27), for what the last compaction did
            if (closed_.load(std::memory_order::seq_cst) == 0) {
                return;
            }
            leave(mine);
            if (closed_by_.load(std::memory_order::relaxed) == Policy::thread_index()) {
                throw compaction_conflict(
                    "handlepool: an access guard was asked for in a thread that is compacting");
            }
            while (closed_.load(std::memory_order::relaxed) != 0) {
                Policy::wait();
            }
        }
    }

    void leave(lane<Policy>& mine) noexcept {
        // (26) release: pairs with (25), so that the compaction comes after what the guard protected
        mine.pins.store(mine.pins.load(std::memory_order::relaxed) - 1, std::memory_order::release);
    }

    /// Compaction: closes the gate and waits for guards. Throws compaction_conflict when it is closed
    /// already, or when the calling thread holds a guard.
    void close() {
        const lane<Policy>* const mine = lanes_.mine();
        if (mine != nullptr && mine->pins.load(std::memory_order::relaxed) != 0) {
            throw compaction_conflict("handlepool: " + owner_ +
                                      ": compaction was asked for by a thread that holds an access guard");
        }
        if (!try_set()) {
            throw compaction_conflict("handlepool: " + owner_ +
                                      ": compaction was asked for while one is running");
        }
        while (pinned()) {
            Policy::wait();
        }
    }

    /// Compaction: closes the gate, or returns false when it is closed already or a guard is held.
    bool try_close() noexcept {
        if (!try_set()) {
            return false;
        }
        if (pinned()) {
            open();
            return false;
        }
        return true;
    }

    void open() noexcept {
        closed_by_.store(nobody, std::memory_order::relaxed);
        // (27) release: pairs with (23) and (24), for what the compaction did
        closed_.store(0, std::memory_order::release);
    }

    /// Is any guard held?
    bool pinned() const noexcept {
        // (9) seq_cst: the number of lanes is part of the protocol
        for (std::size_t i = 0, last = lanes_.count(); i < last; ++i) {
            // (25) seq_cst: see (22); acquire: pairs with (26)
            if (lanes_[i].pins.load(std::memory_order::seq_cst) != 0) {
                return true;
            }
        }
        return false;
    }

private:
    static constexpr std::uint32_t nobody = 0xffff'ffff;

    bool try_set() noexcept {
        // (24) seq_cst: see (22); acquire: pairs with (27), for what the last compaction did
        if (closed_.exchange(1, std::memory_order::seq_cst) != 0) {
            return false;
        }
        closed_by_.store(Policy::thread_index(), std::memory_order::relaxed);
        return true;
    }

    lane_table<Policy>& lanes_;
    std::string owner_;
    alignas(cache_line) typename Policy::template atomic<std::uint32_t> closed_{0};
    // Thread index of the compacting thread; it is only ever compared with the reader's own.
    typename Policy::template atomic<std::uint32_t> closed_by_{nobody};
};

/// Opens the gate at its end.
template <class Policy>
class closed_gate {
public:
    /// The gate is closed, by this thread.
    explicit closed_gate(access_gate<Policy>& gate) noexcept : gate_(gate) {}
    ~closed_gate() { gate_.open(); }

    closed_gate(const closed_gate&) = delete;
    closed_gate& operator=(const closed_gate&) = delete;

private:
    access_gate<Policy>& gate_;
};

/// Holds compaction off while it lives: pointers, references and items() stay valid. It belongs to the thread
/// that made it, and must end there. Guards may be nested.
template <class Policy>
class [[nodiscard]] access_guard {
public:
    access_guard(access_gate<Policy>& gate, lane<Policy>& mine) : gate_(gate), lane_(mine) {
        gate_.enter(lane_);
    }
    ~access_guard() { gate_.leave(lane_); }

    access_guard(const access_guard&) = delete;
    access_guard& operator=(const access_guard&) = delete;

private:
    access_gate<Policy>& gate_;
    lane<Policy>& lane_;
};

} // namespace handlepool
