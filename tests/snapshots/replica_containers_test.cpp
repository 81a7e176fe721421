// SPDX-License-Identifier: MIT

// What a replica refuses of containers, and what hooks, other containers and other pools see of those that it
// follows.

#include "followed_world.hpp"
#include "made_delta.hpp"

#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/replica.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/time/change_log.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/snapshots/made_snapshot.hpp>
#include <tests/support/message_of.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;

using followed_numbers = followed_world<told_numbers>;
using followed_handle = told_numbers::handle_type;
constexpr property_path told_crew("crew");

/// What is left of a world with containers, whose pool is no more: its id is free for that of a replica.
struct gone_world {
    static pool_options options(std::uint32_t pool_id = 89) {
        pool_options both = told_numbers::options();
        both.pool_id = pool_id;
        return both;
    }

    explicit gone_world(std::uint32_t pool_id = 89) {
        followed_numbers origin(64, options(pool_id));
        auto& pool = origin.pool();
        for (std::uint64_t i = 0; i != 5; ++i) {
            ever.push_back(pool.emplace(told_number{i, 0}));
        }
        pool.compact();
        origin.set().insert(ever[0]);
        origin.set().insert(ever[2]);
        for (std::size_t i = 0; i != 3; ++i) {
            origin.values().try_emplace(ever[i], i);
            origin.bags().set(ever[i], told_mass, static_cast<float>(i));
        }
        origin.parts().set_parent(ever[1], ever[0]);
        origin.parts().set_parent(ever[2], ever[1]);
        snapshot = origin.save();
        contents_before = origin.contents();
        origin.recorder().begin(0);

        origin.parts().set_parent(ever[1], ever[3]); // so that it doesn't end with the other one
        pool.erase(ever[0]);
        for (std::uint64_t i = 5; i != 7; ++i) {
            ever.push_back(pool.emplace(told_number{i, 0}));
        }
        pool.compact();
        origin.kinds().erase(ever[5]);
        origin.names().rekey(ever[6], "x");
        origin.set().insert(ever[5]);
        origin.values().insert_or_assign(ever[1], std::uint64_t{100});
        origin.paths().add({"crew"});
        origin.bags().set(ever[1], told_crew, 3.0F);
        ever.push_back(pool.try_reserve_handle());
        ++origin.calls();
        delta = origin.append(1);
        states = origin.states(ever);
        objects = origin.objects();
        contents = origin.contents();
    }

    delta_bytes snapshot; // of frame 0
    delta_bytes delta;    // from there to frame 1, like all below
    std::string contents_before;
    std::vector<followed_handle> ever; // 0 has ended, 5 and 6 are new, and 7 is reserved
    std::vector<std::pair<handle_state, std::uint64_t>> states;
    std::vector<std::pair<followed_handle, std::uint64_t>> objects;
    std::string contents;
};

class replica_with_containers : public testing::Test {
protected:
    replica_with_containers() {
        world_->add_to(follower_);
        load();
    }
    void load() {
        EXPECT_EQ(follower_.load(gone_.snapshot, 0), std::vector<std::string>());
        states_ = world_->states(gone_.ever);
        objects_ = world_->objects();
        EXPECT_EQ(world_->contents(), gone_.contents_before);
    }
    void expect_nothing_has_changed() {
        EXPECT_EQ(follower_.frame(), 0U);
        EXPECT_EQ(world_->states(gone_.ever), states_);
        EXPECT_EQ(world_->objects(), objects_);
        EXPECT_EQ(world_->contents(), gone_.contents_before);
        EXPECT_EQ(world_->calls(), 0U);
    }
    void expect_to_follow() {
        follower_.apply(gone_.delta);
        EXPECT_EQ(follower_.frame(), 1U);
        EXPECT_EQ(world_->states(gone_.ever), gone_.states);
        EXPECT_EQ(world_->objects(), gone_.objects);
        EXPECT_EQ(world_->contents(), gone_.contents);
        EXPECT_EQ(world_->calls(), 1U);
    }

