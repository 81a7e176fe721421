// SPDX-License-Identifier: MIT
#include <handlepool/detail/compaction/sweep.hpp>
#include <handlepool/detail/queues/budget.hpp>

#include <gtest/gtest.h>
#include <tests/support/compaction_setups.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/reaper_rig.hpp>

#include <cstddef>

namespace handlepool::test {

using namespace detail;

namespace {

/// A reaper's rig, and a sweep.
template <class Setup>
class sweep_test : public reaper_rig<Setup> {
    using sweep_type = detail::sweep<counted, typename reaper_rig<Setup>::rig_type::config>;

protected:
    /// A whole sweep, or as much of one as finds `most` objects.
    reaped sweep(std::size_t most = unlimited) {
        reaped done;
        sweeping.demand();
        EXPECT_TRUE(sweeping.begin(most));
        sweeping.go_on(
            unlimited, most, [](auto&) {},
            [&] {
                const reaped some = this->reap_listed();
                done += some;
                return some.removed;
            });
        return done;
    }

    typename sweep_type::extractions_type extractions;
    sweep_type sweeping{this->parts, this->work, extractions};
};

TYPED_TEST_SUITE(sweep_test, compaction_setups);

TYPED_TEST(sweep_test, finds_what_has_no_record_wherever_it_is) {
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

TYPED_TEST(sweep_test, goes_on_behind_the_last_slot_it_has_looked_at) {
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

TYPED_TEST(sweep_test, a_record_that_comes_after_the_sweep_destroys_nothing) {
    const auto handles = this->in_dense_store(3);
    this->erase(handles[1], false);
    this->reap();
    EXPECT_EQ(this->sweep().removed, 1U);
    this->parts.record(handles[1]);
    EXPECT_EQ(this->reap().removed, 0U);
    EXPECT_EQ(this->parts.people.alive(), 2);
}

} // namespace
} // namespace handlepool::test
