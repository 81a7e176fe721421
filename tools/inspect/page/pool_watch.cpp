// SPDX-License-Identifier: MIT
#include "pool_watch.hpp"

#include <handlepool/detail/text/text.hpp>
#include <handlepool/executor.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tools/inspect/store_map.hpp>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace handlepool::inspect_tool {

namespace {

using detail::printable;
using nlohmann::ordered_json;

constexpr std::size_t most_looks = 1200;      // ten minutes of two a second
constexpr std::size_t most_numbers = 100'000; // of pools in all of these
constexpr std::size_t most_ended = 100;       // pools that are still shown

/// What a look at a pool says, in the order of the columns.
constexpr std::pair<std::string_view, std::uint64_t pool_counts::*> columns[] = {
    {"alive", &pool_counts::alive},
    {"created", &pool_counts::created},
    {"erased", &pool_counts::erased},
    {"frames", &pool_counts::frames},
    {"newborn", &pool_counts::newborn},
    {"waiting_removals", &pool_counts::waiting_removals},
    {"compaction_nanoseconds", &pool_counts::compaction_nanoseconds},
    {"bytes_resident", &pool_counts::bytes_resident},
    {"timed_compactions", &pool_counts::timed_compactions}};

ordered_json row_of(std::uint64_t key, const pool_counts& counts) {
    ordered_json row{key};
    for (const auto& [name, value] : columns) {
        row.push_back(counts.*value);
    }
    row.push_back(counts.phase_nanoseconds);
    return row;
}

} // namespace

void pool_watch::look() {
    if (has_ended_) {
        return;
    }
    look_at_all now{.at = inspect_tool::now(), .pools = {}};
    std::vector<service_report> services;
    std::set<std::size_t> unknown;  // programs that could not be looked at
    std::size_t ended_programs = 0; // or they have become others, in a process with the same number
    for (std::size_t i = 0; i != programs_.size(); ++i) {
        try {
            look_at(i, now.pools);
            std::ranges::move(services_of(programs_[i]), std::back_inserter(services));
        } catch (const process_unreadable&) {
            if (programs_[i].is_there()) { // stopped amid a change, say: the next look may succeed
                unknown.insert(i);
            } else {
                ++ended_programs;
            }
        }
    }
    if (ended_programs == programs_.size()) {
        has_ended_ = true;
        return;
    }
    try {
        services_ = inspect_tool::json_of(services);
    } catch (const process_unreadable&) { // it ends just now, before places were named
    }
    std::set<std::uint64_t> seen;
    for (const numbers& each : now.pools) {
        seen.insert(each.key);
    }
    for (auto& [key, pool] : pools_) {
        pool.is_alive = seen.contains(key) || (pool.is_alive && unknown.contains(pool.program));
    }
    std::size_t ended = 0;
    for (auto each = pools_.rbegin(); each != pools_.rend();) { // the newest ones are kept
        const bool is_kept = each->second.is_alive || ++ended <= most_ended;
        if (!is_kept) {
            const auto place = keys_by_place_.find({each->second.program, each->second.listed.core});
            if (place != keys_by_place_.end() && place->second == each->first) { // and no later pool's
                keys_by_place_.erase(place);
            }
        }
        each = is_kept ? std::next(each) : std::make_reverse_iterator(pools_.erase(std::prev(each.base())));
    }
    if (looks_ever_ == 0) {
        first_at_ = now.at;
    }
    now.at -= first_at_;
    ++looks_ever_;
    numbers_kept_ += now.pools.size();
    looks_.push_back(std::move(now));
    while (looks_.size() > most_looks || (numbers_kept_ > most_numbers && looks_.size() > 2)) {
        numbers_kept_ -= looks_.front().pools.size();
        looks_.pop_front();
    }
}

void pool_watch::look_at(std::size_t program, std::vector<numbers>& seen) {
    std::vector<std::pair<inspected_pool, pool_report>> read;
    for (const detail::living_pool& each : programs_[program].pools()) {
        try {
            const inspected_pool pool(programs_[program], each);
            read.emplace_back(pool, report_of(pool));
        } catch (const memory_gone&) { // it has just ended
        }
    }
    // Of those that have ended meanwhile, what was read may be something else's.
    const std::vector<detail::living_pool> still = programs_[program].pools();
    for (auto& [pool, report] : read) {
        if (!is_among(pool.listed(), still)) {
            continue;
        }
        auto& [key, known] = watched(program, pool);
        known.growth.tell(report);
        known.told = inspect_tool::json_of(report);
        known.told["knows_ages"] = pool.knows_ages();
        known.told["knows_places"] = pool.records_lives();
        seen.push_back({.key = key, .counts = report.counts});
    }
}

