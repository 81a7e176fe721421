// SPDX-License-Identifier: MIT
#pragma once

#include "tracked_object.hpp"

#include <handlepool/columns.hpp>
#include <handlepool/stable_pool.hpp>

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

// The pools that are watched, by placement. All hold objects that are made from the place where they are
// counted, their number, and more; in columns such an object is a part of a row.
namespace handlepool::stress {

// Where the elements of rows are, which have their number once more, in a column of its own.
struct columns_placement {};

template <class Placement, class Object, class Layout, class Policy>
struct choice_of_pool {
    using type = pool<Object, with_placement<Placement, with_layout<Layout, with_policy<Policy>>>>;
};
template <class Object, class Layout, class Policy>
struct choice_of_pool<columns_placement, Object, Layout, Policy> {
    using type = pool<columns<Object, std::uint64_t>, with_layout<Layout, with_policy<Policy>>>;
};

template <class Placement, class Object, class Layout, class Policy>
using pool_with = typename choice_of_pool<Placement, Object, Layout, Policy>::type;

// What handles of a pool name: an object, or a row. `type` is what the service calls it.
template <class Handle>
struct named_by;
template <class T, class Layout>
struct named_by<handle<T, Layout>> {
    using type = T;
    using object = T;
    static constexpr bool is_row = false;
};
template <class Object, class Layout>
struct named_by<handle<columns<Object, std::uint64_t>, Layout>> {
    using type = columns<Object, std::uint64_t>;
    using object = Object;
    static constexpr bool is_row = true;
};

template <class Pool>
inline constexpr bool is_stable = false;
template <class T, class Traits>
inline constexpr bool is_stable<stable_pool<T, Traits>> = true;

// What converts to the result of a function.
template <class Make>
struct made_by {
    operator std::invoke_result_t<const Make&>() const { return make(); }

    const Make& make;
};

// Calls `create` with the arguments from which a pool makes an object.
template <class Pool, class Create, class... Args>
auto with_arguments(const Create& create, lifetime_counts& objects, std::uint64_t number, Args&&... args) {
    using named = named_by<typename Pool::handle_type>;
    if constexpr (named::is_row) {
        const auto make = [&] { return typename named::object(objects, number, args...); };
        return create(made_by{make}, number);
    } else {
        return create(std::ref(objects), number, std::forward<Args>(args)...);
    }
}

// The object of what a look-up found, or null; and is it whole?
template <class Object>
const Object* object_in(const Object* found) noexcept {
    return found;
}
template <class Object, class Number>
const Object* object_in(row_pointer<Object, Number> found) noexcept {
    return found ? &found->template get<0>() : nullptr;
}
inline bool is_whole(const tracked_object* found) noexcept {
    return found->is(found->number());
}
template <class Object, class Number>
bool is_whole(row_pointer<Object, Number> found) noexcept {
    return found->template get<0>().is(found->template get<1>());
}

} // namespace handlepool::stress
