// SPDX-License-Identifier: MIT
#include <handlepool/call_site.hpp>
#include <handlepool/detail/memory/virtual_memory.hpp>
#include <handlepool/error.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

// Most tests limit the address space of a process of their own, and one counts mappings. Not for sanitizers,
// which have reservations and mappings of their own: see CMakeLists.txt.
namespace handlepool::test {
namespace {

using namespace detail;

constexpr std::size_t gib = std::size_t{1} << 30;

void limit_address_space(std::size_t bytes) {
    const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
    if (setrlimit(RLIMIT_AS, &limit) != 0) {
        std::perror("setrlimit");
        std::exit(2);
    }
}

TEST(virtual_memory_test, populating_backs_all_pages_of_a_range_and_changes_no_byte) {
    constexpr std::size_t mib = std::size_t{1} << 20;
    virtual_memory memory("memory", 16 * mib, 1, 1, 0);
    memory.refuse_huge_pages(0, 16 * mib);
    auto* const bytes = static_cast<std::byte*>(memory.data());
    bytes[mib] = std::byte{1};
    const std::size_t touched = memory.resident();
    memory.populate(mib - 1, 2 * mib + 1);
    memory.populate(15 * mib + 1, 16 * mib);
    if (memory.resident() != touched) { // a system that can
        EXPECT_GE(memory.resident(), 2 * mib);
        EXPECT_LT(memory.resident(), 2 * mib + mib / 2);
    }
    EXPECT_EQ(bytes[mib], std::byte{1});
    EXPECT_EQ(std::count(bytes, bytes + 16 * mib, std::byte{0}), static_cast<std::ptrdiff_t>(16 * mib - 1));
}

TEST(virtual_memory_test, no_huge_page_comes_where_they_are_refused) {
    constexpr std::size_t huge = virtual_memory::huge_page_size;
    virtual_memory memory("memory", 4 * huge, 1, huge, 4 * huge);
    memory.refuse_huge_pages(1, 2 * huge);
    auto* const bytes = static_cast<std::byte*>(memory.data());
    for (std::size_t at = huge / 2; at < 2 * huge; at += huge) {
        bytes[at] = std::byte{1};
    }
    EXPECT_LE(memory.resident(), 2 * std::size_t{65'536}) << "a page each";
}

TEST(virtual_memory_test, huge_pages_come_where_two_are_preferred_and_not_for_one) {
    constexpr std::size_t huge = virtual_memory::huge_page_size;
    virtual_memory memory("memory", 8 * huge, 1, huge, 0);
    auto* const bytes = static_cast<std::byte*>(memory.data());
    memory.refuse_huge_pages(0, 8 * huge);
    memory.prefer_huge_pages(1, 3 * huge - 1);
    bytes[huge] = std::byte{1};
    EXPECT_LE(memory.resident(), std::size_t{65'536}) << "one is whole";
    memory.prefer_huge_pages(3 * huge + 1, 6 * huge);
    bytes[3 * huge] = std::byte{1};
    EXPECT_LE(memory.resident(), 2 * std::size_t{65'536}) << "before the first whole one";
    const std::size_t before = memory.resident();
    bytes[4 * huge] = std::byte{1};
    const std::size_t more = memory.resident() - before;
    EXPECT_TRUE(more == huge || more <= 65'536) << "a huge page where the system has one: " << more;
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

// Names of tasks and places need some address space when the first is given; those functions throw nothing.
TEST(virtual_memory_death_test, names_that_there_is_no_room_for_end_no_program) {
    EXPECT_EXIT(
        {
            limit_address_space(0);
            const scoped_task task("collisions");
            const scoped_site site("spawn.lua:12");
            std::exit(0);
        },
        testing::ExitedWithCode(0), "");
}

TEST(virtual_memory_death_test, a_pool_that_fails_half_way_gives_everything_back) {
    EXPECT_EXIT(
        {
            limit_address_space(2 * gib);
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

std::size_t mappings() {
    std::ifstream maps("/proc/self/maps");
    return static_cast<std::size_t>(
        std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n'));
}

template <class Pool>
void make_and_destroy_many() {
    const auto make = [] { return std::make_unique<Pool>(pool_options{.name = "small", .capacity = 100}); };
    make();
    const std::size_t before = mappings();
    for (int i = 0; i != 10'000; ++i) {
        const auto pool = make();
        if (i % 20 == 0) {
            pool->emplace(1);
            pool->compact();
        }
    }
    EXPECT_LE(mappings(), before + 2) << "the allocator's own";
    std::vector<std::unique_ptr<Pool>> together;
    for (int i = 0; i != 500; ++i) {
        together.push_back(make());
        together.back()->emplace(i);
    }
    EXPECT_LE(mappings(), before + 2 * together.size());
    for (const auto& each : together) {
        each->compact();
    }
    together.clear();
    EXPECT_LE(mappings(), before + 4);
}

TEST(virtual_memory_test, many_pools_come_and_go_and_leave_no_mapping_behind) {
    make_and_destroy_many<pool<int>>();
    make_and_destroy_many<stable_pool<int>>();
}

} // namespace
} // namespace handlepool::test
