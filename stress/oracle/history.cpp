// SPDX-License-Identifier: MIT
#include "oracle/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace handlepool::stress {

namespace {

// Dead handles whose histories are kept, and events that messages can show: of all partitions together.
constexpr std::size_t most_dead = 1 << 17;
constexpr std::size_t most_past = 1 << 20;
// Of one handle's events in a message.
constexpr std::size_t most_shown = 40;

operation what_of(const event& happened) {
    return static_cast<operation>(happened.what);
}

} // namespace

history::history(handle_parts parts, std::size_t partitions, time_stamp clock_tolerance)
    : parts_(parts), tolerance_(clock_tolerance), partitions_(partitions) {}

void history::check(std::size_t partition, const std::vector<recorder*>& recorders) {
    partition_state& mine = partitions_[partition];
    // Creations first: whether a refusal counts depends on when the creation had returned.
    for (std::size_t thread = 0; thread < recorders.size(); ++thread) {
        for (const event& happened : recorders[thread]->log(partition)) {
            if (what_of(happened) == operation::emplace) {
                take_creation(mine, thread, happened);
            }
        }
    }
    for (std::size_t thread = 0; thread < recorders.size(); ++thread) {
        std::vector<event>& log = recorders[thread]->log(partition);
        for (const event& happened : log) {
            if (what_of(happened) != operation::emplace) {
                take_use(mine, thread, happened);
            }
        }
        remember(mine, thread, log);
    }
    judge(mine);
    report_violations(mine);
    forget_old_dead(mine);
}

findings history::result() const {
    findings all;
    for (const partition_state& each : partitions_) {
        all += each.found;
    }
    return all;
}

void history::take_creation(partition_state& mine, std::size_t thread, const event& happened) {
    const auto [position, is_new] = mine.lives.try_emplace(happened.handle);
    life& of = position->second;
    if (!is_new || died_long_ago(mine, happened.handle)) {
        violate(mine, happened.handle, "a handle was given out twice");
        return;
    }
    of.created_begin = happened.begin;
    of.created_end = happened.end;
    of.content = happened.content;
    of.creator = static_cast<std::uint32_t>(thread);
    of.touched = true;
    mine.touched.push_back(happened.handle);
}

void history::take_use(partition_state& mine, std::size_t thread, const event& happened) {
    const auto position = mine.lives.find(happened.handle);
    if (position == mine.lives.end()) {
        if (happened.wrong && !happened.accepted) {
            violate(mine, happened.handle,
                    fmt::format("{} refused a handle, although its caller knew that the object was alive",
                                name_of(what_of(happened))));
        }
        if (happened.accepted) {
            const bool was_alive = died_long_ago(mine, happened.handle);
            mine.found.stale_accepted += was_alive ? 1U : 0U;
            violate(mine, happened.handle,
                    fmt::format("a handle {} was accepted by {}",
                                was_alive ? "whose erase was long ago" : "that was never given out",
                                name_of(what_of(happened))));
        }
        return;
    }
    life& of = position->second;
    if (!of.touched) {
        of.touched = true;
        mine.touched.push_back(happened.handle);
    }
    if (happened.wrong) {
        of.reported = true;
        mine.found.stale_accepted += happened.accepted ? 1U : 0U;
        violate(mine, happened.handle,
                fmt::format("{} {} a handle, although its caller knew that the object was {}",
                            name_of(what_of(happened)), happened.accepted ? "accepted" : "refused",
                            happened.accepted ? "erased" : "alive"));
    }
    if (!happened.accepted) {
        ++of.refused;
        // What began before the creation returned may have come first.
        if (happened.begin > of.created_end + tolerance_) {
            of.earliest_refused_end = std::min(of.earliest_refused_end, happened.end);
        }
        return;
    }
    of.earliest_found_end = std::min(of.earliest_found_end, happened.end);
    if (what_of(happened) == operation::erase) {
        ++of.wins;
        of.erased_begin = happened.begin;
        of.erased_end = happened.end;
        of.eraser = static_cast<std::uint32_t>(thread);
        mine.dead.push_back(happened.handle);
        return;
    }
    ++of.found;
    of.latest_found_begin = std::max(of.latest_found_begin, happened.begin);
    if (what_of(happened) == operation::find && happened.content != of.content) {
        of.reported = true;
        ++mine.found.content_mismatches;
        violate(mine, happened.handle,
                fmt::format("the handle of object {} found object {}, or a torn one", of.content,
                            happened.content));
    }
}

void history::judge(partition_state& mine) {
    for (const std::uint64_t handle : mine.touched) {
        life& of = mine.lives.find(handle)->second;
        of.touched = false;
        if (!of.reported) {
            judge(mine, handle, of);
        }
    }
    mine.touched.clear();
}

