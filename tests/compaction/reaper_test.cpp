// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/scoped_hook.hpp>

#include <gtest/gtest.h>
#include <tests/support/compaction_setups.hpp>
#include <tests/support/reaper_rig.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;

template <class Setup>
class reaper_test : public reaper_rig<Setup> {};

TYPED_TEST_SUITE(reaper_test, compaction_setups);

TYPED_TEST(reaper_test, without_records_nothing_happens) {
    this->in_dense_store(3);
    const reaped done = this->reap();
    EXPECT_EQ(done.removed + done.newborn + done.retired, 0U);
    EXPECT_EQ(this->holes(), (typename TestFixture::positions{}));
}

TYPED_TEST(reaper_test, removed_objects_leave_holes_in_the_order_of_their_records) {
    const auto handles = this->in_dense_store(5);
    for (const std::size_t i : {3U, 0U, 4U}) {
        this->erase(handles[i]);
    }
    EXPECT_EQ(this->reap().removed, 3U);
    EXPECT_EQ(this->holes(), (typename TestFixture::positions{3, 0, 4}));
    EXPECT_EQ(this->parts.people.alive(), 2);
    EXPECT_EQ(this->parts.objects.owner(dense_position{3}), slot_index::none);
    EXPECT_NE(this->parts.objects.owner(dense_position{1}), slot_index::none);
    this->reap();
    EXPECT_EQ(this->holes(), (typename TestFixture::positions{})) << "they are those of one frame";
}

TYPED_TEST(reaper_test, newborns_leave_no_holes) {
    const auto young = this->parts.emplace(7);
    this->alive.push_back(young);
    this->erase(young);
    const reaped done = this->reap();
    EXPECT_EQ(done.removed, 1U);
    EXPECT_EQ(done.newborn, 1U);
    EXPECT_EQ(this->holes(), (typename TestFixture::positions{}));
}

TYPED_TEST(reaper_test, slots_are_freed_and_go_out_again_once_published) {
    const auto handles = this->in_dense_store(4);
    this->erase(handles[2]);
    this->reap();
    EXPECT_EQ(this->parts.allocator.list().waiting(), 0U);
    this->parts.allocator.publish();
    EXPECT_EQ(this->parts.allocator.list().waiting(), 1U);
}

TYPED_TEST(reaper_test, hooks_see_the_object_before_it_is_destroyed_and_its_handle_is_stale) {
    const auto handles = this->in_dense_store(3);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
    const auto see = [&](auto handle, counted* object) {
        EXPECT_FALSE(this->parts.table.is_alive(handle));
        seen.emplace_back(handle, object->value());
    };
    const scoped_hook hook = this->work.hooks().add(see, hook_order::early);
    this->erase(handles[2]);
    this->erase(handles[1]);
    this->reap();
    EXPECT_EQ(seen, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{handles[2], 2}, {handles[1], 1}}));
}

TYPED_TEST(reaper_test, births_and_deaths_are_remembered) {
    const auto handles = this->in_dense_store(1);
    const slot_index slot = this->parts.table.slot_of(handles[0]);
    this->reap();
    this->erase(handles[0]);
    this->reap(); // frame 1
    EXPECT_EQ(this->history.frames_since_death(slot, default_layout::tag_of(handles[0]), 5), 4U);
}

TYPED_TEST(reaper_test, gives_the_memory_of_its_lists_back) {
    const auto handles = this->in_dense_store(5);
    this->erase(handles[0]);
    this->reap();
    EXPECT_GT(this->work.memory().resident, 0U);
    this->work.shrink();
    EXPECT_EQ(this->work.memory().resident, 0U);
}

} // namespace
} // namespace handlepool::test