    std::string refusal_of(const delta_bytes& delta) {
        const std::string message = message_of<invalid_snapshot>([&] { follower_.apply(delta, "d"); });
        expect_nothing_has_changed();
        return message;
    }
    /// The delta, but that this number is at this byte of a payload.
    template <class Number>
    delta_bytes with(std::string_view name, std::size_t at, Number number) const {
        delta_bytes payload = payload_of(gone_.delta, name);
        put(payload, at, number);
        return with_payload(gone_.delta, name, payload);
    }
    /// The delta, but that a payload is that which another one has under another name.
    delta_bytes with_other(std::string_view name, const delta_bytes& other, std::string_view there) const {
        return with_payload(gone_.delta, name, payload_of(other, there));
    }
    /// How a message begins about this byte of a payload.
    std::string at(std::string_view name, std::size_t byte) const {
        const std::size_t offset = detail::snapshot_blocks(gone_.delta, "a test").find(name)->offset;
        return "delta 'd', byte " + std::to_string(offset + byte) + ", block '" + std::string(name) + "': ";
    }
    static std::string name_of(followed_handle handle) {
        return detail::name_of_handle(handle.index(), handle.generation());
    }
    std::string name_of(std::size_t which) const { return name_of(gone_.ever[which]); }

    static constexpr std::size_t members_at = detail::saved_container::bytes;

    gone_world gone_;
    std::unique_ptr<followed_numbers> world_ =
        std::make_unique<followed_numbers>(std::size_t{64}, gone_world::options());
    replica follower_;
    std::vector<std::pair<handle_state, std::uint64_t>> states_;
    std::vector<std::pair<followed_handle, std::uint64_t>> objects_;
};

// ---- What is refused

TEST_F(replica_with_containers, refuses_members_that_will_not_live) {
    const std::string problem = ", is not alive in the pool that comes with it";
    EXPECT_EQ(refusal_of(with("set", members_at, gone_.ever[0].value())),
              at("set", members_at) + "member 0, " + name_of(0) + problem);
    EXPECT_EQ(refusal_of(with("set", members_at + 8, gone_.ever[7].value())),
              at("set", members_at + 8) + "member 1, " + name_of(7) + problem);
    EXPECT_EQ(refusal_of(with_other("values", gone_.snapshot, "values")),
              at("values", members_at) + "member 0, " + name_of(0) + problem);
    EXPECT_EQ(refusal_of(with_other("names", gone_.snapshot, "names")),
              at("names", members_at) + "member 0, " + name_of(0) + problem);
    EXPECT_EQ(refusal_of(with_other("parts", gone_.snapshot, "parts")),
              at("parts", members_at) + "member 0, " + name_of(0) + problem);
    EXPECT_EQ(refusal_of(with_other("bags", gone_.snapshot, "bags")),
              at("bags", 8) + "bag 0, " + name_of(0) + problem);
    expect_to_follow();
}

TEST_F(replica_with_containers, refuses_members_that_do_not_live_in_a_pool_that_the_delta_does_not_name) {
    const detail::snapshot_blocks blocks(gone_.delta, "a test");
    delta_bytes without_pool;
    detail::snapshot_writer to(without_pool);
    for (const auto name : {"frames", "set"}) {
        const detail::snapshot_block& each = *blocks.find(name);
        to.begin_block(each.kind, each.version, each.name, each.payload.size());
        to.bytes(each.payload.data(), each.payload.size());
        to.end_block();
    }
    to.finish();
    const std::size_t offset = detail::snapshot_blocks(without_pool, "a test").find("set")->offset;
    EXPECT_EQ(refusal_of(without_pool), "delta 'd', byte " + std::to_string(offset + members_at + 8) +
                                            ", block 'set': member 1, " + name_of(5) +
                                            ", is not alive in the pool to which the container is attached");
    expect_to_follow();
}

TEST_F(replica_with_containers, refuses_members_of_other_pools_and_slots_with_two) {
    EXPECT_EQ(refusal_of(with("set", 12, std::uint32_t{90})),
              at("set", members_at) + "member 0, " + name_of(2) +
                  ", is of the pool with id 89; expected is 90");
    EXPECT_EQ(refusal_of(with("set", members_at + 8, gone_.ever[2].value())),
              at("set", members_at + 8) + "member 1, " + name_of(2) + ", has the slot of member 0");
    EXPECT_EQ(refusal_of(with("set", members_at, std::uint64_t{0})),
              at("set", members_at) + "member 0, 0, is the handle of no object");
    const gone_world other(90);
    EXPECT_EQ(refusal_of(with_other("set", other.delta, "set")),
              at("set", members_at) + "member 0, " + name_of(other.ever[2]) +
                  ", is of the pool with id 90; here the container is attached to that with id 89");
    EXPECT_EQ(refusal_of(with_other("bags", other.delta, "bags")),
              at("bags", 8) + "bag 0, " + name_of(other.ever[1]) +
                  ", is of the pool with id 90; here the container is attached to that with id 89");
    expect_to_follow();
}

