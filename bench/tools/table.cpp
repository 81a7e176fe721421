// SPDX-License-Identifier: MIT
#include "table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <support/files/tell.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace handlepool_bench {

namespace {

// Half of a row's rounds should lie this close together.
constexpr double wide_spread = 0.15;

row at_most(std::string name, double must, double aim, const char* limit = "≤ {:.1f} ×",
            const char* measured = "{:.2f} ×") {
    return {std::move(name), row::better::lower, must, aim, limit, measured};
}

row faster(std::string name, double must, double aim) {
    return {std::move(name), row::better::higher, must, aim, "{:.0f} × faster", "{:.1f} × faster"};
}

std::string print_number(const std::string& format, std::optional<double> number) {
    return number ? fmt::format(fmt::runtime(format), *number) : "";
}

} // namespace

bool row::reaches(double limit) const {
    if (direction == better::higher) {
        return measured >= limit;
    }
    return measured && (strict ? *measured < limit : *measured <= limit);
}

table::table() {
    const std::string churn =
        "1 thread, churn (create + erase + compaction, a replaced object) against the bare "
        "packed array, ";
    const std::string find = "1 thread, find in random order, against the bare packed array, ";
    const std::string look_up =
        "1 thread, find of an object_lookup in random order, against the bare packed array, ";
    const std::string batch_with_work =
        "the same with 60 multiplications an object, each of which waits for the one before, ";
    const std::string column =
        "1 thread, iteration over a column of 4 bytes against rows of 64 bytes as structures, ";
    const std::string row_churn = "1 thread, churn of rows of 64 bytes in 5 columns against structures, ";
    const std::string exclusive =
        "exclusive access: churn (create + erase, a replaced object) against the bare packed array, ";
    const std::string anew = "the same, entered anew each frame, ";
    const std::string exclusive_find =
        "exclusive access: find in random order, against the bare packed array, ";
    const std::string exclusive_stable =
        "exclusive access: churn of a stable_pool, a replaced object, against plf::colony, ";
    // In the order of `figure`.
    rows_ = {
        at_most(exclusive + "1,000 alive", 1.25, 1.0, "≤ {:.2f} ×"),
        at_most(exclusive + "10,000 alive", 1.0, 0.8, "≤ {:.2f} ×"),
        at_most(exclusive + "100,000 alive", 0.85, 0.7, "≤ {:.2f} ×"),
        at_most(exclusive + "1,000,000 alive", 0.5, 0.3, "≤ {:.2f} ×"),
        at_most(anew + "1,000 alive", 1.3, 1.05, "≤ {:.2f} ×"),
        at_most(anew + "10,000 alive", 1.1, 0.9, "≤ {:.2f} ×"),
        at_most(anew + "100,000 alive", 0.85, 0.7, "≤ {:.2f} ×"),
        at_most(anew + "1,000,000 alive", 0.5, 0.3, "≤ {:.2f} ×"),
        at_most(exclusive_find + "10,000 alive", 1.2, 1.05, "≤ {:.2f} ×"),
        at_most(exclusive_find + "100,000 alive", 1.2, 1.05, "≤ {:.2f} ×"),
        at_most(exclusive_find + "1,000,000 alive", 1.2, 1.05, "≤ {:.2f} ×"),
        at_most(
            "exclusive access: clear() of 100,000, against the packed array's clear that keeps generations",
            2.2, 1.5),
        at_most("exclusive access: emplace_n(100,000) against a loop over the bare packed array", 1.1, 0.9),
        at_most("exclusive access to an idle pool: entering and leaving", 60, 25, "≤ {} ns", "{:.1f} ns"),
        {"exclusive access to a pool with 10,000 newborns, against a compaction",
         row::better::lower,
         1.1,
         {},
         "≤ {:.1f} ×",
         "{:.2f} ×"},
        at_most(exclusive_stable + "10,000 alive", 1.3, 0.9, "≤ {:.2f} ×"),
        at_most(exclusive_stable + "100,000 alive", 1.0, 0.7, "≤ {:.2f} ×"),
        at_most(exclusive_stable + "1,000,000 alive", 0.8, 0.5, "≤ {:.2f} ×"),
        {"exclusive access: churn of rows of 64 bytes in 2 columns, 100,000 alive, against objects",
         row::better::lower,
         1.5,
         {},
         "≤ {:.1f} ×",
         "{:.2f} ×"},
        at_most("a change_log: the first mark of an object in a frame, 100,000 alive", 4, 2, "≤ {} ns",
                "{:.2f} ns"),
        at_most("a change_log: another mark", 1.5, 0.5, "≤ {:.1f} ns", "{:.2f} ns"),
        at_most("a change_log: its record, for each object that came or went, 100,000 alive", 3, 1.5,
                "≤ {:.1f} ns", "{:.1f} ns"),
        at_most("a capture_ring: a capture with all 100,000 objects of 64 bytes changed, against copies of "
                "them in turn",
                1.8, 1.2, "≤ {:.1f} ×", "{:.2f} ×"),
        at_most("the same with 1 % changed, at random", 0.15, 0.05, "≤ {:.2f} ×", "{:.2f} ×"),
        at_most("the same with nothing changed", 2, 0.3, "≤ {:.1f} µs", "{:.2f} µs"),
        at_most("a capture_ring: back 8 frames with 1 % changed each, and 8 captures again", 1, 0.3,
                "≤ {:.1f} ms", "{:.2f} ms"),
        at_most("a snapshot: save() of 1,000,000 objects of 64 bytes, against a copy of them", 2.0, 1.3,
                "≤ {:.1f} ×", "{:.2f} ×"),
        at_most("the same: capture(), which leaves the hashes to another thread", 2.0, 1.3, "≤ {:.1f} ×",
                "{:.2f} ×"),
        at_most("the same: load() into an empty pool", 2.5, 1.5, "≤ {:.1f} ×", "{:.2f} ×"),
        at_most("the same: load() in place of as many objects, which end first", 4.0, 3.0, "≤ {:.1f} ×",
                "{:.2f} ×"),
        at_most("a replica: apply() of a delta of 1 % of 100,000 objects of 64 bytes, for each of these", 40,
                20, "≤ {} ns", "{:.1f} ns"),
        at_most("a delta of 1 % of 100,000 objects of 64 bytes: its bytes, against those of these", 1.25,
                1.15, "≤ {:.2f} ×", "{:.2f} ×"),
        at_most("a frame that records a delta of 1 % of 100,000 objects of 64 bytes and hands it to another "
                "thread, "
                "against a frame of asteroids, 100,000 entities, 2 threads",
                5, 2, "≤ {} %", "{:.1f} %"),
        at_most("a world_hash: a frame with 1 % of 100,000 objects of 64 bytes changed, at random, against "
                "hashing each",
                0.06, 0.03, "≤ {:.2f} ×", "{:.3f} ×"),
        at_most("a spawner: create, against a pool, 1 thread, 100,000 alive", 0.95, 0.8, "≤ {:.2f} ×"),
        at_most("the same, 2 threads", 0.9, 0.8, "≤ {:.2f} ×"),
        at_most("a frame by a spawner, a tenth of 100,000 replaced, against one without, 1 thread", 1.1, 1.0,
                "≤ {:.1f} ×"),
        at_most(
            "a pool that records lives: emplace and erase in random order, 100,000 alive, against one that "
            "doesn't, an operation",
            2.5, 1, "≤ +{:.1f} ns", "{:+.2f} ns"),
        at_most("the same in the order of creation", 2.5, 1, "≤ +{:.1f} ns", "{:+.2f} ns"),
        at_most("the same in random order with stacks of 16 functions", 150, 60, "≤ +{} ns", "{:+.1f} ns"),
        at_most("the same: memory of a slot and life", 32, 16, "≤ {} bytes", "{:.0f} bytes"),
        at_most("deltas that tell of lives, 10,000 of 100,000 ended and as many begun, against deltas that "
                "don't, for each two",
                200, 100, "≤ +{} ns", "{:+.0f} ns"),
        // An exchange for each erase, and two moves of each object: see docs/inside/figures.md. One thread
        // alone has exclusive access instead.
        {churn + "1,000 alive", row::better::lower, 6, {}, "≤ {} ×", "{:.2f} ×"},
        {churn + "10,000 alive", row::better::lower, 4, {}, "≤ {} ×", "{:.2f} ×"},
        at_most(churn + "100,000 alive", 1.15, 0.9, "≤ {:.2f} ×"),
        at_most(churn + "1,000,000 alive", 0.65, 0.5, "≤ {:.2f} ×"),
        at_most(find + "10,000 alive", 1.35, 1.1, "≤ {:.2f} ×"),
        at_most(find + "100,000 alive", 1.35, 1.1, "≤ {:.2f} ×"),
        at_most(find + "1,000,000 alive", 1.35, 1.1, "≤ {:.2f} ×"),
        at_most(look_up + "10,000 alive", 1.0, 0.8),
        at_most(look_up + "100,000 alive", 1.0, 0.8),
        at_most(look_up + "1,000,000 alive", 1.15, 0.8, "≤ {:.2f} ×"),
        at_most("1 thread, batch look-up, against a loop over the bare packed array, 1,000,000 alive", 0.75,
                0.5, "≤ {:.2f} ×"),
        at_most(batch_with_work + "100,000 alive", 0.4, 0.25, "≤ {:.2f} ×"),
        at_most(batch_with_work + "1,000,000 alive", 0.4, 0.25, "≤ {:.2f} ×"),
        at_most("1 thread, emplace_n(1,000) against a loop of emplace", 1.0, 0.8),
        at_most("1 thread, emplace_n(100,000) against a loop of emplace", 0.8, 0.6),
        at_most(
            "a fresh pool of 100,000: create and the first compaction, against a fresh packed array, both on "
            "pages never touched",
            1.3, 1.0),
        {"clear() of 100,000 and the compaction after it, against the packed array's clear that keeps "
         "generations",
         row::better::lower,
         45,
         {},
         "≤ {} ×",
         "{:.2f} ×"},
        at_most("create, nanoseconds a thread, 2 threads against 1, 100,000 alive", 1.7, 1.2),
        faster("2 threads, create, against the mutex", 4, 6),
        faster("2 threads, erase, against the mutex", 5, 10),
        faster("2 threads, find, against the mutex", 8, 12),
        at_most("iteration over items() against std::vector", 1.02, 1.0, "≤ {} ×", "{:.3f} ×"),
        at_most("memory beside the objects, at steady state", 20, 16, "≤ {} bytes an object",
                "{:.1f} bytes an object"),
        at_most("all memory but that of the objects, 1,000,000 loaded at once, after two compactions", 26, 18,
                "≤ {} bytes an object", "{:.1f} bytes an object"),
        {"compaction with nothing to do, 1,000,000 alive",
         row::better::lower,
         1,
         {},
         "below {} µs",
         "{:.3f} µs",
         true},
        {"compaction of 200,000 removals and 200,000 newborns, 2 threads against 1", row::better::higher, 1.6,
         1.85, "{:.2f} × faster", "{:.2f} × faster"},
        at_most("compaction of 500 removals, oneTBB executor against inline", 1.1, 1.0),
        at_most("compact_some(10,000) of 1,000,000 removals, against a compaction of 10,000, 1,000,000 alive",
                1.5, 1.1),
        at_most("guarded find while another thread compacts again and again, 99.9 %, in durations of a "
                "compaction",
                1.5, 1.1),
        {"processor time of a compaction that waits 400 ms for a guard",
         row::better::lower,
         5,
         {},
         "below {} ms",
         "{:.2f} ms",
         true},
        at_most("parallel for_each, 1,000,000 alive, against tbb::parallel_for over a std::vector", 1.02, 1.0,
                "≤ {:.2f} ×", "{:.3f} ×"),
        at_most("service.erase(any_handle) against pool.erase(handle)", 3, 1, "≤ +{} ns", "{:+.1f} ns"),
        {"compaction of a service of 1,000 idle pools",
         row::better::lower,
         20,
         {},
         "below {} µs",
         "{:.1f} µs",
         true},
        at_most("asteroids, 100,000 entities, 2 threads: the pools' share of a frame", 15, 8, "≤ {} %",
                "{:.1f} %"),
        at_most("1,000 pools of 100 objects, 64 bytes each: resident memory beside the objects, page tables "
                "included, a pool",
                12, 6, "≤ {} KiB", "{:.1f} KiB"),
        at_most("a pool with a capacity of 100: construction", 10, 3, "≤ {} µs", "{:.1f} µs"),
        at_most("the same: destruction", 10, 3, "≤ {} µs", "{:.1f} µs"),
        at_most("stable_pool: churn, a replaced object, against plf::colony", 1.0, 0.7),
        at_most("stable_pool: create where a tenth of 100,000 is replaced", 40, 25, "≤ {} ns", "{:.0f} ns"),
        at_most("stable_pool: create where a hundredth of 100,000 is replaced", 40, 25, "≤ {} ns",
                "{:.0f} ns"),
        at_most("stable_pool: iteration at 50 % holes, a living object, against a full std::vector", 1.5,
                1.2),
        at_most("recycling_pool: churn, a replaced std::vector of 100 int, against stable_pool", 1.0, 0.7),
        at_most(
            "1 thread, sort_by of 100,000 shuffled objects by a float, against std::sort of a std::vector",
            1.3, 0.8),
        {"the same in milliseconds", row::better::lower, 15, {}, "below {} ms", "{:.1f} ms", true},
        {"the same, in order already, against a pass over the objects",
         row::better::lower,
         1.5,
         {},
         "≤ {:.1f} ×",
         "{:.2f} ×"},
        at_most("sort_some of a quarter of 100,000 objects, 1 % replaced each frame: neighbours out of order "
                "after 20 frames",
                5, 2, "≤ {} %", "{:.2f} %"),
        faster(column + "100,000 alive", 4, 8),
        faster(column + "1,000,000 alive", 4, 8),
        {row_churn + "100,000 alive", row::better::lower, 1.5, {}, "≤ {:.1f} ×", "{:.2f} ×"},
        {row_churn + "1,000,000 alive", row::better::lower, 1.5, {}, "≤ {:.1f} ×", "{:.2f} ×"},
        faster("handle_map: look-up, 100,000 members in random order, against std::unordered_map", 4, 8),
        {"the same against boost::unordered_flat_map", row::better::higher, 1.5, 3, "{:.1f} × faster",
         "{:.1f} × faster"},
        {"handle_index: look-up by a random number, 100,000 members in random order, against "
         "std::unordered_multimap",
         row::better::lower, 1.1, 1.0, "≤ {:.1f} ×", "{:.2f} ×"},
        {"hierarchy: detaching and attaching one of 10,000 children, against one of 10",
         row::better::lower,
         1.3,
         {},
         "≤ {:.1f} ×",
         "{:.2f} ×"},
        {"handle_set: pruning 1,000 dead of 1,000,000 members in a compaction, against a pass over the "
         "members",
         row::better::lower,
         1,
         {},
         "≤ {} %",
         "{:.2f} %"},
        faster("property_bag: look-up in a bag of 10 values, against std::map<std::string, std::variant>", 5,
               15),
        {"property_store: building 100,000 bags of 5 values, 2 threads against 1", row::better::higher, 1.6,
         1.9, "{:.1f} × faster", "{:.2f} × faster"},
    };
}

