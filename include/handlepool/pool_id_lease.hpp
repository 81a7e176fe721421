#pragma once

#include <handlepool/pool_id_registry.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace handlepool {

/// Holds a pool id for the life of a pool.
class pool_id_holder {
public:
    /// Throws like pool_id_registry::acquire.
    pool_id_holder(pool_id_registry& registry, std::optional<unsigned> wanted, std::string_view pool)
        : registry_(registry),
          lease_(registry.acquire(wanted, pool)),
          next_generation_(lease_.first_generation) {}
    ~pool_id_holder() { registry_.release(lease_.id, next_generation_); }

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

} // namespace handlepool
