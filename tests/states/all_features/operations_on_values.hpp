// SPDX-License-Identifier: MIT
#pragma once

#include "game.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

/// What is written to objects. All of it is marked in the log: those who follow know of nothing else.
namespace handlepool::test {

/// The other log, if there is one, is told the same.
template <class Kind, class Mark>
void mark_in_other(game<Kind>& in, Mark mark) {
    if (in.other.log) {
        mark(*in.other.log);
    }
}

/// One element of a row, where there are rows, whose column alone is marked.
template <std::size_t Column, class Kind>
void edit_element(game<Kind>& in, typename game<Kind>::handle_type handle, id_type id) {
    in.tell("edit column " + std::to_string(Column) + " of " + in.name(handle));
    auto& object = in.truth.pool.objects.at(id);
    auto* const element = in.log->template edit<Column>(in.with_any_user(handle));
    object.value = Kind::write_element(element, object.value, in.any_value());
    in.edited[id] |= 1U << Column;
    mark_in_other(in, [&](auto& log) { log.template mark<Column>(handle); });
}
template <class Kind>
void edit_any_element(game<Kind>& in, typename game<Kind>::handle_type handle, id_type id) {
    switch (in.random.below(4)) {
    case 0:
        return edit_element<0>(in, handle, id);
    case 1:
        return edit_element<1>(in, handle, id);
    case 2: // a mark says nothing of the content
        EXPECT_TRUE(in.log->template mark<1>(in.with_any_user(handle)));
        in.edited[id] |= 1U << 1;
        mark_in_other(in, [&](auto& log) { log.mark(handle); });
        return;
    default:
        EXPECT_TRUE((in.log->template mark<0, 1>(in.with_any_user(handle))));
        in.edited[id] |= 3U;
        mark_in_other(in, [&](auto& log) { log.mark(handle); });
    }
}

/// Marks what lies at a position of the store, which may have been erased.
template <class Kind>
void mark_position(game<Kind>& in) {
    if constexpr (is_dense<typename game<Kind>::pool_type>) {
        const auto& store = in.truth.pool.store;
        if (store.empty()) {
            return;
        }
        const std::size_t position = in.random.below(store.size());
        in.tell("mark_at " + std::to_string(position));
        mark_in_other(in, [&](auto& log) { log.mark_at(position); });
        if constexpr (column_count<Kind> != 0) {
            if (in.random.one_in(2)) {
                in.log->template mark_at<0>(position);
                in.edited[store[position]] |= 1U;
                return;
            }
        }
        in.log->mark_at(position);
        in.edited[store[position]] = edited_as_a_whole;
    }
}

template <class Kind>
void edit_stale(game<Kind>& in, typename game<Kind>::handle_type handle) {
    EXPECT_FALSE(bool(in.log->edit(handle)));
    EXPECT_FALSE(in.log->mark(handle));
    if constexpr (column_count<Kind> != 0) {
        EXPECT_EQ(in.log->template edit<1>(handle), nullptr);
        EXPECT_FALSE((in.log->template mark<0, 1>(handle)));
    }
}

template <class Kind, class Pool>
void edit(game<Kind>& in, Pool& pool) {
    const auto handle = in.any_handle();
    const auto found = in.truth.pool.living.find(handle);
    if (found == in.truth.pool.living.end()) {
        return edit_stale(in, in.with_any_user(handle));
    }
    if constexpr (column_count<Kind> != 0) {
        if (in.random.one_in(2)) {
            return edit_any_element(in, handle, found->second);
        }
    }
    auto& object = in.truth.pool.objects.at(found->second);
    in.tell("edit " + in.name(handle));
    in.edited[found->second] = edited_as_a_whole;
    object.value = in.any_value();
    mark_in_other(in, [&](auto& log) { EXPECT_TRUE(log.mark(in.with_any_user(handle))); });
    if (in.random.one_in(2)) {
        Kind::write(in.log->edit(in.with_any_user(handle)), object.value);
    } else {
        EXPECT_TRUE(in.log->mark(in.with_any_user(handle)));
        Kind::write(pool.find(in.with_any_user(handle)), object.value);
    }
}

template <class Kind, class Pool>
void change_values(game<Kind>& in, Pool& pool) {
    in.random.one_in(6) ? mark_position(in) : edit(in, pool);
}

} // namespace handlepool::test
