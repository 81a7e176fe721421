// SPDX-License-Identifier: MIT
#pragma once

#include "model_policy.hpp"
#include "pool_scene.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace handlepool::model {

/// Threads find no shard while they say so.
struct shardless_policy : model_policy {
    static std::uint32_t thread_index(std::uint64_t) noexcept {
        const std::uint32_t index = model_policy::thread_index(0);
        return shardless.at(index) ? 99 : index;
    }

    inline static std::array<bool, most_threads> shardless{};
};

/// A pool in which erases may leave no record, because their thread finds no shard: the next compaction
/// sweeps.
template <class Object = payload>
class scene_without_records : public pool_scene<Object, model_layout, shardless_policy> {
    using base = pool_scene<Object, model_layout, shardless_policy>;

protected:
    using typename base::handle_type;

    explicit scene_without_records(std::size_t capacity) : base(tiny_options(capacity)) {
        shardless_policy::shardless.fill(false); // an execution may have ended in the middle
    }

    bool erase_without_record(handle_type handle) {
        bool& shardless = shardless_policy::shardless.at(model_policy::thread_index(0));
        shardless = true;
        const bool won = this->objects.erase(handle);
        shardless = false;
        return won;
    }
};

} // namespace handlepool::model
