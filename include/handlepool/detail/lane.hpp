#pragma once

#include <handlepool/detail/config.hpp>
#include <handlepool/detail/memory_of.hpp>
#include <handlepool/detail/nursery.hpp>
#include <handlepool/detail/removal_queue.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace handlepool::detail {

/// What one thread needs in order to work alone. It belongs to a thread index: when its thread ends, the next
/// thread with that index finds it as it was left. The words that others read are atomic, and only its thread
/// writes them; the consumer's ends of its queues are compaction's.
template <class Policy>
struct alignas(cache_line) lane {
    template <class Word>
    using atomic = typename Policy::template atomic<Word>;
    template <class Value>
    using plain = typename Policy::template plain<Value>;

    /// Padding after the claimed slots, so that prefetching may read past them.
    static constexpr std::size_t read_ahead = 8;

    plain<std::uint32_t> registered{0};
    /// How many access guards the thread holds.
    atomic<std::uint32_t> pins{0};
    /// Claimed slots that were not used yet: the last `held` of the first `claim_end` entries of `claimed`.
    atomic<std::uint32_t> held{0};
    plain<std::uint32_t> claim_end{0};
    /// Objects ever published, and ever erased, by the lane's threads.
    atomic<std::uint64_t> created{0};
    atomic<std::uint64_t> erased{0};

    newborn_chain<Policy> newborns;
    removal_chain<Policy> removals;

    std::uint32_t claimed[Policy::claim_size + read_ahead]{};

    /// Forgets slots, newborns and removals, whose memory is being forgotten too. Only while nobody uses the
    /// pool.
    void reset() noexcept {
        held.store(0, std::memory_order::relaxed);
        claim_end = 0;
        erased.store(created.load(std::memory_order::relaxed), std::memory_order::relaxed);
        newborns.reset();
        removals.records.reset();
        removals.drained.store(removals.queued.load(std::memory_order::relaxed), std::memory_order::relaxed);
    }
};

/// Throws foreign_module or too_many_threads: why a thread has no lane of `owner`.
[[noreturn]] HANDLEPOOL_EXPORT void throw_without_lane(std::string_view owner, bool of_this_module,
                                                       std::size_t max_threads);

/// The lanes of a pool, by thread index.
template <class Policy>
class lane_table {
public:
    lane_table(std::string_view what_for, std::size_t size) : lanes_(what_for, size, 0) {}

    /// The index of the calling thread, or a value past every table if it has none: the same in all lane
    /// tables.
    std::uint32_t thread_index() const noexcept { return Policy::thread_index(numbering_); }
    /// Was the table made under the numbering of threads that the calling code uses?
    bool is_of_this_module() const noexcept { return numbering_ == Policy::numbering(); }

    /// The calling thread's lane, or null when the thread's index is past the table. Wait-free after a
    /// thread's first call, which is lock-free.
    lane<Policy>* mine() noexcept {
        const std::uint32_t index = thread_index();
        if (index >= lanes_.size()) {
            return nullptr;
        }
        lane<Policy>& found = lanes_[index];
        if (found.registered == 0) {
            enter(index);
            found.newborns.lane = index;
            found.registered = 1;
        }
        return &found;
    }

    /// Lanes that were ever used; they are the first ones.
    std::size_t count() const noexcept {
        // (9) seq_cst: pairs with (9) in enter; with the guards' Dekker protocol in access_gate, a compaction
        // that misses a new lane comes before all that its thread sees of the gate
        return count_.load(std::memory_order::seq_cst);
    }

    std::size_t size() const noexcept { return lanes_.size(); }

    lane<Policy>& operator[](std::size_t index) noexcept { return lanes_[index]; }
    const lane<Policy>& operator[](std::size_t index) const noexcept { return lanes_[index]; }

    /// Sum of a counter over all lanes.
    template <class Value>
    std::uint64_t sum(Value value) const noexcept {
        std::uint64_t total = 0;
        for (std::size_t i = 0, last = count(); i < last; ++i) {
            total += value(lanes_[i]);
        }
        return total;
    }

    memory_use memory() const noexcept { return memory_of(lanes_); }

private:
    void enter(std::uint32_t index) noexcept {
        // (9) seq_cst, also where another thread has raised the count already: see count()
        std::uint32_t count = count_.load(std::memory_order::seq_cst);
        // (9) seq_cst, the failure too: it is the same look at the count once more
        while (count <= index && !count_.compare_exchange_weak(count, index + 1, std::memory_order::seq_cst,
                                                               std::memory_order::seq_cst)) {
        }
    }

    typename Policy::template array<lane<Policy>> lanes_;
    std::uint64_t numbering_ = Policy::numbering();
    alignas(cache_line) typename Policy::template atomic<std::uint32_t> count_{0};
};

} // namespace handlepool::detail
