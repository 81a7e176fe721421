// SPDX-License-Identifier: MIT

// Objects that are taken out while others erase, compact and sweep.

#include "mailbox.hpp"
#include "models.hpp"
#include "pool_scene.hpp"
#include "scene_without_records.hpp"

#include <cstdint>

namespace handlepool::model {
namespace {

/// Counts what a sink gets, and looks at it.
struct delivery {
    void operator()(payload&& object) const {
        require(object.value == number, "a sink gets the object that was taken, whole");
        ++*count;
    }
    std::uint32_t number;
    int* count;
};

/// A thread makes an object, another takes it, a third compacts.
class newborn_taken_by_another : public pool_scene<> {
public:
    newborn_taken_by_another() : pool_scene(tiny_options(1)) {}

    void run(unsigned index) override {
        if (index == 0) {
            told_.put(objects.emplace(7U));
        } else if (index == 1) {
            taken_ = objects.extract(told_.await(), delivery{7, &delivered_});
        } else {
            objects.compact();
        }
    }
    void check() override {
        if (taken_) {
            require_consistent(objects, 0);
        } else {
            require_consistent(objects, {{told_.look(), 7}});
        }
        require(delivered_ == (taken_ ? 1 : 0), "what is taken is delivered once");
    }

private:
    mailbox<handle_type> told_;
    bool taken_ = false;
    int delivered_ = 0;
};

/// An object is taken while a compaction sweeps, because another was erased without a record.
class extract_during_a_sweep : public scene_without_records<> {
public:
    extract_during_a_sweep() : scene_without_records(2), victim_(objects.emplace(7U)) {
        const auto dead = objects.emplace(8U);
        objects.compact();
        erase_without_record(dead);
    }

    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
        } else {
            require(objects.extract(victim_, delivery{7, &delivered_}), "a living object can be taken");
        }
    }
    void check() override {
        require_consistent(objects, 0);
        require(delivered_ == 1, "what is taken is delivered once, and no sweep destroys it");
    }

private:
    handle_type victim_;
    int delivered_ = 0;
};

/// Of a thread that takes an object and one that erases it without a record, one wins; a compaction may see
/// neither decided.
class extract_against_erase : public scene_without_records<> {
public:
    extract_against_erase() : scene_without_records(1), victim_(objects.emplace(7U)) { objects.compact(); }

    void run(unsigned index) override {
        if (index == 0) {
            objects.compact();
        } else if (index == 1) {
            taken_ = objects.extract(victim_, delivery{7, &delivered_});
        } else {
            erased_ = erase_without_record(victim_);
        }
    }
    void check() override {
        require(taken_ != erased_, "one of all that end an object wins");
        require_consistent(objects, 0);
        require(delivered_ == (taken_ ? 1 : 0), "what is taken is delivered once");
    }

private:
    handle_type victim_;
    bool taken_ = false;
    bool erased_ = false;
    int delivered_ = 0;
};

/// Two threads take two objects, and one of them both.
class extractions_of_two_threads : public pool_scene<> {
public:
    extractions_of_two_threads()
        : pool_scene(tiny_options(2)), first_(objects.emplace(7U)), second_(objects.emplace(7U)) {}

    void run(unsigned index) override {
        if (index == 2) {
            objects.compact();
            return;
        }
        taken_[index] += objects.extract(first_, delivery{7, &delivered_}) ? 1 : 0;
        if (index == 1) {
            taken_[index] += objects.extract(second_, delivery{7, &delivered_}) ? 1 : 0;
        }
    }
    void check() override {
        require(taken_[0] + taken_[1] == 2, "each object is taken once");
        require_consistent(objects, 0);
        require(delivered_ == 2, "what is taken is delivered once");
    }

private:
    handle_type first_, second_;
    int taken_[2] = {};
    int delivered_ = 0;
};

} // namespace

void add_extract_models(std::vector<model_entry>& to) {
    add<newborn_taken_by_another>(to, "newborn taken by another", 3,
                                  "a newborn is delivered once, and seen complete by the sink");
    add<extract_during_a_sweep>(to, "extract during a sweep", 2,
                                "a sweep leaves to its sink what is being taken");
    add<extract_against_erase>(to, "extract against erase", 3,
                               "one wins; what loses its record to it is swept later");
    add<extractions_of_two_threads>(to, "extractions of two threads", 3,
                                    "none is lost, none is delivered twice");
}

} // namespace handlepool::model
