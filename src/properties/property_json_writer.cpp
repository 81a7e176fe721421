// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/property_json.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace handlepool {

namespace {

// Its numbers are floats, so that they are written as short as can be.
using json =
    nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t, std::uint64_t, float>;

/// Why a property has no JSON; empty if it has.
std::string_view problem_of(const property& one, const std::vector<std::string>& keys) {
    const auto is_finite = [](float number) { return std::isfinite(number); };
    if (keys.empty()) {
        return "its keys are in no table";
    }
    if (keys.size() > deepest_property) {
        return "it has more keys than objects may be nested";
    }
    if (!std::ranges::all_of(keys, detail::is_utf8)) {
        return "a key is not UTF-8";
    }
    if (one.kind() == property_kind::removed) {
        return "it is a removal";
    }
    if (const auto number = one.get<float>(); number && !is_finite(*number)) {
        return "the number is not finite";
    }
    if (const auto numbers = one.get<std::span<const float>>();
        numbers && !std::ranges::all_of(*numbers, is_finite)) {
        return "a number is not finite";
    }
    if (const auto text = one.get<std::string_view>(); text && !detail::is_utf8(*text)) {
        return "the string is not UTF-8";
    }
    return {};
}

using key_list = std::vector<std::string>;

/// Writes values in the order of their keys. The library gets scalars only: its destructors of objects and
/// arrays allocate, and so end the program where memory is short.
class json_writer {
public:
    explicit json_writer(int indent) noexcept : indent_(indent) {}

    void write(const key_list& keys, const property& one) {
        std::size_t common = 0;
        while (common != groups_.size() && common + 1 < keys.size() && groups_[common] == keys[common]) {
            ++common;
        }
        close_groups(common);
        while (groups_.size() + 1 < keys.size()) {
            begin_member(keys[groups_.size()]);
            text_ += '{';
            is_first_ = true;
            groups_.push_back(keys[groups_.size()]);
        }
        begin_member(keys.back());
        write_value(one);
    }

    std::string finish() {
        close_groups(0);
        if (!is_first_) {
            break_line(0);
        }
        return text_ + '}';
    }

private:
    void close_groups(std::size_t left) {
        while (groups_.size() != left) {
            break_line(groups_.size());
            text_ += '}';
            groups_.pop_back();
        }
    }
    void begin_member(const std::string& key) {
        text_ += is_first_ ? "" : ",";
        is_first_ = false;
        break_line(groups_.size() + 1);
        text_ += detail::json_string(key) + (indent_ < 0 ? ":" : ": ");
    }
    void break_line(std::size_t depth) {
        if (indent_ >= 0) {
            text_ += '\n' + std::string(depth * static_cast<std::size_t>(indent_), ' ');
        }
    }
    void write_value(const property& one) {
        if (const auto truth = one.get<bool>()) {
            text_ += json(*truth).dump();
        } else if (const auto number = one.get<float>()) {
            text_ += json(*number).dump();
        } else if (const auto string = one.get<std::string_view>()) {
            text_ += detail::json_string(*string);
        } else if (const auto numbers = one.get<std::span<const float>>()) {
            std::string_view separator = "[";
            for (const float each : *numbers) {
                text_ += separator;
                text_ += json(each).dump();
                separator = indent_ < 0 ? "," : ", ";
            }
            text_ += separator == "[" ? "[]" : "]";
        }
    }

    int indent_;
    std::string text_ = "{";
    bool is_first_ = true; // in its object
    key_list groups_;      // of the objects that are open
};

} // namespace

std::string to_json(property_view bag, int indent) {
    std::string error;
    if (auto text = try_to_json(bag, error, indent)) {
        return *std::move(text);
    }
    detail::throw_exception(not_printable(error));
}

std::optional<std::string> try_to_json(property_view bag, std::string& error, int indent) {
    const auto refuse = [&](const property& one, std::string_view problem) {
        error = fmt::format("property {} has no JSON: {}", name_of(one.hash(), bag.names()), problem);
        return std::nullopt;
    };
    std::vector<std::pair<key_list, property>> all;
    for (const property one : bag) {
        all.emplace_back(bag.names() != nullptr ? bag.names()->keys_of(one.hash()) : key_list(), one);
        if (const std::string_view problem = problem_of(one, all.back().first); !problem.empty()) {
            return refuse(one, problem);
        }
    }
    std::ranges::sort(all, {}, &std::pair<key_list, property>::first);
    json_writer writer(indent);
    const key_list* before = nullptr;
    for (const auto& [keys, one] : all) {
        // What begins with the same keys stands right behind it.
        if (before != nullptr && before->size() < keys.size() &&
            std::ranges::equal(*before, std::span(keys).first(before->size()))) {
            return refuse(one, "it stands in a group that is a value too");
        }
        writer.write(keys, one);
        before = &keys;
    }
    return writer.finish();
}

} // namespace handlepool
