// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/parts/shard.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace handlepool::test {
namespace {

using namespace detail;

// Writes as many as are wanted, up to `most`.
auto numbers_from_100(std::size_t most) {
    return [most](std::uint32_t* out, std::size_t wanted) {
        const std::size_t count = wanted < most ? wanted : most;
        for (std::size_t i = 0; i != count; ++i) {
            out[i] = 100 + static_cast<std::uint32_t>(i);
        }
        return count;
    };
}

slot_index take(slot_claim<default_policy>& claim) {
    return claim.take([](slot_index) {});
}

TEST(slot_claim_test, gives_what_was_claimed_in_order) {
    slot_claim<default_policy> claim;
    EXPECT_EQ(claim.left(), 0U);
    EXPECT_EQ(claim.refill(3, numbers_from_100(64)), slot_index{100});
    EXPECT_EQ(claim.left(), 2U);
    EXPECT_EQ(take(claim), slot_index{101});
    EXPECT_EQ(take(claim), slot_index{102});
    EXPECT_EQ(take(claim), slot_index::none);
    EXPECT_EQ(claim.left(), 0U);
    EXPECT_EQ(claim.refill(1, numbers_from_100(64)), slot_index{100});
    EXPECT_EQ(claim.left(), 0U);
}

TEST(slot_claim_test, gets_less_than_it_wanted_or_nothing) {
    slot_claim<default_policy> claim;
    EXPECT_EQ(claim.refill(64, numbers_from_100(2)), slot_index{100});
    EXPECT_EQ(claim.left(), 1U);
    EXPECT_EQ(take(claim), slot_index{101});
    EXPECT_EQ(claim.refill(64, numbers_from_100(0)), slot_index::none);
    EXPECT_EQ(claim.left(), 0U);
}

TEST(slot_claim_test, while_it_claims_all_but_the_one_for_now_are_left) {
    slot_claim<default_policy> claim;
    claim.refill(64, [&](std::uint32_t*, std::size_t wanted) {
        EXPECT_EQ(claim.left(), wanted - 1);
        return std::size_t{0};
    });
    claim.refill(1, [&](std::uint32_t*, std::size_t) {
        EXPECT_EQ(claim.left(), 0U);
        return std::size_t{0};
    });
}

TEST(slot_claim_test, looks_some_slots_ahead_and_never_past_its_memory) {
    slot_claim<default_policy> claim;
    claim.refill(default_policy::claim_size, numbers_from_100(default_policy::claim_size));
    for (std::uint32_t slot = 109; slot != 164; ++slot) {
        slot_index later = slot_index::none;
        claim.take([&](slot_index soon) { later = soon; });
        EXPECT_EQ(later, slot_index{slot});
    }
    while (claim.left() != 0) {
        take(claim);
    }
}

TEST(slot_claim_test, forgets) {
    slot_claim<default_policy> claim;
    claim.refill(7, numbers_from_100(64));
    claim.reset();
    EXPECT_EQ(claim.left(), 0U);
}

TEST(link_test, leads_to_any_number_or_nowhere) {
    EXPECT_EQ(link{}, link::none);
    for (const std::uint32_t number : {0U, 1U, 12345U, 0xffff'fffeU}) {
        EXPECT_NE(link_to(number), link::none);
        EXPECT_EQ(target_of(link_to(number)), number);
    }
}

} // namespace
} // namespace handlepool::test
