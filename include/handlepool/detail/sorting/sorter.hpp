// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/for_ranges_or_throw.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/invoke_const.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/scratch_array.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/detail/sorting/bounded_permutation.hpp>
#include <handlepool/detail/sorting/cycle_mover.hpp>
#include <handlepool/detail/sorting/parallel_sort.hpp>
#include <handlepool/detail/sorting/sort_algorithms.hpp>
#include <handlepool/detail/sorting/sort_keys.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace handlepool::detail {

/// Sorts the dense store: first it finds the order, while all objects stay where they are, then it moves
/// them, or a part of them. All memory is there before the first move, so that whatever fails leaves the old
/// order.
///
/// An order that a budget leaves unfinished is remembered. The next part sorts the objects as if they stood
/// in it, with those that came since at its end:
///
///     store           c2 a1 c1 b1        of the same letter the one with the lower number is older
///     order           a1 b1 c2 c1        c2 stood before c1
///     moved so far    a1 c2 c1 b1        place 0 is right, as far as two moves reach
///     sorted next     a1 b1 c2 c1        already in sequence, and stable from part to part
///
/// So of a store that nobody changes each part finds the same order. One that `budget` moves don't finish
/// leaves at least budget / 2 places more with the right object, rounded down, and the last one finishes
/// `budget` of them: n objects are in order after ceil((n - budget) / floor(budget / 2)) + 1 parts.
///
/// The store is in order when it stands in the order that was found: what is in order by the comparison alone
/// may still have equal objects in another one.
///
/// Everything here is done by one thread at a time, which the gate sees to, or by its executor's threads;
/// other threads may concurrently emplace, erase and ask for liveness.
template <class T, class Config>
class sorter {
public:
    using parts_type = pool_state<T, Config>;
    using policy = typename Config::policy;

    sorter(parts_type& parts, std::string_view pool) : parts_(parts), pool_(pool) {}

    /// Sorts all objects by `compare`, or by the keys that `key` reads.
    template <class Executor, class Compare>
    sort_stats sort(Executor& executor, Compare& compare) {
        return run<by_comparison<Compare, reader>>(executor, compare, reader{parts_}, unlimited);
    }
    template <class Executor, class Key>
    sort_stats sort_by(Executor& executor, Key& key) {
        return run<by_key<Key, reader>>(executor, key, reader{parts_}, unlimited);
    }

    /// Sorts like sort() and sort_by(), with at most `budget` moves, going on where the last call stopped.
    template <class Executor, class Compare>
    sort_stats sort_some(Executor& executor, Compare& compare, std::size_t budget) {
        const objects_in_order last = objects_of_order();
        return run<by_comparison<Compare, ordered_reader>>(executor, compare, ordered_reader{{parts_}, last},
                                                           budget);
    }
    template <class Executor, class Key>
    sort_stats sort_some_by(Executor& executor, Key& key, std::size_t budget) {
        const objects_in_order last = objects_of_order();
        return run<by_key<Key, ordered_reader>>(executor, key, ordered_reader{{parts_}, last}, budget);
    }

private:
    using positions = scratch_array<std::uint32_t>;

    static constexpr std::uint32_t no_number = begun_order<policy>::no_number;

    template <class Executor>
    static constexpr bool is_inline = std::is_same_v<std::remove_cv_t<Executor>, inline_executor>;
    // Chains of moves that threads take from.
    static constexpr std::size_t most_chains = 64;

    /// The positions of all objects, of which the first are those of an order that was begun; none when there
    /// is no such order.
    struct objects_in_order {
        positions where;
        std::size_t known = 0;
    };

    /// Reads the objects as they stand.
    struct reader {
        const parts_type& parts;

        static constexpr bool as_they_stand() noexcept { return true; }
        static constexpr std::size_t known(std::size_t count) noexcept { return count; }
        static constexpr std::uint32_t position(std::uint32_t number) noexcept { return number; }

