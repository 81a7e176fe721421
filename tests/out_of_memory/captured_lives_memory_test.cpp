// SPDX-License-Identifier: MIT

// Objects that can't be copied, which end or are captured while memory is short: one for which there is none
// is destroyed, and a restore that would need it is refused.

#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/capture_ring.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

/// In a recycling pool it is cleared and assigned to.
struct counted_life {
    explicit counted_life(int number) : value(std::make_unique<int>(number)) { ++living; }
    counted_life(counted_life&&) noexcept = default;
    counted_life& operator=(counted_life&&) = delete;
    counted_life& operator=(int number) {
        value = std::make_unique<int>(number);
        ++living;
        return *this;
    }
    ~counted_life() { clear(); }
    void clear() noexcept {
        living -= value == nullptr ? 0 : 1;
        value = nullptr;
    }
    static inline int living = 0;
    std::unique_ptr<int> value;
};

struct lives_by_fours : default_policy {
    static constexpr std::size_t nursery_chunk = 4;
};

template <class Placement>
struct lives {
    using pool_type = pool<counted_life, with_placement<Placement, with_policy<lives_by_fours>>>;
    using handle_type = typename pool_type::handle_type;

    lives() {
        for (int i = 0; i != 10; ++i) {
            handles.push_back(objects.emplace(i));
        }
        ring.capture(1);
        first_addresses = addresses();
        for (std::size_t i = 0; i != 3; ++i) {
            objects.erase(handles[i]);
        }
    }
    std::vector<int> all() const {
        std::vector<int> seen;
        for (const counted_life& each : objects) {
            seen.push_back(*each.value);
        }
        return seen;
    }
    std::vector<const counted_life*> addresses() const {
        std::vector<const counted_life*> found;
        for (const handle_type each : handles) {
            found.push_back(objects.find(each));
        }
        return found;
    }
    /// Two in places that others have had, of which one ends: a recycling pool keeps it.
    void emplace_in_holes() {
        auto alone = objects.exclusive_access();
        const handle_type one = alone.emplace(10);
        alone.emplace(11);
        alone.erase(one);
    }

    pool_type objects{{.name = "lives", .capacity = 100}};
    change_log<pool_type> log{objects, {.frames = 4}};
    capture_ring<pool_type> ring{log, {.frames = 3}};
    std::vector<handle_type> handles;
    std::vector<const counted_life*> first_addresses;
};

template <class Case>
class captured_lives_memory : public testing::Test {
protected:
    using lives_type = lives<typename Case::placement>;

    template <class Round>
    static std::size_t with_each_allocation_failing(Round round) {
        return test::with_each_allocation_failing(Case::kind, round);
    }
};

template <class Placement, shortage Kind>
struct shortage_in {
    using placement = Placement;
    static constexpr shortage kind = Kind;
};
using lives_shortages = testing::Types<shortage_in<dense_placement, shortage::of_one_allocation>,
                                       shortage_in<dense_placement, shortage::from_one_allocation_on>,
                                       shortage_in<stable_placement, shortage::of_one_allocation>,
                                       shortage_in<stable_placement, shortage::from_one_allocation_on>,
                                       shortage_in<recycling_placement, shortage::of_one_allocation>,
                                       shortage_in<recycling_placement, shortage::from_one_allocation_on>>;
TYPED_TEST_SUITE(captured_lives_memory, lives_shortages);

TYPED_TEST(captured_lives_memory, an_object_that_can_not_be_kept_ends_and_is_missed) {
    std::size_t lost_rounds = 0;
    const std::size_t allocations = this->with_each_allocation_failing([&](memory_shortage& short_of) {
        typename TestFixture::lives_type now;
        const std::vector<int> first{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
        short_of.begin();
        now.objects.compact(); // ends three of them
        short_of.end();
        EXPECT_EQ(now.objects.size(), 7U);
        const bool lost = counted_life::living != 10;
        lost_rounds += lost ? 1 : 0;
        now.ring.capture(2);
        const std::vector<int> second = now.all();
        if (lost) {
            EXPECT_THROW(now.ring.restore(1), std::logic_error);
            EXPECT_EQ(now.ring.newest(), 2U);
            EXPECT_EQ(now.all(), second);
        } else {
            now.ring.restore(1);
            EXPECT_EQ(now.all(), first);
            EXPECT_EQ(now.addresses(), now.first_addresses);
        }
    });
    EXPECT_GT(allocations, 1U);
    EXPECT_GT(lost_rounds, 0U);
    EXPECT_EQ(counted_life::living, 0);
}

// The second is missed since a later capture, and there may be no memory to note it beside the first.
TYPED_TEST(captured_lives_memory, two_that_are_handed_over_are_both_missed) {
    const std::size_t allocations = this->with_each_allocation_failing([&](memory_shortage& short_of) {
        typename TestFixture::lives_type now;
        now.ring.capture(2);
        const auto later = now.objects.emplace(10);
        now.ring.capture(3);
        const auto take = [](counted_life&& given) { const counted_life taken(std::move(given)); };
        EXPECT_TRUE(now.objects.extract(now.handles[3], take));
        EXPECT_TRUE(now.objects.extract(later, take));
        short_of.begin();
        now.objects.compact();
        short_of.end();
        const std::vector<int> all = now.all();
        for (const std::uint64_t frame : {1U, 2U, 3U}) {
            EXPECT_THROW(now.ring.restore(frame), std::logic_error) << frame;
        }
        EXPECT_EQ(now.all(), all);
    });
    EXPECT_GT(allocations, 1U);
    EXPECT_EQ(counted_life::living, 0);
}

TYPED_TEST(captured_lives_memory, captures_and_restores_that_fail_leave_them) {
    const std::vector<int> first{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const std::size_t allocations = this->with_each_allocation_failing([&](memory_shortage& short_of) {
        typename TestFixture::lives_type now;
        now.objects.compact();
        now.objects.emplace(10);
        now.objects.compact();
        const std::vector<int> second = now.all();
        const bool failed = short_of.interrupts([&] { now.ring.capture(2); });
        EXPECT_EQ(now.all(), second);
        EXPECT_EQ(now.ring.newest(), failed ? 1U : 2U);
        EXPECT_EQ(counted_life::living, 11);
        now.ring.restore(1);
        EXPECT_EQ(now.all(), first);
        EXPECT_EQ(now.addresses(), now.first_addresses);
        EXPECT_EQ(counted_life::living, 10);
    });
    EXPECT_GT(allocations, 1U);
    const std::size_t restores = this->with_each_allocation_failing([&](memory_shortage& short_of) {
        typename TestFixture::lives_type now;
        now.objects.compact();
        now.emplace_in_holes();
        now.ring.capture(2);
        const bool failed = short_of.interrupts([&] { now.ring.restore(1); });
        if (failed) {
            now.ring.restore(1);
        }
        EXPECT_EQ(now.all(), first);
        EXPECT_EQ(now.addresses(), now.first_addresses);
        EXPECT_EQ(counted_life::living, 10);
    });
    EXPECT_GT(restores, 1U);
    EXPECT_EQ(counted_life::living, 0);
}

} // namespace
} // namespace handlepool::test