pool_watch::pools_by_key::value_type& pool_watch::watched(std::size_t program, const inspected_pool& pool) {
    std::uint64_t& key_there = keys_by_place_[{program, pool.listed().core}];
    const auto found = pools_.find(key_there);
    if (found != pools_.end() && is_same_pool(found->second.listed, pool.listed())) {
        return *found;
    }
    key_there = ++last_key_;
    watched_pool made{
        .program = program, .listed = pool.listed(), .name = pool.name(), .growth = {}, .told = {}};
    return *pools_.emplace(key_there, std::move(made)).first;
}

ordered_json pool_watch::state_since(std::uint64_t look) const {
    ordered_json pools = ordered_json::array();
    for (const auto& [key, each] : pools_) {
        ordered_json pool = each.told;
        pool["key"] = key;
        pool["is_alive"] = each.is_alive; // at the last look
        pools.push_back(std::move(pool));
    }
    ordered_json looks = ordered_json::array();
    const std::uint64_t first_kept = looks_ever_ - looks_.size();
    for (std::uint64_t i = std::max(look, first_kept); i < looks_ever_; ++i) {
        const look_at_all& one = looks_[static_cast<std::size_t>(i - first_kept)];
        ordered_json rows = ordered_json::array();
        for (const auto& [key, counts] : one.pools) {
            rows.push_back(row_of(key, counts));
        }
        looks.push_back({{"seconds", static_cast<double>(one.at) * 1e-9}, {"numbers", std::move(rows)}});
    }
    ordered_json names{"key"};
    for (const auto& [name, value] : columns) {
        names.push_back(name);
    }
    names.push_back("phase_nanoseconds");
    ordered_json phases = ordered_json::array();
    for (std::size_t i = 0; i != pool_counts().phase_nanoseconds.size(); ++i) {
        phases.push_back(name_of(static_cast<compaction_phase>(i)));
    }
    return {{"process", process()},      {"name", printable(name_)},    {"has_ended", has_ended_},
            {"look", looks_ever_},       {"columns", std::move(names)}, {"phases", std::move(phases)},
            {"pools", std::move(pools)}, {"services", services_},       {"looks", std::move(looks)}};
}

template <class Ask>
ordered_json pool_watch::ask(std::uint64_t key, Ask question) const {
    const auto found = pools_.find(key);
    if (found == pools_.end()) {
        throw not_found(fmt::format("there is no pool with the key {}", key));
    }
    const watched_pool& pool = found->second;
    const std::string ended = fmt::format("pool '{}' has ended", printable(pool.name));
    try {
        const inspected_program& program = programs_[pool.program];
        if (!is_among(pool.listed, program.pools())) {
            throw not_found(ended);
        }
        const std::clock_t begun = std::clock();
        ordered_json answer = question(program, inspected_pool(program, pool.listed));
        if (!is_among(pool.listed, program.pools())) { // else this may be something else's
            throw not_found(ended);
        }
        answer["processor_seconds"] = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
        return answer;
    } catch (const memory_gone&) {
        throw not_found(ended);
    } catch (const process_unreadable& error) {
        throw not_found(printable(error.what()));
    }
}

ordered_json pool_watch::details(std::uint64_t key, const most_told& most) const {
    return ask(key, [&](const inspected_program& program, const inspected_pool& pool) {
        pool_report told = report_of(pool);
        told.growth = pools_.at(key).growth.per_second();
        add_details(told, program, pool, most);
        return inspect_tool::json_of(told);
    });
}

ordered_json pool_watch::map(std::uint64_t key, std::uint64_t first, std::size_t most) const {
    return ask(key, [first, most](const inspected_program& program, const inspected_pool& pool) {
        return inspect_tool::json_of(draw_map(program, pool, first, most));
    });
}

ordered_json pool_watch::life(std::uint64_t handle) const {
    ordered_json found = ordered_json::array();
    for (std::size_t i = 0; i != programs_.size(); ++i) {
        try {
            for (const detail::living_pool& each : programs_[i].pools()) {
                if (auto told = told_of_handle(programs_[i], each, {}, handle, true)) {
                    found.push_back(*std::move(told));
                }
            }
        } catch (const process_unreadable& error) {
            throw not_found(printable(error.what()));
        }
    }
    return found;
}

} // namespace handlepool::inspect_tool
