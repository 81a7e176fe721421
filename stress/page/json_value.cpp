#include "json_value.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <stdexcept>

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

} // namespace

json_value::json_value(const nlohmann::json& root, std::string file)
    : json_value(root, std::move(file), nlohmann::json::json_pointer()) {}

json_value::json_value(const nlohmann::json& value, std::string file, nlohmann::json::json_pointer place)
    : value_(&value), file_(std::move(file)), place_(std::move(place)) {}

void json_value::fail(std::string_view what) const {
    // Quoting as in JSON keeps control characters off a terminal.
    const std::string quoted = nlohmann::json(place_.to_string()).dump();
    throw std::runtime_error(fmt::format(
        "{}: {} {}", file_, place_.empty() ? "the document" : quoted.substr(1, quoted.size() - 2), what));
}

void json_value::fail_at(std::size_t element, std::string_view what) const {
    child(*value_, fmt::to_string(element)).fail(what);
}

void json_value::fail_expecting(std::string_view what) const {
    fail(fmt::format("is {}, but must be {}", describe(*value_), what));
}

json_value json_value::child(const nlohmann::json& value, const std::string& token) const {
    return {value, file_, place_ / token};
}

const nlohmann::json& json_value::object() const {
    if (!value_->is_object()) {
        fail_expecting("an object");
    }
    return *value_;
}

const nlohmann::json& json_value::array() const {
    if (!value_->is_array()) {
        fail_expecting("an array");
    }
    return *value_;
}

std::optional<json_value> json_value::find(const char* key) const {
    const auto found = object().find(key);
    if (found == value_->end()) {
        return std::nullopt;
    }
    return child(*found, key);
}

json_value json_value::at(const char* key) const {
    if (std::optional<json_value> found = find(key)) {
        return *std::move(found);
    }
    fail(fmt::format("has no \"{}\"", key));
}

bool json_value::has(const char* key) const {
    return object().contains(key);
}

std::vector<std::pair<std::string, json_value>> json_value::members() const {
    std::vector<std::pair<std::string, json_value>> all;
    for (const auto& member : object().items()) {
        all.emplace_back(member.key(), child(member.value(), member.key()));
    }
    return all;
}

std::vector<json_value> json_value::elements() const {
    std::vector<json_value> all;
    for (const nlohmann::json& element : array()) {
        all.push_back(child(element, fmt::to_string(all.size())));
    }
    return all;
}

bool json_value::is_null() const {
    return value_->is_null();
}

std::string json_value::text() const {
    if (!value_->is_string()) {
        fail_expecting("a text");
    }
    return value_->get<std::string>();
}

std::uint64_t json_value::count() const {
    if (!value_->is_number_unsigned()) {
        fail_expecting("a whole number from 0 to 18446744073709551615");
    }
    return value_->get<std::uint64_t>();
}

double json_value::number() const {
    constexpr double most = 1e20; // more than any count, and squares of it are still numbers
    const double value = value_->is_number() ? value_->get<double>() : -1;
    if (!(value >= 0 && value <= most)) {
        fail_expecting("a number from 0 to 1e20");
    }
    return value;
}

} // namespace handlepool::stress::page
