// SPDX-License-Identifier: MIT

// Texts that claim to be the limits of pools: they are refused with a reason, or hold limits that pools can
// have.

#include "require.hpp"

#include <handlepool/pool_limits.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace handlepool;
    using fuzz::require;
    std::string error;
    const auto limits =
        try_parse_pool_limits(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz", error);
    require(limits.has_value() == error.empty(), "what is refused has a reason");
    require(limits.has_value() || error.starts_with("fuzz:"), "which says where");
    if (limits) {
        for (const auto& [name, pool] : *limits) {
            require(!name.empty(), "each pool has a name");
            require(pool.capacity.value_or(1) != 0, "and room");
            const pool_options options = pool.applied_to({.name = name, .capacity = 1});
            require(options.capacity == pool.capacity.value_or(1), "limits are applied");
        }
    }
    return 0;
}
