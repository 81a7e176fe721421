#include <handlepool/detail/lane.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <support/tiny_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <latch>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace handlepool::test {

using namespace detail;

namespace {

/// Lets a test say which thread it is.
struct chosen_thread : default_policy {
    inline static thread_local std::uint32_t chosen = 0;
    static std::uint32_t thread_index(std::uint64_t) noexcept { return chosen; }
};

class lane_table_test : public testing::Test {
protected:
    lane<chosen_thread>* as_thread(std::uint32_t index) {
        chosen_thread::chosen = index;
        return lanes.mine();
    }
    lane<chosen_thread>& lane_of(std::uint32_t index) {
        auto* const found = as_thread(index);
        if (found == nullptr) {
            throw std::out_of_range("the thread has no lane");
        }
        return *found;
    }

    lane_table<chosen_thread> lanes{"lanes", 8};
};

TEST_F(lane_table_test, a_thread_always_gets_its_own_lane) {
    auto* const first = as_thread(0);
    auto* const second = as_thread(1);
    EXPECT_NE(first, second);
    EXPECT_EQ(as_thread(0), first);
    EXPECT_EQ(&lanes[1], second);
}

TEST_F(lane_table_test, counts_the_lanes_up_to_the_last_that_was_used) {
    EXPECT_EQ(lanes.count(), 0U);
    as_thread(2);
    EXPECT_EQ(lanes.count(), 3U);
    as_thread(0);
    EXPECT_EQ(lanes.count(), 3U);
    as_thread(7);
    EXPECT_EQ(lanes.count(), 8U);
}

TEST_F(lane_table_test, a_thread_past_the_table_gets_no_lane_and_is_not_counted) {
    EXPECT_EQ(lanes.size(), 8U);
    EXPECT_EQ(as_thread(8), nullptr);
    EXPECT_EQ(as_thread(thread_index_limit), nullptr);
    EXPECT_EQ(lanes.count(), 0U);
}

TEST_F(lane_table_test, sums_over_the_lanes_that_were_used) {
    const auto created = [](const lane<chosen_thread>& one) { return one.created.load(); };
    EXPECT_EQ(lanes.sum(created), 0U);
    add(lane_of(1).created, 5);
    add(lane_of(3).created, 20);
    add(lane_of(3).created, 300);
    EXPECT_EQ(lanes.sum(created), 325U);
}

TEST_F(lane_table_test, a_new_lane_holds_nothing) {
    const auto& mine = lane_of(3);
    EXPECT_EQ(mine.pins.load(), 0U);
    EXPECT_EQ(mine.held.load(), 0U);
    EXPECT_EQ(mine.created.load(), 0U);
    EXPECT_EQ(mine.newborns.positions.first.load(), link::none);
}

TEST_F(lane_table_test, reset_drops_slots_and_queues_but_keeps_the_totals) {
    auto& mine = lane_of(0);
    mine.held.store(5);
    mine.claim_end = 7;
    mine.newborns.vacant = link_to(3);
    mine.newborns.vacated.store(5);
    mine.created.store(10);
    mine.erased.store(4);
    mine.newborns.positions.put = 3;
    mine.newborns.positions.put_end = 4;
    mine.newborns.positions.first.store(link_to(0));
    mine.removals.queued.store(9);
    mine.removals.drained.store(6);
    mine.removals.records.first.store(link_to(0));
    mine.pins.store(1);
    mine.reset();
    EXPECT_EQ(mine.held.load(), 0U);
    EXPECT_EQ(mine.claim_end, 0U);
    EXPECT_EQ(mine.newborns.vacant, link::none);
    EXPECT_EQ(mine.newborns.vacated_seen.load(), 5U);
    EXPECT_EQ(mine.created.load(), 10U);
    EXPECT_EQ(mine.erased.load(), 10U); // none of its objects lives
    EXPECT_EQ(mine.newborns.positions.put, mine.newborns.positions.put_end);
    EXPECT_EQ(mine.newborns.positions.first.load(), link::none);
    EXPECT_EQ(mine.removals.queued.load(), mine.removals.drained.load());
    EXPECT_EQ(mine.removals.records.first.load(), link::none);
    EXPECT_EQ(mine.pins.load(), 1U); // a guard is no object
}

/// Lets a test say by which module's code it calls: each has a numbering of its own, and this thread's number
/// is the same in both.
struct chosen_module : default_policy {
    inline static std::uint64_t chosen = 1;
    static std::uint64_t numbering() noexcept { return chosen; }
    static std::uint32_t thread_index(std::uint64_t numbering) noexcept {
        return numbering == chosen ? 0 : foreign_thread_index;
    }
};

TEST(lane_modules_test, code_under_another_numbering_of_threads_gets_no_lane) {
    chosen_module::chosen = 1;
    lane_table<chosen_module> lanes("lanes", 8);
    auto* const mine = lanes.mine();
    EXPECT_NE(mine, nullptr);
    EXPECT_TRUE(lanes.is_of_this_module());

    chosen_module::chosen = 2;
    EXPECT_EQ(lanes.mine(), nullptr);
    EXPECT_EQ(lanes.thread_index(), foreign_thread_index);
    EXPECT_FALSE(lanes.is_of_this_module());
    EXPECT_EQ(lanes.count(), 1U);

    chosen_module::chosen = 1;
    EXPECT_EQ(lanes.mine(), mine);
}

TEST(lane_threads_test, threads_that_live_together_get_different_lanes) {
    constexpr int threads = 8;
    lane_table<default_policy> lanes("lanes", 1000);
    std::vector<lane<default_policy>*> found(threads);
    std::latch all_have_one(threads);
    {
        std::vector<std::jthread> running;
        for (int i = 0; i != threads; ++i) {
            running.emplace_back([&, i] {
                found[static_cast<std::size_t>(i)] = lanes.mine();
                add(lanes.mine()->created, 1);
                all_have_one.arrive_and_wait();
            });
        }
    }
    EXPECT_EQ(std::set(found.begin(), found.end()).size(), std::size_t{threads});
    EXPECT_GE(lanes.count(), std::size_t{threads});
    EXPECT_EQ(lanes.sum([](const auto& one) { return one.created.load(); }), std::uint64_t{threads});
}

// What a thread writes often shares no cache line with another lane's, and the consumer's ends of a lane's
// queues share none with the producer's.
static_assert(alignof(lane<default_policy>) >= cache_line && sizeof(lane<default_policy>) % cache_line == 0);
static_assert(alignof(lane<support::tiny_policy<1>>) >= cache_line);
static_assert(sizeof(chunk_chain<default_policy>) >= 2 * cache_line);
static_assert(std::is_trivially_destructible_v<lane<default_policy>>, "lanes live in a virtual_array");

} // namespace
} // namespace handlepool::test
