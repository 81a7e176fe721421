// SPDX-License-Identifier: MIT

// The end of many lives at once, and of slots: clear, reset, retirement, memory given back.

#include "models.hpp"
#include "pool_scene.hpp"
#include "turns.hpp"

#include <array>
#include <cstdint>
#include <stdexcept>

namespace handlepool::model {
namespace {

/// clear while another thread creates and erases.
class clear_against_emplace : public pool_scene<> {
public:
    clear_against_emplace() : pool_scene(tiny_options(2)), old_(objects.emplace(1U)) {}

    void run(unsigned index) override {
        if (index == 0) {
            objects.clear();
            require(!objects.contains(old_), "what lived when clear began is erased");
        } else {
            new_ = objects.emplace(2U);
            objects.erase(old_);
        }
    }
    void check() override {
        if (objects.contains(new_)) {
            require_consistent(objects, {{new_, 2}});
        } else {
            require_consistent(objects, 0);
        }
    }

private:
    handle_type old_, new_;
};

/// reset between two threads' uses of the pool, which are ordered by a flag.
class reset_between_uses : public pool_scene<> {
public:
    reset_between_uses() : pool_scene(tiny_options(2)) {}

    void run(unsigned index) override {
        if (index == 0) {
            old_ = objects.emplace(1U);
            turn_.pass_to(1);
            turn_.await(2);
            require(!objects.contains(old_) && !objects.erase(old_), "old handles stay dead behind a reset");
            new_ = objects.emplace(2U);
            require(new_ != old_, "no handle is given out twice");
        } else {
            turn_.await(1);
            objects.reset();
            require(!objects.contains(old_), "old handles stay dead behind a reset");
            turn_.pass_to(2);
        }
    }
    void check() override { require_consistent(objects, {{new_, 2}}); }

private:
    turns turn_;
    handle_type old_, new_;
};

/// Reset of a pool whose first shard holds all there is: spare slots, newborns, records.
template <class Policy>
class reset_of_a_used_pool : public pool_scene<nested_throwing, model_layout, Policy> {
    using base = pool_scene<nested_throwing, model_layout, Policy>;
    using base::objects;
    using typename base::handle_type;

public:
    reset_of_a_used_pool() : base(tiny_options(4)) {
        const auto dead = objects.emplace(1U);
        old_ = objects.emplace(2U);
        objects.erase(dead);
        try {
            objects.emplace(objects, 0);
        } catch (const std::runtime_error&) {
        }
    }

    void run(unsigned index) override {
        if (index == 0) {
            turn_.await(1);
            for (std::uint32_t i = 0; i != 3; ++i) {
                made_.at(i) = objects.emplace(i + 3);
            }
        } else {
            objects.reset();
            turn_.pass_to(1);
        }
    }
    void check() override {
        require(!objects.contains(old_), "old handles stay dead behind a reset");
        require_consistent(objects, {{made_[0], 3}, {made_[1], 4}, {made_[2], 5}});
    }

private:
    turns turn_;
    handle_type old_;
    std::array<handle_type, 3> made_;
};

/// Objects without a destructor, whose removals reset drops unburied.
struct simple {
    std::uint32_t value;
};

class reset_of_simple_objects : public pool_scene<simple> {
public:
    reset_of_simple_objects() : pool_scene(tiny_options(3)) { objects.erase(objects.emplace(1U)); }

    void run(unsigned index) override {
        if (index == 0) {
            turn_.await(1);
            made_ = objects.emplace(2U);
            objects.erase(objects.emplace(3U));
        } else {
            objects.reset();
            turn_.pass_to(1);
        }
    }
    void check() override {
        objects.compact();
        require(objects.size() == 1 && objects.items().size() == 1,
                "the dense store is exactly the living objects");
        require(objects.find(made_)->value == 2, "each object is found by its own handle");
    }

private:
    turns turn_;
    handle_type made_;
};

// Three lives a slot.
using narrow_layout = handle_layout<32, 3, 29>;

/// The last life of a slot ends while an old handle of it is used; the next object gets another slot.
class retirement : public pool_scene<payload, narrow_layout> {
public:
    retirement() : pool_scene(two_slots()) {
        first_ = objects.emplace(1U);
        last_ = first_;
        for (int life = 0; life != 2; ++life) {
            objects.erase(last_);
            objects.compact();
            last_ = objects.emplace(1U);
        }
        require(last_.index() == first_.index(), "the slot has three lives");
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 0) {
            objects.erase(last_);
            objects.compact();
            next_ = objects.emplace(2U);
            require(next_.index() != first_.index(), "a used-up slot stays out");
        } else {
            require(!objects.contains(first_) && !objects.erase(first_),
                    "a handle of a former life stays stale");
        }
    }
    void check() override {
        require_consistent(objects, {{next_, 2}});
        require(objects.stats().slots_retired == 1, "a used-up slot is counted");
    }

private:
    static pool_options two_slots() {
        pool_options options = tiny_options<narrow_layout>(1);
        options.slot_limit = 2;
        return options;
    }

    handle_type first_, last_, next_;
};

/// Memory is given back while another thread creates and erases.
class shrinking : public scene_with_an_old_object {
public:
    shrinking() : scene_with_an_old_object(tiny_options(2)) {}

    void run(unsigned index) override {
        if (index == 0) {
            objects.shrink_to_fit();
        } else {
            objects.erase(old_);
            new_ = objects.emplace(2U);
        }
    }
    void check() override { require_consistent(objects, {{new_, 2}}); }

private:
    handle_type new_;
};

} // namespace

void add_reset_models(std::vector<model_entry>& to) {
    add<clear_against_emplace>(to, "clear against emplace", 2, "clear erases all that lived when it began");
    add<reset_between_uses>(to, "reset between uses", 2,
                            "old handles stay dead behind a reset, and no handle is given out twice");
    add<reset_of_a_used_pool<model_policy>>(to, "reset of a used pool", 2, "shards forget what they hold");
    add<reset_of_a_used_pool<pair_policy>>(to, "reset of a used pool, pairs", 2,
                                           "shards forget what they hold");
    add<reset_of_simple_objects>(to, "reset of simple objects", 2,
                                 "the same, with removals that nobody buries");
    add<retirement>(to, "retirement", 2, "a used-up slot never comes back");
    add<shrinking>(to, "shrinking", 2, "memory given back was nobody's");
}

} // namespace handlepool::model
