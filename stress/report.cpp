#include "report.hpp"

#include "count_sum.hpp"
#include "text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <string_view>

namespace handlepool::stress {

namespace {

// Operations a second.
double rate(const report& result) {
    return static_cast<double>(result.timed_operations) / std::max(result.seconds, 1e-9);
}

double microseconds(std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e3;
}

nlohmann::json buckets_of(const histogram& values) {
    nlohmann::json json{{"upper", nlohmann::json::array()}, {"counts", nlohmann::json::array()}};
    values.for_each_bucket([&json](std::uint64_t upper, std::uint64_t count) {
        json["upper"].push_back(upper);
        json["counts"].push_back(count);
    });
    return json;
}

nlohmann::json latencies_of(const report& result) {
    nlohmann::json json = nlohmann::json::object();
    for (std::size_t what = 0; what < operation_names.size(); ++what) {
        const histogram& values = result.latencies[what];
        if (values.count() == 0) {
            continue;
        }
        nlohmann::json& one = json[std::string(operation_names[what])];
        one = buckets_of(values);
        one["count"] = values.count();
        one["median"] = values.quantile(0.5);
        one["p99"] = values.quantile(0.99);
        one["p999"] = values.quantile(0.999);
        one["worst"] = values.largest();
    }
    return json;
}

nlohmann::json timeline_of(const report& result) {
    nlohmann::json json;
    for (const timeline::point& point : result.over_time.points()) {
        json["seconds"].push_back(point.seconds);
        json["operations"].push_back(point.operations);
        json["alive"].push_back(point.alive);
    }
    return json;
}

nlohmann::json compactions_of(const report& result) {
    nlohmann::json json;
    for (const longest_series::point& point : result.compactions.points()) {
        json["frame"].push_back(point.last);
        json["microseconds"].push_back(point.longest);
    }
    return json;
}

} // namespace

void report::add_pool(const pool_stats& stats) {
    const auto margin = [](const pool_stats& of) {
        return of.smallest_reuse_distance - std::min(of.smallest_reuse_distance, of.reuse_delay);
    };
    if (pool.name.empty() || margin(stats) < margin(pool)) {
        pool.smallest_reuse_distance = stats.smallest_reuse_distance;
        pool.reuse_delay = stats.reuse_delay;
    }
    pool.name = stats.name;
    pool.destroyed += pool.alive + stats.destroyed; // with the pool before this one, its objects are gone
    pool.alive = stats.alive;
    alive_peak = std::max(alive_peak, stats.alive);
    pool.created += stats.created;
    pool.slots_retired += stats.slots_retired;
    pool.sweeps += stats.sweeps;
    pool.bytes_resident = std::max(pool.bytes_resident, stats.bytes_resident);
}

report& report::operator+=(const report& next) {
    if (command.empty()) {
        return *this = next;
    }
    if (passed() && !next.passed()) {
        again = next.again;
    }
    for (timeline::point point : next.over_time.points()) {
        point.seconds += seconds;
        point.operations += timed_operations;
        over_time.add(point);
    }
    for (const longest_series::point& point : next.compactions.points()) {
        compactions.add(point.longest);
    }
    for (std::size_t what = 0; what < latencies.size(); ++what) {
        latencies[what] += next.latencies[what];
    }
    reuse_distances += next.reuse_distances;
    frames += next.frames;
    seconds += next.seconds;
    add_count(timed_operations, next.timed_operations);
    all += next.all;
    alive_peak = std::max(alive_peak, next.alive_peak);
    add_pool(next.pool);
    facts.clear();
    for (const auto& [name, value] : next.facts) {
        facts.emplace_back(fmt::format("{}, in the last turn", name), value);
    }
    return *this;
}

std::string to_text(const report& result) {
    std::string text;
    const auto line = [&text](std::string_view what, const std::string& value) {
        text += fmt::format("{:<28} {}\n", what, value);
    };
    const tally& all = result.all;

    line("run", result.command);
    for (const auto& [name, value] : result.parameters) {
        line(fmt::format("  {}", name), value);
    }
    line("threads", grouped(result.threads));
    line("frames", grouped(result.frames));
    line("seconds", fmt::format("{:.3f}", result.seconds));
    line("operations",
         fmt::format("{}, {:.2f} million a second", grouped(result.timed_operations), rate(result) / 1e6));
    line("operations at the end", grouped(all.operations - result.timed_operations));
    line("checked in histories", grouped(all.checked) + sample_text(result.sampled));
    line("alive, peak and final",
         fmt::format("{}, {}", grouped(result.alive_peak), grouped(result.pool.alive)));
    line("created", grouped(result.pool.created));
    line("destroyed + alive",
         fmt::format("{} + {}", grouped(result.pool.destroyed), grouped(result.pool.alive)));
    line("live look-ups", grouped(all.live_lookups));
    line("content mismatches", grouped(all.content_mismatches));
    line("stale look-ups", grouped(all.stale_lookups));
    line("stale, wrongly accepted", grouped(all.stale_accepted) + bound_text(all));
    if (all.forged_lookups != 0) {
        line("look-ups by forged handles", grouped(all.forged_lookups));
    }
    if (all.at_neighbours != 0) {
        line("operations at neighbours", grouped(all.at_neighbours));
    }
    if (result.reuse_distances.count() != 0) {
        line("smallest reuse distance",
             fmt::format("{}, at least {} wanted", grouped(result.pool.smallest_reuse_distance),
                         grouped(result.pool.reuse_delay)));
    }
    for (const auto& [name, value] : result.facts) {
        line(name, value);
    }
    line("memory resident",
         fmt::format("{:.1f} MiB", static_cast<double>(result.pool.bytes_resident) / (1 << 20)));
    line("latency", fmt::format("{:>10}{:>12}{:>12}{:>12}", "median", "99 %", "99.9 %", "worst"));
    for (std::size_t what = 0; what < operation_names.size(); ++what) {
        if (const histogram& values = result.latencies[what]; values.count() != 0) {
            line(fmt::format("  {}", operation_names[what]),
                 fmt::format("{:>10}{:>12}{:>12}{:>12}", duration(values.quantile(0.5)),
                             duration(values.quantile(0.99)), duration(values.quantile(0.999)),
                             duration(values.largest())));
        }
    }
    line("violations", grouped_sum(all.violations));
    for (const std::string& message : all.messages) {
        text += fmt::format("  {}\n", message);
    }
    if (all.violations > all.messages.size()) {
        text += fmt::format("  and {} more\n", grouped(all.violations - all.messages.size()));
    }
    if (!result.passed() && !result.again.empty()) {
        line("to run it again", result.again);
    }
    line("result", result.passed() ? "passed" : "FAILED");
    return text;
}

nlohmann::json to_json(const report& result) {
    const tally& all = result.all;
    nlohmann::json json;
    json["command"] = result.command;
    if (!result.summary.empty()) {
        json["name"] = result.command;
        json["summary"] = result.summary;
    }
    if (!result.again.empty()) {
        json["again"] = result.again;
    }
    for (const auto& [name, value] : result.parameters) {
        json["parameters"][name] = value;
    }
    for (const auto& [name, value] : result.facts) {
        json["facts"][name] = value;
    }
    json["threads"] = result.threads;
    json["frames"] = result.frames;
    json["seconds"] = result.seconds;
    json["operations"] = result.timed_operations;
    json["operations_per_second"] = rate(result);
    json["operations_at_the_end"] = all.operations - result.timed_operations;
    json["operations_checked"] = all.checked;
    json["sampled"] = result.sampled;
    json["alive_peak"] = result.alive_peak;
    json["alive_final"] = result.pool.alive;
    json["created"] = result.pool.created;
    json["destroyed"] = result.pool.destroyed;
    json["live_lookups"] = all.live_lookups;
    json["content_mismatches"] = all.content_mismatches;
    json["stale_lookups"] = all.stale_lookups;
    json["stale_accepted"] = all.stale_accepted;
    const std::optional<double> bound = bound_95(all);
    json["stale_accepted_bound_95"] = bound ? nlohmann::json(*bound) : nlohmann::json();
    json["forged_lookups"] = all.forged_lookups;
    json["neighbour_operations"] = all.at_neighbours;
    json["reuse_delay"] = result.pool.reuse_delay;
    json["smallest_reuse_distance"] = result.reuse_distances.count() == 0
                                          ? nlohmann::json()
                                          : nlohmann::json(result.pool.smallest_reuse_distance);
    json["latencies_nanoseconds"] = latencies_of(result);
    if (const histogram& compaction = result.latency(operation::compact); compaction.count() != 0) {
        json["compaction_microseconds"] = {{"median", microseconds(compaction.quantile(0.5))},
                                           {"p99", microseconds(compaction.quantile(0.99))},
                                           {"worst", microseconds(compaction.largest())}};
    }
    if (!result.compactions.points().empty()) {
        json["compaction_by_frame"] = compactions_of(result);
    }
    if (!result.over_time.points().empty()) {
        json["timeline"] = timeline_of(result);
    }
    if (result.reuse_distances.count() != 0) {
        json["reuse_distances"] = buckets_of(result.reuse_distances);
    }
    json["bytes_resident"] = result.pool.bytes_resident;
    json["violations"] = all.violations;
    json["violation_messages"] = all.messages;
    return json;
}

} // namespace handlepool::stress
