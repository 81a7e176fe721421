// SPDX-License-Identifier: MIT
#include "inspected_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string_view>
#include <thread>
#include <unordered_set>

namespace handlepool::inspect_tool {

namespace {

using detail::living_pool;
using detail::process_description;

constexpr std::size_t most_listed = 10'000;
constexpr std::size_t most_descriptions = 64; // copies of the library in a process

std::uint64_t address_of(const void* pointer) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

/// Where descriptions may be in a range of data. They lie at multiples of their alignment, and go on behind
/// the range, perhaps.
std::vector<std::uint64_t> find_descriptions(const process_memory& memory, const data_range& range) {
    constexpr std::string_view mark = process_description::mark_text;
    std::vector<std::uint64_t> found;
    std::vector<std::byte> bytes;
    constexpr std::uint64_t step = std::uint64_t{1} << 20;
    for (std::uint64_t at = range.first; at < range.last; at += step) {
        bytes.resize(static_cast<std::size_t>(std::min(step, range.last - at)));
        try {
            memory.read(at, bytes);
        } catch (const memory_gone&) { // the module has ended, or the file
            break;
        }
        for (std::size_t offset = 0; offset + mark.size() <= bytes.size();
             offset += alignof(process_description)) {
            const auto* const text = reinterpret_cast<const char*>(bytes.data() + offset);
            if (std::string_view(text, mark.size()) == mark) {
                found.push_back(at + offset);
            }
        }
    }
    return found;
}

/// What stands at an address; nothing if that is no description, such as a copy of one.
std::optional<process_description> description_at(const process_memory& memory, std::uint64_t address) {
    try {
        const auto found = memory.read<process_description>(address);
        return address_of(found.self) == address ? std::optional(found) : std::nullopt;
    } catch (const memory_gone&) {
        return std::nullopt;
    }
}

bool is_known(const process_description& description) {
    return description.version == process_description::current_version &&
           description.address_bytes == sizeof(void*);
}

} // namespace

std::vector<inspected_program> inspected_program::in_process(int process) {
    const process_memory memory(process);
    std::vector<inspected_program> found;
    std::optional<process_description> unknown;
    for (const data_range& range : data_ranges(process)) {
        for (const std::uint64_t address : find_descriptions(memory, range)) {
            const auto description = description_at(memory, address);
            if (!description || found.size() == most_descriptions) {
                continue;
            }
            if (!is_known(*description)) {
                unknown = description;
                continue;
            }
            // Copies of the library that share their symbols have one list.
            const bool is_seen = std::ranges::any_of(found, [&](const inspected_program& each) {
                return each.description_.living_pools == description->living_pools;
            });
            if (!is_seen) {
                found.push_back(inspected_program(memory, *description, found.size()));
            }
        }
    }
    if (found.empty() && unknown) {
        throw process_unreadable(fmt::format(
            "process {} has pools of another version of the library: its description has version {} and "
            "addresses of {} bytes, and this program reads version {} with addresses of {}",
            process, unknown->version, unknown->address_bytes, process_description::current_version,
            sizeof(void*)));
    }
    return found;
}

bool inspected_program::is_there() const noexcept {
    try {
        const auto now = memory_.read<process_description>(address_of(description_.self));
        return now.mark == description_.mark && now.self == description_.self &&
               now.living_pools == description_.living_pools;
    } catch (const std::exception&) {
        return false;
    }
}

template <class Living>
std::vector<Living> inspected_program::list(Living* const* first) const {
    constexpr auto patience = std::chrono::milliseconds(500);
    try {
        for (const auto since = std::chrono::steady_clock::now();
             std::chrono::steady_clock::now() - since < patience;) {
            if (auto found = try_to_list(first)) {
                std::ranges::reverse(*found); // the last one is the first of the list
                return std::move(*found);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    } catch (const memory_gone&) {
        throw process_unreadable(fmt::format(
            "process {} runs another program by now, or has unloaded the module with its pools", process()));
    }
    throw process_unreadable(
        fmt::format("the pools of process {} can't be listed: it makes and ends pools all the time, or was "
                    "stopped while it did",
                    process()));
}

template <class Living>
std::optional<std::vector<Living>> inspected_program::try_to_list(Living* const* first) const {
    const auto changes = memory_.read<std::uint64_t>(description_.list_changes);
    if (changes % 2 != 0) {
        return std::nullopt;
    }
    std::vector<Living> found;
    std::unordered_set<const void*> seen; // else a list that is damaged might have no end
    try {
        for (auto at = memory_.read<const Living*>(first); at != nullptr && found.size() != most_listed;
             at = found.back().next) {
            if (!seen.insert(at).second) {
                return std::nullopt;
            }
            found.push_back(memory_.read<Living>(at));
        }
    } catch (const memory_gone&) {
        return std::nullopt;
    }
    if (memory_.read<std::uint64_t>(description_.list_changes) != changes) {
        return std::nullopt;
    }
    return found;
}

template std::vector<detail::living_pool> inspected_program::list(detail::living_pool* const*) const;
template std::vector<detail::living_service> inspected_program::list(detail::living_service* const*) const;

bool is_same_pool(const living_pool& one, const living_pool& other) noexcept {
    return one.core == other.core && one.number == other.number;
}

bool is_among(const living_pool& pool, const std::vector<living_pool>& listed) {
    return std::ranges::any_of(listed, [&pool](const living_pool& each) { return is_same_pool(each, pool); });
}

std::string inspected_program::thread_with_number(std::uint32_t number) const {
    if (number >= description_.thread_count) {
        return {};
    }
    const auto thread = memory_.read<std::uint32_t>(description_.threads + number);
    return thread_name(process(), thread);
}

std::optional<detail::word_depot::value_type> inspected_program::entry_of(const detail::listed_depot* depot,
                                                                          std::uint64_t number) const {
    const auto where = memory_.read<detail::listed_depot>(depot);
    if (where.entries == nullptr || number == 0) {
        return std::nullopt;
    }
    return memory_.read<detail::word_depot::value_type>(address_of(where.entries) +
                                                        number * where.entry_size);
}

call_site inspected_program::site_of(std::uint64_t site) const {
    if ((site & detail::is_depot_entry) == 0) {
        return call_site(site);
    }
    const auto entry = entry_of(description_.sites, site & 0xffff'ffff);
    return entry ? call_site(detail::site_of_value(*entry)) : call_site();
}

recorded_event inspected_program::maker_of(std::uint64_t word) const {
    const auto who = static_cast<detail::caller>(word);
    recorded_event made;
    made.site = site_of(detail::site_of(who));
    if (const auto actor = entry_of(description_.actors, detail::actor_of(who))) {
        made.thread = detail::thread_in(*actor);
        made.task = detail::task_in(*actor);
    }
    return made;
}

std::string inspected_program::place_of(std::uint64_t word) const {
    const std::string name = maker_of(word).site.name();
    return name.empty() ? "an unknown place" : name;
}

recorded_event inspected_program::event_of(const detail::life_record& record,
                                           std::uint32_t frames_ago) const {
    recorded_event found = maker_of(static_cast<std::uint64_t>(record.who));
    found.event = record.event;
    found.frames_ago = frames_ago;
    found.is_undone = record.is_undone;
    return found;
}

} // namespace handlepool::inspect_tool
