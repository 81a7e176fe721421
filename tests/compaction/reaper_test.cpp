// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/compaction/dense_promoter.hpp>
#include <handlepool/detail/compaction/reaper.hpp>
#include <handlepool/detail/compaction/sweep.hpp>
#include <handlepool/detail/queues/budget.hpp>
#include <handlepool/detail/slots/slot_history.hpp>
#include <handlepool/executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/compaction_setups.hpp>
#include <tests/support/parts_rig.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;

/// Objects of the dense store and of the nursery, and a reaper.
template <class Setup>
class reaper_test : public testing::Test {
protected:
    using Policy = typename Setup::policy;
    using rig_type = parts_rig<Policy>;
    using value_type = typename rig_type::value_type;
    using positions = std::vector<std::uint32_t>;
    using sweep_type = detail::sweep<counted, typename rig_type::config>;

    ~reaper_test() override {
        for (const value_type handle : alive) {
            parts.destroy(handle);
        }
    }

    std::vector<value_type> in_dense_store(std::size_t count) {
        alive = parts.emplace_sequence(count);
        packing.take_newborns(work, {}, 0);
        return alive;
    }

    void erase(value_type handle, bool recorded = true) {
        EXPECT_TRUE(parts.kill(handle));
        std::erase(alive, handle);
        if (recorded) {
            EXPECT_TRUE(parts.record(handle));
        }
    }

    reaped reap() {
        work.look();
        if constexpr (Setup::one_pass) {
            return work.reap_queued(frame++);
        } else {
            work.list_queued();
            return reap_listed();
        }
    }
    reaped reap_listed() {
        if constexpr (Setup::one_pass) {
            return work.reap_listed(frame++);
        } else {
            inline_executor executor;
            return work.reap_listed(executor, frame++);
        }
    }

    /// A whole sweep, or as much of one as finds `most` objects.
    reaped sweep(std::size_t most = unlimited) {
        reaped done;
        sweeping.demand();
        EXPECT_TRUE(sweeping.begin(most));
        sweeping.go_on(
            unlimited, most, [](auto&) {},
            [&] {
                const reaped some = reap_listed();
                done += some;
                return some.removed;
            });
        return done;
    }

    positions holes() const {
        positions all;
        for (std::size_t i = 0; i != work.hole_count(); ++i) {
            all.push_back(raw(work.hole(i)));
        }
        return all;
    }

    rig_type parts{20};
    slot_history<Policy> history{"history", 100, 100};
    reaper<counted, typename rig_type::config> work{"reaper", parts, history};
    typename sweep_type::extractions_type extractions;
    sweep_type sweeping{parts, work, extractions};
    promotion_log<counted, typename rig_type::config> births{"promoter"};
    dense_promoter<counted, typename rig_type::config> packing{"promoter", parts, history, births};
    std::vector<value_type> alive;
    std::uint64_t frame = 0;
};

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

TYPED_TEST(reaper_test, a_sweep_finds_what_has_no_record_wherever_it_is) {
    const auto handles = this->in_dense_store(3);
    const auto young = this->parts.emplace(7);
    this->alive.push_back(young);
    this->erase(handles[1], false);
    this->erase(young, false);
    EXPECT_EQ(this->reap().removed, 0U);
    const reaped swept = this->sweep();
    EXPECT_EQ(swept.removed, 2U);
    EXPECT_EQ(swept.newborn, 1U);
    EXPECT_EQ(this->holes(), (typename TestFixture::positions{1}));
    EXPECT_EQ(this->sweep().removed, 0U);
}

TYPED_TEST(reaper_test, a_sweep_goes_on_behind_the_last_slot_it_has_looked_at) {
    const auto handles = this->in_dense_store(5);
    for (const int i : {0, 1, 3, 4}) {
        this->erase(handles[static_cast<std::size_t>(i)], false);
    }
    this->reap();
    EXPECT_EQ(this->sweep(1).removed, 1U);
    EXPECT_EQ(this->sweep(2).removed, 2U);
    EXPECT_EQ(this->sweep(1).removed, 1U);
    EXPECT_EQ(this->parts.people.alive(), 1);
}

TYPED_TEST(reaper_test, a_record_that_comes_after_the_sweep_destroys_nothing) {
    const auto handles = this->in_dense_store(3);
    this->erase(handles[1], false);
    this->reap();
    EXPECT_EQ(this->sweep().removed, 1U);
    this->parts.record(handles[1]);
    EXPECT_EQ(this->reap().removed, 0U);
    EXPECT_EQ(this->parts.people.alive(), 2);
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
