// SPDX-License-Identifier: MIT
#pragma once

#include "pool_watch.hpp"
#include "requests.hpp"

#include <chrono>
#include <cstdint>
#include <functional>

namespace handlepool::inspect_tool {

struct page_options {
    std::uint16_t port = 0;                                             ///< 0: any that is free
    std::chrono::nanoseconds interval = std::chrono::milliseconds(500); ///< between two looks at the pools
    bool ends_with_program = false;
};

/// Serves the page on 127.0.0.1 until SIGINT or SIGTERM, or until the program has ended, if that is asked
/// for, all on this thread. `past` may be null. Calls `when_ready` with the address as soon as it can be
/// opened. Throws std::runtime_error if it can't listen there.
///
/// A client gets 5 seconds for a request, and 8 KiB; 64 connections are served at a time, and further ones
/// wait.
void serve_page(pool_watch& watch, recorded_past* past, const page_options& options,
                const std::function<void(const page_address&)>& when_ready);

} // namespace handlepool::inspect_tool