void table::record(figure place, double measured, double spread) {
    row& entry = rows_.at(static_cast<std::size_t>(place));
    // Is the old one no worse than the new one?
    if (!entry.measured || entry.reaches(measured)) {
        entry.measured = measured;
        entry.spread = spread;
    }
}

bool table::holds() const {
    return std::ranges::all_of(rows_, [](const row& entry) { return !entry.measured || entry.holds(); });
}

void table::print() const {
    fmt::print("| | must reach | aim | measured | holds |\n| --- | --- | --- | --- | --- |\n");
    for (const row& entry : rows_) {
        const char* const verdict = !entry.measured                          ? "not run"
                                    : !entry.holds()                         ? "NO"
                                    : entry.aim && entry.reaches(*entry.aim) ? "yes, and the aim"
                                                                             : "yes";
        fmt::print("| {} | {} | {} | {} | {} |\n", entry.name, print_number(entry.limit_format, entry.must),
                   print_number(entry.limit_format, entry.aim),
                   print_number(entry.measured_format, entry.measured), verdict);
    }
    std::fflush(stdout);
    for (const std::string& text : remarks_) {
        handlepool::support::tell("{}\n", text);
    }
    for (const row& entry : rows_) {
        if (entry.spread > wide_spread) {
            handlepool::support::tell("warning: half of the rounds lie {:.0f} % apart: {}\n",
                                      100 * entry.spread, entry.name);
        }
    }
}

std::string table::to_json() const {
    auto list = nlohmann::ordered_json::array();
    for (const row& entry : rows_) {
        if (!entry.measured) {
            continue;
        }
        list.push_back({{"name", entry.name},
                        {"measured", *entry.measured},
                        {"must", entry.must},
                        {"aim", entry.aim ? nlohmann::ordered_json(*entry.aim) : nullptr},
                        {"better", entry.direction == row::better::lower ? "lower" : "higher"},
                        {"holds", entry.holds()}});
    }
    return list.dump(4) + "\n";
}

} // namespace handlepool_bench
