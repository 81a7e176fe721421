#include "report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace handlepool::stress {

namespace {

struct times {
    double median = 0; // microseconds, like all here
    double p99 = 0;
    double worst = 0;
};

times summarize(std::vector<std::chrono::nanoseconds> durations) {
    if (durations.empty()) {
        return {};
    }
    std::sort(durations.begin(), durations.end());
    const auto at = [&](double part) {
        const auto position =
            static_cast<std::size_t>(part * static_cast<double>(durations.size() - 1) + 0.5);
        return std::chrono::duration<double, std::micro>(durations[position]).count();
    };
    return {at(0.5), at(0.99), at(1.0)};
}

// With no false accept in n tries, their rate is below 3/n with a probability of 95 % (the rule of three).
// With some, or without tries, nothing is known.
std::optional<double> bound_95(const tally& all) {
    if (all.stale_lookups == 0 || all.stale_accepted != 0) {
        return std::nullopt;
    }
    return std::min(1.0, 3.0 / static_cast<double>(all.stale_lookups));
}

// Operations a second.
double rate(const report& result) {
    return static_cast<double>(result.timed_operations) / std::max(result.seconds, 1e-9);
}

std::string grouped(std::uint64_t number) {
    const std::string digits = fmt::to_string(number);
    std::string result;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i != 0 && (digits.size() - i) % 3 == 0) {
            result += ',';
        }
        result += digits[i];
    }
    return result;
}

} // namespace

std::string to_text(const report& result) {
    std::string text;
    const auto line = [&text](std::string_view what, const std::string& value) {
        fmt::format_to(std::back_inserter(text), "{:<28} {}\n", what, value);
    };
    const tally& all = result.all;
    const times compaction = summarize(result.compaction_times);

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
    line("alive, peak and final",
         fmt::format("{}, {}", grouped(result.alive_peak), grouped(result.pool.alive)));
    line("created", grouped(result.pool.created));
    line("destroyed + alive",
         fmt::format("{} + {}", grouped(result.pool.destroyed), grouped(result.pool.alive)));
    line("compaction, microseconds", fmt::format("{:.1f} median, {:.1f} 99th percentile, {:.1f} worst",
                                                 compaction.median, compaction.p99, compaction.worst));
    line("live look-ups", grouped(all.live_lookups));
    line("content mismatches", grouped(all.content_mismatches));
    line("stale look-ups", grouped(all.stale_lookups));
    const std::optional<double> bound = bound_95(all);
    line("stale, wrongly accepted",
         grouped(all.stale_accepted) +
             (bound ? fmt::format(", below {:.1e} of all with 95 % confidence", *bound) : std::string()));
    line("memory resident",
         fmt::format("{:.1f} MiB", static_cast<double>(result.pool.bytes_resident) / (1 << 20)));
    line("violations", grouped(all.violations));
    for (const std::string& message : all.messages) {
        fmt::format_to(std::back_inserter(text), "  {}\n", message);
    }
    if (all.violations > all.messages.size()) {
        fmt::format_to(std::back_inserter(text), "  and {} more\n",
                       grouped(all.violations - all.messages.size()));
    }
    line("result", result.passed() ? "passed" : "FAILED");
    return text;
}

nlohmann::json to_json(const report& result) {
    const tally& all = result.all;
    const times compaction = summarize(result.compaction_times);
    nlohmann::json json;
    json["command"] = result.command;
    for (const auto& [name, value] : result.parameters) {
        json["parameters"][name] = value;
    }
    json["threads"] = result.threads;
    json["frames"] = result.frames;
    json["seconds"] = result.seconds;
    json["operations"] = result.timed_operations;
    json["operations_per_second"] = rate(result);
    json["operations_at_the_end"] = all.operations - result.timed_operations;
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
    json["compaction_microseconds"] = {
        {"median", compaction.median}, {"p99", compaction.p99}, {"worst", compaction.worst}};
    json["bytes_resident"] = result.pool.bytes_resident;
    json["violations"] = all.violations;
    json["violation_messages"] = all.messages;
    return json;
}

} // namespace handlepool::stress
