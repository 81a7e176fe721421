#include "result_file.hpp"

#include "json_value.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace handlepool::stress::page {

namespace {

// ---- Pieces
// -------------------------------------------------------------------------------------------------

std::string optional_text(const json_value& object, std::string_view key) {
    const std::optional<json_value> found = object.find(key);
    return found ? found->text() : std::string();
}

std::optional<std::uint64_t> optional_count(const json_value& object, std::string_view key) {
    const std::optional<json_value> found = object.find(key);
    return found ? std::optional(found->count()) : std::nullopt;
}

std::optional<double> optional_number(const json_value& object, std::string_view key) {
    const std::optional<json_value> found = object.find(key);
    return found ? std::optional(found->number()) : std::nullopt;
}

bool has_value(const json_value& object, std::string_view key) {
    const std::optional<json_value> found = object.find(key);
    return found && !found->is_null();
}

named_texts texts(const json_value& object, std::string_view key) {
    named_texts all;
    if (const std::optional<json_value> found = object.find(key)) {
        for (const auto& [name, value] : found->members()) {
            all.emplace_back(name, value.text());
        }
    }
    return all;
}

template <class T>
void check_length(const json_value& array, const std::vector<T>& values, std::size_t length,
                  std::string_view other) {
    if (values.size() != length) {
        array.fail(fmt::format("has {} elements, but must have {}, as \"{}\" beside it", values.size(),
                               length, other));
    }
}

template <class T>
void check_order(const json_value& array, const std::vector<T>& values, bool strictly) {
    for (std::size_t i = 1; i < values.size(); ++i) {
        if (values[i] < values[i - 1] || (strictly && values[i] == values[i - 1])) {
            array.fail_at(i, fmt::format("is {}, but must {} {}, the element before it", values[i],
                                         strictly ? "be above" : "not be below", values[i - 1]));
        }
    }
}

histogram read_histogram(const json_value& object) {
    if (!object.has("upper") && !object.has("counts")) {
        return {};
    }
    const json_value upper = object.at("upper");
    const json_value counts = object.at("counts");
    histogram result{upper.numbers(), counts.counts()};
    check_order(upper, result.upper, true);
    check_length(counts, result.counts, result.upper.size(), "upper");
    return result;
}

latency read_latency(std::string operation, const json_value& object) {
    return {.operation = std::move(operation),
            .count = optional_count(object, "count"),
            .median = optional_number(object, "median"),
            .p99 = optional_number(object, "p99"),
            .p999 = optional_number(object, "p999"),
            .worst = optional_number(object, "worst"),
            .distribution = read_histogram(object)};
}

// The order in which people read them; other names follow.
std::size_t rank(std::string_view operation) {
    constexpr std::array<std::string_view, 5> known{"emplace", "erase", "find", "contains", "compact"};
    return static_cast<std::size_t>(std::find(known.begin(), known.end(), operation) - known.begin());
}

std::vector<latency> read_latencies(const json_value& object) {
    std::vector<latency> all;
    for (const auto& [operation, value] : object.members()) {
        all.push_back(read_latency(operation, value));
    }
    std::sort(all.begin(), all.end(), [](const latency& left, const latency& right) {
        return std::pair(rank(left.operation), std::string_view(left.operation)) <
               std::pair(rank(right.operation), std::string_view(right.operation));
    });
    return all;
}

timeline read_timeline(const json_value& object) {
    const json_value seconds = object.at("seconds");
    timeline result{.seconds = seconds.numbers()};
    check_order(seconds, result.seconds, false);
    if (const std::optional<json_value> operations = object.find("operations")) {
        result.operations = operations->counts();
        check_length(*operations, result.operations, result.seconds.size(), "seconds");
        check_order(*operations, result.operations, false);
    }
    if (const std::optional<json_value> alive = object.find("alive")) {
        result.alive = alive->counts();
        check_length(*alive, result.alive, result.seconds.size(), "seconds");
    }
    return result;
}

compaction_series read_compaction_series(const json_value& object) {
    const json_value frames = object.at("frame");
    const json_value microseconds = object.at("microseconds");
    compaction_series result{.frames = {}, .microseconds = microseconds.numbers()};
    for (const std::uint64_t frame : frames.counts()) {
        result.frames.push_back(static_cast<double>(frame));
    }
    check_order(frames, result.frames, true);
    check_length(microseconds, result.microseconds, result.frames.size(), "frame");
    return result;
}

// ---- A result
// -----------------------------------------------------------------------------------------------

// A page must not call a run passed whose figures say otherwise.
void check_violations(const json_value& object, const result& read) {
    const auto check = [&](std::uint64_t number, std::string_view key) {
        if (read.violations == 0 && number != 0) {
            object.at("violations")
                .fail(fmt::format("is 0, but must be above 0, because of \"{}\" beside it", key));
        }
    };
    check(read.violation_messages.size(), "violation_messages");
    check(read.content_mismatches.value_or(0), "content_mismatches");
    check(read.stale_accepted.value_or(0), "stale_accepted");
}

void read_figures(const json_value& object, result& read) {
    read.threads = optional_count(object, "threads");
    read.frames = optional_count(object, "frames");
    read.seconds = optional_number(object, "seconds");
    read.operations = optional_count(object, "operations");
    read.operations_per_second = optional_number(object, "operations_per_second");
    read.operations_checked = optional_count(object, "operations_checked");
    read.sampled = optional_count(object, "sampled");
    read.alive_peak = optional_count(object, "alive_peak");
    read.alive_final = optional_count(object, "alive_final");
    read.created = optional_count(object, "created");
    read.destroyed = optional_count(object, "destroyed");
    read.live_lookups = optional_count(object, "live_lookups");
    read.content_mismatches = optional_count(object, "content_mismatches");
    read.stale_lookups = optional_count(object, "stale_lookups");
    read.stale_accepted = optional_count(object, "stale_accepted");
    if (has_value(object, "stale_accepted_bound_95")) {
        read.stale_accepted_bound = optional_number(object, "stale_accepted_bound_95");
    }
    read.forged_lookups = optional_count(object, "forged_lookups");
    read.reuse_delay = optional_count(object, "reuse_delay");
    if (has_value(object, "smallest_reuse_distance")) {
        read.smallest_reuse_distance = optional_count(object, "smallest_reuse_distance");
    }
    read.bytes_resident = optional_count(object, "bytes_resident");
}

void read_series(const json_value& object, result& read) {
    if (const auto latencies = object.find("latencies_nanoseconds")) {
        read.latencies = read_latencies(*latencies);
    }
    if (const auto times = object.find("compaction_microseconds")) {
        read.compaction = compaction_times{times->at("median").number(), times->at("p99").number(),
                                           times->at("worst").number()};
    }
    if (const auto series = object.find("compaction_by_frame")) {
        read.compaction_by_frame = read_compaction_series(*series);
    }
    if (const auto line = object.find("timeline")) {
        read.over_time = read_timeline(*line);
    }
    if (const auto distances = object.find("reuse_distances")) {
        read.reuse_distances = read_histogram(*distances);
    }
}

result read_result(const json_value& object) {
    result read{.name = object.at("command").text()};
    if (object.has("name")) {
        read.name = object.at("name").text();
    }
    read.violations = object.at("violations").count();
    if (const auto messages = object.find("violation_messages")) {
        for (const json_value& message : messages->elements()) {
            read.violation_messages.push_back(message.text());
        }
    }
    read.summary = optional_text(object, "summary");
    read.again = optional_text(object, "again");
    read.parameters = texts(object, "parameters");
    read.facts = texts(object, "facts");
    read_figures(object, read);
    read_series(object, read);
    check_violations(object, read);
    return read;
}

// ---- A document
// ---------------------------------------------------------------------------------------------

named_texts read_machine(const json_value& object) {
    named_texts all;
    if (const auto processors = optional_count(object, "processors")) {
        all.emplace_back("processors", fmt::to_string(*processors));
    }
    for (const std::string_view key : {"system", "compiler", "build"}) {
        if (std::string value = optional_text(object, key); !value.empty()) {
            all.emplace_back(key, std::move(value));
        }
    }
    return all;
}

nlohmann::json parse(const std::string& file, std::string_view text) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        throw std::runtime_error(
            fmt::format("{}: is empty, but must be what run, replay or churn wrote with --json", file));
    }
    try {
        return nlohmann::json::parse(text);
    } catch (const nlohmann::json::exception& error) {
        std::string_view what = error.what(); // begins with "[json.exception. ...] "
        if (const std::size_t end = what.find("] "); end != std::string_view::npos) {
            what.remove_prefix(end + 2);
        }
        throw std::runtime_error(fmt::format("{}: is no JSON: {}", file, what));
    }
}

} // namespace

