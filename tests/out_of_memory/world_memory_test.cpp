// SPDX-License-Identifier: MIT

// A world whose allocations fail: a capture that fails is none, a restore that fails can be repeated. And
// frames that are captured again and again need no memory, containers included.

#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/time/world.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace property_literals;

class world_memory : public testing::TestWithParam<shortage> {};

struct captain {
    int rank = 0;
    property_bag sheet;
};

std::string long_name(int number) {
    return "a name that no small string holds: " + std::to_string(1000 + number);
}

/// Two pools and all that is attached to them.
class stage {
public:
    using handle_type = handle<captain>;

    stage() {
        chosen_.attach(captains_);
        names_.attach(captains_);
        ranks_.attach(captains_, [](const captain& each) { return long_name(each.rank % 5); });
        crews_.attach(captains_);
        details_.attach(captains_);
        game.add(past_of_captains_);
        game.add(past_of_ports_);
        game.add(chosen_);
        game.add(names_);
        game.add(ranks_);
        game.add(crews_);
        game.add(details_);
        game.add(log_book_);
        for (int i = 0; i != 30; ++i) {
            make(i);
        }
        game.capture(1);
    }

    void make(int number) {
        const handle_type made = captains_.emplace(number);
        handles_.push_back(made);
        chosen_.insert(made);
        names_.try_emplace(made, long_name(number));
        if (number % 10 == 0) {
            crews_.insert(made);
        } else {
            crews_.set_parent(made, handles_[0]);
        }
        details_.set(made, "name"_key, long_name(number));
        ports_.emplace(number);
    }
    /// Other values, and other objects.
    void play(int number) {
        edit(number);
        for (std::size_t i = 20; i != 25; ++i) {
            captains_.erase(handles_[i]);
        }
        for (int i = 0; i != 6; ++i) {
            make(number + i);
        }
        log_book_.push_back(long_name(number));
    }
    /// Other values of the same objects.
    void edit(int number) {
        for (std::size_t i = 1; i != 10; ++i) {
            captain* const found = log_of_captains_.edit(handles_[i]);
            found->rank = number;
            found->sheet.set("name"_key, long_name(number));
            *names_.find(handles_[i]) = long_name(number);
            ranks_.rekey(handles_[i], long_name(number % 7));
            details_.set(handles_[i], "name"_key, long_name(number));
        }
        chosen_.erase(handles_[static_cast<std::size_t>(number % 9)]);
        chosen_.insert(handles_[static_cast<std::size_t>(number % 9)]);
    }

    std::string all() const {
        std::string seen;
        const auto add = [&seen](const auto&... each) { ((seen += std::to_string(each) + ' '), ...); };
        for (const auto& [handle, each] : captains_.entries()) {
            add(handle.value(), each.rank);
            seen += each.sheet.value_or("name"_key, std::string_view());
        }
        for (const auto& [handle, each] : ports_.entries()) {
            add(handle.value(), each);
        }
        for (const handle_type each : chosen_) {
            add(each.value());
        }
        names_.for_each([&](handle_type each, const std::string& name) {
            add(each.value());
            seen += name;
        });
        for (const handle_type each : ranks_.handles()) {
            add(each.value());
            for (const handle_type other : ranks_.find_all(*ranks_.key_of(each))) {
                add(other.value());
            }
        }
        for (const handle_type each : crews_.handles()) {
            add(each.value(), crews_.parent(each).value(), *crews_.place(each));
        }
        details_.for_each([&](handle_type each, property_view bag) {
            add(each.value());
            seen += *bag.get<std::string_view>("name"_key);
        });
        for (const std::string& each : log_book_) {
            seen += each;
        }
        return seen;
    }
    void forget_after(std::size_t count) { handles_.resize(count); }
    std::size_t made() const { return handles_.size(); }
    bool are_attached() const {
        return chosen_.attached() && names_.attached() && ranks_.attached() && crews_.attached() &&
               details_.attached();
    }

private:
    pool<captain> captains_{{.name = "captains", .capacity = 100}};
    pool<int> ports_{{.name = "ports", .capacity = 100}};
    change_log<pool<captain>> log_of_captains_{captains_, {.frames = 4, .check_marks = false}};
    change_log<pool<int>> log_of_ports_{ports_, {.frames = 4, .check_marks = false}};
    capture_ring<pool<captain>> past_of_captains_{log_of_captains_, {.frames = 4}};
    capture_ring<pool<int>> past_of_ports_{log_of_ports_, {.frames = 4}};
    handle_set<captain> chosen_;
    handle_map<captain, std::string> names_;
    handle_index<captain, std::string> ranks_{duplicate_keys::allow};
    hierarchy<captain> crews_;
    property_store<captain> details_{{.slot_limit = 1024, .bytes = 1U << 20}};
    std::vector<std::string> log_book_;
    std::vector<handle_type> handles_;

public:
    world game{{.frames = 3}};
};

