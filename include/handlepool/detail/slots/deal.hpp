// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/least.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace handlepool::detail {

/// The numbers from 0 on, dealt out to hands in blocks, like cards. Which of them a hand gets, and in which
/// order, follows from the weights of the hands alone: none waits for another, or knows what it takes.
///
/// ```
///   0                       8                       16
///   | 0 0 | 1 1 | 2 2 | 2 2 | 0 0 | 1 1 | 2 2 | 2 2 | 0 0 | 1       hands 0, 1 and 2, of weights 1, 1 and 2
///   └────── a round ────────┘
/// ```
template <class Policy>
class deal {
public:
    /// The most that the weights may sum up to.
    static constexpr std::size_t most_blocks_of_round = 65536;

    /// Neighbouring numbers.
    struct run {
        std::size_t first = 0;
        std::size_t count = 0;
    };

    bool is_open() const noexcept { return is_open_; }

    /// Deals the numbers below `size` to as many hands as there are weights, each at least 1, in blocks of
    /// `most_of_block` numbers at the most. Throws std::bad_alloc.
    void open(std::span<const std::uint32_t> weights, std::size_t size, std::size_t most_of_block) {
        std::size_t blocks = 0;
        for (const std::uint32_t weight : weights) {
            blocks += weight;
        }
        hand_of_block_.clear();
        hand_of_block_.reserve(blocks);
        if (hands_.size() != weights.size()) {
            hands_ = std::vector<hand>(weights.size());
        }
        for (std::size_t i = 0; i != weights.size(); ++i) {
            hands_[i].first_block = hand_of_block_.size();
            hands_[i].weight = weights[i];
            hands_[i].taken = 0;
            hand_of_block_.insert(hand_of_block_.end(), weights[i], static_cast<std::uint32_t>(i));
        }
        size_ = size;
        block_ = least(greatest<std::size_t>(size / (least_rounds * blocks_of_round()), 1), most_of_block);
        is_open_ = true;
    }
    void close() noexcept { is_open_ = false; }

    /// The next numbers of a hand: up to `wanted` of one block, and none when it has had its share. One
    /// thread at a time for each hand. Wait-free.
    run take(std::size_t which, std::size_t wanted) noexcept {
        hand& mine = hands_[which];
        const std::size_t taken = mine.taken;
        const std::size_t first = number_of(mine, taken);
        const std::size_t left = size_ - least(first, size_);
        const std::size_t count = least(least(wanted, block_ - taken % block_), left);
        mine.taken = taken + count;
        return {.first = first, .count = count};
    }
    /// How many more a hand can take.
    std::size_t left(std::size_t which) const noexcept {
        const hand& mine = hands_[which];
        const std::size_t each_round = blocks_of_round() * block_;
        const std::size_t of_each_round = mine.weight * block_;
        const std::size_t rest = size_ % each_round;
        const std::size_t before = mine.first_block * block_;
        return size_ / each_round * of_each_round + least(rest - least(rest, before), of_each_round) -
               mine.taken;
    }
    /// The hand has not used the last numbers that it took, so many.
    void put_back(std::size_t which, std::size_t count) noexcept {
        hands_[which].taken = hands_[which].taken - count;
    }

    /// Calls `visit(taken, passed_over)` with the two runs of each block, in the order of the numbers, as far
    /// as any hand has come. Linear in the blocks.
    template <class Visit>
    void for_each_block(Visit visit) const {
        const std::size_t end = end_of_taken();
        for (std::size_t first = 0; first < end; first += block_) {
            const std::size_t size = least(block_, end - first);
            const std::size_t taken = taken_of_block(first / block_);
            visit(run{.first = first, .count = taken}, run{.first = first + taken, .count = size - taken});
        }
    }

private:
    template <class Value>
    using plain = typename Policy::template plain<Value>;

    struct alignas(cache_line) hand {
        std::size_t first_block = 0; // of a round
        std::size_t weight = 0;      // blocks of a round
        plain<std::size_t> taken{0};
    };

    // So many rounds are dealt at least, or the blocks are smaller: shares are equal but for an eighth.
    static constexpr std::size_t least_rounds = 8;

    std::size_t blocks_of_round() const noexcept { return hand_of_block_.size(); }

    /// The number that a hand takes after `taken` others.
    std::size_t number_of(const hand& which, std::size_t taken) const noexcept {
        const std::size_t block = taken / block_;
        return (block / which.weight * blocks_of_round() + which.first_block + block % which.weight) *
                   block_ +
               taken % block_;
    }
    /// The number after the last that was taken.
    std::size_t end_of_taken() const noexcept {
        std::size_t end = 0;
        for (const hand& each : hands_) {
            const std::size_t taken = each.taken;
            end = taken == 0 ? end : greatest(end, number_of(each, taken - 1) + 1);
        }
        return end;
    }
    /// How many of a block were taken: the first ones.
    std::size_t taken_of_block(std::size_t block) const noexcept {
        const hand& mine = hands_[hand_of_block_[block % blocks_of_round()]];
        const std::size_t before =
            block / blocks_of_round() * mine.weight + (block % blocks_of_round() - mine.first_block);
        const std::size_t taken = mine.taken;
        return least(taken - least(taken, before * block_), block_);
    }

    std::vector<hand> hands_;
    std::vector<std::uint32_t> hand_of_block_; // of a round
    std::size_t size_ = 0;
    std::size_t block_ = 1;
    bool is_open_ = false;
};

} // namespace handlepool::detail
