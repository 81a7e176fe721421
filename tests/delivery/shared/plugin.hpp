// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>

#include <cstdint>

/// The types that the program and its module share, and what the module does.
struct ship {
    int hull = 0;
};

struct plugin_functions {
    std::uint32_t (*thread_index)();
    bool (*find_ship)(handlepool::service& world, handlepool::any_handle handle);
    void (*add_rockets)(handlepool::service& world);
    void (*exhaust)(handlepool::pool<ship>& ships);
    void (*look_up_stale)(handlepool::pool<ship>& ships);
    void (*compact_under_guard)(handlepool::service& world);
};
