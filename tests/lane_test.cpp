#include <handlepool/detail/lane.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <support/tiny_policy.hpp>

#include <type_traits>

namespace handlepool::test {

using namespace detail;

namespace {

TEST(lane_test, a_new_lane_holds_nothing_and_knows_its_index) {
    lane_table<default_policy> lanes("lanes", 1000);
    const auto& mine = lanes.mine_or_throw("a test");
    EXPECT_EQ(&lanes[mine.newborns.lane], &mine);
    EXPECT_EQ(mine.guards(), 0U);
    EXPECT_EQ(mine.held.load(), 0U);
    EXPECT_EQ(mine.created.load(), 0U);
    EXPECT_EQ(mine.newborns.positions.first.load(), 0U);
}

TEST(lane_test, reset_drops_slots_and_queues_but_keeps_the_totals) {
    lane<default_policy> mine;
    mine.held.store(5);
    mine.claim_end = 7;
    mine.newborns.vacant = 3;
    mine.newborns.vacated.store(5);
    mine.created.store(10);
    mine.erased.store(4);
    mine.newborns.positions.put = 3;
    mine.newborns.positions.put_end = 4;
    mine.newborns.positions.first.store(1);
    mine.removals.queued.store(9);
    mine.removals.drained.store(6);
    mine.removals.records.first.store(1);
    mine.raise();
    mine.reset();
    EXPECT_EQ(mine.held.load(), 0U);
    EXPECT_EQ(mine.claim_end, 0U);
    EXPECT_EQ(mine.newborns.vacant, 0U);
    EXPECT_EQ(mine.newborns.vacated_seen.load(), 5U);
    EXPECT_EQ(mine.created.load(), 10U);
    EXPECT_EQ(mine.erased.load(), 10U); // none of its objects lives
    EXPECT_EQ(mine.newborns.positions.put, mine.newborns.positions.put_end);
    EXPECT_EQ(mine.newborns.positions.first.load(), 0U);
    EXPECT_EQ(mine.removals.queued.load(), mine.removals.drained.load());
    EXPECT_EQ(mine.removals.records.first.load(), 0U);
    EXPECT_EQ(mine.guards(), 1U); // a guard is no object
}

// What a thread writes often shares no cache line with another lane's, and the consumer's ends of a lane's
// queues share none with the producer's.
static_assert(alignof(lane<default_policy>) >= cache_line && sizeof(lane<default_policy>) % cache_line == 0);
static_assert(alignof(lane<support::tiny_policy<1>>) >= cache_line);
static_assert(sizeof(chunk_chain<default_policy>) >= 2 * cache_line);
static_assert(std::is_trivially_destructible_v<lane<default_policy>>, "lanes live in a virtual_array");

} // namespace
} // namespace handlepool::test
