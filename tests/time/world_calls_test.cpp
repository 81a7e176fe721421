// SPDX-License-Identifier: MIT

// What calls of a world are refused, what they leave when participants fail, and values of every kind.

#include <handlepool/error.hpp>
#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/time/world.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace property_literals;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

/// Writes down what it is called, and throws or does something meanwhile.
class calling_participant final : public world_participant {
public:
    void capture(std::uint64_t frame) override { call("capture", frame); }
    void drop_newest() noexcept override { calls.push_back("drop"); }
    void restore(std::uint64_t frame) override { call("restore", frame); }
    void confirm(std::uint64_t frame) noexcept override {
        calls.push_back("confirm " + std::to_string(frame));
    }
    memory_use memory() const noexcept override { return {.reserved = 1000, .resident = 100}; }

    std::function<void()> meanwhile = [] {};
    std::vector<std::string> calls;

private:
    void call(const char* name, std::uint64_t frame) {
        meanwhile();
        calls.push_back(name + (' ' + std::to_string(frame)));
    }
};

struct tank {
    int fuel = 0;
};
using tank_handle = handle<tank>;

/// A pool with its log and its ring.
struct tanks_over_time {
    explicit tanks_over_time(std::string name, std::size_t frames = 9)
        : pool({.name = std::move(name), .capacity = 100}), log(pool), ring(log, {.frames = frames}) {}

    std::vector<std::pair<tank_handle, int>> all() const {
        std::vector<std::pair<tank_handle, int>> seen;
        for (const auto& [handle, each] : pool.entries()) {
            seen.emplace_back(handle, each.fuel);
        }
        return seen;
    }

    handlepool::pool<tank> pool;
    change_log<handlepool::pool<tank>> log;
    capture_ring<handlepool::pool<tank>> ring;
};

TEST(world_calls, say_what_is_kept) {
    tanks_over_time tanks("tanks");
    world game({.frames = 3});
    EXPECT_EQ(game.capacity(), 3U);
    EXPECT_EQ(game.size(), 0U);
    EXPECT_EQ(game.oldest(), std::nullopt);
    EXPECT_EQ(game.newest(), std::nullopt);
    EXPECT_FALSE(game.contains(0));
    game.add(tanks.ring);
    for (const std::uint64_t frame : {0U, 2U, 5U, 9U}) {
        game.capture(frame);
    }
    EXPECT_EQ(game.size(), 3U);
    EXPECT_EQ(game.oldest(), 2U);
    EXPECT_EQ(game.newest(), 9U);
    EXPECT_TRUE(game.contains(5));
    EXPECT_FALSE(game.contains(0));
    EXPECT_FALSE(game.contains(4));
    game.confirm(2); // the oldest, which nothing is before
    EXPECT_THAT(game.frames(), ElementsAre(2, 5, 9));
}

TEST(world_calls, take_any_numbers_that_ascend) {
    int value = 0;
    world game({.frames = 1});
    game.add(value);
    game.capture(0);
    game.capture(std::numeric_limits<std::uint64_t>::max() - 1);
    value = 5;
    EXPECT_EQ(message_of<std::out_of_range>([&] { game.restore(0); }),
              "world: frame 0 is not kept; the oldest is 18446744073709551614, the newest "
              "18446744073709551614");
    game.capture(std::numeric_limits<std::uint64_t>::max());
    value = 6;
    game.restore(std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(value, 5);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { game.capture(0); }),
              "world: frame 0 can't be captured after frame 18446744073709551615; numbers ascend");
    EXPECT_EQ(game.size(), 1U);
}

