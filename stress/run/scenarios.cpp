// SPDX-License-Identifier: MIT
#include "scenarios.hpp"

#include "churn.hpp"
#include "resources.hpp"

#include <handlepool/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>
#include <utility>

namespace handlepool::stress {

namespace {

constexpr std::array all{
    scenario{"churn", "a frame loop in which all threads replace a part of the objects", run_churn},
    scenario{"stale", "handles are looked up for many frames after the erase, and forged ones too",
             run_stale},
    scenario{"race-erase", "all threads erase the same handles at the same moment", run_race_erase},
    scenario{"race-find", "threads look up and read what others erase", run_race_find},
    scenario{"overlap", "emplace, erase and contains never stop while compactions run back to back",
             run_overlap},
    scenario{"exhaust", "pools are filled to the brim by all threads, emptied, and filled again",
             run_exhaust},
    scenario{"retire", "narrow generations: slots retire until the pool is used up", run_retire},
    scenario{"overflow", "removal queues of two, and a million removals by one thread", run_overflow, 50},
    scenario{"threads", "threads are born and die by the thousand, some holding claims", run_threads, 2, 5},
    scenario{"reentrant", "constructors create objects of the same pool, destructors erase them",
             run_reentrant},
    scenario{"alone", "threads work together, and then each has all pools alone in turn", run_alone},
    scenario{"changes", "a log of a pool tells what threads have changed, and a mirror of it is made by that",
             run_changes},
    scenario{"rollback", "a pool that threads use goes back some frames again and again", run_rollback},
    scenario{
        "deterministic",
        "tasks with spawners have the same outcome with any number of threads, and when they are taken back",
        run_deterministic},
    scenario{"throwing", "constructors throw at random", run_throwing},
    scenario{"stopped", "a thread is stopped for good at each atomic step; the others go on", run_stopped},
    scenario{"hand-off", "handles travel through a concurrent queue, and are used and erased elsewhere",
             run_hand_off},
};

std::string again(const scenario& which, const run_options& options) {
    std::string line = fmt::format("handlepool-stress run {} --threads {} --seed {} --alive {}", which.name,
                                   options.threads, options.seed, options.alive);
    if (options.seconds != 0) {
        line += fmt::format(" --seconds {:.3g}", options.seconds);
    }
    if (options.operations != 0) {
        line += fmt::format(" --operations {}", options.operations);
    }
    line += fmt::format(" --executor {} --pools {} --placement {}", name_of(options.service.executor),
                        options.service.pools, name_of(options.service.placement));
    if (options.sample != 1) {
        line += fmt::format(" --sample {}", options.sample);
    }
    return line;
}

// What one of `parts` gets of the whole.
run_options share_of(const run_options& whole, std::size_t parts) {
    run_options share = whole;
    share.seconds = whole.seconds / static_cast<double>(parts);
    if (whole.operations != 0) {
        share.operations = std::max<std::uint64_t>(whole.operations / parts, 1);
    }
    return share;
}

// A scenario with one of the placements, which follow each other.
struct case_of_all {
    case_of_all(std::size_t number, std::span<const placement_kind> with)
        : which(all[number / with.size()]), placement(with[number % with.size()]) {}

    const scenario& which;
    placement_kind placement;
};

std::string label_of(const scenario& which, placement_kind placement) {
    return placement == placement_kind::dense ? std::string(which.name)
                                              : fmt::format("{}, {}", which.name, name_of(placement));
}

// Threads and memory, before the scenario takes them.
void check_resources(const scenario& which, const run_options& options) {
    require_threads(fmt::format("--threads: '{}' in '{}'", options.threads, which.name),
                    threads_of(options, which.threads));
    require_memory(fmt::format("--alive: '{}' in '{}'", options.alive, which.name),
                   static_cast<double>(options.alive) * static_cast<double>(which.objects) *
                       bytes_of_an_object);
}

bool is_lack_of_threads(const std::exception& error) {
    const auto* const of_the_system = dynamic_cast<const std::system_error*>(&error);
    return of_the_system != nullptr && of_the_system->code() == std::errc::resource_unavailable_try_again;
}

constexpr double seconds_of_a_turn = 1;
constexpr std::uint64_t operations_of_a_turn = 1'000'000;

} // namespace

std::span<const scenario> scenarios() {
    return all;
}

void check_resources(const run_options& options) {
    for (const scenario& each : all) {
        check_resources(each, options);
    }
}

report run_scenario(const scenario& which, const run_options& options) {
    check_resources(which, options);
    test_run run(label_of(which, options.service.placement), options);
    run.result().summary = which.summary;
    run.result().again = again(which, options);
    run.add_parameter("alive", options.alive);
    run.add_parameter("seed", options.seed);
    try {
        which.run(run);
    } catch (const reservation_failed&) {
        throw; // the run could not be made
    } catch (const std::exception& error) {
        if (typeid(error) == typeid(std::bad_alloc)) {
            throw;
        }
        if (is_lack_of_threads(error)) {
            throw std::runtime_error(fmt::format("--threads: '{}' in '{}': a thread could not be started: {}",
                                                 options.threads, which.name, error.what()));
        }
        run.violate(fmt::format("the scenario ended by an exception: {}", error.what()));
    }
    run.stop_clock();
    return std::move(run.result());
}

std::vector<report> run_all(const run_options& options, std::span<const placement_kind> with,
                            const report_sink& done) {
    const std::size_t cases = all.size() * with.size();
    std::vector<report> results;
    run_options share = share_of(options, cases);
    for (std::size_t number = 0; number < cases; ++number) {
        const case_of_all now(number, with);
        share.service.placement = now.placement;
        share.place = fmt::format("scenario {} of {}", number + 1, cases);
        results.push_back(run_scenario(now.which, share));
        done(results.back());
    }
    return results;
}

std::vector<report> run_soak(const run_options& options, std::span<const placement_kind> with,
                             const report_sink& done) {
    const std::size_t cases = all.size() * with.size();
    run_options turn = share_of(options, cases);
    turn.seconds = std::min(turn.seconds, seconds_of_a_turn);
    turn.operations = std::min(turn.operations, operations_of_a_turn);
    std::vector<report> results(cases);
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t operations = 0;
    for (std::size_t next = 0;; ++next) {
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const bool out_of_time = options.seconds != 0 && seconds >= options.seconds;
        const bool out_of_work = options.operations != 0 && operations >= options.operations;
        if (next >= cases && (out_of_time || out_of_work)) { // each has its turn
            return results;
        }
        const std::size_t number = next % cases;
        const case_of_all now(number, with);
        turn.service.placement = now.placement;
        turn.seed = options.seed + next / cases;
        turn.place = fmt::format("round {}, scenario {} of {}", next / cases + 1, number + 1, cases);
        const report result = run_scenario(now.which, turn);
        operations += result.timed_operations;
        results[number] += result;
        done(result);
    }
}

} // namespace handlepool::stress
