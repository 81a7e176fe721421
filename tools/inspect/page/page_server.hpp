// SPDX-License-Identifier: MIT
#pragma once

#include "pool_watch.hpp"
#include "requests.hpp"

#include <chrono>
#include <cstdint>
#include <functional>

namespace handlepool::inspect_tool {

/// Serves the page on 127.0.0.1 until SIGINT or SIGTERM, all on this thread. A `port` of 0: any that is free.
/// Calls `when_ready` with the address as soon as it can be opened. Looks at the pools once in each
/// `interval`. Throws std::runtime_error if it can't listen there.
///
/// A client gets 30 seconds for a request, and 8 KiB; 64 connections are served at a time, and further ones
/// wait.
void serve_page(pool_watch& watch, std::uint16_t port, std::chrono::nanoseconds interval,
                const std::function<void(const page_address&)>& when_ready);

} // namespace handlepool::inspect_tool