result_document parse_result(std::string file, std::string_view text) {
    const nlohmann::json json = parse(file, text);
    const json_value root(json, file);
    result_document document{.file = std::move(file)};
    const std::optional<json_value> scenarios = root.find("scenarios");
    if (!scenarios) {
        if (!root.has("violations")) {
            root.fail("has neither \"scenarios\" nor \"violations\", but must be what run, replay or churn "
                      "wrote with --json");
        }
        document.results.push_back(read_result(root));
    } else {
        for (const json_value& scenario : scenarios->elements()) {
            document.results.push_back(read_result(scenario));
        }
        if (document.results.empty()) {
            scenarios->fail("is empty, but must have one result at least");
        }
    }
    document.version = optional_text(root, "version");
    document.command_line = optional_text(root, "command_line");
    document.started = optional_text(root, "started");
    if (const auto machine = root.find("machine")) {
        document.machine = read_machine(*machine);
    }
    return document;
}

result_document read_result_file(const std::string& path) {
    errno = 0;
    std::ifstream stream(path, std::ios::binary);
    std::string text;
    std::array<char, 65536> part;
    while (stream.read(part.data(), part.size()) || stream.gcount() > 0) {
        text.append(part.data(), static_cast<std::size_t>(stream.gcount()));
    }
    if (!stream.is_open() || stream.bad()) {
        throw std::runtime_error(
            fmt::format("{}: cannot be read: {}", path, std::generic_category().message(errno)));
    }
    return parse_result(path, text);
}

} // namespace handlepool::stress::page
