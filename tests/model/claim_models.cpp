// SPDX-License-Identifier: MIT

// Claims, chunks and shards of whole pools: what is left half used, handed on, given back, or all that there
// is.

#include "models.hpp"
#include "pool_scene.hpp"

#include <src/core/threads/thread_index_set.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace handlepool::model {
namespace {

/// As many threads create as there is room for.
class full_pool : public pool_scene<> {
public:
    full_pool() : pool_scene(tiny_options(2)) {}

    void run(unsigned index) override {
        made_.at(index) = objects.try_emplace(index);
        require(static_cast<bool>(made_.at(index)), "a pool has room for its capacity");
    }
    void check() override {
        require(made_[0].index() != made_[1].index(), "no slot has two objects");
        require_consistent(objects, {{made_[0], 0}, {made_[1], 1}});
    }

private:
    std::array<handle_type, 2> made_;
};

/// Another thread's claimed slot that is not used must not make the pool look full.
class idle_claims : public pool_scene<payload, model_layout, pair_policy> {
public:
    idle_claims() : pool_scene(tiny_options(4)) {}

    void run(unsigned index) override {
        const std::size_t wanted = index == 0 ? 1 : 3;
        for (std::size_t i = 0; i != wanted; ++i) {
            require(static_cast<bool>(objects.try_emplace(1U)), "a pool has room for its capacity");
        }
    }
    void check() override { require_consistent(objects, 4); }
};

/// A full pool, in which slots of dead objects come back while two threads wait for one.
class slot_of_a_dead_object : public pool_scene<> {
public:
    slot_of_a_dead_object() : pool_scene(strict_options()) {
        const auto dead = objects.emplace(9U);
        objects.compact();
        objects.erase(dead);
    }

    void run(unsigned index) override {
        if (index == 2) {
            objects.compact();
        } else {
            made_.at(index) = objects.try_emplace(index);
        }
    }
    void check() override {
        require(!made_[0] || !made_[1], "one slot goes to one thread");
        if (made_[0] || made_[1]) {
            require_consistent(objects, {made_[0] ? survivor<handle_type>{made_[0], 0}
                                                  : survivor<handle_type>{made_[1], 1}});
        } else {
            require_consistent(objects, 0);
        }
    }

private:
    static pool_options strict_options() {
        pool_options options = tiny_options(1);
        options.slot_limit = 1;
        return options;
    }

    std::array<handle_type, 2> made_;
};

/// Chunks of two: a compaction meets chunks that are half full, half published, half drained.
class half_full_chunks : public pool_scene<payload, model_layout, pair_policy> {
public:
    half_full_chunks() : pool_scene(tiny_options(4)) { objects.erase(objects.emplace(9U)); }
    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
        } else {
            first_ = objects.emplace(1U);
            objects.erase(objects.emplace(2U));
            last_ = objects.emplace(3U);
        }
    }
    void check() override { require_consistent(objects, {{first_, 1}, {last_, 3}}); }

private:
    handle_type first_, last_;
};

/// Chunks of the nursery that were drained are used again, while a compaction gives back more of them.
class chunks_used_again : public pool_scene<> {
public:
    chunks_used_again() : pool_scene(tiny_options(4)) {
        made_[0] = objects.emplace(1U);
        made_[1] = objects.emplace(2U);
        objects.compact(); // has done with a chunk
    }
    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
        } else {
            made_[2] = objects.emplace(3U);
            made_[3] = objects.emplace(4U);
        }
    }
    void check() override {
        require_consistent(objects, {{made_[0], 1}, {made_[1], 2}, {made_[2], 3}, {made_[3], 4}});
    }

private:
    std::array<handle_type, 4> made_;
};

/// Constructors that throw inside each other give back more slots than a shard keeps.
class slots_of_throwing_constructors : public pool_scene<nested_throwing> {
public:
    slots_of_throwing_constructors() : pool_scene(tiny_options(2)) {}
    void run(unsigned index) override {
        if (index == 0) {
            try {
                objects.emplace(objects, 1);
                require(false, "what a constructor throws is passed on");
            } catch (const std::runtime_error&) {
            }
        } else {
            objects.compact();
        }
    }
    void check() override {
        require_consistent(objects, 0);
        require(objects.try_emplace(1U) && objects.try_emplace(2U), "no slot is lost");
        require_consistent(objects, 2);
    }
};

/// Threads go by numbers that they take when they begin and give back when they end.
template <class Base>
struct numbered : Base {
    static std::uint32_t thread_index(std::uint64_t) noexcept {
        return all_steps.threads_run() ? numbers.at(rl::thread_index()) : 0;
    }

    inline static std::array<std::uint32_t, most_threads> numbers{};
};

/// A thread uses the pool and ends; the next one may get its shard.
class shard_of_a_dead_thread : public pool_scene<payload, model_layout, numbered<model_policy>> {
public:
    shard_of_a_dead_thread() : pool_scene(tiny_options(2)) {}

    void run(unsigned) override {
        const std::uint32_t number = numbers_.claim();
        numbered<model_policy>::numbers.at(rl::thread_index()) = number;
        const auto mine = objects.emplace(number);
        require(objects.contains(mine), "what was created lives");
        require(objects.erase(mine), "a living object can be erased");
        numbers_.give_back(number);
    }
    void check() override { require_consistent(objects, 0); }

private:
    thread_index_set<model_atomic, 1> numbers_;
};

/// A shard with a claimed slot and half a chunk goes to another thread, while a compaction drains it: that of
/// the thread that has left it.
class half_used_shard_of_a_dead_thread : public pool_scene<payload, model_layout, numbered<pair_policy>> {
public:
    half_used_shard_of_a_dead_thread() : pool_scene(tiny_options(4)) {}

    void run(unsigned index) override {
        const std::uint32_t number = numbers_.claim();
        numbered<pair_policy>::numbers.at(index) = number;
        made_.at(index) = objects.emplace(index);
        require(objects.contains(made_.at(index)), "what was created lives");
        numbers_.give_back(number);
        if (index == 0) {
            numbered<pair_policy>::numbers.at(index) = 2; // its next life's; nobody else has that
            objects.compact();
        }
    }
    void check() override { require_consistent(objects, {{made_[0], 0}, {made_[1], 1}}); }

private:
    thread_index_set<model_atomic, 1> numbers_;
    std::array<handle_type, 2> made_;
};

} // namespace

void add_claim_models(std::vector<model_entry>& to) {
    add<full_pool>(to, "full pool", 2, "the capacity is guaranteed; no slot has two objects");
    add<idle_claims>(to, "idle claims", 2, "a pool has room for its capacity, whatever shards hold unused");
    add<slot_of_a_dead_object>(to, "slot of a dead object", 3, "a slot that comes back goes to one thread");
    add<half_full_chunks>(to, "half full chunks", 2,
                          "chunks that are half full, half published, half drained");
    add<chunks_used_again>(to, "chunks used again", 2, "chunks that were drained are used again");
    add<slots_of_throwing_constructors>(to, "slots of throwing constructors", 2,
                                        "slots of constructors that threw are not lost");
    add<shard_of_a_dead_thread>(to, "shard of a dead thread", 2,
                                "a shard goes to its next thread as the one before has left it");
    add<half_used_shard_of_a_dead_thread>(
        to, "half used shard of a dead thread", 2,
        "a shard with a claim and a chunk half used goes to its next thread");
}

} // namespace handlepool::model
