// SPDX-License-Identifier: MIT
#include "plugin.hpp"

#include "listed_pool.hpp"

#include <handlepool/call_site.hpp>
#include <handlepool/detail/process/pool_listing.hpp>
#include <handlepool/error.hpp>

#include <cstdio>
#include <exception>

namespace handlepool::modules {

namespace {

std::size_t create(ships& pool, std::size_t count, char* message, std::size_t message_size) {
    std::size_t made = 0;
    try {
        for (; made != count; ++made) {
            pool.emplace(made);
        }
    } catch (const std::exception& error) {
        std::snprintf(message, message_size, "%s", error.what());
    }
    return made;
}

bool find_and_erase(ships& pool, handle<ship> handle) {
    return pool.contains(handle) && pool.find(handle) != nullptr && pool.erase(handle) &&
           !pool.contains(handle) && !pool.erase(handle);
}

bool use_own_pool() {
    ships own({.name = "the plug-in's", .capacity = 100, .max_threads = 64});
    const auto handle = own.emplace(std::size_t{7});
    own.compact();
    return own.at(handle).number == 7;
}

[[gnu::constructor(101)]] void begin_loading() {
    if (handlepool_test_while_loading != nullptr) {
        handlepool_test_while_loading();
    }
}

} // namespace

extern "C" [[gnu::visibility("default")]] const plugin_functions handlepool_test_plugin;
const plugin_functions handlepool_test_plugin{create, find_and_erase, use_own_pool};

extern "C" [[gnu::visibility("default")]] listed_pool handlepool_test_list_pool(const char* place) {
    const ships own({.name = "the plug-in's", .capacity = 100});
    return {.list = &detail::living_pools,
            .number = detail::living_pools->number,
            .place = call_site::named(place).value()};
}

} // namespace handlepool::modules
