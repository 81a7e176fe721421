// SPDX-License-Identifier: MIT
#include "or_null.hpp"
#include "report.hpp"

#include <handlepool/detail/text/text.hpp>
#include <handlepool/executor.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string_view>
#include <utility>

namespace handlepool::inspect_tool {

namespace {

using detail::printable;
using nlohmann::ordered_json;

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

std::string hexadecimal(const std::vector<std::byte>& bytes) {
    std::string text;
    for (const std::byte each : bytes) {
        text += fmt::format("{:02x}", static_cast<unsigned>(each));
    }
    return text;
}

ordered_json json_of(const gate_view& gate) {
    ordered_json waiter;
    if (gate.nanoseconds != 0) {
        waiter = gate.is_exclusive ? "exclusive_access" : "compaction";
    }
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
            {"waiter", std::move(waiter)},
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

ordered_json json_of_phases(const pool_counts& counts) {
    ordered_json phases;
    for (std::size_t i = 0; i != counts.phase_nanoseconds.size(); ++i) {
        phases[std::string(name_of(static_cast<compaction_phase>(i)))] = counts.phase_nanoseconds[i];
    }
    return phases;
}

ordered_json json_of_handle(const inspected_pool& pool, std::uint64_t handle, bool with_bytes) {
    ordered_json json{{"pool", printable(pool.name())},
                      {"alive", pool.is_alive(handle)},
                      {"text", printable(pool.describe(handle))}};
    if (with_bytes) {
        const auto copy = pool.copy(handle);
        json["bytes"] = copy ? ordered_json(hexadecimal(copy->bytes)) : ordered_json(nullptr);
    }
    return json;
}

} // namespace

ordered_json json_of(const pool_report& report) {
    const pool_counts& now = report.counts;
    ordered_json json{{"name", printable(report.name)},
                      {"id", report.id},
                      {"layout", report.layout},
                      {"type", printable(report.type)},
                      {"object_bytes", report.object_bytes},
                      {"is_stable", report.is_stable},
                      {"capacity", report.capacity},
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
                      {"timed_compactions", now.timed_compactions},
                      {"phase_nanoseconds", json_of_phases(now)},
                      {"bytes_resident", now.bytes_resident},
                      {"created_per_second", or_null(report.created_rate)},
                      {"erased_per_second", or_null(report.erased_rate)},
                      {"frames_per_second", or_null(report.frame_rate)},
                      {"compaction_nanoseconds_per_frame", or_null(report.compaction_nanoseconds)},
                      {"growth_per_second", or_null(report.growth)},
                      {"gate", json_of(report.gate)}};
    if (report.is_detailed) {
        add_details(json, report);
    }
    return json;
}

ordered_json json_of(const std::vector<service_report>& services) {
    ordered_json json = ordered_json::array();
    for (const service_report& each : services) {
        json.push_back({{"number", each.number}, {"gate", json_of(each.gate)}});
    }
    return json;
}

ordered_json json_of(const program_report& report) {
    ordered_json pools = ordered_json::array();
    for (const pool_report& each : report.pools) {
        pools.push_back(json_of(each));
    }
    return {{"process", report.process},
            {"name", printable(report.name)},
            {"pools", std::move(pools)},
            {"services", json_of(report.services)}};
}

std::optional<ordered_json> told_of_handle(const inspected_program& program,
                                           const detail::living_pool& listed, std::string_view name,
                                           std::uint64_t handle, bool with_bytes) {
    try {
        const inspected_pool pool(program, listed);
        if (!pool.may_be_of(handle) || (!name.empty() && pool.name() != name)) {
            return std::nullopt;
        }
        ordered_json told = json_of_handle(pool, handle, with_bytes);
        // Of a pool that has ended meanwhile, what was read may be something else's.
        return is_among(listed, program.pools()) ? std::optional(std::move(told)) : std::nullopt;
    } catch (const memory_gone&) { // it has just ended
        return std::nullopt;
    }
}

} // namespace handlepool::inspect_tool
