// SPDX-License-Identifier: MIT

// Removals that overflow their queues, sweeps, and more than one who compacts.

#include "models.hpp"
#include "pool_scene.hpp"
#include "scene_without_records.hpp"
#include "turns.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace handlepool::model {
namespace {

/// A queue for one removal, and two that come while compaction runs: the second may overflow it, or come
/// late, behind the sweep that has found its object.
class overflow_and_sweep : public pool_scene<> {
public:
    overflow_and_sweep()
        : pool_scene(tiny_options(2, 1)), victims_{objects.emplace(1U), objects.emplace(2U)} {
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
            objects.compact();
        } else {
            for (const auto victim : victims_) {
                require(objects.erase(victim), "a full queue refuses no erase");
            }
        }
    }
    void check() override { require_consistent(objects, 0); }

private:
    std::array<handle_type, 2> victims_;
};

/// A newborn that is swept: its maker's queue is full when it is erased.
class sweep_of_a_newborn : public scene_with_an_old_object {
public:
    sweep_of_a_newborn() : scene_with_an_old_object(tiny_options(2, 1)) {}

    void run(unsigned index) override {
        if (index == 0) {
            objects.erase(old_);
            objects.erase(objects.emplace(2U));
        } else {
            objects.compact();
        }
    }
    void check() override { require_consistent(objects, 0); }
};

/// An object, and behind it one that a sweep has to find, and maybe a third. The first is erased beside two
/// compactions.
class object_before_a_sweep : public scene_without_records<> {
public:
    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
            use_slot();
            objects.compact();
        } else {
            require(objects.erase(victim_), "a living object can be erased");
        }
    }

protected:
    explicit object_before_a_sweep(std::size_t size) : scene_without_records(size) {
        victim_ = objects.emplace(1U);
        const auto dead = objects.emplace(2U);
        if (size == 3) {
            other_ = objects.emplace(3U);
        }
        objects.compact();
        erase_without_record(dead);
    }

    virtual void use_slot() {} ///< the victim's, if that is free

    handle_type victim_, other_;
};

/// A record that comes after the sweep that has found its object, whose slot may live again by then.
class late_record : public object_before_a_sweep {
public:
    late_record() : object_before_a_sweep(2) {}

    void use_slot() override { next_ = objects.emplace(2U); }
    void check() override { require_consistent(objects, {{next_, 2}}); }

private:
    handle_type next_;
};

/// The same, when the slot is free, and what was behind the object has moved into its place.
class late_record_of_a_free_slot : public object_before_a_sweep {
public:
    late_record_of_a_free_slot() : object_before_a_sweep(3) {}

    void check() override { require_consistent(objects, {{other_, 3}}); }
};

/// The same, when the slot is reserved for an object that comes later.
class late_record_of_a_reserved_slot : public object_before_a_sweep {
public:
    late_record_of_a_reserved_slot() : object_before_a_sweep(2) {}

    void run(unsigned index) override {
        object_before_a_sweep::run(index);
        if (index == 0) {
            objects.fulfill(next_, 2U);
        }
    }
    void use_slot() override { next_ = objects.reserve_handle(); }
    void check() override { require_consistent(objects, {{next_, 2}}); }

private:
    handle_type next_;
};

/// What gives a compaction work: an erase with a record, one without, a constructor that leaves places
/// behind.
enum class work : std::uint8_t { recorded_erase, swept_erase, throwing_constructor };

/// A thread does that, and another asks behind it whether there is something to do.
template <work Work>
class idleness : public scene_without_records<nested_throwing> {
public:
    idleness() : scene_without_records(3), old_(objects.emplace(1U)) { objects.compact(); }

    void run(unsigned index) override {
        if (index == 1) {
            turn_.await(1);
            require(!objects.idle(), "a pool with something to do is not idle");
            return;
        }
        if (Work == work::throwing_constructor) {
            try {
                objects.emplace(objects, 1);
            } catch (const std::runtime_error&) {
            }
        } else if (Work == work::recorded_erase) {
            objects.erase(old_);
        } else {
            erase_without_record(old_);
        }
        turn_.pass_to(1);
    }
    void check() override {
        objects.erase(old_);
        require_consistent(objects, 0);
    }

private:
    handle_type old_;
    turns turn_;
};

/// Two threads raise the demand for a sweep, a third consumes it: both erases must be seen.
class demands_of_two_threads : public scene_without_records<> {
public:
    demands_of_two_threads() : scene_without_records(2), victims_{objects.emplace(1U), objects.emplace(2U)} {
        objects.compact();
    }

    void run(unsigned index) override {
        if (index == 2) {
            objects.compact();
        } else {
            require(erase_without_record(victims_.at(index)), "a living object can be erased");
        }
    }
    void check() override { require_consistent(objects, 0); }

private:
    std::array<handle_type, 2> victims_;
};

/// Two threads compact at their leisure, and are told when it is not their turn.
class compactions_at_leisure : public pool_scene<> {
public:
    compactions_at_leisure() : pool_scene(tiny_options(2)), old_(objects.emplace(1U)) {}

    void run(unsigned index) override {
        if (index == 0) {
            objects.erase(old_);
        }
        objects.try_compact();
    }
    void check() override { require_consistent(objects, 0); }

private:
    handle_type old_;
};

} // namespace

void add_compaction_models(std::vector<model_entry>& to) {
    add<overflow_and_sweep>(to, "overflow and sweep", 2,
                            "a full queue loses no removal; nothing is destroyed twice");
    add<sweep_of_a_newborn>(to, "sweep of a newborn", 2, "the same, in the nursery");
    add<late_record>(to, "late record", 2, "a record that comes behind a sweep buries nobody else");
    add<late_record_of_a_free_slot>(to, "late record of a free slot", 2,
                                    "the same, when another object has moved into its place");
    add<late_record_of_a_reserved_slot>(to, "late record of a reserved slot", 2,
                                        "the same, when its next object is still to come");
    add<idleness<work::recorded_erase>>(to, "idleness, recorded erase", 2,
                                        "a pool with something to do is not idle");
    add<idleness<work::swept_erase>>(to, "idleness, swept erase", 2, "the same");
    add<idleness<work::throwing_constructor>>(to, "idleness, throwing constructor", 2, "the same");
    add<demands_of_two_threads>(to, "demands of two threads", 3,
                                "a sweep sees all erases that have asked for one");
    add<compactions_at_leisure>(to, "compactions at leisure", 2, "one compaction at a time; none is lost");
}

} // namespace handlepool::model