TEST(world_calls, keep_as_many_frames_as_there_can_be) {
    int value = 0;
    world game({.frames = 65'535});
    game.add(value);
    for (std::uint64_t frame = 0; frame != 65'600; ++frame) {
        value = static_cast<int>(frame);
        if (frame % 100 == 0 || frame > 65'530) {
            game.capture(frame);
        }
    }
    EXPECT_EQ(game.oldest(), 0U);
    game.restore(300);
    EXPECT_EQ(value, 300);
    EXPECT_EQ(message_of<std::invalid_argument>([] { world({.frames = 65'536}); }),
              "world: frames is 65536, and must be 1 to 65535");
}

TEST(world_calls, refuse_what_was_added_already) {
    tanks_over_time tanks("tanks");
    calling_participant own;
    std::vector<int> value;
    world game;
    game.add(tanks.ring);
    game.add(own);
    game.add(value);
    const std::string twice = "world: a participant is added twice";
    EXPECT_EQ(message_of<std::invalid_argument>([&] { game.add(tanks.ring); }), twice);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { game.add(own); }), twice);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { game.add(value); }), twice);
    game.capture(1);
    EXPECT_THAT(own.calls, ElementsAre("capture 1"));
}

TEST(world_calls, restore_a_pool_by_two_of_its_rings) {
    tanks_over_time tanks("tanks");
    capture_ring<pool<tank>> other(tanks.log, {.frames = 12});
    world game;
    game.add(tanks.ring);
    game.add(other);
    tanks.pool.emplace(1);
    game.capture(1);
    const auto first = tanks.all();
    const tank_handle second = tanks.pool.emplace(2);
    game.capture(2);
    game.restore(1);
    EXPECT_EQ(tanks.all(), first);
    EXPECT_THAT(game.undone(tanks.ring), ElementsAre(second));
    EXPECT_THAT(game.undone(other), IsEmpty()) << "the first one has undone it";
    EXPECT_EQ(tanks.pool.emplace(2), second);
    game.capture(2);
    game.restore(1);
    EXPECT_EQ(tanks.all(), first);
}

// ---- Calls within calls

TEST(world_calls, are_refused_to_hooks_and_participants) {
    tanks_over_time tanks("tanks");
    calling_participant own;
    world game;
    int value = 0;
    std::vector<std::string> refusals;
    const auto try_all = [&] {
        refusals.push_back(message_of<std::logic_error>([&] { game.capture(9); }));
        refusals.push_back(message_of<std::logic_error>([&] { game.restore(1); }));
        refusals.push_back(message_of<std::logic_error>([&] { game.confirm(1); }));
        refusals.push_back(message_of<std::logic_error>([&] { game.add(value); }));
    };
    const auto refusals_during = [](const std::string& call) {
        std::vector<std::string> all;
        for (const char* const each : {"capture()", "restore()", "confirm()", "add()"}) {
            all.push_back(std::string("world: ") + each + " is called during " + call +
                          ", by a hook or a participant");
        }
        return all;
    };
    game.add(tanks.ring);
    game.add(own);
    game.capture(1);
    const scoped_hook ends = tanks.pool.on_destroy([&](tank_handle, tank&) { try_all(); });
    tanks.pool.erase(tanks.pool.emplace(1));
    game.capture(2);
    EXPECT_EQ(refusals, refusals_during("capture()"));
    refusals.clear();
    tanks.pool.emplace(2);
    game.restore(1);
    EXPECT_EQ(refusals, refusals_during("restore()"));
    refusals.clear();
    own.meanwhile = try_all;
    game.capture(2);
    EXPECT_EQ(refusals, refusals_during("capture()"));
    EXPECT_THAT(game.frames(), ElementsAre(1, 2));
}

TEST(world_calls, captures_find_hooks_that_change_a_pool_too_late) {
    tanks_over_time tanks("tanks");
    tanks_over_time wrecks("wrecks");
    const scoped_hook ends =
        tanks.pool.on_destroy([&](tank_handle, tank& ended) { wrecks.pool.emplace(ended.fuel); });
    world wrong;
    wrong.add(wrecks.ring);
    wrong.add(tanks.ring);
    wrong.capture(1);
    tanks.pool.erase(tanks.pool.emplace(3));
    EXPECT_EQ(
        message_of<std::logic_error>([&] { wrong.capture(2); }),
        "world: objects of pool 'wrecks' were created or erased after it was captured, such as by hooks "
        "of a pool that must be added before it");
    EXPECT_THAT(wrong.frames(), ElementsAre(1));
    EXPECT_EQ(tanks.ring.newest(), 1U);
    EXPECT_EQ(wrecks.ring.newest(), 1U);
    wrong.capture(2);
    EXPECT_EQ(wrecks.pool.size(), 1U);

    tanks_over_time other_tanks("other tanks");
    tanks_over_time other_wrecks("other wrecks");
    const scoped_hook other_ends =
        other_tanks.pool.on_destroy([&](tank_handle, tank& ended) { other_wrecks.pool.emplace(ended.fuel); });
    world right;
    right.add(other_tanks.ring);
    right.add(other_wrecks.ring);
    const tank_handle one = other_tanks.pool.emplace(3);
    right.capture(1);
    other_tanks.pool.erase(one);
    right.capture(2);
    const auto second = other_wrecks.all();
    EXPECT_EQ(second.size(), 1U);
    other_tanks.pool.emplace(4); // whose end, by the restore, makes a wreck that is undone
    right.restore(2);
    EXPECT_EQ(other_wrecks.all(), second);
    EXPECT_EQ(right.undone(other_wrecks.ring).size(), 1U);
    right.restore(1);
    EXPECT_THAT(other_wrecks.all(), IsEmpty());
}

TEST(world_calls, restore_containers_that_hooks_have_changed_meanwhile) {
    tanks_over_time tanks("tanks");
    handle_set<tank> seen;
    handle_map<tank, std::string> names;
    seen.attach(tanks.pool);
    names.attach(tanks.pool);
    const tank_handle kept = tanks.pool.emplace(1);
    seen.insert(kept);
    names.try_emplace(kept, "kept");
    world game;
    game.add(tanks.ring);
    game.add(seen);
    game.add(names);
    game.capture(1);
    const scoped_hook ends = tanks.pool.on_destroy([&](tank_handle, tank&) {
        seen.clear();
        names.clear();
    });
    const scoped_hook births = tanks.pool.on_birth([&](tank_handle born, tank&) {
        seen.insert(born);
        names.insert_or_assign(born, "born again");
    });
    tanks.pool.erase(kept);
    tanks.pool.emplace(2);
    tanks.pool.compact();
    game.restore(1);
    EXPECT_THAT(seen.handles(), ElementsAre(kept));
    EXPECT_EQ(names.at(kept), "kept");
}

/// Does something at its end, unless that of a copy has done it.
struct last_words {
    std::shared_ptr<void> at_the_end;
};

TEST(world_calls, restore_what_destructors_of_undone_objects_have_changed) {
    pool<last_words> speakers({.name = "speakers", .capacity = 100});
    change_log<pool<last_words>> log(speakers);
    capture_ring<pool<last_words>> ring(log, {.frames = 9});
    tanks_over_time tanks("tanks");
    handle_map<tank, std::string> names;
    names.attach(tanks.pool);
    const tank_handle kept = tanks.pool.emplace(1);
    names.try_emplace(kept, "kept");
    world game;
    game.add(names);
    game.add(ring);
    game.add(tanks.ring);
    game.capture(1);
    const auto first = tanks.all();
    int ends = 0;
    speakers.emplace(std::shared_ptr<void>(nullptr, [&](void*) {
        ++ends;
        tanks.pool.erase(kept);
        names.try_emplace(tanks.pool.emplace(2), "made at the end");
        tanks.pool.compact();
    }));
    tanks.pool.emplace(3);
    game.restore(1);
    EXPECT_EQ(ends, 1);
    EXPECT_EQ(tanks.all(), first);
    EXPECT_THAT(names.handles(), ElementsAre(kept));
    EXPECT_EQ(names.at(kept), "kept");
    EXPECT_THAT(speakers.items(), IsEmpty());
    tanks.pool.erase(kept);
    tanks.pool.compact();
    EXPECT_TRUE(names.empty()) << "it is attached";
}

// ---- What fails

TEST(world_calls, that_fail_to_restore_must_be_repeated) {
    tanks_over_time tanks("tanks");
    calling_participant own;
    int value = 0;
    world game;
    game.add(own);
    game.add(tanks.ring);
    game.add(value);
    for (value = 1; value != 4; ++value) {
        tanks.pool.emplace(value);
        game.capture(static_cast<std::uint64_t>(value));
    }
    const std::vector<std::pair<tank_handle, int>> third = tanks.all();
    own.calls.clear();
    own.meanwhile = [] { throw std::runtime_error("not now"); };
    EXPECT_EQ(message_of<std::runtime_error>([&] { game.restore(2); }), "not now");
    EXPECT_EQ(tanks.pool.size(), 2U) << "pools come first";
    EXPECT_EQ(value, 4);
    EXPECT_THAT(game.frames(), ElementsAre(1, 2));
    own.meanwhile = [] {};
    EXPECT_EQ(message_of<std::logic_error>([&] { game.capture(3); }),
              "world: the restore of frame 2 has failed, and must be repeated before a capture");
    EXPECT_EQ(message_of<std::out_of_range>([&] { game.restore(3); }),
              "world: frame 3 is not kept; the oldest is 1, the newest 2");
    const tank_handle in_between = tanks.pool.emplace(9);
    game.confirm(2);
    game.restore(2);
    EXPECT_EQ(value, 2);
    EXPECT_THAT(own.calls, ElementsAre("confirm 2", "restore 2"));
    // The handle that was undone first was given out again in between.
    EXPECT_THAT(game.undone(tanks.ring), ElementsAre(third[2].first, in_between));
    game.capture(3);
    game.restore(3);
    EXPECT_THAT(game.undone(tanks.ring), IsEmpty());
}

TEST(world_calls, can_go_back_further_when_they_failed) {
    calling_participant own;
    int value = 0;
    world game;
    game.add(value);
    game.add(own);
    for (value = 1; value != 4; ++value) {
        game.capture(static_cast<std::uint64_t>(value));
    }
    own.meanwhile = [] { throw std::runtime_error("not now"); };
    EXPECT_EQ(message_of<std::runtime_error>([&] { game.restore(2); }), "not now");
    own.meanwhile = [] {};
    game.restore(1);
    EXPECT_EQ(value, 1);
    EXPECT_THAT(game.frames(), ElementsAre(1));
    game.capture(2);
}

TEST(world_calls, leave_all_as_it_was_when_a_pool_is_in_use) {
    tanks_over_time tanks("tanks");
    int value = 1;
    world game;
    game.add(tanks.ring);
    game.add(value);
    game.capture(1);
    const tank_handle made = tanks.pool.emplace(1);
    game.capture(2);
    value = 2;
    {
        const auto guard = tanks.pool.access();
        EXPECT_THROW(game.restore(1), compaction_conflict);
        EXPECT_THROW(game.capture(3), compaction_conflict);
    }
    EXPECT_EQ(value, 2);
    EXPECT_TRUE(tanks.pool.contains(made));
    EXPECT_THAT(game.frames(), ElementsAre(1, 2));
    game.capture(3);
    game.restore(2);
    EXPECT_EQ(value, 1);
    EXPECT_TRUE(tanks.pool.contains(made));
}

TEST(world_calls, go_on_when_a_pool_has_refused_a_restore) {
    using owners = handlepool::pool<std::unique_ptr<int>>;
    tanks_over_time first("first");
    owners second({.name = "second", .capacity = 10});
    change_log<owners> log(second);
    capture_ring<owners> ring(log, {.frames = 9});
    world game;
    game.add(first.ring);
    game.add(ring);
    const auto owner = second.emplace(std::make_unique<int>(1));
    const tank_handle tank = first.pool.emplace(1);
    game.capture(1);
    first.log.edit(tank)->fuel = 2;
    second.extract(owner, [](std::unique_ptr<int>&&) {}); // by the compaction that a restore begins with
    for (int i = 0; i != 2; ++i) {
        EXPECT_EQ(
            message_of<std::logic_error>([&] { game.restore(1); }),
            "capture_ring of pool 'second': frame 1 can't be restored: the object of handle #0 generation "
            "1 was handed over by extract() or drain(), or there was no memory to keep it");
        EXPECT_EQ(first.pool[tank].fuel, 2);
    }
    game.capture(2);
    EXPECT_THROW(game.restore(1), std::logic_error);
    EXPECT_THAT(game.frames(), ElementsAre(1, 2));
    first.log.edit(tank)->fuel = 3;
    game.restore(2);
    EXPECT_EQ(first.pool[tank].fuel, 2);
}

TEST(world_calls, know_that_a_pool_was_reset) {
    tanks_over_time tanks("tanks");
    tanks_over_time planes("planes");
    int value = 1;
    world game({.frames = 2});
    game.add(planes.ring);
    game.add(tanks.ring);
    game.add(value);
    planes.pool.emplace(1);
    tanks.pool.emplace(1);
    game.capture(1);
    game.capture(2);
    tanks.pool.reset();
    value = 2;
    planes.pool.emplace(2);
    EXPECT_FALSE(game.contains(2));
    EXPECT_EQ(message_of<std::logic_error>([&] { game.restore(2); }),
              "capture_ring of pool 'tanks': the pool was reset after frame 2, so no frame can be restored");
    EXPECT_EQ(value, 2);
    EXPECT_EQ(planes.pool.size(), 2U) << "the pool before it has not been restored either";
    game.confirm(2);
    EXPECT_THAT(game.frames(), ElementsAre(2));
    game.capture(3);
    EXPECT_THAT(game.frames(), ElementsAre(3));
    game.capture(4);
    game.capture(5);
    EXPECT_THAT(game.frames(), ElementsAre(4, 5));
    game.restore(4);
    EXPECT_EQ(planes.pool.size(), 2U);
}

TEST(world_calls, give_the_handles_that_were_undone) {
    tanks_over_time tanks("tanks");
    tanks_over_time planes("planes");
    tanks_over_time strangers("strangers");
    world game;
    game.add(tanks.ring);
    game.add(planes.ring);
    game.capture(1);
    EXPECT_THAT(game.undone(tanks.ring), IsEmpty());
    const std::vector<tank_handle> made{tanks.pool.emplace(1), tanks.pool.emplace(2)};
    game.capture(2);
    tanks.pool.erase(made[0]);
    const tank_handle plane = planes.pool.emplace(3);
    game.restore(1);
    EXPECT_THAT(game.undone(tanks.ring), ElementsAreArray(made));
    EXPECT_THAT(game.undone(planes.ring), ElementsAre(plane));
    EXPECT_EQ(message_of<std::invalid_argument>([&] { static_cast<void>(game.undone(strangers.ring)); }),
              "world: the ring whose undone handles are asked for is no participant");
    game.restore(1);
    EXPECT_THAT(game.undone(tanks.ring), IsEmpty());
}

// ---- Values of every kind

/// What a world can keep, though it is no std::copyable: copies are explicit, and its address is not to be
/// had by an operator.
struct guarded_value {
    explicit guarded_value(int of) : number(of) {}
    explicit guarded_value(const guarded_value&) = default;
    guarded_value(guarded_value&&) = delete;
    guarded_value& operator=(const guarded_value&) = default;
    template <class Other>
    explicit guarded_value(Other&&) = delete; // is taken for what is no constant
    void operator&() const = delete;

    int number;
};

/// Too large for any stack.
struct huge_value {
    std::array<int, 8'000'000> numbers;
};

/// Throws when it is assigned to.
struct reluctant_value {
    reluctant_value() = default;
    reluctant_value(const reluctant_value&) = default;
    reluctant_value& operator=(const reluctant_value& other) {
        number = -1; // half a value
        if (std::exchange(fails, false)) {
            throw std::runtime_error("not assigned");
        }
        number = other.number;
        return *this;
    }
    int number = 0;
    static inline bool fails = false;
};

/// Knows where it belongs, as containers do.
struct settled_value {
    settled_value(int of, const void* at) : number(of), place(at) {}
    void assign(const settled_value& other) { number = other.number; }
    void swap_contents(settled_value& other) noexcept { std::swap(number, other.number); }

    int number;
    const void* place;
};

TEST(world_values, may_have_the_functions_of_containers) {
    int here = 0;
    int there = 0;
    settled_value value(1, &here);
    world game;
    game.add(value);
    for (std::uint64_t frame = 1; frame != 4; ++frame) {
        value.number = static_cast<int>(frame);
        game.capture(frame);
    }
    value.place = &there;
    for (int i = 0; i != 2; ++i) {
        value.number = 9;
        game.restore(2);
        EXPECT_EQ(value.number, 2);
        EXPECT_EQ(value.place, &there);
    }
}

TEST(world_values, may_be_explicit_and_hide_their_address) {
    guarded_value value(1);
    world game({.frames = 2});
    game.add(value);
    for (std::uint64_t frame = 1; frame != 6; ++frame) {
        value.number = static_cast<int>(frame);
        game.capture(frame);
    }
    game.restore(4);
    EXPECT_EQ(value.number, 4);
}

TEST(world_values, may_be_larger_than_the_stack) {
    const auto value = std::make_unique<huge_value>();
    world game({.frames = 2});
    game.add(*value);
    for (std::uint64_t frame = 1; frame != 5; ++frame) {
        value->numbers[7'999'999] = static_cast<int>(frame);
        game.capture(frame);
    }
    game.restore(3);
    EXPECT_EQ(value->numbers[7'999'999], 3);
    EXPECT_GE(game.memory().resident, 2 * sizeof(huge_value));
}

TEST(world_values, that_are_not_assigned_can_be_so_later) {
    reluctant_value value;
    calling_participant own;
    world game({.frames = 2});
    game.add(own);
    game.add(value);
    for (std::uint64_t frame = 1; frame != 4; ++frame) {
        value.number = static_cast<int>(frame);
        game.capture(frame);
    }
    value.number = 4;
    reluctant_value::fails = true;
    EXPECT_EQ(message_of<std::runtime_error>([&] { game.capture(4); }), "not assigned");
    EXPECT_THAT(game.frames(), ElementsAre(2, 3));
    EXPECT_EQ(own.calls.back(), "drop");
    game.capture(4);
    value.number = 9;
    reluctant_value::fails = true;
    EXPECT_EQ(message_of<std::runtime_error>([&] { game.restore(3); }), "not assigned");
    EXPECT_EQ(value.number, -1);
    game.restore(3);
    EXPECT_EQ(value.number, 3);
    EXPECT_THAT(game.frames(), ElementsAre(3));
}

TEST(world_values, may_end_before_the_world) {
    auto tanks = std::make_unique<tanks_over_time>("tanks");
    auto names = std::make_unique<handle_map<tank, std::string>>();
    auto details = std::make_unique<property_store<tank>>();
    auto own = std::make_unique<calling_participant>();
    auto game = std::make_unique<world>();
    names->attach(tanks->pool);
    details->attach(tanks->pool);
    game->add(*details);
    game->add(*names);
    game->add(tanks->ring);
    game->add(*own);
    const tank_handle one = tanks->pool.emplace(1);
    names->try_emplace(one, "one");
    details->set(one, "crew"_key, 4);
    game->capture(1);
    game->restore(1);
    own.reset();
    tanks.reset();
    details.reset();
    names.reset();
    game.reset();
}

TEST(world_values, count_as_memory) {
    tanks_over_time tanks("tanks");
    handle_set<tank> some;
    property_store<tank> details({.slot_limit = 1024, .bytes = 1U << 20});
    calling_participant own;
    std::array<char, 100'000> large{};
    world game({.frames = 4});
    EXPECT_EQ(game.memory(), memory_use());
    game.add(own);
    EXPECT_EQ(game.memory(), (memory_use{.reserved = 1000, .resident = 100}));
    game.add(large);
    game.capture(1);
    EXPECT_GE(game.memory().resident, 100'100U);
    EXPECT_LE(game.memory().resident, 101'000U);

    world other({.frames = 4});
    other.add(tanks.ring);
    EXPECT_EQ(other.memory(), tanks.ring.memory());
    other.add(some);
    other.add(details);
    for (int i = 0; i != 50; ++i) {
        const tank_handle made = tanks.pool.emplace(i);
        some.insert(made);
        details.set(made, "crew"_key, i);
    }
    other.capture(1);
    const memory_use all = other.memory();
    const memory_use of_ring = tanks.ring.memory();
    EXPECT_GE(all.resident, of_ring.resident + some.memory());
    EXPECT_GE(all.reserved, of_ring.reserved + details.memory().reserved);
}

} // namespace
} // namespace handlepool::test
