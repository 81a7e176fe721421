// SPDX-License-Identifier: MIT
#pragma once

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

/// Whether copies of such objects can be kept: of rows, of each element. Of objects whose type is known at
/// run time it is asked then.
template <class T>
inline constexpr bool can_be_kept = std::is_copy_constructible_v<T>;
template <>
inline constexpr bool can_be_kept<void> = true;
template <class... Cs>
inline constexpr bool can_be_kept<columns<Cs...>> = (can_be_kept<Cs> && ...);

/// A copy; no std::vector<bool> comes of it.
template <class T>
struct kept_value {
    explicit kept_value(const T& object) : value(object) {}
    T value;
};

/// Copies of objects, in the order in which they came, without their pool. A list that is cleared keeps its
/// memory.
template <class T>
class value_list {
public:
    explicit value_list(const object_type<T>&) noexcept {}

    /// Throws std::bad_alloc, and what copying throws; then the list can only be cleared.
    void add(const T* object) { values_.emplace_back(*object); }
    void clear() noexcept { values_.clear(); }

    std::size_t size() const noexcept { return values_.size(); }
    const T& at(std::size_t i) const noexcept { return values_[i].value; }

    /// Bytes of the copies, and of those for which there is room.
    std::size_t bytes() const noexcept { return values_.capacity() * sizeof(T); }

private:
    std::vector<kept_value<T>> values_;
};

/// Rows lie in columns here too.
template <class... Cs>
class value_list<columns<Cs...>> {
public:
    explicit value_list(const object_type<columns<Cs...>>&) noexcept {}

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

/// Memory for an alignment that is known at run time.
template <class Value>
struct aligned_allocator {
    using value_type = Value;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;

    explicit aligned_allocator(std::size_t align) noexcept : alignment(align) {}
    template <class Other>
    aligned_allocator(const aligned_allocator<Other>& other) noexcept : alignment(other.alignment) {}

    Value* allocate(std::size_t count) {
        return static_cast<Value*>(::operator new(count * sizeof(Value), std::align_val_t(alignment)));
    }
    void deallocate(Value* values, std::size_t) noexcept {
        ::operator delete(values, std::align_val_t(alignment));
    }
    friend bool operator==(const aligned_allocator&, const aligned_allocator&) = default;

    std::size_t alignment;
};

/// Objects that consist of bytes.
template <>
class value_list<void> {
public:
    explicit value_list(const object_type<void>& type) noexcept
        : size_(type.description().size),
          stride_(type.stride()),
          values_(aligned_allocator<std::byte>(type.alignment())) {}

    void add(const void* object) {
        const auto* const bytes = static_cast<const std::byte*>(object);
        values_.insert(values_.end(), bytes, bytes + size_);
        values_.resize(values_.size() + stride_ - size_);
    }
    void clear() noexcept { values_.clear(); }

    std::size_t size() const noexcept { return values_.size() / stride_; }
    const void* at(std::size_t i) const noexcept { return values_.data() + i * stride_; }

    std::size_t bytes() const noexcept { return values_.capacity(); }

private:
    std::size_t size_;
    std::size_t stride_;
    std::vector<std::byte, aligned_allocator<std::byte>> values_;
};

} // namespace handlepool::detail
