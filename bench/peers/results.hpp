// SPDX-License-Identifier: MIT
#pragma once

#include "figures.hpp"
#include "judged_row.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool_bench::peers {

/// Where figures belong: which part of the comparison, on how many objects and threads.
struct cell {
    std::string_view part;
    std::size_t alive;
    unsigned threads;

    bool operator==(const cell&) const = default;
};

/// A figure of a contender, from each round.
struct series {
    std::string figure;
    std::vector<double> rounds;
};

struct contender_result {
    cell where;
    std::string contender;
    std::vector<series> all;

    /// Null if there is none of that name.
    const series* find(std::string_view figure) const;
};

/// All that was measured.
class results {
public:
    /// Adds the figures of a round.
    void add(const cell& where, const std::string& contender, const figures& found);

    /// Null if it was not measured.
    const contender_result* find(const cell& where, std::string_view contender) const;

    /// Nothing if it was not measured.
    std::optional<judged_row> judged() const;

    /// For people: a table for each cell, with medians and best rounds.
    std::string to_text() const;
    /// For programs: of each figure the median, the best round, and the quartiles.
    nlohmann::json to_json() const;

private:
    std::vector<contender_result> all_;
};

} // namespace handlepool_bench::peers
