#include "record_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace handlepool::stress {

namespace {

double seconds(const trace_summary& summary) {
    return static_cast<double>(summary.duration_ns) / 1e9;
}

} // namespace

std::string to_text(const record_result& recorded, const record_options& options) {
    const trace_summary& summary = recorded.summary;
    std::string text =
        fmt::format("{}: {} events of {} threads in {:.2f} s{}; {} allocations, {} frees, {} of them by "
                    "another thread, {} objects alive at the peak\n",
                    options.output.string(), summary.events, summary.threads, seconds(summary),
                    recorded.truncated ? ", cut at the limit" : "", summary.allocations, summary.frees,
                    summary.cross_thread_frees, summary.peak_alive);
    if (recorded.signal) {
        text += fmt::format("{}: was killed by signal {}; its trace was written\n", options.command.front(),
                            *recorded.signal);
    } else if (recorded.exit_status.value_or(0) != 0) {
        text += fmt::format("{}: exited with {}; its trace was written\n", options.command.front(),
                            *recorded.exit_status);
    }
    return text;
}

nlohmann::json to_json(const record_result& recorded, const record_options& options) {
    const trace_summary& summary = recorded.summary;
    nlohmann::json json;
    json["command"] = "record";
    json["program"] = options.command;
    json["trace"] = options.output.string();
    json["events"] = summary.events;
    json["threads"] = summary.threads;
    json["allocations"] = summary.allocations;
    json["frees"] = summary.frees;
    json["cross_thread_frees"] = summary.cross_thread_frees;
    json["alive_peak"] = summary.peak_alive;
    json["seconds"] = seconds(summary);
    json["dropped_frees"] = recorded.dropped_frees;
    json["inferred_frees"] = recorded.inferred_frees;
    json["truncated"] = recorded.truncated;
    json["exit_status"] = recorded.exit_status ? nlohmann::json(*recorded.exit_status) : nlohmann::json();
    json["signal"] = recorded.signal ? nlohmann::json(*recorded.signal) : nlohmann::json();
    return json;
}

} // namespace handlepool::stress
