// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/bit_runs.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/memory_use.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// Numbers of one thread, a bit for each, and a bit for each 64 of them that says where to look. To go over
/// them is linear in `limit` / 4,096 and in what is there. Memory is used where bits are.
template <class Policy>
class bit_set {
public:
    /// Numbers below `limit`; none at first. Throws reservation_failed.
    bit_set(const allocation_label& what_for, std::size_t limit)
        : words_(what_for.part(" bits"), words_for(limit), 0),
          groups_(what_for.part(" groups of bits"), words_for(words_for(limit)), 0),
          groups_in_use_(words_for(words_for(limit))) {}

    /// Linear in `limit` / 4,096, and in words of which all was erased.
    bool empty() const noexcept {
        bool any = false;
        for_each_word([&any](std::size_t, std::uint64_t bits) { any |= bits != 0; });
        return !any;
    }
    /// How many there are. Linear like empty().
    std::size_t count() const noexcept {
        std::size_t count = 0;
        for_each_word([&count](std::size_t, std::uint64_t bits) {
            count += static_cast<std::size_t>(std::popcount(bits));
        });
        return count;
    }
    bool contains(std::size_t number) const noexcept { return (words_[number / 64] & mask_of(number)) != 0; }

    void insert(std::size_t number) noexcept {
        words_[number / 64] = words_[number / 64] | mask_of(number);
        groups_[number / 4096] = groups_[number / 4096] | mask_of(number / 64);
    }
    /// Those from `first` to before `last`.
    void insert_range(std::size_t first, std::size_t last) noexcept {
        for (; first < last && first % 64 != 0; ++first) {
            insert(first);
        }
        for (; first < last && last - first >= 64; first += 64) {
            words_[first / 64] = ~std::uint64_t{0};
            groups_[first / 4096] = groups_[first / 4096] | mask_of(first / 64);
        }
        for (; first < last; ++first) {
            insert(first);
        }
    }
    void insert_all(const bit_set& others) noexcept {
        others.for_each_word([this](std::size_t word, std::uint64_t bits) {
            words_[word] = words_[word] | bits;
            groups_[word / 64] = groups_[word / 64] | mask_of(word);
        });
    }
    /// Inserts numbers of which many are near the one before: writes a word once for all of those, at the end
    /// of its life for the last ones.
    class near_inserter {
    public:
        explicit near_inserter(bit_set& set) noexcept : set_(set) {}
        ~near_inserter() { write(); }
        near_inserter(const near_inserter&) = delete;
        near_inserter& operator=(const near_inserter&) = delete;

        void insert(std::size_t number) noexcept {
            if (number / 64 != word_) {
                write();
                word_ = number / 64;
                bits_ = 0;
            }
            bits_ |= mask_of(number);
        }

    private:
        void write() noexcept {
            if (bits_ != 0) {
                set_.words_[word_] = set_.words_[word_] | bits_;
                set_.groups_[word_ / 64] = set_.groups_[word_ / 64] | mask_of(word_);
            }
        }

        bit_set& set_;
        std::size_t word_ = 0;
        std::uint64_t bits_ = 0;
    };

    void erase(std::size_t number) noexcept { words_[number / 64] = words_[number / 64] & ~mask_of(number); }

    void clear() noexcept {
        for (std::size_t group = 0; group != groups_in_use_; ++group) {
            if (groups_[group] != 0) {
                for_each_bit(group * 64, groups_[group], [this](std::size_t word) { words_[word] = 0; });
                groups_[group] = 0;
            }
        }
    }

    /// Calls `visit(number)` for each, in ascending order. It may insert none below.
    template <class Visit>
    void for_each(Visit visit) const {
        for_each_word([&](std::size_t word, std::uint64_t bits) { for_each_bit(word * 64, bits, visit); });
    }

    /// Calls `visit(first, last)` for each run of those that are in any of the sets `at(0)` to
    /// `at(count - 1)`, which have the same limit. Runs with no more than `gap` numbers between them
    /// are one.
    template <class At, class Visit>
    static void for_each_joined_run(std::size_t count, At at, std::size_t gap, Visit visit) {
        std::size_t begin = 0;
        std::size_t end = 0; // no run yet, where that is `begin`
        const auto add = [&](std::size_t first, std::size_t last) {
            if (end != begin && first - end > gap) {
                visit(begin, end);
                begin = first;
            } else if (end == begin) {
                begin = first;
            }
            end = last;
        };
        for (std::size_t group = 0, groups = count == 0 ? 0 : at(0).groups_in_use_; group != groups;
             ++group) {
            std::uint64_t words = 0;
            for (std::size_t i = 0; i != count; ++i) {
                words |= at(i).groups_[group];
            }
            for_each_bit(group * 64, words, [&](std::size_t word) {
                std::uint64_t bits = 0;
                for (std::size_t i = 0; i != count; ++i) {
                    bits |= at(i).words_[word];
                }
                for_each_run(word * 64, bits, add);
            });
        }
        if (end != begin) {
            visit(begin, end);
        }
    }

    memory_use memory() const noexcept { return memory_of(words_, groups_); }

private:
    using word_type = typename Policy::template plain<std::uint64_t>;

    static constexpr std::size_t words_for(std::size_t bits) noexcept { return (bits + 63) / 64; }
    static constexpr std::uint64_t mask_of(std::size_t number) noexcept {
        return std::uint64_t{1} << (number % 64);
    }

    template <class Visit>
    void for_each_word(Visit visit) const {
        for (std::size_t group = 0; group != groups_in_use_; ++group) {
            for_each_bit(group * 64, groups_[group], [&](std::size_t word) { visit(word, words_[word]); });
        }
    }

    typename Policy::template array<word_type> words_;
    typename Policy::template array<word_type> groups_;
    std::size_t groups_in_use_;
};

} // namespace handlepool::detail
