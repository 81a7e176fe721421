#pragma once

#include "model.hpp"
#include "model_policy.hpp"

#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/pool_id_registry.hpp>

#include <cstdint>
#include <stdexcept>
#include <utility>

namespace handlepool::model {

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
    auto& ids =
        pool_id_registry::of_layout(Layout::index_bits, Layout::generation_bits, Layout::pool_id_bits);
    ids.release(1, 0);
    pool_options options;
    options.name = "model";
    options.capacity = capacity;
    options.reuse_delay = 0;
    options.max_threads = 3;
    options.pool_id = 1;
    return options;
}

template <class Object = payload, class Layout = model_layout, class Policy = model_policy>
using model_pool = pool<Object, Layout, Policy>;

/// A word by which threads tell each other a handle without ordering anything.
template <class Handle>
class mailbox {
public:
    void put(Handle handle) { word_.store(handle.value(), std::memory_order::relaxed); }
    Handle look() const { return Handle::from_value(word_.load(std::memory_order::relaxed)); }
    /// Looks until there is one.
    Handle await() const {
        while (!look()) {
            model_policy::wait();
        }
        return look();
    }

private:
    model_atomic<typename Handle::value_type> word_;
};

/// Whose turn it is, of threads that use a pool one after the other, as its users would order them.
class turns {
public:
    void pass_to(std::uint32_t turn) { turn_.store(turn, std::memory_order::release); }
    void await(std::uint32_t turn) const {
        while (turn_.load(std::memory_order::acquire) < turn) {
            model_policy::wait();
        }
    }

private:
    model_atomic<std::uint32_t> turn_;
};

/// An object whose constructor makes others, which throw too, and throws: more slots come back than a lane
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

/// A quiescent pool: what its users have left is what it holds, each object is found by its handle and holds
/// its number, and the dense store is exactly those objects.
template <class Pool>
void require_consistent(Pool& objects, std::size_t alive) {
    objects.compact();
    require(objects.size() == alive, "the pool has as many objects as were created and not erased");
    require(objects.items().size() == alive, "the dense store is exactly the living objects");
    require(objects.idle(), "nothing is left to do after a compaction");
    for (std::size_t i = 0; i != alive; ++i) {
        const auto handle = objects.handle_at(i);
        require(objects.find(handle) == &objects.items()[i], "owner and slot agree both ways");
        require(objects.handle_of(objects.items()[i]) == handle, "owner and slot agree both ways");
    }
    require(payload::living == static_cast<int>(alive), "each object is destroyed once");
    const pool_stats view = objects.stats();
    require(view.created == alive + view.destroyed, "created are as many as live and were destroyed");
    require(view.slots_in_service == alive + view.slots_free + view.slots_claimed + view.slots_retired,
            "each slot lives, is free, claimed or retired");
}

/// Model of a pool. What the pool's end leaves behind, the checker tells: each payload has a variable.
template <class Object = payload, class Layout = model_layout, class Policy = model_policy>
class pool_scene : public model {
public:
    using pool_type = model_pool<Object, Layout, Policy>;
    using handle_type = typename pool_type::handle_type;

    explicit pool_scene(const pool_options& options) : objects(options) { payload::living = 0; }
    pool_type objects;
};

} // namespace handlepool::model
