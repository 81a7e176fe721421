#include "report.hpp"

#include "count_sum.hpp"
#include "result.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
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

compaction_points points_of(const longest_series& compactions) {
    compaction_points points;
    for (const longest_series::point& point : compactions.points()) {
        points.frame.push_back(point.last);
        points.microseconds.push_back(point.longest);
    }
    return points;
}

timeline_points points_of(const timeline& over_time) {
    timeline_points points;
    for (const timeline::point& point : over_time.points()) {
        points.seconds.push_back(point.seconds);
        points.operations.push_back(point.operations);
        points.alive.push_back(point.alive);
    }
    return points;
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

result result_of(const report& run) {
    const tally& all = run.all;
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
    figures.operations_per_second = rate(run);
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
    figures.stale_accepted_bound_95 = bound_95(all);
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
    if (!run.compactions.points().empty()) {
        figures.compaction_by_frame = points_of(run.compactions);
    }
    if (!run.over_time.points().empty()) {
        figures.timeline = points_of(run.over_time);
    }
    figures.bytes_resident = run.pool.bytes_resident;
    figures.violations = all.violations;
    figures.violation_messages = all.messages;
    return figures;
}

} // namespace handlepool::stress
