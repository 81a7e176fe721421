// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool_bench::peers {

/// A contender of this program.
struct contender_entry {
    std::string_view name;
    unsigned fewest_threads;
    unsigned most_threads;
};

const std::vector<contender_entry>& own_contenders();

/// Does the tasks that the lines of `tasks` name, on the contender of that name, and answers each by a line
/// of figures: "churn 52.1 erase 8.5". Returns at the end of `tasks`. Throws std::invalid_argument for a name
/// or a task that there is not, and what the workload throws.
void serve(std::string_view contender, std::size_t alive, unsigned threads, std::istream& tasks,
           std::ostream& answers);

} // namespace handlepool_bench::peers
