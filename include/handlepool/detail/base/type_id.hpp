// SPDX-License-Identifier: MIT
#pragma once

#include <typeinfo>

namespace handlepool::detail {

/// Stands for a type. Compares equal for the same type in different modules of a process too, which
/// give it different addresses: std::type_info identifies it as one type. Without run-time type information,
/// each module has types of its own.
class type_id {
public:
    template <class T>
    static type_id of() noexcept {
#if defined(__cpp_rtti)
        return {&address_of_type<T>, &typeid(T)};
#else
        return {&address_of_type<T>, nullptr};
#endif
    }

    friend bool operator==(type_id a, type_id b) noexcept {
        return a.tag_ == b.tag_ || (a.info_ != nullptr && b.info_ != nullptr && *a.info_ == *b.info_);
    }

private:
    type_id(const void* tag, const std::type_info* info) noexcept : tag_(tag), info_(info) {}

    /// Its address is the type's in this module.
    template <class T>
    static constexpr char address_of_type = 0;

    const void* tag_;
    const std::type_info* info_;
};

} // namespace handlepool::detail
