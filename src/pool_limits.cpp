#include <handlepool/pool_limits.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iterator>
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

[[noreturn]] void refuse(std::string_view where, std::string_view what_was_wrong) {
    throw std::invalid_argument(fmt::format("{}: {}", where, what_was_wrong));
}

// A parser that takes the last of two equal keys would hide one of them.
json parse(std::string_view text, std::string_view where) {
    constexpr int most_depth = 16;
    if (const std::size_t position = text.find('\0'); position != std::string_view::npos) {
        refuse(where, fmt::format("is not JSON: byte {} is null", position));
    }
    std::vector<std::set<std::string>> keys; // of the objects that are open
    const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
        if (depth > most_depth) {
            refuse(where, fmt::format("is nested deeper than {} levels", most_depth));
        }
        if (event == json::parse_event_t::object_start) {
            keys.emplace_back();
        } else if (event == json::parse_event_t::object_end) {
            keys.pop_back();
        } else if (event == json::parse_event_t::key &&
                   !keys.back().insert(parsed.get<std::string>()).second) {
            refuse(where, fmt::format("the key {} stands twice in one object", parsed.dump()));
        }
        return true;
    };
    try {
        return json::parse(text, watch);
    } catch (const json::exception& error) {
        refuse(where, fmt::format("is not JSON: {}", error.what()));
    }
}

void expect_object(const json& value, std::string_view where) {
    if (!value.is_object()) {
        refuse(where, fmt::format("is {}, and must be an object", value.dump()));
    }
}

[[noreturn]] void refuse_key(std::string_view where, std::string_view key, std::string_view allowed) {
    refuse(where, fmt::format("has the key \"{}\"; allowed: {}", key, allowed));
}

std::size_t whole_number(const json& value, std::string_view where, std::uint64_t least,
                         bool may_be_automatic) {
    if (may_be_automatic && value == "automatic") {
        return automatic;
    }
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least ||
        value.get<std::uint64_t>() > most) {
        refuse(where, fmt::format("is {}, and must be a whole number from {} to {}{}", value.dump(), least,
                                  most, may_be_automatic ? ", or \"automatic\"" : ""));
    }
    return static_cast<std::size_t>(value.get<std::uint64_t>());
}

bool truth(const json& value, std::string_view where) {
    if (!value.is_boolean()) {
        refuse(where, fmt::format("is {}, and must be true or false", value.dump()));
    }
    return value.get<bool>();
}

pool_limits limits_of(const json& pool, const std::string& where) {
    expect_object(pool, where);
    pool_limits limits;
    limits.source = where;
    for (const auto& [key, value] : pool.items()) {
        const std::string place = fmt::format("{}.{}", where, key);
        if (key == "capacity") {
            limits.capacity = whole_number(value, place, 1, false);
        } else if (key == "reuse_delay") {
            limits.reuse_delay = whole_number(value, place, 0, true);
        } else if (key == "slot_limit") {
            limits.slot_limit = whole_number(value, place, 1, true);
        } else if (key == "removal_queue_size") {
            limits.removal_queue_size = whole_number(value, place, 1, true);
        } else if (key == "max_threads") {
            limits.max_threads = whole_number(value, place, 1, false);
        } else if (key == "remember_frames") {
            limits.remember_frames = truth(value, place);
        } else {
            refuse_key(where, key,
                       "capacity, reuse_delay, slot_limit, removal_queue_size, max_threads, remember_frames");
        }
    }
    return limits;
}

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

limits_by_pool parse_pool_limits(std::string_view text, std::string_view where) {
    const json all = parse(text, where);
    expect_object(all, where);
    for (const auto& [key, value] : all.items()) {
        if (key != "pools") {
            refuse_key(where, key, "pools");
        }
    }
    limits_by_pool limits;
    if (const auto pools = all.find("pools"); pools != all.end()) {
        expect_object(*pools, fmt::format("{}: pools", where));
        for (const auto& [name, pool] : pools->items()) {
            if (name.empty()) {
                refuse(fmt::format("{}: pools", where), "has an empty name");
            }
            limits.emplace(name, limits_of(pool, fmt::format("{}: pools.{}", where, name)));
        }
    } else {
        refuse(where, "has no key \"pools\"");
    }
    return limits;
}

limits_by_pool read_pool_limits(const std::filesystem::path& file) {
    errno = 0;
    std::ifstream stream(file, std::ios::binary);
    std::string text;
    bool readable = stream.is_open();
    try {
        text.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    } catch (const std::ios_base::failure&) { // of a folder
        readable = false;
    }
    if (!readable || stream.bad()) {
        throw std::system_error(errno == 0 ? EIO : errno, std::generic_category(), file.string());
    }
    return parse_pool_limits(text, file.string());
}

} // namespace handlepool
