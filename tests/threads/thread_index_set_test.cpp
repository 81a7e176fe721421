// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <src/core/threads/thread_index_set.hpp>
#include <support/steps/step_atomics.hpp>
#include <tests/support/stop_at_every_access.hpp>

#include <atomic>
#include <cstdint>

namespace handlepool::test {
namespace {

using namespace detail;

TEST(thread_index_set_test, the_lowest_free_number_goes_out_first) {
    thread_index_set<std::atomic, 2> numbers;
    for (std::uint32_t expected = 0; expected != 100; ++expected) {
        ASSERT_EQ(numbers.claim(), expected);
    }
    numbers.give_back(70);
    numbers.give_back(3);
    EXPECT_EQ(numbers.claim(), 3U);
    EXPECT_EQ(numbers.claim(), 70U);
    EXPECT_EQ(numbers.claim(), 100U);
}

TEST(thread_index_set_test, says_when_there_is_none_and_has_one_again_when_it_is_given_back) {
    thread_index_set<std::atomic, 2> numbers;
    while (numbers.claim() != numbers.size) {
    }
    EXPECT_EQ(numbers.claim(), 128U);
    numbers.give_back(127);
    EXPECT_EQ(numbers.claim(), 127U);
    EXPECT_EQ(numbers.claim(), 128U);
}

struct two_threads {
    thread_index_set<support::step_atomic, 1> numbers;
    std::uint32_t first = 0;
    std::uint32_t second = 0;
};

TEST(thread_index_set_test, two_threads_never_get_the_same_number) {
    stop_at_every_access<two_threads>([](two_threads& at) { at.first = at.numbers.claim(); },
                                      [](two_threads& at) { at.second = at.numbers.claim(); },
                                      [](two_threads& at) {
                                          EXPECT_NE(at.first, at.second);
                                          EXPECT_EQ(at.numbers.claim(), 2U);
                                      });
}

TEST(thread_index_set_test, a_number_given_back_meanwhile_is_not_lost) {
    stop_at_every_access<two_threads>([](two_threads& at) { at.first = at.numbers.claim(); },
                                      [](two_threads& at) { at.numbers.give_back(at.numbers.claim()); },
                                      [](two_threads& at) {
                                          at.numbers.give_back(at.first);
                                          EXPECT_EQ(at.numbers.claim(), 0U);
                                          EXPECT_EQ(at.numbers.claim(), 1U);
                                      });
}

TEST(thread_index_set_test, a_number_taken_while_another_is_given_back_stays_taken) {
    struct one_taken : two_threads {
        one_taken() { first = numbers.claim(); }
    };
    stop_at_every_access<one_taken>([](one_taken& at) { at.numbers.give_back(at.first); },
                                    [](one_taken& at) { at.second = at.numbers.claim(); },
                                    [](one_taken& at) {
                                        EXPECT_NE(at.numbers.claim(), at.second);
                                        EXPECT_EQ(at.numbers.claim(), 2U);
                                    });
}

} // namespace
} // namespace handlepool::test
