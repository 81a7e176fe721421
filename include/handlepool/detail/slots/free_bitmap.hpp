// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/bit_runs.hpp>
#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// Totals of indices given back unused, and of those claimed again.
struct returned_totals {
    std::uint64_t given_back = 0;
    std::uint64_t claimed = 0;

    std::size_t waiting() const noexcept { return given_back > claimed ? given_back - claimed : 0; }
    friend bool operator==(returned_totals, returned_totals) = default;
};

/// Indices that were claimed from a freelist and given back unused: a bit for each. Unlike freed ones they
/// come from any thread and need no delay. They go out in rising order and then round, beginning with the
/// word of the last give_back(), or with the lowest after a rewind().
///
/// A claim takes bits of one word by compare-exchange. Nothing is linked, so there is no ABA, and a thread
/// that is stopped in a claim holds no more than it asked for.
template <class Policy>
class free_bitmap {
public:
    /// Indices of a word; the lowest bit is the lowest index.
    static constexpr std::size_t bits_per_word = 64;

    /// Makes a bitmap of the indices below `limit`, none of which was given back.
    free_bitmap(const allocation_label& what_for, std::size_t limit)
        : words_(what_for.part(" unused"), (limit + bits_per_word - 1) / bits_per_word, 0) {}

    /// A moment's view. What the claims counted here have taken is counted as given back, too.
    returned_totals seen() const noexcept {
        returned_totals now;
        // (36) acquire: pairs with (35), for what the claiming threads did before
        now.claimed = claimed_.load(std::memory_order::acquire);
        now.given_back = given_back_.load(std::memory_order::relaxed);
        return now;
    }

    /// Any thread: the calling thread has claimed the index, and no object was published in it since.
    /// Wait-free.
    void give_back(std::uint32_t index) noexcept {
        const std::size_t word = index / bits_per_word;
        hint_.store(word, std::memory_order::relaxed);
        given_back_.fetch_add(1, std::memory_order::relaxed); // before anybody can claim it
        // (32) release: pairs with (33), for the count, and for what the claim of the index had made visible
        // to this thread
        words_[word].fetch_or(std::uint64_t{1} << (index % bits_per_word), std::memory_order::release);
    }

    /// Any thread: takes up to `wanted` indices of those below `in_service`, writes them to `out` and returns
    /// how many. Lock-free; linear in `in_service` / 64 at the worst.
    std::size_t claim(std::uint32_t* out, std::size_t wanted, std::size_t in_service) noexcept {
        const std::size_t words = (in_service + bits_per_word - 1) / bits_per_word;
        std::size_t count = 0;
        std::size_t word = hint_.load(std::memory_order::relaxed);
        for (std::size_t visited = 0; visited < words; ++visited, ++word) {
            word = word < words ? word : 0;
            count += claim_of(word, out + count, wanted - count);
            if (count == wanted) {
                if (visited != 0) {
                    hint_.store(word, std::memory_order::relaxed); // those before it were empty
                }
                break;
            }
        }
        return count;
    }

    /// Any thread: takes this index, if it is there. Returns whether it was. Wait-free.
    bool claim(std::uint32_t index) noexcept {
        atomic<std::uint64_t>& word = words_[index / bits_per_word];
        const std::uint64_t bit = std::uint64_t{1} << (index % bits_per_word);
        if ((word.load(std::memory_order::relaxed) & bit) == 0) {
            return false;
        }
        // (33)
        if ((word.fetch_and(~bit, std::memory_order::acq_rel) & bit) == 0) {
            return false;
        }
        // (35)
        claimed_.fetch_add(1, std::memory_order::release);
        return true;
    }

    /// Any thread: gives back the indices of a word whose bits are set. Like give_back(). Wait-free.
    void give_back_word(std::size_t word, std::uint64_t bits) noexcept {
        given_back_.fetch_add(static_cast<std::uint64_t>(std::popcount(bits)), std::memory_order::relaxed);
        // (32)
        words_[word].fetch_or(bits, std::memory_order::release);
    }