TEST_P(world_memory, a_capture_that_fails_leaves_all_as_it_was) {
    std::size_t failures = 0;
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        stage now;
        const std::string first = now.all();
        now.play(100);
        // Hooks give objects their keys, and go without where memory is short: not in the captures here.
        now.game.capture(2);
        now.edit(200);
        const std::string before = now.all();
        const bool failed = short_of.interrupts([&] { now.game.capture(3); });
        failures += failed ? 1U : 0U;
        EXPECT_EQ(now.all(), before);
        EXPECT_EQ(now.game.newest(), failed ? 2U : 3U);
        if (failed) {
            now.game.capture(3);
        }
        now.play(300);
        now.game.restore(3);
        EXPECT_EQ(now.all(), before);
        now.game.restore(1);
        EXPECT_EQ(now.all(), first);
    });
    EXPECT_GT(allocations, 50U);
    EXPECT_GT(failures, 50U);
}

TEST_P(world_memory, a_restore_that_fails_can_be_repeated) {
    std::size_t failures = 0;
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        stage now;
        const std::string first = now.all();
        const std::size_t made = now.made();
        now.play(100);
        now.game.capture(2);
        now.play(200);
        const bool failed = short_of.interrupts([&] { now.game.restore(1); });
        failures += failed ? 1U : 0U;
        if (failed) {
            now.game.restore(1);
        }
        EXPECT_EQ(now.game.newest(), 1U);
        EXPECT_EQ(now.all(), first);
        EXPECT_TRUE(now.are_attached());
        now.forget_after(made);
        now.play(100);
        now.game.capture(2);
        const std::string second = now.all();
        now.play(300);
        now.game.restore(2);
        EXPECT_EQ(now.all(), second);
    });
    EXPECT_GT(allocations, 50U);
    EXPECT_GT(failures, 10U);
}

/// Has nothing to take back, and refuses to as long as it wants.
class stubborn_participant : public world_participant {
public:
    void capture(std::uint64_t) override {}
    void drop_newest() noexcept override {}
    void restore(std::uint64_t) override {
        if (refuses) {
            throw std::runtime_error("not yet");
        }
    }
    void confirm(std::uint64_t) noexcept override {}

    bool refuses = false;
};

// Once because of a participant behind the pool, and then for want of memory.
TEST_P(world_memory, a_restore_that_fails_twice_tells_of_all_that_was_undone) {
    std::size_t failures = 0;
    with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        pool<int> numbers({.name = "numbers", .capacity = 100});
        change_log<pool<int>> log(numbers);
        capture_ring<pool<int>> ring(log, {.frames = 4});
        stubborn_participant behind;
        world game({.frames = 3});
        game.add(ring);
        game.add(behind);
        game.capture(1);
        const handle<int> first = numbers.emplace(1);
        game.capture(2);
        const handle<int> second = numbers.emplace(2);
        behind.refuses = true;
        EXPECT_THROW(game.restore(2), std::runtime_error);
        behind.refuses = false;
        if (short_of.interrupts([&] { game.restore(1); })) {
            ++failures;
            game.restore(1);
        }
        EXPECT_THAT(game.undone(ring), testing::UnorderedElementsAre(first, second));
    });
    EXPECT_GT(failures, 1U);
}

INSTANTIATE_TEST_SUITE_P(shortages, world_memory, both_shortages, name_of_shortage);

TEST(captures_of_worlds, need_no_memory_after_some_frames) {
    stage now;
    std::uint64_t frame = 1;
    for (int i = 0; i != 20; ++i) {
        now.edit(i);
        now.game.capture(++frame);
        if (i % 6 == 5) {
            now.game.restore(frame -= 2);
        }
    }
    for (int i = 100; i != 110; ++i) {
        now.edit(i);
        expect_no_allocation([&] { now.game.capture(++frame); });
    }
}

TEST(worlds_that_can_not_be_added_to, stay_as_they_were) {
    pool<int> ports({.name = "ports", .capacity = 100});
    change_log<pool<int>> log(ports);
    std::vector<int> value(10, 1);
    const std::size_t allocations =
        with_each_allocation_failing(shortage::of_one_allocation, [&](memory_shortage& short_of) {
            capture_ring<pool<int>> ring(log, {.frames = 9});
            world game;
            const bool failed = short_of.hits([&] {
                game.add(value);
                game.add(ring);
            });
            if (failed) { // what was not added can be
                for (int i = 0; i != 2; ++i) {
                    try {
                        i == 0 ? game.add(value) : game.add(ring);
                    } catch (const std::invalid_argument&) { // was added before memory was short
                    }
                }
            }
            const handle<int> made = ports.emplace(1);
            game.capture(1);
            ports.erase(made);
            value.clear();
            game.restore(1);
            EXPECT_TRUE(ports.contains(made));
            EXPECT_EQ(value, std::vector<int>(10, 1));
            ports.erase(made);
            ports.compact();
            value.assign(10, 1);
        });
    EXPECT_GT(allocations, 6U);
}

} // namespace
} // namespace handlepool::test
