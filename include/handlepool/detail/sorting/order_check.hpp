// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/contract.hpp>
#include <handlepool/detail/sorting/sort_keys.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace handlepool::detail {

/// In a checked build: ends the program with a message when the comparison that found an order is no strict
/// weak order. `entry_at(i)` is the entry that comes as number i, `position_of(entry)` where its object is.
///
/// Asks each of `count` entries whether it is less than itself, and looks whether it is less than entries
/// before it, at distances of powers of two: three comparisons an entry. What contradicts itself only in
/// pairs that are not looked at is not found.
template <class Criterion, class EntryAt, class PositionOf>
void expect_strict_weak_order(const Criterion& criterion, std::size_t count, EntryAt entry_at,
                              PositionOf position_of, std::string_view pool) {
    if constexpr (checked) {
        const auto end_program = [&](const std::string& seen) {
            contract_violated(pool, "sorted by what is no strict weak order: " + seen);
        };
        const comparison_names& names = Criterion::names;
        for (std::size_t i = 0; i != count; ++i) {
            const auto a = entry_at(i);
            if (criterion.less(a, a)) {
                end_program(std::string(names.a_with_a) + " is true for the object at position " +
                            std::to_string(position_of(a)));
            }
        }
        for (std::size_t distance = 1; distance < count; distance *= 2) {
            for (std::size_t i = distance; i < count; i += distance) {
                const auto a = entry_at(i - distance);
                const auto b = entry_at(i);
                if (criterion.less(b, a)) {
                    end_program(std::string(names.b_with_a) + " is true, and " +
                                (criterion.less(a, b) ? std::string(names.a_with_b) + " is true"
                                                      : std::string("others put a before b")) +
                                ", for the objects a at position " + std::to_string(position_of(a)) +
                                " and b at position " + std::to_string(position_of(b)));
                }
            }
        }
    }
}

} // namespace handlepool::detail
