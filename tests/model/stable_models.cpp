// SPDX-License-Identifier: MIT

// Pools whose objects stay where they are: what threads claim, compaction takes back and offers again.

#include "models.hpp"
#include "pool_scene.hpp"
#include "turns.hpp"

#include <handlepool/recycling_pool.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace handlepool::model {

namespace {

/// Groups of two places.
class stable_scene : public pool_scene<payload, model_layout, pair_policy, stable_placement> {
protected:
    using pool_scene::pool_scene;

    handle_type emplace(std::uint32_t number) {
        const handle_type made = objects.emplace(number);
        places_.at(number) = objects.find(made);
        return made;
    }
    /// It lives where it was made.
    survivor<handle_type> unmoved(handle_type handle, std::uint32_t number) {
        require(objects.find(handle) == places_.at(number), "an object never moves");
        return {handle, number};
    }

private:
    std::array<const payload*, 10> places_{};
};

/// A hole in a group that the creating thread may hold, or claim while compaction offers it again.
class hole_filled_during_compaction : public stable_scene {
public:
    hole_filled_during_compaction() : stable_scene(tiny_options(4)) {
        victim_ = emplace(1);
        neighbour_ = emplace(2);
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 0) {
            require(objects.erase(victim_), "a living object can be erased");
            first_ = emplace(3);
            second_ = emplace(4);
        } else {
            objects.compact();
            objects.compact();
        }
    }
    void check() override {
        require_consistent(objects, {unmoved(neighbour_, 2), unmoved(first_, 3), unmoved(second_, 4)});
    }

private:
    handle_type victim_, neighbour_, first_, second_;
};

/// A group that no shard holds is offered for its second place; the first is taken.
class hole_beside_an_object : public stable_scene {
public:
    hole_beside_an_object() : stable_scene(tiny_options(6)) {
        for (std::uint32_t number = 0; number != 4; ++number) {
            old_.at(number) = emplace(number); // in two groups, of which the shard keeps the second
        }
        objects.compact();
        objects.erase(old_[1]);
    }

    void run(unsigned index) override {
        if (index == 0) {
            made_ = emplace(5);
        } else {
            objects.compact();
        }
    }
    void check() override {
        require_consistent(
            objects, {unmoved(old_[0], 0), unmoved(old_[2], 2), unmoved(old_[3], 3), unmoved(made_, 5)});
    }

private:
    std::array<handle_type, 4> old_;
    handle_type made_;
};

/// Two threads take the places that a compaction has offered; a third offers more.
class offered_groups_have_one_owner : public stable_scene {
public:
    offered_groups_have_one_owner() : stable_scene(tiny_options(6)) {
        for (std::uint32_t number = 0; number != 4; ++number) {
            victims_.at(number) = emplace(number);
        }
        objects.compact();
        objects.erase(victims_[0]);
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 2) {
            objects.erase(victims_[2]);
            objects.compact();
        } else {
            made_.at(index) = emplace(5 + index);
        }
    }
    void check() override {
        require_consistent(objects, {unmoved(victims_[1], 1), unmoved(victims_[3], 3), unmoved(made_[0], 5),
                                     unmoved(made_[1], 6)});
    }

private:
    std::array<handle_type, 4> victims_;
    std::array<handle_type, 2> made_;
};

/// All groups are full, and get a hole each in one frame. A thread needs a place while compaction takes them
/// over and offers them; another has objects in a group of its own.
class holes_in_all_groups : public stable_scene {
public:
    holes_in_all_groups() : stable_scene(tiny_options(8)) {
        for (std::uint32_t number = 0; number != 6; ++number) {
            old_.at(number) = emplace(number); // in three groups, of which the shard keeps the last
        }
        objects.compact();
        objects.erase(old_[0]);
        objects.erase(old_[3]);
        objects.erase(old_[4]);
    }

    void run(unsigned index) override {
        if (index == 0) {
            made_[0] = emplace(6);
            made_[1] = emplace(7);
        } else {
            objects.compact();
        }
    }
    void check() override {
        require_consistent(objects, {unmoved(old_[1], 1), unmoved(old_[2], 2), unmoved(old_[5], 5),
                                     unmoved(made_[0], 6), unmoved(made_[1], 7)});
    }

private:
    std::array<handle_type, 6> old_;
    std::array<handle_type, 2> made_;
};

