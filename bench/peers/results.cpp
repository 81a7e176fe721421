// SPDX-License-Identifier: MIT
#include "results.hpp"

#include "common_size.hpp"

#include <bench/tools/comparison.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace handlepool_bench::peers {

namespace {

double best_of(const series& one) {
    return *std::ranges::min_element(one.rounds);
}

double rounded(double value) {
    return std::stod(fmt::format("{:.4g}", value));
}

} // namespace

const series* contender_result::find(std::string_view figure) const {
    const auto found = std::ranges::find(all, figure, &series::figure);
    return found == all.end() ? nullptr : &*found;
}

void results::add(const cell& where, const std::string& contender, const figures& found) {
    auto mine = std::ranges::find_if(all_, [&](const contender_result& each) {
        return each.where == where && each.contender == contender;
    });
    if (mine == all_.end()) {
        mine = all_.insert(all_.end(), {.where = where, .contender = contender, .all = {}});
    }
    for (const auto& [figure, value] : found) {
        auto one = std::ranges::find(mine->all, figure, &series::figure);
        if (one == mine->all.end()) {
            one = mine->all.insert(mine->all.end(), {.figure = figure, .rounds = {}});
        }
        one->rounds.push_back(value);
    }
}

const contender_result* results::find(const cell& where, std::string_view contender) const {
    const auto found = std::ranges::find_if(all_, [&](const contender_result& each) {
        return each.where == where && each.contender == contender;
    });
    return found == all_.end() ? nullptr : &*found;
}

std::optional<judged_row> results::judged() const {
    const cell where{.part = "frames", .alive = common_size, .threads = 2};
    const contender_result* const ours = find(where, judged_row::ours);
    const contender_result* const theirs = find(where, judged_row::theirs);
    if (ours == nullptr || theirs == nullptr) {
        return std::nullopt;
    }
    return judged_row(ours->find("churn")->rounds, theirs->find("churn")->rounds);
}

std::string results::to_text() const {
    std::string text;
    const cell* before = nullptr;
    for (const contender_result& each : all_) {
        if (before == nullptr || !(*before == each.where)) {
            text += fmt::format("{}{}, {} alive, {} thread{}: median [best round]\n",
                                before == nullptr ? "" : "\n", each.where.part, each.where.alive,
                                each.where.threads, each.where.threads == 1 ? "" : "s");
            before = &each.where;
        }
        text += fmt::format("  {:<38}", each.contender);
        for (const series& one : each.all) {
            text +=
                fmt::format("  {} {:.4g} [{:.4g}]", one.figure, quartiles(one.rounds).median, best_of(one));
        }
        text += '\n';
    }
    return text;
}

nlohmann::json results::to_json() const {
    nlohmann::json rows = nlohmann::json::array();
    for (const contender_result& each : all_) {
        nlohmann::json found = nlohmann::json::object();
        for (const series& one : each.all) {
            const quartiles of_rounds(one.rounds);
            found[one.figure] = {{"median", rounded(of_rounds.median)},
                                 {"best", rounded(best_of(one))},
                                 {"lower", rounded(of_rounds.lower)},
                                 {"upper", rounded(of_rounds.upper)}};
        }
        rows.push_back({{"part", each.where.part},
                        {"alive", each.where.alive},
                        {"threads", each.where.threads},
                        {"contender", each.contender},
                        {"figures", std::move(found)}});
    }
    return rows;
}

} // namespace handlepool_bench::peers
