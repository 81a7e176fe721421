// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

/// What programs without the library know of a plug-in with it.
namespace handlepool::modules {

/// What the plug-in's library says of a pool that it makes, and of a place.
struct listed_pool {
    const void* list;     // where the first pool of the list stands
    std::uint64_t number; // of the pool
    std::uint64_t place;
};

inline constexpr const char* list_pool_symbol = "handlepool_test_list_pool";
using list_pool_function = listed_pool (*)(const char* place);

} // namespace handlepool::modules