TEST_F(replica_with_containers, refuses_relations_and_keys_that_are_none) {
    const std::size_t parents = members_at + 3 * 8; // of 3, 1 and 2
    EXPECT_EQ(refusal_of(with("parts", parents, std::uint32_t{3})),
              at("parts", parents) + "node 0, " + name_of(3) + ", is below itself");
    EXPECT_EQ(refusal_of(with("parts", parents + 3 * 4 + 4, std::uint32_t{1})),
              at("parts", parents + 3 * 4 + 4) + "node 1, " + name_of(1) + ", has place 1 among 1");
    const std::size_t keys =
        members_at + 6 * 8 + static_cast<std::size_t>(detail::bytes_of(detail::elements_header()));
    const std::size_t texts = keys + 6 * 8; // of six members
    EXPECT_EQ(refusal_of(with("names", texts + 1, std::uint8_t{'4'})),
              at("names", keys) + "key 1 is that of a member before, and the index has none twice");
    const std::size_t last = payload_of(gone_.delta, "kinds").size() - 4;
    EXPECT_EQ(refusal_of(with("kinds", last, std::uint32_t{0})),
              at("kinds", last) + "member 0 got its key twice");
    expect_to_follow();
}

TEST_F(replica_with_containers, refuses_what_is_of_another_kind_form_type_or_size) {
    EXPECT_EQ(refusal_of(with_other("set", gone_.delta, "values")),
              at("set", 4) + "the container is a handle_map; here it is a handle_set");
    EXPECT_EQ(refusal_of(with_other("bags", gone_.delta, "set")),
              at("bags", 4) + "the container is a handle_set; here it is a property_store");
    EXPECT_EQ(refusal_of(with_other("words", gone_.delta, "values")),
              at("words", members_at + 2 * 8) +
                  "the type of values has 8 bytes, alignment 8, version 0, layout 'u64'; "
                  "here it has an archive, version 0");
    delta_bytes longer = payload_of(gone_.delta, "set");
    longer.push_back(std::byte{0});
    EXPECT_EQ(refusal_of(with_payload(gone_.delta, "set", longer)),
              at("set", members_at + 2 * 8) + "the payload is expected to end, and 1 byte is there");

    const auto with_block = [&](detail::block_kind kind, std::uint32_t version) {
        const detail::snapshot_blocks blocks(gone_.delta, "a test");
        delta_bytes bytes;
        detail::snapshot_writer to(bytes);
        for (const detail::snapshot_block& each : blocks.all()) {
            const bool is_it = each.name == "set";
            to.begin_block(is_it ? kind : each.kind, is_it ? version : each.version, each.name,
                           each.payload.size());
            to.bytes(each.payload.data(), each.payload.size());
            to.end_block();
        }
        to.finish();
        return bytes;
    };
    EXPECT_EQ(refusal_of(with_block(detail::block_kind::value, 1)),
              at("set", 0) + "the block is a value; here it is a container");
    EXPECT_EQ(refusal_of(with_block(detail::block_kind::pool_delta, 1)),
              at("set", 0) + "the block is a pool's delta; here it is a container");
    EXPECT_EQ(refusal_of(with_block(detail::block_kind::container, 2)),
              at("set", 0) + "the block has version 2; known is 1");
    expect_to_follow();
}

TEST_F(replica_with_containers, refuses_names_that_are_taken_and_what_comes_late) {
    replica other;
    other.add("set", world_->set());
    const std::string problem = "snapshot, 'set': something has been added under this name already";
    EXPECT_EQ(message_of<std::invalid_argument>([&] { other.add("set", world_->values()); }), problem);
    EXPECT_EQ(message_of<std::invalid_argument>(
                  [&] { other.add("set", world_->names(), followed_name_archive()); }),
              problem);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { other.add("set", world_->bags()); }), problem);
    EXPECT_EQ(message_of<std::logic_error>([&] { follower_.add("more", world_->set()); }),
              "replica, 'more': nothing can be added after load()");
    EXPECT_EQ(message_of<std::logic_error>([&] { follower_.add("more", world_->bags()); }),
              "replica, 'more': nothing can be added after load()");
    expect_to_follow();
}

