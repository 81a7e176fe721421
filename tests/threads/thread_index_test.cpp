// SPDX-License-Identifier: MIT
#include <handlepool/detail/threads/thread_index.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <support/threads/barrier.hpp>
#include <tests/support/repetitions.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

namespace handlepool::test {

using namespace detail;
using support::repetitions;

namespace {

template <class Body>
void in_a_thread(Body body) {
    std::thread(body).join();
}

std::uint32_t index_of_a_new_thread() {
    std::uint32_t index = thread_index_limit;
    in_a_thread([&] { index = this_thread::index(); });
    return index;
}

TEST(thread_index_test, stays_the_same_in_a_thread) {
    const std::uint32_t index = this_thread::index();
    EXPECT_LT(index, thread_index_limit);
    EXPECT_EQ(this_thread::index(), index);
}

TEST(thread_index_test, differs_among_living_threads) {
    constexpr int threads = 200; // several words of the table
    std::vector<std::uint32_t> indices(threads);
    const std::uint32_t own = this_thread::index(); // before the others give theirs back
    support::latch all_have_one(threads);
    {
        std::vector<std::jthread> running;
        for (auto& index : indices) {
            running.emplace_back([&] {
                index = this_thread::index();
                all_have_one.arrive_and_wait();
            });
        }
    }
    indices.push_back(own);
    EXPECT_EQ(std::set(indices.begin(), indices.end()).size(), indices.size());
    EXPECT_LT(*std::max_element(indices.begin(), indices.end()), 220U) << "the lowest free ones are given";
}

TEST(thread_index_test, differs_among_threads_that_ask_at_the_same_moment) {
    for (int round = 0, rounds = repetitions(500); round != rounds; ++round) {
        std::array<std::uint32_t, 2> indices{};
        std::atomic<int> ready = 0;
        support::latch both_have_one(2);
        {
            std::vector<std::jthread> running;
            for (auto& index : indices) {
                running.emplace_back([&] {
                    ++ready;
                    while (ready != 2) {
                        std::this_thread::yield(); // to the other one's start, if there is no processor for
                                                   // both
                    }
                    index = this_thread::index();
                    both_have_one.arrive_and_wait();
                });
            }
        }
        ASSERT_NE(indices[0], indices[1]) << "in round " << round;
    }
}

// Numberings are this far apart at least.
constexpr std::uint64_t another_numbering = std::uint64_t{1} << 17;

TEST(thread_index_test, is_none_under_another_numbering_than_the_callers) {
    const std::uint64_t mine = this_thread::numbering();
    for (const std::uint64_t other : {mine + another_numbering, mine - another_numbering, std::uint64_t{0}}) {
        in_a_thread([&] {
            EXPECT_EQ(this_thread::index(other), foreign_thread_index) << "before it has a number";
            EXPECT_LT(this_thread::index(mine), thread_index_limit);
            EXPECT_EQ(this_thread::index(other), foreign_thread_index);
            EXPECT_EQ(this_thread::index(mine), this_thread::index());
        });
    }
}

TEST(thread_index_test, is_given_to_the_next_thread_when_one_ends) {
    const std::uint32_t own = this_thread::index();
    const std::uint32_t first = index_of_a_new_thread();
    EXPECT_EQ(index_of_a_new_thread(), first);
    EXPECT_NE(own, first);
}

TEST(thread_index_test, stays_small_while_threads_come_and_go_by_the_thousand) {
    constexpr std::uint32_t at_once = 4;
    std::vector<std::uint32_t> highest(at_once);
    {
        std::vector<std::jthread> parents;
        for (auto& mine : highest) {
            parents.emplace_back([&mine] {
                for (int i = 0, threads = repetitions(1000); i != threads; ++i) {
                    mine = std::max(mine, index_of_a_new_thread());
                }
            });
        }
    }
    EXPECT_LE(*std::max_element(highest.begin(), highest.end()), 16U);
}

TEST(thread_index_test, a_thread_that_asks_for_none_takes_none) {
    const std::uint32_t next = index_of_a_new_thread();
    support::latch asked(1);
    std::jthread idle([&] { asked.wait(); });
    EXPECT_EQ(index_of_a_new_thread(), next);
    asked.count_down();
}

// Plain: the number itself must carry the order from one owner to the next.
TEST(thread_index_test, what_an_owner_did_happens_before_what_the_next_one_does) {
    const int threads_each = repetitions(300);
    std::vector<int> counts(64);
    {
        std::vector<std::jthread> parents;
        for (int parent = 0; parent != 3; ++parent) {
            parents.emplace_back([&] {
                for (int i = 0; i != threads_each; ++i) {
                    in_a_thread([&] { ++counts[this_thread::index() % 64]; });
                }
            });
        }
    }
    int sum = 0;
    for (const int count : counts) {
        sum += count;
    }
    EXPECT_EQ(sum, 3 * threads_each);
}

#if !defined(__MINGW32__) // whose threads free thread_local objects before they destroy them
/// Asks for the index when the thread's objects are destroyed.
struct late_caller {
    std::uint32_t* seen = nullptr;
    ~late_caller() {
        if (seen != nullptr) {
            *seen = this_thread::index();
        }
    }
};
thread_local late_caller late;

TEST(thread_index_test, is_still_the_same_in_destructors_of_thread_local_objects) {
    std::uint32_t early = thread_index_limit;
    std::uint32_t seen = thread_index_limit;
    in_a_thread([&] {
        late.seen = &seen;
        early = this_thread::index();
    });
    EXPECT_LT(early, thread_index_limit);
    EXPECT_EQ(seen, early);
}

TEST(thread_index_test, a_first_call_in_the_destructor_of_a_thread_local_object_is_given_back) {
    const std::uint32_t next = index_of_a_new_thread();
    for (int i = 0, threads = repetitions(200); i != threads; ++i) {
        std::uint32_t seen = thread_index_limit;
        in_a_thread([&] { late.seen = &seen; });
        ASSERT_EQ(seen, next);
    }
    EXPECT_EQ(index_of_a_new_thread(), next);
}
#endif

// The destructor of a key may run after the one that gives the number back: the thread then takes one more,
// for a while.
TEST(thread_index_test, a_call_in_the_destructor_of_a_thread_specific_key_is_given_back) {
    static std::uint32_t seen;
    in_a_thread([] { this_thread::index(); }); // so that the library's own key comes first
    pthread_key_t key{};
    ASSERT_EQ(pthread_key_create(&key, [](void*) { seen = this_thread::index(); }), 0);
    const std::uint32_t next = index_of_a_new_thread();
    for (int i = 0, threads = repetitions(200); i != threads; ++i) {
        seen = thread_index_limit;
        in_a_thread([&] {
            this_thread::index();
            pthread_setspecific(key, &seen);
        });
        ASSERT_EQ(seen, next);
    }
    EXPECT_EQ(index_of_a_new_thread(), next);
    pthread_key_delete(key);
}

} // namespace
} // namespace handlepool::test