/// A shard claims two groups at once, as it has found few places in those that come next; another thread
/// claims beside it, and a compaction offers more. Every group is touched.
class groups_claimed_together : public stable_scene {
public:
    groups_claimed_together() : stable_scene(tiny_options(10)) {
        for (std::uint32_t number = 0; number != 8; ++number) {
            old_.at(number) = emplace(number); // in four groups, of which the shard keeps the last
        }
        objects.compact();
        for (const std::size_t first : {0U, 2U, 4U}) {
            objects.erase(old_.at(first));
        }
        objects.compact();
        made_[0] = emplace(0); // claims a group, and sees how few places the next ones have
    }

    void run(unsigned index) override {
        if (index == 0) {
            made_[1] = emplace(2);
            made_[2] = emplace(4);
        } else if (index == 1) {
            made_[3] = emplace(8);
        } else {
            require(objects.erase(old_[3]), "a living object can be erased");
            objects.compact();
        }
    }
    void check() override {
        require_consistent(objects, {unmoved(made_[0], 0), unmoved(old_[1], 1), unmoved(made_[1], 2),
                                     unmoved(made_[2], 4), unmoved(old_[5], 5), unmoved(old_[6], 6),
                                     unmoved(old_[7], 7), unmoved(made_[3], 8)});
    }

private:
    std::array<handle_type, 8> old_;
    std::array<handle_type, 4> made_;
};

/// Erases that leave no record: of a promoted object, and of one that may be a newborn still.
class sweep_of_a_stable_pool : public stable_scene {
public:
    sweep_of_a_stable_pool() : stable_scene(tiny_options(4, 1)) {
        old_ = {emplace(1), emplace(2)};
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 0) {
            objects.erase(old_[0]);
            objects.erase(emplace(3));
            last_ = emplace(4);
            objects.erase(old_[1]);
        } else {
            objects.compact();
        }
    }
    void check() override { require_consistent(objects, {unmoved(last_, 4)}); }

private:
    std::array<handle_type, 2> old_;
    handle_type last_;
};

/// Memory goes back to the system while a thread creates.
class shrinking_beside_emplace : public stable_scene {
public:
    shrinking_beside_emplace() : stable_scene(tiny_options(4)) {
        const std::array victims{emplace(1), emplace(2), emplace(3)};
        objects.compact();
        for (const auto victim : victims) {
            objects.erase(victim);
        }
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 0) {
            first_ = emplace(4);
            second_ = emplace(5);
        } else {
            objects.shrink_to_fit();
        }
    }
    void check() override { require_consistent(objects, {unmoved(first_, 4), unmoved(second_, 5)}); }

private:
    handle_type first_, second_;
};

/// A thread reads an object that it knows to be alive while a compaction runs, in no order with it.
class look_up_without_order : public stable_scene {
public:
    look_up_without_order() : stable_scene(tiny_options(4)) {
        known_ = emplace(1);
        victim_ = emplace(2);
    }

    void run(unsigned index) override {
        if (index == 0) {
            require(objects.find(known_)->value == 1, "the object is where it was");
            objects.erase(victim_);
            require(objects.find(known_)->value == 1, "the object is where it was");
        } else {
            objects.compact();
        }
    }
    void check() override { require_consistent(objects, {unmoved(known_, 1)}); }

private:
    handle_type known_, victim_;
};

/// An object that is cleared and kept; it counts as living while it has a value.
struct kept_payload {
    explicit kept_payload(std::uint32_t number) : value(number) { ++payload::living; }
    kept_payload& operator=(std::uint32_t number) {
        require(value == 0, "an object is cleared before its next use");
        value = number;
        ++payload::living;
        return *this;
    }
    ~kept_payload() { require(value == 0, "only a cleared object is destroyed"); }

    kept_payload(const kept_payload&) = delete;

    void clear() noexcept {
        value = 0;
        --payload::living;
    }

    model_plain<std::uint32_t> value;
};

class recycling_scene : public pool_scene<kept_payload, model_layout, pair_policy, recycling_placement> {
protected:
    explicit recycling_scene(std::size_t capacity) : pool_scene(tiny_options(capacity)) {}
};

/// An object ends while a shard creates in the same group, and then perhaps in the same place.
class kept_in_a_group_that_a_shard_holds : public recycling_scene {
public:
    kept_in_a_group_that_a_shard_holds() : recycling_scene(4) { victim_ = objects.emplace(1U); }

