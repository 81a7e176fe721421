// SPDX-License-Identifier: MIT

// Pools whose objects stay where they are: what threads claim, compaction takes back and offers again.

#include "models.hpp"
#include "pool_scene.hpp"

#include <handlepool/recycling_pool.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace handlepool::model {
namespace {

/// An object that is cleared and kept; it counts as living while it has a value.
struct kept_payload {
    explicit kept_payload(std::uint32_t number) : value(number) {
        ++payload::living;
        ++constructed;
    }
    kept_payload& operator=(std::uint32_t number) {
        require(value == 0, "an object is cleared before its next use");
        value = number;
        ++payload::living;
        return *this;
    }
    ~kept_payload() {
        require(value == 0, "only a cleared object is destroyed");
        --constructed;
    }

    kept_payload(const kept_payload&) = delete;

    void clear() noexcept {
        value = 0;
        --payload::living;
    }

    model_plain<std::uint32_t> value;

    inline static int constructed = 0;
};

/// Groups of two places.
template <class Object, class Placement>
class unmoving_scene : public pool_scene<Object, model_layout, pair_policy, Placement> {
    using base = pool_scene<Object, model_layout, pair_policy, Placement>;

public:
    using base::objects;
    using typename base::handle_type;

protected:
    using base::base;

    handle_type emplace(std::uint32_t number) {
        const handle_type made = objects.emplace(number);
        places_.at(number) = objects.find(made);
        return made;
    }
    /// Those with the numbers from 1 on.
    template <std::size_t Count>
    std::array<handle_type, Count> emplace_first() {
        std::array<handle_type, Count> made;
        for (std::uint32_t i = 0; i != Count; ++i) {
            made.at(i) = emplace(i + 1);
        }
        return made;
    }
    /// It lives where it was made.
    survivor<handle_type> unmoved(handle_type handle, std::uint32_t number) {
        require(objects.find(handle) == places_.at(number), "an object never moves");
        return {handle, number};
    }

private:
    std::array<const Object*, 10> places_{};
};

using stable_scene = unmoving_scene<payload, stable_placement>;

class recycling_scene : public unmoving_scene<kept_payload, recycling_placement> {
protected:
    explicit recycling_scene(const pool_options& options) : unmoving_scene(options) {
        kept_payload::constructed = 0;
    }

    /// Each object that was constructed is known to the pool, which destroys it in the end.
    void require_all_destroyed() {
        objects.reset();
        require(kept_payload::constructed == 0, "each object that was constructed is destroyed, once");
    }
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
        old_ = emplace_first<4>(); // in two groups, of which the shard keeps the second
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
            objects, {unmoved(old_[0], 1), unmoved(old_[2], 3), unmoved(old_[3], 4), unmoved(made_, 5)});
    }

private:
    std::array<handle_type, 4> old_;
    handle_type made_;
};

/// Two threads take the places that a compaction has offered, or the objects that it has cleared and kept; a
/// third offers more.
template <class Scene>
class offered_groups_have_one_owner : public Scene {
    using Scene::emplace, Scene::objects, Scene::unmoved;
    using typename Scene::handle_type;

public:
    offered_groups_have_one_owner() : Scene(tiny_options(6)), old_(this->template emplace_first<4>()) {
        objects.compact();
        objects.erase(old_[0]);
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 2) {
            objects.erase(old_[2]);
            objects.compact();
        } else {
            made_.at(index) = emplace(5 + index);
        }
    }
    void check() override {
        require_consistent(
            objects, {unmoved(old_[1], 2), unmoved(old_[3], 4), unmoved(made_[0], 5), unmoved(made_[1], 6)});
    }

private:
    std::array<handle_type, 4> old_;
    std::array<handle_type, 2> made_;
};

/// All groups are full, and get a hole each in one frame. A thread needs a place while compaction takes them
/// over and offers them; another has objects in a group of its own.
class holes_in_all_groups : public stable_scene {
public:
    holes_in_all_groups() : stable_scene(tiny_options(8)) {
        old_ = emplace_first<6>(); // in three groups, of which the shard keeps the last
        objects.compact();
        objects.erase(old_[0]);
        objects.erase(old_[3]);
        objects.erase(old_[4]);
    }

