// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/objects/object_buffer.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/objects/row_address.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/row.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// Copies of objects, in the order in which they came, without their pool. A list that is cleared keeps its
/// memory. T is void when the objects' type is known at run time.
template <class T>
class value_list {
public:
    explicit value_list(const object_type<T>& type) noexcept : copies_(type) {}

    void swap(value_list& other) noexcept { copies_.swap(other.copies_); }

    /// Throws std::bad_alloc, and what copying throws; then the list is as it was.
    void add(const T* object) { copies_.add_copy(object); }
    void clear() noexcept { copies_.clear(); }

    std::size_t size() const noexcept { return copies_.size(); }
    /// The object; its address, when its type is known at run time.
    decltype(auto) at(std::size_t i) const noexcept {
        if constexpr (std::is_void_v<T>) {
            return static_cast<const void*>(copies_.at(i));
        } else {
            return std::as_const(*std::launder(static_cast<T*>(copies_.at(i))));
        }
    }

    /// Bytes of the copies, and of those for which there is room.
    std::size_t bytes() const noexcept { return copies_.bytes(); }

private:
    object_buffer<T> copies_;
};

/// An element of a row; no std::vector<bool> comes of it.
template <class T>
struct kept_value {
    explicit kept_value(const T& object) : value(object) {}
    T value;
};

/// Rows lie in columns here too.
template <class... Cs>
class value_list<columns<Cs...>> {
public:
    explicit value_list(const object_type<columns<Cs...>>&) noexcept {}

    void swap(value_list& other) noexcept {
        columns_.swap(other.columns_);
        std::swap(starts_, other.starts_);
    }

    void add(row_pointer<Cs...> row) {
        for_each_column([&]<std::size_t Index>(std::integral_constant<std::size_t, Index>) {
            auto& column = std::get<Index>(columns_);
            column.emplace_back(row->template get<Index>());
            starts_[Index] = static_cast<std::byte*>(static_cast<void*>(std::addressof(column.front())));
        });
    }
    void clear() noexcept {
        for_each_column([this]<std::size_t Index>(std::integral_constant<std::size_t, Index>) {
            std::get<Index>(columns_).clear();
        });
    }

    std::size_t size() const noexcept { return std::get<0>(columns_).size(); }
    row<const Cs...> at(std::size_t i) const noexcept {
        return row<const Cs...>(row_address{.starts = starts_, .position = i});
    }

    std::size_t bytes() const noexcept {
        return std::apply(
            [](const auto&... column) { return ((column.capacity() * sizeof(column[0])) + ...); }, columns_);
    }

private:
    static_assert(((sizeof(kept_value<Cs>) == sizeof(Cs)) && ...), "a row goes by the sizes of its elements");

    template <class Visit>
    static void for_each_column(Visit visit) {
        [&visit]<std::size_t... Is>(std::index_sequence<Is...>) {
            (visit(std::integral_constant<std::size_t, Is>()), ...);
        }(std::index_sequence_for<Cs...>());
    }

    std::tuple<std::vector<kept_value<Cs>>...> columns_;
    std::byte* starts_[sizeof...(Cs)]{};
};

} // namespace handlepool::detail