        read_access_t<T> operator()(std::uint32_t number) const noexcept { return at(number); }
        void prefetch(std::uint32_t number) const noexcept {
            parts.objects.prefetch_object(location{number});
        }
        read_access_t<T> at(std::uint32_t where) const noexcept {
            if constexpr (std::is_void_v<T>) {
                return parts.objects.at(location{where});
            } else {
                return *parts.objects.at(location{where});
            }
        }
    };

    /// Reads them in an order, unless there is none.
    struct ordered_reader : reader {
        const objects_in_order& begun;

        bool as_they_stand() const noexcept { return begun.known == 0; }
        std::size_t known(std::size_t count) const noexcept { return as_they_stand() ? count : begun.known; }
        std::uint32_t position(std::uint32_t number) const noexcept {
            return as_they_stand() ? number : begun.where[number];
        }

        read_access_t<T> operator()(std::uint32_t number) const noexcept {
            return this->at(position(number));
        }
        void prefetch(std::uint32_t number) const noexcept { reader::prefetch(position(number)); }
    };

    template <class Criterion, class Executor, class Function, class Read>
    sort_stats run(Executor& executor, Function& function, const Read& read, std::size_t budget) {
        const std::uint64_t start = policy::now();
        sort_stats stats;
        stats.size = parts_.objects.size();
        if (auto sources = find_order<Criterion>(executor, function, read, stats.size)) {
            move_toward(executor, *sources, budget, stats);
        } else {
            parts_.order.forget();
        }
        stats.duration = std::chrono::nanoseconds(policy::now() - start);
        return stats;
    }

    // ---- Finding the order

    /// For each place, where the object is that belongs there; nothing when the objects stand in order.
    /// Throws std::bad_alloc, and what the criterion throws.
    template <class Criterion, class Executor, class Function, class Read>
    std::optional<positions> find_order(Executor& executor, Function& function, const Read& read,
                                        std::size_t count) {
        if (count < 2) {
            return std::nullopt;
        }
        Criterion criterion(function, read, count);
        if constexpr (is_inline<Executor>) {
            return find_order_inline(criterion, read, count);
        } else {
            return find_order_by_threads(executor, criterion, read, count);
        }
    }

    template <class Criterion, class Read>
    std::optional<positions> find_order_inline(Criterion& criterion, const Read& read, std::size_t count) {
        using entry = typename Criterion::entry;
        const order_of<Criterion> before(criterion);
        const auto make = [&](std::size_t at) { return criterion.make(static_cast<std::uint32_t>(at)); };
        std::size_t ordered = 0;
        if constexpr (!Criterion::reads) {
            // Objects in order need no memory.
            ordered = ordered_prefix(count, before, make);
            if (ordered == count && read.as_they_stand()) {
                expect_order(criterion, read, count, make);
                return std::nullopt;
            }
        }
        scratch_array<entry> entries(count);
        std::size_t made = 0;
        const auto make_next = [&](std::size_t at) {
            entries[at] = make(at);
            made = at + 1;
            return entries[at];
        };
        if constexpr (Criterion::reads) {
            // While the keys are read, which spares a second pass.
            ordered = ordered_prefix(count, before, make_next);
        }
        while (made != count) {
            make_next(made);
        }
        if (ordered != count) {
            scratch_array<entry> spare(count);
            sort_appended(entries.data(), spare.data(), count, ordered, read.known(count), before);
        }
        expect_order(criterion, read, count, [&](std::size_t i) { return entries[i]; });
        if (ordered == count && read.as_they_stand()) {
            return std::nullopt;
        }
        positions sources(count);
        for (std::size_t i = 0; i != count; ++i) {
            sources[i] = read.position(entries[i].position());
        }
        return sources;
    }

