// SPDX-License-Identifier: MIT

// What a delta has, and what a recorder and a replay refuse.

#include "made_delta.hpp"

#include <handlepool/columns.hpp>
#include <handlepool/detail/deltas/pool_delta.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/named_column.hpp>
#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <tests/snapshots/made_snapshot.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::test {
namespace {

// ---- What is refused

TEST(delta_recorder, refuses_names_that_are_taken_or_none) {
    told_world<told_numbers> world;
    delta_recorder& recorder = world.recorder();
    std::uint64_t value = 0;
    EXPECT_EQ(message_of<std::invalid_argument>([&] { recorder.add("calls", value); }),
              "delta_recorder, 'calls': something has been added under this name already");
    EXPECT_EQ(message_of<std::invalid_argument>([&] { recorder.add("frames", value); }),
              "delta_recorder, 'frames': under this name a delta has its number");
    EXPECT_EQ(message_of<std::invalid_argument>([&] { recorder.add("", value); }),
              "delta_recorder, '': the name has 0 bytes; 1 to 255 are allowed");
    recorder.begin(3);
    EXPECT_EQ(message_of<std::logic_error>([&] { recorder.add("another", value); }),
              "delta_recorder, 'another': nothing can be added after begin()");
}

TEST(delta_recorder, refuses_frames_out_of_order) {
    told_world<told_numbers> world;
    delta_bytes bytes;
    EXPECT_EQ(message_of<std::logic_error>([&] { world.recorder().append(1, bytes); }),
              "delta_recorder: append() is called before begin()");
    EXPECT_EQ(world.recorder().frame(), std::nullopt);
    world.recorder().begin(3);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { world.recorder().append(3, bytes); }),
              "delta_recorder: frame 3 does not come after frame 3, which was told last");
    EXPECT_TRUE(bytes.empty());
    world.recorder().append(4, bytes);
    EXPECT_EQ(world.recorder().frame(), 4U);
}

TEST(replay, refuses_deltas_of_other_frames) {
    const eventful_world<told_numbers> made;
    replay past(made.snapshot, 6);
    EXPECT_EQ(message_of<frame_gap>([&] { past.apply(made.delta, "a journal"); }),
              "delta 'a journal' leads from frame 7 to frame 9; one from frame 6 is expected");
    try {
        past.apply(made.delta);
        FAIL();
    } catch (const frame_gap& gap) {
        EXPECT_EQ(gap.here(), 6U);
        EXPECT_EQ(gap.before(), 7U);
    }
    EXPECT_EQ(past.frame(), 6U);
    EXPECT_EQ(saved_by(past), made.snapshot);
    replay right(made.snapshot, 7);
    right.apply(made.delta);
    EXPECT_EQ(right.frame(), 9U);
    EXPECT_EQ(message_of<frame_gap>([&] { right.apply(made.delta); }),
              "delta 'in memory' leads from frame 7 to frame 9; one from frame 9 is expected");
}

/// Of a world that has these parts.
template <class... Parts>
std::uint64_t layout_of(std::string_view name, Parts&... parts) {
    snapshot all;
    int number = 0;
    (all.add(std::string(name) + std::to_string(number++), parts), ...);
    snapshot_bytes bytes;
    all.save(bytes);
    return replay(bytes, 0).layout();
}

