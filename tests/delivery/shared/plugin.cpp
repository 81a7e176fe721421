// SPDX-License-Identifier: MIT
#include "plugin.hpp"

#include <handlepool/detail/threads/thread_index.hpp>
#include <handlepool/pool.hpp>

namespace {

std::uint32_t thread_index() {
    return handlepool::detail::this_thread::index();
}

bool find_ship(handlepool::service& world, handlepool::any_handle handle) {
    const ship* const found = world.find<ship>(handle);
    return found != nullptr && found->hull == 1 &&
           world.find_pool<handlepool::pool<ship>>("ships") != nullptr;
}

void add_rockets(handlepool::service& world) {
    world.add<handlepool::pool<ship>>("rockets", {.capacity = 10}).emplace(2);
}

void exhaust(handlepool::pool<ship>& ships) {
    while (true) {
        ships.emplace(0);
    }
}

void look_up_stale(handlepool::pool<ship>& ships) {
    ships.at({});
}

void compact_under_guard(handlepool::service& world) {
    const auto guard = world.access();
    world.compact();
}

} // namespace

extern "C" HANDLEPOOL_EXPORT const plugin_functions functions;
const plugin_functions functions = {thread_index, find_ship,     add_rockets,
                                    exhaust,      look_up_stale, compact_under_guard};
