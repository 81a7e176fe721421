// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/bit_runs.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/slots/deal.hpp>
#include <handlepool/detail/slots/free_bitmap.hpp>
#include <handlepool/freelist.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace handlepool::detail {

/// A freelist whose indices also come back unused: those go out first, to any thread and at once.
template <class Policy, class Freelist>
class index_allocator {
public:
    index_allocator(const allocation_label& what_for, const freelist_options& options)
        : free_(what_for, options), returned_(what_for, options.index_limit) {}

    /// Any thread, lock-free: like claim of the concept `freelist`. Indices that were given back unused count
    /// as in use; they go out whatever `in_use_limit` says, because they were within it before.
    std::size_t claim(std::uint32_t* out, std::size_t wanted, std::size_t in_use_limit,
                      std::size_t tries = unlimited) noexcept {
        while (true) {
            const auto before = returned_.seen();
            if (before.waiting() != 0) {
                if (const std::size_t count = returned_.claim(out, wanted, free_.fresh()); count != 0) {
                    return count;
                }
            }
            const std::size_t count = free_.claim(out, wanted, in_use_limit, tries);
            // Refused, and nothing was given back or claimed since: at the moment of the refusal there was no
            // index of either kind.
            if (count != 0 || returned_.seen() == before) {
                return count;
            }
        }
    }

    // While no other thread uses the allocator: see the concept `sequential_freelist`.

    std::size_t claim_alone(std::uint32_t* out, std::size_t wanted, std::size_t in_use_limit) noexcept {
        if constexpr (sequential_freelist<Freelist>) {
            if (returned_.seen().waiting() == 0) {
                return free_.claim_alone(out, wanted, in_use_limit);
            }
        }
        return claim(out, wanted, in_use_limit);
    }
    std::size_t claim_in_place(std::size_t wanted, std::size_t in_use_limit) noexcept {
        if constexpr (sequential_freelist<Freelist>) {
            return returned_.seen().waiting() == 0 ? free_.claim_in_place(wanted, in_use_limit) : 0;
        } else {
            return 0;
        }
    }
    std::size_t claimed_left() const noexcept {
        if constexpr (sequential_freelist<Freelist>) {
            return free_.claimed_left();
        } else {
            return 0;
        }
    }
    std::uint32_t claimed([[maybe_unused]] std::size_t i) const noexcept {
        if constexpr (sequential_freelist<Freelist>) {
            return free_.claimed(i);
        } else {
            return 0; // there is none
        }
    }
    std::uint32_t take_claimed() noexcept {
        if constexpr (sequential_freelist<Freelist>) {
            return free_.take_claimed();
        } else {
            return 0; // there is none
        }
    }
    void end_claim() noexcept {
        if constexpr (sequential_freelist<Freelist>) {
            free_.end_claim();
        }
    }

    /// Like claim(), where none is ever released: claims indices that were never in use.
    std::size_t claim_fresh(std::uint32_t* out, std::size_t wanted) noexcept {
        return free_.claim(out, wanted, free_.limit());
    }

    /// Any thread: gives back what it has claimed and not used. Wait-free.
    void give_back(std::uint32_t index) noexcept { returned_.give_back(index); }

    /// The indices that came back unused, word by word: see free_bitmap.
    free_bitmap<Policy>& returned_words() noexcept { return returned_; }

    /// Compaction: an index comes back after its use, to be seen by claims after the next publish().
    void release(std::uint32_t index) noexcept { free_.release(index); }
    template <class IndexAt>
    void release_many(std::size_t count, IndexAt index_at) noexcept {
        if constexpr (sequential_freelist<Freelist>) {
            free_.release_many(count, index_at);
        } else {
            for (std::size_t i = 0; i != count; ++i) {
                free_.release(index_at(i));
            }
        }
    }
    void publish() noexcept { free_.publish(); }
    /// Compaction: indices ever released.
    std::uint64_t released() const noexcept { return free_.released(); }

    // ---- Dealing out: while nobody else uses the allocator, see `deal` and the concept `dealable_freelist`

