// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/invoke_const.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/columns/type_list.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/objects/object_addresses.hpp>
#include <handlepool/detail/objects/object_array.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/objects/row_address.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/row.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace handlepool::detail {

/// Rows are destroyed, moved and copied column by column. Size and alignment are those of a row that was
/// taken out of its columns, whose elements then lie one after the other, as in a structure.
template <class... Cs>
struct object_type<columns<Cs...>> {
    static constexpr bool may_copy = (object_type<Cs>::may_copy && ...);
    static constexpr bool copies_nothrow = (object_type<Cs>::copies_nothrow && ...);
    static constexpr bool moves_nothrow = (object_type<Cs>::moves_nothrow && ...);

    static constexpr bool has_destructor() noexcept { return (object_type<Cs>::has_destructor() || ...); }

    static constexpr std::size_t alignment() noexcept {
        std::size_t strictest = 1;
        ((strictest = greatest(strictest, alignof(Cs))), ...);
        return strictest;
    }
    static constexpr std::size_t stride() noexcept { return offset_of(sizeof...(Cs)); }

    /// The element of a column in the memory of such a row.
    template <std::size_t Index>
    static void* element(void* row) noexcept {
        return static_cast<std::byte*>(row) + offset_of(Index);
    }
    template <std::size_t Index>
    static const void* element(const void* row) noexcept {
        return static_cast<const std::byte*>(row) + offset_of(Index);
    }

    // What is done with such a row.

    static void destroy(void* row) noexcept {
        for_each_column(
            [&]<std::size_t Index>() { of_column<last - Index>::destroy(element<last - Index>(row)); });
    }
    static void relocate(void* to, void* from) noexcept {
        for_each_column([&]<std::size_t Index>() {
            of_column<Index>::relocate(element<Index>(to), element<Index>(from));
        });
    }
    static constexpr bool can_copy() noexcept { return may_copy; }
    static void copy(void* to, const void* from) noexcept(copies_nothrow) {
        copy_elements(to, [from]<std::size_t Index>() { return element<Index>(from); });
    }
    /// Copies a row whose elements `element_at.operator()<Index>()` finds. When one throws, those before it
    /// are destroyed, the last one first.
    template <class ElementAt>
    static void copy_elements(void* to, ElementAt element_at) noexcept(copies_nothrow) {
        unfinished_copy made{to};
        for_each_column([&]<std::size_t Index>() {
            of_column<Index>::copy(element<Index>(to), element_at.template operator()<Index>());
            ++made.count;
        });
        made.count = 0;
    }
    /// Assigns such elements to those of a row.
    template <class ElementAt>
    static void assign_elements(void* to, void* spare, ElementAt element_at) {
        for_each_column([&]<std::size_t Index>() {
            of_column<Index>::assign(element<Index>(to), element_at.template operator()<Index>(),
                                     element<Index>(spare));
        });
    }

private:
    static constexpr std::size_t last = sizeof...(Cs) - 1;
    template <std::size_t Index>
    using of_column = object_type<type_at<Index, Cs...>>;

    /// Calls `visit.operator()<Index>()` for each column, in their order.
    template <class Visit>
    static void for_each_column(Visit visit) {
        [&]<std::size_t... Is>(std::index_sequence<Is...>) {
            (visit.template operator()<Is>(), ...);
        }(std::index_sequence_for<Cs...>());
    }

    struct unfinished_copy {
        ~unfinished_copy() {
            for_each_column([this]<std::size_t Index>() {
                if (last - Index < count) {
                    of_column<last - Index>::destroy(element<last - Index>(row));
                }
            });
        }

        void* row;
        std::size_t count = 0;
    };

    /// Offset of a column's element; that of the next row after the last column.
    static constexpr std::size_t offset_of(std::size_t column) noexcept {
        constexpr std::size_t sizes[] = {sizeof(Cs)..., 0};
        constexpr std::size_t alignments[] = {alignof(Cs)..., alignment()};
        std::size_t end = 0;
        for (std::size_t i = 0; true; ++i) {
            const std::size_t begin = (end + alignments[i] - 1) / alignments[i] * alignments[i];
            if (i == column) {
                return begin;
            }
            end = begin + sizes[i];
        }
    }
};

/// What sorts compare.
template <class... Cs>
struct read_access<columns<Cs...>> {
    using type = row<const Cs...>;
};

/// The elements of one column, which are objects like any others.
template <std::size_t Index, class C, class Policy>
class column_array : public object_array<C, Policy, Index * cache_line> {
    using array = object_array<C, Policy, Index * cache_line>;
    static constexpr bool has_content = !(std::is_empty_v<C> && std::is_trivially_copyable_v<C>);

public:
    using array::array;

    /// Without content there is nothing to copy: then the memory is never touched, and the column costs
    /// address space alone.
    void relocate(location from, location to) noexcept {
        if constexpr (has_content) {
            array::relocate(from, to);
        } else {
            this->unpoison_objects(to);
            this->poison_objects(from);
        }
    }
    void take_out(location from, void* to) noexcept {
        if constexpr (has_content) {
            array::take_out(from, to);
        } else {
            this->poison_objects(from);
        }
    }
    void put_in(void* from, location to) noexcept {
        if constexpr (has_content) {
            array::put_in(from, to);
        } else {
            this->unpoison_objects(to);
        }
    }
    [[nodiscard]] bool make_ready(location first, std::size_t count) noexcept {
        return !has_content || array::make_ready(first, count);
    }
    void discard(std::uint32_t first, std::uint32_t last) noexcept {
        if constexpr (has_content) {
            array::discard(first, last);
        }
    }
    /// Not further on: whoever goes from row to row is followed by the processor, and a prefetch for each
    /// column would make it wait.
    void prefetch_object(location where, std::size_t further) const noexcept {
        if constexpr (has_content) {
            if (further == 0) {
                array::prefetch_object(where);
            }
        }
    }
};

