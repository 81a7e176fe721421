// SPDX-License-Identifier: MIT

// What is recorded of lives, while compaction moves it.

#include "model_policy.hpp"
#include "models.hpp"

#include <handlepool/detail/recorder/life_recorder.hpp>

#include <vector>

namespace handlepool::model {
namespace {

using namespace detail;

constexpr slot_index slot{0};
constexpr slot_index other_slot{1};

/// The end of a life is written in place of the one before, while another thread asks for it.
class end_that_is_written : public model {
public:
    void run(unsigned index) override {
        if (index == 0) {
            lives_.ended(slot, 1, life_event::erased, caller{5});
            lives_.ended(slot, 3, life_event::erased, caller{2});
        } else if (lives_.has_end(slot, 3)) {
            require(lives_.end(slot, 3, false)->who == caller{2}, "an end that is there is whole");
        }
    }
    void check() override { require(lives_.has_end(slot, 3), "it was written"); }

private:
    life_recorder<model_policy> lives_{"recorder", 1, 1, 1, 1, 0};
};

/// The life of a slot has ended, and its end waits for compaction, which takes it over while another thread
/// asks for it.
class end_that_is_taken_over : public model {
public:
    end_that_is_taken_over() { lives_.ended_in_queue(0, slot, 3, life_event::erased, caller{2}); }

    void run(unsigned index) override {
        if (index == 0) {
            lives_.take_over(0, 1);
        } else {
            const auto end = lives_.end(slot, 3, true);
            require(end.has_value(), "an end that was there is found while it is taken over");
            require(end->who == caller{2}, "it is whole");
        }
    }
    void check() override { require(lives_.has_end(slot, 3), "it was taken over"); }

private:
    life_recorder<model_policy> lives_{"recorder", 1, 1, 1, 1, 0};
};

/// The same, and the next removal at its place is that of another slot whose life has the same generation.
class end_whose_place_is_used_again : public model {
public:
    end_whose_place_is_used_again() { lives_.ended_in_queue(0, slot, 3, life_event::erased, caller{2}); }

    void run(unsigned index) override {
        if (index == 0) {
            lives_.take_over(0, 1);
            lives_.ended_in_queue(0, other_slot, 3, life_event::erased, caller{5});
        } else {
            const auto end = lives_.end(slot, 3, true);
            require(end.has_value() && end->who == caller{2},
                    "an end is not that of the removal that came next");
            const auto other = lives_.end(other_slot, 3, true);
            require(!other || other->who == caller{5}, "and that is whole");
        }
    }
    void check() override { require(lives_.end(other_slot, 3, true).has_value(), "the other end waits"); }

private:
    life_recorder<model_policy> lives_{"recorder", 2, 2, 1, 1, 0};
};

} // namespace

void add_recorder_models(std::vector<model_entry>& to) {
    add<end_that_is_written>(to, "written end", 2, "the end of a life is seen whole, or not at all");
    add<end_that_is_taken_over>(to, "waiting end", 2, "an end is known while compaction takes it over");
    add<end_whose_place_is_used_again>(to, "waiting end whose place is used again", 2,
                                       "an end is not taken for that of the removal that came to its place");
}

} // namespace handlepool::model
