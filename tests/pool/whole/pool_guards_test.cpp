// SPDX-License-Identifier: MIT

// Guards and guarded objects: moved, ended in other threads, held by coroutines.

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/tabulate.hpp>

#include <atomic>
#include <coroutine>
#include <exception>
#include <optional>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

namespace handlepool::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using ints = pool<int>;

static_assert(std::is_nothrow_move_constructible_v<ints::guard_type> &&
              std::is_nothrow_move_assignable_v<ints::guard_type> &&
              !std::is_copy_constructible_v<ints::guard_type>);
static_assert(std::is_nothrow_move_constructible_v<decltype(std::declval<ints&>().pin({}))> &&
              !std::is_copy_constructible_v<decltype(std::declval<ints&>().pin({}))>);
static_assert(std::is_same_v<decltype(*std::declval<const ints&>().pin({})), const int&>);

class pool_guards : public testing::Test {
protected:
    ints numbers{{.name = "ints", .capacity = 10}};
    handle<int> seven = numbers.emplace(7);
};

TEST_F(pool_guards, a_pinned_object_stays_where_it_is) {
    auto pinned = numbers.pin(seven);
    ASSERT_TRUE(pinned);
    EXPECT_EQ(*pinned, 7);
    EXPECT_EQ(pinned.get(), numbers.find(seven));
    EXPECT_FALSE(numbers.try_compact());
    *pinned = 8;
    pinned.reset();
    EXPECT_FALSE(pinned);
    EXPECT_TRUE(numbers.try_compact());
    EXPECT_EQ(numbers.at(seven), 8);
}

TEST_F(pool_guards, an_object_that_is_erased_while_it_is_pinned_stays_readable) {
    const auto pinned = numbers.pin(seven);
    EXPECT_TRUE(numbers.erase(seven));
    EXPECT_EQ(*pinned, 7);
    EXPECT_FALSE(numbers.pin(seven));
}

TEST_F(pool_guards, pinning_excludes_no_other_thread) {
    const auto pinned = numbers.pin(seven);
    std::thread([this, &pinned] {
        const auto same = numbers.pin(seven);
        EXPECT_EQ(same.get(), pinned.get());
        *same = 8;
        EXPECT_TRUE(numbers.erase(seven));
        EXPECT_TRUE(numbers.emplace(9));
    }).join();
    EXPECT_EQ(*pinned, 8);
    EXPECT_FALSE(numbers.contains(seven));
}

TEST_F(pool_guards, a_stale_handle_is_not_pinned_and_holds_nothing) {
    numbers.erase(seven);
    const auto pinned = numbers.pin(seven);
    EXPECT_FALSE(pinned);
    EXPECT_EQ(pinned.get(), nullptr);
    EXPECT_TRUE(numbers.try_compact());
}

TEST_F(pool_guards, a_moved_pin_is_held_once) {
    auto one = numbers.pin(seven);
    auto other = std::move(one);
    EXPECT_FALSE(one);
    EXPECT_FALSE(numbers.try_compact());
    one = std::move(other);
    other = decltype(other)();
    EXPECT_TRUE(one);
    EXPECT_FALSE(numbers.try_compact());
    auto& same = one;
    one = std::move(same);
    ASSERT_TRUE(one);
    EXPECT_EQ(*one, 7);
    EXPECT_FALSE(numbers.try_compact());
    one = numbers.pin(seven);
    one.reset();
    EXPECT_TRUE(numbers.try_compact());
}

TEST_F(pool_guards, objects_of_const_pools_and_of_raw_pools_are_pinned) {
    EXPECT_EQ(*std::as_const(numbers).pin(seven), 7);
    raw_pool<> raw({.name = "raw", .capacity = 10}, {.size = 4});
    const auto handle = raw.emplace();
    auto pinned = raw.pin(handle);
    EXPECT_EQ(pinned.get(), raw.find(handle));
    EXPECT_FALSE(raw.try_compact());
    pinned.reset();
    EXPECT_TRUE(raw.try_compact());
}

TEST_F(pool_guards, try_access_is_empty_while_a_compaction_runs) {
    struct asking_executor : inline_executor {
        void begin_compaction(std::string_view) { inside = static_cast<bool>(owner->try_access()); }
        void begin_phase(compaction_phase) {}
        void end_compaction(const compaction_stats&) {}
        ints* owner = nullptr;
        std::optional<bool> inside;
    } executor;
    executor.owner = &numbers;
    numbers.compact(executor);
    EXPECT_EQ(executor.inside, false);
    EXPECT_TRUE(numbers.try_access());
}

TEST_F(pool_guards, a_compaction_sees_a_guard_that_was_made_here_and_is_held_elsewhere) {
    std::atomic<bool> taken = false;
    std::atomic<bool> end = false;
    std::jthread holder;
    {
        auto guard = numbers.access();
        holder = std::jthread([&, mine = std::move(guard)] {
            taken = true;
            while (!end) {
                std::this_thread::yield();
            }
        });
    }
    while (!taken) {
        std::this_thread::yield();
    }
    EXPECT_THAT([&] { numbers.compact(); }, ThrowsMessage<compaction_conflict>(HasSubstr("still live")));
    EXPECT_FALSE(numbers.try_compact());
    end = true;
    holder.join();
    holder = std::jthread(); // and with it the guard
    numbers.compact();
    EXPECT_EQ(numbers.items().size(), 1U);
}

/// A coroutine that begins at once and, when it has been suspended, goes on where resume() is called.
class errand {
public:
    struct promise_type {
        errand get_return_object() {
            return errand(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };

    explicit errand(std::coroutine_handle<promise_type> state) : state_(state) {}
    errand(errand&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    errand& operator=(errand&&) = delete;
    ~errand() {
        if (state_) {
            state_.destroy();
        }
    }

    void resume() { state_.resume(); }

private:
    std::coroutine_handle<promise_type> state_;
};

errand add_later(ints& pool, handle<int> handle, int value) {
    auto pinned = pool.pin(handle);
    const auto guard = pool.access();
    co_await std::suspend_always();
    *pinned += value;
}

TEST_F(pool_guards, coroutines_hold_objects_while_they_are_suspended_and_end_anywhere) {
    for (int round = 0; round != 20; ++round) {
        auto errands = tabulate(8, [&](int) { return add_later(numbers, seven, 1); });
        EXPECT_FALSE(numbers.try_compact());
        std::jthread([&] {
            for (errand& each : errands) { // each ends in this thread, where others begin and end
                each.resume();
                const auto guard = numbers.access();
            }
        }).join();
        EXPECT_TRUE(numbers.try_compact());
    }
    EXPECT_EQ(numbers.at(seven), 7 + 20 * 8);
}

} // namespace
} // namespace handlepool::test
