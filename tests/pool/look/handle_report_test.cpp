// SPDX-License-Identifier: MIT
#include <handlepool/detail/pool/handle_report.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace handlepool::test {
namespace {

using namespace detail;
using testing::AllOf;
using testing::HasSubstr;

/// A handle of an object that lives, but for what a test changes.
handle_report living() {
    return {.index = 1021,
            .generation = 7,
            .pool_id = 3,
            .own_pool_id = 3,
            .first_generation = 2,
            .slots_in_service = 2000,
            .slot_generation = 7};
}

TEST(handle_report_test, every_reason_comes_with_pool_and_parts_of_the_handle) {
    handle_report handle = living();
    handle.slot_generation = 8;
    EXPECT_EQ(describe_refusal("ships", handle),
              "pool 'ships': handle #1021 generation 7 pool 3 is stale: erased");
}

TEST(handle_report_test, null) {
    EXPECT_EQ(describe_refusal("ships", {.null = true}), "pool 'ships': the null handle names no object");
}

TEST(handle_report_test, a_handle_of_another_pool) {
    handle_report handle = living();
    handle.own_pool_id = 4;
    EXPECT_THAT(describe_refusal("ships", handle), AllOf(HasSubstr("another pool"), HasSubstr("pool id 4")));
}

TEST(handle_report_test, a_handle_from_before_a_reset) {
    handle_report handle = living();
    for (const unsigned first : {8U, 100U}) {
        handle.first_generation = first;
        EXPECT_THAT(describe_refusal("ships", handle), HasSubstr("reset, or lived in a former pool"));
    }
    handle.first_generation = 6; // where the generations of this pool begin
    EXPECT_THAT(describe_refusal("ships", handle), testing::Not(HasSubstr("reset")));
}

TEST(handle_report_test, a_slot_that_was_never_used) {
    handle_report handle = living();
    handle.index = 2000;
    EXPECT_THAT(describe_refusal("ships", handle),
                AllOf(HasSubstr("no such slot was ever used"), HasSubstr("2000")));
    handle.index = 1999;
    EXPECT_THAT(describe_refusal("ships", handle), testing::Not(HasSubstr("no such slot")));
}

TEST(handle_report_test, a_generation_that_no_object_has) {
    handle_report handle = living();
    for (const unsigned forged : {0U, 2U, 6U, 8U}) { // whatever the pool's own begin with
        handle.generation = forged;
        EXPECT_THAT(describe_refusal("ships", handle), HasSubstr("an object's is odd"));
        EXPECT_THAT(describe_handle("ships", false, handle), HasSubstr("an object's is odd"));
    }
}

TEST(handle_report_test, a_generation_that_is_still_to_come) {
    handle_report handle = living();
    handle.generation = 9;
    EXPECT_THAT(describe_refusal("ships", handle), AllOf(HasSubstr("yet"), HasSubstr("is at 7")));
}

TEST(handle_report_test, a_slot_that_was_used_again) {
    handle_report handle = living();
    handle.slot_generation = 11;
    EXPECT_THAT(describe_refusal("ships", handle),
                AllOf(HasSubstr("erased, and"), HasSubstr("used again since, or revoked"),
                      HasSubstr("generation 11")));
}

TEST(handle_report_test, a_handle_that_is_reserved_or_was) {
    handle_report handle = living();
    handle.slot_generation = 6;
    handle.reserved = true;
    EXPECT_EQ(describe_refusal("ships", handle),
              "pool 'ships': handle #1021 generation 7 pool 3 is reserved and has no object yet");
    EXPECT_EQ(describe_handle("ships", false, handle), "ships #1021 generation 7: reserved, no object yet");
    handle.reserved = false;
    handle.cancelled = true;
    handle.slot_generation = 8;
    EXPECT_EQ(describe_refusal("ships", handle),
              "pool 'ships': handle #1021 generation 7 pool 3 is stale: reserved and cancelled");
    EXPECT_EQ(describe_handle("ships", false, handle), "ships #1021 generation 7: reserved and cancelled");
}

TEST(handle_report_test, a_handle_that_can_not_be_fulfilled) {
    handle_report handle = living();
    const std::string whose = "pool 'ships': handle #1021 generation 7 pool 3 is not reserved: ";
    EXPECT_EQ(describe_unreserved("ships", true, handle), whose + "it has its object");
    handle.slot_generation = 8;
    EXPECT_EQ(describe_unreserved("ships", false, handle), whose + "erased");
    handle.cancelled = true;
    EXPECT_EQ(describe_unreserved("ships", false, handle), whose + "reserved and cancelled");
    handle.cancelled = false;
    handle.reserved = true;
    EXPECT_EQ(describe_unreserved("ships", false, handle), whose + "another thread is making its object");
    EXPECT_EQ(describe_unreserved("ships", false, {.null = true}),
              "pool 'ships': the null handle is never reserved");
}

// ---- For people

TEST(describe_handle_test, alive) {
    EXPECT_EQ(describe_handle("ships", true, living()), "ships #1021 generation 7: alive");
}

TEST(describe_handle_test, alive_and_since_when) {
    handle_report handle = living();
    const auto since = [&](std::uint32_t frames) {
        handle.frames_since_birth = frames;
        return describe_handle("ships", true, handle);
    };
    EXPECT_EQ(since(0), "ships #1021 generation 7: alive, created in this frame");
    EXPECT_EQ(since(1), "ships #1021 generation 7: alive, created 1 frame ago");
    EXPECT_EQ(since(2), "ships #1021 generation 7: alive, created 2 frames ago");
    EXPECT_EQ(since(0xffff'ffff), "ships #1021 generation 7: alive, created 4294967295 frames ago");
}

TEST(describe_handle_test, erased) {
    handle_report handle = living();
    handle.slot_generation = 8;
    handle.frames_since_birth = 5; // tells nothing of its end
    EXPECT_EQ(describe_handle("ships", false, handle), "ships #1021 generation 7: erased");
}

TEST(describe_handle_test, erased_and_since_when) {
    handle_report handle = living();
    handle.slot_generation = 8;
    const auto since = [&](std::uint32_t frames) {
        handle.frames_since_death = frames;
        return describe_handle("ships", false, handle);
    };
    EXPECT_EQ(since(0), "ships #1021 generation 7: erased in this frame");
    EXPECT_EQ(since(1), "ships #1021 generation 7: erased 1 frame ago");
    EXPECT_EQ(since(3), "ships #1021 generation 7: erased 3 frames ago");
    EXPECT_EQ(describe_refusal("ships", handle),
              "pool 'ships': handle #1021 generation 7 pool 3 is stale: erased 3 frames ago");
}

TEST(describe_handle_test, a_slot_that_was_used_again) {
    handle_report handle = living();
    handle.slot_generation = 11;
    handle.frames_since_death = 0; // what is not known counts as this frame, and is not said
    EXPECT_EQ(describe_handle("ships", false, handle), "ships #1021 generation 7: erased, and the slot has "
                                                       "been used again since, or revoked; the slot is at "
                                                       "generation 11");
    handle.lives_kept = 1;
    EXPECT_EQ(describe_handle("ships", false, handle), "ships #1021 generation 7: erased, and the slot has "
                                                       "been used again since, or revoked; the slot is at "
                                                       "generation 11, and its last life is recorded");
    handle.lives_kept = 4;
    EXPECT_EQ(describe_handle("ships", false, handle), "ships #1021 generation 7: erased, and the slot has "
                                                       "been used again since, or revoked; the slot is at "
                                                       "generation 11, and its last 4 lives are recorded");
}

TEST(describe_handle_test, the_other_reasons) {
    EXPECT_EQ(describe_handle("ships", false, {.null = true}), "ships null");
    handle_report handle = living();
    handle.own_pool_id = 4;
    EXPECT_EQ(describe_handle("ships", false, handle),
              "ships #1021 generation 7: it belongs to another pool; this one has pool id 4");
    handle = living();
    handle.first_generation = 8;
    EXPECT_THAT(describe_handle("ships", false, handle), HasSubstr("generation 7: its object was forgotten"));
    handle = living();
    handle.generation = 9;
    EXPECT_EQ(describe_handle("ships", false, handle),
              "ships #1021 generation 9: no object had this generation yet; the slot is at 7");
}

} // namespace
} // namespace handlepool::test