TEST(replay, has_a_layout_of_what_it_consists_of_whatever_that_is) {
    const pool_options options{.name = "numbers", .capacity = 100, .pool_id = 901};
    std::uint64_t value = 1;
    std::vector<std::uint64_t> layouts;
    {
        pool<std::uint32_t> numbers(options);
        layouts.push_back(layout_of("a", numbers, value));
        numbers.emplace(7U);
        numbers.erase(numbers.emplace(8U));
        value = 2;
        EXPECT_EQ(layout_of("a", numbers, value), layouts[0]);
        layouts.push_back(layout_of("b", numbers, value)); // other names
        layouts.push_back(layout_of("a", value, numbers)); // another order: names again
        layouts.push_back(layout_of("a", numbers));        // less
        std::uint64_t more = 0;
        layouts.push_back(layout_of("a", numbers, value, more));
    }
    {
        pool<std::uint32_t> numbers({.name = "numbers", .capacity = 5'000, .pool_id = 901});
        EXPECT_EQ(layout_of("a", numbers, value), layouts[0]) << "how many there may be is no part of it";
    }
    {
        pool<std::uint64_t> numbers(options); // another type
        layouts.push_back(layout_of("a", numbers, value));
    }
    {
        pool<float> numbers(options); // another type of as many bytes
        layouts.push_back(layout_of("a", numbers, value));
    }
    {
        stable_pool<std::uint32_t> numbers(options); // another placement
        layouts.push_back(layout_of("a", numbers, value));
    }
    {
        pool<std::uint32_t> numbers({.name = "numbers", .capacity = 100, .pool_id = 902}); // another id
        layouts.push_back(layout_of("a", numbers, value));
    }
    {
        pool<std::uint32_t, with_layout<handle_layout<24, 20, 9, 11>>> numbers( // other handles
            {.name = "numbers", .capacity = 100, .pool_id = 401});
        layouts.push_back(layout_of("a", numbers, value));
    }
    std::ranges::sort(layouts);
    EXPECT_EQ(std::ranges::adjacent_find(layouts), layouts.end()) << "all differ";
}

TEST(replay, is_saved_in_place_of_what_was_there) {
    const eventful_world<told_numbers> made;
    const replay past(made.snapshot, 7);
    for (const std::size_t former : {std::size_t{3}, made.snapshot.size() / 2, 2 * made.snapshot.size()}) {
        delta_bytes bytes(former, std::byte{7});
        past.save(bytes);
        EXPECT_EQ(bytes, made.snapshot) << former;
    }
}

TEST(replay, refuses_a_snapshot_for_a_delta_and_a_delta_for_a_snapshot) {
    const eventful_world<told_numbers> made;
    replay past(made.snapshot, 7);
    EXPECT_EQ(message_of<invalid_snapshot>([&] { past.apply(made.snapshot, "a file"); }),
              "delta 'a file': this is no delta; a block 'frames' is expected");
    EXPECT_EQ(message_of<invalid_snapshot>([&] { replay(made.delta, 7, "a file"); }),
              "snapshot 'a file', byte 56, block 'frames': this is a delta; a snapshot is expected");
    told_world<told_numbers> other(8, {.name = "other", .capacity = 300});
    EXPECT_EQ(
        message_of<invalid_snapshot>([&] { other.all().load(made.delta, "a file"); }),
        "snapshot 'a file', byte 120, block 'the pool': the block is a pool's delta; here it is a pool");
}

TEST(replay, refuses_what_contradicts_and_says_why) {
    using detail::pool_delta;
    const eventful_world<told_numbers> made;
    replay past(made.snapshot, 7);
    const auto refused = [&](const std::function<void(pool_delta&)>& change) {
        const std::string message =
            message_of<invalid_snapshot>([&] { past.apply(with_delta(made.delta, change), "d"); });
        EXPECT_EQ(past.frame(), 7U);
        EXPECT_EQ(saved_by(past), made.snapshot);
        const std::size_t reason = message.find("'the pool': ");
        return reason == std::string::npos ? message : message.substr(reason + 12);
    };
    EXPECT_EQ(refused([](pool_delta& delta) { ++delta.id; }).substr(0, 11), "the pool id");
    EXPECT_EQ(refused([](pool_delta& delta) { ++delta.placement; }),
              "the placement's number is 1; before it was 0");
    EXPECT_EQ(refused([](pool_delta& delta) { ++delta.widths; }),
              "the handles have 33, 22, 10 and 0 bits for index, generation, pool id and user; here they "
              "have 32, 22, 10 and 0");
    EXPECT_EQ(refused([](pool_delta& delta) { ++delta.fresh_generation; }),
              "fresh slots have generation 1; allowed are even ones to 4194302");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.in_service = 4'000'000'000; }),
              "3999999984 slots come into service, and only 17 are in lists");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.taken = 1'000; }),
              "1000 slots wait no more; allowed are 1 at most");
    EXPECT_EQ(refused([](pool_delta& delta) { ++delta.claims.at(0); }),
              "2 slots are claimed by threads, and 1 are listed");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.returned_word = 9; }),
              "9 is the word where a search of returned slots begins; allowed are 0 at most");
    EXPECT_EQ(refused([](pool_delta& delta) { ++delta.retired; }),
              "0 slots are in no list, and 1 slot is retired");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.gone = {300}; }),
              "slot 300 is expected to be an object's, and is not among the 16 in service");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.gone = {2, 2}; }),
              "slot 2 does not come after slot 2 before it");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.edited = {1, 4}; }),
              "slot 1 is expected to be an object's, and is in no list");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.born.at(0) = 3; }),
              "slot 3 is expected to be in no list, and is an object's");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.born_at.at(0) = 0; }),
              "position 0 is given to two objects");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.born_at.at(0) = 14; }),
              "position 14 is given to an object; allowed are those below 14");
    EXPECT_EQ(refused([](pool_delta& delta) { ++delta.born_generations.at(0); }),
              "slot 0 is an object's, and has generation 4; allowed are odd ones from 0 to 4194302");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.born_generations.clear(); }),
              "a list has 0 numbers, and the one before, to which they belong, 5");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.waiting.push_back(5); }),
              "slot 5 is expected to be in no list, and is an object's");
    EXPECT_EQ(refused([](pool_delta& delta) {
                  delta.regenerated = {3, 400};
                  delta.generations = {3, 4};
              }),
              "slot 400, which has another generation, is not among the 18 in service");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.in_service = 4; }),
              "slot 4 is in service no more, and is an object's");
    EXPECT_EQ(refused([](pool_delta& delta) { delta.gone.pop_back(); }).substr(0, 8), "position");
    past.apply(made.delta);
    EXPECT_EQ(past.frame(), 9U);
}

