// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/described_pool.hpp>
#include <handlepool/detail/memory/reversed_array.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace handlepool::detail {

/// Throws foreign_module or too_many_threads: why a thread has no entry in a table of `owner`'s.
[[noreturn]] HANDLEPOOL_EXPORT void throw_thread_refused(std::string_view owner, bool of_this_module,
                                                         std::size_t max_threads);

/// What each thread has of its own, by thread index, after some entries that are no thread's. Few entries but
/// the first are ever used.
///
/// @tparam Entry a pin or a shard
template <class Entry>
class per_thread_table {
public:
    using policy = typename Entry::policy;

    /// For `threads` threads, after `before_threads` other entries.
    per_thread_table(const allocation_label& what_for, std::size_t threads, std::size_t before_threads = 0)
        : entries_(what_for, before_threads + threads),
          threads_(threads),
          before_threads_(static_cast<std::uint32_t>(before_threads)) {}

    /// The index of the calling thread, or a value past every table if it has none: the same in all tables.
    std::uint32_t thread_index() const noexcept { return policy::thread_index(numbering_); }

    /// The calling thread's entry, or null when the thread's index is past the table. Wait-free after a
    /// thread's first call, which is lock-free.
    Entry* mine() noexcept {
        const std::uint32_t index = thread_index();
        return index < threads_ ? &entered(before_threads_ + index) : nullptr;
    }
    /// One of the entries that are no thread's: only one thread at a time may ask for it, and use it.
    Entry& other(std::uint32_t index) noexcept { return entered(index); }

    /// Like mine(), but throws foreign_module or too_many_threads instead of returning null. `owner` is
    /// "pool 'ships'", say.
    Entry& mine_or_throw(std::string_view owner) {
        Entry* const found = mine();
        if (found == nullptr) {
            throw_thread_refused(owner, is_of_this_module(), threads_);
        }
        return *found;
    }

    /// Returns whether the table was made under the numbering of threads that the calling code uses.
    bool is_of_this_module() const noexcept { return numbering_ == policy::numbering(); }

    /// One more than the highest index that has entered; lower ones may be unused.
    std::size_t count() const noexcept {
        // (9) seq_cst: pairs with (9) in enter; with the guards' Dekker protocol in access_gate, a compaction
        // that misses a new entry comes before all that its thread sees of the gate
        return count_.load(std::memory_order::seq_cst);
    }

    /// One more than the highest index of a thread that has entered.
    std::size_t thread_count() const noexcept {
        const std::size_t entered = count();
        return entered - least<std::size_t>(entered, before_threads_);
    }

    std::size_t size() const noexcept { return entries_.size(); }

    Entry& operator[](std::size_t index) noexcept { return entries_[index]; }
    const Entry& operator[](std::size_t index) const noexcept { return entries_[index]; }

    /// Sum of a counter over all entries.
    template <class Value>
    std::uint64_t sum(Value value) const noexcept {
        std::uint64_t total = 0;
        for (std::size_t i = 0, last = count(); i < last; ++i) {
            total += value((*this)[i]);
        }
        return total;
    }

    /// For programs that read this one's memory: a member of each entry, or of each thread's; and count().
    template <class Owner, class Member>
    described_array described(Member Owner::* member) const noexcept {
        return {.first = &(entries_[0].*member), .stride = entries_.stride(), .count = size()};
    }
    template <class Owner, class Member>
    described_array described_of_threads(Member Owner::* member) const noexcept {
        return {
            .first = &(entries_[before_threads_].*member), .stride = entries_.stride(), .count = threads_};
    }
    const void* address_of_count() const noexcept { return &count_; }

    memory_use memory() const noexcept { return entries_.memory(); }

private:
    Entry& entered(std::uint32_t index) noexcept {
        Entry& found = (*this)[index];
        if (!found.is_entered()) [[unlikely]] {
            enter(index);
            found.enter(index);
        }
        return found;
    }

    void enter(std::uint32_t index) noexcept {
        // (9) seq_cst, also where another thread has raised the count already: see count()
        std::uint32_t count = count_.load(std::memory_order::seq_cst);
        // (9) seq_cst, the failure too: it is the same look at the count once more
        while (count <= index && !count_.compare_exchange_weak(count, index + 1, std::memory_order::seq_cst,
                                                               std::memory_order::seq_cst)) {
        }
    }

    reversed_array<policy, Entry> entries_;
    std::size_t threads_;
    std::uint32_t before_threads_;
    std::uint64_t numbering_ = policy::numbering();
    alignas(cache_line) typename policy::template atomic<std::uint32_t> count_{0};
};

} // namespace handlepool::detail
