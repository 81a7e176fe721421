// SPDX-License-Identifier: MIT

// Pools, containers and a program's own state, captured and restored together.

#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/time/world.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct vessel {
    handle<vessel> leader;
    std::uint64_t position = 0;
};
struct missile {
    handle<vessel> from;
};

/// Fails when it is told to.
class reluctant_participant : public world_participant {
public:
    void capture(std::uint64_t frame) override {
        if (std::exchange(fails, false)) {
            throw std::runtime_error("not now");
        }
        calls.push_back("capture " + std::to_string(frame));
    }
    void drop_newest() noexcept override { calls.push_back("drop"); }
    void restore(std::uint64_t frame) override {
        if (std::exchange(fails, false)) {
            throw std::runtime_error("not now");
        }
        calls.push_back("restore " + std::to_string(frame));
    }
    void confirm(std::uint64_t frame) noexcept override {
        calls.push_back("confirm " + std::to_string(frame));
    }

    bool fails = false;
    std::vector<std::string> calls;
};

class world_test : public testing::Test {
protected:
    world_test() {
        damaged_.attach(vessels_);
        names_.attach(vessels_);
        fleet_.attach(vessels_);
        world_.add(random_); // before the pools, and yet after them
        world_.add(damaged_);
        world_.add(names_);
        world_.add(fleet_);
        world_.add(log_book_);
        world_.add(past_of_vessels_);
        world_.add(past_of_missiles_);
    }

    /// All of it, for comparisons.
    struct picture {
        std::vector<std::pair<handle<vessel>, std::uint64_t>> vessels;
        std::vector<std::pair<handle<missile>, handle<vessel>>> missiles;
        std::vector<handle<vessel>> damaged;
        std::vector<std::pair<handle<vessel>, std::string>> names;
        std::vector<handle<vessel>> fleet;
        std::vector<std::string> log_book;
        std::minstd_rand random;
        friend bool operator==(const picture&, const picture&) = default;
    };
    picture now() const {
        picture seen;
        for (const auto& [handle, each] : vessels_.entries()) {
            seen.vessels.emplace_back(handle, each.position);
        }
        for (const auto& [handle, each] : missiles_.entries()) {
            seen.missiles.emplace_back(handle, each.from);
        }
        seen.damaged.assign(damaged_.begin(), damaged_.end());
        for (std::size_t i = 0; i != names_.size(); ++i) {
            seen.names.emplace_back(names_.handles()[i], names_.values()[i]);
        }
        seen.fleet.assign(fleet_.handles().begin(), fleet_.handles().end());
        seen.log_book = log_book_;
        seen.random = random_;
        return seen;
    }

    /// A frame that follows from all there is.
    void play() {
        for (int i = 0; i != 5; ++i) {
            const handle<vessel> made = vessels_.emplace(last_in(vessels_), random_());
            damaged_.insert(made);
            names_.try_emplace(made, std::to_string(random_()));
            fleet_.insert(made);
            missiles_.emplace(made);
            log_book_.push_back("made " + std::to_string(made.index()));
        }
        for (int i = 0; i != 3 && !vessels_.empty(); ++i) {
            const handle<vessel> ended = damaged_.handles()[random_() % damaged_.size()];
            vessels_.erase(ended);
            damaged_.erase(ended);
        }
        if (!vessels_.items().empty()) {
            ++log_of_vessels_.edit(vessels_.handle_at(0))->position;
        }
    }
    template <class Pool>
    static typename Pool::handle_type last_in(const Pool& pool) {
        return pool.items().empty() ? typename Pool::handle_type() : pool.handle_at(pool.items().size() - 1);
    }

    pool<vessel> vessels_{{.name = "vessels", .capacity = 500}};
    pool<missile> missiles_{{.name = "missiles", .capacity = 500}};
    change_log<pool<vessel>> log_of_vessels_{vessels_};
    change_log<pool<missile>> log_of_missiles_{missiles_};
    capture_ring<pool<vessel>> past_of_vessels_{log_of_vessels_, {.frames = 5}};
    capture_ring<pool<missile>> past_of_missiles_{log_of_missiles_, {.frames = 6}};
    handle_set<vessel> damaged_;
    handle_map<vessel, std::string> names_;
    hierarchy<vessel> fleet_;
    std::vector<std::string> log_book_;
    std::minstd_rand random_{7};
    world world_{{.frames = 4}};
};

TEST_F(world_test, goes_back_as_a_whole_and_on_as_it_did) {
    std::vector<picture> pictures;
    for (std::uint64_t frame = 0; frame != 30; ++frame) {
        play();
        world_.capture(frame);
        pictures.push_back(now());
        if (frame % 5 == 4) {
            play(); // which is undone too
            const std::uint64_t back = frame - frame % 4;
            world_.restore(back);
            EXPECT_EQ(now(), pictures[back]);
            EXPECT_TRUE(damaged_.attached());
            EXPECT_TRUE(names_.attached());
            EXPECT_TRUE(fleet_.attached());
            for (std::uint64_t again = back + 1; again <= frame; ++again) {
                play();
                world_.capture(again);
                EXPECT_EQ(now(), pictures[again]) << again;
            }
        }
    }
    EXPECT_THAT(world_.frames(), ElementsAre(26, 27, 28, 29));
    world_.confirm(28);
    EXPECT_THAT(world_.frames(), ElementsAre(28, 29));
    world_.restore(28);
    EXPECT_EQ(now(), pictures[28]);
}