TEST(replay, refuses_blocks_that_the_snapshot_does_not_have) {
    eventful_world<told_numbers> made;
    snapshot part;
    told_numbers::add_to(part, made.world.pool());
    delta_bytes without_value;
    part.save(without_value);
    made.world.recorder().begin(9);
    const delta_bytes delta = made.world.append(10);
    replay past(without_value, 9);
    const std::string message = message_of<invalid_snapshot>([&] { past.apply(delta, "d"); });
    EXPECT_TRUE(message.ends_with("block 'calls': the snapshot has nothing of this name")) << message;
    EXPECT_EQ(saved_by(past), without_value);
    EXPECT_EQ(past.frame(), 9U);
}

TEST(replay, refuses_a_whole_block_of_another_kind_or_version) {
    eventful_world<told_numbers> made;
    const auto message_for = [&](detail::block_kind kind, std::uint32_t version) {
        const detail::snapshot_blocks blocks(made.delta, "a test");
        delta_bytes other;
        detail::snapshot_writer to(other);
        for (const detail::snapshot_block& each : blocks.all()) {
            const bool is_it = each.name == "calls";
            to.begin_block(is_it ? kind : each.kind, is_it ? version : each.version, each.name,
                           each.payload.size());
            to.bytes(each.payload.data(), each.payload.size());
            to.end_block();
        }
        to.finish();
        replay past(made.snapshot, 7);
        const std::string message = message_of<invalid_snapshot>([&] { past.apply(other, "d"); });
        EXPECT_EQ(saved_by(past) == made.snapshot, !message.empty());
        return message;
    };
    EXPECT_EQ(message_for(detail::block_kind::value, 1), "");
    const std::string_view problem =
        "block 'calls': the block is of another kind or version than that of the snapshot";
    for (const std::string& message :
         {message_for(detail::block_kind::value, 2), message_for(detail::block_kind::container, 1),
          message_for(detail::block_kind::pool_delta, 1)}) {
        EXPECT_TRUE(message.ends_with(problem)) << message;
    }
}

template <class Case>
class damaged_delta : public testing::Test {};
using damaged_cases = testing::Types<told_numbers, told_texts>;
TYPED_TEST_SUITE(damaged_delta, damaged_cases);

TYPED_TEST(damaged_delta, is_refused_wherever_it_is_cut_off) {
    const eventful_world<TypeParam> made;
    replay past(made.snapshot, 7);
    const delta_bytes payload = payload_of(made.delta, "the pool");
    for (std::size_t size = 0; size != payload.size(); ++size) {
        const std::string message = message_of<invalid_snapshot>(
            [&] { past.apply(with_payload(made.delta, "the pool", std::span(payload).first(size)), "cut"); });
        ASSERT_TRUE(message.starts_with("delta 'cut', byte ")) << size << ": " << message;
    }
    for (std::size_t size = 0; size != made.delta.size(); ++size) {
        const std::string message =
            message_of<invalid_snapshot>([&] { past.apply(std::span(made.delta).first(size), "cut"); });
        ASSERT_TRUE(message.starts_with("delta 'cut', byte ")) << size << ": " << message;
    }
    EXPECT_EQ(saved_by(past), made.snapshot);
}

