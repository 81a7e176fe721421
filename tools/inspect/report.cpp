// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <handlepool/detail/text/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <ranges>
#include <thread>
#include <tuple>
#include <utility>

namespace handlepool::inspect_tool {

namespace {

/// Living objects by the place that created them, which is a word of the program.
struct living_by_place {
    struct group {
        std::uint64_t word = 0; // of one of them
        std::uint64_t alive = 0;
        std::uint32_t oldest = 0;
        std::uint32_t youngest = ~std::uint32_t{0};
    };
    std::map<std::uint64_t, group> groups;
    std::vector<std::uint32_t> ages;
    std::vector<living_object> oldest; // those to be shown
};

living_by_place count_living(const inspected_pool& pool, std::size_t most) {
    const auto is_older = [](const living_object& a, const living_object& b) {
        return std::pair(b.age.value_or(0), a.index) < std::pair(a.age.value_or(0), b.index);
    };
    living_by_place found;
    pool.for_each_living([&](const living_object& one) {
        if (one.age) {
            found.ages.push_back(*one.age);
            found.oldest.push_back(one);
            if (found.oldest.size() >= 2 * most + 1000) {
                std::ranges::sort(found.oldest, is_older);
                found.oldest.resize(most);
            }
        }
        if (one.beginning) {
            const auto word = static_cast<std::uint64_t>(one.beginning->who);
            living_by_place::group& same = found.groups[detail::site_of(one.beginning->who)];
            same.word = word;
            ++same.alive;
            same.oldest = std::max(same.oldest, *one.age);
            same.youngest = std::min(same.youngest, *one.age);
        }
    });
    std::ranges::sort(found.oldest, is_older);
    found.oldest.resize(std::min(found.oldest.size(), most));
    return found;
}

/// The least, three quarters, and the greatest. Changes the order.
std::vector<std::uint32_t> quartiles_of(std::vector<std::uint32_t>& ages) {
    std::vector<std::uint32_t> found;
    auto from = ages.begin(); // below it are those that are no greater
    for (std::size_t quarter = 0; quarter <= 4 && !ages.empty(); ++quarter) {
        const auto at = ages.begin() + static_cast<std::ptrdiff_t>((ages.size() - 1) * quarter / 4);
        std::nth_element(from, at, ages.end());
        found.push_back(*at);
        from = at;
    }
    return found;
}

using groups_by_word = std::vector<std::pair<std::uint64_t, living_by_place::group>>;

/// Several words may have one name: calls in one line, instances of a template. Their objects are added up.
void add_places(pool_report& told, const inspected_program& program, const groups_by_word& groups,
                const std::optional<living_by_place>& before, std::size_t most) {
    constexpr std::size_t most_named = 1'000; // which takes a look into the debug information each
    std::map<std::string, std::size_t> places;
    std::uint64_t named = 0;
    for (const auto& [site, group] : groups | std::views::take(std::max(most, most_named))) {
        const std::string name = program.place_of(group.word);
        const auto [found, is_new] = places.try_emplace(name, told.places.size());
        if (is_new) {
            told.places.push_back({.place = name, .youngest = group.youngest});
        }
        place_report& place = told.places[found->second];
        place.alive += group.alive;
        place.oldest = std::max(place.oldest, group.oldest);
        place.youngest = std::min(place.youngest, group.youngest);
        if (before) {
            const auto earlier = before->groups.find(site);
            place.change = place.change.value_or(0) +
                           static_cast<std::int64_t>(
                               group.alive - (earlier != before->groups.end() ? earlier->second.alive : 0));
        }
        ++named;
    }
    std::ranges::sort(told.places, [](const place_report& a, const place_report& b) {
        return std::tie(b.alive, a.place) < std::tie(a.alive, b.place);
    });
    const std::size_t shown = std::min(told.places.size(), most);
    told.places_left_out = told.places.size() - shown + groups.size() - static_cast<std::size_t>(named);
    told.places.resize(shown);
}

void add_details(pool_report& told, const inspected_program& program, const inspected_pool& pool,
                 const most_told& most, const std::optional<living_by_place>& before) {
    // The oldest are often the next to end: others come in place of those that have when they are described.
    living_by_place now = count_living(pool, 4 * most.objects + 100);
    told.is_detailed = true;
    told.knows_ages = pool.knows_ages();
    told.knows_places = pool.records_lives();
    told.age_quartiles = quartiles_of(now.ages);
    groups_by_word groups(now.groups.begin(), now.groups.end());
    std::ranges::sort(groups, [](const auto& a, const auto& b) {
        return std::pair(b.second.alive, a.first) < std::pair(a.second.alive, b.first);
    });
    add_places(told, program, groups, before, most.places);
    for (const living_object& each : now.oldest) {
        if (told.oldest.size() == most.objects) {
            break;
        }
        if (pool.is_alive(each.handle)) { // it may have ended meanwhile
            told.oldest.push_back(
                {.handle = each.handle, .age = each.age, .text = pool.describe(each.handle)});
        }
    }
}

/// What has happened since the first look.
void tell_rates(pool_report& told, const pool_counts& first, bool has_waited) {
    const pool_counts& now = told.counts;
    if (!has_waited) {
        return;
    }
    const double seconds = static_cast<double>(now.at - first.at) * 1e-9;
    const auto rate = [&](std::uint64_t pool_counts::* counter) {
        return static_cast<double>(now.*counter - first.*counter) / seconds;
    };
    told.created_rate = rate(&pool_counts::created);
    told.erased_rate = rate(&pool_counts::erased);
    told.frame_rate = rate(&pool_counts::frames);
    if (*told.frame_rate > 0) {
        told.compaction_nanoseconds = rate(&pool_counts::compaction_nanoseconds) / *told.frame_rate;
    }
}

/// What a pool is at the first look.
struct first_look {
    pool_counts counts;
    std::optional<living_by_place> living;
};

} // namespace

pool_report report_of(const inspected_pool& pool) {
    pool_report told;
    told.name = pool.name();
    told.type = pool.type();
    told.layout = pool.layout();
    told.id = pool.id();
    told.capacity = pool.capacity();
    told.object_bytes = pool.object_bytes();
    told.is_stable = pool.is_stable();
    told.counts = pool.counts();
    told.gate = pool.gate();
    told.listed = pool.listed();
    return told;
}

void add_details(pool_report& told, const inspected_program& program, const inspected_pool& pool,
                 const most_told& most) {
    add_details(told, program, pool, most, std::nullopt);
}

std::vector<service_report> services_of(const inspected_program& program) {
    std::vector<service_report> told;
    for (const detail::living_service& each : program.services()) {
        try {
            told.push_back({.number = each.number, .gate = gate_of(program, each.gate)});
        } catch (const memory_gone&) { // it has just ended
        }
    }
    const std::vector<detail::living_service> still = program.services();
    std::erase_if(told, [&still](const service_report& each) { // what was read may be something else's
        return std::ranges::find(still, each.number, &detail::living_service::number) == still.end();
    });
    return told;
}

program_report look(const inspected_program& program, const wishes& asked) {
    std::vector<std::pair<inspected_pool, first_look>> seen;
    for (const detail::living_pool& each : program.pools()) {
        try {
            inspected_pool pool(program, each);
            if (asked.pool.empty() || pool.name() == asked.pool) {
                first_look first{.counts = pool.counts(), .living = std::nullopt};
                if (!asked.pool.empty() && asked.seconds > 0) {
                    first.living = count_living(pool, 0);
                }
                seen.emplace_back(std::move(pool), std::move(first));
            }
        } catch (const memory_gone&) { // it has just ended
        }
    }
    if (asked.seconds > 0 && !seen.empty()) {
        std::this_thread::sleep_for(std::chrono::duration<double>(asked.seconds));
    }

    program_report report{.process = program.process(),
                          .copy = program.copy(),
                          .name = program.name(),
                          .pools = {},
                          .services = services_of(program)};
    std::vector<detail::living_pool> told_of;
    for (const auto& [before, first] : seen) {
        try {
            const inspected_pool pool(program, before.listed());
            pool_report told = report_of(pool);
            tell_rates(told, first.counts, asked.seconds > 0);
            if (!asked.pool.empty()) {
                add_details(told, program, pool, {.objects = asked.most, .places = asked.most}, first.living);
            }
            report.pools.push_back(std::move(told));
            told_of.push_back(before.listed());
        } catch (const memory_gone&) { // it has ended
        }
    }
    // Of those that have ended meanwhile, what was read may be something else's.
    const std::vector<detail::living_pool> still = program.pools();
    std::size_t kept = 0;
    for (std::size_t i = 0; i != told_of.size(); ++i) {
        if (is_among(told_of[i], still)) {
            std::swap(report.pools[kept++], report.pools[i]);
        }
    }
    report.pools.resize(kept);
    return report;
}

} // namespace handlepool::inspect_tool
