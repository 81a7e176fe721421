// SPDX-License-Identifier: MIT
#include "../shared/files.hpp"
#include "../shared/whole_number.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/pool_limits.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace handlepool {

namespace {

using nlohmann::json;

// Every function that may find something wrong says so in `error`, and returns false.
bool refuse(std::string& error, std::string_view where, std::string_view what_was_wrong) {
    error = detail::printable(fmt::format("{}: {}", where, what_was_wrong));
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
                      fmt::format("the key {} stands twice in one object", detail::json_string(name)));
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

bool check_syntax(std::string_view text, std::string_view where, std::string& error) {
    if (const std::size_t position = text.find('\0'); position != std::string_view::npos) {
        return refuse(error, where, fmt::format("is not JSON: byte {} is null", position));
    }
    syntax_check check(where, error);
    return json::sax_parse(text, &check);
}

bool refuse_key(std::string& error, std::string_view where, std::string_view key, std::string_view allowed) {
    return refuse(error, where,
                  fmt::format("has the key {}; allowed: {}", detail::json_string(key), allowed));
}

/// Reads a text that has been checked. Not by the library's trees: their destructors allocate, and end the
/// program where there is no memory.
class limits_reader final : public json::json_sax_t {
public:
    limits_reader(std::string_view where, limits_by_pool& limits, std::string& error)
        : where_(where), limits_(limits), error_(error) {}

    bool null() override { return scalar(nullptr); }
    bool boolean(bool value) override { return scalar(value); }
    bool number_integer(std::int64_t value) override { return scalar(value); }
    bool number_unsigned(std::uint64_t value) override { return scalar(value); }
    bool number_float(double value, const std::string&) override { return scalar(value); }
    bool string(std::string& value) override { return scalar(value); }
    bool binary(json::binary_t&) override { return false; } // JSON has none

    bool start_object(std::size_t) override {
        if (depth_ == depth_of_limits) {
            return limit(json(), "an object");
        }
        ++depth_;
        return true;
    }
    bool end_object() override {
        --depth_;
        return depth_ != 0 || has_pools_ || refuse(error_, where_, "has no key \"pools\"");
    }
    bool start_array(std::size_t) override {
        return depth_ == depth_of_limits ? limit(json(), "an array") : expect_object("an array");
    }
    bool end_array() override { return true; }

    bool key(std::string& name) override {
        switch (depth_) {
        case 1:
            has_pools_ = true;
            return name == "pools" || refuse_key(error_, where_, name, "pools");
        case 2:
            if (name.empty()) {
                return refuse(error_, place_of_pools(), "has an empty name");
            }
            pool_ = &limits_[name];
            pool_->source = fmt::format("{}.{}", place_of_pools(), name);
            return true;
        default:
            limit_ = name;
            return true;
        }
    }

    bool parse_error(std::size_t, const std::string&, const json::exception&) override { return false; }

private:
    static constexpr int depth_of_limits = 3;

    template <class Value>
    bool scalar(const Value& value) {
        const json read(value);
        return depth_ == depth_of_limits ? limit(read, read.dump()) : expect_object(read.dump());
    }

    /// Where the value belongs that comes now.
    std::string place() const {
        return depth_ == 0 ? std::string(where_) : depth_ == 1 ? place_of_pools() : pool_->source;
    }
    std::string place_of_pools() const { return fmt::format("{}: pools", where_); }

    bool expect_object(std::string_view text) {
        return refuse(error_, place(), fmt::format("is {}, and must be an object", text));
    }