TYPED_TEST(damaged_delta, is_refused_or_gives_a_whole_pool_whichever_bit_is_flipped) {
    const eventful_world<TypeParam> made;
    delta_bytes payload = payload_of(made.delta, "the pool");
    std::size_t refused = 0;
    for (std::size_t bit = 0; bit != payload.size() * 8; ++bit) {
        payload[bit / 8] ^= std::byte{1} << bit % 8;
        const delta_bytes flipped = with_payload(made.delta, "the pool", payload);
        payload[bit / 8] ^= std::byte{1} << bit % 8;
        replay past(made.snapshot, 7);
        const std::string message = message_of<invalid_snapshot>([&] { past.apply(flipped, "flipped"); });
        if (!message.empty()) {
            ++refused;
            ASSERT_TRUE(message.starts_with("delta 'flipped', byte ")) << bit << ": " << message;
            ASSERT_EQ(saved_by(past), made.snapshot) << bit;
            past.apply(made.delta); // which is as good as before
        } else {
            const delta_bytes now = saved_by(past);
            ASSERT_EQ(saved_by(replay(now, 9)), now) << bit; // verified again
        }
    }
    EXPECT_GT(refused, payload.size()); // of eight times as many
}

// ---- What a delta has

TEST(delta_recorder, tells_of_each_list) {
    const eventful_world<told_numbers> made;
    const detail::snapshot_blocks blocks(made.delta, "a test");
    detail::block_reader from(*blocks.find("the pool"));
    const detail::pool_delta delta = detail::read_pool_delta(from);
    using slots = std::vector<std::uint32_t>;
    EXPECT_EQ(delta.gone, (slots{1, 2}));
    EXPECT_EQ(delta.edited, (slots{3, 4}));
    EXPECT_EQ(delta.regenerated, (slots{3}));
    EXPECT_EQ(delta.generations, (slots{3}));
    EXPECT_EQ(delta.unreserved, (slots{12, 13}));
    EXPECT_EQ(delta.born, (slots{0, 12, 13, 14, 15}));
    EXPECT_EQ(delta.waiting, (slots{1, 2}));
    EXPECT_EQ(from.left(), 4 + 40 + delta.contents() * sizeof(told_number));
}

TEST(delta_recorder, tells_of_slots_that_are_used_alike_before_a_reset_and_after_it) {
    told_world<told_numbers> world;
    auto& pool = world.pool();
    const auto cancelled = pool.reserve_handle();
    pool.cancel(cancelled); // its slot is given back unused
    const auto erased = pool.emplace(told_number());
    pool.erase(erased);
    pool.compact();
    const delta_bytes saved = world.save();
    world.recorder().begin(7);
    replay past(saved, 7);
    past.apply(world.append(8)); // the first one has all that was given back
    pool.reset();
    const auto cancelled_again = pool.reserve_handle();
    pool.cancel(cancelled_again);
    const auto reserved = pool.reserve_handle(); // in the slot of the erased one
    EXPECT_EQ(cancelled_again.index(), cancelled.index());
    EXPECT_EQ(reserved.index(), erased.index());
    past.apply(world.append(9));
    const delta_bytes now = saved_by(past);
    EXPECT_EQ(world.save(), now);
    world.all().load(now);
    EXPECT_EQ(pool.state(reserved), handle_state::reserved);
    EXPECT_EQ(pool.reserve_handle().index(), cancelled.index());
}

struct no_content {};

