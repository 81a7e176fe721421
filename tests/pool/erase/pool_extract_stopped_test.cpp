// SPDX-License-Identifier: MIT

// A thread stopped anywhere in take: compactions, sweeps and erases go on, and each object still ends once.

#include <handlepool/pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/stop_at_every_access.hpp>

#include <cstddef>
#include <vector>

namespace handlepool::test {
namespace {

/// A victim in the dense store or in the nursery, among others, in a pool whose erases soon leave no record.
template <bool Newborn>
struct extract_scene {
    using pool_type =
        handlepool::pool<counted, handlepool::with_policy<support::tiny_policy<2, support::step_policy>>>;
    using handle_type = pool_type::handle_type;

    extract_scene() {
        for (std::uint64_t i = 0; i != 12; ++i) {
            others.push_back(pool.emplace(people, i));
        }
        if (!Newborn) {
            victim = pool.emplace(people, 100U);
        }
        pool.compact();
        if (Newborn) {
            victim = pool.emplace(people, 100U);
        }
    }

    void extract() {
        taken = pool.extract(victim, [this](counted&& object) {
            EXPECT_EQ(object.value(), 100U);
            ++delivered;
        });
    }

    /// Erases more than there is room for in the queue of removals, so that the next compaction sweeps.
    void erase_others() {
        for (int i = 0; i != 5; ++i) {
            EXPECT_TRUE(pool.erase(others.back()));
            others.pop_back();
        }
    }
    void expect_ended_once() {
        EXPECT_FALSE(pool.contains(victim));
        pool.compact();
        expect_consistent(pool);
        EXPECT_TRUE(pool.idle());
        EXPECT_EQ(delivered, taken ? 1 : 0);
        EXPECT_EQ(pool.size(), others.size());
        EXPECT_EQ(people.alive(), static_cast<std::int64_t>(others.size())) << "nothing was forgotten";
    }

    census people;
    int delivered = 0;
    bool taken = false;
    bool erased = false;
    std::vector<handle_type> others;
    handle_type victim;
    pool_type pool{
        {.name = "stepped", .capacity = 100, .reuse_delay = 0, .removal_queue_size = 1, .max_threads = 64}};
};

template <class Scene>
class pool_extract_stopped : public testing::Test {};

using scenes = testing::Types<extract_scene<false>, extract_scene<true>>;
TYPED_TEST_SUITE(pool_extract_stopped, scenes);

TYPED_TEST(pool_extract_stopped, in_take_it_holds_up_no_compaction_and_no_sweep) {
    stop_at_every_access<TypeParam>([](TypeParam& at) { at.extract(); },
                                    [](TypeParam& at) {
                                        at.erase_others();
                                        EXPECT_GT(at.pool.compact().swept, 0U);
                                        at.erase_others();
                                        EXPECT_GT(at.pool.compact().swept, 0U);
                                        EXPECT_EQ(at.people.alive(), 2 + 1 - at.delivered)
                                            << "all others were destroyed";
                                    },
                                    [](TypeParam& at) {
                                        EXPECT_TRUE(at.taken);
                                        at.expect_ended_once();
                                    });
}

TYPED_TEST(pool_extract_stopped, in_take_it_loses_to_an_erase_whose_record_is_lost_too) {
    stop_at_every_access<TypeParam>([](TypeParam& at) { at.extract(); },
                                    [](TypeParam& at) {
                                        at.erase_others();
                                        at.erased = at.pool.erase(at.victim);
                                        at.pool.compact();
                                    },
                                    [](TypeParam& at) {
                                        EXPECT_NE(at.taken, at.erased);
                                        at.expect_ended_once();
                                    });
}

TYPED_TEST(pool_extract_stopped, in_a_compaction_it_leaves_what_is_taken_meanwhile_to_the_next) {
    stop_at_every_access<TypeParam>(
        [](TypeParam& at) {
            at.erase_others();
            at.pool.compact();
        },
        [](TypeParam& at) { at.extract(); },
        [](TypeParam& at) {
            EXPECT_TRUE(at.taken);
            at.expect_ended_once();
        });
}

// The thread is stopped over one compaction, ends while the next one goes on, and only then comes the other
// call.
TYPED_TEST(pool_extract_stopped, in_take_it_gets_its_object_before_later_calls_get_theirs) {
    bool is_stopped = true;
    for (std::size_t access = 0; is_stopped; ++access) {
        bool goes_on = true;
        for (std::size_t step = 0; goes_on; ++step) {
            TypeParam at;
            std::vector<int> order;
            support::stepper earlier(
                access, [&] { at.pool.extract(at.victim, [&order](counted&&) { order.push_back(1); }); });
            is_stopped = earlier.stopped();
            at.pool.compact();
            support::stepper compaction(step, [&] { at.pool.compact(); });
            goes_on = compaction.stopped();
            earlier.finish();
            at.pool.extract(at.others.back(), [&order](counted&&) { order.push_back(2); });
            compaction.finish();
            at.pool.compact();
            ASSERT_EQ(order, (std::vector<int>{1, 2})) << "access " << access << ", step " << step;
        }
    }
}

} // namespace
} // namespace handlepool::test
