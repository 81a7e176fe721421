// SPDX-License-Identifier: MIT

// Readers that come and go while a stress run checks the history of every handle.

#include <gtest/gtest.h>
#include <support/files/read_file.hpp>
#include <support/programs/started_program.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>
#include <tools/inspect/inspected_pool.hpp>
#include <tools/inspect/inspected_program.hpp>
#include <tools/inspect/report.hpp>
#include <tools/inspect/store_map.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace handlepool::inspect_tool {
namespace {

using support::started_program;

struct stress_run {
    std::string scenario;
    std::string placement;
    bool knows_ages = true;
};

void PrintTo(const stress_run& run, std::ostream* out) {
    *out << run.scenario << ", " << run.placement;
}

std::string name_of(const testing::TestParamInfo<stress_run>& info) {
    std::string name = info.param.scenario + "_" + info.param.placement;
    for (char& each : name) {
        each = each == '-' ? '_' : each;
    }
    return name;
}

struct inspected_stress : testing::TestWithParam<stress_run> {};

/// What one reader has seen, all in all.
struct looks {
    std::uint64_t with_pools = 0;
    std::uint64_t with_objects = 0;
    std::uint64_t described = 0;
    std::uint64_t impossible = 0;
};

void look_at_pool(const inspected_program& program, const detail::living_pool& listed, looks& seen) {
    const inspected_pool pool(program, listed);
    pool_report told = report_of(pool);
    add_details(told, program, pool, {.objects = 3, .places = 3});
    const store_map map = draw_map(program, pool, 0, 100);
    if (!is_among(listed, program.pools())) { // what was read may be something else's
        return;
    }
    ++seen.with_pools;
    seen.with_objects += map.cells.empty() ? 0U : 1U;
    seen.described += told.oldest.size();
    seen.impossible += map.cells.size() > 100 ? 1U : 0U;
    for (const object_report& each : told.oldest) {
        seen.impossible += pool.may_be_of(each.handle) ? 0U : 1U;
    }
}

/// Attaches to a process, looks at all of it and lets it go, until it has ended.
void attach_again_and_again(started_program& program, looks& seen) {
    while (program.is_running()) {
        try {
            for (const inspected_program& each : inspected_program::in_process(program.id())) {
                for (const detail::living_pool& pool : each.pools()) {
                    try {
                        look_at_pool(each, pool, seen);
                    } catch (const memory_gone&) { // the pool has ended
                    }
                }
            }
        } catch (const process_unreadable&) { // it starts, or has ended
        } catch (const memory_gone&) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

/// Looks at a run of the harness from this process and from others, which are killed. Returns how many were.
std::uint64_t look_at_run(const stress_run& run, int seconds, looks& seen) {
    const support::scratch_directory directory;
    const std::filesystem::path output = directory.path() / "output";
    started_program stress({support::paths::stress_program, "run", run.scenario, "--placement", run.placement,
                            "--seconds", std::to_string(seconds), "--alive", "2000"},
                           output);
    std::uint64_t killed = 0;
    {
        const std::jthread killing([&, process = std::to_string(stress.id())](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                started_program reader(
                    {support::paths::inspect_program, process, "--watch", "0.1", "--json"});
                std::this_thread::sleep_for(std::chrono::milliseconds(50 + 37 * (killed % 7)));
                reader.kill();
                ++killed;
            }
        });
        attach_again_and_again(stress, seen);
    }
    EXPECT_EQ(stress.wait(), 0) << support::read_file(output.string());
    return killed;
}

TEST_P(inspected_stress, goes_on_while_readers_come_and_are_killed) {
    looks seen;
    std::uint64_t killed = 0;
    const auto has_seen_enough = [&] {
        return seen.with_pools > 10 && seen.with_objects > 0 &&
               (seen.described > 0 || !GetParam().knows_ages);
    };
    // Longer ones where the machine is so busy that pools have ended before they were looked at.
    for (int seconds = 2; seconds <= 64 && !has_seen_enough(); seconds *= 2) {
        killed += look_at_run(GetParam(), seconds, seen);
    }
    EXPECT_GT(seen.with_pools, 10U);
    EXPECT_GT(seen.with_objects, 0U);
    EXPECT_EQ(seen.described > 0, GetParam().knows_ages);
    EXPECT_EQ(seen.impossible, 0U);
    EXPECT_GT(killed, 1U);
}

INSTANTIATE_TEST_SUITE_P(of, inspected_stress,
                         testing::Values(stress_run{"race-erase", "dense"},
                                         stress_run{"race-erase", "stable"}, stress_run{"stale", "columns"},
                                         stress_run{"alone", "dense"}, stress_run{"rollback", "dense", false},
                                         stress_run{"overlap", "dense", false}),
                         name_of);

} // namespace
} // namespace handlepool::inspect_tool
