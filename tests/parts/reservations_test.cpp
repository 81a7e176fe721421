// SPDX-License-Identifier: MIT
#include <handlepool/detail/parts/reservations.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/parts_rig.hpp>

#include <cstdint>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using policy = support::tiny_policy<1>;
using rig = parts_rig<policy>;
using reservations_type = reservations<counted, rig::config>;

/// A few slots, and more positions of the nursery than those.
class reservations_test : public testing::Test {
protected:
    fulfill_outcome fulfill(rig::value_type handle) {
        return handles.fulfill(
            &parts.mine(), handle, [this](void* memory) { ::new (memory) counted(parts.people, 7); },
            caller::unknown);
    }

    rig parts{4};
    reservations_type handles{parts};
};

TEST_F(reservations_test, a_handle_that_finds_no_room_in_the_nursery_stays_reserved) {
    const auto handle = handles.reserve(parts.mine());
    std::vector<nursery_position> taken;
    for (auto position = parts.newborns.take(parts.mine().newborns); position != nursery_position::none;
         position = parts.newborns.take(parts.mine().newborns)) {
        taken.push_back(position);
    }
    EXPECT_FALSE(taken.empty());
    EXPECT_EQ(fulfill(handle), fulfill_outcome::no_room);
    EXPECT_EQ(handles.state(handle), handle_state::reserved);
    EXPECT_EQ(handles.count(), 1U);
    // Nor is there any for an object that is told its handle, which is then lost.
    EXPECT_EQ(handles.create_with(parts.mine(), [](void*, auto) { ADD_FAILURE(); }, caller::unknown), 0U);
    EXPECT_EQ(handles.count(), 1U);
    while (!taken.empty()) {
        parts.newborns.give_back(parts.mine().newborns, taken.back());
        taken.pop_back();
    }
    EXPECT_EQ(fulfill(handle), fulfill_outcome::done);
    EXPECT_EQ(handles.state(handle), handle_state::alive);
    EXPECT_EQ(handles.count(), 0U);
    parts.destroy(handle);
}

TEST_F(reservations_test, a_thread_without_a_shard_is_told_so) {
    const auto handle = handles.reserve(parts.mine());
    EXPECT_EQ(handles.fulfill(
                  nullptr, handle, [](void*) { ADD_FAILURE(); }, caller::unknown),
              fulfill_outcome::no_shard);
    EXPECT_EQ(handles.state(handle), handle_state::reserved);
    EXPECT_TRUE(handles.cancel(nullptr, handle, caller::unknown));
    EXPECT_EQ(handles.count(), 0U);
    EXPECT_EQ(fulfill(handle), fulfill_outcome::not_reserved);
}

TEST_F(reservations_test, the_first_unused_tag_of_a_slot_lies_above_its_reservation) {
    using layout = default_layout;
    using slots_type = slot_table<rig::config>;
    const auto unused = [this](rig::value_type handle) {
        const slot_index slot = slots_type::slot_of(handle);
        return handles.unused_tag(slot, parts.table.tag(slot));
    };
    const auto reserved = handles.reserve(parts.mine());
    EXPECT_EQ(unused(reserved), layout::tag_of(reserved) + 1) << "in a slot that was never used";
    EXPECT_TRUE(handles.cancel(nullptr, reserved, caller::unknown));
    EXPECT_EQ(unused(reserved), layout::tag_of(reserved) + 1) << "a cancelled handle is used up";
    const auto next = handles.reserve(parts.mine());
    ASSERT_EQ(slots_type::slot_of(next), slots_type::slot_of(reserved));
    EXPECT_EQ(unused(next), layout::tag_of(next) + 1);
    EXPECT_EQ(fulfill(next), fulfill_outcome::done);
    EXPECT_EQ(unused(next), layout::tag_of(next)) << "the slot's tag itself, while its object lives";
    parts.destroy(next);
}

template <class Layout>
void expect_reservations_to_differ() {
    using slots_type = slot_table<pool_config<Layout, default_policy>>;
    EXPECT_FALSE(is_place(slots_type::being_fulfilled));
    EXPECT_NE(slots_type::being_fulfilled, slots_type::cancelled);
    const std::uint32_t last = Layout::last_generation;
    for (const std::uint32_t pool_id : {0U, 1U, std::uint32_t{Layout::pool_id_mask}}) {
        for (const std::uint32_t generation : {1U, 3U, last - 2, last}) {
            const auto tag = Layout::make_tag(pool_id, generation);
            const location reserved = slots_type::reservation(tag);
            EXPECT_FALSE(is_place(reserved));
            EXPECT_NE(reserved, slots_type::being_fulfilled);
            EXPECT_NE(reserved, slots_type::cancelled);
            EXPECT_NE(reserved, slots_type::reservation(tag - 2));
        }
    }
}

TEST(reservation_of_a_slot, is_no_other_slot_state_in_any_layout) {
    expect_reservations_to_differ<default_layout>();
    expect_reservations_to_differ<handle_layout<32, 31, 1>>();
    expect_reservations_to_differ<handle_layout<32, 4, 28>>();
    expect_reservations_to_differ<handle_layout<16, 12, 4>>();
    expect_reservations_to_differ<handle_layout<10, 4, 1>>();
}

} // namespace
} // namespace handlepool::test
