// SPDX-License-Identifier: MIT

// A deal against numbers that are dealt out one by one.

#include <handlepool/detail/slots/deal.hpp>
#include <handlepool/policy.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/repetitions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace handlepool::test {
namespace {

using deal = detail::deal<default_policy>;
using testing::ElementsAre;
using testing::IsEmpty;

/// The numbers that a hand gets, `wanted` at a time.
std::vector<std::size_t> all_of(deal& from, std::size_t hand, std::size_t wanted) {
    std::vector<std::size_t> numbers;
    for (auto some = from.take(hand, wanted); some.count != 0; some = from.take(hand, wanted)) {
        for (std::size_t i = 0; i != some.count; ++i) {
            numbers.push_back(some.first + i);
        }
    }
    return numbers;
}

TEST(deal, gives_each_hand_blocks_in_turn) {
    deal cards;
    const std::vector<std::uint32_t> weights{1, 2};
    cards.open(weights, 48, 2); // in blocks of two numbers, as 48 / (8 x 3)
    EXPECT_EQ(cards.left(0), 16);
    EXPECT_EQ(cards.left(1), 32);
    const auto first = cards.take(0, 10);
    EXPECT_EQ(first.first, 0);
    EXPECT_EQ(first.count, 2);
    EXPECT_EQ(cards.take(0, 1).first, 6);
    EXPECT_EQ(cards.take(0, 10).first, 7);
    EXPECT_EQ(cards.take(1, 2).first, 2);
    EXPECT_EQ(cards.take(1, 2).first, 4);
    EXPECT_EQ(cards.take(1, 2).first, 8);
    EXPECT_EQ(cards.left(0), 12);
}

TEST(deal, of_nothing_gives_nothing) {
    deal cards;
    const std::vector<std::uint32_t> weights{1, 1};
    cards.open(weights, 0, 64);
    EXPECT_TRUE(cards.is_open());
    EXPECT_EQ(cards.left(1), 0);
    EXPECT_EQ(cards.take(1, 5).count, 0);
    cards.for_each_block([](auto, auto) { ADD_FAILURE(); });
    cards.close();
    EXPECT_FALSE(cards.is_open());
}

TEST(deal, of_fewer_numbers_than_hands_gives_one_each) {
    deal cards;
    const std::vector<std::uint32_t> weights{1, 1, 1};
    cards.open(weights, 2, 64);
    EXPECT_THAT(all_of(cards, 0, 9), ElementsAre(0));
    EXPECT_THAT(all_of(cards, 1, 9), ElementsAre(1));
    EXPECT_THAT(all_of(cards, 2, 9), IsEmpty());
}

TEST(deal, is_the_same_whoever_takes_first_and_how_many_at_a_time) {
    std::mt19937_64 random(11);
    for (int i = 0; i != support::repetitions(300); ++i) {
        std::vector<std::uint32_t> weights;
        std::size_t round = 0;
        for (std::size_t hands = 1 + random() % 9; hands != 0; --hands) {
            weights.push_back(static_cast<std::uint32_t>(1 + random() % 4));
            round += weights.back();
        }
        const std::size_t size = random() % 3000;
        const std::size_t most = 1 + random() % 64;
        const std::size_t block = std::min(std::max<std::size_t>(size / (8 * round), 1), most);
        std::vector<std::vector<std::size_t>> expected(weights.size()); // dealt block by block
        for (std::size_t number = 0; number != size; ++number) {
            std::size_t in_round = number / block % round;
            std::size_t hand = 0;
            for (; in_round >= weights[hand]; ++hand) {
                in_round -= weights[hand];
            }
            expected[hand].push_back(number);
        }

        deal cards;
        cards.open(weights, size, most);
        std::vector<std::size_t> order(weights.size());
        for (std::size_t hand = 0; hand != order.size(); ++hand) {
            order[hand] = hand;
        }
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t hand : order) {
            EXPECT_EQ(cards.left(hand), expected[hand].size());
            EXPECT_EQ(all_of(cards, hand, 1 + random() % 70), expected[hand]) << "hand " << hand;
            EXPECT_EQ(cards.left(hand), 0);
        }
        ASSERT_FALSE(testing::Test::HasFailure()) << "deal " << i;
    }
}

TEST(deal, tells_what_was_taken_and_passed_over) {
    std::mt19937_64 random(12);
    for (int i = 0; i != support::repetitions(300); ++i) {
        std::vector<std::uint32_t> weights(1 + random() % 9, 1);
        weights.back() = 3;
        deal cards;
        const std::size_t size = random() % 3000;
        cards.open(weights, size, 64);
        std::vector<bool> taken(size);
        std::size_t end = 0;
        for (std::size_t hand = 0; hand != weights.size(); ++hand) {
            std::vector<std::size_t> numbers;
            for (std::size_t some = random() % 20; some != 0; --some) {
                const auto next = cards.take(hand, 1 + random() % 64);
                for (std::size_t k = 0; k != next.count; ++k) {
                    numbers.push_back(next.first + k);
                }
            }
            const std::size_t unused =
                numbers.empty() ? 0 : random() % std::min<std::size_t>(numbers.size(), 9);
            cards.put_back(hand, unused);
            numbers.resize(numbers.size() - unused);
            for (const std::size_t number : numbers) {
                taken[number] = true;
                end = std::max(end, number + 1);
            }
        }
        std::size_t next = 0;
        cards.for_each_block([&](auto used, auto passed_over) {
            EXPECT_EQ(used.first, next);
            EXPECT_EQ(passed_over.first, used.first + used.count);
            for (std::size_t k = 0; k != used.count; ++k) {
                EXPECT_TRUE(taken[used.first + k]);
            }
            for (std::size_t k = 0; k != passed_over.count; ++k) {
                EXPECT_FALSE(taken[passed_over.first + k]);
            }
            next = passed_over.first + passed_over.count;
        });
        EXPECT_EQ(next, end);
        ASSERT_FALSE(testing::Test::HasFailure()) << "deal " << i;
    }
}

TEST(deal, begins_anew_when_it_is_opened_again) {
    deal cards;
    const std::vector<std::uint32_t> two{1, 1};
    cards.open(two, 100, 1);
    cards.take(0, 1);
    cards.take(1, 1);
    cards.close();
    cards.open(two, 4, 1);
    EXPECT_THAT(all_of(cards, 1, 1), ElementsAre(1, 3));
    cards.close();
    const std::vector<std::uint32_t> three{2, 1, 1};
    cards.open(three, 6, 1);
    EXPECT_THAT(all_of(cards, 0, 1), ElementsAre(0, 1, 4, 5));
    EXPECT_THAT(all_of(cards, 2, 1), ElementsAre(3));
}

} // namespace
} // namespace handlepool::test
