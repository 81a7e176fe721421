// SPDX-License-Identifier: MIT
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11/algorithm.hpp>
#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The result files: what `run`, `replay` and `churn` write with --json, and what a page shows. Members have
// the names of the JSON keys, and stand here only; stress/README.md says what they mean. A file must have the
// texts and numbers that are not optional; optional members and maps are not written when they are empty.
// (Boost.Describe lists the members: code made by nlohmann-json's macros takes -1 for a count, can't say
// where a wrong value stands, and leaves nothing out.)
namespace handlepool::stress {

// A value that the harness knows to be unknown: null in the file, where it may be missing too.
template <class T>
struct nullable : std::optional<T> {
    using std::optional<T>::optional;
    nullable(std::optional<T> value) : std::optional<T>(std::move(value)) {}
};

// counts[i] values are about upper[i], and not above: buckets are narrow, and empty ones may be left out.
struct bucket_counts {
    std::vector<double> upper{};
    std::vector<std::uint64_t> counts{};
};
BOOST_DESCRIBE_STRUCT(bucket_counts, (), (upper, counts))

// Of one operation, in nanoseconds.
struct latency_figures : bucket_counts {
    std::optional<std::uint64_t> count{};
    std::optional<double> median{};
    std::optional<double> p99{};
    std::optional<double> p999{};
    std::optional<double> worst{};
};
BOOST_DESCRIBE_STRUCT(latency_figures, (bucket_counts), (count, median, p99, p999, worst))

// The operations in the order in which people read them; other names follow.
struct operation_order {
    bool operator()(std::string_view left, std::string_view right) const noexcept;
    using is_transparent = void;
};

// Of the compactions that end frames, in microseconds.
struct compaction_figures {
    double median = 0;
    double p99 = 0;
    double worst = 0;
};
BOOST_DESCRIBE_STRUCT(compaction_figures, (), (median, p99, worst))

// The longest compaction of the frames after the point before, up to this one.
struct compaction_points {
    std::vector<std::uint64_t> frame{};
    std::vector<double> microseconds{};
};
BOOST_DESCRIBE_STRUCT(compaction_points, (), (frame, microseconds))

struct timeline_points {
    std::vector<double> seconds{};
    std::vector<std::uint64_t> operations{}; // running total
    std::vector<std::uint64_t> alive{};
};
BOOST_DESCRIBE_STRUCT(timeline_points, (), (seconds, operations, alive))

using text_map = std::map<std::string, std::string>;

// A run of one scenario.
struct result {
    std::string command{};
    std::optional<std::string> name{};
    std::optional<std::string> summary{};
    std::optional<std::string> again{}; // the command line that does the same
    text_map parameters{};
    text_map facts{};

    std::optional<std::uint64_t> threads{};
    std::optional<std::uint64_t> frames{};
    std::optional<double> seconds{};
    std::optional<std::uint64_t> operations{};
    std::optional<double> operations_per_second{};
    std::optional<std::uint64_t> operations_at_the_end{};
    std::optional<std::uint64_t> operations_checked{};
    std::optional<std::uint64_t> sampled{};
    std::optional<std::uint64_t> alive_peak{};
    std::optional<std::uint64_t> alive_final{};
    std::optional<std::uint64_t> created{};
    std::optional<std::uint64_t> destroyed{};
    std::optional<std::uint64_t> live_lookups{};
    std::optional<std::uint64_t> content_mismatches{};
    std::optional<std::uint64_t> stale_lookups{};
    std::optional<std::uint64_t> stale_accepted{};
    nullable<double> stale_accepted_bound_95{};
    std::optional<std::uint64_t> stale_explained{};
    std::optional<std::uint64_t> forged_lookups{};
    std::optional<std::uint64_t> neighbour_operations{};
    std::optional<std::uint64_t> reuse_delay{};
    nullable<std::uint64_t> smallest_reuse_distance{};
    std::optional<std::uint64_t> bytes_resident{};

    std::map<std::string, latency_figures, operation_order> latencies_nanoseconds{};
    std::optional<compaction_figures> compaction_microseconds{};
    std::optional<compaction_points> compaction_by_frame{};
    std::optional<timeline_points> timeline{};
    std::optional<bucket_counts> reuse_distances{};

    std::uint64_t violations = 0;
    std::vector<std::string> violation_messages{};

    const std::string& title() const noexcept { return name ? *name : command; }
    bool passed() const noexcept { return violations == 0; }
};
BOOST_DESCRIBE_STRUCT(result, (),
                      (command, name, summary, again, parameters, facts, threads, frames, seconds, operations,
                       operations_per_second, operations_at_the_end, operations_checked, sampled, alive_peak,
                       alive_final, created, destroyed, live_lookups, content_mismatches, stale_lookups,
                       stale_accepted, stale_accepted_bound_95, stale_explained, forged_lookups,
                       neighbour_operations, reuse_delay, smallest_reuse_distance, bytes_resident,
                       latencies_nanoseconds, compaction_microseconds, compaction_by_frame, timeline,
                       reuse_distances, violations, violation_messages))

struct machine_description {
    std::optional<std::uint64_t> processors{};
    std::optional<std::string> system{};
    std::optional<std::string> compiler{};
    std::optional<std::string> build{};
};
BOOST_DESCRIBE_STRUCT(machine_description, (), (processors, system, compiler, build))

// What `run` writes. `replay` and `churn` write a result alone.
struct result_document {
    std::optional<std::string> version{};
    std::optional<std::string> command_line{};
    std::optional<std::string> started{};
    std::optional<machine_description> machine{};
    std::vector<result> scenarios{};
};
BOOST_DESCRIBE_STRUCT(result_document, (), (version, command_line, started, machine, scenarios))

template <class T>
concept described = boost::describe::has_describe_members<T>::value;

// Calls `each(name, member)`.
template <described T, class Object, class Each>
void for_each_member(Object& object, Each each) {
    using namespace boost::describe;
    boost::mp11::mp_for_each<describe_members<T, mod_public | mod_inherited>>(
        [&](auto member) { each(member.name, object.*member.pointer); });
}

struct report; // report.hpp

result result_of(const report& run);

// What --version prints: the program's name and version, and how it was built.
std::string version_text();

// A whole document: `command_line` is what the user has typed, at the time `started`.
result_document document_of(std::span<const report> results, const std::string& command_line,
                            std::chrono::system_clock::time_point started);

nlohmann::json to_json(const result& written);
nlohmann::json to_json(const result_document& written);

} // namespace handlepool::stress
