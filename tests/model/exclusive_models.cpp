// SPDX-License-Identifier: MIT

// Exclusive access: a view for one thread, which keeps guards off, and what threads do before and after it.

#include "models.hpp"
#include "pool_scene.hpp"
#include "turns.hpp"

#include <handlepool/exclusive_pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool::model {
namespace {

/// A thread that reads and creates under a guard, and one that erases and creates by a view.
class guard_beside_a_view : public scene_with_an_old_object {
public:
    guard_beside_a_view() : scene_with_an_old_object(tiny_options(4)), other_(objects.emplace(2U)) {
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 0) {
            const auto guard = objects.access();
            if (const payload* const found = objects.find(old_)) {
                require(found->value == 1, "nothing ends under a guard");
            }
            require(objects.at(other_).value == 2, "nothing moves under a guard");
            objects.emplace(3U);
        } else {
            work(objects.exclusive_access());
        }
    }
    void check() override {
        require(!objects.contains(old_), "what was erased is stale");
        require_consistent(objects, 3);
    }

protected:
    template <class View>
    void work(View&& alone) {
        require(alone.erase(old_), "the view erases what lives");
        const auto made = alone.emplace(4U);
        require(alone.at(made).value == 4, "what the view creates is there at once");
        require(alone.items().size() == alone.size(), "the store has just the living");
    }

    handle_type other_;
};

/// The same, with a view that does not wait.
class guard_beside_an_attempt : public guard_beside_a_view {
public:
    void run(unsigned index) override {
        if (index == 0) {
            guard_beside_a_view::run(0);
        } else if (auto alone = objects.try_exclusive_access()) {
            work(*alone);
        }
    }
    void check() override { require_consistent(objects, 3); }
};

/// Two that ask for a view: one at a time has it, and the other may be refused.
class racing_views : public scene_with_an_old_object {
public:
    racing_views() : scene_with_an_old_object(tiny_options(4)) {}

    void run(unsigned) override {
        if (auto alone = objects.try_exclusive_access()) {
            ++views_;
            erased_ += alone->erase(old_) ? 1 : 0;
            alone->emplace(2U);
        }
    }
    void check() override {
        require(views_ >= 1, "not all are refused");
        require(erased_ == 1, "one erase wins");
        require_consistent(objects, static_cast<std::size_t>(views_));
    }

private:
    int views_ = 0;
    int erased_ = 0;
};

/// Threads that use the pool one after the other: one as a pool, the other by a view, and again.
template <class Placement>
class views_in_turn : public pool_scene<payload, model_layout, model_policy, Placement> {
    using base = pool_scene<payload, model_layout, model_policy, Placement>;

public:
    views_in_turn() : base(tiny_options(3)) {}

    void run(unsigned index) override {
        if (index == 0) {
            first_ = objects.emplace(1U);
            turn_.pass_to(1);
            turn_.await(2);
            require(!objects.contains(first_), "what the view has erased is stale");
            require(objects.at(second_).value == 2, "what the view has created is there");
            require(objects.erase(second_), "and can be erased");
            third_ = objects.emplace(3U);
            turn_.pass_to(3);
        } else {
            turn_.await(1);
            {
                auto alone = objects.exclusive_access();
                const auto short_lived = alone.emplace(9U);
                require(alone.erase(first_) && alone.erase(short_lived), "the view erases what lives");
                second_ = alone.emplace(2U);
            }
            turn_.pass_to(2);
            turn_.await(3);
            const auto alone = objects.exclusive_access();
            require(alone.at(third_).value == 3, "the next view has what was created in between");
            require(alone.size() == 1, "and just that");
        }
    }
    void check() override { require_consistent(objects, {{third_, 3}}); }

private:
    using base::objects;

    turns turn_;
    typename base::handle_type first_;
    typename base::handle_type second_;
    typename base::handle_type third_;
};

} // namespace

void add_exclusive_models(std::vector<model_entry>& to) {
    add<guard_beside_a_view>(
        to, "guard beside a view", 2,
        "exclusive access waits for guards, and guards for it; nothing changes under a guard");
    add<guard_beside_an_attempt>(to, "guard beside an attempt at a view", 2,
                                 "the same, where exclusive access does not wait");
    add<racing_views>(to, "racing views", 3,
                      "one thread at a time has exclusive access; not all are refused");
    add<views_in_turn<dense_placement>>(to, "views in turn", 2,
                                        "handles, slots and objects go from threads to a view and back");
    add<views_in_turn<stable_placement>>(to, "views of a stable pool in turn", 2,
                                         "the same, where objects stay");
}

} // namespace handlepool::model