void history::judge(partition_state& mine, std::uint64_t handle, life& of) {
    std::string invariant;
    if (of.wins > 1) {
        invariant = fmt::format("{} erases of one handle were won", of.wins);
    } else if (of.earliest_found_end < of.created_begin - tolerance_) {
        invariant = "a handle was accepted before it was given out";
    } else if (of.wins == 0 && of.earliest_refused_end != never) {
        invariant = "a handle was refused, and nobody had erased it";
    } else if (of.wins == 1 && std::max(of.erased_begin, of.latest_found_begin) >
                                   std::min(of.erased_end, of.earliest_refused_end) + tolerance_) {
        invariant = of.latest_found_begin > of.erased_end ? "a handle was found after its erase had returned"
                    : of.erased_begin > of.earliest_refused_end
                        ? "a handle was refused before its erase began"
                        : "a handle was found after it had been refused";
    }
    if (!invariant.empty()) {
        of.reported = true;
        mine.found.stale_accepted += of.wins == 1 && of.latest_found_begin > of.erased_end ? 1U : 0U;
        violate(mine, handle, invariant);
    }
}

void history::remember(partition_state& mine, std::size_t thread, std::vector<event>& log) {
    if (log.empty()) {
        return;
    }
    mine.past_count += log.size();
    mine.past.push_back({thread, std::move(log)});
    log.clear();
    const std::size_t most = most_past / partitions_.size();
    while (mine.past_count > most && mine.past.size() > 1) {
        past_events& oldest = mine.past.front();
        mine.past_count -= oldest.events.size();
        if (oldest.events.capacity() > log.capacity()) {
            log = std::move(oldest.events); // its memory serves again
            log.clear();
        }
        mine.past.pop_front();
    }
}

void history::forget_old_dead(partition_state& mine) {
    const std::size_t most = most_dead / partitions_.size();
    while (mine.dead.size() > most) {
        const std::uint64_t handle = mine.dead.front();
        mine.dead.pop_front();
        mine.lives.erase(handle);
        const auto row = static_cast<std::size_t>(parts_.index(handle) / partitions_.size());
        if (row >= mine.dead_through.size()) {
            mine.dead_through.resize(std::max(row + 1, 2 * mine.dead_through.size()));
        }
        mine.dead_through[row] = std::max(mine.dead_through[row], parts_.generation(handle));
    }
}

bool history::died_long_ago(const partition_state& mine, std::uint64_t handle) const {
    const auto row = static_cast<std::size_t>(parts_.index(handle) / partitions_.size());
    return row < mine.dead_through.size() && parts_.generation(handle) <= mine.dead_through[row];
}

void history::violate(partition_state& mine, std::uint64_t handle, std::string invariant) {
    mine.wrong.emplace_back(handle, std::move(invariant));
}

// When all that was recorded is known, the violations themselves among it.
void history::report_violations(partition_state& mine) const {
    for (const auto& [handle, invariant] : mine.wrong) {
        mine.found.violate(mine.found.wants_message()
                               ? fmt::format("{}\n{}", invariant, history_text(mine, handle))
                               : std::string());
    }
    mine.wrong.clear();
}

// The handle's parts, and all that is known of its history in the order of time.
std::string history::history_text(const partition_state& mine, std::uint64_t handle) const {
    std::string text = fmt::format("  handle {:#x}: pool id {}, generation {}, index {}", handle,
                                   parts_.pool_id(handle), parts_.generation(handle), parts_.index(handle));
    struct line {
        time_stamp begin;
        time_stamp end;
        std::string text;
    };
    std::vector<line> lines;
    const auto position = mine.lives.find(handle);
    if (position != mine.lives.end() && position->second.created_begin != never) {
        const life& of = position->second;
        lines.push_back({of.created_begin, of.created_end,
                         fmt::format("thread {} emplace: object {}", of.creator, of.content)});
        if (of.wins != 0) {
            lines.push_back({of.erased_begin, of.erased_end, fmt::format("thread {} erase: won", of.eraser)});
        }
        text += fmt::format("; accepted by {} look-ups, refused {} times", of.found, of.refused);
    }
    const std::size_t known = lines.size();
    for (const past_events& past : mine.past) {
        for (const event& happened : past.events) {
            // The creation, and the erase that the life knows, stand above already.
            const auto stands_there = [&](std::size_t at, operation what, std::size_t thread) {
                return at < known && what_of(happened) == what && past.thread == thread &&
                       happened.begin == lines[at].begin && happened.end == lines[at].end;
            };
            if (happened.handle != handle ||
                (known != 0 && stands_there(0, operation::emplace, position->second.creator)) ||
                (known == 2 && stands_there(1, operation::erase, position->second.eraser))) {
                continue;
            }
            std::string what = fmt::format("thread {} {}: {}", past.thread, name_of(what_of(happened)),
                                           happened.accepted ? "accepted" : "refused");
            if (happened.accepted &&
                (what_of(happened) == operation::find || what_of(happened) == operation::emplace)) {
                what += fmt::format(", object {}", std::uint64_t{happened.content});
            }
            lines.push_back({happened.begin, happened.end, std::move(what)});
        }
    }
    std::sort(lines.begin(), lines.end(), [](const line& a, const line& b) {
        return std::tie(a.begin, a.end, a.text) < std::tie(b.begin, b.end, b.text);
    });
    // What happened last is what was wrong; the beginning is the creation.
    const std::size_t left_out = lines.size() > most_shown ? lines.size() - most_shown : 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (left_out != 0 && i == 1) {
            text += fmt::format("\n    ... {} more", left_out);
            i += left_out;
        }
        text += fmt::format("\n    +{:<12} to +{:<12} ns  {}", lines[i].begin - lines.front().begin,
                            lines[i].end - lines.front().begin, lines[i].text);
    }
    return text;
}

} // namespace handlepool::stress
