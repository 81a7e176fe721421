#include "result.hpp"

#include "oracle/event.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace handlepool::stress {

namespace {

std::size_t rank(std::string_view operation) noexcept {
    return static_cast<std::size_t>(std::find(operation_names.begin(), operation_names.end(), operation) -
                                    operation_names.begin());
}

// ---- Writing: one function for each kind of a member

template <class T>
nlohmann::json json_of(const T& value) {
    return value;
}

// Whole numbers have no point: programs expect none in nanoseconds.
nlohmann::json json_of(double value) {
    constexpr double exact = 0x1p53; // whole numbers up to it are doubles
    return value >= 0 && value <= exact && std::floor(value) == value
               ? nlohmann::json(static_cast<std::uint64_t>(value))
               : nlohmann::json(value);
}

template <described T>
nlohmann::json json_of(const T& object);

template <class T>
nlohmann::json json_of(const nullable<T>& value) {
    return value ? json_of(*value) : nlohmann::json();
}

template <class T>
nlohmann::json json_of(const std::vector<T>& values) {
    nlohmann::json array = nlohmann::json::array();
    for (const T& value : values) {
        array.push_back(json_of(value));
    }
    return array;
}

template <class T>
void add_member(nlohmann::json& to, const char* name, const T& value) {
    to[name] = json_of(value);
}
template <class T>
void add_member(nlohmann::json& to, const char* name, const std::optional<T>& value) {
    if (value) {
        to[name] = json_of(*value);
    }
}
template <class T, class Order>
void add_member(nlohmann::json& to, const char* name, const std::map<std::string, T, Order>& values) {
    for (const auto& [key, value] : values) {
        to[name][key] = json_of(value);
    }
}

template <described T>
nlohmann::json json_of(const T& object) {
    nlohmann::json json = nlohmann::json::object();
    for_each_member<T>(object, [&](const char* name, const auto& member) { add_member(json, name, member); });
    return json;
}

} // namespace

bool operation_order::operator()(std::string_view left, std::string_view right) const noexcept {
    return std::pair(rank(left), left) < std::pair(rank(right), right);
}

nlohmann::json to_json(const result& written) {
    return json_of(written);
}

nlohmann::json to_json(const result_document& written) {
    return json_of(written);
}

} // namespace handlepool::stress
