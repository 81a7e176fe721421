// SPDX-License-Identifier: MIT

// A service of pools: handles are routed while pools come and go.

#include "mailbox.hpp"
#include "models.hpp"
#include "pool_scene.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>

#include <cstdint>
#include <stdexcept>

namespace handlepool::model {
namespace {

// Few pool ids, because each has a route.
using routed_layout = handle_layout<32, 30, 2>;

/// Forgets what the pools of former executions have used.
service_options fresh_service() {
    auto& ids = pool_ids_of_layout(routed_layout::index_bits, routed_layout::generation_bits,
                                   routed_layout::pool_id_bits);
    for (std::uint32_t id = 0; id <= routed_layout::pool_id_mask; ++id) {
        ids.release(id, 0);
    }
    payload::living = 0;
    service_options options;
    options.max_threads = 3;
    return options;
}

pool_options with_id(unsigned id) {
    pool_options options;
    options.capacity = 1;
    options.reuse_delay = 0;
    options.max_threads = 3;
    options.pool_id = id;
    return options;
}

struct service_scene : model {
    using service_type = basic_service<routed_layout, model_policy>;
    using pool_type = pool<payload, with_layout<routed_layout, with_policy<model_policy>>>;
    using handle_type = service_type::handle_type;

    service_scene() : world(fresh_service()) {}

    service_type world;
};

/// One thread adds a pool and creates an object, another routes its handle as soon as it hears of it.
class pool_added_while_handles_are_routed : public service_scene {
public:
    pool_added_while_handles_are_routed() : old_(world.add<pool_type>("old", with_id(1)).emplace(1U)) {}

    void run(unsigned index) override {
        if (index == 0) {
            told_.put(world.add<pool_type>("new", with_id(2)).emplace(2U));
        } else {
            require(world.contains(old_), "a handle is routed to its pool");
            const handle_type handle = told_.await();
            if (const payload* const found = world.find<payload>(handle)) {
                require(found->value == 2, "an object that is found by way of the service is complete");
            }
            erased_ = world.erase(handle);
        }
    }
    void check() override {
        world.compact();
        require(world.contains(old_), "a handle is routed to its pool");
        require(world.contains(told_.look()) != erased_, "an erase by way of the service counts");
        require(payload::living == (erased_ ? 1 : 2), "each object is destroyed once");
    }

private:
    handle_type old_;
    mailbox<handle_type> told_;
    bool erased_ = false;
};

class pool_added_during_a_compaction : public service_scene {
public:
    pool_added_during_a_compaction() { world.erase(world.add<pool_type>("old", with_id(1)).emplace(1U)); }
    void run(unsigned index) override {
        if (index == 0) {
            new_ = world.add<pool_type>("new", with_id(2)).emplace(2U);
        } else {
            world.compact();
        }
    }
    void check() override {
        world.compact();
        require(world.size() == 2 && world.contains(new_), "a new pool is there");
        require(payload::living == 1, "the compaction has all pools");
    }

private:
    handle_type new_;
};

class pools_of_one_name : public service_scene {
public:
    void run(unsigned index) override {
        try {
            world.add<pool_type>("same", with_id(index + 1));
            ++added_;
        } catch (const std::invalid_argument&) {
        }
    }
    void check() override {
        require(added_ == 1 && world.size() == 1, "one of two pools of a name is added");
        int routed = 0;
        for (std::uint32_t id = 1; id != 3; ++id) {
            const auto handle =
                handle_type::from_value(routed_layout::value_of(0, routed_layout::make_tag(id, 1)));
            routed += world.route(handle) != nullptr ? 1 : 0;
        }
        require(routed == 1, "a pool that was refused has no route");
    }

private:
    int added_ = 0;
};

/// A pool is removed and its memory given back at the next compaction, while another thread uses its handles
/// under a guard.
class pool_removed_under_a_guard : public service_scene {
public:
    pool_removed_under_a_guard() : old_(world.add<pool_type>("old", with_id(1)).emplace(1U)) {
        world.compact(); // so that it has its list of the pools
    }

    void run(unsigned index) override {
        if (index == 0) {
            world.remove_pool("old");
            world.compact();
        } else {
            const auto guard = world.access();
            if (const payload* const found = world.find<payload>(old_)) {
                require(found->value == 1, "a removed pool lives until no guard is held");
            }
        }
    }
    void check() override {
        require(!world.contains(old_), "handles of a removed pool are refused");
        require(payload::living == 0, "a removed pool is destroyed with its objects");
        world.compact(); // has nothing to do with it any more
    }

private:
    handle_type old_;
};

/// A pool is removed while a guard of the pool itself is held, which ends in another thread.
class guarded_pool_removed : public service_scene {
public:
    guarded_pool_removed() : pool_(world.add<pool_type>("old", with_id(1))) {
        old_ = pool_.emplace(1U);
        world.compact();
        guard_ = pool_.access();
    }

    void run(unsigned index) override {
        if (index == 0) {
            world.remove_pool("old");
            world.try_compact();
        } else {
            const payload* const found = pool_.find(old_);
            require(found != nullptr && found->value == 1, "a removed pool lives until its guards are gone");
            guard_.reset();
        }
    }
    void check() override {
        world.compact();
        require(payload::living == 0, "a removed pool is destroyed with its objects");
    }

private:
    pool_type& pool_;
    handle<payload, routed_layout> old_;
    pool_type::guard_type guard_;
};

/// A pool is removed, and a compaction may destroy it, while another thread looks at all pools.
class pool_removed_under_a_view : public service_scene {
public:
    pool_removed_under_a_view() {
        world.add<pool_type>("old", with_id(1)).emplace(1U);
        world.compact();
    }

    void run(unsigned index) override {
        if (index == 0) {
            world.remove_pool("old");
            world.try_compact();
        } else {
            require(world.leaks(0).size() <= 1, "a view sees a pool or not");
        }
    }
    void check() override {
        world.compact();
        require(payload::living == 0, "a removed pool is destroyed with its objects");
        world.compact();
    }
};

} // namespace

void add_service_models(std::vector<model_entry>& to) {
    add<pool_added_while_handles_are_routed>(to, "pool added while handles are routed", 2,
                                             "who is routed to a pool sees it complete");
    add<pool_added_during_a_compaction>(to, "pool added during a compaction", 2,
                                        "a compaction meets a pool that is being added");
    add<pools_of_one_name>(to, "pools of one name", 2, "one of two pools of a name is added");
    add<pool_removed_under_a_guard>(to, "pool removed under a guard", 2,
                                    "a removed pool lives until the guards before it are gone");
    add<guarded_pool_removed>(to, "guarded pool removed", 2,
                              "try_compact leaves a removed pool whose guard is held");
    add<pool_removed_under_a_view>(to, "pool removed under a view", 2,
                                   "a removed pool lives until nobody is looking at all pools");
}

} // namespace handlepool::model
