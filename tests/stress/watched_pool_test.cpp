// The checks of the harness can fail: each kind of wrong answer is provoked, and must be counted and put into
// words.

#include "checked_pool.hpp"
#include "tally.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace handlepool::stress {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct checked_pool_test : testing::Test {
    checked_pool pool{{.name = "checked", .capacity = 16}};
    tally mine;
};

TEST_F(checked_pool_test, right_answers_are_no_violation) {
    const auto handle = pool.create(7, mine);
    pool.look_up(handle, 7, mine);
    pool.erase(handle, 7, mine);
    pool.try_stale(handle, 7, mine);
    pool.compact();
    pool.try_stale(handle, 7, mine);
    pool.check_all(0, mine);
    EXPECT_EQ(mine.created, 1U);
    EXPECT_EQ(mine.erased, 1U);
    EXPECT_EQ(mine.live_lookups, 2U) << "one of them by erase";
    EXPECT_EQ(mine.stale_lookups, 3U) << "one of them by erase";
    EXPECT_EQ(mine.operations, 1U + 1 + 2 + 3);
    EXPECT_EQ(mine.violations, 0U);
    EXPECT_THAT(mine.messages, IsEmpty());
}

TEST_F(checked_pool_test, another_object_is_a_content_mismatch) {
    const auto handle = pool.create(7, mine);
    pool.look_up(handle, 8, mine);
    EXPECT_EQ(mine.content_mismatches, 1U);
    EXPECT_EQ(mine.violations, 1U);
    EXPECT_THAT(mine.messages, ElementsAre(AllOf(HasSubstr("of object 8"), HasSubstr("found object 7"))));
}

TEST_F(checked_pool_test, a_living_object_that_is_not_found_is_a_violation) {
    const auto handle = pool.create(7, mine);
    pool.get().erase(handle);
    pool.look_up(handle, 7, mine);
    EXPECT_EQ(mine.violations, 1U);
    EXPECT_EQ(mine.content_mismatches, 0U);
    EXPECT_THAT(mine.messages, ElementsAre(HasSubstr("living object 7 was not found by its handle")));
}

TEST_F(checked_pool_test, an_erase_that_is_refused_is_a_violation) {
    const auto handle = pool.create(7, mine);
    pool.get().erase(handle);
    pool.erase(handle, 7, mine);
    EXPECT_EQ(mine.violations, 2U) << "not found, not erased";
    EXPECT_EQ(mine.erased, 0U);
    EXPECT_EQ(mine.stale_lookups, 0U);
    EXPECT_THAT(mine.messages,
                ElementsAre(HasSubstr("was not found"), HasSubstr("erase of living object 7")));
}

TEST_F(checked_pool_test, a_stale_handle_that_is_accepted_is_a_violation) {
    const auto handle = pool.create(7, mine);
    pool.try_stale(handle, 7, mine); // it is alive: to the check a wrong answer
    EXPECT_EQ(mine.stale_lookups, 1U);
    EXPECT_EQ(mine.stale_accepted, 1U);
    EXPECT_EQ(mine.violations, 1U);
    EXPECT_THAT(mine.messages, ElementsAre(AllOf(HasSubstr("stale handle"), HasSubstr("erased object 7"))));
}

TEST_F(checked_pool_test, counts_that_disagree_are_violations) {
    pool.create(7, mine);
    pool.check_all(1, mine);
    EXPECT_EQ(mine.violations, 0U);
    pool.check_all(2, mine);
    EXPECT_THAT(mine.messages, ElementsAre("the number of living objects is 1, expected 2"));
    pool.get().emplace(8U);
    pool.check_all(2, mine);
    EXPECT_THAT(mine.messages, ElementsAre(HasSubstr("living"), "the number created is 2, expected 1"));
    mine.created = 2;
    mine.erased = 1;
    pool.check_all(2, mine);
    EXPECT_EQ(mine.violations, 3U);
    EXPECT_EQ(mine.messages.back(), "the number destroyed is 0, expected 1");
}

TEST_F(checked_pool_test, an_object_with_another_content_is_torn) {
    const auto handle = pool.create(7, mine);
    pool.compact();
    // Half of another object, as a move that lost a race would leave it.
    payload& object = *pool.get().find(handle);
    const payload other(8);
    std::memcpy(reinterpret_cast<std::byte*>(&object) + sizeof(payload) / 2,
                reinterpret_cast<const std::byte*>(&other) + sizeof(payload) / 2, sizeof(payload) / 2);
    pool.look_up(handle, 7, mine);
    EXPECT_EQ(mine.content_mismatches, 1U);
    pool.check_all(1, mine);
    EXPECT_EQ(mine.content_mismatches, 2U);
    EXPECT_EQ(mine.violations, 2U);
    EXPECT_THAT(mine.messages, ElementsAre(HasSubstr("torn one"), HasSubstr("position 0, handle")));
}

TEST_F(checked_pool_test, compactions_are_noted) {
    pool.create(1, mine);
    pool.create(2, mine);
    pool.compact();
    pool.get().clear();
    pool.compact();
    EXPECT_EQ(pool.alive_peak(), 2U);
    EXPECT_EQ(pool.compaction_times().size(), 2U);
    pool.check_all(0, mine);
    EXPECT_EQ(pool.compaction_times().size(), 2U) << "those of frames only";
}

TEST(payload_test, is_recognized_by_its_id_alone) {
    for (std::uint64_t id : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
        EXPECT_TRUE(payload(id).is(id));
        EXPECT_FALSE(payload(id).is(id + 1));
        EXPECT_EQ(payload(id).id(), id);
    }
}

TEST(tally_test, sums_add_up_and_messages_are_bounded) {
    tally one{.operations = 1,
              .created = 2,
              .erased = 3,
              .live_lookups = 4,
              .stale_lookups = 5,
              .stale_accepted = 6,
              .content_mismatches = 7,
              .violations = 8};
    one.messages = {"first"};
    tally sum = one;
    sum += one;
    EXPECT_EQ(sum.operations, 2U);
    EXPECT_EQ(sum.created, 4U);
    EXPECT_EQ(sum.erased, 6U);
    EXPECT_EQ(sum.live_lookups, 8U);
    EXPECT_EQ(sum.stale_lookups, 10U);
    EXPECT_EQ(sum.stale_accepted, 12U);
    EXPECT_EQ(sum.content_mismatches, 14U);
    EXPECT_EQ(sum.violations, 16U);
    EXPECT_THAT(sum.messages, ElementsAre("first", "first"));
    for (int i = 0; i < 100; ++i) {
        sum.violate("again");
    }
    EXPECT_EQ(sum.violations, 116U);
    EXPECT_EQ(sum.messages.size(), 20U);
    sum += one;
    EXPECT_EQ(sum.messages.size(), 20U);
}

} // namespace
} // namespace handlepool::stress
