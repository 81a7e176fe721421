// SPDX-License-Identifier: MIT

// Two worlds that should be the same: in what they differ, word by word.

#include "made_snapshot.hpp"

#include <handlepool/columns.hpp>
#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/snapshots/compare_snapshots.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <iterator>
#include <limits>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::test {
namespace {

struct compared_ship {
    static constexpr std::string_view snapshot_layout = "x:f32 hull:i32 armed:bool";

    float x = 0;
    std::int32_t hull = 0;
    bool armed = false;
};
struct compared_rock { // whose members nobody names
    std::array<std::uint8_t, 40> shape{};
};
struct compared_text {
    std::string text;
};
struct compared_text_archive {
    void save(std::ostream& out, const compared_text& saved) const { out << saved.text; }
    compared_text load(std::istream& in) const {
        return {std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>())};
    }
};
/// One of each kind of number, and one that is none.
struct compared_numbers {
    static constexpr std::string_view snapshot_layout =
        "a:i8 b:u8 c:i16 d:u16 e:c8 f:u32 g:i64 h:u64 i:f64 j:bool";

    std::int8_t a = -1;
    std::uint8_t b = 255;
    std::int16_t c = -2;
    std::uint16_t d = 65535;
    char e = 'e';
    std::uint32_t f = 4'000'000'000;
    std::int64_t g = -5'000'000'000;
    std::uint64_t h = 18'446'744'073'709'551'615U;
    double i = 0.1;
    bool j = true;
};
static_assert(sizeof(compared_numbers) == 48 && alignof(compared_numbers) == 8);

/// Of pools that there never were: else their generations went on.
unsigned unused_pool_id() {
    static unsigned next = 500;
    return next++;
}

struct compared_world {
    compared_world() {
        for (int i = 0; i != 4; ++i) {
            ships.push_back(fleet.emplace(static_cast<float>(i), 10 * i, i == 1));
            rocks.push_back(field.emplace());
            rows.push_back(parts.emplace(static_cast<float>(i), compared_text{"part " + std::to_string(i)}));
        }
        fleet.erase(ships[0]); // so that slots wait
        for (const auto each : {ships[1], ships[2]}) {
            members.insert(each);
            crews.try_emplace(each, std::uint16_t{7});
            ranks.insert(each, 1U);
            tree.set_parent(each, ships[3]);
        }
        bags.set(ships[1], property_path("speed"), 3.0F);
        all.add("fleet", fleet);
        all.add("field", field);
        all.add("parts", parts, named_column("x"), named_column("title", compared_text_archive()));
        all.add("members", members);
        all.add("crews", crews);
        all.add("ranks", ranks);
        all.add("tree", tree);
        all.add("bags", bags);
        all.add("score", score);
        all.add("numbers", numbers);
        fleet.compact();
        field.compact();
        parts.compact();
    }

    snapshot_bytes save() {
        snapshot_bytes bytes;
        all.save(bytes);
        return bytes;
    }

    pool<compared_ship> fleet{{.name = "fleet", .capacity = 100, .pool_id = unused_pool_id()}};
    stable_pool<compared_rock> field{{.name = "field", .capacity = 100, .pool_id = unused_pool_id()}};
    pool<columns<float, compared_text>> parts{
        {.name = "parts", .capacity = 100, .pool_id = unused_pool_id()}};
    handle_set<compared_ship> members;
    handle_map<compared_ship, std::uint16_t> crews;
    handle_index<compared_ship, std::uint32_t> ranks{duplicate_keys::allow};
    hierarchy<compared_ship> tree;
    property_store<compared_ship> bags;
    std::int32_t score = -3;
    compared_numbers numbers;
    std::vector<handle<compared_ship>> ships;
    std::vector<handle<compared_rock>> rocks;
    std::vector<handle<columns<float, compared_text>>> rows;
    snapshot all;
};

using world_change = std::function<void(compared_world&)>;