    /// Deals out what claims would get. Throws std::bad_alloc.
    void open_deal(std::span<const std::uint32_t> weights, std::size_t in_use_limit) {
        release_returned();
        stock_ = free_.stock(in_use_limit);
        deal_.open(weights, stock_.freed + stock_.fresh, Policy::claim_size);
    }
    bool is_dealt() const noexcept { return deal_.is_open(); }
    /// Writes the next indices of a hand to `out`, `wanted` at most, and returns how many. One thread at a
    /// time for each hand. Wait-free.
    std::size_t take_dealt([[maybe_unused]] std::size_t hand, [[maybe_unused]] std::uint32_t* out,
                           [[maybe_unused]] std::size_t wanted) noexcept {
        if constexpr (dealable_freelist<Freelist>) {
            const auto taken = deal_.take(hand, wanted);
            look_at(taken, 0, out);
            return taken.count;
        } else {
            return 0; // nothing is dealt out
        }
    }
    std::size_t left_of_dealt(std::size_t hand) const noexcept { return deal_.left(hand); }
    /// A hand has not used the last ones that it took.
    void put_back_dealt(std::size_t hand, std::size_t count) noexcept { deal_.put_back(hand, count); }
    /// Claims what was taken. What was passed over goes behind all others, as if it had been used and freed,
    /// and so does what came back unused. Linear in these.
    void close_deal() noexcept {
        if (!is_dealt()) {
            return;
        }
        deal_.for_each_block([this](auto taken, auto passed_over) {
            std::uint32_t indices[Policy::claim_size];
            look_at(passed_over, taken.first, indices);
            const std::size_t end = passed_over.first + passed_over.count;
            const std::size_t freed = least(end, stock_.freed) - least(taken.first, stock_.freed);
            free_.take_stock({.freed = freed, .fresh = end - taken.first - freed});
            for (std::size_t i = 0; i != passed_over.count; ++i) {
                free_.release(indices[i]);
            }
        });
        deal_.close();
        free_.publish();
        release_returned();
    }

    const Freelist& list() const noexcept { return free_; }
    /// How many indices came back unused, and how many of them went out again.
    returned_totals returned() const noexcept { return returned_.seen(); }
    std::size_t limit() const noexcept { return free_.limit(); }

    /// For captures, while nobody else uses it.
    Freelist& list() noexcept { return free_; }
    const free_bitmap<Policy>& returned_words() const noexcept { return returned_; }

    /// Restores the state after construction, with `fresh` indices in use. Only while nobody else uses it.
    void reset(std::size_t fresh) noexcept {
        free_.reset(fresh);
        returned_.reset();
    }

    memory_use memory() const noexcept { return memory_of(free_, returned_); }

private:
    /// Writes the indices of these numbers of the stock, of which the first `claimed` were claimed.
    void look_at(const typename deal<Policy>::run& numbers, std::size_t claimed,
                 std::uint32_t* out) const noexcept {
        const std::size_t freed = least(numbers.count, stock_.freed - least(numbers.first, stock_.freed));
        if (freed != 0) {
            free_.look_at_stock(numbers.first - claimed, freed, out);
        }
        // Fresh ones that were claimed are in service by now.
        const std::size_t first_fresh = free_.fresh() - (claimed - least(claimed, stock_.freed));
        for (std::size_t i = freed; i < numbers.count; ++i) {
            out[i] = static_cast<std::uint32_t>(first_fresh + (numbers.first + i - stock_.freed));
        }
    }

    /// Those that came back unused go behind the freed ones, the lowest first.
    void release_returned() noexcept {
        if (returned_.seen().waiting() == 0) {
            return;
        }
        constexpr std::size_t word_size = free_bitmap<Policy>::bits_per_word;
        for (std::size_t word = 0, last = (free_.fresh() + word_size - 1) / word_size; word != last; ++word) {
            if (const std::uint64_t bits = returned_.bits_of(word); bits != 0) {
                for_each_bit(word * word_size, returned_.claim_word(word, bits),
                             [this](std::uint32_t index) { free_.release(index); });
            }
        }
        returned_.rewind();
        free_.publish();
    }

    Freelist free_;
    free_bitmap<Policy> returned_;
    deal<Policy> deal_;
    freelist_stock stock_;
};

} // namespace handlepool::detail
