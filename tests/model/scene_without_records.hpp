// SPDX-License-Identifier: MIT
#pragma once

#include "model_policy.hpp"
#include "pool_scene.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace handlepool::model {

/// Threads find no lane while they say so.
struct laneless_policy : model_policy {
    static std::uint32_t thread_index(std::uint64_t) noexcept {
        const std::uint32_t index = model_policy::thread_index(0);
        return laneless.at(index) ? 99 : index;
    }

    inline static std::array<bool, most_threads> laneless{};
};

/// A pool in which erases may leave no record, because their thread finds no lane: the next compaction
/// sweeps.
template <class Object = payload>
class scene_without_records : public pool_scene<Object, model_layout, laneless_policy> {
    using base = pool_scene<Object, model_layout, laneless_policy>;

protected:
    using typename base::handle_type;

    explicit scene_without_records(std::size_t capacity) : base(tiny_options(capacity)) {
        laneless_policy::laneless.fill(false); // an execution may have ended in the middle
    }

    bool erase_without_record(handle_type handle) {
        bool& laneless = laneless_policy::laneless.at(model_policy::thread_index(0));
        laneless = true;
        const bool won = this->objects.erase(handle);
        laneless = false;
        return won;
    }
};

} // namespace handlepool::model
