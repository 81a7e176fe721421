// SPDX-License-Identifier: MIT
#include <handlepool/detail/memory/virtual_array.hpp>
#include <handlepool/detail/memory/virtual_memory.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <source_location>
#include <vector>

// Programs that run under a filter of system calls, as in a container: each test has a process of its own,
// which can't get rid of its filter again.
namespace handlepool::test {
namespace {

using namespace detail;

/// From here on the call fails with EPERM.
void refuse(long call) {
    std::array<sock_filter, 4> filter{{
        {.code = BPF_LD | BPF_W | BPF_ABS, .jt = 0, .jf = 0, .k = offsetof(seccomp_data, nr)},
        {.code = BPF_JMP | BPF_JEQ | BPF_K, .jt = 0, .jf = 1, .k = static_cast<std::uint32_t>(call)},
        {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = SECCOMP_RET_ERRNO | EPERM},
        {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = SECCOMP_RET_ALLOW},
    }};
    const sock_fprog program{.len = filter.size(), .filter = filter.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        std::perror("prctl");
        std::_Exit(2);
    }
}

/// Ends the process with a message when it is false.
void require(bool right, std::source_location where = std::source_location::current()) {
    if (!right) {
        std::fprintf(stderr, "wrong in line %u\n", static_cast<unsigned>(where.line()));
        std::_Exit(1);
    }
}

/// Bytes of the process that are in memory.
std::size_t memory_in_use() {
    std::ifstream statm("/proc/self/statm");
    std::size_t pages = 0;
    statm >> pages >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

constexpr std::size_t mib = std::size_t{1} << 20;

/// What reading memory takes that was never written to: nothing where the system shows one page of zeroes for
/// all of it, and else the memory itself.
std::size_t memory_for_reading(std::size_t size) {
    const virtual_memory unused("unused", size, 1, 1, 0);
    const auto* const bytes = static_cast<const volatile char*>(unused.data());
    const std::size_t before = memory_in_use();
    for (std::size_t i = 0; i < size; i += 4096) {
        require(bytes[i] == 0);
    }
    return memory_in_use() - before;
}

struct object {
    std::array<char, 64> bytes{1};
};

/// A pool's life, in which everything is given back to the system that can be.
void live() {
    pool<object> objects({.name = "objects", .capacity = 1'000'000});
    std::vector<handle<object>> handles;
    for (int round = 0; round != 3; ++round) {
        handles.clear();
        objects.emplace_n(5000, std::back_inserter(handles));
        require(objects.compact().born == 5000);
        objects.erase(handles);
        require(objects.compact().removed == 5000);
        objects.shrink_to_fit();
        const auto after = objects.emplace();
        require(objects.find(after)->bytes[0] == 1);
        require(objects.stats().alive == 1);
        objects.reset();
        require(objects.empty());
        require(!objects.contains(after));
        require(!objects.contains(handles.front()));
    }
}

/// Expects that `body` comes to its end, in a process of its own.
template <class Body>
void expect_end_in_own_process(Body body) {
    EXPECT_EXIT(
        {
            body();
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "");
}

TEST(refused_calls_death_test, a_pool_lives_where_madvise_is_refused) {
    expect_end_in_own_process([] {
        refuse(SYS_madvise);
        live();
    });
}

TEST(refused_calls_death_test, a_pool_lives_where_mincore_is_refused_and_tells_no_resident_memory) {
    expect_end_in_own_process([] {
        refuse(SYS_mincore);
        live();
        pool<object> objects({.name = "objects", .capacity = 1000});
        objects.emplace();
        require(objects.stats().bytes_resident == 0);
        require(objects.stats().bytes_reserved != 0);
    });
}

TEST(refused_calls_death_test, memory_is_zero_after_discard_where_madvise_is_refused) {
    expect_end_in_own_process([] {
        refuse(SYS_madvise);
        virtual_memory memory("memory", 10 * mib, 1, 1, 10 * mib);
        auto* const bytes = static_cast<char*>(memory.data());
        std::fill(bytes, bytes + 10 * mib, 'x');
        memory.discard(1000, 9 * mib + 1);
        require(std::count(bytes, bytes + 1000, 'x') == 1000);
        require(std::count(bytes + 1000, bytes + 9 * mib + 1, 0) == 9 * mib + 1 - 1000);
        require(std::count(bytes + 9 * mib + 1, bytes + 10 * mib, 'x') == mib - 1);
    });
}

TEST(refused_calls_death_test, discard_takes_no_memory_for_what_was_never_touched) {
    expect_end_in_own_process([] {
        refuse(SYS_madvise);
        virtual_memory memory("memory", 200 * mib, 1, 1, 0);
        static_cast<char*>(memory.data())[100 * mib] = 'x';
        const std::size_t most = memory_for_reading(200 * mib) + 50 * mib;
        const std::size_t before = memory_in_use();
        memory.discard(0, 200 * mib);
        require(memory_in_use() < before + most);
        require(static_cast<char*>(memory.data())[100 * mib] == 0);
    });
}

// The same where one page of a large range is locked in memory.
TEST(refused_calls_death_test, discard_around_a_locked_page_takes_no_memory_for_what_was_never_touched) {
    expect_end_in_own_process([] {
        virtual_memory memory("memory", 200 * mib, 1, 1, 0);
        require(mlock(memory.data(), 4096) == 0);
        const std::size_t most = memory_for_reading(200 * mib) + 50 * mib;
        const std::size_t before = memory_in_use();
        memory.discard(0, 200 * mib);
        require(memory_in_use() < before + most);
    });
}

TEST(locked_memory_test, discards_pages_that_are_locked_in_memory_too) {
    const std::size_t page = virtual_memory::page_size();
    virtual_array<char> array("locked", 16 * page, 0);
    const auto some = {std::size_t{100}, page + 100, 15 * page};
    for (const std::size_t each : some) {
        array[each] = 1;
    }
    ASSERT_EQ(mlock(array.data() + page, page), 0);
    array.discard();
    for (const std::size_t each : some) {
        EXPECT_EQ(array[each], 0) << each;
    }
    munlock(array.data() + page, page);
}

} // namespace
} // namespace handlepool::test
