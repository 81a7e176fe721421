// SPDX-License-Identifier: MIT
#include "results.hpp"

#include "pool_contender.hpp"
#include "spawner_contender.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace handlepool::coherence {

namespace {

constexpr std::size_t name_width = 41;
// Less is left out of the tables of arrays, but not of the JSON.
constexpr double worth_a_line = 0.005;
constexpr std::size_t most_kinds_of_false_sharing = 8;

constexpr std::array judged_operations{operation::emplace, operation::erase};
constexpr std::array shown_operations{operation::emplace, operation::erase, operation::find,
                                      operation::compact};

std::string_view text_of(victims erased) {
    return erased == victims::own ? "own" : "random";
}
std::string_view text_of(compactor compacts) {
    return compacts == compactor::first ? "first" : compacts == compactor::each ? "each" : "apart";
}

/// Of an emplace and an erase.
template <class Value>
double of_an_object(const churn_result& run, Value value) {
    double sum = 0;
    for (const operation what : judged_operations) {
        sum += run.of(what).a_time(value(run.of(what).all()));
    }
    return sum;
}

std::uint64_t transfers(const tally& all) {
    return all.transfers;
}
std::uint64_t transactions(const tally& all) {
    return all.transfers + all.upgrades;
}

std::string line_of(std::string_view name, const std::vector<double>& figures) {
    std::string line = fmt::format("{:{}}", name, name_width);
    for (const double figure : figures) {
        line += fmt::format("{:>9.3f}", figure);
    }
    return line + "\n";
}

std::string head_of(std::string_view title, const std::vector<std::size_t>& threads) {
    std::string head = fmt::format("\n{:{}}", title, name_width);
    for (const std::size_t count : threads) {
        head += fmt::format("{:>9}", count);
    }
    return head + "\n";
}

nlohmann::json json_of(const tally& sum, const operation_counts& of) {
    return {{"accesses", of.a_time(sum.accesses)},           {"transfers", of.a_time(sum.transfers)},
            {"false_sharing", of.a_time(sum.false_sharing)}, {"upgrades", of.a_time(sum.upgrades)},
            {"invalidations", of.a_time(sum.invalidations)}, {"memory", of.a_time(sum.memory)}};
}

nlohmann::json json_of(const churn_result& run) {
    nlohmann::json operations;
    for (const operation what : shown_operations) {
        const operation_counts& counts = run.of(what);
        nlohmann::json one = json_of(counts.all(), counts);
        one["times"] = counts.times;
        for (const auto& [array, sum] : counts.by_array) {
            one["arrays"][array] = json_of(sum, counts);
        }
        operations[std::string(operation_names[static_cast<std::size_t>(what)])] = std::move(one);
    }
    nlohmann::json falsely = nlohmann::json::array();
    for (const false_sharing_found& each : run.false_sharing) {
        falsely.push_back({{"operation", operation_names[static_cast<std::size_t>(each.what)]},
                           {"wanted", each.wanted},
                           {"written", each.written},
                           {"transfers", each.transfers},
                           {"worst",
                            {{"line", each.line},
                             {"wanted_at", each.wanted_at},
                             {"written_at", each.written_at},
                             {"thread", each.thread},
                             {"writer", each.writer}}}});
    }
    nlohmann::json busy = nlohmann::json::array();
    for (const busy_line& each : run.busiest_lines) {
        busy.push_back({{"line", each.line}, {"transfers", each.transfers}});
    }
    return {{"contender", run.contender},           {"threads", run.options.threads},
            {"alive", run.options.alive},           {"frames", run.options.frames},
            {"warm_up", run.options.warm_up},       {"seed", run.options.seed},
            {"erase", text_of(run.options.erased)}, {"compactor", text_of(run.options.compacts)},
            {"operations", std::move(operations)},  {"false_sharing", std::move(falsely)},
            {"busiest_lines", std::move(busy)}};
}

} // namespace

std::vector<judged_row> results::rows() const {
    std::vector<judged_row> rows;
    for (const victims erased : {victims::own, victims::random}) {
        const churn_result* const few = find(pool_contender::name, erased, 2);
        const churn_result* const many = find(pool_contender::name, erased, 64);
        if (few == nullptr || many == nullptr) {
            continue;
        }
        const std::string_view whose =
            erased == victims::own ? "threads erase their own objects" : "threads erase any objects";
        rows.push_back({.name = fmt::format("coherence transfers an object (emplace + erase), 64 simulated "
                                            "threads against 2; {}",
                                            whose),
                        .must_reach = 1.7,
                        .aim = 1.2,
                        .measured = of_an_object(*many, transfers) / of_an_object(*few, transfers)});
        const churn_result* const few_spawners = find(spawner_contender::name, erased, 2);
        const churn_result* const many_spawners = find(spawner_contender::name, erased, 64);
        if (few_spawners != nullptr && many_spawners != nullptr) {
            rows.push_back(
                {.name = fmt::format("the same with a frame for each object replaced, by spawners "
                                     "against a pool without; {}",
                                     whose),
                 .must_reach = 1.0,
                 .aim = 0.7,
                 .measured = many_spawners->transfers_of_frame() / few_spawners->transfers_of_frame() /
                             (many->transfers_of_frame() / few->transfers_of_frame())});
        }
    }
    return rows;
}

std::string results::tables() const {
    std::string text;
    for (const victims erased : {victims::own, victims::random}) {
        if (std::ranges::none_of(runs_, [=](const auto& run) { return run.options.erased == erased; })) {
            continue;
        }
        text += table_of_operations(erased);
        for (const operation what : shown_operations) {
            text += table_of_arrays(what, erased);
        }
        text += table_of_false_sharing(erased);
    }
    return text + table_of_rows();
}

