// SPDX-License-Identifier: MIT

// A run that can't have what it needs is refused before it begins, and says so.

#include "run/resources.hpp"
#include "run/scenarios.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/programs/run_program.hpp>
#include <tests/support/paths.hpp>

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>

namespace handlepool::stress {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

TEST(resources, memory_that_is_there_is_enough) {
    EXPECT_GT(available_memory(), 1U << 20);
    EXPECT_NO_THROW(require_memory("this", std::uint64_t{1} << 20));
}

TEST(resources, memory_that_no_machine_has_is_refused) {
    EXPECT_THAT([] { require_memory("--alive: '7'", std::uint64_t{1} << 60); },
                ThrowsMessage<std::runtime_error>(
                    AllOf(StartsWith("--alive: '7' needs about 1073741824.0 GiB of memory, and "),
                          HasSubstr(" GiB are available"))));
}

TEST(resources, threads_that_the_system_starts_are_enough) {
    EXPECT_NO_THROW(require_threads("this", 100));
}

TEST(resources, a_scenario_that_gets_no_thread_cannot_be_run) {
    const scenario thwarted{"thwarted", "thwarted",
                            [](test_run&) { throw std::system_error(EAGAIN, std::generic_category()); }};
    EXPECT_THAT([&] { run_scenario(thwarted, {.threads = 2, .seconds = 0.1}); },
                ThrowsMessage<std::runtime_error>(
                    StartsWith("--threads: '2' in 'thwarted': a thread could not be started: ")));
}

#ifdef HANDLEPOOL_LIMITS_ADDRESS_SPACE
// The stacks of so many threads have no room; oneTBB would end the program when it gets no thread.
TEST(resources, threads_that_the_system_does_not_start_are_refused) {
    for (const char* const executor : {"threads", "tbb"}) {
        const support::run_result result =
            support::run_program({"sh", "-c", "ulimit -s 8192 && ulimit -v 12000000 && exec \"$@\"", "sh",
                                  support::paths::stress_program, "churn", "--threads", "1000", "--alive",
                                  "1000", "--frames", "2", "--executor", executor});
        EXPECT_EQ(result.status, 2) << executor;
        EXPECT_THAT(result.errors,
                    AllOf(StartsWith("handlepool-stress: --threads: '1000' needs 2,001 threads at the "
                                     "same time, and the system starts only 1,"),
                          HasSubstr(": Resource temporarily unavailable\n")));
    }
}
#endif

} // namespace
} // namespace handlepool::stress
