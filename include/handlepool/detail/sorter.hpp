#pragma once

#include <handlepool/detail/apply_to.hpp>
#include <handlepool/detail/cycle_mover.hpp>
#include <handlepool/detail/entry_sort.hpp>
#include <handlepool/detail/numbers.hpp>
#include <handlepool/detail/parallel_sort.hpp>
#include <handlepool/detail/pool_parts.hpp>
#include <handlepool/detail/scratch_array.hpp>
#include <handlepool/detail/sort_entries.hpp>
#include <handlepool/detail/sort_window.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace handlepool::detail {

/// Sorts the dense store: first it finds the order, while all objects stay where they are, then it moves
/// them. All memory is there before the first move, so that whatever fails leaves the old order.
///
/// Everything here is done by one thread at a time, which the gate sees to, or by its executor's threads;
/// meanwhile other threads may emplace, erase and ask for liveness.
template <class T, class Config>
class sorter {
public:
    using parts_type = pool_parts<T, Config>;
    using policy = typename Config::policy;

    explicit sorter(parts_type& parts) : parts_(parts) {}

    /// Sorts all objects by `compare`, or by the keys that `key` reads.
    template <class Executor, class Compare>
    sort_stats sort(Executor& executor, Compare& compare) {
        return sort_all<by_comparison<Compare, reader>>(executor, compare);
    }
    template <class Executor, class Key>
    sort_stats sort_by(Executor& executor, Key& key) {
        return sort_all<by_key<Key, reader>>(executor, key);
    }

    /// The same with at most `budget` moves, going on where the last call stopped.
    template <class Executor, class Compare>
    sort_stats sort_some(Executor& executor, Compare& compare, std::size_t budget) {
        return sort_part<by_comparison<Compare, reader>>(executor, compare, budget);
    }
    template <class Executor, class Key>
    sort_stats sort_some_by(Executor& executor, Key& key, std::size_t budget) {
        return sort_part<by_key<Key, reader>>(executor, key, budget);
    }

private:
    using positions = scratch_array<std::uint32_t>;

    // In other threads than the caller's nothing may throw.
    template <class Executor>
    static constexpr bool is_inline = std::is_same_v<std::remove_cv_t<Executor>, inline_executor>;
    // Chains of moves that threads take from.
    static constexpr std::size_t most_chains = 64;

    struct reader {
        const parts_type& parts;

        read_access_t<T> operator()(std::uint32_t position) const noexcept {
            if constexpr (std::is_void_v<T>) {
                return parts.objects.at(location{position});
            } else {
                return *parts.objects.at(location{position});
            }
        }
        void prefetch(std::uint32_t position) const noexcept {
            parts.objects.prefetch_object(location{position});
        }
    };

    template <class Criterion, class Executor, class Function>
    sort_stats sort_all(Executor& executor, Function& function) {
        const std::uint64_t start = policy::now();
        sort_stats stats;
        if (std::optional<positions> sources = find_order<Criterion>(executor, function)) {
            stats.moved = mover(executor).run(executor, *sources);
        }
        return finish(stats, start);
    }

    template <class Criterion, class Executor, class Function>
    sort_stats sort_part(Executor& executor, Function& function, std::size_t budget) {
        const std::uint64_t start = policy::now();
        sort_stats stats;
        if (std::optional<positions> sources = find_order<Criterion>(executor, function)) {
            // The store may have become smaller.
            const std::uint32_t first = next_ < parts_.objects.size() ? std::uint32_t{next_} : 0;
            const sort_window window(*sources, first, budget);
            positions leaving(window.incoming());
            cycle_mover<T, Config> moves = mover(executor);
            window.restrict(*sources, leaving);
            stats.moved = moves.run(executor, *sources);
            stats.in_order = window.is_whole();
            next_ = window.end();
        }
        return finish(stats, start);
    }

    template <class Executor>
    cycle_mover<T, Config> mover(Executor&) {
        const std::uint32_t count = parts_.objects.size();
        return cycle_mover<T, Config>(
            parts_, count, is_inline<Executor> || count <= policy::compaction_grain ? 1 : most_chains);
    }

    sort_stats finish(sort_stats stats, std::uint64_t start) const noexcept {
        stats.size = parts_.objects.size();
        stats.duration = std::chrono::nanoseconds(policy::now() - start);
        return stats;
    }

    /// For each place, where the object is that belongs there; nothing when all are in order.
    template <class Criterion, class Executor, class Function>
    std::optional<positions> find_order(Executor& executor, Function& function) {
        const std::size_t count = parts_.objects.size();
        if (count < 2) {
            return std::nullopt;
        }
        Criterion criterion(function, reader{parts_}, count);
        if constexpr (is_inline<Executor>) {
            return find_order_inline(criterion, count);
        } else {
            return find_order_by_threads(executor, criterion, count);
        }
    }

    template <class Criterion>
    std::optional<positions> find_order_inline(Criterion& criterion, std::size_t count) {
        using entry = typename Criterion::entry;
        const order_of<Criterion> before(criterion);
        const auto make = [&](std::size_t at) { return criterion.make(static_cast<std::uint32_t>(at)); };
        std::size_t ordered = 0;
        if constexpr (!Criterion::reads) {
            // Objects in order need no memory.
            ordered = ordered_prefix(count, before, make);
            if (ordered == count) {
                return std::nullopt;
            }
        }
        scratch_array<entry> entries(count);
        std::size_t made = 0;
        const auto make_next = [&](std::size_t at) {
            entries[at] = make(at);
            criterion.made(made = at + 1);
            return entries[at];
        };
        if constexpr (Criterion::reads) {
            // While the keys are read, which spares a second pass.
            ordered = ordered_prefix(count, before, make_next);
            if (ordered == count) {
                return std::nullopt;
            }
        }
        while (made != count) {
            make_next(made);
        }
        scratch_array<entry> spare(count);
        sort_adaptively(entries.data(), spare.data(), count, ordered, before);
        positions sources(count);
        for (std::size_t i = 0; i != count; ++i) {
            sources[i] = entries[i].position();
        }
        return sources;
    }

    template <class Executor, class Criterion>
    std::optional<positions> find_order_by_threads(Executor& executor, Criterion& criterion,
                                                   std::size_t count) {
        using entry = typename Criterion::entry;
        const order_of<Criterion> before(criterion);
        scratch_array<entry> entries(count);
        scratch_array<entry> spare(count);
        positions sources(count);
        parallel_sort<entry, order_of<Criterion>> work(count, policy::compaction_grain, before);
        executor.for_ranges(count, policy::compaction_grain,
                            [&](std::size_t first, std::size_t last) noexcept {
                                for (std::size_t i = first; i != last; ++i) {
                                    entries[i] = criterion.make(static_cast<std::uint32_t>(i));
                                }
                            });
        criterion.made(count);
        const entry* const sorted = work.run(executor, entries.data(), spare.data());
        if (sorted == nullptr) {
            return std::nullopt;
        }
        executor.for_ranges(count, policy::compaction_grain,
                            [&](std::size_t first, std::size_t last) noexcept {
                                for (std::size_t i = first; i != last; ++i) {
                                    sources[i] = sorted[i].position();
                                }
                            });
        return sources;
    }

    parts_type& parts_;
    typename policy::template plain<std::uint32_t> next_{0}; // where sort_some goes on
};

} // namespace handlepool::detail