    /// Compaction: claims those indices of a word whose bits are set, and returns the bits of those that were
    /// there. Wait-free.
    std::uint64_t claim_word(std::size_t word, std::uint64_t bits) noexcept {
        // (33) acquire: pairs with (32), for what was done in memory that the caller may give to the system
        const std::uint64_t got = words_[word].fetch_and(~bits, std::memory_order::acquire) & bits;
        // Relaxed: a shard that has claimed indices counts them, and (35) shows that; this is no shard.
        claimed_.fetch_add(static_cast<std::uint64_t>(std::popcount(got)), std::memory_order::relaxed);
        return got;
    }

    /// A moment's view of a word: a bit for each of its indices that is there.
    std::uint64_t bits_of(std::size_t word) const noexcept {
        return words_[word].load(std::memory_order::relaxed);
    }

    /// Any thread: the next claims begin with the lowest index. Wait-free.
    void rewind() noexcept { hint_.store(0, std::memory_order::relaxed); }

    /// Any thread: calls `visit(index)` for indices below `in_service` that the next claims will probably
    /// take, in their order, as long as it returns true. Looks at two words only.
    template <class Visit>
    void for_next(std::size_t in_service, Visit visit) const noexcept {
        const std::size_t words = (in_service + bits_per_word - 1) / bits_per_word;
        const std::size_t first = hint_.load(std::memory_order::relaxed);
        for (std::size_t word = first; word < words && word <= first + 1; ++word) {
            std::uint64_t bits = words_[word].load(std::memory_order::relaxed);
            for (; bits != 0; bits &= bits - 1) {
                if (!visit(index_of(word, bits))) {
                    return;
                }
            }
        }
    }

    // For captures, while nobody else uses it.

    /// Calls `visit(index)` for those of the first `in_service` indices that are there, in ascending order.
    template <class Visit>
    void for_each(std::size_t in_service, Visit visit) const {
        for (std::size_t word = 0, words = (in_service + bits_per_word - 1) / bits_per_word; word < words;
             ++word) {
            for_each_bit(word * bits_per_word, bits_of(word), visit);
        }
    }
    /// The word where the next claim begins to look.
    std::size_t next_word() const noexcept { return hint_.load(std::memory_order::relaxed); }
    void set_next_word(std::size_t word) noexcept { hint_.store(word, std::memory_order::relaxed); }

    /// Forgets all. Only while nobody else uses it.
    void reset() noexcept {
        words_.discard();
        claimed_.store(given_back_.load(std::memory_order::relaxed), std::memory_order::relaxed);
    }

    memory_use memory() const noexcept { return words_.memory(); }

private:
    template <class Word>
    using atomic = typename Policy::template atomic<Word>;

    /// The lowest of the indices of a word whose bits are set.
    static std::uint32_t index_of(std::size_t word, std::uint64_t bits) noexcept {
        return static_cast<std::uint32_t>(word * bits_per_word) +
               static_cast<std::uint32_t>(std::countr_zero(bits));
    }

    std::size_t claim_of(std::size_t word, std::uint32_t* out, std::size_t wanted) noexcept {
        // (34) acquire: pairs with (33): a thread that finds an index gone also sees what the shard that took
        // it says it holds
        std::uint64_t bits = words_[word].load(std::memory_order::acquire);
        while (bits != 0) {
            const std::uint64_t wanted_bits = lowest_bits(bits, wanted);
            // (33) acq_rel: acquire pairs with (32), release with (34). A failure needs no order: a claim
            // that finds nothing looks at the totals again before it gives up
            if (words_[word].compare_exchange_weak(bits, bits & ~wanted_bits, std::memory_order::acq_rel,
                                                   std::memory_order::relaxed)) {
                const auto count = static_cast<std::size_t>(std::popcount(wanted_bits));
                // (35) release: pairs with (36), for the same as (33)
                claimed_.fetch_add(count, std::memory_order::release);
                for_each_bit(word * bits_per_word, wanted_bits, [&](std::uint32_t index) { *out++ = index; });
                return count;
            }
        }
        return 0;
    }

    typename Policy::template array<atomic<std::uint64_t>> words_;
    alignas(cache_line) atomic<std::uint64_t> given_back_{0};
    atomic<std::uint64_t> claimed_{0};
    atomic<std::size_t> hint_{0}; // the word where a claim begins to look
};

} // namespace handlepool::detail
