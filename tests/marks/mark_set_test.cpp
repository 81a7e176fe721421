// SPDX-License-Identifier: MIT

#include <handlepool/detail/marks/mark_set.hpp>
#include <handlepool/policy.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using marks = detail::mark_set<default_policy>;

std::vector<std::size_t> taken_from(marks& set) {
    std::vector<std::size_t> numbers;
    set.take([&](std::size_t number) { numbers.push_back(number); });
    return numbers;
}

TEST(mark_set, each_mark_is_taken_once_in_ascending_order) {
    marks set("test", 10'000);
    EXPECT_THAT(taken_from(set), IsEmpty());
    set.mark(9'999);
    set.mark(64);
    set.mark(64);
    set.mark(0);
    set.mark(63);
    set.mark(4'096);
    EXPECT_THAT(taken_from(set), ElementsAre(0, 63, 64, 4'096, 9'999));
    EXPECT_THAT(taken_from(set), IsEmpty());
    set.mark(64);
    EXPECT_THAT(taken_from(set), ElementsAre(64));
}

TEST(mark_set, what_is_marked_while_marks_are_taken_comes_then_or_later) {
    constexpr std::size_t count = 5'000;
    constexpr std::uint32_t rounds = 200;
    marks set("test", count);
    std::vector<std::atomic<std::uint32_t>> written(count); // relaxed: carried by the marks
    std::vector<std::uint32_t> seen(count);
    const auto take = [&] {
        set.take_at_any_time(
            [&](std::size_t number) { seen[number] = written[number].load(std::memory_order::relaxed); });
    };
    std::atomic<bool> ends = false;
    std::jthread writer([&] {
        for (std::uint32_t round = 1; round <= rounds; ++round) {
            for (std::size_t number = round % 7; number < count; number += 7) {
                written[number].store(round, std::memory_order::relaxed);
                set.mark_at_any_time(number);
            }
        }
        ends = true;
    });
    while (!ends) {
        take();
    }
    writer.join();
    take();
    for (std::size_t number = 0; number != count; ++number) {
        ASSERT_EQ(seen[number], written[number].load()) << number;
    }
}

} // namespace
} // namespace handlepool::test
