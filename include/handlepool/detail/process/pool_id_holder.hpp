// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace handlepool::detail {

class pool_id_registry;

/// The registry of all layouts with these widths.
HANDLEPOOL_EXPORT pool_id_registry& pool_ids_of_layout(unsigned index_bits, unsigned generation_bits,
                                                       unsigned pool_id_bits);

/// A pool id, and the generation that the pool's slots start from.
struct pool_id_lease {
    std::uint32_t id = 0;
    std::uint32_t first_generation = 0;
};

/// Holds a pool id for the life of a pool.
class HANDLEPOOL_EXPORT pool_id_holder {
public:
    /// Throws like pool_id_registry::acquire.
    pool_id_holder(pool_id_registry& registry, std::optional<unsigned> wanted, std::string_view pool);
    ~pool_id_holder();

    pool_id_holder(const pool_id_holder&) = delete;
    pool_id_holder& operator=(const pool_id_holder&) = delete;

    std::uint32_t id() const noexcept { return lease_.id; }
    std::uint32_t first_generation() const noexcept { return lease_.first_generation; }

    /// Where the next pool with this id starts: even, and above all generations that were handed out.
    void set_next_generation(std::uint32_t generation) noexcept { next_generation_ = generation; }

private:
    pool_id_registry& registry_;
    pool_id_lease lease_;
    std::uint32_t next_generation_;
};

} // namespace handlepool::detail