    void run(unsigned index) override {
        if (index == 0) {
            made_[0] = emplace(7);
            made_[1] = emplace(8);
        } else {
            objects.compact();
        }
    }
    void check() override {
        require_consistent(objects, {unmoved(old_[1], 2), unmoved(old_[2], 3), unmoved(old_[5], 6),
                                     unmoved(made_[0], 7), unmoved(made_[1], 8)});
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
        old_ = emplace_first<8>(); // in four groups, of which the shard keeps the last
        objects.compact();
        for (const std::size_t first : {0U, 2U, 4U}) {
            objects.erase(old_.at(first));
        }
        objects.compact();
        made_[0] = emplace(1); // claims a group, and sees how few places the next ones have
    }

    void run(unsigned index) override {
        if (index == 0) {
            made_[1] = emplace(3);
            made_[2] = emplace(5);
        } else if (index == 1) {
            made_[3] = emplace(9);
        } else {
            require(objects.erase(old_[3]), "a living object can be erased");
            objects.compact();
        }
    }
    void check() override {
        require_consistent(objects, {unmoved(made_[0], 1), unmoved(old_[1], 2), unmoved(made_[1], 3),
                                     unmoved(made_[2], 5), unmoved(old_[5], 6), unmoved(old_[6], 7),
                                     unmoved(old_[7], 8), unmoved(made_[3], 9)});
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

/// Memory goes back to the system, or kept objects are destroyed, while a thread creates.
template <class Scene>
class shrinking_beside_emplace : public Scene {
    using Scene::emplace, Scene::objects, Scene::unmoved;
    using typename Scene::handle_type;

public:
    shrinking_beside_emplace() : Scene(tiny_options(4)) {
        const auto victims = this->template emplace_first<3>();
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

/// An object ends while a shard creates in the same group, and then perhaps in the same place.
class kept_in_a_group_that_a_shard_holds : public recycling_scene {
public:
    kept_in_a_group_that_a_shard_holds() : recycling_scene(tiny_options(4)) { victim_ = objects.emplace(1U); }

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
    void check() override {
        require_consistent(objects, {{made_[0], 2}, {made_[1], 3}, {made_[2], 4}});
        require_all_destroyed();
    }

private:
    handle_type victim_;
    std::array<handle_type, 3> made_;
};

/// What is kept in one place of a group is destroyed while the shard that holds the group makes an object
/// beside it.
class kept_beside_a_new_object : public recycling_scene {
public:
    kept_beside_a_new_object() : recycling_scene(tiny_options(2)) {
        const handle_type victim = emplace(1);
        objects.compact();
        objects.erase(victim);
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 0) {
            made_ = emplace(2);
        } else {
            objects.shrink_to_fit();
        }
    }
    void check() override {
        require_consistent(objects, {unmoved(made_, 2)});
        require_all_destroyed();
    }

private:
    handle_type made_;
};

/// A group whose objects were made by a batch that failed goes to another thread, or is shrunk.
class kept_by_a_batch_that_failed : public recycling_scene {
public:
    kept_by_a_batch_that_failed() : recycling_scene(tiny_options(8)) {}

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
    void check() override {
        require_consistent(objects, {{made_, 1}});
        require_all_destroyed();
    }

private:
    handle_type made_;
};

} // namespace

void add_stable_models(std::vector<model_entry>& to) {
    add<hole_filled_during_compaction>(to, "hole filled during compaction", 2,
                                       "a place has one object; objects never move");
    add<hole_beside_an_object>(to, "hole beside an object", 2, "the same");
    add<offered_groups_have_one_owner<stable_scene>>(to, "offered groups have one owner", 3, "the same");
    add<holes_in_all_groups>(to, "holes in all groups", 2, "the same");
    add<groups_claimed_together>(to, "groups claimed together", 3, "the same");
    add<sweep_of_a_stable_pool>(to, "sweep of a stable pool", 2,
                                "what is erased without a record is destroyed, once");
    add<shrinking_beside_emplace<stable_scene>>(to, "shrinking beside emplace", 2,
                                                "memory that goes back is nobody's");
    add<look_up_without_order>(to, "look-up without order", 2, "known objects are found during compactions");
    add<kept_in_a_group_that_a_shard_holds>(to, "kept in a group that a shard holds", 2,
                                            "an object is cleared before its next use, by one thread");
    add<kept_beside_a_new_object>(
        to, "kept beside a new object", 2,
        "what a shard notes of its places is left alone by who destroys, and the other way round");
    add<offered_groups_have_one_owner<recycling_scene>>(to, "kept for other threads", 3, "the same");
    add<shrinking_beside_emplace<recycling_scene>>(to, "kept objects destroyed beside emplace", 2,
                                                   "what is destroyed is nobody's");
    add<kept_by_a_batch_that_failed>(to, "kept by a batch that failed", 3, "the same");
}

} // namespace handlepool::model
