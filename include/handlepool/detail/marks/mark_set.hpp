// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/bit_runs.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// Numbers that any thread may mark, and that one thread takes in ascending order. Marks are bytes; a byte
/// for each 16 of them says where to look, and one for each 256 of those:
///
/// ```
///   mark(22)    regions   1 0 …                       take() visits 22, and leaves nothing
///               groups    0 1 0 0 …
///               marks     … 0 0 0 0 0 0 1 0 0 …
///                         ▲ 16
/// ```
///
/// Memory is used where marks are.
template <class Policy>
class mark_set {
public:
    /// Numbers below `limit`. Throws reservation_failed.
    mark_set(const allocation_label& what_for, std::size_t limit)
        : marks_(what_for.part(" marks"), regions_for(limit) * region_size, 0),
          groups_(what_for.part(" groups of marks"), regions_for(limit) * groups_of_region, 0),
          regions_(what_for.part(" regions of marks"), regions_for(limit), 0) {}

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

    /// Takes all marks of mark(): calls `visit(number)` for each, in ascending order. Linear in the limit /
    /// 4,096, and in regions and groups with marks.
    template <class Visit>
    void take(Visit visit) {
        take_all(visit, [](atomic_byte& mark) {
            mark.store(0, std::memory_order::relaxed);
            return true;
        });
    }
    /// Takes all marks of mark_at_any_time(), which go on. One thread at a time.
    template <class Visit>
    void take_at_any_time(Visit visit) {
        take_all(visit, [](atomic_byte& mark) {
            // (51) acquire: pairs with (50); of groups and regions (53) acquire: pairs with (52). What comes
            // after the exchange is left for the next time.
            return mark.exchange(0, std::memory_order::acquire) != 0;
        });
    }

    memory_use memory() const noexcept { return memory_of(marks_, groups_, regions_); }

private:
    using atomic_byte = typename Policy::template atomic<std::uint8_t>;
    using array_type = typename Policy::template array<atomic_byte>;

    static constexpr std::size_t group_size = 16;
    static constexpr std::size_t groups_of_region = 256;
    static constexpr std::size_t region_size = group_size * groups_of_region;

    static constexpr std::size_t regions_for(std::size_t numbers) noexcept {
        return (numbers + region_size - 1) / region_size;
    }

    static void set_relaxed(atomic_byte& byte) noexcept {
        if (byte.load(std::memory_order::relaxed) == 0) {
            byte.store(1, std::memory_order::relaxed);
        }
    }

    /// `take_one(mark)` takes a mark, a group or a region that was seen set, and returns whether it was.
    template <class Visit, class TakeOne>
    void take_all(Visit& visit, TakeOne take_one) {
        take_some(regions_, 0, regions_.size(), take_one, [&](std::size_t region) {
            take_some(groups_, region * groups_of_region, groups_of_region, take_one, [&](std::size_t group) {
                take_some(marks_, group * group_size, group_size, take_one, visit);
            });
        });
    }
    /// Looks at up to 64 before it takes one: where they are is no pattern that a processor could foresee.
    template <class TakeOne, class Visit>
    static void take_some(array_type& marks, std::size_t first, std::size_t count, TakeOne take_one,
                          Visit&& visit) {
        for (std::size_t left = count, piece = 0; left != 0; left -= piece, first += piece) {
            piece = least<std::size_t>(left, 64);
            std::uint64_t seen = 0;
            for (std::size_t i = 0; i != piece; ++i) {
                seen |= std::uint64_t{marks[first + i].load(std::memory_order::relaxed)} << i;
            }
            for_each_bit(first, seen, [&](std::size_t number) {
                if (take_one(marks[number])) {
                    visit(number);
                }
            });
        }
    }

    array_type marks_;
    array_type groups_;
    array_type regions_;
};

} // namespace handlepool::detail
