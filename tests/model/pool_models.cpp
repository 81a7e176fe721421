// SPDX-License-Identifier: MIT

// The whole pool: handles that are made, looked up and erased while other threads do the same, or compact.

#include "mailbox.hpp"
#include "models.hpp"
#include "pool_scene.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace handlepool::model {
namespace {

/// One thread creates, another looks the object up as soon as it hears of it.
class publication : public pool_scene<> {
public:
    publication() : pool_scene(tiny_options(1)) {}

    void run(unsigned index) override {
        if (index == 0) {
            told_.put(objects.emplace(7U));
        } else if (const payload* const found = objects.find(told_.await())) {
            require(found->value == 7, "an object that is found is complete");
        }
    }
    void check() override { require_consistent(objects, {{told_.look(), 7}}); }

protected:
    mailbox<handle_type> told_;
};

/// The same, when the other asks whether it lives, and then uses it without a look.
class liveness : public publication {
public:
    void run(unsigned index) override {
        if (index == 0) {
            publication::run(0);
        } else if (const auto handle = told_.await(); objects.contains(handle)) {
            require(objects[handle].value == 7, "an object that is known to live is complete");
            require(objects.size() == 1, "an object that is known to live is counted");
        }
    }
};

/// All threads erase the same object.
class racing_erases : public pool_scene<> {
public:
    racing_erases() : pool_scene(tiny_options(1)), victim_(objects.emplace(1U)) {}

    void run(unsigned) override {
        winners_ += objects.erase(victim_) ? 1 : 0;
        require(!objects.contains(victim_), "what was erased is stale");
    }
    void check() override {
        require(winners_ == 1, "exactly one of racing erases wins");
        require_consistent(objects, 0);
    }

private:
    handle_type victim_;
    int winners_ = 0;
};

/// Two objects of the dense store, the first of which is erased: the next compaction moves the other into its
/// place.
class object_beside_a_hole : public pool_scene<> {
protected:
    object_beside_a_hole() : pool_scene(tiny_options(2)) {
        const auto first = objects.emplace(1U);
        survivor_ = objects.emplace(2U);
        objects.compact();
        objects.erase(first);
    }

    handle_type survivor_;
};

/// Compaction moves an object into a hole while another thread erases it.
class erase_of_a_moving_object : public object_beside_a_hole {
public:
    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
        } else {
            require(objects.erase(survivor_), "a living object can be erased");
            require(!objects.contains(survivor_), "what was erased is stale");
        }
    }
    void check() override { require_consistent(objects, 0); }
};

/// What was erased before is stale in every thread that hears of it.
class stale_everywhere : public object_beside_a_hole {
public:
    void run(unsigned index) override {
        if (index == 0) {
            require(objects.erase(survivor_), "a living object can be erased");
            done_.store(1, std::memory_order::release);
        } else if (index == 1) {
            if (done_.load(std::memory_order::acquire) != 0) {
                require(!objects.contains(survivor_) && !objects.erase(survivor_) &&
                            objects.find(survivor_) == nullptr,
                        "what was erased before is stale in every thread");
            }
        } else {
            objects.compact(); // moves the victim
        }
    }
    void check() override { require_consistent(objects, 0); }

private:
    model_atomic<std::uint32_t> done_;
};

/// One thread makes objects while another compacts.
class emplace_during_compaction : public pool_scene<> {
public:
    emplace_during_compaction() : pool_scene(tiny_options(2)) {}

    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
            require(objects.items().size() <= 2, "compaction takes complete objects alone");
            for (const payload& each : objects.items()) {
                require(each.value >= 1, "compaction takes complete objects alone");
            }
        } else {
            for (std::uint32_t number = 0; number != 2; ++number) {
                made_.at(number) = objects.emplace(number + 1);
                require(objects.contains(made_.at(number)), "what was created lives");
            }
        }
    }
    void check() override { require_consistent(objects, {{made_[0], 1}, {made_[1], 2}}); }

private:
    std::array<handle_type, 2> made_;
};

/// One thread makes an object, another erases it as soon as it hears of it, a third compacts: the newborn
/// dies before, during or after its first compaction.
class newborn_erased_by_another : public pool_scene<> {
public:
    newborn_erased_by_another() : pool_scene(tiny_options(1)) {}

    void run(unsigned index) override {
        if (index == 0) {
            told_.put(objects.emplace(7U));
        } else if (index == 1) {
            erased_ = objects.erase(told_.await());
        } else {
            objects.compact();
        }
    }
    void check() override {
        if (erased_) {
            require_consistent(objects, 0);
        } else {
            require_consistent(objects, {{told_.look(), 7}});
        }
    }

private:
    mailbox<handle_type> told_;
    bool erased_ = false;
};

