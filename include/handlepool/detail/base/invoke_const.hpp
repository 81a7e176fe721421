// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <type_traits>

namespace handlepool::detail {

/// std::invoke for arguments that are objects, without <functional>: `function` may be a pointer to a member.
template <class Function, class Object, class... More>
constexpr decltype(auto) invoke_const(Function& function, const Object& object, const More&... more) {
    if constexpr (std::is_member_object_pointer_v<Function>) {
        return (object.*function);
    } else if constexpr (std::is_member_function_pointer_v<Function>) {
        return (object.*function)(more...);
    } else {
        return function(object, more...);
    }
}

/// What functions get of an object that they must not change: a reference, or a pointer when the objects'
/// type is known at run time only.
template <class T>
struct read_access {
    using type = const T&;
};
template <>
struct read_access<void> {
    using type = const void*;
};
template <class T>
using read_access_t = typename read_access<T>::type;

/// Says of two objects whether the first comes before the second.
template <class Compare, class T>
concept comparison_of = std::predicate<Compare&, read_access_t<T>, read_access_t<T>>;

/// Reads a value from an object that can be kept and compared by `<`.
template <class Key, class T>
concept key_of = std::invocable<Key&, read_access_t<T>> &&
                 std::constructible_from<std::remove_cvref_t<std::invoke_result_t<Key&, read_access_t<T>>>,
                                         std::invoke_result_t<Key&, read_access_t<T>>> &&
                 requires(const std::remove_cvref_t<std::invoke_result_t<Key&, read_access_t<T>>>& key) {
                     { key < key } -> std::convertible_to<bool>;
                 };

} // namespace handlepool::detail
