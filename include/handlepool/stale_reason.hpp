#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace handlepool {

/// What a pool knows of a handle that does not resolve.
struct refused_handle {
    bool null = false;
    std::uint64_t index = 0;
    std::uint32_t generation = 0;
    std::uint32_t pool_id = 0;
    // Of the pool, and of the slot that the index names.
    std::uint32_t own_pool_id = 0;
    std::uint32_t first_generation = 0;
    std::uint64_t slots_in_service = 0;
    std::uint32_t slot_generation = 0;
};

/// "pool 'ships': handle #1021 generation 7 pool 3 is stale: erased, ..."
std::string describe_refusal(std::string_view pool, const refused_handle& handle);

} // namespace handlepool