TEST_F(world_test, a_capture_that_fails_is_none_of_any_participant) {
    reluctant_participant last;
    world_.add(last);
    play();
    world_.capture(1);
    const picture first = now();
    play();
    last.fails = true;
    EXPECT_EQ(message_of<std::runtime_error>([&] { world_.capture(2); }), "not now");
    EXPECT_THAT(world_.frames(), ElementsAre(1));
    EXPECT_EQ(past_of_vessels_.size(), 1U);
    world_.capture(2);
    const picture second = now();
    play();
    last.fails = true;
    EXPECT_EQ(message_of<std::runtime_error>([&] { world_.restore(1); }), "not now");
    world_.restore(1);
    EXPECT_EQ(now(), first);
    EXPECT_NE(first, second);
    world_.confirm(1);
    EXPECT_THAT(last.calls, ElementsAre("capture 1", "capture 2", "restore 1", "confirm 1"));
}

TEST_F(world_test, the_first_capture_can_fail_too) {
    reluctant_participant last;
    reluctant_participant before;
    world_.add(before);
    world_.add(last);
    last.fails = true;
    EXPECT_EQ(message_of<std::runtime_error>([&] { world_.capture(1); }), "not now");
    EXPECT_THAT(before.calls, ElementsAre("capture 1", "drop"));
    EXPECT_THAT(last.calls, IsEmpty());
    EXPECT_THAT(world_.frames(), IsEmpty());
    play();
    world_.capture(1);
    const picture first = now();
    play();
    world_.restore(1);
    EXPECT_EQ(now(), first);
}

TEST_F(world_test, has_no_frames_of_before_the_reset_of_a_pool) {
    play();
    world_.capture(1);
    play();
    world_.capture(2);
    vessels_.reset();
    world_.capture(3);
    EXPECT_EQ(world_.oldest(), 3U);
    EXPECT_EQ(world_.newest(), 3U);
    const picture then = now();
    play();
    world_.restore(3);
    EXPECT_EQ(now(), then);
}

// A later course of events may leave out numbers that an earlier one had.
TEST_F(world_test, takes_values_from_the_course_of_events_that_it_is_in) {
    for (std::uint64_t frame = 1; frame <= 4; ++frame) {
        play();
        world_.capture(frame);
    }
    world_.restore(1);
    play();
    world_.capture(3); // 2 and 4 are only in the former one
    const picture third = now();
    play();
    world_.restore(3);
    EXPECT_EQ(now(), third);
    play();
    world_.capture(6);
    const picture sixth = now();
    play();
    world_.capture(7);
    world_.confirm(6);
    play();
    world_.restore(6);
    EXPECT_EQ(now(), sixth);
    EXPECT_THAT(world_.frames(), ElementsAre(6));
}

TEST_F(world_test, refuses_what_it_can_not_do) {
    EXPECT_EQ(message_of<std::invalid_argument>([] { world({.frames = 0}); }),
              "world: frames is 0, and must be 1 to 65535");
    EXPECT_EQ(message_of<std::out_of_range>([&] { world_.restore(3); }),
              "world: frame 3 is not kept; none is");
    capture_ring<pool<vessel>> small(log_of_vessels_, {.frames = 4});
    EXPECT_EQ(
        message_of<std::invalid_argument>([&] { world_.add(small); }),
        "world: the ring of pool 'vessels' keeps 4 captures; it must keep more than the 4 of the world");
    capture_ring<pool<vessel>> used(log_of_vessels_, {.frames = 9});
    used.capture(1);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { world_.add(used); }),
              "world: the ring of pool 'vessels' has 1 captures; it must have none when it is added");
    world_.capture(3);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { world_.capture(3); }),
              "world: frame 3 can't be captured after frame 3; numbers ascend");
    EXPECT_EQ(message_of<std::out_of_range>([&] { world_.confirm(4); }),
              "world: frame 4 is not kept; the oldest is 3, the newest 3");
    int value = 0;
    EXPECT_EQ(message_of<std::logic_error>([&] { world_.add(value); }),
              "world: nothing can be added after a capture");
}

TEST_F(world_test, has_no_frames_after_the_one_that_a_restore_has_failed_at) {
    reluctant_participant reluctant;
    world_.add(reluctant);
    for (std::uint64_t frame = 1; frame <= 3; ++frame) {
        play();
        world_.capture(frame);
    }
    reluctant.fails = true;
    EXPECT_THROW(world_.restore(1), std::runtime_error);
    EXPECT_THAT(world_.frames(), ElementsAre(1U));
    EXPECT_THROW(world_.confirm(2), std::out_of_range);
    world_.restore(1);
    EXPECT_THAT(world_.frames(), ElementsAre(1U));
}

} // namespace
} // namespace handlepool::test
