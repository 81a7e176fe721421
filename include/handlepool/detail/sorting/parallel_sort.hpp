// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/for_ranges_or_throw.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/scratch_array.hpp>
#include <handlepool/detail/sorting/sort_algorithms.hpp>

#include <cstddef>
#include <utility>

namespace handlepool::detail {

/// Sorts entries by the threads of an executor: blocks by themselves, then pairs of sorted sequences are
/// merged, until one is left. Each merge is divided into pieces of a block's length, by the numbers of
/// entries that each piece takes from the two sequences: so the last merge is parallel, too.
template <class Policy, class Entry, class Before>
class parallel_sort {
public:
    /// Blocks are not shorter than `grain`. Throws std::bad_alloc.
    parallel_sort(std::size_t count, std::size_t grain, Before before)
        : count_(count),
          block_(greatest(grain, (count + most_blocks - 1) / most_blocks)),
          blocks_((count + block_ - 1) / block_),
          before_(before),
          splits_(blocks_ + 1) {}

    /// Sorts `entries`, with room for as many in `spare`; returns where they are afterwards, one of the two,
    /// or null when they were in order: then they are unchanged. Throws what the order throws, and leaves
    /// them in any order then.
    template <class Executor>
    Entry* run(Executor& executor, Entry* entries, Entry* spare) {
        if (sort_blocks(executor, entries, spare)) {
            return nullptr;
        }
        for (std::size_t width = block_; width < count_; width *= 2) {
            find_splits(entries, width);
            for_ranges_or_throw<Policy>(executor, blocks_, 1, [=, this](std::size_t first, std::size_t last) {
                for (std::size_t piece = first; piece != last; ++piece) {
                    merge_piece(entries, spare, width, piece);
                }
            });
            std::swap(entries, spare);
        }
        return entries;
    }

private:
    // Enough for any number of threads to take from, and few enough that the merges are not all of the work.
    static constexpr std::size_t most_blocks = 64;

    // Two neighbouring sequences, and their common end.
    struct pair_of_sequences {
        std::size_t left;
        std::size_t right;
        std::size_t end;
    };
    pair_of_sequences pair_at(std::size_t place, std::size_t width) const noexcept {
        const std::size_t left = place / (2 * width) * (2 * width);
        return {left, least(left + width, count_), least(left + 2 * width, count_)};
    }

    /// Returns whether all were in order before.
    template <class Executor>
    bool sort_blocks(Executor& executor, Entry* entries, Entry* spare) {
        for_ranges_or_throw<Policy>(executor, blocks_, 1, [=, this](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i != last; ++i) {
                Entry* const block = entries + i * block_;
                const std::size_t size = least(block_, count_ - i * block_);
                const std::size_t ordered =
                    ordered_prefix(size, before_, [block](std::size_t at) { return block[at]; });
                splits_[i] = ordered == size ? 1 : 0; // whether it was in order
                if (ordered != size) {
                    sort_adaptively(block, spare + i * block_, size, ordered, before_);
                }
            }
        });
        for (std::size_t i = 0; i != blocks_; ++i) {
            if (splits_[i] == 0 ||
                (i != 0 && !in_sequence(entries[i * block_ - 1], entries[i * block_], before_))) {
                return false;
            }
        }
        return true;
    }

    /// For each piece, how many entries of its pair's left sequence come before it.
    void find_splits(const Entry* entries, std::size_t width) {
        for (std::size_t piece = 0; piece != blocks_; ++piece) {
            const std::size_t place = piece * block_;
            const pair_of_sequences both = pair_at(place, width);
            const std::size_t out = place - both.left;
            const std::size_t right_size = both.end - both.right;
            std::size_t low = out > right_size ? out - right_size : 0;
            std::size_t high = least(out, both.right - both.left);
            if (out != 0) {
                // Where an order contradicts itself, the pieces must divide the sequences all the same.
                low = greatest(low, splits_[piece - 1]);
                high = least(high, splits_[piece - 1] + block_);
            }
            while (low < high) {
                const std::size_t middle = low + (high - low) / 2;
                if (before_(entries[both.left + middle], entries[both.right + (out - middle - 1)])) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            splits_[piece] = low;
        }
    }

    void merge_piece(const Entry* entries, Entry* out, std::size_t width, std::size_t piece) const {
        const std::size_t place = piece * block_;
        const pair_of_sequences both = pair_at(place, width);
        const std::size_t end = least(place + block_, both.end);
        const std::size_t left_first = splits_[piece];
        const std::size_t left_last = end == both.end ? both.right - both.left : splits_[piece + 1];
        merge(entries + both.left + left_first, entries + both.left + left_last,
              entries + both.right + (place - both.left - left_first),
              entries + both.right + (end - both.left - left_last), out + place, before_);
    }

    std::size_t count_;
    std::size_t block_;
    std::size_t blocks_;
    Before before_;
    scratch_array<std::size_t> splits_;
};

} // namespace handlepool::detail
