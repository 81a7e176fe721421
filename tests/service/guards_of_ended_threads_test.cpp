// SPDX-License-Identifier: MIT

// Guards that live longer than the thread that made them, whose number another thread gets.

#include <handlepool/detail/threads/thread_index.hpp>
#include <handlepool/error.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/sort.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

namespace handlepool::test {
namespace {

/// `close` closes a gate. It waits for the guard that `make` makes in a thread that has ended, in a thread
/// with that one's number; and is refused there if this one has made a guard, too.
template <class Make>
void expect_to_wait(Make make, const std::function<void()>& close) {
    decltype(make()) guard;
    std::uint32_t number = 0;
    std::thread([&] {
        number = detail::this_thread::index();
        guard = make();
    }).join();
    std::thread([&] {
        ASSERT_EQ(detail::this_thread::index(), number);
        std::atomic<bool> ends = false;
        const std::jthread other([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            ends = true;
            guard = {};
        });
        EXPECT_NO_THROW(close());
        EXPECT_TRUE(ends);
    }).join();
    std::thread([&] { guard = make(); }).join();
    std::thread([&] {
        ASSERT_EQ(detail::this_thread::index(), number);
        const auto own = make();
        EXPECT_THROW(close(), compaction_conflict);
    }).join();
}

TEST(guards_of_ended_threads, keep_their_pool_from_other_threads) {
    pool<int> used({.name = "used", .capacity = 10});
    const auto make = [&] { return used.access(); };
    expect_to_wait(make, [&] { used.compact(); });
    expect_to_wait(make, [&] { used.compact_some(1); });
    expect_to_wait(make, [&] { static_cast<void>(used.exclusive_access()); });
    expect_to_wait(make, [&] { used.shrink_to_fit(); });
    expect_to_wait(make, [&] { sort_by(used, [](int each) { return each; }); });
}

TEST(guards_of_ended_threads, keep_their_service_from_other_threads) {
    service used;
    used.add<pool<int>>("used", {.capacity = 10});
    expect_to_wait([&] { return used.access(); }, [&] { used.compact(); });
}

} // namespace
} // namespace handlepool::test
