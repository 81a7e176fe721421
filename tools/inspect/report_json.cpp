// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <handlepool/detail/text/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>

namespace handlepool::inspect_tool {

namespace {

using detail::printable;
using nlohmann::ordered_json;

template <class Value>
ordered_json or_null(const std::optional<Value>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
}

std::string_view state_of(const gate_view& gate) {
    switch (gate.is) {
    case gate_view::state::open:
        return "open";
    case gate_view::state::waiting:
        return "waiting_for_guards";
    default:
        return gate.is_exclusive ? "exclusive" : "compacting";
    }
}

ordered_json json_of(const gate_view& gate) {
    ordered_json guards = ordered_json::array();
    for (const held_guards& each : gate.guards) {
        ordered_json one{{"thread_number", each.thread_number},
                         {"thread", printable(each.thread)},
                         {"guards", each.count},
                         {"nanoseconds", or_null(each.nanoseconds)}};
        one["task"] = each.maker ? ordered_json(printable(each.maker->task)) : ordered_json(nullptr);
        one["place"] = each.maker ? ordered_json(printable(each.maker->site.name())) : ordered_json(nullptr);
        guards.push_back(std::move(one));
    }
    return {{"state", state_of(gate)},
            {"thread", printable(gate.thread)},
            {"waited_nanoseconds", gate.nanoseconds},
            {"guards", std::move(guards)}};
}

void add_details(ordered_json& json, const pool_report& pool) {
    json["ages"] = nullptr;
    if (pool.knows_ages && !pool.age_quartiles.empty()) {
        const auto& ages = pool.age_quartiles;
        json["ages"] = {{"youngest", ages[0]},
                        {"lower_quartile", ages[1]},
                        {"median", ages[2]},
                        {"upper_quartile", ages[3]},
                        {"oldest", ages[4]}};
    }
    json["places"] = nullptr;
    if (pool.knows_places) {
        json["places"] = ordered_json::array();
        for (const place_report& each : pool.places) {
            json["places"].push_back({{"place", printable(each.place)},
                                      {"alive", each.alive},
                                      {"change", or_null(each.change)},
                                      {"youngest", each.youngest},
                                      {"oldest", each.oldest}});
        }
        json["places_left_out"] = pool.places_left_out;
    }
    json["oldest"] = ordered_json::array();
    for (const object_report& each : pool.oldest) {
        json["oldest"].push_back({{"handle", fmt::format("{:#x}", each.handle)},
                                  {"age", or_null(each.age)},
                                  {"text", printable(each.text)}});
    }
}

} // namespace

ordered_json json_of(const program_report& report) {
    ordered_json pools = ordered_json::array();
    for (const pool_report& each : report.pools) {
        const pool_counts& now = each.counts;
        ordered_json pool{{"name", printable(each.name)},
                          {"id", each.id},
                          {"layout", each.layout},
                          {"type", printable(each.type)},
                          {"object_bytes", each.object_bytes},
                          {"is_stable", each.is_stable},
                          {"capacity", each.capacity},
                          {"alive", now.alive},
                          {"dense", now.dense},
                          {"newborn", now.newborn},
                          {"waiting_removals", now.waiting_removals},
                          {"reserved", now.reserved},
                          {"created", now.created},
                          {"erased", now.erased},
                          {"destroyed", now.destroyed},
                          {"frames", now.frames},
                          {"compaction_nanoseconds", now.compaction_nanoseconds},
                          {"bytes_resident", now.bytes_resident},
                          {"created_per_second", or_null(each.created_rate)},
                          {"erased_per_second", or_null(each.erased_rate)},
                          {"frames_per_second", or_null(each.frame_rate)},
                          {"compaction_nanoseconds_per_frame", or_null(each.compaction_nanoseconds)},
                          {"gate", json_of(each.gate)}};
        if (each.is_detailed) {
            add_details(pool, each);
        }
        pools.push_back(std::move(pool));
    }
    return {{"process", report.process}, {"name", printable(report.name)}, {"pools", std::move(pools)}};
}

} // namespace handlepool::inspect_tool
