// SPDX-License-Identifier: MIT
#include "result_file.hpp"

#include <handlepool/detail/text/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <src/shared/whole_number.hpp>
#include <support/files/read_file.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::stress::page {

namespace {

// Arrays and objects are not shown: they may be large, and of any depth.
std::string describe(const nlohmann::json& value) {
    if (value.is_array()) {
        return "an array";
    }
    if (value.is_object()) {
        return "an object";
    }
    constexpr std::size_t longest = 40;
    if (value.is_string() && value.get_ref<const std::string&>().size() > longest) {
        return "a text";
    }
    return value.dump();
}

// A value in a file, and where it stands there: messages name both.
struct json_value {
    const nlohmann::json& json;
    const std::string& file;
    nlohmann::json::json_pointer place{};

    // By its key or its index.
    template <class Key>
    json_value child(const Key& key) const {
        return {json.at(key), file, place / key};
    }
    json_value at(const char* key) const {
        if (!json.contains(key)) {
            fail(fmt::format("has no \"{}\"", key));
        }
        return child(key);
    }

    [[noreturn]] void fail(std::string_view what) const {
        // Quoting as in JSON keeps control characters off a terminal.
        const std::string quoted = detail::json_string(place.to_string());
        throw std::runtime_error(fmt::format(
            "{}: {} {}", file, place.empty() ? "the document" : quoted.substr(1, quoted.size() - 2), what));
    }
    void expect(bool holds, std::string_view what) const {
        if (!holds) {
            fail(fmt::format("is {}, but must be {}", describe(json), what));
        }
    }
};

// ---- Figures that belong together

// An array that must be there.
template <class T>
void check_order(const json_value& object, const char* key, const std::vector<T>& values, bool strictly) {
    const json_value array = object.at(key);
    for (std::size_t i = 1; i < values.size(); ++i) {
        if (values[i] < values[i - 1] || (strictly && values[i] == values[i - 1])) {
            array.child(i).fail(fmt::format("is {}, but must {} {}, the element before it", values[i],
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
    if (object.json.contains("upper") || object.json.contains("counts")) { // a latency may have neither
        check_order(object, "upper", read.upper, true);
        check_length(object, "counts", read.counts, read.upper.size(), "upper");
    }
}

void check(const json_value& object, const timeline_points& read) {
    check_order(object, "seconds", read.seconds, false);
    // What was not counted is not there, or empty.
    if (!read.operations.empty()) {
        check_length(object, "operations", read.operations, read.seconds.size(), "seconds");
        check_order(object, "operations", read.operations, false);
    }
    if (!read.alive.empty()) {
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
    from.expect(from.json.is_string(), "a text");
    from.json.get_to(to);
}
void read(const json_value& from, std::uint64_t& to) {
    std::optional<std::uint64_t> whole;
    if (from.json.is_number_unsigned()) {
        whole = from.json.get<std::uint64_t>();
    } else if (from.json.is_number()) {
        whole = detail::whole_number(from.json.get<double>());
    }
    from.expect(whole.has_value(), "a whole number from 0 to 18446744073709551615");
    to = *whole;
}
void read(const json_value& from, double& to) {
    constexpr double most = 1e20; // more than any count, and squares of it are still numbers
    to = from.json.is_number() ? from.json.get<double>() : -1;
    from.expect(to >= 0 && to <= most, "a number from 0 to 1e20");
}

template <described T>
void read(const json_value& from, T& to);

template <class T>
void read(const json_value& from, std::vector<T>& to) {
    from.expect(from.json.is_array(), "an array");
    for (std::size_t i = 0; i < from.json.size(); ++i) {
        read(from.child(i), to.emplace_back());
    }
}
template <class T, class Order>
void read(const json_value& from, std::map<std::string, T, Order>& to) {
    from.expect(from.json.is_object(), "an object");
    for (const auto& member : from.json.items()) {
        read(from.child(member.key()), to[member.key()]);
    }
}
template <class T>
void read(const json_value& from, std::optional<T>& to) {
    read(from, to.emplace());
}
template <class T>
void read(const json_value& from, nullable<T>& to) {
    if (!from.json.is_null()) {
        read(from, to.emplace());
    }
}

template <class T>
constexpr bool is_required = std::is_arithmetic_v<T> || std::is_same_v<T, std::string>;

template <described T>
void read(const json_value& from, T& to) {
    from.expect(from.json.is_object(), "an object");
    for_each_member<T>(to, [&from]<class Member>(const char* name, Member& member) {
        if constexpr (is_required<Member>) {
            read(from.at(name), member);
        } else if (from.json.contains(name)) {
            read(from.child(name), member);
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
        throw std::runtime_error(fmt::format("{}: is no JSON: {}", file, detail::printable(what)));
    }
}

} // namespace

result_file parse_result_file(const std::string& name, std::string_view text) {
    const nlohmann::json json = parse(name, text);
    const json_value root{json, name};
    root.expect(json.is_object(), "an object");
    result_file file{.name = name};
    if (json.contains("scenarios")) {
        read(root, file.document);
        if (file.document.scenarios.empty()) {
            root.at("scenarios").fail("is empty, but must have one result at least");
        }
    } else if (json.contains("violations")) {
        read(root, file.document.scenarios.emplace_back());
    } else {
        root.fail("has neither \"scenarios\" nor \"violations\", but must be what run, replay or churn wrote "
                  "with --json");
    }
    return file;
}

result_file read_result_file(const std::string& path) {
    try {
        return parse_result_file(path, support::read_file(path));
    } catch (const std::system_error& error) {
        throw std::runtime_error(fmt::format("{}: cannot be read: {}", path, error.code().message()));
    }
}

} // namespace handlepool::stress::page