/// Each bit of the containers, with the right hash.
TEST_F(replica_with_containers, refuses_a_delta_or_loads_what_it_says_whichever_bit_is_flipped) {
    std::size_t refused = 0;
    std::size_t applied = 0;
    for (const auto name : {"names", "parts", "bags"}) {
        delta_bytes payload = payload_of(gone_.delta, name);
        for (std::size_t bit = 0; bit != payload.size() * 8; ++bit) {
            payload[bit / 8] ^= std::byte{1} << bit % 8;
            const delta_bytes flipped = with_payload(gone_.delta, name, payload);
            payload[bit / 8] ^= std::byte{1} << bit % 8;
            const std::string message =
                message_of<invalid_snapshot>([&] { follower_.apply(flipped, "flipped"); });
            if (!message.empty()) {
                ++refused;
                ASSERT_TRUE(message.starts_with("delta 'flipped', byte ")) << bit << ": " << message;
                expect_nothing_has_changed();
            } else { // another value, key, option or order, as a snapshot can have it
                ++applied;
                const std::string contents = world_->contents();
                replay past(gone_.snapshot, 0);
                past.apply(flipped);
                snapshot all;
                world_->add_to(all);
                all.load(saved_by(past));
                ASSERT_EQ(world_->contents(), contents) << bit;
                load();
            }
            if (HasFailure()) {
                FAIL() << name << ", bit " << bit;
            }
        }
    }
    EXPECT_GT(refused, applied);
    EXPECT_GT(applied, 20U);
    expect_to_follow();
}

// ---- What else hears of it

TEST_F(replica_with_containers, knows_what_hooks_ask_for) {
    auto& pool = world_->pool();
    std::vector<std::string> heard;
    const auto ends = pool.on_destroy([&](followed_handle handle, const told_number&) {
        const std::string* const key = world_->names().key_of(handle);
        heard.push_back("the end of " + (key == nullptr ? "nobody" : *key));
        EXPECT_TRUE(world_->set().contains(handle));
        EXPECT_EQ(world_->parts().parent(gone_.ever[1]), handle);
    });
    const auto births = pool.on_birth([&](followed_handle handle, const told_number&) {
        const std::string* const key = world_->names().key_of(handle);
        heard.push_back("the birth of " + (key == nullptr ? "nobody" : *key));
        EXPECT_EQ(world_->contents(), gone_.contents); // as it stays
    });
    expect_to_follow();
    EXPECT_THAT(heard, ElementsAre("the end of 0", "the birth of 5", "the birth of x"));
}

TEST_F(replica_with_containers, lets_go_of_its_containers_when_hooks_stop_it) {
    auto& pool = world_->pool();
    {
        const auto ends = pool.on_destroy([&](followed_handle, const told_number&) { pool.emplace(); });
        EXPECT_EQ(message_of<std::logic_error>([&] { follower_.apply(gone_.delta); }),
                  "pool 'told': others than its replica, or hooks, have changed which objects there are, or "
                  "where; a snapshot must be loaded");
    }
    EXPECT_EQ(follower_.frame(), std::nullopt);
    EXPECT_THAT(world_->set().handles(), ElementsAre(gone_.ever[2]));
    EXPECT_THAT(world_->parts().roots(), ElementsAre(gone_.ever[1]));
    pool.erase(gone_.ever[1]); // and its child, as ever
    const followed_handle next = pool.emplace(told_number{8, 0});
    pool.compact();
    pool.compact();
    EXPECT_FALSE(pool.contains(gone_.ever[2]));
    EXPECT_EQ(world_->names().find("8"), next);
    load();
    expect_to_follow();
}

TEST_F(replica_with_containers, is_again_what_it_was_after_any_load) {
    expect_to_follow();
    load();
    expect_to_follow();
    world_->set().clear(); // what is written here stays until the next delta
    load();
    world_->set().clear();
    world_->values().clear();
    expect_to_follow();
}

TEST_F(replica_with_containers, goes_on_by_itself_when_it_takes_over) {
    expect_to_follow();
    follower_.take_over();
    auto& pool = world_->pool();
    pool.erase(gone_.ever[3]); // with which its child ends, and the child of that
    const followed_handle next = pool.emplace(told_number{9, 0});
    pool.compact();
    pool.compact();
    EXPECT_FALSE(pool.contains(gone_.ever[1]));
    EXPECT_FALSE(pool.contains(gone_.ever[2]));
    EXPECT_THAT(world_->set().handles(), ElementsAre(gone_.ever[5]));
    EXPECT_TRUE(world_->parts().empty());
    EXPECT_EQ(world_->names().find("9"), next);
    EXPECT_EQ(world_->kinds().find(2), next);
}

