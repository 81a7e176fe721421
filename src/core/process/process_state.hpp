// SPDX-License-Identifier: MIT
#pragma once

#include "../threads/thread_index_set.hpp"

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/threads/thread_index.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace handlepool::detail {

class pool_id_registry;

// Ready before any code runs, which std::mutex is not in some libraries. Elsewhere a child of fork unlocks
// it, which a shared_mutex refuses.
#if defined(_WIN32)
using constant_mutex = std::shared_mutex;
#else
using constant_mutex = std::mutex;
#endif

/// What there is once for all modules of a process that see each other's symbols.
struct alignas(64) process_state {
    thread_index_set<std::atomic, thread_index_limit / 64> thread_indices;

    // By those numbers, those of the system, where it has any; and how many threads have had the number.
    std::array<std::atomic<std::uint32_t>, thread_index_limit> system_threads;
    std::array<std::atomic<std::uint32_t>, thread_index_limit> thread_generations;

    constant_mutex registries_mutex; // for what follows
    // By the widths of a layout. Never destroyed: pools of static storage duration may end later.
    std::map<std::array<unsigned, 3>, pool_id_registry>* registries = nullptr;

    // Of the lists of living pools and services: one more with each change, odd while one of them changes;
    // and how many were ever listed.
    std::atomic<std::uint64_t> list_changes{0};
    std::uint64_t listed_pools = 0;
    std::uint64_t listed_services = 0;
};

/// Inline, so that it is one object where images share their symbols.
HANDLEPOOL_EXPORT inline constinit process_state this_process{};

} // namespace handlepool::detail
