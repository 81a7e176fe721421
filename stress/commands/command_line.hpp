// SPDX-License-Identifier: MIT
#pragma once

#include "results/report.hpp"
#include "run/churn.hpp"
#include "run/scenarios.hpp"
#include "traces/record/recorder.hpp"
#include "traces/replay.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace CLI {

class App;

} // namespace CLI

namespace handlepool::stress {

inline constexpr int exit_violation = 1;
inline constexpr int exit_error = 2;

// What a run comes to.
struct outcome {
    int code = 0;
    nlohmann::json json{};
    std::string text{}; // for the standard output
};

// What was typed.
struct command_line {
    outcome (*run)(const command_line& line) = nullptr; // the subcommand
    std::string typed{};
    std::chrono::system_clock::time_point started = std::chrono::system_clock::now();
    std::string json_path{};     // empty: none
    std::string timeline_path{}; // empty: none
    std::vector<std::string> report_inputs{};
    std::string page_path{"report.html"};
    std::string scenario_name{};
    run_options running{};
    bool one_placement = false; // of the pools in a run of several scenarios; else all
    std::string trace_path{};
    replay_options replaying{};
    churn_options churning{};
    record_options recording{.output = "trace.zst"};
    std::string log_path{}; // what a recording has left
};

// Of a single run. The result says how to make it again.
outcome outcome_of(report result, const command_line& line);

// Writes to the standard output. Throws std::system_error if that can't be.
void print(const std::string& text);

// ---- Each adds its command to the program, which puts what is typed into `line`: those in this build.

void add_run(CLI::App& app, command_line& line);
void add_replay(CLI::App& app, command_line& line);
void add_churn(CLI::App& app, command_line& line);
void add_record(CLI::App& app, command_line& line);
void add_recover(CLI::App& app, command_line& line);
void add_report(CLI::App& app, command_line& line);

} // namespace handlepool::stress
