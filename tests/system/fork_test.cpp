// SPDX-License-Identifier: MIT
#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>

#include <gtest/gtest.h>
#include <src/core/process/pool_id_registry.hpp>
#include <src/core/process/process_state.hpp>
#include <sys/wait.h>
#include <tests/support/fork.hpp>
#include <tests/support/threads.hpp>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <iterator>
#include <latch>
#include <thread>
#include <vector>

// Processes that fork without exec: the child has a copy of the memory, and of the parent's threads the one
// that called fork.
namespace handlepool::test {
namespace {

using namespace detail;

constexpr unsigned patience = 20; // seconds; a child that waits for a thread of its parent's would never end

/// Runs it in a child. Did it return true?
template <class Body>
testing::AssertionResult true_in_a_child(Body body) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(patience);
        _exit(body() ? 0 : 1);
    }
    int status = 0;
    if (child == -1 || waitpid(child, &status, 0) != child) {
        return testing::AssertionFailure() << "there is no child";
    }
    if (WIFSIGNALED(status)) {
        return testing::AssertionFailure()
               << "the child was ended by signal " << WTERMSIG(status) << " (14: it did not end in time)";
    }
    return WEXITSTATUS(status) == 0 ? testing::AssertionSuccess()
                                    : testing::AssertionFailure() << "false in the child";
}

bool a_new_pool_works() {
    pool<int> ints({.name = "of the child", .capacity = 1000});
    std::vector<handle<int>> handles;
    ints.emplace_n(1000, std::back_inserter(handles), 7);
    ints.erase(handles[0]);
    return ints.compact().removed == 1 && ints.size() == 999 && !ints.contains(handles[0]) &&
           ints.at(handles[1]) == 7;
}

/// Threads that call `body` again and again, each with its number, while the object lives.
class busy_threads {
public:
    template <class Body>
    busy_threads(std::size_t count, Body body) {
        for (std::size_t thread = 0; thread != count; ++thread) {
            threads_.emplace_back([this, body, thread] {
                while (!stop_) {
                    body(thread);
                }
            });
        }
    }
    ~busy_threads() { stop_ = true; }

    busy_threads(const busy_threads&) = delete;
    busy_threads& operator=(const busy_threads&) = delete;

private:
    std::atomic<bool> stop_ = false;
    std::vector<std::jthread> threads_;
};

TEST(fork_test, a_child_makes_pools_of_its_own_while_threads_of_the_parent_make_and_end_pools) {
    if (!children_can_allocate) {
        GTEST_SKIP() << no_allocator_in_children;
    }
    const busy_threads parents(2, [](std::size_t) {
        auto& ids = pool_ids_of_layout(default_layout::index_bits, default_layout::generation_bits,
                                       default_layout::pool_id_bits);
        for (int i = 0; i != 100; ++i) {
            const pool_id_lease lease = ids.acquire({}, "of the parent");
            ids.release(lease.id, lease.first_generation);
        }
    });
    for (int i = 0; i != 30; ++i) {
        ASSERT_TRUE(true_in_a_child(a_new_pool_works)) << "child " << i;
    }
    EXPECT_TRUE(a_new_pool_works()) << "and in the parent";
}

TEST(fork_test, a_child_makes_pools_of_its_own_while_threads_of_the_parent_use_theirs) {
    if (!children_can_allocate) {
        GTEST_SKIP() << no_allocator_in_children;
    }
    pool<int> shared({.name = "of the parent", .capacity = 10'000});
    const busy_threads parents(2, [&](std::size_t thread) {
        if (thread == 0) {
            shared.compact();
        }
        shared.erase(shared.try_emplace(7));
    });
    for (int i = 0; i != 30; ++i) {
        ASSERT_TRUE(true_in_a_child(a_new_pool_works)) << "child " << i;
    }
}

TEST(fork_test, a_child_has_new_handles_that_no_pool_of_its_parent_knows) {
    pool<int> parents({.name = "of the parent", .capacity = 1000});
    const auto handle = parents.emplace(7);
    EXPECT_TRUE(true_in_a_child([&] {
        pool<int> mine({.name = "of the child", .capacity = 1000});
        const auto other = mine.emplace(8);
        return !mine.contains(handle) && !parents.contains(other) && parents.at(handle) == 7;
    }));
}

TEST(fork_test, a_child_uses_its_copy_of_a_pool_that_no_other_thread_was_using) {
    service world;
    auto& ints = world.add<pool<int>>("ints", {.capacity = 1000});
    std::vector<handle<int>> handles(2);
    std::latch used(3);
    std::latch done(1);
    in_threads(3, [&](std::size_t thread) { // two of them wait meanwhile, with shards of their own
        if (thread != 2) {
            handles[thread] = ints.emplace(static_cast<int>(thread));
            used.arrive_and_wait();
            done.wait();
            return;
        }
        used.arrive_and_wait();
        EXPECT_TRUE(true_in_a_child([&] {
            const auto mine = ints.emplace(7);
            bool right = world.erase(handles[0]) && world.contains(handles[1]) && ints.at(mine) == 7;
            {
                const auto guard = ints.access();
                right = right && !ints.try_compact().has_value();
            }
            right = right && world.compact().removed == 1 && ints.items().size() == 2;
            ints.clear();
            ints.compact();
            ints.reset();
            return right && world.remove_pool("ints") && world.compact().removed == 0;
        }));
        EXPECT_TRUE(ints.contains(handles[0])) << "the child has erased its copy";
        EXPECT_EQ(ints.size(), 2U);
        done.count_down();
    });
    EXPECT_EQ(world.compact().born, 2U);
}

// So that its threads have names for readers in other processes.
TEST(fork_test, a_thread_goes_on_in_the_child_with_the_number_that_the_system_gives_it_there) {
    pool<int> ints({.name = "ints", .capacity = 1000});
    ints.emplace(7);
    const auto is_noted = [] {
        return this_process.system_threads[this_thread::index()].load() ==
               static_cast<std::uint32_t>(gettid());
    };
    EXPECT_TRUE(is_noted());
    EXPECT_TRUE(true_in_a_child(is_noted));
    EXPECT_TRUE(is_noted());
}

TEST(fork_test, a_guard_that_another_thread_held_holds_compaction_off_in_the_child) {
    pool<int> ints({.name = "ints", .capacity = 1000});
    std::latch held(2);
    std::latch done(1);
    in_threads(2, [&](std::size_t thread) {
        if (thread == 0) {
            const auto guard = ints.access();
            held.arrive_and_wait();
            done.wait();
            return;
        }
        held.arrive_and_wait();
        EXPECT_TRUE(true_in_a_child([&] {
            const auto mine = ints.emplace(7);
            return !ints.try_compact().has_value() && ints.at(mine) == 7 && ints.erase(mine);
        }));
        done.count_down();
    });
}

} // namespace
} // namespace handlepool::test
