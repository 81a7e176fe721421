// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/pool.hpp>

#include <cstddef>

/// What the program and its plug-in share.
namespace handlepool::modules {

struct ship {
    std::size_t number;
};
using ships = pool<ship>;

/// What the plug-in exports: each is called in a thread of the program.
struct plugin_functions {
    /// Creates `count` objects. Returns how many; `message` gets the text of an error that ends it.
    std::size_t (*create)(ships& pool, std::size_t count, char* message, std::size_t message_size);
    /// Looks an object up and erases it. Was it found, and gone afterwards?
    bool (*find_and_erase)(ships& pool, handle<ship> handle);
    /// Makes a pool of the plug-in's own, uses it and destroys it.
    bool (*use_own_pool)();
};

inline constexpr const char* plugin_symbol = "handlepool_test_plugin";

/// The program's, where the plug-in sees its symbols: called while this is loaded, before the library's
/// objects in it are made.
extern "C" [[gnu::weak, gnu::visibility("default")]] void handlepool_test_while_loading();

} // namespace handlepool::modules
