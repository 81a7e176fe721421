// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/queues/chunk_store.hpp>
#include <handlepool/detail/slots/index_allocator.hpp>
#include <handlepool/fifo_freelist.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using chunks_type = chunk_store<default_policy, fifo_freelist<default_policy>>;
using unordered_chunks =
    chunk_store<default_policy, index_allocator<default_policy, fifo_freelist<default_policy>>>;
using chain_type = chunk_chain<default_policy>;
using positions = std::vector<std::uint32_t>;

/// Takes the chain's next position, as producers do.
template <class Chunks>
std::optional<std::uint32_t> take_next(Chunks& chunks, chain_type& chain, std::size_t tries = unlimited) {
    if (!chunks.has_position(chain) && !chunks.extend(chain, tries)) {
        return std::nullopt;
    }
    return chunks.take_held(chain);
}

template <class Chunks>
positions take(Chunks& chunks, chain_type& chain, std::size_t count) {
    positions taken;
    while (taken.size() != count) {
        const auto position = take_next(chunks, chain);
        if (!position) {
            break;
        }
        taken.push_back(*position);
    }
    return taken;
}

/// Follows the chain over `count` positions, as a consumer does.
template <class Chunks>
positions consume(Chunks& chunks, chain_type& chain, std::size_t count) {
    positions consumed;
    while (consumed.size() != count && chunks.follow(chain)) {
        consumed.push_back(chain.get);
        chain.get = chain.get + 1;
    }
    return consumed;
}

positions pending(const chunks_type& chunks, const chain_type& chain) {
    positions all;
    chunks.for_pending(chain, [&](std::uint32_t first, std::uint32_t last) {
        for (; first != last; ++first) {
            all.push_back(first);
        }
        return true;
    });
    return all;
}

class chunk_store_test : public testing::TestWithParam<std::size_t> {
protected:
    std::size_t chunk_size = GetParam();
    chunks_type chunks{"test", 4, chunk_size};
    chain_type chain;
};
INSTANTIATE_TEST_SUITE_P(chunks_of, chunk_store_test, testing::Values(1, 2, 3, 64));

TEST_P(chunk_store_test, has_so_many_positions_and_gives_each_out_once) {
    EXPECT_EQ(chunks.positions(), 4 * chunk_size);
    EXPECT_EQ(chunks.chunk_size(), chunk_size);
    const positions all = take(chunks, chain, 1000);
    EXPECT_EQ(all.size(), 4 * chunk_size);
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
    EXPECT_LT(*std::max_element(all.begin(), all.end()), chunks.positions());
}

TEST_P(chunk_store_test, the_consumer_passes_the_positions_in_the_producers_order) {
    const positions taken = take(chunks, chain, 4 * chunk_size);
    EXPECT_EQ(consume(chunks, chain, taken.size()), taken);
    EXPECT_FALSE(chunks.follow(chain));
}

TEST_P(chunk_store_test, two_chains_share_no_chunk) {
    chain_type other;
    const positions mine = take(chunks, chain, chunk_size + 1);
    const positions others = take(chunks, other, chunk_size + 1);
    std::set<std::uint32_t> all(mine.begin(), mine.end());
    all.insert(others.begin(), others.end());
    EXPECT_EQ(all.size(), 2 * (chunk_size + 1));
    EXPECT_EQ(consume(chunks, other, others.size()), others);
    EXPECT_EQ(consume(chunks, chain, mine.size()), mine);
}

TEST_P(chunk_store_test, a_consumer_finds_nothing_before_the_first_position) {
    EXPECT_FALSE(chunks.follow(chain));
    EXPECT_EQ(pending(chunks, chain), positions{});
}

TEST_P(chunk_store_test, passed_chunks_come_back_with_recycle_and_not_before) {
    take(chunks, chain, 4 * chunk_size);
    consume(chunks, chain, 3 * chunk_size + 1);
    EXPECT_EQ(take(chunks, chain, 1), positions{});
    chunks.recycle();
    EXPECT_EQ(take(chunks, chain, 1000).size(), 3 * chunk_size);
}

TEST_P(chunk_store_test, a_chunk_goes_out_again_only_when_it_was_cleared) {
    constexpr std::size_t last = 150; // of three words of bits
    unordered_chunks unordered("test", last, chunk_size);
    take(unordered, chain, last * chunk_size);
    consume(unordered, chain, (last - 1) * chunk_size + 1);
    EXPECT_EQ(unordered.chunks_in_use(), last);
    chain_type other;
    std::set<std::uint32_t> cleared;
    unordered.give_back_finished([&](std::uint32_t chunk) {
        for (const std::uint32_t taken : take(unordered, other, 1)) {
            EXPECT_TRUE(cleared.contains(taken / static_cast<std::uint32_t>(chunk_size)));
            other.put = other.put_end;
        }
        EXPECT_TRUE(cleared.insert(chunk).second);
    });
    EXPECT_EQ(cleared.size(), last - 1);
    take(unordered, other, 1000 * chunk_size);
    EXPECT_EQ(unordered.chunks_in_use(), last);
}

TEST_P(chunk_store_test, chunks_without_an_order_go_out_from_the_first) {
    unordered_chunks unordered("test", 300, chunk_size);
    const positions all = take(unordered, chain, 200 * chunk_size);
    consume(unordered, chain, all.size());
    unordered.give_back_finished([](std::uint32_t) {});
    chain_type other;
    const positions again = take(unordered, other, 199 * chunk_size);
    EXPECT_EQ(again, positions(all.begin(), all.end() - static_cast<std::ptrdiff_t>(chunk_size)));
    EXPECT_EQ(unordered.chunks_in_service(), 200U);
}

