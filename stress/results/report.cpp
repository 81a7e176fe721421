// SPDX-License-Identifier: MIT
#include "report.hpp"

#include "numbers.hpp"

#include <handlepool/detail/text/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace handlepool::stress {

namespace {

constexpr const char* row_format = "{:<18}{:>8} {:>10} {:>8} {:>8} {:>8} {:>8} {:>5}\n";

std::string millions(double number) {
    return fmt::format("{:.2f} M", number / 1e6);
}
std::string millions(std::uint64_t number) {
    return millions(static_cast<double>(number));
}

struct report_lines {
    std::string text{};

    void operator()(std::string_view what, std::string_view value) {
        text += fmt::format("{:<28} {}\n", what, detail::printable(value));
    }
};

// What follows the number of false accepts, or nothing.
std::string bound_text(const findings& all) {
    const std::optional<double> bound = all.accepted_bound_95();
    return bound ? fmt::format(", below {:.1e} of all with 95 % confidence", *bound) : std::string();
}

// What follows the number of checked operations, or nothing when all are.
std::string sample_text(std::size_t sampled) {
    return sampled == 1 ? std::string() : fmt::format(", those of one slot in {}", sampled);
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
    for (time_series::point point : next.over_time.points()) {
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
    report_lines line;
    const findings& all = result.all;

    line("run", result.command);
    for (const auto& [name, value] : result.parameters) {
        line(fmt::format("  {}", name), value);
    }
    line("threads", grouped(result.threads));
    line("frames", grouped(result.frames));
    line("seconds", fmt::format("{:.3f}", result.seconds));
    line("operations", fmt::format("{}, {:.2f} million a second", grouped(result.timed_operations),
                                   result.operations_per_second() / 1e6));
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
    if (all.stale_explained != 0) {
        line("stale, explained", grouped(all.stale_explained));
    }
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
        line.text += fmt::format("  {}\n", message);
    }
    if (all.violations > all.messages.size()) {
        line.text += fmt::format("  and {} more\n", grouped(all.violations - all.messages.size()));
    }
    if (!result.passed() && !result.again.empty()) {
        line("to run it again", result.again);
    }
    line("result", result.passed() ? "passed" : "FAILED");
    return line.text;
}

std::string table_head() {
    return fmt::format(row_format, "scenario", "seconds", "operations", "a second", "checked", "stale",
                       "accepted", "wrong");
}

std::string table_row(const report& result) {
    return fmt::format(row_format, result.command, fmt::format("{:.1f}", result.seconds),
                       millions(result.all.operations), millions(result.operations_per_second()),
                       millions(result.all.checked), millions(result.all.stale_lookups),
                       result.all.stale_accepted, result.all.violations);
}

std::string summary_of(std::span<const report> results) {
    findings all;
    double seconds = 0;
    const bool passed =
        std::all_of(results.begin(), results.end(), [](const report& each) { return each.passed(); });
    for (const report& each : results) {
        all += each.all;
        seconds += each.seconds;
    }
    report_lines line;
    line("operations", grouped_sum(all.operations));
    line("checked in histories",
         grouped_sum(all.checked) + sample_text(results.empty() ? 1 : results.front().sampled));
    line("seconds", fmt::format("{:.1f}", seconds));
    line("stale look-ups", grouped_sum(all.stale_lookups));
    line("stale, wrongly accepted", grouped_sum(all.stale_accepted) + bound_text(all));
    line("stale, explained", grouped_sum(all.stale_explained));
    line("look-ups by forged handles", grouped_sum(all.forged_lookups));
    line("violations", grouped_sum(all.violations));
    for (const report& each : results) {
        if (!each.passed()) {
            line("failed", each.command);
        }
    }
    line("result", passed ? "passed" : "FAILED");
    return line.text;
}

} // namespace handlepool::stress
