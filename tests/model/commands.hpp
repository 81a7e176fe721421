// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace handlepool::support {
class output_file;
}

namespace handlepool::model {

/// What all commands have in common.
struct command_options {
    unsigned jobs = 1;                    ///< processes at the same time
    support::output_file* json = nullptr; ///< also write the results there
};

struct run_options : command_options {
    std::vector<std::string> models{};   ///< empty for all
    unsigned long random = 0;            ///< executions chosen by chance
    std::vector<unsigned> preemptions{}; ///< a bounded search for each
    bool exhaustive = false;
    double seconds = 5; ///< of each search but the random one
    bool history = false;
    bool first_failure = false; ///< end at the first search that fails
};

struct order_options : command_options {
    std::filesystem::path witnesses; ///< the list of what each weakened access must be seen by
    bool find = false;               ///< print all models that see each, instead
};

struct stop_options : command_options {
    unsigned preemptions = 2;
    double seconds = 30; ///< of each search
};

/// Each prints a table and returns true when all is as it must be.
bool run_models(const run_options& options);
bool run_orders(const order_options& options);
bool run_stops(const stop_options& options);

} // namespace handlepool::model
