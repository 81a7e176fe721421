// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// Numbers that any thread may mark, and that one thread takes in ascending order. Marks are bytes; a byte
/// for each 64 of them says where to look, and one for each 64 of those:
///
/// ```
///   mark(70)    regions   1 0 …                       take() visits 70, and leaves nothing
///               groups    0 1 0 0 …
///               marks     … 0 0 0 0 0 0 1 0 0 …
///                         ▲ 64
/// ```
///
/// Memory is used where marks are.
template <class Policy>
class mark_set {
public:
    /// Numbers below `limit`. Throws reservation_failed.
    mark_set(const allocation_label& what_for, std::size_t limit)
        : marks_(what_for.part(" marks"), whole_groups(limit) * group_size, 0),
          groups_(what_for.part(" groups of marks"), whole_groups(whole_groups(limit)) * group_size, 0),
          regions_(what_for.part(" regions of marks"), whole_groups(whole_groups(limit)), 0) {}

    /// Marks a number, for a thread whose writes are ordered before take(). Wait-free, without an exchange;
    /// writes only where there is no mark.
    void mark(std::size_t number) noexcept {
        // Relaxed: the caller is ordered with who takes the marks.
        set_relaxed(marks_[number]);
        set_relaxed(groups_[number / group_size]);
        set_relaxed(regions_[number / region_size]);
    }
    /// Marks a number, at any time, also while marks are taken: the thread that takes the mark sees what the
    /// calling thread did before. Wait-free; always writes, because a mark that is there may have been taken
    /// already. Exchanges: who takes the mark of several threads sees what each of them did before.
    void mark_at_any_time(std::size_t number) noexcept {
        // (50) release: pairs with (51), for what the calling thread did before
        marks_[number].exchange(1, std::memory_order::release);
        // (52) release: pairs with (53), for the mark
        groups_[number / group_size].exchange(1, std::memory_order::release);
        // (52) release: pairs with (53), for the group
        regions_[number / region_size].exchange(1, std::memory_order::release);
    }

    /// Takes all marks: calls `visit(number)` for each, in ascending order. One thread at a time. Linear in
    /// the limit / 4,096, and in groups with marks.
    template <class Visit>
    void take(Visit visit) {
        for (std::size_t region = 0, last = regions_.size(); region != last; ++region) {
            if (regions_[region].load(std::memory_order::relaxed) == 0) {
                continue;
            }
            // (53) acquire: pairs with (52). Exchanges, here and below: what comes after one of them is left
            // for the next time.
            regions_[region].exchange(0, std::memory_order::acquire);
            take_group(groups_, region, [&](std::size_t group) { take_group(marks_, group, visit); });
        }
    }

    memory_use memory() const noexcept { return memory_of(marks_, groups_, regions_); }

private:
    using atomic_byte = typename Policy::template atomic<std::uint8_t>;
    using array_type = typename Policy::template array<atomic_byte>;

    static constexpr std::size_t group_size = 64;
    static constexpr std::size_t region_size = group_size * group_size;

    static constexpr std::size_t whole_groups(std::size_t numbers) noexcept {
        return (numbers + group_size - 1) / group_size;
    }

    static void set_relaxed(atomic_byte& byte) noexcept {
        if (byte.load(std::memory_order::relaxed) == 0) {
            byte.store(1, std::memory_order::relaxed);
        }
    }

    /// Takes the marks of a group, or the groups of a region: calls `visit(number)` for each.
    template <class Visit>
    static void take_group(array_type& marks, std::size_t group, Visit&& visit) {
        for (std::size_t number = group * group_size, last = number + group_size; number != last; ++number) {
            // (51) acquire: pairs with (50); of groups (53) acquire: pairs with (52)
            if (marks[number].load(std::memory_order::relaxed) != 0 &&
                marks[number].exchange(0, std::memory_order::acquire) != 0) {
                visit(number);
            }
        }
    }

    array_type marks_;
    array_type groups_;
    array_type regions_;
};

} // namespace handlepool::detail