    template <class Executor, class Criterion, class Read>
    std::optional<positions> find_order_by_threads(Executor& executor, Criterion& criterion, const Read& read,
                                                   std::size_t count) {
        using entry = typename Criterion::entry;
        const order_of<Criterion> before(criterion);
        scratch_array<entry> entries(count);
        scratch_array<entry> spare(count);
        positions sources(count);
        parallel_sort<policy, entry, order_of<Criterion>> work(count, policy::compaction_grain, before);
        for_ranges_or_throw<policy>(executor, count, policy::compaction_grain,
                                    [&](std::size_t first, std::size_t last) {
                                        for (std::size_t i = first; i != last; ++i) {
                                            entries[i] = criterion.make(static_cast<std::uint32_t>(i));
                                        }
                                    });
        const entry* const found = work.run(executor, entries.data(), spare.data());
        const entry* const sorted = found == nullptr ? entries.data() : found;
        expect_order(criterion, read, count, [&](std::size_t i) { return sorted[i]; });
        if (found == nullptr && read.as_they_stand()) {
            return std::nullopt;
        }
        executor.for_ranges(count, policy::compaction_grain,
                            [&](std::size_t first, std::size_t last) noexcept {
                                for (std::size_t i = first; i != last; ++i) {
                                    sources[i] = read.position(sorted[i].position());
                                }
                            });
        return sources;
    }

    template <class Criterion, class Read, class EntryAt>
    void expect_order(const Criterion& criterion, const Read& read, std::size_t count, EntryAt entry_at) {
        expect_strict_weak_order(
            criterion, count, entry_at, [&](const auto& entry) { return read.position(entry.position()); },
            pool_);
    }

    // ---- Moving the objects

    /// Moves the objects to where they belong, or begins to. Throws std::bad_alloc.
    template <class Executor>
    void move_toward(Executor& executor, positions& sources, std::size_t budget, sort_stats& stats) {
        const std::uint32_t count = parts_.objects.size();
        cycle_mover<T, Config> moves(
            parts_, count, is_inline<Executor> || count <= policy::compaction_grain ? 1 : most_chains);
        if (!has_more_misplaced_than(budget, sources)) {
            stats.moved = moves.run(executor, sources);
            parts_.order.forget();
            return;
        }
        positions numbers = numbers_of(sources);
        positions steps(count);
        // The store may have become smaller.
        const std::uint32_t next = parts_.order.next_position();
        bounded_permutation window(sources, next < count ? next : 0, budget);
        window.restrict(sources, steps);
        stats.in_order = false;
        parts_.order.replace(std::move(numbers), count);
        parts_.order.set_next_position(window.end());
        stats.moved = moves.run(executor, steps);
    }

    static bool has_more_misplaced_than(std::size_t budget, const positions& sources) noexcept {
        std::size_t misplaced = 0;
        for (std::size_t place = 0; place != sources.size() && misplaced <= budget; ++place) {
            misplaced += sources[place] == place ? 0U : 1U;
        }
        return misplaced > budget;
    }

    // ---- Remembering an order

    /// For each slot, the number of its object in the order in which the objects at these positions are.
    positions numbers_of(const positions& where) const {
        positions numbers(parts_.slots_in_service());
        for (std::size_t i = 0; i != numbers.size(); ++i) {
            numbers[i] = no_number;
        }
        for (std::uint32_t i = 0; i != where.size(); ++i) {
            numbers[raw(parts_.objects.owner(dense_position{where[i]}))] = i;
        }
        return numbers;
    }

    /// The positions of the objects of the order that was begun, and then those of the others.
    objects_in_order objects_of_order() const {
        const std::uint32_t count = parts_.order.size() == 0 ? 0 : parts_.objects.size();
        positions position_of(parts_.order.size());
        for (std::size_t i = 0; i != position_of.size(); ++i) {
            position_of[i] = no_number;
        }
        positions where(count);
        std::size_t first_other = count;
        for (std::uint32_t position = count; position-- != 0;) {
            const std::uint32_t number =
                parts_.order.number_of(parts_.objects.owner(dense_position{position}));
            if (number == no_number) {
                where[--first_other] = position;
            } else {
                position_of[number] = position;
            }
        }
        std::size_t known = 0;
        for (std::size_t i = 0; i != position_of.size(); ++i) {
            if (position_of[i] != no_number) {
                where[known++] = position_of[i];
            }
        }
        return {std::move(where), known};
    }

    parts_type& parts_;
    std::string_view pool_;
};

} // namespace handlepool::detail
