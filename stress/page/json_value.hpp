#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::stress::page {

// A value in a JSON file that knows where it stands, so that what is wrong with it can be found. All that
// reads throws std::runtime_error, with the file, the JSON pointer, what is there and what must be there.
//
// It refers to the document, which must outlive it.
class json_value {
public:
    json_value(const nlohmann::json& root, std::string file);

    // Members of an object; a missing one is an error in at(), and nothing in find().
    json_value at(const char* key) const;
    std::optional<json_value> find(const char* key) const;
    bool has(const char* key) const;
    std::vector<std::pair<std::string, json_value>> members() const;

    std::vector<json_value> elements() const; // of an array

    bool is_null() const;
    std::string text() const;
    std::uint64_t count() const; // a whole number
    double number() const;       // from 0 to 1e20

    // What is wrong, as in "is ..., but must be ...".
    [[noreturn]] void fail(std::string_view what) const;
    [[noreturn]] void fail_at(std::size_t element, std::string_view what) const;

private:
    json_value(const nlohmann::json& value, std::string file, nlohmann::json::json_pointer place);

    json_value child(const nlohmann::json& value, const std::string& token) const;
    const nlohmann::json& object() const;
    const nlohmann::json& array() const;
    [[noreturn]] void fail_expecting(std::string_view what) const;

    const nlohmann::json* value_;
    std::string file_;
    nlohmann::json::json_pointer place_;
};

} // namespace handlepool::stress::page