std::vector<std::string> texts_of(const snapshot_differences& all) {
    std::vector<std::string> texts;
    for (const snapshot_difference& each : all.found) {
        texts.push_back(to_string(each));
    }
    return texts;
}

/// What a world has in another way once it is changed.
std::vector<std::string> differences_by(const world_change& change, const comparison_options& options = {}) {
    compared_world world;
    const snapshot_bytes begin = world.save();
    world.all.load(begin);
    const snapshot_bytes before = world.save();
    world.all.load(begin);
    change(world);
    return texts_of(compare_snapshots(before, world.save(), options));
}

using lines = std::vector<std::string>;

TEST(compare_snapshots, finds_nothing_in_the_same_world) {
    EXPECT_EQ(differences_by([](compared_world&) {}), lines());
    EXPECT_EQ(texts_of(compare_snapshots(two_blocks(), two_blocks())), lines());
}

TEST(compare_snapshots, names_members_by_the_layout) {
    EXPECT_EQ(differences_by([](compared_world& world) {
                  world.fleet.find(world.ships[2])->hull = -7;
                  world.fleet.find(world.ships[2])->x = 0.1F;
                  world.fleet.find(world.ships[1])->armed = false;
              }),
              lines({"fleet #1 generation 1, .armed: true / false", "fleet #2 generation 1, .x: 2 / 0.1",
                     "fleet #2 generation 1, .hull: 20 / -7"}));
}

TEST(compare_snapshots, says_which_bytes_where_there_is_no_layout) {
    EXPECT_EQ(
        differences_by([](compared_world& world) {
            auto& shape = world.field.find(world.rocks[3])->shape;
            shape[0] = 0xab;
            shape[4] = 1;
            shape[5] = 2;
            for (std::size_t i = 20; i != 40; ++i) {
                shape[i] = 9;
            }
        }),
        lines({"field #3 generation 1, byte 0: 00 / ab", "field #3 generation 1, bytes 4 to 5: 00 00 / 01 02",
               "field #3 generation 1, bytes 20 to 39: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 ... / "
               "09 09 09 09 09 09 09 09 09 09 09 09 09 09 09 09 ..."}));
}

TEST(compare_snapshots, names_columns) {
    EXPECT_EQ(differences_by([](compared_world& world) {
                  const auto row = world.parts.find(world.rows[2]);
                  row->get<0>() = 2.5F;
                  row->get<1>().text = "port";
              }),
              lines({"parts #2 generation 1, column 'x' value: 2 / 2.5",
                     "parts #2 generation 1, column 'title' size in bytes: 6 / 4",
                     "parts #2 generation 1, column 'title' byte 1: 61 / 6f"}));
}

TEST(compare_snapshots, shows_each_kind_of_number) {
    EXPECT_EQ(
        differences_by([](compared_world& world) {
            world.score = 4;
            world.numbers = {
                .a = 1, .b = 2, .c = 3, .d = 4, .e = 'f', .f = 6, .g = 7, .h = 8, .i = 1e300, .j = false};
        }),
        lines({"score, value: -3 / 4", "numbers, .a: -1 / 1", "numbers, .b: 255 / 2", "numbers, .c: -2 / 3",
               "numbers, .d: 65535 / 4", "numbers, .e: 101 / 102", "numbers, .f: 4000000000 / 6",
               "numbers, .g: -5000000000 / 7", "numbers, .h: 18446744073709551615 / 8",
               "numbers, .i: 0.1 / 1e+300", "numbers, .j: true / false"}));
}

TEST(compare_snapshots, tells_one_nan_from_another) {
    EXPECT_EQ(differences_by([](compared_world& world) {
                  world.numbers.i = std::numeric_limits<double>::quiet_NaN();
                  world.fleet.find(world.ships[1])->x = std::numeric_limits<float>::quiet_NaN();
              }),
              lines({"fleet #1 generation 1, .x: 1 / nan (00 00 c0 7f)",
                     "numbers, .i: 0.1 / nan (00 00 00 00 00 00 f8 7f)"}));
}

