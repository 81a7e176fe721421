// SPDX-License-Identifier: MIT
#include "result.hpp"

#include "report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <src/shared/whole_number.hpp>
#include <support/programs/system.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <thread>
#include <utility>

namespace handlepool::stress {

namespace {

// ---- What is written

double microseconds(std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e3;
}

bucket_counts buckets_of(const histogram& values) {
    bucket_counts buckets;
    values.for_each_bucket([&buckets](std::uint64_t upper, std::uint64_t count) {
        buckets.upper.push_back(static_cast<double>(upper));
        buckets.counts.push_back(count);
    });
    return buckets;
}

latency_figures figures_of(const histogram& values) {
    latency_figures figures{buckets_of(values)};
    figures.count = values.count();
    figures.median = static_cast<double>(values.quantile(0.5));
    figures.p99 = static_cast<double>(values.quantile(0.99));
    figures.p999 = static_cast<double>(values.quantile(0.999));
    figures.worst = static_cast<double>(values.largest());
    return figures;
}

template <class Point, class Number>
std::vector<Number> column_of(const std::vector<Point>& points, Number Point::* member) {
    std::vector<Number> column;
    std::ranges::transform(points, std::back_inserter(column), member);
    return column;
}

// ---- The order of operations

std::size_t rank(std::string_view operation) noexcept {
    return static_cast<std::size_t>(std::find(operation_names.begin(), operation_names.end(), operation) -
                                    operation_names.begin());
}

// ---- Writing: one function for each kind of a member

template <class T>
nlohmann::json json_of(const T& value) {
    return value;
}

// Whole numbers have no point: programs expect none in nanoseconds.
nlohmann::json json_of(double value) {
    const std::optional<std::uint64_t> whole = detail::whole_number(value);
    return whole ? nlohmann::json(*whole) : nlohmann::json(value);
}

template <described T>
nlohmann::json json_of(const T& object);

template <class T>
nlohmann::json json_of(const nullable<T>& value) {
    return value ? json_of(*value) : nlohmann::json();
}

template <class T>
nlohmann::json json_of(const std::vector<T>& values) {
    nlohmann::json array = nlohmann::json::array();
    for (const T& value : values) {
        array.push_back(json_of(value));
    }
    return array;
}

template <class T>
void add_member(nlohmann::json& to, const char* name, const T& value) {
    to[name] = json_of(value);
}
template <class T>
void add_member(nlohmann::json& to, const char* name, const std::optional<T>& value) {
    if (value) {
        to[name] = json_of(*value);
    }
}
template <class T, class Order>
void add_member(nlohmann::json& to, const char* name, const std::map<std::string, T, Order>& values) {
    for (const auto& [key, value] : values) {
        to[name][key] = json_of(value);
    }
}

template <described T>
nlohmann::json json_of(const T& object) {
    nlohmann::json json = nlohmann::json::object();
    for_each_member<T>(object, [&](const char* name, const auto& member) { add_member(json, name, member); });
    return json;
}

} // namespace

result result_of(const report& run) {
    const findings& all = run.all;
    result figures{.command = run.command};
    if (!run.summary.empty()) {
        figures.name = run.command;
        figures.summary = run.summary;
    }
    if (!run.again.empty()) {
        figures.again = run.again;
    }
    figures.parameters.insert(run.parameters.begin(), run.parameters.end());
    figures.facts.insert(run.facts.begin(), run.facts.end());
    figures.threads = run.threads;
    figures.frames = run.frames;
    figures.seconds = run.seconds;
    figures.operations = run.timed_operations;
    figures.operations_per_second = run.operations_per_second();
    figures.operations_at_the_end = all.operations - run.timed_operations;
    figures.operations_checked = all.checked;
    figures.sampled = run.sampled;
    figures.alive_peak = run.alive_peak;
    figures.alive_final = run.pool.alive;
    figures.created = run.pool.created;
    figures.destroyed = run.pool.destroyed;
    figures.live_lookups = all.live_lookups;
    figures.content_mismatches = all.content_mismatches;
    figures.stale_lookups = all.stale_lookups;
    figures.stale_accepted = all.stale_accepted;
    figures.stale_accepted_bound_95 = all.accepted_bound_95();
    figures.stale_explained = all.stale_explained;
    figures.forged_lookups = all.forged_lookups;
    figures.neighbour_operations = all.at_neighbours;
    figures.reuse_delay = run.pool.reuse_delay;
    if (run.reuse_distances.count() != 0) {
        figures.smallest_reuse_distance = run.pool.smallest_reuse_distance;
        figures.reuse_distances = buckets_of(run.reuse_distances);
    }
    for (std::size_t what = 0; what < operation_names.size(); ++what) {
        if (run.latencies[what].count() != 0) {
            figures.latencies_nanoseconds.emplace(operation_names[what], figures_of(run.latencies[what]));
        }
    }
    if (const histogram& compaction = run.latency(operation::compact); compaction.count() != 0) {
        figures.compaction_microseconds = {.median = microseconds(compaction.quantile(0.5)),
                                           .p99 = microseconds(compaction.quantile(0.99)),
                                           .worst = microseconds(compaction.largest())};
    }
    if (const auto& points = run.compactions.points(); !points.empty()) {
        using point = longest_series::point;
        figures.compaction_by_frame = {column_of(points, &point::last), column_of(points, &point::longest)};
    }
    if (const auto& points = run.over_time.points(); !points.empty()) {
        using point = time_series::point;
        figures.timeline = {column_of(points, &point::seconds), column_of(points, &point::operations),
                            column_of(points, &point::alive)};
    }
    figures.bytes_resident = run.pool.bytes_resident;
    figures.violations = all.violations;
    figures.violation_messages = all.messages;
    return figures;
}

std::string version_text() {
    return fmt::format("handlepool-stress {}\n{}, {}", HANDLEPOOL_VERSION, HANDLEPOOL_COMPILER,
                       HANDLEPOOL_BUILD);
}

result_document document_of(std::span<const report> results, const std::string& command_line,
                            std::chrono::system_clock::time_point started) {
    result_document document{
        .version = HANDLEPOOL_VERSION,
        .command_line = command_line,
        .started =
            fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(started))),
        .machine = machine_description{.processors = std::thread::hardware_concurrency(),
                                       .system = support::system_name(),
                                       .compiler = HANDLEPOOL_COMPILER,
                                       .build = HANDLEPOOL_BUILD}};
    std::transform(results.begin(), results.end(), std::back_inserter(document.scenarios), result_of);
    return document;
}

bool operation_order::operator()(std::string_view left, std::string_view right) const noexcept {
    return std::pair(rank(left), left) < std::pair(rank(right), right);
}

nlohmann::json to_json(const result& written) {
    return json_of(written);
}

nlohmann::json to_json(const result_document& written) {
    return json_of(written);
}

} // namespace handlepool::stress
