// SPDX-License-Identifier: MIT
#pragma once

#include "model.hpp"
#include "model_policy.hpp"

#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>

#include <src/core/process/pool_id_registry.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>

namespace handlepool::model {

using namespace detail;

using model_layout = handle_layout<32, 22, 10>;

/// The objects of the models' pools: a variable that the checker watches, and a count of those that live.
struct payload {
    explicit payload(std::uint32_t number) : value(number) { ++living; }
    payload(payload&& other) noexcept : value(other.value) { ++living; }
    ~payload() {
        value = 0; // a write, so that it must be ordered behind all reads
        --living;
    }

    payload(const payload&) = delete;
    payload& operator=(const payload&) = delete;

    model_plain<std::uint32_t> value;

    inline static int living = 0;
};

/// Options of a pool that is the same in each execution: with no memory of former pools' generations.
template <class Layout = model_layout>
pool_options tiny_options(std::size_t capacity) {
    auto& ids = pool_ids_of_layout(Layout::index_bits, Layout::generation_bits, Layout::pool_id_bits);
    ids.release(1, 0);
    pool_options options;
    options.name = "model";
    options.capacity = capacity;
    options.reuse_delay = 0;
    options.max_threads = 3;
    options.pool_id = 1;
    return options;
}

/// The same, with queues of each thread that hold so many removals.
inline pool_options tiny_options(std::size_t capacity, std::size_t removal_queue_size) {
    pool_options options = tiny_options(capacity);
    options.removal_queue_size = removal_queue_size;
    return options;
}

template <class Object = payload, class Layout = model_layout, class Policy = model_policy,
          class Placement = dense_placement>
using model_pool = pool<Object, with_placement<Placement, with_layout<Layout, with_policy<Policy>>>>;

/// An object whose constructor makes others, which throw too, and throws: more slots come back than a shard
/// keeps.
struct nested_throwing : payload {
    explicit nested_throwing(std::uint32_t number) noexcept : payload(number) {}
    template <class Pool>
    nested_throwing(Pool& inside, int depth) : payload(1) {
        if (depth != 0) {
            try {
                inside.emplace(inside, depth - 1);
            } catch (const std::runtime_error&) {
            }
        }
        throw std::runtime_error("thrown by a constructor");
    }
};

/// A quiescent pool: it has so many objects, the dense store is exactly those, and all that is counted
/// agrees.
template <class Pool>
void require_consistent(Pool& objects, std::size_t alive) {
    objects.compact();
    require(objects.size() == alive, "the pool has as many objects as were created and not erased");
    require(objects.idle(), "nothing is left to do after a compaction");
    std::size_t visited = 0;
    for (const auto& object : objects) {
        const auto handle = objects.handle_of(object);
        require(objects.find(handle) == &object, "owner and slot agree both ways");
        if constexpr (requires { objects.items(); }) {
            require(objects.handle_at(visited) == handle, "owner and slot agree both ways");
        }
        ++visited;
    }
    require(visited == alive, "the store is exactly the living objects");
    require(payload::living == static_cast<int>(alive), "each object is destroyed once");
    const pool_stats view = objects.stats();
    require(view.created == alive + view.destroyed, "created are as many as live and were destroyed");
    require(view.slots_in_service ==
                alive + view.slots_free + view.slots_claimed + view.slots_reserved + view.slots_retired,
            "each slot lives, is free, claimed, reserved or retired");
}

/// An object that must live, and what it holds.
template <class Handle>
struct survivor {
    Handle handle;
    std::uint32_t number;
};

/// The same of a pool that holds exactly these objects, each under its own handle.
template <class Pool>
void require_consistent(Pool& objects, std::initializer_list<survivor<typename Pool::handle_type>> alive) {
    require_consistent(objects, alive.size());
    for (const auto& [handle, number] : alive) {
        const auto* const found = objects.find(handle);
        require(found != nullptr, "what was created and not erased is found by its handle");
        require(found->value == number, "each object is found by its own handle");
    }
}

/// Model of a pool. What the pool's end leaves behind, the checker tells: each payload has a variable.
template <class Object = payload, class Layout = model_layout, class Policy = model_policy,
          class Placement = dense_placement>
class pool_scene : public model {
public:
    using pool_type = model_pool<Object, Layout, Policy, Placement>;
    using handle_type = typename pool_type::handle_type;

    explicit pool_scene(const pool_options& options) : objects(options) { payload::living = 0; }
    pool_type objects;
};

/// A pool whose store has one object.
class scene_with_an_old_object : public pool_scene<> {
protected:
    explicit scene_with_an_old_object(const pool_options& options = tiny_options(1))
        : pool_scene(options), old_(objects.emplace(1U)) {
        objects.compact();
    }

    handle_type old_;
};

} // namespace handlepool::model
