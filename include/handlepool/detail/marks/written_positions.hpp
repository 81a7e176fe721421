// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/marks/bit_set.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace handlepool::detail {

/// Positions that were written in a frame. Of rows whose columns are told apart, also in which column:
///
/// ```
///   insert(7)      any, whole      a row was born there, came there, or was marked as a whole
///   insert(8, 1)   any, column 1
///
///   written in column 1:   whole and column 1
/// ```
template <class Policy>
class written_positions {
    using set_type = bit_set<Policy>;

public:
    static constexpr std::size_t any_column = ~std::size_t{0};

    /// Positions below `limit`, none at first, of so many columns to be told apart. Throws reservation_failed
    /// and std::bad_alloc.
    written_positions(const allocation_label& what_for, std::size_t limit, std::size_t columns)
        : any_(what_for, limit) {
        const std::size_t sets = columns == 0 ? 0 : columns + 1;
        sets_.reserve(sets);
        while (sets_.size() != sets) {
            sets_.push_back(std::make_unique<set_type>(what_for.part(" of columns"), limit));
        }
    }

    /// Written in all columns, or in this one.
    void insert(std::size_t position) noexcept {
        any_.insert(position);
        if (!sets_.empty()) {
            sets_[0]->insert(position);
        }
    }
    void insert_all(const bit_set<Policy>& positions) noexcept {
        any_.insert_all(positions);
        if (!sets_.empty()) {
            sets_[0]->insert_all(positions);
        }
    }
    void insert(std::size_t position, std::size_t column) noexcept {
        any_.insert(position);
        sets_[column + 1]->insert(position);
    }
    void clear() noexcept {
        any_.clear();
        for (const auto& each : sets_) {
            each->clear();
        }
    }

    /// Whether a position was written in this column, or in any. Where columns are not told apart, it was
    /// written in each or in none.
    bool contains(std::size_t position, std::size_t column) const noexcept {
        return tells(column) ? sets_[0]->contains(position) || sets_[column + 1]->contains(position)
                             : any_.contains(position);
    }

    /// Like bit_set::for_each_joined_run(), of what was written in this column.
    template <class At, class Visit>
    static void for_each_joined_run(std::size_t count, At at, std::size_t column, std::size_t gap,
                                    Visit visit) {
        if (count != 0 && at(0).tells(column)) {
            set_type::for_each_joined_run(
                2 * count,
                [&](std::size_t i) -> const set_type& {
                    return *at(i / 2).sets_[i % 2 == 0 ? 0 : column + 1];
                },
                gap, visit);
        } else {
            set_type::for_each_joined_run(
                count, [&](std::size_t i) -> const set_type& { return at(i).any_; }, gap, visit);
        }
    }

    memory_use memory() const noexcept {
        memory_use sum = any_.memory();
        for (const auto& each : sets_) {
            sum = sum + each->memory();
        }
        return sum;
    }

private:
    bool tells(std::size_t column) const noexcept { return column != any_column && !sets_.empty(); }

    set_type any_;
    std::vector<std::unique_ptr<set_type>> sets_; // if columns are told apart: whole rows, and each column
};

} // namespace handlepool::detail
