// SPDX-License-Identifier: MIT

// What a replica refuses, what it tells hooks and containers, and objects of every kind.

#include "made_delta.hpp"

#include <handlepool/columns.hpp>
#include <handlepool/detail/base/config.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/snapshots/named_column.hpp>
#include <handlepool/snapshots/replica.hpp>
#include <handlepool/snapshots/upgrade.hpp>
#include <handlepool/sort.hpp>

#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>
#include <tests/support/random.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

/// What is left of an eventful world, whose pool is no more: its id is free for that of a replica.
template <class Case>
struct gone_origin {
    using handle_type = typename Case::handle_type;

    static pool_options options(std::uint32_t pool_id = 95) {
        pool_options both = Case::options();
        both.pool_id = pool_id;
        return both;
    }

    explicit gone_origin(std::uint32_t pool_id = 95) {
        eventful_world<Case> made(options(pool_id));
        snapshot = made.snapshot;
        delta = made.delta;
        calls = made.world.calls();
        ever = made.world.ever();
        states = made.world.states(ever);
        objects = made.world.objects();
    }

    delta_bytes snapshot; // of frame 7
    delta_bytes delta;    // from there to frame 9, like all below
    std::uint64_t calls = 0;
    std::vector<handle_type> ever;
    std::vector<std::pair<handle_state, std::uint64_t>> states;
    std::vector<std::pair<handle_type, std::uint64_t>> objects;
};

/// A replica of it.
template <class Case>
class replica_of : public testing::Test {
protected:
    replica_of() : world_(64, gone_origin<Case>::options()) {
        Case::add_to(follower_, world_.pool());
        follower_.add("calls", world_.calls());
        load();
    }
    void load() {
        follower_.load(gone_.snapshot, 7);
        states_ = world_.states(gone_.ever);
        objects_ = world_.objects();
        calls_ = world_.calls();
    }
    void expect_nothing_has_changed() {
        EXPECT_EQ(follower_.frame(), 7U);
        EXPECT_EQ(world_.states(gone_.ever), states_);
        EXPECT_EQ(world_.objects(), objects_);
        EXPECT_EQ(world_.calls(), calls_);
    }
    void expect_to_follow() {
        follower_.apply(gone_.delta);
        EXPECT_EQ(follower_.frame(), 9U);
        EXPECT_EQ(world_.states(gone_.ever), gone_.states);
        EXPECT_EQ(world_.objects(), gone_.objects);
        EXPECT_EQ(world_.calls(), gone_.calls);
    }
    auto& pool() { return world_.pool(); }

    gone_origin<Case> gone_;
    told_world<Case> world_;
    replica follower_;
    std::vector<std::pair<handle_state, std::uint64_t>> states_;
    std::vector<std::pair<typename Case::handle_type, std::uint64_t>> objects_;
    std::uint64_t calls_ = 0;
};

using replica_of_numbers = replica_of<told_numbers>;

// ---- What is refused

TEST_F(replica_of_numbers, refuses_deltas_of_other_frames) {
    follower_.load(gone_.snapshot, 6);
    EXPECT_EQ(message_of<frame_gap>([&] { follower_.apply(gone_.delta, "a stream"); }),
              "delta 'a stream' leads from frame 7 to frame 9; one from frame 6 is expected");
    EXPECT_EQ(follower_.frame(), 6U);
    EXPECT_EQ(world_.objects(), objects_);
    load();
    expect_to_follow();
    EXPECT_EQ(message_of<frame_gap>([&] { follower_.apply(gone_.delta); }),
              "delta 'in memory' leads from frame 7 to frame 9; one from frame 9 is expected");
}