nlohmann::json results::json() const {
    nlohmann::json runs = nlohmann::json::array();
    for (const churn_result& run : runs_) {
        runs.push_back(json_of(run));
    }
    nlohmann::json judged = nlohmann::json::array();
    for (const judged_row& row : rows()) {
        judged.push_back({{"name", row.name},
                          {"must_reach", row.must_reach},
                          {"aim", row.aim},
                          {"measured", row.measured},
                          {"reached", row.reached()}});
    }
    return {{"runs", std::move(runs)}, {"rows", std::move(judged)}};
}

const churn_result* results::find(std::string_view contender, victims erased, std::size_t threads) const {
    const auto found = std::ranges::find_if(runs_, [&](const churn_result& run) {
        return run.contender == contender && run.options.erased == erased && run.options.threads == threads;
    });
    return found == runs_.end() ? nullptr : &*found;
}

std::vector<std::size_t> results::thread_counts() const {
    std::set<std::size_t> counts;
    for (const churn_result& run : runs_) {
        counts.insert(run.options.threads);
    }
    return {counts.begin(), counts.end()};
}

std::string results::table_of_operations(victims erased) const {
    std::vector<std::string> contenders;
    for (const churn_result& run : runs_) {
        if (run.options.erased == erased &&
            std::ranges::find(contenders, run.contender) == contenders.end()) {
            contenders.push_back(run.contender);
        }
    }
    const std::vector<std::size_t> threads = thread_counts();
    std::string text = head_of(fmt::format("transfers an operation, {} victims", text_of(erased)), threads);
    for (const std::string& contender : contenders) {
        text += contender + "\n";
        const auto row = [&](std::string_view name, auto figure) {
            std::vector<double> figures;
            for (const std::size_t count : threads) {
                const churn_result* const run = find(contender, erased, count);
                figures.push_back(run == nullptr ? 0 : figure(*run));
            }
            if (std::ranges::any_of(figures, [](double each) { return each != 0; })) {
                text += line_of(name, figures);
            }
        };
        for (const operation what : shown_operations) {
            row(what == operation::compact
                    ? std::string("  compaction, for each object replaced")
                    : fmt::format("  {}", operation_names[static_cast<std::size_t>(what)]),
                [what](const churn_result& run) { return run.of(what).transfers(); });
        }
        row("  a frame, for each object replaced",
            [](const churn_result& run) { return run.transfers_of_frame(); });
        row("  emplace + erase", [](const churn_result& run) { return of_an_object(run, transfers); });
        row("  the same, with upgrades",
            [](const churn_result& run) { return of_an_object(run, transactions); });
        row("  of it to memory", [](const churn_result& run) {
            return of_an_object(run, [](const tally& all) { return all.memory; });
        });
        row("  copies invalidated", [](const churn_result& run) {
            return of_an_object(run, [](const tally& all) { return all.invalidations; });
        });
    }
    return text;
}

std::string results::table_of_arrays(operation what, victims erased) const {
    const std::vector<std::size_t> threads = thread_counts();
    std::map<std::string, std::vector<double>> by_array;
    for (std::size_t i = 0; i != threads.size(); ++i) {
        const churn_result* const run = find(pool_contender::name, erased, threads[i]);
        if (run == nullptr) {
            continue;
        }
        for (const auto& [array, sum] : run->of(what).by_array) {
            std::vector<double>& figures = by_array[array];
            figures.resize(threads.size());
            figures[i] = run->of(what).a_time(transactions(sum));
        }
    }
    std::vector<std::pair<std::string, std::vector<double>>> sorted(by_array.begin(), by_array.end());
    std::erase_if(sorted, [](const auto& each) { return std::ranges::max(each.second) < worth_a_line; });
    std::ranges::sort(sorted, [](const auto& left, const auto& right) {
        return std::tie(right.second.back(), left.first) < std::tie(left.second.back(), right.first);
    });
    if (sorted.empty()) {
        return {};
    }
    std::string text = head_of(
        fmt::format("pool, {}: transfers + upgrades", operation_names[static_cast<std::size_t>(what)]),
        threads);
    for (const auto& [array, figures] : sorted) {
        text += line_of("  " + array, figures);
    }
    return text;
}

std::string results::table_of_false_sharing(victims erased) const {
    const std::vector<std::size_t> threads = thread_counts();
    const churn_result* const run = find(pool_contender::name, erased, threads.back());
    if (run == nullptr || run->false_sharing.empty()) {
        return {};
    }
    std::string text =
        fmt::format("\nfalse sharing in the pool, {} threads (transfers an operation; line with "
                    "most of it, with two bytes and two threads)\n",
                    threads.back());
    std::size_t shown = 0;
    for (const false_sharing_found& each : run->false_sharing) {
        if (shown++ == most_kinds_of_false_sharing) {
            break;
        }
        text += fmt::format("  {:9.4f}  {}: {} wanted, {} written; {}: +{} and +{}, threads {} and {}\n",
                            run->of(each.what).a_time(each.transfers),
                            operation_names[static_cast<std::size_t>(each.what)], each.wanted, each.written,
                            each.line, each.wanted_at, each.written_at, each.thread, each.writer);
    }
    return text;
}

std::string results::table_of_rows() const {
    std::string text;
    for (const judged_row& row : rows()) {
        text += fmt::format("\n{}:\n  {:.2f} x, must be <= {} x, aim <= {} x: {}\n", row.name, row.measured,
                            row.must_reach, row.aim, row.reached() ? "reached" : "MISSED");
    }
    return text;
}

} // namespace handlepool::coherence
