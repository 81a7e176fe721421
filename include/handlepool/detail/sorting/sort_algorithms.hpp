// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/sorting/radix_sort.hpp>

#include <cstddef>
#include <cstdint>

/// Sorts of entries, small values that are copied freely. `before` is a strict total order; one that
/// contradicts itself leaves the entries in some order, but loses none.
namespace handlepool::detail {

template <class Entry, class Before>
void insertion_sort(Entry* entries, std::size_t count, const Before& before) {
    for (std::size_t i = 1; i < count; ++i) {
        const Entry next = entries[i];
        std::size_t place = i;
        for (; place != 0 && before(next, entries[place - 1]); --place) {
            entries[place] = entries[place - 1];
        }
        entries[place] = next;
    }
}

/// Merges two sorted sequences, `left` up to `left_end` and `right` up to `right_end`, to `out`.
template <class Entry, class Before>
void merge(const Entry* left, const Entry* left_end, const Entry* right, const Entry* right_end, Entry* out,
           const Before& before) {
    // Steps that are worth it, and how far ahead entries are prefetched: no further than there are steps.
    constexpr std::size_t few = 4;
    Entry* out_end = out + (left_end - left) + (right_end - right);
    // From both ends, which a processor does at the same time, and without branches, which it could only
    // guess. No end is reached, whatever the order says.
    while (true) {
        const std::size_t steps = static_cast<std::size_t>(least(left_end - left, right_end - right)) / 2;
        if (steps < few) {
            break;
        }
        for (std::size_t i = 0; i != steps; ++i) {
            if constexpr (requires { before.prefetch(*left); }) {
                before.prefetch(left[few]);
                before.prefetch(right[few]);
                before.prefetch(*(left_end - 1 - few));
                before.prefetch(*(right_end - 1 - few));
            }
            const auto right_first = static_cast<std::size_t>(before(*right, *left));
            *out++ = *(right_first ? right : left);
            right += right_first;
            left += 1 - right_first;
            const auto left_last = static_cast<std::size_t>(before(right_end[-1], left_end[-1]));
            *--out_end = *((left_last ? left_end : right_end) - 1);
            left_end -= left_last;
            right_end -= 1 - left_last;
        }
    }
    while (left != left_end && right != right_end) {
        *out++ = before(*right, *left) ? *right++ : *left++;
    }
    while (left != left_end) {
        *out++ = *left++;
    }
    while (right != right_end) {
        *out++ = *right++;
    }
}

/// Sorts `entries`, with room for as many in `spare`; leaves them there when told so.
template <class Entry, class Before>
void merge_sort(Entry* entries, Entry* spare, std::size_t count, const Before& before,
                bool into_spare = false) {
    constexpr std::size_t few = 12;
    if (count <= few) {
        insertion_sort(entries, count, before);
        if (into_spare) {
            for (std::size_t i = 0; i != count; ++i) {
                spare[i] = entries[i];
            }
        }
        return;
    }
    const std::size_t half = count / 2;
    merge_sort(entries, spare, half, before, !into_spare);
    merge_sort(entries + half, spare + half, count - half, before, !into_spare);
    const Entry* const from = into_spare ? entries : spare;
    merge(from, from + half, from + half, from + count, into_spare ? spare : entries, before);
}

/// Sorts entries whose positions are `first` to `first` + `count` - 1, with room for as many in `spare`.
template <class Entry, class Before>
void sort_all(Entry* entries, Entry* spare, std::size_t count, std::uint32_t first, const Before& before) {
    // First in the order of positions, so that a processor can guess which of two entries has the lower one.
    for (std::size_t i = 0; i != count; ++i) {
        spare[entries[i].position() - first] = entries[i];
    }
    if constexpr (requires { Entry::has_digits; }) {
        constexpr std::size_t few = 512; // fewer than it would take to count the digits
        if (count >= few) {
            radix_sort(spare, entries, count);
            return;
        }
    }
    merge_sort(spare, entries, count, before, true);
}

/// Returns whether `b` may follow `a`; their positions ascend.
template <class Entry, class Before>
bool in_sequence(const Entry& a, const Entry& b, const Before& before) {
    if constexpr (requires { before.in_sequence(a, b); }) {
        return before.in_sequence(a, b);
    } else {
        return before(a, b);
    }
}

/// How many entries, from the first of at least one on, are in order. Calls `entry_at(i)` once for each of
/// them and for the next, in their order.
template <class Before, class EntryAt>
std::size_t ordered_prefix(std::size_t count, const Before& before, EntryAt entry_at) {
    auto last = entry_at(std::size_t{0});
    for (std::size_t i = 1; i != count; ++i) {
        const auto next = entry_at(i);
        if (!in_sequence(last, next, before)) {
            return i;
        }
        last = next;
    }
    return count;
}

/// Merges the first `kept` entries with `count` others, for which there is room after them; both are sorted.
/// Asks few questions where the others are few: from the end, each looks for its place in longer and longer
/// steps.
template <class Entry, class Before>
void merge_into(Entry* entries, std::size_t kept, const Entry* others, std::size_t count,
                const Before& before) {
    for (; count != 0; --count) {
        const Entry next = others[count - 1];
        std::size_t low = 0;
        std::size_t high = kept; // from here on they come after it
        for (std::size_t step = 1; high != 0; step *= 2) {
            const std::size_t probe = high > step ? high - step : 0;
            if (!before(next, entries[probe])) {
                low = probe + 1;
                break;
            }
            high = probe;
        }
        while (low != high) {
            const std::size_t middle = low + (high - low) / 2;
            if (before(next, entries[middle])) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        for (; kept != high; --kept) {
            entries[kept - 1 + count] = entries[kept - 1];
        }
        entries[kept + count - 1] = next;
    }
}

/// Sorts entries that are nearly in order in linear time, others as fast as sort_all; `spare` has room for as
/// many. They come in the order of their positions, without gaps; the first `ordered` are sorted, at least
/// one.
///
/// A drop-merge sort: one pass keeps an ascending chain at the front and drops what breaks it; the few that
/// were dropped are sorted by themselves, and merged. An entry that is far too large would have all after it
/// dropped: when several are dropped in a row, they come back, and the end of the chain goes in their place.
/// When too many are dropped, all are sorted.
template <class Entry, class Before>
void sort_adaptively(Entry* entries, Entry* spare, std::size_t count, std::size_t ordered,
                     const Before& before) {
    constexpr std::size_t many_in_a_row = 8;
    const std::size_t most_dropped = count / 4;
    const std::uint32_t first_position = entries[0].position();
    // What was read is kept or dropped: kept + dropped == read.
    std::size_t kept = ordered;
    std::size_t dropped = 0;
    std::size_t in_a_row = 0; // dropped since one was kept
    for (std::size_t read = ordered; read != count && dropped <= most_dropped;) {
        const Entry next = entries[read];
        if (kept == 0 || before(entries[kept - 1], next)) {
            entries[kept++] = next;
            ++read;
            in_a_row = 0;
        } else if (in_a_row == 0 && kept >= 2 && before(entries[kept - 2], next)) {
            // Rather the one before it is out of place.
            spare[dropped++] = entries[kept - 1];
            entries[kept - 1] = next;
            ++read;
        } else if (in_a_row < many_in_a_row) {
            spare[dropped++] = next;
            ++read;
            ++in_a_row;
        } else {
            dropped -= in_a_row;
            read -= in_a_row;
            Entry largest = entries[read];
            for (std::size_t i = 1; i <= in_a_row; ++i) {
                if (before(largest, entries[read + i])) {
                    largest = entries[read + i];
                }
            }
            do {
                spare[dropped++] = entries[--kept];
            } while (kept != 0 && before(largest, entries[kept - 1]));
            in_a_row = 0;
        }
    }
    if (dropped > most_dropped) {
        for (std::size_t i = 0; i != dropped; ++i) {
            entries[kept + i] = spare[i];
        }
        sort_all(entries, spare, count, first_position, before);
        return;
    }
    merge_sort(spare, spare + dropped, dropped, before);
    merge_into(entries, kept, spare, dropped, before);
}

/// Like sort_adaptively(), where a first part, of at least one, is likely to be sorted, and the others belong
/// anywhere in it.
template <class Entry, class Before>
void sort_appended(Entry* entries, Entry* spare, std::size_t count, std::size_t ordered,
                   std::size_t first_part, const Before& before) {
    if (ordered < first_part) {
        sort_adaptively(entries, spare, first_part, ordered, before);
    }
    const std::size_t others = count - first_part;
    if (others == 0 || ordered == count) {
        return;
    }
    sort_adaptively(entries + first_part, spare, others, 1, before);
    for (std::size_t i = 0; i != others; ++i) {
        spare[i] = entries[first_part + i];
    }
    merge_into(entries, first_part, spare, others, before);
}

} // namespace handlepool::detail
