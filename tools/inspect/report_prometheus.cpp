// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <handlepool/detail/text/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace handlepool::inspect_tool {

namespace {

template <class Report>
struct metric {
    std::string_view name;
    std::string_view type;
    std::string_view help;
    double (*value)(const Report& report);
};

template <class Report>
double longest_guard(const Report& report) {
    std::uint64_t longest = 0;
    for (const held_guards& each : report.gate.guards) {
        longest = std::max(longest, each.nanoseconds.value_or(0));
    }
    return static_cast<double>(longest) * 1e-9;
}

constexpr metric<pool_report> metrics[] = {
    {"alive", "gauge", "Objects whose handles resolve.",
     [](const pool_report& pool) { return static_cast<double>(pool.counts.alive); }},
    {"capacity", "gauge", "Objects that the pool has room for.",
     [](const pool_report& pool) { return static_cast<double>(pool.capacity); }},
    {"newborn", "gauge", "Objects that wait for their first compaction.",
     [](const pool_report& pool) { return static_cast<double>(pool.counts.newborn); }},
    {"waiting_removals", "gauge", "Objects that were erased and not yet destroyed.",
     [](const pool_report& pool) { return static_cast<double>(pool.counts.waiting_removals); }},
    {"reserved", "gauge", "Handles that were reserved and have no object yet.",
     [](const pool_report& pool) { return static_cast<double>(pool.counts.reserved); }},
    {"created_total", "counter", "Objects ever created.",
     [](const pool_report& pool) { return static_cast<double>(pool.counts.created); }},
    {"erased_total", "counter", "Objects ever erased.",
     [](const pool_report& pool) { return static_cast<double>(pool.counts.erased); }},
    {"frames_total", "counter", "Compactions so far.",
     [](const pool_report& pool) { return static_cast<double>(pool.counts.frames); }},
    {"compaction_seconds_total", "counter", "Time that compactions took.",
     [](const pool_report& pool) { return static_cast<double>(pool.counts.compaction_nanoseconds) * 1e-9; }},
    {"resident_bytes", "gauge", "Memory in use.",
     [](const pool_report& pool) { return static_cast<double>(pool.counts.bytes_resident); }},
    {"guard_threads", "gauge", "Threads that hold guards.",
     [](const pool_report& pool) { return static_cast<double>(pool.gate.guards.size()); }},
    {"longest_guard_seconds", "gauge",
     "For how long the first guard of a thread is held; of pools that record lives.",
     longest_guard<pool_report>},
    {"waiting_for_guards_seconds", "gauge", "For how long a compaction has waited for guards.",
     [](const pool_report& pool) { return static_cast<double>(pool.gate.nanoseconds) * 1e-9; }},
};

constexpr metric<service_report> service_metrics[] = {
    {"service_guard_threads", "gauge", "Threads that hold guards of the service.",
     [](const service_report& service) { return static_cast<double>(service.gate.guards.size()); }},
    {"service_longest_guard_seconds", "gauge",
     "For how long the first guard of a thread is held; of programs with pools that record lives.",
     longest_guard<service_report>},
    {"service_waiting_for_guards_seconds", "gauge",
     "For how long a compaction of the service has waited for its guards.",
     [](const service_report& service) { return static_cast<double>(service.gate.nanoseconds) * 1e-9; }},
};

template <class Report>
std::string head_of(const metric<Report>& one) {
    return fmt::format("# HELP handlepool_inspected_{0} {1}\n# TYPE handlepool_inspected_{0} {2}\n", one.name,
                       one.help, one.type);
}

} // namespace

std::string prometheus_of(const std::vector<program_report>& reports) {
    std::string text;
    for (const metric<pool_report>& each : metrics) {
        text += head_of(each);
        for (const program_report& program : reports) {
            for (const pool_report& pool : program.pools) {
                text +=
                    fmt::format("handlepool_inspected_{}{{program={},process=\"{}\",pool={},pool_id=\"{}\","
                                "layout=\"{}\",copy=\"{}\"}} {}\n",
                                each.name, detail::prometheus_label(program.name), program.process,
                                detail::prometheus_label(pool.name), pool.id, pool.layout, program.copy,
                                each.value(pool));
            }
        }
    }
    for (const metric<service_report>& each : service_metrics) {
        text += head_of(each);
        for (const program_report& program : reports) {
            for (const service_report& service : program.services) {
                text += fmt::format(
                    "handlepool_inspected_{}{{program={},process=\"{}\",service=\"{}\",copy=\"{}\"}} {}\n",
                    each.name, detail::prometheus_label(program.name), program.process, service.number + 1,
                    program.copy, each.value(service));
            }
        }
    }
    return text;
}

} // namespace handlepool::inspect_tool
