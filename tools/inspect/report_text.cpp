// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <handlepool/detail/text/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace handlepool::inspect_tool {

namespace {

using detail::printable;

std::string bytes_text(std::uint64_t bytes) {
    constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    auto amount = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (amount >= 1000 && unit + 1 != std::size(units)) {
        amount /= 1024;
        ++unit;
    }
    return fmt::format("{:.{}f} {}", amount, unit == 0 ? 0 : 1, units[unit]);
}

std::string time_text(std::uint64_t nanoseconds) {
    const double seconds = static_cast<double>(nanoseconds) * 1e-9;
    return seconds < 1 ? fmt::format("{:.1f} ms", seconds * 1000) : fmt::format("{:.1f} s", seconds);
}

std::string rate_text(const std::optional<double>& rate) {
    return rate ? fmt::format("{:.1f}", *rate) : "-";
}

// Of the table: a name and its width, numbers, a state and a type.
constexpr std::string_view row =
    "{:<{}} {:>5}{:>12}{:>12}{:>6}{:>10}{:>10}{:>11}{:>11}{:>9}{:>12}{:>11}  {:<17}{}\n";

std::string thread_text(const std::string& name, std::string_view otherwise) {
    return name.empty() ? std::string(otherwise) : fmt::format("thread \"{}\"", printable(name));
}

std::string state_text(const gate_view& gate) {
    switch (gate.is) {
    case gate_view::state::open:
        return gate.guards.empty() ? "open" : "guarded";
    case gate_view::state::waiting:
        return "waits for guards";
    default:
        return gate.is_exclusive ? "exclusive" : "compacting";
    }
}

std::string guard_text(const held_guards& one) {
    std::string text =
        fmt::format("{} holds {} guard{}",
                    thread_text(one.thread, fmt::format("the thread with number {}", one.thread_number)),
                    one.count, one.count == 1 ? "" : "s");
    if (one.nanoseconds) {
        text += fmt::format(" for {}", time_text(*one.nanoseconds));
    }
    if (one.maker && !one.maker->task.empty()) {
        text += fmt::format(", task \"{}\"", printable(one.maker->task));
    }
    if (one.maker && one.maker->site) {
        text += fmt::format(", made in {}", printable(one.maker->site.name()));
    }
    return text;
}

void add_gate(std::string& text, const std::string& whose, const gate_view& gate) {
    if (gate.nanoseconds != 0) {
        text += fmt::format("{}: {} by {} has waited {} for guards\n", whose,
                            gate.is_exclusive ? "exclusive access" : "a compaction",
                            thread_text(gate.thread, "a thread"), time_text(gate.nanoseconds));
    } else if (gate.is == gate_view::state::closed && gate.is_exclusive) {
        text += fmt::format("{}: {} has exclusive access\n", whose, thread_text(gate.thread, "a thread"));
    }
    for (const held_guards& each : gate.guards) {
        text += fmt::format("{}: {}\n", whose, guard_text(each));
    }
}

/// Most programs have one.
std::string name_of(const service_report& service, std::size_t services) {
    return services == 1 ? "the service" : fmt::format("service {}", service.number + 1);
}

void add_details(std::string& text, const pool_report& pool) {
    if (!pool.knows_ages) {
        text += "\nHow old its objects are is known of a pool with the option record_lives or "
                "remember_frames.\n";
        return;
    }
    if (!pool.age_quartiles.empty()) {
        const auto& ages = pool.age_quartiles;
        text += fmt::format(
            "\nAges in frames: the youngest {}, a quarter up to {}, half up to {}, three quarters up "
            "to {}, the oldest {}",
            ages[0], ages[1], ages[2], ages[3], ages[4]);
        if (pool.frame_rate && *pool.frame_rate > 0) {
            text += fmt::format(", which is about {:.1f} s", static_cast<double>(ages[4]) / *pool.frame_rate);
        }
        text += '\n';
    }
    if (!pool.knows_places) {
        text += "\nWhere its objects were created is known of a pool with the option record_lives.\n";
    } else if (!pool.places.empty()) {
        text += fmt::format("\n{:>12}{:>10}{:>12}{:>12}  {}\n", "alive", "change", "youngest", "oldest",
                            "created in");
        for (const place_report& each : pool.places) {
            text += fmt::format("{:>12}{:>10}{:>12}{:>12}  {}\n", each.alive,
                                each.change ? fmt::format("{:+}", *each.change) : "-", each.youngest,
                                each.oldest, printable(each.place));
        }
        if (pool.places_left_out != 0) {
            text += fmt::format("{:>46}  and {} other places\n", "", pool.places_left_out);
        }
    }
    if (!pool.oldest.empty()) {
        text += "\nThe oldest objects:\n";
        for (const object_report& each : pool.oldest) {
            text += fmt::format("  {:#x} {}\n", each.handle, printable(each.text));
        }
    }
}

} // namespace

std::string text_of(const program_report& report) {
    std::string text = fmt::format("{} ({}): {} pool{}\n", printable(report.name), report.process,
                                   report.pools.size(), report.pools.size() == 1 ? "" : "s");
    if (report.pools.empty()) { // a service without pools is of no interest
        return text;
    }
    std::size_t name_width = 4;
    for (const pool_report& each : report.pools) {
        name_width = std::max(name_width, printable(each.name).size());
    }
    for (const service_report& each : report.services) {
        name_width = std::max(name_width, name_of(each, report.services.size()).size());
    }
    text += fmt::format(row, "pool", name_width, "id", "alive", "capacity", "used", "newborn", "waiting",
                        "created/s", "erased/s", "frames/s", "compaction", "memory", "state", "type");
    for (const pool_report& each : report.pools) {
        const pool_counts& now = each.counts;
        const double used = each.capacity == 0 ? 0
                                               : 100 * static_cast<double>(now.alive + now.waiting_removals) /
                                                     static_cast<double>(each.capacity);
        text += fmt::format(
            row, printable(each.name), name_width, each.id, now.alive, each.capacity,
            fmt::format("{:.0f}%", used), now.newborn, now.waiting_removals, rate_text(each.created_rate),
            rate_text(each.erased_rate), rate_text(each.frame_rate),
            each.compaction_nanoseconds ? fmt::format("{:.1f} us", *each.compaction_nanoseconds / 1000) : "-",
            bytes_text(now.bytes_resident), state_text(each.gate), printable(each.type));
    }
    for (const service_report& each : report.services) {
        text += fmt::format(row, name_of(each, report.services.size()), name_width, "-", "-", "-", "-", "-",
                            "-", "-", "-", "-", "-", "-", state_text(each.gate), "service");
    }
    for (const service_report& each : report.services) {
        add_gate(text, name_of(each, report.services.size()), each.gate);
    }
    for (const pool_report& each : report.pools) {
        add_gate(text, printable(each.name), each.gate);
    }
    for (const pool_report& each : report.pools) {
        if (each.growth && *each.growth > 0) {
            text += fmt::format("{}: {} objects, and {:.1f} more each second{}\n", printable(each.name),
                                each.counts.alive, *each.growth,
                                each.is_detailed ? "" : ": --pool tells where they are created");
        }
    }
    for (const pool_report& each : report.pools) {
        if (each.is_detailed) {
            add_details(text, each);
        }
    }
    return text;
}

} // namespace handlepool::inspect_tool
