#include "run_report.hpp"

#include "result.hpp"
#include "text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <thread>

namespace handlepool::stress {

namespace {

constexpr const char* row_format = "{:<10}{:>8}{:>11}{:>9}{:>10}{:>11}{:>9}{:>11}\n";

double millions(std::uint64_t number) {
    return static_cast<double>(number) / 1e6;
}

std::string system_name() {
    utsname names{};
    if (uname(&names) != 0) {
        return "unknown";
    }
    return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

} // namespace

std::string table_head() {
    return fmt::format(row_format, "scenario", "seconds", "operations", "a second", "checked", "stale",
                       "accepted", "violations");
}

std::string table_row(const report& result) {
    const double seconds = std::max(result.seconds, 1e-9);
    return fmt::format(row_format, result.command, fmt::format("{:.1f}", result.seconds),
                       fmt::format("{:.2f} M", millions(result.all.operations)),
                       fmt::format("{:.2f} M", millions(result.timed_operations) / seconds),
                       fmt::format("{:.2f} M", millions(result.all.checked)),
                       fmt::format("{:.2f} M", millions(result.all.stale_lookups)), result.all.stale_accepted,
                       result.all.violations);
}

std::string summary_of(std::span<const report> results) {
    tally all;
    double seconds = 0;
    const bool passed =
        std::all_of(results.begin(), results.end(), [](const report& each) { return each.passed(); });
    for (const report& each : results) {
        all += each.all;
        seconds += each.seconds;
    }
    std::string text;
    const auto line = [&text](std::string_view what, const std::string& value) {
        text += fmt::format("{:<28} {}\n", what, value);
    };
    line("operations", grouped_sum(all.operations));
    line("checked in histories",
         grouped_sum(all.checked) + sample_text(results.empty() ? 1 : results.front().sampled));
    line("seconds", fmt::format("{:.1f}", seconds));
    line("stale look-ups", grouped_sum(all.stale_lookups));
    line("stale, wrongly accepted", grouped_sum(all.stale_accepted) + bound_text(all));
    line("look-ups by forged handles", grouped_sum(all.forged_lookups));
    line("violations", grouped_sum(all.violations));
    for (const report& each : results) {
        if (!each.passed()) {
            line("failed", each.command);
        }
    }
    line("result", passed ? "passed" : "FAILED");
    return text;
}

result_document document_of(std::span<const report> results, const std::string& command_line,
                            std::chrono::system_clock::time_point started) {
    result_document document{
        .version = HANDLEPOOL_VERSION,
        .command_line = command_line,
        .started =
            fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(started))),
        .machine = machine_description{.processors = std::thread::hardware_concurrency(),
                                       .system = system_name(),
                                       .compiler = HANDLEPOOL_COMPILER,
                                       .build = HANDLEPOOL_BUILD}};
    std::transform(results.begin(), results.end(), std::back_inserter(document.scenarios), result_of);
    return document;
}

} // namespace handlepool::stress