template <class Indices, class Policy, class... Cs>
class column_arrays;

/// An array for each column. Whatever is done with an object is done with each element of the row.
template <std::size_t... Is, class Policy, class... Cs>
class column_arrays<std::index_sequence<Is...>, Policy, Cs...> : column_array<Is, Cs, Policy>... {
public:
    using pointer = row_pointer<Cs...>;

    column_arrays(const allocation_label& what_for, std::size_t size, std::size_t expected,
                  const object_type<columns<Cs...>>& = {})
        : column_array<Is, Cs, Policy>(what_for.part(" column " + std::to_string(Is)), size, expected)... {
        if (what_for.plan() == nullptr) {
            placed();
        }
    }

    void placed() noexcept {
        ((starts_[Is] = static_cast<std::byte*>(column<Is>().storage(location{}))), ...);
    }

    static constexpr const object_type<columns<Cs...>>& type() noexcept { return of_rows; }

    static constexpr std::size_t column_count = sizeof...(Cs);

    void describe(described_column* columns, std::uint64_t locations) const noexcept {
        (column<Is>().describe(columns + Is, locations), ...);
    }

    object_addresses<columns<Cs...>> places() const noexcept {
        return object_addresses<columns<Cs...>>(starts_);
    }
    pointer at(location where) const noexcept { return places().at(where); }
    row_address storage(location where) const noexcept { return {starts_, raw(where)}; }

    /// Location of the row that has an element, of whatever column, at this address.
    location location_of(const void* element) const noexcept {
        location found = location::nowhere;
        static_cast<void>((((found = column<Is>().location_of(element)) != location::nowhere) || ...));
        return found;
    }

    void destroy(location where) noexcept { (column<sizeof...(Cs) - 1 - Is>().destroy(where), ...); }
    void relocate(location from, location to) noexcept { (column<Is>().relocate(from, to), ...); }
    void take_out(location from, void* to) noexcept {
        (column<Is>().take_out(from, type().template element<Is>(to)), ...);
    }
    void put_in(void* from, location to) noexcept {
        (column<Is>().put_in(type().template element<Is>(from), to), ...);
    }
    void copy_out(location from, void* to) const {
        type().copy_elements(to, [&]<std::size_t Index>() { return column<Index>().storage(from); });
    }
    void assign_out(location from, void* to, void* spare) const {
        type().assign_elements(to, spare, [&]<std::size_t Index>() { return column<Index>().storage(from); });
    }
    void copy_in(const void* from, location to) noexcept {
        (column<Is>().copy_in(type().template element<Is>(from), to), ...);
    }

    void poison_objects(location first, std::size_t count = 1) noexcept {
        (column<Is>().poison_objects(first, count), ...);
    }
    void unpoison_objects(location first, std::size_t count = 1) noexcept {
        (column<Is>().unpoison_objects(first, count), ...);
    }
    void prefetch_object(location where, std::size_t further = 0) const noexcept {
        (column<Is>().prefetch_object(where, further), ...);
    }
    /// False when there is no memory for an element of each.
    [[nodiscard]] bool make_ready(location first, std::size_t count) noexcept {
        return (column<Is>().make_ready(first, count) && ...);
    }
    void discard(std::uint32_t first, std::uint32_t last) noexcept {
        (column<Is>().discard(first, last), ...);
    }

    void release(std::uint32_t first, std::uint32_t last) noexcept {
        (column<Is>().release(first, last), ...);
    }
    void prefer_huge_pages(std::uint32_t first, std::uint32_t last) noexcept {
        (column<Is>().prefer_huge_pages(first, last), ...);
    }
    std::uint32_t end_of_huge_page(std::uint32_t first, std::uint32_t last,
                                   std::uint32_t place) const noexcept {
        std::uint32_t end = place;
        ((end = greatest(end, column<Is>().end_of_huge_page(first, last, place))), ...);
        return end;
    }

    memory_use memory() const noexcept { return memory_of(column<Is>()...); }

private:
    static constexpr object_type<columns<Cs...>> of_rows{};

    template <std::size_t Index>
    using column_type = column_array<Index, type_at<Index, Cs...>, Policy>;

    template <std::size_t Index>
    column_type<Index>& column() noexcept {
        return *this;
    }
    template <std::size_t Index>
    const column_type<Index>& column() const noexcept {
        return *this;
    }

    std::byte* starts_[sizeof...(Cs)]{};
};

template <class... Cs, class Policy>
class object_array<columns<Cs...>, Policy>
    : public column_arrays<std::index_sequence_for<Cs...>, Policy, Cs...> {
public:
    using column_arrays<std::index_sequence_for<Cs...>, Policy, Cs...>::column_arrays;
};

} // namespace handlepool::detail