    void run(unsigned index) override {
        if (index == 0) {
            for (std::uint32_t i = 0; i != 3; ++i) {
                made_.at(i) = objects.emplace(2 + i);
            }
        } else {
            require(objects.erase(victim_), "a living object can be erased");
            objects.compact();
            objects.compact();
        }
    }
    void check() override { require_consistent(objects, {{made_[0], 2}, {made_[1], 3}, {made_[2], 4}}); }

private:
    handle_type victim_;
    std::array<handle_type, 3> made_;
};

/// Two threads take over what a third has created, and a compaction cleared; more is cleared beside them.
class kept_for_other_threads : public recycling_scene {
public:
    kept_for_other_threads() : recycling_scene(6) {
        for (std::uint32_t number = 0; number != 4; ++number) {
            old_.at(number) = objects.emplace(number + 1);
        }
        objects.compact();
        objects.erase(old_[0]);
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 2) {
            objects.erase(old_[2]);
            objects.compact();
        } else {
            made_.at(index) = objects.emplace(5 + index);
        }
    }
    void check() override {
        require_consistent(objects, {{old_[1], 2}, {old_[3], 4}, {made_[0], 5}, {made_[1], 6}});
    }

private:
    std::array<handle_type, 4> old_;
    std::array<handle_type, 2> made_;
};

/// Kept objects are destroyed while a thread takes others over.
class kept_objects_destroyed_beside_emplace : public recycling_scene {
public:
    kept_objects_destroyed_beside_emplace() : recycling_scene(4) {
        const std::array victims{objects.emplace(1U), objects.emplace(2U), objects.emplace(3U)};
        objects.compact();
        for (const auto victim : victims) {
            objects.erase(victim);
        }
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 0) {
            first_ = objects.emplace(4U);
            second_ = objects.emplace(5U);
        } else {
            objects.shrink_to_fit();
        }
    }
    void check() override { require_consistent(objects, {{first_, 4}, {second_, 5}}); }

private:
    handle_type first_, second_;
};

/// A group whose objects were made by a batch that failed goes to another thread, or is shrunk.
class kept_by_a_batch_that_failed : public recycling_scene {
public:
    kept_by_a_batch_that_failed() : recycling_scene(8) {}

    void run(unsigned index) override {
        if (index == 0) {
            std::vector<handle_type> made;
            try {
                objects.emplace_n(3, std::back_inserter(made), [](std::size_t i) -> std::uint32_t {
                    return i == 2 ? throw std::runtime_error("no third") : 7;
                });
                require(false, "the batch fails");
            } catch (const std::runtime_error&) {
            }
        } else if (index == 1) {
            made_ = objects.emplace(1U);
        } else {
            objects.shrink_to_fit();
        }
    }
    void check() override { require_consistent(objects, {{made_, 1}}); }

private:
    handle_type made_;
};

} // namespace

void add_stable_models(std::vector<model_entry>& to) {
    to.push_back(entry<hole_filled_during_compaction>("hole filled during compaction", 2,
                                                      "a place has one object; objects never move"));
    to.push_back(entry<hole_beside_an_object>("hole beside an object", 2, "the same"));
    to.push_back(entry<offered_groups_have_one_owner>("offered groups have one owner", 3, "the same"));
    to.push_back(entry<holes_in_all_groups>("holes in all groups", 2, "the same"));
    to.push_back(entry<groups_claimed_together>("groups claimed together", 3, "the same"));
    to.push_back(entry<sweep_of_a_stable_pool>("sweep of a stable pool", 2,
                                               "what is erased without a record is destroyed, once"));
    to.push_back(
        entry<shrinking_beside_emplace>("shrinking beside emplace", 2, "memory that goes back is nobody's"));
    to.push_back(entry<look_up_without_order>("look-up without order", 2,
                                              "known objects are found during compactions"));
    to.push_back(entry<kept_in_a_group_that_a_shard_holds>(
        "kept in a group that a shard holds", 2, "an object is cleared before its next use, by one thread"));
    to.push_back(entry<kept_for_other_threads>("kept for other threads", 3, "the same"));
    to.push_back(entry<kept_objects_destroyed_beside_emplace>("kept objects destroyed beside emplace", 2,
                                                              "what is destroyed is nobody's"));
    to.push_back(entry<kept_by_a_batch_that_failed>("kept by a batch that failed", 3, "the same"));
}

} // namespace handlepool::model
