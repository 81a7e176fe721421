// SPDX-License-Identifier: MIT
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/service_stats.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string_view>

namespace handlepool {

namespace {

constexpr std::size_t nothing_yet = std::numeric_limits<std::size_t>::max();

std::string or_dash(std::size_t number) {
    return number == nothing_yet ? "-" : fmt::to_string(number);
}

struct column {
    std::string_view title;
    std::function<std::string(const pool_stats&)> text;
};

std::string mebibytes(std::size_t bytes) {
    return fmt::format("{:.1f}", static_cast<double>(bytes) / (1 << 20));
}

const std::vector<column>& table_columns() {
    static const std::vector<column> all{
        {"pool", [](const pool_stats& one) { return detail::printable(one.name); }},
        {"id", [](const pool_stats& one) { return fmt::to_string(one.pool_id); }},
        {"alive", [](const pool_stats& one) { return fmt::to_string(one.alive); }},
        {"capacity", [](const pool_stats& one) { return fmt::to_string(one.capacity); }},
        {"newborn", [](const pool_stats& one) { return fmt::to_string(one.newborn); }},
        {"removed", [](const pool_stats& one) { return fmt::to_string(one.waiting_removals); }},
        {"created", [](const pool_stats& one) { return fmt::to_string(one.created); }},
        {"destroyed", [](const pool_stats& one) { return fmt::to_string(one.destroyed); }},
        {"reserved", [](const pool_stats& one) { return fmt::to_string(one.slots_reserved); }},
        {"retired", [](const pool_stats& one) { return fmt::to_string(one.slots_retired); }},
        {"reused after", [](const pool_stats& one) { return or_dash(one.smallest_reuse_distance); }},
        {"shards", [](const pool_stats& one) { return fmt::to_string(one.shards); }},
        {"MiB", [](const pool_stats& one) { return mebibytes(one.bytes_resident); }},
    };
    return all;
}

// Columns as code points count: names may be in any language.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

struct metric {
    std::string_view name;
    std::string_view type;
    std::string_view help;
    std::uint64_t (*value)(const pool_stats&);
};

constexpr metric metrics[] = {
    {"objects_alive", "gauge", "Objects whose handles resolve.",
     [](const pool_stats& p) -> std::uint64_t { return p.alive; }},
    {"objects_capacity", "gauge", "Objects that the pool has room for.",
     [](const pool_stats& p) -> std::uint64_t { return p.capacity; }},
    {"objects_newborn", "gauge", "Objects created since the last compaction.",
     [](const pool_stats& p) -> std::uint64_t { return p.newborn; }},
    {"removals_waiting", "gauge", "Objects erased and not yet destroyed.",
     [](const pool_stats& p) -> std::uint64_t { return p.waiting_removals; }},
    {"objects_created_total", "counter", "Objects ever created.",
     [](const pool_stats& p) -> std::uint64_t { return p.created; }},
    {"objects_destroyed_total", "counter", "Objects ever destroyed.",
     [](const pool_stats& p) -> std::uint64_t { return p.destroyed; }},
    {"slots_in_service", "gauge", "Slots ever used.",
     [](const pool_stats& p) -> std::uint64_t { return p.slots_in_service; }},
    {"slots_free", "gauge", "Slots that wait for their next object.",
     [](const pool_stats& p) -> std::uint64_t { return p.slots_free; }},
    {"slots_claimed", "gauge", "Slots that threads hold for their next objects.",
     [](const pool_stats& p) -> std::uint64_t { return p.slots_claimed; }},
    {"slots_reserved", "gauge", "Slots of handles that are reserved and have no object yet.",
     [](const pool_stats& p) -> std::uint64_t { return p.slots_reserved; }},
    {"slots_retired", "gauge", "Slots that are used up.",
     [](const pool_stats& p) -> std::uint64_t { return p.slots_retired; }},
    {"slot_limit", "gauge", "Slots that the pool may ever use.",
     [](const pool_stats& p) -> std::uint64_t { return p.slot_limit; }},
    {"handle_limit", "gauge", "Handles that the pool gives out, at least, before it is used up.",
     [](const pool_stats& p) -> std::uint64_t { return p.handle_limit; }},
    {"shards", "gauge", "One more than the highest number of a thread that has used the pool.",
     [](const pool_stats& p) -> std::uint64_t { return p.shards; }},
    {"compactions_total", "counter", "Compactions.",
     [](const pool_stats& p) -> std::uint64_t { return p.compactions; }},
    {"sweeps_total", "counter", "Sweeps of compactions through all slots.",
     [](const pool_stats& p) -> std::uint64_t { return p.sweeps; }},
    {"bytes_reserved", "gauge", "Address space.",
     [](const pool_stats& p) -> std::uint64_t { return p.bytes_reserved; }},
    {"bytes_resident", "gauge", "Memory in use.",
     [](const pool_stats& p) -> std::uint64_t { return p.bytes_resident; }},
};

// Not by the library's trees: their destructors allocate, and end the program where there is no memory.
std::string json_of(const pool_stats& one) {
    std::string text = "    {\n      \"name\": " + detail::json_string(one.name);
    const auto add = [&text](std::string_view name, const auto& value) {
        text += fmt::format(",\n      \"{}\": {}", name, value);
    };
    add("pool_id", one.pool_id);
    add("capacity", one.capacity);
    add("alive", one.alive);
    add("dense", one.dense);
    add("newborn", one.newborn);
    add("waiting_removals", one.waiting_removals);
    add("created", one.created);
    add("destroyed", one.destroyed);
    add("slots_in_service", one.slots_in_service);
    add("slots_free", one.slots_free);
    add("slots_claimed", one.slots_claimed);
    add("slots_reserved", one.slots_reserved);
    add("slots_retired", one.slots_retired);
    add("slot_limit", one.slot_limit);
    add("reuse_delay", one.reuse_delay);
    add("smallest_reuse_distance",
        one.smallest_reuse_distance == nothing_yet ? "null" : fmt::to_string(one.smallest_reuse_distance));
    add("handle_limit", one.handle_limit);
    add("shards", one.shards);
    add("compactions", one.compactions);
    add("sweeps", one.sweeps);
    add("bytes_reserved", one.bytes_reserved);
    add("bytes_resident", one.bytes_resident);
    add("bytes_resident_in_objects", one.bytes_resident_in_objects);
    return text + "\n    }";
}

} // namespace

std::string to_table(const service_stats& stats) {
    std::vector<std::size_t> widths;
    for (const column& each : table_columns()) {
        std::size_t width = width_of(each.title);
        for (const pool_stats& pool : stats.pools) {
            width = std::max(width, width_of(each.text(pool)));
        }
        widths.push_back(width);
    }
    std::string table;
    const auto add_line = [&](const auto& cell) {
        for (std::size_t i = 0; i != table_columns().size(); ++i) {
            const std::string text = cell(table_columns()[i]);
            const std::string padding(widths[i] - width_of(text), ' ');
            table += i == 0 ? text + padding : "  " + padding + text; // names left, numbers right
        }
        table.erase(table.find_last_not_of(' ') + 1);
        table += '\n';
    };
    add_line([](const column& each) { return std::string(each.title); });
    for (const pool_stats& pool : stats.pools) {
        add_line([&](const column& each) { return each.text(pool); });
    }
    return table;
}

std::string to_json(const service_stats& stats) {
    std::string pools;
    for (const pool_stats& pool : stats.pools) {
        pools += pools.empty() ? "\n" : ",\n";
        pools += json_of(pool);
    }
    return fmt::format("{{\n  \"frames\": {},\n  \"pools\": [{}{}]\n}}", stats.frames, pools,
                       pools.empty() ? "" : "\n  ");
}

std::string to_prometheus(const service_stats& stats) {
    std::string text = fmt::format("# HELP handlepool_frames_total Compactions of the service.\n"
                                   "# TYPE handlepool_frames_total counter\n"
                                   "handlepool_frames_total {}\n",
                                   stats.frames);
    for (const metric& each : metrics) {
        text += fmt::format("# HELP handlepool_{0} {1}\n# TYPE handlepool_{0} {2}\n", each.name, each.help,
                            each.type);
        for (const pool_stats& pool : stats.pools) {
            text += fmt::format("handlepool_{}{{pool={}}} {}\n", each.name,
                                detail::prometheus_label(pool.name), each.value(pool));
        }
    }
    return text;
}

std::string to_text(const std::vector<pool_leak>& leaks) {
    std::string text;
    for (const pool_leak& leak : leaks) {
        text += fmt::format("{} still holds {} object{}; the oldest:\n", detail::quoted_pool(leak.pool),
                            leak.objects, leak.objects == 1 ? "" : "s");
        for (const std::string& object : leak.oldest) {
            text += fmt::format("  {}\n", object);
        }
    }
    return text;
}

} // namespace handlepool
