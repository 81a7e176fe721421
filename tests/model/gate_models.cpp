// SPDX-License-Identifier: MIT

// The gate between guards and compactions.

#include "model_policy.hpp"
#include "models.hpp"

#include <handlepool/access_guard.hpp>
#include <handlepool/detail/parts/shard.hpp>
#include <handlepool/detail/threads/access_gate.hpp>
#include <handlepool/error.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

namespace handlepool::model {
namespace {

using namespace detail;

/// What guards read and compactions write, without an order of its own.
struct gate_scene : model {
    gate_scene() : shards("shards", 3), gate(shards, "model") {}

    void read() {
        const auto guard = gate.access();
        static_cast<void>(std::uint32_t{data}); // a race, if something changes under a guard
    }
    void change() { data = data + 1; }
    void try_compact() {
        if (gate.try_close()) {
            change();
            gate.open();
        }
    }
    void compact() {
        gate.close_or_throw();
        change();
        gate.open();
    }

    shard_table<model_policy> shards;
    access_gate<shard<model_policy>> gate;
    model_plain<std::uint32_t> data;
};

/// A guard in a new shard against a compaction that does not wait.
class guard_in_a_new_shard : public gate_scene {
public:
    void run(unsigned index) override {
        if (index == 0) {
            read();
        } else {
            try_compact();
        }
    }
};

/// The same, when compaction knows the shard already.
class guard_in_a_known_shard : public guard_in_a_new_shard {
public:
    guard_in_a_known_shard() { shards.mine(); }
};

/// The same, when the shard is counted already because of one behind it, which another thread enters.
class guard_in_a_counted_shard : public gate_scene {
public:
    void run(unsigned index) override {
        if (index == 0) {
            read();
        } else if (index == 1) {
            shards.mine();
        } else {
            try_compact();
        }
    }
};

/// A guard, and a compaction that waits for it.
class waiting_compaction : public gate_scene {
public:
    void run(unsigned index) override {
        if (index == 0) {
            read();
        } else {
            compact();
        }
    }
    void check() override { require(data == 1, "the compaction has run"); }
};

/// A guard inside a guard, while a compaction waits for the outer one.
class nested_guard : public gate_scene {
public:
    void run(unsigned index) override {
        if (index == 0) {
            const auto outer = gate.access();
            read();
            const std::uint32_t before = data;
            model_policy::wait(); // where others may come in between
            require(data == before, "the outer guard holds compaction off when the inner one has ended");
        } else {
            compact();
        }
    }
};

/// A guard of a thread that has compacted, while another does.
class guard_behind_a_compaction : public gate_scene {
public:
    void run(unsigned index) override {
        try_compact();
        if (index == 0) {
            read(); // is refused to who is compacting, by an exception
        }
    }
};

/// A thread that closes the gate as soon as another one opens it, and asks for a guard.
class guard_of_who_compacts_next : public gate_scene {
public:
    void run(unsigned index) override {
        if (!gate.try_close()) {
            return;
        }
        if (index == 1) {
            bool refused = false;
            try {
                read();
            } catch (const compaction_conflict&) {
                refused = true;
            }
            require(refused, "who is compacting is refused a guard, and does not wait for itself");
        }
        change();
        gate.open();
    }
};

/// A guard that is handed to another thread and ends there, while its maker makes another.
class guard_that_ends_elsewhere : public gate_scene {
public:
    void run(unsigned index) override {
        if (index == 0) {
            auto made = gate.access();
            handed_ = std::move(made);
            told_.store(1, std::memory_order::release);
            read();
        } else if (index == 1) {
            if (told_.load(std::memory_order::acquire) == 1) {
                static_cast<void>(std::uint32_t{data});
                handed_.reset();
            }
        } else {
            try_compact();
        }
    }
    void check() override {
        handed_.reset();
        require(!gate.pinned(), "no pin is left of guards that have ended");
    }

private:
    access_guard<model_policy> handed_;
    model_atomic<std::uint32_t> told_;
};

/// A guard of a pool and then one of its service, while the service compacts: it waits for the one, and lets
/// the other pass.
class guard_of_a_pool_and_then_of_its_service : public gate_scene {
public:
    guard_of_a_pool_and_then_of_its_service() : outer_(shards_of_outer_, "service") {}

    void run(unsigned index) override {
        if (index == 0) {
            const auto first = gate.access();
            const auto second = outer_.access();
            static_cast<void>(std::uint32_t{data});
            static_cast<void>(std::uint32_t{outer_data_});
        } else {
            outer_.close_or_throw();
            outer_data_ = outer_data_ + 1;
            require(gate.close(&outer_) == gate_refusal::none, "a compaction gets its turn");
            change();
            outer_data_ = outer_data_ + 1;
            gate.open();
            outer_.open();
        }
    }
    void check() override { require(data == 1 && outer_data_ == 2, "the compaction has run"); }

private:
    shard_table<model_policy> shards_of_outer_{"shards", 3};
    access_gate<shard<model_policy>> outer_;
    model_plain<std::uint32_t> outer_data_;
};

/// Three that want to compact, and may be refused.
class racing_compactions : public gate_scene {
public:
    void run(unsigned) override { try_compact(); }
    void check() override { require(data >= 1, "one of racing compactions runs"); }
};

} // namespace

void add_gate_models(std::vector<model_entry>& to) {
    add<guard_in_a_new_shard>(to, "guard in a new shard", 2,
                              "no object moves under a guard, also in a shard that is new");
    add<guard_in_a_known_shard>(to, "guard in a known shard", 2, "no object moves under a guard");
    add<guard_in_a_counted_shard>(to, "guard in a counted shard", 3,
                                  "the same, when a shard behind it was entered before");
    add<waiting_compaction>(to, "waiting compaction", 2,
                            "no object moves under a guard; the compaction gets its turn");
    add<nested_guard>(to, "nested guard", 2,
                      "a guard inside a guard does not wait for the compaction that waits for it");
    add<guard_behind_a_compaction>(to, "guard behind a compaction", 2,
                                   "only who is compacting is refused a guard");
    add<guard_of_who_compacts_next>(to, "guard of who compacts next", 2,
                                    "the same, while another thread's compaction ends");
    add<guard_that_ends_elsewhere>(to, "guard that ends elsewhere", 3,
                                   "a guard may end in another thread while its maker makes others");
    add<guard_of_a_pool_and_then_of_its_service>(
        to, "guard of a pool and then of its service", 2,
        "guards are taken in any order; nobody waits for ever, and nothing moves under a guard");
    add<racing_compactions>(to, "racing compactions", 3, "one compaction at a time; not all are refused");
}

} // namespace handlepool::model