TEST(compare_snapshots, finds_objects_that_only_one_has) {
    EXPECT_EQ(differences_by([](compared_world& world) {
                  world.fleet.erase(world.ships[3]);
                  world.fleet.emplace(9.0F, 9, false);
                  world.fleet.compact();
              }),
              lines({"fleet #3 generation 1, object: is there / is not there",
                     "fleet #4 generation 1, object: is not there / is there",
                     "fleet, slots in service: 4 / 5", "fleet, slots that wait, number 1: none / 3",
                     "fleet, turn of compactions with a budget: 1 / 2"}));
}

TEST(compare_snapshots, finds_another_order) {
    EXPECT_EQ(differences_by([](compared_world& world) {
                  sort(world.fleet,
                       [](const compared_ship& one, const compared_ship& other) { return one.x > other.x; });
              }),
              lines({"fleet, object at position 0: #1 generation 1 / #3 generation 1"}));
}

TEST(compare_snapshots, finds_what_decides_on_the_next_handles) {
    EXPECT_EQ(differences_by([](compared_world& world) {
                  world.fleet.erase(world.fleet.emplace());
                  world.fleet.compact();
                  (void)world.field.reserve_handle();
              }),
              lines({"fleet, slots in service: 4 / 5", "fleet, slots that wait, number 1: none / 4",
                     "fleet, turn of compactions with a budget: 1 / 2", "field, slots in service: 4 / 5",
                     "field, slots that are reserved, number 0: none / 4"}));
}

TEST(compare_snapshots, compares_containers_by_their_members) {
    EXPECT_EQ(differences_by([](compared_world& world) {
                  world.members.erase(world.ships[1]);
                  world.members.insert(world.ships[3]);
                  *world.crews.find(world.ships[2]) = 9;
                  world.ranks.erase(world.ships[1]);
                  world.ranks.insert(world.ships[1], 1U);
                  world.tree.set_parent(world.ships[2], world.ships[1]);
                  world.bags.set(world.ships[1], property_path("speed"), 4.0F);
              }),
              lines({"members #1 generation 1, member: is there / is not there",
                     "members #3 generation 1, member: is not there / is there",
                     "crews #2 generation 1, value: 7 / 9",
                     "ranks, order of the members, number 0: #1 generation 1 / #2 generation 1",
                     "ranks, order of equal keys, number 0: #1 generation 1 / #2 generation 1",
                     "tree #2 generation 1, parent: #3 generation 1 / #1 generation 1",
                     "tree #2 generation 1, place among its siblings: 1 / 0",
                     "bags, properties, from byte 46: 40 40 02 00 / 80 40 02 00"}));
}

TEST(compare_snapshots, compares_no_padding_where_members_are_known) {
    EXPECT_EQ(differences_by([](compared_world& world) {
                  auto* const bytes = reinterpret_cast<std::byte*>(world.fleet.find(world.ships[1]));
                  bytes[offsetof(compared_ship, armed) + 1] = std::byte{77};
              }),
              lines());
}

