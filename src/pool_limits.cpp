#include "files.hpp"

#include <handlepool/detail/raise.hpp>
#include <handlepool/pool_limits.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

namespace handlepool {

namespace {

using nlohmann::json;

// Also what a slot index can name; a handle's layout may allow less, which its pool says.
constexpr std::uint64_t most = 0xffff'fffe;

// Every function that may find something wrong says so in `error`, and returns false.
bool refuse(std::string& error, std::string_view where, std::string_view what_was_wrong) {
    error = fmt::format("{}: {}", where, what_was_wrong);
    return false;
}

/// Looks at a text before it is parsed. A parser that takes the last of two equal keys would hide one of
/// them.
class syntax_check final : public json::json_sax_t {
public:
    syntax_check(std::string_view where, std::string& error) : where_(where), error_(error) {}

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(std::int64_t) override { return true; }
    bool number_unsigned(std::uint64_t) override { return true; }
    bool number_float(double, const std::string&) override { return true; }
    bool string(std::string&) override { return true; }
    bool binary(json::binary_t&) override { return true; }

    bool start_object(std::size_t) override { return open(); }
    bool key(std::string& name) override {
        return open_.back().insert(name).second ||
               refuse(error_, where_,
                      fmt::format("the key {} stands twice in one object", json(name).dump()));
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(); }
    bool end_array() override { return close(); }

    bool parse_error(std::size_t, const std::string&, const json::exception& what) override {
        return refuse(error_, where_, fmt::format("is not JSON: {}", what.what()));
    }

private:
    static constexpr std::size_t most_depth = 16;

    bool open() {
        open_.emplace_back();
        return open_.size() <= most_depth ||
               refuse(error_, where_, fmt::format("is nested deeper than {} levels", most_depth));
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    std::string_view where_;
    std::string& error_;
    std::vector<std::set<std::string>> open_; // keys of the objects; of an array none
};

bool parse(std::string_view text, std::string_view where, json& parsed, std::string& error) {
    if (const std::size_t position = text.find('\0'); position != std::string_view::npos) {
        return refuse(error, where, fmt::format("is not JSON: byte {} is null", position));
    }
    syntax_check check(where, error);
    if (!json::sax_parse(text, &check)) {
        return false;
    }
    parsed = json::parse(text, nullptr, false);
    return true;
}

bool expect_object(const json& value, std::string_view where, std::string& error) {
    return value.is_object() ||
           refuse(error, where, fmt::format("is {}, and must be an object", value.dump()));
}

bool refuse_key(std::string& error, std::string_view where, std::string_view key, std::string_view allowed) {
    return refuse(error, where, fmt::format("has the key \"{}\"; allowed: {}", key, allowed));
}

bool read_number(const json& value, std::string_view where, std::uint64_t least, bool may_be_automatic,
                 std::optional<std::size_t>& number, std::string& error) {
    if (may_be_automatic && value == "automatic") {
        number = pool_options::automatic;
        return true;
    }
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least ||
        value.get<std::uint64_t>() > most) {
        return refuse(error, where,
                      fmt::format("is {}, and must be a whole number from {} to {}{}", value.dump(), least,
                                  most, may_be_automatic ? ", or \"automatic\"" : ""));
    }
    number = static_cast<std::size_t>(value.get<std::uint64_t>());
    return true;
}

bool read_truth(const json& value, std::string_view where, std::optional<bool>& truth, std::string& error) {
    if (!value.is_boolean()) {
        return refuse(error, where, fmt::format("is {}, and must be true or false", value.dump()));
    }
    truth = value.get<bool>();
    return true;
}

bool read_limit(const std::string& key, const json& value, pool_limits& limits, std::string& error) {
    const std::string place = fmt::format("{}.{}", limits.source, key);
    if (key == "capacity") {
        return read_number(value, place, 1, false, limits.capacity, error);
    }
    if (key == "reuse_delay") {
        return read_number(value, place, 0, true, limits.reuse_delay, error);
    }
    if (key == "slot_limit") {
        return read_number(value, place, 1, true, limits.slot_limit, error);
    }
    if (key == "removal_queue_size") {
        return read_number(value, place, 1, true, limits.removal_queue_size, error);
    }
    if (key == "max_threads") {
        return read_number(value, place, 1, false, limits.max_threads, error);
    }
    if (key == "remember_frames") {
        return read_truth(value, place, limits.remember_frames, error);
    }
    return refuse_key(error, limits.source, key,
                      "capacity, reuse_delay, slot_limit, removal_queue_size, max_threads, remember_frames");
}

bool read_pool(const json& pool, pool_limits& limits, std::string& error) {
    if (!expect_object(pool, limits.source, error)) {
        return false;
    }
    for (const auto& [key, value] : pool.items()) {
        if (!read_limit(key, value, limits, error)) {
            return false;
        }
    }
    return true;
}

bool read_all(const json& all, std::string_view where, limits_by_pool& limits, std::string& error) {
    if (!expect_object(all, where, error)) {
        return false;
    }
    for (const auto& [key, value] : all.items()) {
        if (key != "pools") {
            return refuse_key(error, where, key, "pools");
        }
    }
    const auto pools = all.find("pools");
    if (pools == all.end()) {
        return refuse(error, where, "has no key \"pools\"");
    }
    const std::string place = fmt::format("{}: pools", where);
    if (!expect_object(*pools, place, error)) {
        return false;
    }
    for (const auto& [name, pool] : pools->items()) {
        if (name.empty()) {
            return refuse(error, place, "has an empty name");
        }
        pool_limits& read = limits[name];
        read.source = fmt::format("{}.{}", place, name);
        if (!read_pool(pool, read, error)) {
            return false;
        }
    }
    return true;
}

// Not by a stream, whose way to say that a folder can't be read is an exception.
} // namespace

pool_options pool_limits::applied_to(pool_options options) const {
    options.capacity = capacity.value_or(options.capacity);
    options.reuse_delay = reuse_delay.value_or(options.reuse_delay);
    options.slot_limit = slot_limit.value_or(options.slot_limit);
    options.removal_queue_size = removal_queue_size.value_or(options.removal_queue_size);
    options.max_threads = max_threads.value_or(options.max_threads);
    options.remember_frames = remember_frames.value_or(options.remember_frames);
    options.source = source;
    return options;
}

std::optional<limits_by_pool> try_parse_pool_limits(std::string_view text, std::string_view where,
                                                    std::string& error) {
    json all;
    limits_by_pool limits;
    if (!parse(text, where, all, error) || !read_all(all, where, limits, error)) {
        return std::nullopt;
    }
    return limits;
}

limits_by_pool parse_pool_limits(std::string_view text, std::string_view where) {
    std::string error;
    auto limits = try_parse_pool_limits(text, where, error);
    if (!limits) {
        detail::raise(std::invalid_argument(error));
    }
    return *std::move(limits);
}

std::optional<limits_by_pool> try_read_pool_limits(const std::filesystem::path& file, std::string& error) {
    std::string text;
    if (const std::error_code failure = read_file(file, text)) {
        error = std::system_error(failure, file.string()).what();
        return std::nullopt;
    }
    return try_parse_pool_limits(text, file.string(), error);
}

limits_by_pool read_pool_limits(const std::filesystem::path& file) {
    std::string text;
    if (const std::error_code failure = read_file(file, text)) {
        detail::raise(std::system_error(failure, file.string()));
    }
    return parse_pool_limits(text, file.string());
}

} // namespace handlepool
