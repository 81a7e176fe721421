// SPDX-License-Identifier: MIT
#include <handlepool/call_site.hpp>

#include <gtest/gtest.h>
#include <src/core/recorder/debug_info.hpp>
#include <src/core/recorder/word_depot.hpp>
#include <tests/support/threads.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

using detail::word_depot;

word_depot::value_type value_of(std::uint64_t number) {
    word_depot::value_type value{};
    value.front() = number;
    value.back() = ~number;
    return value;
}

TEST(word_depot_test, keeps_each_value_once) {
    word_depot all("values", 1000);
    std::set<std::uint32_t> numbers;
    for (int round = 0; round != 2; ++round) {
        for (std::uint64_t i = 0; i != 1000; ++i) {
            const std::uint32_t number = all.number_of(value_of(i));
            EXPECT_NE(number, 0U);
            numbers.insert(number);
            ASSERT_NE(all.find(number), nullptr);
            EXPECT_EQ(*all.find(number), value_of(i));
        }
    }
    EXPECT_EQ(numbers.size(), 1000U);
}

TEST(word_depot_test, that_is_full_still_knows_what_it_has) {
    word_depot all("values", 3);
    const std::array numbers{all.number_of(value_of(1)), all.number_of(value_of(2)),
                             all.number_of(value_of(3))};
    EXPECT_EQ(all.number_of(value_of(4)), 0U);
    for (std::size_t i = 0; i != numbers.size(); ++i) {
        EXPECT_EQ(all.number_of(value_of(i + 1)), numbers[i]);
    }
    EXPECT_EQ(all.find(0), nullptr);
    EXPECT_EQ(all.find(4), nullptr);
}

TEST(word_depot_test, gives_all_threads_the_same_numbers) {
    constexpr std::uint64_t values = 2000;
    constexpr std::size_t threads = 4;
    // Of two threads with the same new value, one leaves an entry unused.
    word_depot all("values", values * threads);
    std::vector<std::vector<std::uint32_t>> numbers(threads);
    in_threads(threads, [&](std::size_t thread) {
        for (std::uint64_t i = 0; i != values; ++i) {
            numbers[thread].push_back(all.number_of(value_of(i)));
        }
    });
    for (std::size_t thread = 1; thread != threads; ++thread) {
        EXPECT_EQ(numbers[thread], numbers[0]);
    }
}

TEST(function_names, have_neither_result_nor_parameters) {
    const std::array<std::array<std::string, 2>, 14> names{{
        {"explode(int)", "explode()"},
        {"void game::explode(ship&, handle<ship>) const", "game::explode()"},
        {"int main()", "main()"},
        {"main", "main()"},
        {"", "()"},
        {"void game::erase_from<handlepool::pool<int, traits<(unsigned)3> > >(int)",
         "game::erase_from<handlepool::pool<int, traits<(unsigned)3> > >()"},
        {"(anonymous namespace)::sink(int)", "(anonymous namespace)::sink()"},
        {"game::(anonymous namespace)::sink(int)", "game::(anonymous namespace)::sink()"},
        {"main::{lambda(int, int)#1}::operator()(int, int) const",
         "main::{lambda(int, int)#1}::operator()()"},
        {"bool game::operator<(ship const&, ship const&)", "game::operator<()"},
        {"std::ostream& operator<<(std::ostream&, ship)", "operator<<()"},
        {"game::ship::operator bool() const", "game::ship::operator bool()"},
        {"std::map<int, long> game::count<std::map<int, long> >()", "game::count<std::map<int, long> >()"},
        {"game::ship::~ship()", "game::ship::~ship()"},
    }};
    for (const auto& [function, name] : names) {
        EXPECT_EQ(detail::short_function_name(function), name);
    }
}

} // namespace
} // namespace handlepool::test
