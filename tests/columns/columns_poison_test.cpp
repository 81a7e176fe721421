// SPDX-License-Identifier: MIT

// Under AddressSanitizer, elements of no living row are closed, in each column, and all others open.

#include <handlepool/columns.hpp>
#include <handlepool/detail/memory/poison.hpp>
#include <handlepool/sort.hpp>

#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>
#include <tests/support/random.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

template <class Element>
std::size_t poisoned_bytes([[maybe_unused]] const Element* element) {
    std::size_t count = 0;
#if HANDLEPOOL_ADDRESS_SANITIZER
    for (std::size_t i = 0; i != sizeof(Element); ++i) {
        count += __asan_address_is_poisoned(reinterpret_cast<const char*>(element) + i) != 0 ? 1U : 0U;
    }
#endif
    return count;
}

using rows_type = pool<columns<std::uint64_t, sized<1>, sized<20>, over_aligned<64>>>;

template <std::size_t I>
using element = rows_type::column_type<I>;

/// Are the elements from one position to before another closed, as far as their size lets each be?
template <std::size_t I>
void expect_closed(const element<I>* column, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i != last; ++i) {
        if (detail::can_poison(sizeof(element<I>))) {
            EXPECT_GE(poisoned_bytes(column + i), detail::poison_unit) << "column " << I << ", row " << i;
        }
    }
}

TEST(columns_poison, every_column_is_closed_where_no_row_lives) {
    rows_type rows({.name = "rows", .capacity = 100});
    std::vector<rows_type::handle_type> handles;
    rows.emplace_n(50, std::back_inserter(handles));
    std::vector<rows_type::pointer> newborns;
    for (const auto handle : handles) {
        newborns.push_back(rows.find(handle));
    }
    rows.compact();
    for (const auto& newborn : newborns) {
        expect_closed<0>(&newborn->get<0>(), 0, 1);
        expect_closed<2>(&newborn->get<2>(), 0, 1);
        expect_closed<3>(&newborn->get<3>(), 0, 1);
    }
    random_source random;
    while (!handles.empty()) {
        for (int i = 0; i != 5; ++i) {
            std::swap(handles[random.below(handles.size())], handles.back());
            rows.erase(handles.back());
            handles.pop_back();
        }
        rows.compact();
        sort_by<std::uint64_t>(rows, [&](std::uint64_t) { return random.below(1000); });
        [&]<std::size_t... Is>(std::index_sequence<Is...>) {
            const auto look_at = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
                const auto items = rows.items<I>();
                ASSERT_EQ(items.size(), handles.size());
                for (const auto& living : items) {
                    EXPECT_EQ(poisoned_bytes(&living), 0U);
                }
                expect_closed<I>(items.data(), items.size(), 50);
            };
            (look_at(std::integral_constant<std::size_t, Is>{}), ...);
        }(std::make_index_sequence<4>());
    }
    rows.reset();
    EXPECT_EQ(poisoned_bytes(&rows.at(rows.emplace()).get<2>()), 0U);
}

/// Tells where it was made.
struct witness {
    explicit witness(const witness** where) { *where = this; }
    std::uint64_t value = 0;
};
struct failing {
    explicit failing(int) { throw construction_failure(); }
};

TEST(columns_poison, a_row_that_was_not_finished_is_closed) {
    pool<columns<witness, failing>> rows({.name = "rows", .capacity = 10});
    const witness* where = nullptr;
    EXPECT_THROW(rows.emplace(&where, 1), construction_failure);
    ASSERT_NE(where, nullptr);
    EXPECT_EQ(poisoned_bytes(where), detail::address_sanitizer ? sizeof(witness) : 0);
}

} // namespace
} // namespace handlepool::test
