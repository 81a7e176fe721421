// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/columns/type_list.hpp>
#include <handlepool/detail/objects/construction.hpp>
#include <handlepool/detail/objects/row_address.hpp>
#include <handlepool/fwd.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

/// How the elements of a row are made from the arguments of emplace.
namespace handlepool::detail {

/// Which argument each column's element is made from. By type, when each argument's type is that of exactly
/// one column, and of no other argument; else by position, and then there may be fewer arguments than
/// columns. Elements without an argument are value-initialized.
template <class Columns, class... Args>
struct row_arguments;

template <class... Cs, class... Args>
struct row_arguments<columns<Cs...>, Args...> {
    static constexpr bool by_type =
        ((occurrences_of<std::remove_cvref_t<Args>, Cs...> == 1 &&
          occurrences_of<std::remove_cvref_t<Args>, std::remove_cvref_t<Args>...> == 1) &&
         ...);

    /// Index of a column's argument; sizeof...(Args), or more, when it has none.
    template <std::size_t Index>
    static constexpr std::size_t of_column =
        by_type ? index_of<type_at<Index, Cs...>, std::remove_cvref_t<Args>...>() : Index;

    template <std::size_t Index>
    static constexpr bool can_make() {
        using element = type_at<Index, Cs...>;
        if constexpr (of_column<Index> < sizeof...(Args)) {
            return emplaceable_from<element, type_at<of_column<Index>, Args...>>;
        } else {
            return std::default_initializable<element>;
        }
    }
    template <std::size_t Index>
    static constexpr bool can_make_nothrow() {
        using element = type_at<Index, Cs...>;
        if constexpr (of_column<Index> < sizeof...(Args)) {
            return is_nothrow_emplaceable_from<element, type_at<of_column<Index>, Args...>>();
        } else {
            return std::is_nothrow_default_constructible_v<element>;
        }
    }

    /// Whether a row can be made from these arguments, and without an exception.
    static constexpr bool suffice() {
        return []<std::size_t... Is>(std::index_sequence<Is...>) {
            return sizeof...(Args) <= sizeof...(Cs) && (can_make<Is>() && ...);
        }(std::index_sequence_for<Cs...>());
    }
    static constexpr bool suffice_nothrow() {
        return []<std::size_t... Is>(std::index_sequence<Is...>) {
            return (can_make_nothrow<Is>() && ...);
        }(std::index_sequence_for<Cs...>());
    }

    /// Makes the elements in the order of the columns. When one throws, those before it are destroyed, the
    /// last one first.
    static void make_row(row_address place, Args... args) noexcept(suffice_nothrow()) {
        unfinished_row<std::index_sequence_for<Cs...>> made{place};
        const std::tuple<Args...> all(std::forward<Args>(args)...);
        [&]<std::size_t... Is>(std::index_sequence<Is...>) {
            ((make_element<Is>(place, all), ++made.count), ...);
        }(std::index_sequence_for<Cs...>());
        made.count = 0;
    }

private:
    template <class Indices>
    struct unfinished_row;
    template <std::size_t... Is>
    struct unfinished_row<std::index_sequence<Is...>> {
        ~unfinished_row() { (destroy_if_made<sizeof...(Is) - 1 - Is>(), ...); }

        template <std::size_t Index>
        void destroy_if_made() noexcept {
            using element = type_at<Index, Cs...>;
            if (Index < count) {
                std::destroy_at(static_cast<element*>(place.memory<element>(Index)));
            }
        }

        row_address place;
        std::size_t count = 0;
    };

    template <std::size_t Index>
    static void make_element(row_address place, const std::tuple<Args...>& all) {
        using element = type_at<Index, Cs...>;
        void* const memory = place.memory<element>(Index);
        if constexpr (of_column<Index> < sizeof...(Args)) {
            make_at<element>(
                memory, std::forward<type_at<of_column<Index>, Args...>>(std::get<of_column<Index>>(all)));
        } else if constexpr (std::is_empty_v<element> && std::is_trivially_default_constructible_v<element>) {
            ::new (memory) element; // nothing to initialize: the memory is not touched
        } else {
            ::new (memory) element();
        }
    }
};

/// Arguments that are the elements of a std::tuple.
template <class Columns, class Tuple>
struct row_arguments_in;
template <class Columns, class... Args>
struct row_arguments_in<Columns, std::tuple<Args...>> : row_arguments<Columns, Args&&...> {
    static void make_row(row_address place, std::tuple<Args...>&& all) {
        std::apply(
            [place](auto&&... args) {
                row_arguments<Columns, Args&&...>::make_row(place, std::forward<Args>(args)...);
            },
            std::move(all));
    }
};

/// Returns a function that makes a row from `args`, which must live until it was called.
template <class Columns, class... Args>
auto row_maker_from(Args&&... args) noexcept {
    using arguments = row_arguments<Columns, Args&&...>;
    return [&](row_address place) noexcept(arguments::suffice_nothrow()) {
        arguments::make_row(place, std::forward<Args>(args)...);
    };
}

/// Makes a row from the tuple of arguments that `make()` returns.
template <class Columns, class Make>
void make_row_by(row_address place, Make make) {
    auto all = make();
    row_arguments_in<Columns, decltype(all)>::make_row(place, std::move(all));
}

template <class Result, class Columns>
concept tuple_for_row = std::constructible_from<std::remove_cvref_t<Result>, Result> && requires {
    requires row_arguments_in<Columns, std::remove_cvref_t<Result>>::suffice();
};

/// A function that returns a tuple of a row's arguments when it is told its handle.
template <class Make, class Columns, class Handle>
concept row_factory_of =
    std::invocable<Make, Handle> && tuple_for_row<std::invoke_result_t<Make, Handle>, Columns>;

} // namespace handlepool::detail