TEST_F(replica_of_numbers, refuses_calls_out_of_order) {
    const std::string unready =
        "replica: apply() is called before load(), after one that has failed, or after take_over()";
    replica other;
    EXPECT_EQ(other.frame(), std::nullopt);
    EXPECT_EQ(message_of<std::logic_error>([&] { other.apply(gone_.delta); }), unready);
    std::uint64_t value = 0;
    other.add("calls", value);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { other.add("calls", value); }),
              "snapshot, 'calls': something has been added under this name already");
    EXPECT_EQ(other.load(gone_.snapshot, 7), std::vector<std::string>{"the pool"});
    EXPECT_EQ(other.passed_over(), std::vector<std::string>{"the pool"});
    EXPECT_EQ(message_of<std::logic_error>([&] { other.add("more", value); }),
              "replica, 'more': nothing can be added after load()");
    EXPECT_EQ(message_of<invalid_snapshot>([&] { other.load(gone_.delta, 7, "d"); }),
              "snapshot 'd', byte 56, block 'frames': this is a delta; a snapshot is expected");
    EXPECT_EQ(other.frame(), 7U);
    snapshot without;
    delta_bytes nothing;
    without.save(nothing);
    EXPECT_EQ(message_of<invalid_snapshot>([&] { other.load(nothing, 7, "s"); }),
              "snapshot 's': there is no block 'calls'");
    EXPECT_EQ(other.frame(), std::nullopt);
    EXPECT_EQ(message_of<std::logic_error>([&] { other.apply(gone_.delta); }), unready);
    other.load(gone_.snapshot, 7);
    other.apply(gone_.delta); // in which the pool is passed over
    EXPECT_EQ(value, gone_.calls);
    other.take_over();
    EXPECT_EQ(other.frame(), std::nullopt);
    EXPECT_EQ(message_of<std::logic_error>([&] { other.apply(gone_.delta); }), unready);
}

TEST_F(replica_of_numbers, refuses_what_is_no_delta_of_it) {
    EXPECT_EQ(message_of<invalid_snapshot>([&] { follower_.apply(gone_.snapshot, "a file"); }),
              "delta 'a file': this is no delta; a block 'frames' is expected");
    const gone_origin<told_numbers> other(96);
    EXPECT_EQ(message_of<invalid_snapshot>([&] { follower_.apply(other.delta, "d"); }),
              "delta 'd', byte 348, block 'the pool': the pool id is 96; before it was 95");
    expect_nothing_has_changed();

    std::uint64_t value = 0;
    replica swapped;
    swapped.add("calls", pool());
    EXPECT_EQ(message_of<invalid_snapshot>([&] { swapped.load(gone_.snapshot, 7, "s"); }),
              "snapshot 's', byte 520, block 'calls': the block is a value; here it is a pool");
    snapshot values;
    values.add("the pool", value);
    delta_bytes bytes;
    values.save(bytes);
    replica of_value;
    of_value.add("the pool", value);
    of_value.load(bytes, 7);
    EXPECT_EQ(message_of<invalid_snapshot>([&] { of_value.apply(gone_.delta, "d"); }),
              "delta 'd', byte 120, block 'the pool': the block is a pool's delta; here it is a value");
    EXPECT_EQ(of_value.frame(), 7U);
}

TEST_F(replica_of_numbers, refuses_what_contradicts_and_says_why) {
    using detail::pool_delta;
    const auto refused = [&](const std::function<void(pool_delta&)>& change) {
        const std::string message =
            message_of<invalid_snapshot>([&] { follower_.apply(with_delta(gone_.delta, change), "d"); });
        expect_nothing_has_changed();
        const std::size_t reason = message.find("'the pool': ");
        return reason == std::string::npos ? message : message.substr(reason + 12);
    };
    EXPECT_EQ(refused([](pool_delta& delta) { ++delta.placement; }),
              "the placement's number is 1; before it was 0");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.in_service = 4'000'000'000; }),
              "4000000000 slots are in service; allowed are 30000 at most");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.gone.at(0) = 0; }),
              "slot 0 is expected to be an object's, and is in no list");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.born_at.at(0) = 0; }),
              "position 0 is given to two objects");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.edited.at(1) = 900; }),
              "slot 900 is expected to be an object's, and is not among the 16 in service");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.waiting.push_back(5); }),
              "slot 5 is expected to be in no list, and is an object's");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.born.push_back(17); }),
              "a list has 5 numbers, and the one before, to which they belong, 6");
    expect_to_follow();
}

template <class Case>
class replica_and_damage : public replica_of<Case> {};
using followed_damage = testing::Types<told_numbers, told_texts>;
TYPED_TEST_SUITE(replica_and_damage, followed_damage);

