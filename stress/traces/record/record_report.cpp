// SPDX-License-Identifier: MIT
#include "recorder.hpp"

#include <handlepool/detail/text/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string_view>

namespace handlepool::stress {

namespace {

double seconds(const trace_summary& summary) {
    return static_cast<double>(summary.duration_ns) / 1e9;
}

} // namespace

std::string to_text(const record_result& recorded, const record_options& options) {
    const trace_summary& summary = recorded.summary;
    const std::string program = detail::printable(recorded.command.front());
    const bool is_recovered = !recorded.exit_status && !recorded.signal;
    const std::string_view cut = !recorded.truncated  ? ""
                                 : !recorded.had_room ? ", cut"
                                 : is_recovered       ? ", as far as it was left"
                                                      : ", cut at the limit";
    std::string text = fmt::format(
        "{}: {} events of {} threads in {:.2f} s{}; {} allocations, {} frees, {} of them by "
        "another thread, {} objects alive at the peak\n",
        detail::printable(options.output.string()), summary.events, summary.threads, seconds(summary), cut,
        summary.allocations, summary.frees, summary.cross_thread_frees, summary.peak_alive);
    if (!recorded.had_room) {
        text += fmt::format("{}: the recording ended early, because the disk had no room for more events\n",
                            program);
    }
    if (recorded.replaced_by) {
        text += fmt::format("{}: replaced itself by {}, which was not recorded; record that program itself\n",
                            program, detail::printable(*recorded.replaced_by));
    }
    if (recorded.forks != 0) {
        text += fmt::format("{}: called fork {}; what that began was not recorded\n", program,
                            recorded.forks == 1 ? "once" : fmt::format("{} times", recorded.forks));
    }
    if (recorded.new_without_malloc) {
        text +=
            fmt::format("{}: has the operator new of {}, which calls no malloc: what that creates was not "
                        "recorded\n",
                        program, detail::printable(*recorded.new_without_malloc));
    }
    if (recorded.signal) {
        text +=
            fmt::format("{}: was killed by signal {}; its trace was written\n", program, *recorded.signal);
    } else if (recorded.exit_status.value_or(0) != 0) {
        text += fmt::format("{}: exited with {}; its trace was written\n", program, *recorded.exit_status);
    }
    return text;
}

nlohmann::json to_json(const record_result& recorded, const record_options& options) {
    const trace_summary& summary = recorded.summary;
    const auto or_null = [](const auto& value) { return value ? nlohmann::json(*value) : nlohmann::json(); };
    return {{"command", "record"},
            {"program", recorded.command},
            {"trace", options.output.string()},
            {"events", summary.events},
            {"threads", summary.threads},
            {"allocations", summary.allocations},
            {"frees", summary.frees},
            {"cross_thread_frees", summary.cross_thread_frees},
            {"alive_peak", summary.peak_alive},
            {"seconds", seconds(summary)},
            {"dropped_frees", recorded.dropped_frees},
            {"inferred_frees", recorded.inferred_frees},
            {"truncated", recorded.truncated},
            {"had_room", recorded.had_room},
            {"replaced_by", or_null(recorded.replaced_by)},
            {"forks", recorded.forks},
            {"new_without_malloc", or_null(recorded.new_without_malloc)},
            {"exit_status", or_null(recorded.exit_status)},
            {"signal", or_null(recorded.signal)}};
}

} // namespace handlepool::stress
