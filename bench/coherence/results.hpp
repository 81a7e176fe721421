// SPDX-License-Identifier: MIT
#pragma once

#include "churn.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace handlepool::coherence {

/// A figure that must be reached: how much more it costs with many threads than with two.
struct judged_row {
    std::string name;
    double must_reach = 0; ///< at most
    double aim = 0;
    double measured = 0;

    bool reached() const noexcept { return measured <= must_reach; }
};

/// The runs of a call of the program.
class results {
public:
    void add(churn_result one) { runs_.push_back(std::move(one)); }

    /// Those for which there are runs with 2 and with 64 threads.
    std::vector<judged_row> rows() const;

    /// For people.
    std::string tables() const;
    nlohmann::json json() const;

private:
    const churn_result* find(std::string_view contender, victims erased, std::size_t threads) const;
    std::string table_of_operations(victims erased) const;
    std::string table_of_arrays(operation what, victims erased) const;
    std::string table_of_false_sharing(victims erased) const;
    std::string table_of_rows() const;
    std::vector<std::size_t> thread_counts() const;

    std::vector<churn_result> runs_;
};

} // namespace handlepool::coherence
