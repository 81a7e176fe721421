#include <handlepool/detail/virtual_memory.hpp>
#include <handlepool/error.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/pool.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

// Each test limits the address space of a process of its own. Not for sanitizers, whose own reservations such
// a limit would count: see CMakeLists.txt.
namespace handlepool::test {

using namespace detail;

namespace {

constexpr std::size_t gib = std::size_t{1} << 30;

void limit_address_space(std::size_t bytes) {
    const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
    if (setrlimit(RLIMIT_AS, &limit) != 0) {
        std::perror("setrlimit");
        std::exit(2);
    }
}

TEST(virtual_memory_death_test, a_reservation_beyond_the_systems_limit_says_what_was_asked_for) {
    EXPECT_EXIT(
        {
            limit_address_space(2 * gib);
            try {
                const virtual_memory memory("pool 'ships' objects", 4 * gib / 8, 8, 8, 0);
            } catch (const reservation_failed& failure) {
                std::fputs(failure.what(), stderr);
                std::exit(0);
            }
            std::exit(1);
        },
        testing::ExitedWithCode(0),
        "pool 'ships' objects: cannot reserve 4294967296 bytes of address space: Cannot allocate memory");
}

TEST(virtual_memory_death_test, a_smaller_reservation_succeeds_after_a_failed_one) {
    EXPECT_EXIT(
        {
            limit_address_space(2 * gib);
            for (int i = 0; i != 100; ++i) { // neither leaks what the other needs
                try {
                    const virtual_memory too_large("memory", 4 * gib, 1, 1, 0);
                    std::exit(1);
                } catch (const reservation_failed&) {
                }
                virtual_memory memory("memory", gib, 1, 1, gib);
                static_cast<std::byte*>(memory.data())[gib - 1] = std::byte{1};
            }
            std::exit(0);
        },
        testing::ExitedWithCode(0), "");
}

TEST(virtual_memory_death_test, a_pool_that_fails_half_way_gives_everything_back) {
    EXPECT_EXIT(
        {
            limit_address_space(2 * gib);
            // Its arrays are reserved one by one: at each size another one of them is the first that fails.
            for (std::size_t capacity = 1'000'000; capacity < 200'000'000; capacity += capacity / 4) {
                try {
                    pool<std::size_t> large({.name = "large", .capacity = capacity, .pool_id = 7});
                } catch (const reservation_failed&) {
                }
            }
            pool<std::size_t> small({.name = "small", .capacity = 1000, .pool_id = 7});
            std::exit(small.contains(small.emplace(1U)) ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace handlepool::test
