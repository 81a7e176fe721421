#include "result_file.hpp"

#include "json_value.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::stress::page {

namespace {

// ---- Figures that belong together

// An array that must be there.
template <class T>
void check_order(const json_value& object, const char* key, const std::vector<T>& values, bool strictly) {
    const json_value array = object.at(key);
    for (std::size_t i = 1; i < values.size(); ++i) {
        if (values[i] < values[i - 1] || (strictly && values[i] == values[i - 1])) {
            array.fail_at(i, fmt::format("is {}, but must {} {}, the element before it", values[i],
                                         strictly ? "be above" : "not be below", values[i - 1]));
        }
    }
}

template <class T>
void check_length(const json_value& object, const char* key, const std::vector<T>& values, std::size_t length,
                  std::string_view other) {
    const json_value array = object.at(key);
    if (values.size() != length) {
        array.fail(fmt::format("has {} elements, but must have {}, as \"{}\" beside it", values.size(),
                               length, other));
    }
}

template <class T>
void check(const json_value&, const T&) {}

void check(const json_value& object, const bucket_counts& read) {
    if (object.has("upper") || object.has("counts")) { // a latency may have neither
        check_order(object, "upper", read.upper, true);
        check_length(object, "counts", read.counts, read.upper.size(), "upper");
    }
}

void check(const json_value& object, const timeline_points& read) {
    check_order(object, "seconds", read.seconds, false);
    if (object.has("operations")) {
        check_length(object, "operations", read.operations, read.seconds.size(), "seconds");
        check_order(object, "operations", read.operations, false);
    }
    if (object.has("alive")) {
        check_length(object, "alive", read.alive, read.seconds.size(), "seconds");
    }
}

void check(const json_value& object, const compaction_points& read) {
    check_order(object, "frame", read.frame, true);
    check_length(object, "microseconds", read.microseconds, read.frame.size(), "frame");
}

// A page must not call a run passed whose figures say otherwise.
void check(const json_value& object, const result& read) {
    const auto check_zero = [&](std::uint64_t number, const char* key) {
        if (read.violations == 0 && number != 0) {
            object.at("violations")
                .fail(fmt::format("is 0, but must be above 0, because of \"{}\" beside it", key));
        }
    };
    check_zero(read.violation_messages.size(), "violation_messages");
    check_zero(read.content_mismatches.value_or(0), "content_mismatches");
    check_zero(read.stale_accepted.value_or(0), "stale_accepted");
}

// ---- Reading: one function for each kind of a member

void read(const json_value& from, std::string& to) {
    to = from.text();
}
void read(const json_value& from, std::uint64_t& to) {
    to = from.count();
}
void read(const json_value& from, double& to) {
    to = from.number();
}

template <described T>
void read(const json_value& from, T& to);

template <class T>
void read(const json_value& from, std::vector<T>& to) {
    for (const json_value& element : from.elements()) {
        read(element, to.emplace_back());
    }
}
template <class T, class Order>
void read(const json_value& from, std::map<std::string, T, Order>& to) {
    for (const auto& [key, value] : from.members()) {
        read(value, to[key]);
    }
}
template <class T>
void read(const json_value& from, std::optional<T>& to) {
    read(from, to.emplace());
}
template <class T>
void read(const json_value& from, nullable<T>& to) {
    if (!from.is_null()) {
        read(from, to.emplace());
    }
}

template <class T>
constexpr bool is_required = std::is_arithmetic_v<T> || std::is_same_v<T, std::string>;

template <described T>
void read(const json_value& from, T& to) {
    for_each_member<T>(to, [&from]<class Member>(const char* name, Member& member) {
        if constexpr (is_required<Member>) {
            read(from.at(name), member);
        } else if (const std::optional<json_value> found = from.find(name)) {
            read(*found, member);
        }
    });
    check(from, to);
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

result_file parse_result_file(std::string name, std::string_view text) {
    const nlohmann::json json = parse(name, text);
    const json_value root(json, name);
    result_file file{.name = std::move(name)};
    if (const std::optional<json_value> scenarios = root.find("scenarios")) {
        read(root, file.document);
        if (file.document.scenarios.empty()) {
            scenarios->fail("is empty, but must have one result at least");
        }
    } else if (root.has("violations")) {
        read(root, file.document.scenarios.emplace_back());
    } else {
        root.fail("has neither \"scenarios\" nor \"violations\", but must be what run, replay or churn wrote "
                  "with --json");
    }
    return file;
}

result_file read_result_file(const std::string& path) {
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
    return parse_result_file(path, text);
}

} // namespace handlepool::stress::page
