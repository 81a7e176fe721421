// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/process/pool_id_holder.hpp>

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace handlepool::detail {

/// Gives out the pool ids of one handle layout to all pools of the process, so that no two living pools share
/// one, and remembers how far the generations of an id were used: a pool that gets the id of a destroyed one
/// starts above, and the old handles stay dead. Fresh ids go out first, then the one that was given back
/// first.
///
/// Any thread may call any function at any time; they block each other briefly. A child of fork may go on
/// with its copy, whatever the parent's other threads were doing.
class HANDLEPOOL_EXPORT pool_id_registry {
public:
    pool_id_registry(std::uint32_t id_mask, std::uint32_t last_generation)
        : id_mask_(id_mask), last_generation_(last_generation) {}

    /// Takes `wanted`, or any free id. Throws std::invalid_argument when the wanted id is out of range, used
    /// by a living pool (named in the message) or used up, std::runtime_error when no id is left; `pool` is
    /// the name of the pool that asks.
    pool_id_lease acquire(std::optional<unsigned> wanted, std::string_view pool);

    /// Gives an id back. `next_generation`, which is even, lies above all generations that were handed out.
    void release(std::uint32_t id, std::uint32_t next_generation) noexcept;

private:
    friend class pool_id_registries; // which locks them all for fork

    pool_id_lease lease(std::uint32_t id, std::string_view pool);

    struct record {
        std::string user; // name of the living pool, empty after its end
        bool in_use = false;
        std::uint32_t generation = 0; // the next pool's first
        // The id, when it is not in `given_back_`: so that giving it back needs no memory.
        std::list<std::uint32_t> not_given_back;
    };

    bool is_used_up(const record& entry) const noexcept { return entry.generation + 1 > last_generation_; }

    std::mutex mutex_;
    std::map<std::uint32_t, record> records_;
    std::list<std::uint32_t> given_back_; // ids that can be used again, the first one first
    std::uint32_t next_fresh_ = 0;
    bool fresh_left_ = true;
    std::uint32_t id_mask_;
    std::uint32_t last_generation_;
};

} // namespace handlepool::detail
