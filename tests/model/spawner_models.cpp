// SPDX-License-Identifier: MIT

// Spawners: one that passes from thread to thread beside another, compactions that come while some live, and
// uses after their end.

#include "models.hpp"
#include "pool_scene.hpp"
#include "turns.hpp"

#include <handlepool/spawner.hpp>
#include <handlepool/stable_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace handlepool::model {
namespace {

pool_options with_spawners(std::size_t capacity, std::size_t spawners) {
    pool_options options = tiny_options(capacity);
    options.spawners = spawners;
    return options;
}

template <class Placement>
class scene_with_spawners : public pool_scene<payload, model_layout, model_policy, Placement> {
    using base = pool_scene<payload, model_layout, model_policy, Placement>;

protected:
    using base::objects;
    using typename base::handle_type;

    explicit scene_with_spawners(std::size_t spawners)
        : base(with_spawners(8, spawners)), spawners_(objects.spawners(spawners)) {
        old_ = spawners_[0].emplace(1U);
        spawners_.close();
        objects.compact();
    }

    spawner_set<payload, with_placement<Placement, with_layout<model_layout, with_policy<model_policy>>>>
        spawners_;
    handle_type old_;
};

/// One spawner goes from a thread to another, beside one that stays; the last one closes both and compacts.
template <class Placement>
class spawner_that_passes_on : public scene_with_spawners<Placement> {
    using base = scene_with_spawners<Placement>;

public:
    spawner_that_passes_on() : base(2) {}

    void run(unsigned index) override {
        if (index == 0) {
            spawners_ = objects.spawners(2);
            opened_.pass_to(1);
            first_ = spawners_[0].emplace(2U);
            require(spawners_[0].erase(old_), "what lives can be erased");
            handed_over_.pass_to(1);
        } else if (index == 1) {
            handed_over_.await(1);
            second_ = spawners_[0].emplace(3U);
            require(objects.at(first_).value == 2, "what the thread before has created is there");
            done_.await(1);
            spawners_.close();
            objects.compact();
        } else {
            opened_.await(1);
            third_ = spawners_[1].emplace(4U);
            require(objects.at(old_).value == 1, "what was erased lives until the compaction");
            require(spawners_[1].erase(old_), "and who erases it, too, can't know");
            done_.pass_to(1);
        }
    }
    void check() override {
        require(!objects.contains(old_), "what was erased is stale");
        require_consistent(objects, {{first_, 2}, {second_, 3}, {third_, 4}});
        if constexpr (std::is_same_v<Placement, dense_placement>) {
            std::uint32_t number = 2;
            for (const payload& each : objects) {
                require(each.value == number++,
                        "the store has what was created in the order of the spawners");
            }
        }
    }

private:
    using base::objects;
    using base::old_;
    using base::spawners_;
    using typename base::handle_type;

    turns opened_;
    turns handed_over_;
    turns done_;
    handle_type first_;
    handle_type second_;
    handle_type third_;
};

/// A compaction that comes while spawners live waits for their end.
class compaction_beside_spawners : public scene_with_spawners<dense_placement> {
public:
    compaction_beside_spawners() : scene_with_spawners(1) {}

    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
        } else {
            spawners_ = objects.spawners(1);
            made_ = spawners_[0].emplace(2U);
            require(objects.at(made_).value == 2, "no compaction runs while spawners live");
            require(spawners_[0].erase(old_), "what lives can be erased");
            require(objects.at(old_).value == 1, "no compaction runs while spawners live");
            spawners_.close();
        }
    }
    void check() override { require_consistent(objects, {{made_, 2}}); }

private:
    handle_type made_;
};

/// A spawner that is used after its end, while a compaction runs or not, makes and ends nothing.
class late_use_of_a_spawner : public scene_with_spawners<dense_placement> {
public:
    late_use_of_a_spawner() : scene_with_spawners(1) {}

    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
        } else {
            spawners_ = objects.spawners(1);
            spawners_.close();
            require(!spawners_[0].try_emplace(2U), "nothing is created after the end");
            require(!spawners_[0].try_reserve_handle(), "nothing is reserved after the end");
            bool refused = false;
            try {
                spawners_[0].erase(old_);
            } catch (const spawner_conflict&) {
                refused = true;
            }
            require(refused, "nothing is erased after the end");
        }
    }
    void check() override { require_consistent(objects, {{old_, 1}}); }
};

/// A thread without a spawner creates nothing beside one that has one; and one beside a compaction neither.
class thread_without_a_spawner : public scene_with_spawners<dense_placement> {
public:
    thread_without_a_spawner() : scene_with_spawners(1) {}

    void run(unsigned index) override {
        if (index == 0) {
            require(!objects.try_emplace(9U), "nothing is created without a spawner");
            require(!objects.try_reserve_handle(), "nothing is reserved without a spawner");
        } else {
            spawners_ = objects.spawners(1);
            made_ = spawners_[0].emplace(2U);
            spawners_.close();
            objects.compact();
        }
    }
    void check() override { require_consistent(objects, {{old_, 1}, {made_, 2}}); }

private:
    handle_type made_;
};

} // namespace

void add_spawner_models(std::vector<model_entry>& to) {
    add<spawner_that_passes_on<dense_placement>>(
        to, "spawner that passes on", 3,
        "a spawner is one thread's after another's; what it erases lives until the compaction");
    add<spawner_that_passes_on<stable_placement>>(to, "spawner of a stable pool that passes on", 3,
                                                  "the same, where objects stay");
    add<compaction_beside_spawners>(to, "compaction beside spawners", 2,
                                    "a compaction waits until the spawners end, and sees all of them");
    add<late_use_of_a_spawner>(to, "late use of a spawner", 2,
                               "a spawner refuses after its end, beside a compaction too");
    add<thread_without_a_spawner>(to, "thread without a spawner", 2,
                                  "nothing is created in a pool with spawners but by them");
}

} // namespace handlepool::model
