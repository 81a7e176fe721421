// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/memory/described_pool.hpp>

#include <atomic>
#include <cstdint>

namespace handlepool::detail {

/// Counts the access guards that one thread has made and that still live: while there are any, no compaction
/// of their pool or service runs. It belongs to a thread index: see per_thread_table.
template <class Policy>
class alignas(cache_line) pin {
public:
    using policy = Policy;

    /// Guard: counts itself. Returns whether it is the thread's first, which must look at the gate: see
    /// access_gate.
    bool raise() noexcept {
        generation_ = Policy::thread_generation();
        // (22) seq_cst: with (23), (24) and (25) the Dekker protocol
        return count_.fetch_add(1, std::memory_order::seq_cst) == 0;
    }

    /// Guard: ends. Any thread; wait-free.
    void lower() noexcept {
        // (26) release: pairs with (25), so that the compaction comes after what the guard protected
        count_.fetch_sub(1, std::memory_order::release);
    }

    /// Compaction: returns whether a guard lives.
    bool is_raised() const noexcept {
        // (25) seq_cst: see (22); acquire: pairs with (26)
        return count_.load(std::memory_order::seq_cst) != 0;
    }

    /// The guards that live; one that has ended in another thread may still be counted.
    std::uint32_t guards() const noexcept { return count_.load(std::memory_order::relaxed); }

    /// Its thread: returns whether it has made one of them, and not only a thread that has ended and had its
    /// number before. Once it has made one, those of that thread count as its own.
    bool has_guard_of_caller() const noexcept {
        return guards() != 0 && generation_ == Policy::thread_generation();
    }

    /// Its thread, which has just raised it: notes who made the guard, and when.
    void note_maker(std::uint64_t who, std::uint64_t now) noexcept {
        maker_.store(who, std::memory_order::relaxed);
        since_.store(now, std::memory_order::relaxed);
    }

    /// For programs that read this one's memory.
    template <class Table>
    static void describe_guards(const Table& pins, described_gate& gate) noexcept {
        gate.guards = pins.described_of_threads(&pin::count_);
        gate.guard_makers = pins.described_of_threads(&pin::maker_);
        gate.guards_since = pins.described_of_threads(&pin::since_);
        gate.thread_count = pins.address_of_count();
    }

    /// For per_thread_table: whether the thread with this index has entered it. Only that thread asks.
    bool is_entered() const noexcept { return entered_ != 0; }
    void enter(std::uint32_t) noexcept { entered_ = 1; }

private:
    typename Policy::template plain<std::uint32_t> entered_{0};
    typename Policy::template plain<std::uint32_t> generation_{0}; // of the thread that made the last guard
    typename Policy::template atomic<std::uint32_t> count_{0};
    // For readers of reports alone, so they are no words of the protocol that a checker looks at.
    std::atomic<std::uint64_t> maker_{0};
    std::atomic<std::uint64_t> since_{0};
};

} // namespace handlepool::detail