/// The same with one thread that creates and erases, and two compactions: so small that all can be tried.
class newborn_erased_by_its_maker : public pool_scene<> {
public:
    newborn_erased_by_its_maker() : pool_scene(tiny_options(1)) {}

    void run(unsigned index) override {
        if (index == 0) {
            require(objects.erase(objects.emplace(7U)), "what was created can be erased");
        } else {
            objects.compact();
            objects.compact();
        }
    }
    void check() override { require_consistent(objects, 0); }
};

/// A slot goes through another life while an old handle of it is used.
class reused_slot : public scene_with_an_old_object {
public:
    void run(unsigned index) override {
        if (index == 0) {
            objects.erase(old_);
            objects.compact();
            next_ = objects.emplace(2U);
            require(next_.index() == old_.index() && next_ != old_,
                    "the slot is used again, for another handle");
        } else {
            const bool lived = objects.contains(old_);
            require(!objects.contains(old_) || lived, "what was stale stays stale");
        }
    }
    void check() override {
        require(!objects.contains(old_) && !objects.erase(old_),
                "an old handle does nothing to the slot's next object");
        require_consistent(objects, {{next_, 2}});
    }

private:
    handle_type next_;
};

/// A slot's third life begins while the handle of its first is used.
class third_life_of_a_slot : public pool_scene<> {
public:
    third_life_of_a_slot() : pool_scene(tiny_options(1)), first_(objects.emplace(1U)) {
        objects.erase(first_);
        objects.compact();
        second_ = objects.emplace(2U);
    }

    void run(unsigned index) override {
        if (index == 0) {
            objects.erase(second_);
            objects.compact();
            third_ = objects.emplace(3U);
        } else {
            require(!objects.contains(first_) && !objects.erase(first_),
                    "a handle of a former life stays stale");
        }
    }
    void check() override {
        require(third_.index() == first_.index() && third_ != second_ && third_ != first_,
                "the slot is used again, for another handle");
        require_consistent(objects, {{third_, 3}});
    }

private:
    handle_type first_, second_, third_;
};

/// The handle of a position is asked for while its object is erased.
class handle_at_an_erased_object : public scene_with_an_old_object {
public:
    void run(unsigned index) override {
        if (index == 0) {
            objects.erase(old_);
            objects.compact();
        } else {
            const auto guard = objects.access();
            if (objects.items().size() == 1) {
                require(objects.handle_at(0) == old_, "a position has its object's handle, erased or not");
            }
        }
    }
    void check() override { require_consistent(objects, 0); }
};

/// A newborn is erased while a compaction comes to it; another one lies behind it.
class newborn_behind_an_erased_one : public pool_scene<> {
public:
    newborn_behind_an_erased_one()
        : pool_scene(tiny_options(2)), first_(objects.emplace(1U)), last_(objects.emplace(2U)) {}

    void run(unsigned index) override {
        if (index == 0) {
            objects.erase(first_);
        } else {
            objects.compact();
            bool there = false;
            for (std::size_t i = 0; i != objects.items().size(); ++i) {
                there = there || objects.handle_at(i) == last_;
            }
            require(there, "a compaction takes what was created before it");
        }
    }
    void check() override { require_consistent(objects, {{last_, 2}}); }

private:
    handle_type first_, last_;
};

/// An old handle is looked up under a guard while its slot goes through another life.
class look_up_of_a_reused_slot : public scene_with_an_old_object {
public:
    void run(unsigned index) override {
        if (index == 0) {
            objects.erase(old_);
            objects.compact();
            next_ = objects.emplace(2U);
            objects.compact();
        } else {
            const auto guard = objects.access();
            if (const payload* const found = objects.find(old_)) {
                require(found->value == 1, "a handle resolves to its own object or to nothing");
            }
        }
    }
    void check() override { require_consistent(objects, {{next_, 2}}); }

private:
    handle_type next_;
};

/// Two threads erase the same object, one of which makes the slot's next one behind it.
class erase_of_an_old_handle : public scene_with_an_old_object {
public:
    void run(unsigned index) override {
        const bool won = objects.erase(old_);
        winners_ += won ? 1 : 0;
        if (index == 0) {
            objects.compact();
            next_ = objects.try_emplace(2U);
        }
    }
    void check() override {
        require(winners_ == 1, "exactly one of racing erases wins");
        if (next_) {
            require_consistent(objects, {{next_, 2}});
        } else {
            require_consistent(objects, 0);
        }
    }

private:
    handle_type next_;
    int winners_ = 0;
};