TEST_F(replica_with_containers, passes_over_what_was_not_added) {
    replica alone;
    told_numbers::add_to(alone, world_->pool());
    EXPECT_THAT(alone.load(gone_.snapshot, 0), ElementsAre("names", "calls", "set", "loose", "values",
                                                           "words", "kinds", "roots", "parts", "bags"));
    world_->set().insert(gone_.ever[0]);
    world_->set().insert(gone_.ever[1]);
    alone.apply(gone_.delta);
    EXPECT_EQ(world_->objects(), gone_.objects);
    // Those that are attached follow the pool.
    EXPECT_THAT(world_->set().handles(), ElementsAre(gone_.ever[1]));
    EXPECT_EQ(world_->names().find("6"), gone_.ever[6]);
    EXPECT_EQ(world_->kinds().find(5), gone_.ever[5]);
}

TEST_F(replica_with_containers, learns_the_names_of_a_store) {
    EXPECT_THAT(world_->paths().keys_of(told_crew), ElementsAre());
    expect_to_follow();
    EXPECT_THAT(world_->paths().keys_of(told_crew), ElementsAre("crew"));
    EXPECT_EQ(world_->bags().view(gone_.ever[1]).get<float>(told_crew), 3.0F);
}

// ---- One set alone

TEST(replica_of_a_set, refuses_a_member_that_the_origin_has_kept_after_a_revoke) {
    const pool_options options{.name = "numbers", .capacity = 10, .pool_id = 91};
    delta_bytes saved;
    delta_bytes delta;
    followed_handle kept;
    followed_handle now;
    const auto add_to = [](auto& to, auto& numbers, auto& set) {
        to.add("set", set);
        to.add("numbers", numbers);
    };
    {
        pool<told_number> numbers(options);
        change_log log(numbers);
        handle_set<told_number> set;
        set.attach(numbers);
        snapshot all;
        add_to(all, numbers, set);
        delta_recorder recorder;
        add_to(recorder, log, set);
        kept = numbers.emplace();
        set.insert(kept);
        all.save(saved);
        recorder.begin(0);
        now = numbers.revoke(kept);
        recorder.append(1, delta);
    }
    pool<told_number> numbers(options);
    handle_set<told_number> set;
    set.attach(numbers);
    replica follower;
    add_to(follower, numbers, set);
    follower.load(saved, 0);
    const std::size_t offset = detail::snapshot_blocks(delta, "a test").find("set")->offset;
    EXPECT_EQ(message_of<invalid_snapshot>([&] { follower.apply(delta, "d"); }),
              "delta 'd', byte " + std::to_string(offset + detail::saved_container::bytes) +
                  ", block 'set': member 0, " + detail::name_of_handle(kept.index(), kept.generation()) +
                  ", is not alive in the pool that comes with it");
    EXPECT_TRUE(numbers.contains(kept));
    set.detach(); // who is not attached has any members
    follower.apply(delta);
    EXPECT_THAT(set.handles(), ElementsAre(kept));
    EXPECT_FALSE(numbers.contains(kept));
    EXPECT_TRUE(numbers.contains(now));
}

TEST(replica_of_a_set, lacks_members_that_hooks_have_ended_elsewhere) {
    pool<told_number> others({.name = "others", .capacity = 10, .pool_id = 92}); // of which no delta tells
    const followed_handle first = others.emplace();
    const followed_handle second = others.emplace();
    const pool_options options{.name = "numbers", .capacity = 10, .pool_id = 93};
    delta_bytes saved;
    delta_bytes delta;
    {
        pool<told_number> numbers(options);
        change_log log(numbers);
        handle_set<told_number> set;
        snapshot all;
        all.add("set", set);
        all.add("numbers", numbers);
        delta_recorder recorder;
        recorder.add("set", set);
        recorder.add("numbers", log);
        const followed_handle gone = numbers.emplace();
        all.save(saved);
        recorder.begin(0);
        numbers.erase(gone);
        set.insert(first);
        set.insert(second);
        recorder.append(1, delta);
    }
    pool<told_number> numbers(options);
    handle_set<told_number> set;
    set.attach(others);
    const auto ends = numbers.on_destroy([&](followed_handle, const told_number&) {
        others.erase(first);
        others.compact();
    });
    replica follower;
    follower.add("set", set);
    follower.add("numbers", numbers);
    follower.load(saved, 0);
    follower.apply(delta);
    EXPECT_THAT(set.handles(), ElementsAre(second));
}

} // namespace
} // namespace handlepool::test
