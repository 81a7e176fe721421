// SPDX-License-Identifier: MIT
#pragma once

#include "pool_contender.hpp"

#include <handlepool/spawner.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace handlepool::coherence {

/// A pool whose threads have a spawner each, made anew after each compaction.
class spawner_contender {
public:
    static constexpr std::string_view name = "spawners";
    using pool_type = pool_contender::pool_type;
    using handle_type = pool_type::handle_type;

    spawner_contender(std::size_t alive, std::size_t threads) : threads_(threads) {
        name_parts_of_pool(machine::current()->memory(), pool_name);
        // With as much again, so that each has its share of what is created.
        pool_.emplace("pool", pool_options{.name = std::string(pool_name),
                                           .capacity = 2 * capacity_for(alive),
                                           .spawners = threads});
        spawners_.emplace((*pool_)->spawners(threads_));
    }

    auto& worker(std::uint32_t thread) { return (*spawners_)[thread]; }
    std::optional<std::uint64_t> find(handle_type handle) noexcept {
        const sim_object* const found = (*pool_)->find(handle);
        return found == nullptr ? std::nullopt : std::optional(found->read());
    }
    void end_frame() {
        spawners_->close();
        (*pool_)->compact();
        spawners_.emplace((*pool_)->spawners(threads_));
    }

private:
    static constexpr std::string_view pool_name = "bench";

    std::size_t threads_;
    std::optional<simulated<pool_type>> pool_;
    std::optional<spawner_set<sim_object, with_policy<sim_policy>>> spawners_;
};

} // namespace handlepool::coherence
