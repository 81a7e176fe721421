#pragma once

#include <handlepool/handle.hpp>

#include <fmt/format.h>

/// Prints a handle's parts: "#1021 generation 7 pool 3", and "null" for the null handle.
template <class T, class Layout>
struct fmt::formatter<handlepool::handle<T, Layout>> {
    constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }

    template <class Context>
    auto format(handlepool::handle<T, Layout> handle, Context& context) const {
        if (!handle) {
            return fmt::format_to(context.out(), "null");
        }
        return fmt::format_to(context.out(), "#{} generation {} pool {}", handle.index(), handle.generation(),
                              handle.pool_id());
    }
};
