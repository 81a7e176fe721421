// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/property_json.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace handlepool {

namespace {

// Its numbers are floats, so that they are read with one rounding.
using json =
    nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t, std::uint64_t, float>;

/// Where a text is wrong, and what is.
struct json_flaw {
    std::size_t offset = 0;
    std::string problem;
};

constexpr std::string_view allowed =
    "; allowed are objects, true, false, numbers, strings and arrays of numbers";

/// Follows the parser through the text, which does not say where it is: finds the begin of each token that
/// the parser reports. The tokens are sound.
class token_finder {
public:
    explicit token_finder(std::string_view text) noexcept : text_(text) {
        if (text.starts_with("\xef\xbb\xbf")) { // a byte order mark
            next_ = 3;
        }
    }

    std::size_t next() noexcept {
        next_ = std::min(text_.find_first_not_of(" \t\r\n,:", next_), text_.size());
        const std::size_t begin = next_;
        if (begin == text_.size()) {
            return begin;
        }
        switch (text_[begin]) {
        case '{':
        case '}':
        case '[':
        case ']':
            ++next_;
            break;
        case '"':
            next_ = end_of_string(begin);
            break;
        default:
            next_ = std::min(text_.find_first_of(" \t\r\n,:]}", begin), text_.size());
        }
        return begin;
    }

private:
    std::size_t end_of_string(std::size_t begin) const noexcept {
        std::size_t i = begin + 1;
        while (i < text_.size() && text_[i] != '"') {
            i += text_[i] == '\\' ? 2U : 1U;
        }
        return std::min(i + 1, text_.size());
    }

    std::string_view text_;
    std::size_t next_ = 0;
};

/// Returns whether the table knows no other path of that hash, or puts the collision into `error`.
bool agrees(const key_table& names, property_path path, std::string& error) {
    const auto known = names.path_of(path);
    if (known && *known != path) {
        error = fmt::format("the path has the same hash {:08x} in bags as {}",
                            static_cast<std::uint32_t>(path.hash()), name_of(path, &names));
        return false;
    }
    return true;
}

/// Makes a bag of what the parser finds.
class bag_builder final : public nlohmann::json_sax<json> {
public:
    bag_builder(std::string_view text, key_table* names, json_flaw& flaw)
        : tokens_(text), names_(names), flaw_(flaw) {}

    property_bag& bag() noexcept { return bag_; }
    const key_table& found() const noexcept { return found_; }

    bool null() override { return refuse(tokens_.next(), fmt::format("null can't be kept{}", allowed)); }
    bool boolean(bool value) override {
        const std::size_t begin = tokens_.next();
        return expect_no_array(begin) && put(begin, value);
    }
    bool number_integer(std::int64_t value) override {
        return number(value == 0 ? -0.0F : static_cast<float>(value)); // unsigned, unless it has a sign
    }
    bool number_unsigned(std::uint64_t value) override { return number(static_cast<float>(value)); }
    bool number_float(float value, const std::string&) override { return number(value); }
    bool string(std::string& value) override {
        const std::size_t begin = tokens_.next();
        return expect_no_array(begin) && put(begin, std::string_view(value));
    }
    bool binary(json::binary_t&) override { return false; } // not in a text

    bool start_object(std::size_t) override;
    bool key(std::string& name) override;
    bool end_object() override;
    bool start_array(std::size_t) override;
    bool end_array() override;

    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::json::exception& what) override;

private:
    bool refuse(std::size_t offset, std::string problem) {
        flaw_ = {offset, std::move(problem)};
        return false;
    }
    bool expect_no_array(std::size_t begin) {
        return !array_ || refuse(begin, "an array of anything but numbers can't be kept");
    }
    bool number(float value);
    template <class Value>
    bool put(std::size_t begin, Value value);

    token_finder tokens_;
    key_table* names_;
    json_flaw& flaw_;

    property_bag bag_;
    key_table found_; // paths of the bag
    std::vector<std::string_view> path_;
    std::vector<std::set<std::string, std::less<>>> keys_; // of each open object
    std::optional<std::size_t> array_;                     // begin of the one that is open
    std::vector<float> numbers_;
};

