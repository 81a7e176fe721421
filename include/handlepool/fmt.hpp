// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/handle.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>

/// Prints a handle's parts: "#1021 generation 7 pool 3", and "null" for the null handle; then " user 5" when
/// there are user bits other than 0.
template <class T, class Layout>
struct fmt::formatter<handlepool::handle<T, Layout>> {
    constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }

    template <class Context>
    auto format(handlepool::handle<T, Layout> handle, Context& context) const {
        // A text of its own: format_to(context.out()) would compile a half of fmt anew wherever a handle is
        // printed.
        std::string text = handle ? fmt::format("#{} generation {} pool {}", handle.index(),
                                                handle.generation(), handle.pool_id())
                                  : "null";
        if (handle.user() != 0) {
            text += fmt::format(" user {}", handle.user());
        }
        return std::copy(text.begin(), text.end(), context.out());
    }
};