/// An object whose constructor makes another one in the same pool.
struct nesting : payload {
    explicit nesting(std::uint32_t number) noexcept : payload(number) {}
    template <class Pool>
    explicit nesting(Pool& inside) : payload(1) {
        inside.emplace(std::uint32_t{2});
        value = 3;
    }
};

class reentrant_constructor : public pool_scene<nesting> {
public:
    reentrant_constructor() : pool_scene(tiny_options(2)) {}

    void run(unsigned index) override {
        if (index == 0) {
            outer_ = objects.emplace(objects);
        } else {
            objects.compact();
            for (const nesting& each : objects.items()) {
                require(each.value != 1, "compaction takes complete objects alone");
            }
        }
    }
    void check() override {
        require_consistent(objects, 2);
        require(objects.find(outer_)->value == 3, "each object is found by its own handle");
    }

private:
    handle_type outer_;
};

/// An object whose constructor makes another one, writes, and throws.
struct throwing : payload {
    explicit throwing(std::uint32_t number) noexcept : payload(number) {}
    template <class Pool>
    explicit throwing(Pool& inside) : payload(1) {
        inside.emplace(std::uint32_t{2});
        value = 4;
        throw std::runtime_error("thrown by a constructor");
    }
};

class throwing_constructor : public pool_scene<throwing> {
public:
    throwing_constructor() : pool_scene(tiny_options(2)) {}

    void run(unsigned index) override {
        if (index == 0) {
            try {
                objects.emplace(objects);
                require(false, "what a constructor throws is passed on");
            } catch (const std::runtime_error&) {
            }
            next_ = objects.emplace(std::uint32_t{3});
        } else {
            objects.compact();
            for (const throwing& each : objects.items()) {
                require(each.value == 2 || each.value == 3, "what was not made is not there");
            }
        }
    }
    void check() override {
        require_consistent(objects, 2);
        require(objects.find(next_)->value == 3, "each object is found by its own handle");
    }

private:
    handle_type next_;
};

/// A guard's holder reads an object that the compaction wants to move.
class guarded_reader : public object_beside_a_hole {
public:
    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
        } else {
            const auto guard = objects.access();
            const payload* const found = objects.find(survivor_);
            require(found != nullptr && found->value == 2, "an object stays where it is under a guard");
            for (const payload& each : objects.items()) {
                require(each.value != 0, "the dense store holds living objects");
            }
        }
    }
    void check() override { require_consistent(objects, {{survivor_, 2}}); }
};

} // namespace

void add_pool_models(std::vector<model_entry>& to) {
    add<publication>(to, "publication", 2, "find sees a complete object");
    add<liveness>(to, "liveness", 2, "who knows that an object lives sees it complete, and counted");
    add<racing_erases>(to, "racing erases", 3, "exactly one of racing erases wins");
    add<erase_of_a_moving_object>(to, "erase of a moving object", 2,
                                  "an erase during a move counts; each object is destroyed once");
    add<stale_everywhere>(to, "stale everywhere", 3, "what was erased before is stale in every thread");
    add<emplace_during_compaction>(to, "emplace during compaction", 2,
                                   "compaction takes complete objects alone, and loses none");
    add<newborn_erased_by_another>(to, "newborn erased by another", 3,
                                   "a newborn is destroyed once, and seen complete by who does it");
    add<newborn_erased_by_its_maker>(to, "newborn erased by its maker", 2,
                                     "a newborn that dies before or during its first compaction");
    add<reused_slot>(to, "reused slot", 2, "what was stale stays stale in the slot's next life");
    add<third_life_of_a_slot>(to, "third life of a slot", 2,
                              "no handle is given out twice, nor revived by a later life");
    add<handle_at_an_erased_object>(to, "handle at an erased object", 2,
                                    "a position has its object's handle, erased or not");
    add<newborn_behind_an_erased_one>(to, "newborn behind an erased one", 2,
                                      "an erased newborn keeps none behind it from the dense store");
    add<look_up_of_a_reused_slot>(to, "look-up of a reused slot", 2,
                                  "a handle resolves to its own object or to nothing");
    add<erase_of_an_old_handle>(to, "erase of an old handle", 2,
                                "an erase never hits the slot's next object");
    add<reentrant_constructor>(to, "re-entrant constructor", 2,
                               "an object in construction is not taken for a newborn");
    add<throwing_constructor>(to, "throwing constructor", 2, "a constructor that throws leaves nothing");
    add<guarded_reader>(to, "guarded reader", 2, "objects stay where they are under a guard");
}

} // namespace handlepool::model