TEST_P(chunk_store_test, a_chain_takes_chunks_again_that_it_had) {
    const auto size = static_cast<std::uint32_t>(chunk_size);
    unordered_chunks unordered("test", 300, chunk_size);
    chain_type other;
    EXPECT_FALSE(unordered.extend_again(other, 300));
    take(unordered, chain, 2 * chunk_size); // chunks 0 and 1
    take(unordered, other, 3 * chunk_size); // 2 to 4
    EXPECT_FALSE(unordered.extend_again(other, 300)) << "all are in use";
    consume(unordered, chain, 2 * chunk_size);
    consume(unordered, other, 3 * chunk_size); // stays at 4
    unordered.give_back_finished([](std::uint32_t) {});
    EXPECT_EQ(unordered.chunks_in_use(), 2U);
    EXPECT_FALSE(unordered.extend_again(other, 2)) << "beyond the limit";
    EXPECT_TRUE(unordered.extend_again(other, 3));
    EXPECT_EQ(unordered.chunks_in_use(), 3U);
    EXPECT_EQ(take(unordered, other, 1), positions{2 * size});
    EXPECT_TRUE(unordered.extend_again(other, 300));
    EXPECT_EQ(take(unordered, other, 1), positions{3 * size});
    EXPECT_FALSE(unordered.extend_again(other, 300));
    EXPECT_EQ(unordered.chunks_in_use(), 4U);
    other.put = other.put_end;
    EXPECT_EQ(take(unordered, other, 1), positions{0});
    EXPECT_EQ(unordered.chunks_in_use(), 5U);
    EXPECT_EQ(unordered.chunks_in_service(), 5U);
}

TEST_P(chunk_store_test, a_chain_remembers_the_last_chunks_that_it_had) {
    unordered_chunks unordered("test", 300, chunk_size);
    take(unordered, chain, 20 * chunk_size);
    consume(unordered, chain, 20 * chunk_size);
    unordered.give_back_finished([](std::uint32_t) {}); // all but the last
    std::set<std::uint32_t> again;
    while (unordered.extend_again(chain, 300)) {
        again.insert(chain.put / static_cast<std::uint32_t>(chunk_size));
    }
    EXPECT_EQ(again, (std::set<std::uint32_t>{12, 13, 14, 15, 16, 17, 18}));
    chain.reset();
    unordered.reset();
    chain_type other;
    take(unordered, other, 20 * chunk_size);
    consume(unordered, other, 20 * chunk_size);
    unordered.give_back_finished([](std::uint32_t) {});
    EXPECT_FALSE(unordered.extend_again(chain, 300));
}

TEST_P(chunk_store_test, the_chunk_that_the_consumer_stands_at_is_kept) {
    const positions taken = take(chunks, chain, chunk_size);
    consume(chunks, chain, chunk_size);
    chunks.recycle();
    // The chain still leads through it.
    const positions next = take(chunks, chain, 1);
    EXPECT_NE(next.at(0) / chunk_size, taken.at(0) / chunk_size);
    EXPECT_EQ(consume(chunks, chain, 1), next);
}

TEST_P(chunk_store_test, pending_are_the_positions_from_the_consumer_to_the_end_of_the_producers_chunk) {
    const positions taken = take(chunks, chain, 3 * chunk_size);
    EXPECT_EQ(pending(chunks, chain), taken);
    consume(chunks, chain, chunk_size + 1);
    EXPECT_EQ(pending(chunks, chain),
              positions(taken.begin() + static_cast<std::ptrdiff_t>(chunk_size) + 1, taken.end()));
    consume(chunks, chain, 1000);
    EXPECT_EQ(pending(chunks, chain), positions{});
}

TEST_P(chunk_store_test, without_a_try_only_the_chunk_at_hand_is_used) {
    EXPECT_FALSE(take_next(chunks, chain, 0));
    ASSERT_TRUE(take_next(chunks, chain, 1));
    for (std::size_t i = 1; i != chunk_size; ++i) {
        EXPECT_TRUE(take_next(chunks, chain, 0));
    }
    EXPECT_FALSE(take_next(chunks, chain, 0));
}

TEST_P(chunk_store_test, after_reset_all_chunks_are_free) {
    take(chunks, chain, 4 * chunk_size);
    consume(chunks, chain, 2 * chunk_size + 1); // some of them passed and not recycled
    chunks.reset();
    chain.reset();
    chunks.recycle();
    EXPECT_FALSE(chunks.follow(chain));
    const positions taken = take(chunks, chain, 1000);
    EXPECT_EQ(taken.size(), 4 * chunk_size);
    EXPECT_EQ(consume(chunks, chain, 1000), taken);
}

TEST_P(chunk_store_test, random_operations_agree_with_simple_queues) {
    test::random_source random;
    chunks_type many("test", 10, chunk_size);
    chain_type chains[3];
    std::deque<std::uint32_t> expected[3];
    std::set<std::uint32_t> in_use;
    for (int step = 0; step != 20'000; ++step) {
        const auto which = random.below(3);
        if (random.one_in(2)) {
            for (const auto position : take(many, chains[which], random.below(2 * chunk_size + 1))) {
                ASSERT_TRUE(in_use.insert(position).second) << "taken twice";
                expected[which].push_back(position);
            }
        } else {
            const std::size_t count = random.below(expected[which].size() + 1);
            for (const auto position : consume(many, chains[which], count)) {
                ASSERT_EQ(position, expected[which].front());
                expected[which].pop_front();
                in_use.erase(position);
            }
        }
        if (random.one_in(8)) {
            many.recycle();
        }
    }
}

} // namespace
} // namespace handlepool::test