TYPED_TEST(replica_and_damage, refuses_a_delta_wherever_it_is_cut_off) {
    const delta_bytes payload = payload_of(this->gone_.delta, "the pool");
    for (std::size_t size = 0; size != payload.size(); ++size) {
        const std::string message = message_of<invalid_snapshot>([&] {
            this->follower_.apply(with_payload(this->gone_.delta, "the pool", std::span(payload).first(size)),
                                  "cut");
        });
        ASSERT_TRUE(message.starts_with("delta 'cut', byte ")) << size << ": " << message;
    }
    for (std::size_t size = 0; size != this->gone_.delta.size(); ++size) {
        const std::string message = message_of<invalid_snapshot>(
            [&] { this->follower_.apply(std::span(this->gone_.delta).first(size), "cut"); });
        ASSERT_TRUE(message.starts_with("delta 'cut', byte ")) << size << ": " << message;
    }
    this->expect_nothing_has_changed();
    this->expect_to_follow();
}

TYPED_TEST(replica_and_damage, refuses_a_delta_or_makes_a_whole_pool_of_it_whichever_bit_is_flipped) {
    delta_bytes payload = payload_of(this->gone_.delta, "the pool");
    std::size_t refused = 0;
    for (std::size_t bit = 0; bit != payload.size() * 8; ++bit) {
        payload[bit / 8] ^= std::byte{1} << bit % 8;
        const delta_bytes flipped = with_payload(this->gone_.delta, "the pool", payload);
        payload[bit / 8] ^= std::byte{1} << bit % 8;
        const std::string message =
            message_of<invalid_snapshot>([&] { this->follower_.apply(flipped, "flipped"); });
        if (!message.empty()) {
            ++refused;
            ASSERT_TRUE(message.starts_with("delta 'flipped', byte ")) << bit << ": " << message;
            this->expect_nothing_has_changed();
        } else { // an origin that has told this could have been there
            ASSERT_EQ(this->follower_.frame(), 9U);
            const auto objects = this->world_.objects();
            const auto states = this->world_.states(this->gone_.ever);
            replay past(this->gone_.snapshot, 7);
            past.apply(flipped);
            this->world_.all().load(saved_by(past));
            ASSERT_EQ(this->world_.objects(), objects) << bit;
            ASSERT_EQ(this->world_.states(this->gone_.ever), states) << bit;
            this->load();
        }
        if (this->HasFailure()) {
            FAIL() << "bit " << bit;
        }
    }
    EXPECT_GT(refused, payload.size()); // of eight times as many
    this->expect_to_follow();
}

// ---- What others do to its pools

constexpr const char* used_by_others = "pool 'told': others than its replica, or hooks, have changed which "
                                       "objects there are, or where; a snapshot must be loaded";

TEST_F(replica_of_numbers, goes_on_from_a_snapshot_only_when_others_have_used_its_pool) {
    auto& pool = this->pool();
    const auto first = objects_.front().first;
    const auto refuses_after = [&](const std::function<void()>& use) {
        use();
        EXPECT_EQ(message_of<std::logic_error>([&] { follower_.apply(gone_.delta); }), used_by_others);
        EXPECT_EQ(follower_.frame(), 7U);
        pool.compact(); // which makes it no better
        EXPECT_EQ(message_of<std::logic_error>([&] { follower_.apply(gone_.delta); }), used_by_others);
        load();
        expect_to_follow();
        load();
    };
    refuses_after([&] { pool.emplace(); });
    refuses_after([&] { pool.erase(first); });
    refuses_after([&] {
        pool.erase(first);
        pool.emplace();
    });
    refuses_after([&] { pool.clear(); });
    refuses_after([&] { pool.reset(); });
    if constexpr (detail::checked) {
        refuses_after([&] { static_cast<void>(pool.try_reserve_handle()); });
        refuses_after([&] { pool.revoke(first); });
        refuses_after([&] { sort_by(pool, [](const told_number& each) { return ~each.id; }); });
    }
}

TEST_F(replica_of_numbers, hears_of_nothing_when_a_hook_of_an_end_creates_objects) {
    {
        const auto hook = this->pool().on_destroy([&](auto, told_number&) { this->pool().emplace(); });
        EXPECT_EQ(message_of<std::logic_error>([&] { follower_.apply(gone_.delta); }), used_by_others);
    }
    EXPECT_EQ(follower_.frame(), std::nullopt);
    load();
    expect_to_follow();
}

// ---- What it tells

