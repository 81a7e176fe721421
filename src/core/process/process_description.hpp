// SPDX-License-Identifier: MIT
#pragma once

#include "../recorder/depots.hpp"

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/process/pool_listing.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace handlepool::detail {

/// What a program that reads the memory of this process looks for in the data of its modules, and what leads
/// it to everything else. Each copy of the library has one.
struct alignas(64) process_description {
    static constexpr std::string_view mark_text = "handlepool: a described process";
    static constexpr std::uint32_t current_version = 3;

    std::array<char, 32> mark = [] {
        std::array<char, 32> chars{};
        for (std::size_t i = 0; i != mark_text.size(); ++i) {
            chars[i] = mark_text[i];
        }
        return chars;
    }();
    /// Of this, of living_pool and living_service, and of what they lead to.
    std::uint32_t version = current_version;
    std::uint32_t address_bytes = sizeof(void*);
    /// Where it is: what only looks like one, such as a copy, is somewhere else.
    const process_description* self = nullptr;

    living_pool* const* living_pools = nullptr;
    living_service* const* living_services = nullptr;
    /// Odd while one of these lists changes.
    const std::atomic<std::uint64_t>* list_changes = nullptr;

    /// Of the threads that have numbers, the system's numbers; 0 where that is not known.
    const std::atomic<std::uint32_t>* threads = nullptr;
    std::uint64_t thread_count = 0;

    const listed_depot* sites = nullptr;
    const listed_depot* actors = nullptr;
};

/// Of this process. Modules that share their symbols share this one.
extern process_description described_process;

// Whoever changes these raises the version.
static_assert(sizeof(process_description) == 128 && sizeof(living_pool) == 592 &&
              sizeof(living_service) == 136 && sizeof(listed_depot) == 16 && sizeof(described_column) == 40);

} // namespace handlepool::detail
