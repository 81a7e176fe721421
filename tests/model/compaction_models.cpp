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
class sweep_of_a_newborn : public pool_scene<> {
public:
    sweep_of_a_newborn() : pool_scene(tiny_options(2, 1)), old_(objects.emplace(1U)) { objects.compact(); }

    void run(unsigned index) override {
        if (index == 0) {
            objects.erase(old_);
            objects.erase(objects.emplace(2U));
        } else {
            objects.compact();
        }
    }
    void check() override { require_consistent(objects, 0); }

private:
    handle_type old_;
};

/// An object, and behind it one that a sweep has to find, and maybe a third.
class object_before_a_sweep : public scene_without_records<> {
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

    handle_type victim_;
    handle_type other_;
};

/// A record that comes after the sweep that has found its object, whose slot may live again by then.
class late_record : public object_before_a_sweep {
public:
    late_record() : object_before_a_sweep(2) {}

    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
            next_ = objects.emplace(2U); // in the victim's slot, if that is free
            objects.compact();
        } else {
            require(objects.erase(victim_), "a living object can be erased");
        }
    }
    void check() override { require_consistent(objects, {{next_, 2}}); }

private:
    handle_type next_;
};

/// The same, when the slot is free, and what was behind the object has moved into its place.
class late_record_of_a_free_slot : public object_before_a_sweep {
public:
    late_record_of_a_free_slot() : object_before_a_sweep(3) {}

    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
            objects.compact();
        } else {
            require(objects.erase(victim_), "a living object can be erased");
        }
    }
    void check() override { require_consistent(objects, {{other_, 3}}); }
};

/// The same, when the slot is reserved for an object that comes later.
class late_record_of_a_reserved_slot : public object_before_a_sweep {
public:
    late_record_of_a_reserved_slot() : object_before_a_sweep(2) {}

    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
            next_ = objects.reserve_handle(); // in the victim's slot, if that is free
            objects.compact();
            objects.fulfill(next_, 2U);
        } else {
            require(objects.erase(victim_), "a living object can be erased");
        }
    }
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
    to.push_back(entry<overflow_and_sweep>("overflow and sweep", 2,
                                           "a full queue loses no removal; nothing is destroyed twice"));
    to.push_back(entry<sweep_of_a_newborn>("sweep of a newborn", 2, "the same, in the nursery"));
    to.push_back(
        entry<late_record>("late record", 2, "a record that comes behind a sweep buries nobody else"));
    to.push_back(entry<late_record_of_a_free_slot>("late record of a free slot", 2,
                                                   "the same, when another object has moved into its place"));
    to.push_back(entry<late_record_of_a_reserved_slot>("late record of a reserved slot", 2,
                                                       "the same, when its next object is still to come"));
    to.push_back(entry<idleness<work::recorded_erase>>("idleness, recorded erase", 2,
                                                       "a pool with something to do is not idle"));
    to.push_back(entry<idleness<work::swept_erase>>("idleness, swept erase", 2, "the same"));
    to.push_back(
        entry<idleness<work::throwing_constructor>>("idleness, throwing constructor", 2, "the same"));
    to.push_back(entry<demands_of_two_threads>("demands of two threads", 3,
                                               "a sweep sees all erases that have asked for one"));
    to.push_back(
        entry<compactions_at_leisure>("compactions at leisure", 2, "one compaction at a time; none is lost"));
}

} // namespace handlepool::model