TEST_F(replica_of_numbers, tells_hooks_and_containers_of_ends_and_births) {
    using handle_type = told_numbers::handle_type;
    handle_set<told_number> members;
    members.attach(pool());
    for (const auto& [handle, value] : objects_) {
        members.insert(handle);
    }
    std::set<handle_type> gone;
    std::set<handle_type> born;
    const auto ends = pool().on_destroy([&](handle_type handle, told_number& object) {
        EXPECT_TRUE(gone.insert(handle).second);
        EXPECT_LT(object.id, 30U);
    });
    const auto births = pool().on_birth([&](handle_type handle, told_number& object) {
        EXPECT_TRUE(born.insert(handle).second);
        EXPECT_EQ(pool().find(handle), &object);
        EXPECT_GE(object.id, 20U);
    });
    expect_to_follow();
    std::set<handle_type> expected_gone;
    std::set<handle_type> expected_born;
    for (const auto& [handle, value] : objects_) {
        expected_gone.insert(handle);
    }
    for (const auto& [handle, value] : gone_.objects) {
        if (expected_gone.erase(handle) == 0) {
            expected_born.insert(handle);
        }
    }
    const handle_type revoked = gone_.ever.at(3); // has another handle, and has neither ended nor begun
    EXPECT_EQ(expected_born.erase(revoked), 1U);
    std::erase_if(expected_gone, [&](handle_type each) { return each.index() == revoked.index(); });
    EXPECT_EQ(gone, expected_gone);
    EXPECT_EQ(gone.size(), 2U);
    EXPECT_EQ(born, expected_born);
    EXPECT_EQ(born.size(), 5U);
    for (const handle_type each : gone) {
        EXPECT_FALSE(members.contains(each));
    }
    EXPECT_EQ(members.size(), objects_.size() - gone.size());
}

// ---- Objects of other kinds

/// An origin and a replica of it have the same pool id, so the origin goes first: what its frames told, and
/// what its objects were then.
template <class Value>
struct told_frames {
    struct frame {
        delta_bytes delta;
        std::vector<std::pair<std::uint64_t, Value>> objects; // by handle, in their order
    };
    delta_bytes snapshot;
    std::vector<frame> frames;
};

/// Plays with a pool; `make(number)` makes an object, `edit(handle, number)` changes one, and `all()` is what
/// there is.
template <class Handle, class Pool, class Make, class Edit, class All>
auto play_and_tell(Pool& pool, snapshot& saved, delta_recorder& recorder, Make make, Edit edit, All all) {
    using value = typename decltype(all())::value_type::second_type;
    told_frames<value> told;
    random_source random;
    std::vector<Handle> ever;
    std::uint64_t number = 0;
    const auto some_steps = [&] {
        for (std::uint64_t left = random.below(60); left != 0; --left) {
            if (ever.empty() || random.one_in(3)) {
                ever.push_back(make(++number));
            } else if (random.one_in(2)) {
                edit(ever[random.below(ever.size())], ++number);
            } else {
                pool.erase(ever[random.below(ever.size())]);
            }
        }
    };
    some_steps();
    saved.save(told.snapshot);
    recorder.begin(0);
    for (std::uint64_t i = 1; i != 60; ++i) {
        some_steps();
        delta_bytes delta;
        recorder.append(i, delta);
        told.frames.push_back({std::move(delta), all()});
    }
    return told;
}

template <class Told, class All>
void expect_the_same_frames(replica& follower, const Told& told, All all) {
    follower.load(told.snapshot, 0);
    for (const auto& each : told.frames) {
        follower.apply(each.delta);
        ASSERT_EQ(all(), each.objects) << "frame " << *follower.frame();
    }
}

struct nothing_there {};
using told_rows = pool<columns<std::uint32_t, told_text, nothing_there>>;

std::vector<std::pair<std::uint64_t, std::string>> rows_of(told_rows& rows) {
    std::vector<std::pair<std::uint64_t, std::string>> all;
    for (const auto& [handle, row] : rows.entries()) {
        all.emplace_back(handle.value(),
                         std::to_string(row.template get<0>()) + ' ' + row.template get<1>().text);
    }
    return all;
}

