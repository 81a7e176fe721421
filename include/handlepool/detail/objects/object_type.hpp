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

/// How the objects of a pool are destroyed and moved, and how large they are.
template <class T>
struct object_type {
    static constexpr std::size_t stride() noexcept { return sizeof(T); }
    static constexpr std::size_t alignment() noexcept { return alignof(T); }
    static constexpr bool has_destructor() noexcept { return !std::is_trivially_destructible_v<T>; }

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
};

/// The object_type of objects whose type is known at run time only.
template <>
struct object_type<void> {
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

private:
    raw_type type_;
    std::size_t stride_;
};

} // namespace handlepool::detail