/// Where the saved type says nothing of them.
TEST(compare_snapshots, names_members_by_what_the_caller_says) {
    const std::vector<named_member> members{
        {.name = "whole", .offset = 0, .size = 4, .kind = member_kind::signed_number},
        {.name = "low", .offset = 4, .size = 1, .kind = member_kind::unsigned_number, .bits = 3},
        {.name = "high",
         .offset = 4,
         .size = 2,
         .kind = member_kind::signed_number,
         .first_bit = 3,
         .bits = 6},
        {.name = "at", .offset = 8, .size = 8, .kind = member_kind::address},
        {.name = "state",
         .offset = 16,
         .size = 1,
         .kind = member_kind::signed_number,
         .meaning =
             [](std::uint64_t number) {
                 return number == static_cast<std::uint64_t>(-1) ? std::string("lost") : std::string();
             }},
        {.name = "real", .offset = 20, .size = 4, .kind = member_kind::real},
        {.name = "on", .offset = 24, .size = 1, .kind = member_kind::boolean},
        {.name = "wide", .offset = 25, .size = 9, .kind = member_kind::unsigned_number},
        {.name = "rest", .offset = 36, .size = 4},
    };
    std::vector<std::string> asked;
    const comparison_options options{
        .members = [&](std::string_view part, std::string_view column, std::size_t size) {
            asked.push_back(std::string(part) + '/' + std::string(column) + '/' + std::to_string(size));
            return part == "field" ? members : std::vector<named_member>();
        }};
    const std::string object = "field #3 generation 1, ";
    EXPECT_EQ(differences_by(
                  [](compared_world& world) {
                      auto& shape = world.field.find(world.rocks[3])->shape;
                      shape = {0xfe, 0xff, 0xff, 0xff, 0x83, 0x01, 9, 9, 0xcd, 0xab};
                      shape[16] = 0xff;
                      shape[17] = 9; // no member has it
                      shape[23] = 0x40;
                      shape[24] = 1;
                      shape[30] = 7;
                      shape[38] = 1;
                      shape[39] = 2;
                      world.fleet.find(world.ships[1])->hull = 3;
                      world.parts.find(world.rows[1])->get<0>() = 9;
                  },
                  options),
              lines({"fleet #1 generation 1, .hull: 10 / 3", object + ".whole: 0 / -2",
                     object + ".low: 0 / 3", object + ".high: 0 / -16", object + ".at: 0x0 / 0xabcd",
                     object + ".state: 0 / -1 (lost)", object + ".real: 0 / 2", object + ".on: false / true",
                     object + ".wide, byte 5: 00 / 07", object + ".rest, bytes 2 to 3: 00 00 / 01 02",
                     "parts #1 generation 1, column 'x' value: 1 / 9"}));
    EXPECT_EQ(asked, lines({"field//40"})); // layouts come first, and what is archived has no members
}

TEST(compare_snapshots, refuses_members_beyond_their_type) {
    const auto message = [](const named_member& member) {
        return message_of<std::invalid_argument>([&] {
            const comparison_options options{.members = [&](std::string_view, std::string_view, std::size_t) {
                return std::vector{named_member{.name = "all", .size = 40}, member};
            }};
            differences_by([](compared_world& world) { world.field.find(world.rocks[3])->shape[0] = 1; },
                           options);
        });
    };
    const std::size_t huge = std::numeric_limits<std::size_t>::max();
    const unsigned many = std::numeric_limits<unsigned>::max();
    const std::string why = "compare_snapshots: member 'x' reaches beyond its type, which has 40 bytes";
    EXPECT_EQ(message({.name = "x", .offset = 37, .size = 4}), why);
    EXPECT_EQ(message({.name = "x", .offset = huge, .size = 2}), why);
    EXPECT_EQ(message({.name = "x", .offset = 1, .size = huge}), why);
    EXPECT_EQ(message({.name = "x", .offset = 0, .size = 1, .first_bit = 4, .bits = 5}), why);
    EXPECT_EQ(message({.name = "x", .offset = 0, .size = 1, .first_bit = many, .bits = 5}), why);
    EXPECT_EQ(message({.name = "x", .offset = 0, .size = 8, .bits = many}), why);
}