bool bag_builder::number(float value) {
    const std::size_t begin = tokens_.next();
    if (array_) {
        numbers_.push_back(value);
        return true;
    }
    return put(begin, value);
}

bool bag_builder::start_object(std::size_t) {
    const std::size_t begin = tokens_.next();
    if (!expect_no_array(begin)) {
        return false;
    }
    keys_.emplace_back();
    return keys_.size() <= deepest_property ||
           refuse(begin, fmt::format("objects are nested deeper than {} levels", deepest_property));
}

bool bag_builder::key(std::string& name) {
    const std::size_t begin = tokens_.next();
    const auto [key, is_new] = keys_.back().insert(std::move(name));
    if (!is_new) {
        return refuse(begin, fmt::format("the key {} stands twice in one object", detail::json_string(*key)));
    }
    path_.resize(keys_.size());
    path_.back() = *key;
    return true;
}

bool bag_builder::end_object() {
    tokens_.next();
    keys_.pop_back();
    path_.resize(keys_.size());
    return true;
}

bool bag_builder::start_array(std::size_t) {
    const std::size_t begin = tokens_.next();
    if (!expect_no_array(begin)) {
        return false;
    }
    array_ = begin;
    numbers_.clear();
    return true;
}

bool bag_builder::end_array() {
    tokens_.next();
    const std::size_t begin = *array_;
    array_.reset();
    return put(begin, std::span<const float>(numbers_));
}

template <class Value>
bool bag_builder::put(std::size_t begin, Value value) {
    std::string error;
    const auto path = path_.empty() ? std::nullopt : found_.try_add(path_, error);
    if (path_.empty()) {
        return refuse(begin, "the text is no object");
    }
    if (!path || (names_ != nullptr && !agrees(*names_, *path, error))) {
        return refuse(begin, std::move(error));
    }
    if (!bag_.try_set(*path, value)) {
        return refuse(begin, fmt::format("with {} the bag would exceed its {} bytes", name_of(*path, &found_),
                                         detail::bag_limit));
    }
    return true;
}

bool bag_builder::parse_error(std::size_t position, const std::string&,
                              const nlohmann::json::exception& what) {
    constexpr int number_overflow = 406;
    if (what.id == number_overflow) {
        return refuse(tokens_.next(), "the number is beyond the range of a float");
    }
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    std::string_view problem = what.what();
    const std::size_t colon = problem.find(": ");
    problem.remove_prefix(colon == std::string_view::npos ? 0 : colon + 2);
    return refuse(position == 0 ? 0 : position - 1, std::string(problem));
}

std::optional<property_bag> read(std::string_view text, json_flaw& flaw, key_table* names) {
    if (const std::size_t position = text.find('\0'); position != std::string_view::npos) {
        flaw = {position, "the byte is null, at which the parser would stop"};
        return std::nullopt;
    }
    bag_builder builder(text, names, flaw);
    if (!json::sax_parse(text, &builder)) {
        return std::nullopt;
    }
    if (names != nullptr) {
        if (!names->try_add(builder.found(), flaw.problem)) { // another thread was quicker
            return std::nullopt;
        }
        builder.bag().set_names(*names);
    }
    return std::move(builder.bag());
}

invalid_property_json error_of(std::string_view text, const json_flaw& flaw, std::string_view where) {
    const std::string_view before = text.substr(0, flaw.offset);
    const auto lines = static_cast<std::size_t>(std::ranges::count(before, '\n'));
    const std::size_t line_begin = before.rfind('\n') + 1; // 0 if there is no other line
    return {where, lines + 1, before.size() - line_begin + 1, flaw.problem};
}

} // namespace

property_bag bag_from_json(std::string_view text, std::string_view where, key_table* names) {
    json_flaw flaw;
    if (auto bag = read(text, flaw, names)) {
        return *std::move(bag);
    }
    detail::throw_exception(error_of(text, flaw, where));
}

std::optional<property_bag> try_bag_from_json(std::string_view text, std::string_view where,
                                              std::string& error, key_table* names) {
    json_flaw flaw;
    auto bag = read(text, flaw, names);
    if (!bag) {
        error = error_of(text, flaw, where).what();
    }
    return bag;
}

} // namespace handlepool
