// SPDX-License-Identifier: MIT
#include <handlepool/detail/parts/shard.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace handlepool::test {
namespace {

using namespace detail;

TEST(shard_test, a_new_shard_holds_nothing_and_knows_its_index) {
    shard_table<default_policy> shards("shards", 1000);
    const auto& mine = shards.mine_or_throw("a test");
    EXPECT_EQ(&shards[mine.newborns.shard], &mine);
    EXPECT_EQ(mine.guards(), 0U);
    EXPECT_EQ(mine.claim.left(), 0U);
    EXPECT_EQ(mine.created.load(), 0U);
    EXPECT_EQ(mine.newborns.positions.first.load(), link::none);
}

TEST(shard_test, reset_drops_slots_and_queues_but_keeps_the_totals) {
    shard<default_policy> mine;
    mine.claim.refill(7, [](std::uint32_t*, std::size_t wanted) { return wanted; });
    mine.newborns.vacant = link_to(3);
    mine.newborns.vacated.store(5);
    mine.created.store(10);
    mine.erased.store(4);
    mine.reserved.store(3);
    mine.closed.store(5); // of other threads' handles, too
    mine.newborns.positions.put = 3;
    mine.newborns.positions.put_end = 4;
    mine.newborns.positions.first.store(link_to(0));
    mine.removals.queued.store(9);
    mine.removals.drained.store(6);
    mine.removals.records.first.store(link_to(0));
    mine.raise();
    mine.reset();
    EXPECT_EQ(mine.claim.left(), 0U);
    EXPECT_EQ(mine.newborns.vacant, link::none);
    EXPECT_EQ(mine.newborns.vacated_seen.load(), 5U);
    EXPECT_EQ(mine.created.load(), 10U);
    EXPECT_EQ(mine.erased.load(), 10U); // none of its objects lives
    EXPECT_EQ(mine.closed.load(), 3U);  // and none of its handles is reserved
    EXPECT_EQ(mine.reserved.load(), 3U);
    EXPECT_EQ(mine.newborns.positions.put, mine.newborns.positions.put_end);
    EXPECT_EQ(mine.newborns.positions.first.load(), link::none);
    EXPECT_EQ(mine.removals.queued.load(), mine.removals.drained.load());
    EXPECT_EQ(mine.removals.records.first.load(), link::none);
    EXPECT_EQ(mine.guards(), 1U); // a guard is no object
}

// What a thread writes often shares no cache line with another shard's, and the consumer's ends of a shard's
// queues share none with the producer's.
static_assert(alignof(shard<default_policy>) >= cache_line);
static_assert(alignof(shard<support::tiny_policy<1>>) >= cache_line);
static_assert(sizeof(chunk_chain<default_policy>) >= 2 * cache_line);
static_assert(std::is_trivially_destructible_v<shard<default_policy>>, "shards live in a virtual_array");

} // namespace
} // namespace handlepool::test