/// Of two worlds of other pools, or made by another program.
TEST(compare_snapshots, compares_what_parts_are) {
    struct other_ship {
        double x = 0;
    };
    pool<compared_ship> fleet({.capacity = 10, .pool_id = unused_pool_id()});
    pool<other_ship> other_fleet({.capacity = 10, .pool_id = fleet.id() + 1});
    (void)unused_pool_id();
    pool<columns<float, int>> parts({.capacity = 10, .pool_id = unused_pool_id()});
    pool<columns<float, int>> other_parts({.capacity = 10, .pool_id = parts.id() + 1});
    (void)unused_pool_id();
    stable_pool<int> rocks({.capacity = 10, .pool_id = unused_pool_id()});
    pool<int> other_rocks({.capacity = 10, .pool_id = unused_pool_id()});
    fleet.emplace();
    other_fleet.emplace();
    handle_set<compared_ship> set;
    handle_map<compared_ship, int> map;
    int number = 1;
    float real = 1;
    snapshot one;
    one.add("fleet", fleet);
    one.add("parts", parts, named_column("x"), named_column("y"));
    one.add("rocks", rocks);
    one.add("it", set);
    one.add("number", number);
    one.add("gone", number);
    one.add("moved", number);
    snapshot other;
    other.add("moved", set);
    other.add("fleet", other_fleet);
    other.add("parts", other_parts, named_column("x"), named_column("z"));
    other.add("rocks", other_rocks);
    other.add("it", map);
    other.add("number", real);
    other.add("new", map);
    snapshot_bytes bytes;
    snapshot_bytes other_bytes;
    one.save(bytes);
    other.save(other_bytes);
    const auto id = [](const auto& pool) { return std::to_string(pool.id()); };
    EXPECT_EQ(
        texts_of(compare_snapshots(bytes, other_bytes)),
        lines({"fleet, pool id: " + id(fleet) + " / " + id(other_fleet),
               "fleet, type: 12 bytes, alignment 4, version 0, layout 'x:f32 hull:i32 armed:bool' / 8 "
               "bytes, alignment 8, version 0",
               "parts, pool id: " + id(parts) + " / " + id(other_parts),
               "parts, column 'y': is there / is not there", "parts, column 'z': is not there / is there",
               "rocks, placement: stable / dense", "rocks, pool id: " + id(rocks) + " / " + id(other_rocks),
               "it, container: a handle_set / a handle_map",
               "number, type: 4 bytes, alignment 4, version 0, layout 'i32' / 4 bytes, alignment 4, "
               "version 0, layout 'f32'",
               "gone, a value: is there / is not there", "moved, kind: a value / a container",
               "new, a container: is not there / is there"}));
}

TEST(compare_snapshots, tells_so_many_of_each_part_and_counts_the_others) {
    compared_world world;
    const snapshot_bytes begin = world.save();
    world.all.load(begin);
    const snapshot_bytes before = world.save();
    world.all.load(begin);
    for (int i = 1; i != 4; ++i) {
        world.fleet.find(world.ships[static_cast<std::size_t>(i)])->hull = 99;
    }
    world.score = 0;
    const snapshot_differences found = compare_snapshots(before, world.save(), {.most = 2});
    EXPECT_EQ(texts_of(found), lines({"fleet #1 generation 1, .hull: 10 / 99",
                                      "fleet #2 generation 1, .hull: 20 / 99", "score, value: -3 / 0"}));
    EXPECT_EQ(found.left_out, 1U);
    const snapshot_difference first{
        .part = "fleet", .object = "#1 generation 1", .what = ".hull", .first = "10", .second = "99"};
    EXPECT_EQ(found.found.front(), first);
}

TEST(compare_snapshots, refuses_what_is_no_snapshot) {
    const snapshot_bytes right = two_blocks();
    snapshot_bytes wrong = right;
    wrong.pop_back();
    const std::string problem = "byte 120, block 'end': the payload is cut off: 8 bytes are expected, 8 "
                                "behind it, and 15 bytes are there";
    EXPECT_EQ(message_of<invalid_snapshot>([&] { compare_snapshots(wrong, right); }),
              "snapshot 'first', " + problem);
    EXPECT_EQ(message_of<invalid_snapshot>([&] { compare_snapshots(right, wrong, {.second = "b.save"}); }),
              "snapshot 'b.save', " + problem);
    snapshot_bytes other = right; // a payload that is no pool: it is looked at, for it differs
    other[ships_payload_at] = std::byte{9};
    put_hash(other, ships_hash_at, std::span(other).subspan(ships_payload_at, 5));
    EXPECT_EQ(message_of<invalid_snapshot>([&] { compare_snapshots(right, other); }),
              "snapshot 'first', byte 60, block 'ships': the payload ends early: 4 bytes are expected, and 1 "
              "byte is there");
}

} // namespace
} // namespace handlepool::test
