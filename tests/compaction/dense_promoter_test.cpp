// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/compaction/dense_promoter.hpp>
#include <handlepool/detail/compaction/reaper.hpp>
#include <handlepool/detail/queues/budget.hpp>
#include <handlepool/detail/slots/slot_history.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/compaction_setups.hpp>
#include <tests/support/parts_rig.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::test {

using namespace detail;

namespace {

/// A dense_promoter behind a reaper, each step called by the test.
template <class Setup>
class dense_promoter_test : public testing::Test {
protected:
    using Policy = typename Setup::policy;
    using rig_type = parts_rig<Policy>;
    using value_type = typename rig_type::value_type;
    using numbers = std::vector<std::uint64_t>;

    ~dense_promoter_test() override {
        pack();
        for (std::uint32_t i = 0; i != parts.objects.size(); ++i) {
            parts.objects.at(location{i})->~counted();
        }
    }

    void erase(value_type handle) {
        EXPECT_TRUE(parts.kill(handle));
        EXPECT_TRUE(parts.record(handle));
    }

    struct packed {
        std::size_t born;
        std::size_t moved;
    };
    packed pack() {
        inline_executor executor;
        if constexpr (Setup::one_pass) {
            graves.look();
            graves.reap_queued(0);
            return finish(executor, work.take_newborns({}, 0));
        } else {
            return pack(executor);
        }
    }
    template <class Executor>
    packed pack(Executor& executor) {
        graves.look();
        graves.list_queued();
        graves.reap_listed(executor, 0);
        const std::size_t born = work.collect_newborns(executor, {}, 0);
        work.place_newborns(executor);
        return finish(executor, born);
    }
    template <class Executor>
    packed finish(Executor& executor, std::size_t born) {
        const std::size_t moved = work.fill_holes(executor);
        parts.newborns.recycle([](nursery_position) {});
        parts.removals.recycle();
        parts.allocator.publish();
        parts.expect_consistent();
        return {born, moved};
    }

    rig_type parts{5000, 5000};
    slot_history<Policy> history{"history", 20'000, 100};
    reaper<counted, typename rig_type::config> graves{"reaper", parts, history};
    promotion_log<counted, typename rig_type::config> births{"promoter", history};
    dense_promoter<counted, typename rig_type::config> work{"promoter", parts, graves, births};
};

TYPED_TEST_SUITE(dense_promoter_test, compaction_setups);

TYPED_TEST(dense_promoter_test, newborns_come_after_the_last_object) {
    this->parts.emplace_sequence(3);
    EXPECT_EQ(this->pack().born, 3U);
    this->parts.emplace(7);
    EXPECT_EQ(this->pack().born, 1U);
    EXPECT_EQ(this->parts.values(), (typename TestFixture::numbers{0, 1, 2, 7}));
    EXPECT_EQ(this->pack().born, 0U);
}

TYPED_TEST(dense_promoter_test, newborns_fill_holes_first_in_their_order) {
    const auto handles = this->parts.emplace_sequence(5);
    this->pack();
    this->erase(handles[3]);
    this->erase(handles[1]);
    for (const std::uint64_t value : {10U, 11U, 12U}) {
        this->parts.emplace(value);
    }
    const auto done = this->pack();
    EXPECT_EQ(done.born, 3U);
    EXPECT_EQ(done.moved, 0U);
    EXPECT_EQ(this->parts.values(), (typename TestFixture::numbers{0, 11, 2, 10, 4, 12}));
}

TYPED_TEST(dense_promoter_test, survivors_from_the_end_fill_the_holes_that_are_left) {
    const auto handles = this->parts.emplace_sequence(6);
    this->pack();
    for (const std::size_t i : {0U, 5U, 2U}) {
        this->erase(handles[i]);
    }
    this->parts.emplace(10);
    const auto done = this->pack();
    EXPECT_EQ(done.born, 1U);
    EXPECT_EQ(done.moved, 1U);
    EXPECT_EQ(this->parts.values(), (typename TestFixture::numbers{10, 1, 4, 3}));
}

TYPED_TEST(dense_promoter_test, what_is_not_published_waits_with_all_behind_it) {
    this->parts.emplace(1);
    const auto open = this->parts.construct(2);
    this->parts.emplace(3);
    EXPECT_EQ(this->pack().born, 1U);
    this->parts.publish(open);
    EXPECT_EQ(this->pack().born, 2U);
    EXPECT_EQ(this->parts.values(), (typename TestFixture::numbers{1, 2, 3}));
}

TYPED_TEST(dense_promoter_test, a_newborn_that_was_erased_moves_and_goes_with_the_next_frame) {
    const auto young = this->parts.emplace(1);
    this->parts.emplace(2);
    EXPECT_TRUE(this->parts.kill(young)); // its record comes late
    EXPECT_EQ(this->pack().born, 2U);
    this->parts.record(young);
    this->pack();
    EXPECT_EQ(this->parts.values(), (typename TestFixture::numbers{2}));
}

TYPED_TEST(dense_promoter_test, threads_move_what_one_thread_moves) {
    const auto handles = this->parts.emplace_sequence(4000);
    this->pack();
    for (std::size_t i = 0; i < handles.size(); i += 3) {
        this->erase(handles[i]);
    }
    this->parts.emplace_sequence(500);
    thread_executor threads(4);
    this->pack(threads);
    EXPECT_EQ(this->parts.objects.size(), 4000U - 1334 + 500);
}

TYPED_TEST(dense_promoter_test, gives_the_memory_of_its_lists_back) {
    const auto handles = this->parts.emplace_sequence(10);
    this->pack();
    this->erase(handles.front());
    this->pack(); // an object from the end fills the hole
    EXPECT_GT(this->work.memory().resident, 0U);
    this->work.shrink();
    EXPECT_EQ(this->work.memory().resident, 0U);
}

} // namespace
} // namespace handlepool::test