    bool limit(const json& value, std::string_view text) {
        if (limit_ == "capacity") {
            return number(value, text, 1, false, pool_->capacity);
        }
        if (limit_ == "reuse_delay") {
            return number(value, text, 0, true, pool_->reuse_delay);
        }
        if (limit_ == "slot_limit") {
            return number(value, text, 1, true, pool_->slot_limit);
        }
        if (limit_ == "removal_queue_size") {
            return number(value, text, 1, true, pool_->removal_queue_size);
        }
        if (limit_ == "max_threads") {
            return number(value, text, 1, false, pool_->max_threads);
        }
        if (limit_ == "remember_frames") {
            return truth(value, text, pool_->remember_frames);
        }
        if (limit_ == "record_lives") {
            return number(value, text, 0, false, pool_->record_lives);
        }
        if (limit_ == "record_stack") {
            return number(value, text, 0, false, pool_->record_stack);
        }
        return refuse_key(error_, pool_->source, limit_,
                          "capacity, reuse_delay, slot_limit, removal_queue_size, max_threads, "
                          "remember_frames, record_lives, "
                          "record_stack");
    }

    bool refuse_limit(std::string_view text, std::string_view allowed) {
        return refuse(error_, fmt::format("{}.{}", pool_->source, limit_),
                      fmt::format("is {}, and must be {}", text, allowed));
    }

    static std::optional<std::uint64_t> whole_number_in(const json& value) {
        if (value.is_number_unsigned()) {
            return value.get<std::uint64_t>();
        }
        return value.is_number() ? detail::whole_number(value.get<double>()) : std::nullopt;
    }

    bool number(const json& value, std::string_view text, std::uint64_t least, bool may_be_automatic,
                std::optional<std::size_t>& number) {
        if (may_be_automatic && value.is_string() && value.get_ref<const std::string&>() == "automatic") {
            number = pool_options::automatic;
            return true;
        }
        const std::optional<std::uint64_t> whole = whole_number_in(value);
        // A handle's layout may allow less, which its pool says.
        if (!whole || *whole < least || *whole > detail::most_slots) {
            return refuse_limit(text, fmt::format("a whole number from {} to {}{}", least, detail::most_slots,
                                                  may_be_automatic ? ", or \"automatic\"" : ""));
        }
        number = *whole;
        return true;
    }

    bool truth(const json& value, std::string_view text, std::optional<bool>& truth) {
        if (!value.is_boolean()) {
            return refuse_limit(text, "true or false");
        }
        truth = value.get<bool>();
        return true;
    }

    std::string_view where_;
    limits_by_pool& limits_;
    std::string& error_;
    int depth_ = 0; // of objects; at depth_of_limits, those of a pool
    bool has_pools_ = false;
    pool_limits* pool_ = nullptr; // the last one whose name was read, and the last of its limits
    std::string limit_;
};

} // namespace

pool_options pool_limits::applied_to(pool_options options) const {
    options.capacity = capacity.value_or(options.capacity);
    options.reuse_delay = reuse_delay.value_or(options.reuse_delay);
    options.slot_limit = slot_limit.value_or(options.slot_limit);
    options.removal_queue_size = removal_queue_size.value_or(options.removal_queue_size);
    options.max_threads = max_threads.value_or(options.max_threads);
    options.remember_frames = remember_frames.value_or(options.remember_frames);
    options.record_lives = record_lives.value_or(options.record_lives);
    options.record_stack = record_stack.value_or(options.record_stack);
    options.source = source;
    return options;
}

std::optional<limits_by_pool> try_parse_pool_limits(std::string_view text, std::string_view where,
                                                    std::string& error) {
    limits_by_pool limits;
    limits_reader reader(where, limits, error);
    if (!check_syntax(text, where, error) || !json::sax_parse(text, &reader)) {
        return std::nullopt;
    }
    return limits;
}

limits_by_pool parse_pool_limits(std::string_view text, std::string_view where) {
    std::string error;
    auto limits = try_parse_pool_limits(text, where, error);
    if (!limits) {
        detail::throw_exception(std::invalid_argument(error));
    }
    return *std::move(limits);
}

std::optional<limits_by_pool> try_read_pool_limits(const std::filesystem::path& file, std::string& error) {
    const auto text = try_read_file(file, error);
    return text ? try_parse_pool_limits(*text, file.string(), error) : std::nullopt;
}

limits_by_pool read_pool_limits(const std::filesystem::path& file) {
    return parse_pool_limits(read_file(file), file.string());
}

} // namespace handlepool