TEST(replica, follows_rows_column_by_column) {
    const pool_options options{.name = "rows", .capacity = 3'000, .pool_id = 97};
    const auto add_to = [](auto& to, auto& added) {
        to.add("rows", added, named_column("number"), named_column("text", told_archive()),
               named_column("none"));
    };
    const auto told = [&] {
        told_rows rows(options);
        change_log log(rows);
        snapshot saved;
        add_to(saved, rows);
        delta_recorder recorder;
        add_to(recorder, log);
        return play_and_tell<told_rows::handle_type>(
            rows, saved, recorder,
            [&](std::uint64_t number) {
                return rows.emplace(static_cast<std::uint32_t>(number), told_text(number), nothing_there());
            },
            [&](told_rows::handle_type handle, std::uint64_t number) {
                if (auto* const text = log.edit<told_text>(handle)) {
                    *text = told_text(number);
                }
            },
            [&] { return rows_of(rows); });
    }();
    told_rows rows(options);
    replica follower;
    add_to(follower, rows);
    expect_the_same_frames(follower, told, [&] { return rows_of(rows); });
}

std::vector<std::pair<std::uint64_t, std::uint32_t>> numbers_of(raw_pool<>& raw) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> all;
    for (const auto& [handle, object] : raw.entries()) {
        all.emplace_back(handle.value(), static_cast<const std::uint32_t*>(object)[2]);
    }
    return all;
}