TEST(delta_recorder, tells_of_reserved_slots_that_a_restore_takes_out_of_service) {
    pool<int> numbers({.name = "numbers", .capacity = 1'000});
    change_log<pool<int>> log(numbers);
    capture_ring<pool<int>> past(log, {.frames = 4});
    snapshot saved;
    saved.add("numbers", numbers);
    delta_recorder recorder;
    recorder.add("numbers", log);
    numbers.emplace(1);
    past.capture(1);
    delta_bytes begin;
    saved.save(begin);
    recorder.begin(0);
    for (int i = 0; i != 300; ++i) {
        static_cast<void>(numbers.reserve_handle());
    }
    replay copy(begin, 0);
    delta_bytes delta;
    recorder.append(1, delta);
    copy.apply(delta);
    past.restore(1);
    delta.clear();
    recorder.append(2, delta);
    copy.apply(delta);
    delta_bytes now;
    saved.save(now);
    EXPECT_EQ(saved_by(copy), now);
}

TEST(delta_recorder, tells_of_rows_column_by_column) {
    pool<columns<double, told_text, no_content>> rows({.name = "rows", .capacity = 100});
    change_log log(rows);
    const auto first = rows.emplace(1.5, told_text(7), no_content());
    const auto second = rows.emplace(2.5, told_text(8), no_content());
    snapshot all;
    all.add("rows", rows, named_column("number"), named_column("text", told_archive()), named_column("none"));
    delta_bytes saved;
    all.save(saved);
    delta_recorder recorder;
    recorder.add("rows", log, named_column("number"), named_column("text", told_archive()),
                 named_column("none"));
    recorder.begin(0);
    replay past(saved, 0);
    rows.erase(first);
    *log.edit<double>(second) = 4.5;
    const auto third = rows.emplace(3.5, told_text(9), no_content());
    delta_bytes delta;
    recorder.append(1, delta);
    rows.clear();
    past.apply(delta);
    all.load(saved_by(past));
    EXPECT_FALSE(rows.contains(first));
    EXPECT_EQ(rows.find(second)->get<0>(), 4.5);
    EXPECT_EQ(rows.find(second)->get<1>().text, "8");
    EXPECT_EQ(rows.find(third)->get<0>(), 3.5);
    EXPECT_EQ(rows.find(third)->get<1>().text, "9");
    EXPECT_EQ(rows.size(), 2U);

    delta_recorder other; // under another name
    other.add("rows", log, named_column("real"), named_column("text", told_archive()), named_column("none"));
    other.begin(1);
    delta.clear();
    other.append(2, delta);
    const std::string message = message_of<invalid_snapshot>([&] { past.apply(delta, "d"); });
    EXPECT_TRUE(message.ends_with("the objects are of another type, or have other columns, than before"))
        << message;
}

struct wide_object {
    std::uint64_t words[8] = {};
};

TEST(delta_recorder, needs_little_more_than_the_changed_objects_bytes) {
    pool<wide_object> wide({.capacity = 100'000});
    std::vector<handle<wide_object>> all;
    wide.emplace_n(100'000, std::back_inserter(all), [](std::size_t) { return wide_object(); });
    change_log log(wide);
    delta_recorder recorder;
    recorder.add("wide", log);
    recorder.begin(0);
    random_source random;
    std::size_t edited = 0;
    for (std::size_t i = 0; i != 1'000; ++i) {
        auto* const each = log.edit(all[random.below(all.size())]);
        edited += each->words[0]++ == 0 ? 1 : 0;
    }
    delta_bytes bytes;
    recorder.append(1, bytes);
    EXPECT_LT(static_cast<double>(bytes.size()), 1.08 * static_cast<double>(edited * sizeof(wide_object)));
    const std::size_t before = bytes.size();
    recorder.append(2, bytes); // nothing has changed
    EXPECT_LT(bytes.size() - before, 800U);
}

/// Can't be written when its bytes are asked for at the wrong time.
struct moody_archive {
    void save(std::ostream& out, const std::uint32_t& saved) const {
        if (*fails) {
            throw std::runtime_error("not now");
        }
        out << saved;
    }
    std::uint32_t load(std::istream& in) const {
        std::uint32_t read = 0;
        in >> read;
        return read;
    }
    bool* fails;
};

/// What fails takes back its own frame, and none before it.
TEST(delta_recorder, goes_on_from_a_reset_after_a_frame_that_has_failed) {
    bool fails = false;
    pool<std::uint32_t> numbers({.name = "numbers", .capacity = 100, .pool_id = 903});
    pool<std::uint32_t> moody({.name = "moody", .capacity = 100, .pool_id = 904});
    change_log log(numbers);
    change_log moody_log(moody);
    snapshot all;
    all.add("a", numbers);
    all.add("b", moody, moody_archive{&fails});
    delta_recorder recorder;
    recorder.add("a", log);
    recorder.add("b", moody_log, moody_archive{&fails});
    delta_bytes begin;
    all.save(begin);
    replay past(begin, 0);
    recorder.begin(0);
    const auto tell = [&](std::uint64_t frame) {
        delta_bytes delta;
        recorder.append(frame, delta);
        past.apply(delta);
    };
    numbers.emplace(1U);
    tell(1);
    numbers.reset();
    numbers.emplace(2U);
    tell(2);
    numbers.emplace(3U);
    moody.emplace(4U);
    fails = true;
    delta_bytes none;
    EXPECT_THROW(recorder.append(3, none), std::runtime_error);
    fails = false;
    tell(3);
    delta_bytes now;
    all.save(now);
    EXPECT_EQ(saved_by(past).size(), now.size());
    EXPECT_EQ(past.frame(), 3U);
    all.load(saved_by(past));
    EXPECT_EQ(numbers.size(), 2U);
    EXPECT_EQ(moody.size(), 1U);
}

} // namespace
} // namespace handlepool::test
