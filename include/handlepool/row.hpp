// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/columns/type_list.hpp>
#include <handlepool/detail/objects/row_address.hpp>
#include <handlepool/fwd.hpp>

#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace handlepool {

/// Names the type of rows: those of a `pool<columns<position, velocity>>` have an element of each type. There
/// are no objects of it.
template <class... Cs>
struct columns {
    columns() = delete;
    ~columns() = delete;
};

/// A row of a `pool<columns<...>>`: a reference to one element of each column. Its elements can be bound to
/// names:
///
///     auto [where, speed] = movers.at(mover);
///     where.x += speed.x;
///
/// Like a reference it may be used until the next compaction starts, and a copy refers to the same elements.
/// All functions are wait-free and constant.
///
/// @tparam Cs the columns' types, const in rows of a const pool
template <class... Cs>
class row {
public:
    /// The row at a place that the pool knows.
    explicit row(detail::row_address place) noexcept : place_(place) {}

    /// A row of a const pool from a row: its elements can't be changed.
    template <class Other>
        requires(std::same_as<Other, row<std::remove_const_t<Cs>...>> && !std::same_as<Other, row>)
    row(const Other& other) noexcept : place_(other.place_) {}

    /// The element of a column, named by its index, or by its type where no other column has the same.
    template <std::size_t Index>
        requires(Index < sizeof...(Cs))
    auto& get() const noexcept {
        using element = detail::type_at<Index, Cs...>;
        return *std::launder(static_cast<element*>(place_.memory<element>(Index)));
    }
    template <class C>
        requires(detail::occurrences_of<C, std::remove_const_t<Cs>...> == 1)
    auto& get() const noexcept {
        return get<detail::index_of<C, std::remove_const_t<Cs>...>()>();
    }

private:
    template <class... Others>
    friend class row;
    template <class... Others>
    friend class row_pointer;

    detail::row_address place_;
};

/// A row, or none: what find() of a `pool<columns<...>>` returns.
///
///     if (const auto mover = movers.find(handle)) {
///         mover->get<position>().x += 1;
///     }
///
/// Like a pointer it may be used until the next compaction starts. All functions are wait-free and constant.
template <class... Cs>
class row_pointer {
public:
    /// Null.
    row_pointer(std::nullptr_t = nullptr) noexcept : row_(detail::row_address{}) {}

    /// The row at a place that the pool knows.
    explicit row_pointer(detail::row_address place) noexcept : row_(place) {}

    /// A row_pointer of a const pool from a row_pointer: its elements can't be changed.
    template <class Other>
        requires(std::same_as<Other, row_pointer<std::remove_const_t<Cs>...>> &&
                 !std::same_as<Other, row_pointer>)
    row_pointer(const Other& other) noexcept : row_(other.row_) {}

    /// Returns whether there is a row.
    explicit operator bool() const noexcept { return place().starts != nullptr; }

    /// The row, which must be there.
    row<Cs...> operator*() const noexcept { return row_; }
    const row<Cs...>* operator->() const noexcept { return &row_; }

    /// Where the row is, for the library.
    detail::row_address place() const noexcept { return row_.place_; }

    /// Returns whether both name the same row, or both are null.
    friend bool operator==(row_pointer one, row_pointer other) noexcept {
        return one.place() == other.place();
    }

private:
    template <class... Others>
    friend class row_pointer;

    row<Cs...> row_;
};

} // namespace handlepool

/// The protocol of structured bindings.
template <class... Cs>
struct std::tuple_size<handlepool::row<Cs...>> : std::integral_constant<std::size_t, sizeof...(Cs)> {};
template <std::size_t Index, class... Cs>
struct std::tuple_element<Index, handlepool::row<Cs...>> {
    using type = handlepool::detail::type_at<Index, Cs...>&;
};
