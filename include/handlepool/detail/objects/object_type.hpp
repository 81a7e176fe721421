// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/raw_type.hpp>

#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace handlepool::detail {

/// Returns the type. Throws std::invalid_argument, which names the pool, when its size is 0 or so large that
/// no object fits into the address space, or its alignment is not a power of two up to 2^20.
HANDLEPOOL_EXPORT const raw_type& checked_raw_type(const raw_type& type, std::string_view pool);
/// The message of that error; empty when there is none.
HANDLEPOOL_EXPORT std::string validate(const raw_type& type, std::string_view pool);

/// How the objects of a pool are destroyed, moved and copied, and how large they are.
template <class T>
struct object_type {
    /// Whether objects can be copied, as far as the type says; can_copy() says so of this one.
    static constexpr bool may_copy = std::is_copy_constructible_v<T>;
    /// Whether a copy can't fail, and whether a move can't.
    static constexpr bool copies_nothrow = std::is_nothrow_copy_constructible_v<T>;
    static constexpr bool moves_nothrow = std::is_nothrow_move_constructible_v<T>;

    static constexpr std::size_t stride() noexcept { return sizeof(T); }
    static constexpr std::size_t alignment() noexcept { return alignof(T); }
    static constexpr bool has_destructor() noexcept { return !std::is_trivially_destructible_v<T>; }
    /// Whether the bytes of an object are all that it is.
    static constexpr bool consists_of_bytes() noexcept { return std::is_trivially_copyable_v<T>; }

    static void destroy(void* object) noexcept { static_cast<T*>(object)->~T(); }
    static void relocate(void* to, void* from) noexcept {
        if constexpr (std::is_trivially_copyable_v<T>) {
            std::memcpy(to, from, sizeof(T));
        } else {
            T& object = *static_cast<T*>(from);
            ::new (to) T(std::move(object));
            object.~T();
        }
    }

    static constexpr bool can_copy() noexcept { return may_copy; }
    /// Makes a copy in raw memory. Throws what copying throws.
    static void copy(void* to, const void* from) noexcept(copies_nothrow) {
        ::new (to) T(*std::launder(static_cast<const T*>(from)));
    }
    /// Makes an object a copy of another one; `spare` is raw memory for one. Throws what copying throws; then
    /// the object has some value.
    static void assign(void* to, const void* from, void* spare) {
        if constexpr (std::is_copy_assignable_v<T>) {
            *std::launder(static_cast<T*>(to)) = *std::launder(static_cast<const T*>(from));
        } else {
            copy(spare, from);
            destroy(to);
            relocate(to, spare);
        }
    }
};

/// The object_type of objects whose type is known at run time only.
template <>
struct object_type<void> {
    static constexpr bool may_copy = true;
    static constexpr bool copies_nothrow = false;
    static constexpr bool moves_nothrow = true;

    object_type(const raw_type& type) noexcept
        : type_(type), stride_((type.size + type.alignment - 1) & ~(type.alignment - 1)) {}

    const raw_type& description() const noexcept { return type_; }
    std::size_t stride() const noexcept { return stride_; }
    std::size_t alignment() const noexcept { return type_.alignment; }
    bool has_destructor() const noexcept { return type_.destroy != nullptr; }

    void destroy(void* object) const noexcept {
        if (type_.destroy != nullptr) {
            type_.destroy(object, type_.context);
        }
    }
    void relocate(void* to, void* from) const noexcept {
        if (type_.relocate != nullptr) {
            type_.relocate(to, from, type_.context);
        } else {
            std::memcpy(to, from, type_.size);
        }
    }

    bool consists_of_bytes() const noexcept { return type_.relocate == nullptr && type_.destroy == nullptr; }
    bool can_copy() const noexcept { return type_.copy != nullptr || consists_of_bytes(); }
    void copy(void* to, const void* from) const {
        if (type_.copy != nullptr) {
            type_.copy(to, from, type_.context);
        } else {
            std::memcpy(to, from, type_.size);
        }
    }
    void assign(void* to, const void* from, void* spare) const {
        copy(spare, from);
        destroy(to);
        relocate(to, spare);
    }

private:
    raw_type type_;
    std::size_t stride_;
};

} // namespace handlepool::detail