TEST(replica, follows_objects_of_types_that_are_known_at_run_time) {
    using handle_type = raw_pool<>::handle_type;
    const pool_options options{.name = "raw", .capacity = 3'000, .pool_id = 98};
    const raw_type type{.size = 12, .alignment = 4};
    const auto told = [&] {
        raw_pool<> raw(options, type);
        change_log log(raw);
        snapshot saved;
        saved.add("raw", raw);
        delta_recorder recorder;
        recorder.add("raw", log);
        return play_and_tell<handle_type>(
            raw, saved, recorder,
            [&](std::uint64_t number) {
                return raw.emplace([number](void* memory) {
                    std::uint32_t* const words = static_cast<std::uint32_t*>(memory);
                    words[0] = words[1] = 0;
                    words[2] = static_cast<std::uint32_t>(number);
                });
            },
            [&](handle_type handle, std::uint64_t number) {
                if (void* const object = log.edit(handle)) {
                    static_cast<std::uint32_t*>(object)[2] = static_cast<std::uint32_t>(number);
                }
            },
            [&] { return numbers_of(raw); });
    }();
    raw_pool<> raw(options, type);
    replica follower;
    follower.add("raw", raw);
    expect_the_same_frames(follower, told, [&] { return numbers_of(raw); });
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> ids_of(pool<told_number>& numbers) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    for (const auto& [handle, object] : numbers.entries()) {
        all.emplace_back(handle.value(), object.id);
    }
    return all;
}

TEST(replica, has_slots_for_its_only_thread_that_threads_of_the_origin_had_claimed) {
    const pool_options options{.name = "numbers", .capacity = 3'000, .reuse_delay = 0, .pool_id = 99};
    told_frames<std::uint64_t> told;
    {
        pool<told_number> numbers(options);
        change_log log(numbers);
        snapshot saved;
        saved.add("numbers", numbers);
        delta_recorder recorder;
        recorder.add("numbers", log);
        std::vector<handle<told_number>> ever;
        const auto some_steps = [&] {
            std::thread([&] {
                for (int i = 0; i != 3; ++i) {
                    ever.push_back(numbers.emplace(told_number{ever.size(), 0}));
                }
            }).join();
            numbers.erase(ever[ever.size() / 2]);
            ever.push_back(numbers.emplace(told_number{ever.size(), 0}));
        };
        some_steps();
        saved.save(told.snapshot);
        recorder.begin(0);
        for (std::uint64_t i = 1; i != 40; ++i) {
            some_steps();
            delta_bytes delta;
            recorder.append(i, delta);
            told.frames.push_back({std::move(delta), ids_of(numbers)});
        }
    }
    pool<told_number> numbers(options);
    replica follower;
    follower.add("numbers", numbers);
    expect_the_same_frames(follower, told, [&] { return ids_of(numbers); });
    follower.take_over();
    std::set<std::uint64_t> taken;
    for (const auto& [handle, id] : numbers.entries()) {
        taken.insert(handle.index());
    }
    while (taken.size() != 2'000) {
        ASSERT_TRUE(taken.insert(numbers.emplace().index()).second);
    }
    EXPECT_EQ(*taken.rbegin(), 1'999U); // so none of the others was lost
}

struct number_today {
    static constexpr std::uint32_t snapshot_version = 1;
    std::uint64_t id = 0;
    std::uint64_t value = 0;
    std::uint64_t more = 0;
};

TEST(replica, upgrades_what_an_older_origin_tells) {
    const gone_origin<told_numbers> gone;
    pool<number_today> numbers(gone_origin<told_numbers>::options());
    replica follower;
    follower.add("the pool", numbers, upgrade<told_number, number_today>([](const told_number& old) {
                     return number_today{old.id, old.value, old.id + 5};
                 }));
    EXPECT_EQ(follower.load(gone.snapshot, 7), std::vector<std::string>{"calls"});
    follower.apply(gone.delta);
    ASSERT_EQ(numbers.size(), gone.objects.size());
    std::size_t i = 0;
    for (const number_today& each : numbers) {
        EXPECT_EQ(each.id * 1'000 + each.value, gone.objects[i++].second);
        EXPECT_EQ(each.more, each.id + 5);
    }
}

/// An origin, and what it has told.
struct told_numbers {
    explicit told_numbers(const pool_options& options) : numbers(options) {
        all.add("numbers", numbers);
        recorder.add("numbers", log);
        all.save(snapshot_of_0);
        recorder.begin(0);
    }
    void append(delta_bytes& delta) { recorder.append(++frame, delta); }

    pool<std::uint64_t> numbers;
    change_log<pool<std::uint64_t>> log{numbers};
    snapshot all;
    delta_recorder recorder;
    delta_bytes snapshot_of_0;
    std::uint64_t frame = 0;
};

/// A frame each, in which nothing happens but this.
TEST(replica, has_as_many_reserved_handles_and_free_slots_as_the_origin) {
    const pool_options options{.name = "numbers", .capacity = 1, .reuse_delay = 0, .pool_id = 95};
    using calls = std::vector<std::function<void(pool<std::uint64_t>&)>>;
    handle<std::uint64_t> reserved;
    const auto reserve = [&](auto& numbers) { reserved = numbers.reserve_handle(); };
    for (const bool fulfilled : {false, true}) {
        SCOPED_TRACE(fulfilled ? "fulfilled" : "cancelled");
        const calls frames{reserve, [&](auto& numbers) {
                               if (fulfilled) {
                                   numbers.fulfill(reserved, 7U);
                               } else {
                                   numbers.cancel(reserved);
                               }
                           }};
        delta_bytes snapshot_of_0;
        std::vector<delta_bytes> deltas(frames.size());
        {
            told_numbers origin(options);
            snapshot_of_0 = origin.snapshot_of_0;
            for (std::size_t i = 0; i != frames.size(); ++i) {
                frames[i](origin.numbers);
                origin.append(deltas[i]);
            }
        }
        pool<std::uint64_t> numbers(options);
        replica world;
        world.add("numbers", numbers);
        world.load(snapshot_of_0, 0);
        EXPECT_EQ(numbers.stats().slots_reserved, 0U);
        world.apply(deltas[0]);
        EXPECT_EQ(numbers.stats().slots_reserved, 1U);
        world.apply(deltas[1]);
        EXPECT_EQ(numbers.stats().slots_reserved, 0U);
        world.take_over();
        if (fulfilled) {
            numbers.erase(reserved);
            numbers.compact();
        }
        EXPECT_TRUE(numbers.try_emplace(8U)) << "the only slot is free";
        EXPECT_EQ(numbers.stats().slots_reserved, 0U);
    }
}

/// Applies all of them to the pool.
void follow(replica& world, pool<std::uint64_t>& numbers, const delta_bytes& snapshot_of_0,
            const std::vector<delta_bytes>& deltas) {
    world.add("numbers", numbers);
    world.load(snapshot_of_0, 0);
    for (const delta_bytes& each : deltas) {
        world.apply(each);
    }
}

// Slots that are given back unused stay so over the deltas that say nothing of them.
TEST(replica, goes_on_with_slots_that_an_earlier_delta_has_given_back) {
    const pool_options options{.name = "numbers", .capacity = 1'000, .pool_id = 96};
    std::vector<delta_bytes> deltas(4);
    delta_bytes snapshot_of_0;
    std::vector<handle<std::uint64_t>> next;
    {
        told_numbers origin(options);
        snapshot_of_0 = origin.snapshot_of_0;
        pool<std::uint64_t>& numbers = origin.numbers;
        const auto reserved = numbers.reserve_handle();
        origin.append(deltas[0]);
        numbers.cancel(reserved);
        origin.append(deltas[1]);
        for (std::uint64_t i = 2; i != 4; ++i) {
            numbers.emplace(i);
            origin.append(deltas[i]);
        }
        for (std::uint64_t i = 0; i != 300; ++i) {
            next.push_back(numbers.emplace(i));
        }
    }
    pool<std::uint64_t> numbers(options);
    replica world;
    follow(world, numbers, snapshot_of_0, deltas);
    world.take_over();
    std::vector<handle<std::uint64_t>> here;
    for (std::uint64_t i = 0; i != 300; ++i) {
        here.push_back(numbers.emplace(i));
    }
    EXPECT_EQ(here, next);
}

// The slot is in use again since.
TEST(replica, has_no_free_slots_of_before_a_reset) {
    const pool_options options{.name = "numbers", .capacity = 100, .reuse_delay = 0, .pool_id = 95};
    std::vector<delta_bytes> deltas(4);
    delta_bytes snapshot_of_0;
    std::vector<handle<std::uint64_t>> ever;
    std::vector<handle<std::uint64_t>> next;
    pool_stats stats;
    {
        told_numbers origin(options);
        snapshot_of_0 = origin.snapshot_of_0;
        pool<std::uint64_t>& numbers = origin.numbers;
        const auto reserved = numbers.reserve_handle();
        origin.append(deltas[0]);
        numbers.cancel(reserved);
        origin.append(deltas[1]);
        numbers.reset();
        ever.push_back(numbers.emplace(1U));
        EXPECT_EQ(ever.front().index(), reserved.index());
        origin.append(deltas[2]);
        ever.push_back(numbers.emplace(2U));
        origin.append(deltas[3]);
        stats = numbers.stats();
        while (const auto made = numbers.try_emplace(3U)) {
            next.push_back(made);
        }
    }
    pool<std::uint64_t> numbers(options);
    replica world;
    follow(world, numbers, snapshot_of_0, deltas);
    EXPECT_EQ(numbers.stats().slots_free, stats.slots_free);
    EXPECT_EQ(numbers.stats().slots_in_service, stats.slots_in_service);
    world.take_over();
    std::vector<handle<std::uint64_t>> here;
    while (const auto made = numbers.try_emplace(3U)) {
        here.push_back(made);
    }
    EXPECT_EQ(here, next);
    EXPECT_TRUE(numbers.contains(ever[0]));
    EXPECT_TRUE(numbers.contains(ever[1]));
}

/// So large that what is written behind a buffer for one is seen.
struct large_block {
    std::int32_t key = 0;
    std::array<char, 65'532> rest{};
};

TEST(replica_of_kept_order, has_room_for_what_a_closed_hole_moves_before_a_sort) {
    std::vector<int> expected;
    delta_bytes begin;
    delta_bytes delta;
    {
        pool<large_block> numbers({.name = "numbers", .capacity = 200, .keep_order = true, .pool_id = 96});
        change_log log(numbers);
        snapshot all;
        all.add("numbers", numbers);
        delta_recorder recorder;
        recorder.add("numbers", log);
        const auto first = numbers.emplace(large_block{1});
        for (int i = 2; i <= 100; ++i) {
            numbers.emplace(large_block{i});
        }
        numbers.compact();
        all.save(begin);
        recorder.begin(0);
        numbers.erase(first);
        numbers.emplace(large_block{0});
        numbers.compact();
        sort_by(numbers, &large_block::key);
        recorder.append(1, delta);
        std::ranges::transform(numbers, std::back_inserter(expected), &large_block::key);
    }
    pool<large_block> numbers({.name = "numbers", .capacity = 200, .keep_order = true, .pool_id = 96});
    replica follower;
    follower.add("numbers", numbers);
    follower.load(begin, 0);
    follower.apply(delta);
    std::vector<int> found;
    std::ranges::transform(numbers, std::back_inserter(found), &large_block::key);
    EXPECT_EQ(found, expected);
}

} // namespace
} // namespace handlepool::test
