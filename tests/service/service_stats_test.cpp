// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/service_stats.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <tests/support/message_of.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// A pool all of whose numbers differ.
pool_stats numbered(std::string name) {
    pool_stats stats;
    stats.name = std::move(name);
    stats.pool_id = 1;
    stats.capacity = 102;
    stats.alive = 103;
    stats.dense = 104;
    stats.newborn = 105;
    stats.waiting_removals = 106;
    stats.created = 107;
    stats.destroyed = 108;
    stats.slots_in_service = 109;
    stats.slots_free = 110;
    stats.slots_claimed = 111;
    stats.slots_reserved = 122;
    stats.slots_retired = 112;
    stats.slot_limit = 113;
    stats.reuse_delay = 114;
    stats.smallest_reuse_distance = 115;
    stats.handle_limit = 123;
    stats.shards = 116;
    stats.compactions = 117;
    stats.sweeps = 118;
    stats.bytes_reserved = 119'000'000;
    stats.bytes_resident = 3 << 19;
    stats.bytes_resident_in_objects = 121;
    return stats;
}

pool_stats without_reuse(std::string name) {
    pool_stats stats = numbered(std::move(name));
    stats.smallest_reuse_distance = std::numeric_limits<std::size_t>::max();
    return stats;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

const std::string strange_name = "a \"b\" \\ c\nd {e=\"f\"} \xc3\xa9";

// ---- Table

TEST(stats_table, has_a_line_for_each_pool_with_numbers_below_their_titles) {
    EXPECT_EQ(to_table({.frames = 7, .pools = {numbered("ships"), without_reuse("long-range rockets")}}),
              "pool                id  alive  capacity  newborn  removed  created  destroyed  reserved  "
              "retired  reused after  "
              "shards  MiB\n"
              "ships                1    103       102      105      106      107        108       122  "
              "    112           115  "
              "   116  1.5\n"
              "long-range rockets   1    103       102      105      106      107        108       122  "
              "    112             -  "
              "   116  1.5\n");
}

TEST(stats_table, has_one_line_for_a_pool_whatever_its_name) {
    std::string plain = to_table({.pools = {numbered("axbx[2Jx")}});
    const std::string shown = "a\ufffdb\ufffd[2J\ufffd";
    EXPECT_EQ(to_table({.pools = {numbered("a\nb\x1b[2J\xff")}}),
              plain.replace(plain.find("axbx[2Jx"), 8, shown));
}

TEST(stats_table, has_its_titles_only_without_pools) {
    EXPECT_THAT(lines_of(to_table({})),
                ElementsAre("pool  id  alive  capacity  newborn  removed  created  destroyed  "
                            "reserved  retired  reused after  shards  MiB"));
}

TEST(stats_table, columns_widen_for_large_numbers_and_names_in_any_language) {
    pool_stats large = numbered("schiffe");
    large.alive = 4'000'000'000;
    const auto lines = lines_of(to_table({.pools = {large, numbered("vaisseaux \xc3\xa9toil\xc3\xa9s")}}));
    ASSERT_THAT(lines, SizeIs(3));
    const auto alive_ends = lines[0].find("alive") + 5;
    EXPECT_EQ(lines[1].substr(alive_ends - 10, 10), "4000000000");
    // Two letters are two bytes long.
    EXPECT_EQ(lines[2].substr(alive_ends + 2 - 5, 5), "  103");
}

// ---- JSON

TEST(stats_json, has_all_fields_by_their_names) {
    const auto json = nlohmann::json::parse(to_json({.frames = 7, .pools = {numbered("ships")}}));
    const nlohmann::json expected = {{"frames", 7},
                                     {"pools",
                                      {{{"name", "ships"},
                                        {"pool_id", 1},
                                        {"capacity", 102},
                                        {"alive", 103},
                                        {"dense", 104},
                                        {"newborn", 105},
                                        {"waiting_removals", 106},
                                        {"created", 107},
                                        {"destroyed", 108},
                                        {"slots_in_service", 109},
                                        {"slots_free", 110},
                                        {"slots_claimed", 111},
                                        {"slots_reserved", 122},
                                        {"slots_retired", 112},
                                        {"slot_limit", 113},
                                        {"reuse_delay", 114},
                                        {"smallest_reuse_distance", 115},
                                        {"handle_limit", 123},
                                        {"shards", 116},
                                        {"compactions", 117},
                                        {"sweeps", 118},
                                        {"bytes_reserved", 119'000'000},
                                        {"bytes_resident", 3 << 19},
                                        {"bytes_resident_in_objects", 121}}}}};
    EXPECT_EQ(json, expected);
    // Does not compile when there is a further field, which the texts should have.
    const auto [name, pool_id, capacity, alive, dense, newborn, waiting_removals, created, destroyed,
                slots_in_service, slots_free, slots_claimed, slots_reserved, slots_retired, slot_limit,
                reuse_delay, smallest_reuse_distance, handle_limit, shards, compactions, sweeps,
                bytes_reserved, bytes_resident, bytes_resident_in_objects] = numbered("ships");
    EXPECT_EQ(name, "ships");
}

TEST(stats_json, says_null_where_there_is_no_value_yet) {
    const auto json = nlohmann::json::parse(to_json({.pools = {without_reuse("ships")}}));
    EXPECT_TRUE(json["pools"][0]["smallest_reuse_distance"].is_null());
}

TEST(stats_json, has_pools_in_their_order_and_an_empty_list_for_none) {
    const auto two = nlohmann::json::parse(to_json({.pools = {numbered("b"), numbered("a")}}));
    EXPECT_EQ(two["pools"][0]["name"], "b");
    EXPECT_EQ(two["pools"][1]["name"], "a");
    EXPECT_EQ(nlohmann::json::parse(to_json({})),
              (nlohmann::json{{"frames", 0}, {"pools", nlohmann::json::array()}}));
}

TEST(stats_json, survives_names_of_any_bytes) {
    const auto json =
        nlohmann::json::parse(to_json({.pools = {numbered(strange_name), numbered("\xff\xc3(")}}));
    EXPECT_EQ(json["pools"][0]["name"], strange_name);
    EXPECT_EQ(json["pools"][1]["name"], "\xef\xbf\xbd\xef\xbf\xbd(") << "U+FFFD for what is not UTF-8";
}

TEST(stats_json, keeps_large_numbers_whole) {
    pool_stats large = numbered("ships");
    large.created = std::numeric_limits<std::uint64_t>::max() - 1;
    EXPECT_EQ(nlohmann::json::parse(to_json({.pools = {large}}))["pools"][0]["created"].get<std::uint64_t>(),
              large.created);
}

// ---- Prometheus

struct sample {
    std::string metric;
    std::string pool; // as the format has it, escapes and all
    std::string value;
};

/// Reads the text as the format's description says: each metric's HELP, TYPE and samples stand together.
class exposition {
public:
    explicit exposition(const std::string& text) {
        EXPECT_TRUE(text.ends_with('\n'));
        static const std::regex help(R"(# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+))");
        static const std::regex type(R"(# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge))");
        static const std::regex line_of_sample(
            R"-(([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{pool="((?:[^"\\]|\\\\|\\"|\\n)*)"\})? ([0-9]+))-");
        std::string helped;
        std::string typed;
        for (const std::string& line : lines_of(text)) {
            std::smatch parts;
            if (std::regex_match(line, parts, help)) {
                helped = parts[1];
            } else if (std::regex_match(line, parts, type)) {
                EXPECT_EQ(parts[1], helped) << "HELP stands before TYPE";
                typed = parts[1];
                EXPECT_TRUE(types.emplace(typed, parts[2]).second) << typed << " is described twice";
            } else if (std::regex_match(line, parts, line_of_sample)) {
                EXPECT_EQ(parts[1], typed) << "samples stand behind their TYPE";
                samples.push_back({parts[1], parts[2], parts[3]});
            } else {
                ADD_FAILURE() << "no line of the format: " << line;
            }
        }
    }

    std::string value(const std::string& metric, const std::string& pool) const {
        for (const sample& each : samples) {
            if (each.metric == metric && each.pool == pool) {
                return each.value;
            }
        }
        return "missing";
    }

    std::map<std::string, std::string> types;
    std::vector<sample> samples;
};

TEST(stats_prometheus, is_in_the_format_with_one_sample_for_each_pool_and_metric) {
    const exposition text(
        to_prometheus({.frames = 7, .pools = {numbered("ships"), without_reuse("rockets")}}));
    EXPECT_EQ(text.value("handlepool_frames_total", ""), "7");
    std::set<std::pair<std::string, std::string>> distinct;
    for (const sample& each : text.samples) {
        EXPECT_TRUE(distinct.emplace(each.metric, each.pool).second) << each.metric << " of " << each.pool;
        EXPECT_TRUE(each.metric.starts_with("handlepool_"));
    }
    EXPECT_EQ(distinct.size(), 1 + 2 * (text.types.size() - 1));
    for (const auto& [metric, type] : text.types) {
        EXPECT_EQ(type == "counter", metric.ends_with("_total")) << metric;
    }
}

TEST(stats_prometheus, each_metric_has_its_own_value) {
    const exposition text(to_prometheus({.pools = {numbered("ships")}}));
    const std::map<std::string, std::string> expected{
        {"objects_alive", "103"},         {"objects_capacity", "102"},
        {"objects_newborn", "105"},       {"removals_waiting", "106"},
        {"objects_created_total", "107"}, {"objects_destroyed_total", "108"},
        {"slots_in_service", "109"},      {"slots_free", "110"},
        {"slots_claimed", "111"},         {"slots_reserved", "122"},
        {"slots_retired", "112"},         {"slot_limit", "113"},
        {"handle_limit", "123"},          {"shards", "116"},
        {"compactions_total", "117"},     {"sweeps_total", "118"},
        {"bytes_reserved", "119000000"},  {"bytes_resident", "1572864"},
    };
    for (const auto& [metric, value] : expected) {
        EXPECT_EQ(text.value("handlepool_" + metric, "ships"), value) << metric;
    }
    EXPECT_EQ(text.types.size(), expected.size() + 1) << "and the frames";
}

TEST(stats_prometheus, labels_are_escaped) {
    const exposition text(to_prometheus({.pools = {numbered(strange_name)}}));
    EXPECT_EQ(text.value("handlepool_objects_alive", R"(a \"b\" \\ c\nd {e=\"f\"} )"
                                                     "\xc3\xa9"),
              "103");
}

// One label that is not would make the server refuse the whole scrape.
TEST(stats_prometheus, labels_are_utf8_whatever_the_name) {
    using namespace std::string_literals;
    const exposition text(to_prometheus({.pools = {numbered("\xff\xc3(\0\r"s)}}));
    EXPECT_EQ(text.value("handlepool_objects_alive", "\ufffd\ufffd(\ufffd\ufffd"), "103");
}

TEST(stats_prometheus, describes_its_metrics_also_without_pools) {
    const exposition text(to_prometheus({}));
    EXPECT_THAT(text.samples, SizeIs(1));
    EXPECT_EQ(text.types.size(), 19U);
}

// ---- Leaks

TEST(leak_text, has_a_paragraph_for_each_pool) {
    EXPECT_EQ(to_text({{.pool = "ships", .objects = 2, .oldest = {"ships #1", "ships #2"}},
                       {.pool = "rockets", .objects = 1, .oldest = {}}}),
              "pool 'ships' still holds 2 objects; the oldest:\n"
              "  ships #1\n"
              "  ships #2\n"
              "pool 'rockets' still holds 1 object; the oldest:\n");
    EXPECT_EQ(to_text({}), "");
}

TEST(leak_text, has_one_line_for_a_name) {
    EXPECT_EQ(to_text({{.pool = "a\nb\xff", .objects = 1, .oldest = {}}}),
              "pool 'a\ufffdb\ufffd' still holds 1 object; the oldest:\n");
}

// ---- Of a service

TEST(texts_of_a_service, can_be_read_whatever_the_names) {
    const std::string name = "a\nb\x1b[2J\xff";
    const std::string shown = "a\ufffdb\ufffd[2J\ufffd";
    service world;
    auto& ints = world.add<pool<int>>(name, {.capacity = 1, .pool_id = 9});
    const auto one = ints.emplace(1);
    EXPECT_EQ(ints.name(), name) << "which stays as it is";
    // The generation is 1, unless an earlier pool of the program had this id.
    const std::string alive = shown + " #0 generation " + std::to_string(one.generation()) + ": alive";
    EXPECT_EQ(world.describe(one), alive);
    EXPECT_EQ(to_text(world.leaks()),
              "pool '" + shown + "' still holds 1 object; the oldest:\n  " + alive + "\n");
    EXPECT_EQ(message_of([&] { world.add<pool<int>>(name, {.capacity = 1}); }),
              "handlepool: the service has a pool '" + shown + "' already");
    EXPECT_EQ(message_of([&] { world.add<pool<int>>(name + "2", {.capacity = 0}); }),
              "pool '" + shown +
                  "2': capacity = 0 is not allowed; allowed are 1 to 4294967294 by the handle's "
                  "layout");
    EXPECT_EQ(message_of([&] {
                  for (int i = 0; i != 10'000; ++i) {
                      ints.emplace(i);
                  }
              }),
              "pool '" + shown +
                  "' is exhausted: its capacity is 1 objects (places of erased objects come "
                  "back with the next compaction)");
    EXPECT_EQ(message_of([&] { static_cast<void>(ints.at({})); }),
              "pool '" + shown + "': the null handle names no object");
}

TEST(stats_of_a_service, are_those_of_its_pools_in_the_order_in_which_they_were_added) {
    service world;
    auto& ships = world.add<pool<int>>("ships", {.capacity = 10});
    world.add<pool<int>>("asteroids", {.capacity = 20});
    ships.emplace(1);
    world.compact();
    ships.emplace(2);
    const service_stats stats = world.stats();
    EXPECT_EQ(stats.frames, 1U);
    ASSERT_THAT(stats.pools, SizeIs(2));
    EXPECT_EQ(stats.pools[0].name, "ships");
    EXPECT_EQ(stats.pools[0].alive, 2U);
    EXPECT_EQ(stats.pools[0].newborn, 1U);
    EXPECT_EQ(stats.pools[1].name, "asteroids");
    EXPECT_EQ(stats.pools[1].capacity, 20U);
    EXPECT_THAT(to_table(stats), HasSubstr("asteroids"));
    EXPECT_EQ(exposition(to_prometheus(stats)).value("handlepool_objects_alive", "ships"), "2");
}

} // namespace
} // namespace handlepool::test
