// SPDX-License-Identifier: MIT

// A view for one thread does what a pool does that is compacted after each step: it gives the same handles,
// puts the objects into the same order, and counts the same.

#include <handlepool/exclusive_pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/pool_oracle.hpp>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

/// An id that no other pool of the layout has had: retirement is alike only in pools that begin with one
/// generation.
template <class Layout>
unsigned own_id() {
    static unsigned next = (1U << Layout::pool_id_bits) - 1;
    return next--;
}

template <class Case>
class exclusive_exactness : public testing::Test {
protected:
    using pool_type =
        pool<std::uint64_t,
             with_placement<typename Case::placement,
                            with_layout<typename Case::layout, with_policy<typename Case::policy>>>>;
    using handle_type = typename pool_type::handle_type;
    static constexpr bool dense = std::is_same_v<typename Case::placement, dense_placement>;

    static pool_options options_with_own_id() {
        pool_options options = Case::options();
        options.pool_id = own_id<typename Case::layout>();
        return options;
    }

    /// Their handles differ in the pool id, and in the first generation of that id.
    void expect_alike(handle_type mine, handle_type expected) {
        ASSERT_EQ(bool(mine), bool(expected));
        if (mine) {
            ASSERT_EQ(mine.index(), expected.index());
            if (!first_) {
                first_ = mine.generation() - expected.generation();
            }
            ASSERT_EQ(mine.generation() - expected.generation(), *first_);
            handles_.emplace_back(mine, expected);
        }
    }

    template <class View>
    void expect_alike(const View& alone) {
        EXPECT_EQ(alone.size(), model_.size());
        if constexpr (dense) {
            EXPECT_EQ(std::vector<std::uint64_t>(alone.items().begin(), alone.items().end()),
                      std::vector<std::uint64_t>(model_.items().begin(), model_.items().end()));
        }
        const pool_stats mine = alone.stats();
        const pool_stats expected = model_.stats();
        EXPECT_EQ(mine.created, expected.created);
        EXPECT_EQ(mine.destroyed, expected.destroyed);
        EXPECT_EQ(mine.alive, expected.alive);
        EXPECT_EQ(mine.slots_in_service, expected.slots_in_service);
        // A thread alone claims freed slots as it needs them.
        EXPECT_LE(mine.slots_claimed, expected.slots_claimed);
        EXPECT_EQ(mine.slots_claimed + mine.slots_free, expected.slots_claimed + expected.slots_free);
        EXPECT_EQ(mine.slots_retired, expected.slots_retired);
        EXPECT_GE(mine.smallest_reuse_distance, mine.reuse_delay);
    }

    template <class View>
    void step(View& alone, random_source& random) {
        switch (random.below(10)) {
        case 0:
        case 1:
        case 2:
        case 3:
            expect_alike(alone.try_emplace(value_), model_.try_emplace(value_));
            ++value_;
            break;
        case 4:
        case 5:
        case 6:
        case 7:
            if (!handles_.empty()) {
                std::swap(handles_[random.below(handles_.size())], handles_.back());
                EXPECT_TRUE(alone.erase(handles_.back().first));
                EXPECT_TRUE(model_.erase(handles_.back().second));
                EXPECT_FALSE(alone.erase(handles_.back().first));
                handles_.pop_back();
            }
            break;
        case 8: {
            const std::size_t count = random.below(10);
            std::vector<handle_type> mine;
            std::vector<handle_type> expected;
            EXPECT_EQ(alone.try_emplace_n(count, std::back_inserter(mine), value_).has_value(),
                      model_.try_emplace_n(count, std::back_inserter(expected), value_).has_value());
            ASSERT_EQ(mine.size(), expected.size());
            for (std::size_t i = 0; i != mine.size(); ++i) {
                expect_alike(mine[i], expected[i]);
            }
            ++value_;
            break;
        }
        default:
            if (random.one_in(50)) {
                // In the order of the store, in which the view frees the slots.
                for (const handle_type each : alone.handles()) {
                    const auto pair = std::find_if(handles_.begin(), handles_.end(),
                                                   [&](const auto& both) { return both.first == each; });
                    ASSERT_NE(pair, handles_.end());
                    EXPECT_TRUE(model_.erase(pair->second));
                    model_.compact();
                }
                alone.clear();
                handles_.clear();
            }
        }
        model_.compact();
    }

    void run() {
        random_source random(17);
        pool_type pool(options_with_own_id());
        for (int phase = 0; phase != 20 && !testing::Test::HasFailure(); ++phase) {
            auto alone = pool.exclusive_access();
            for (std::uint64_t i = random.below(600); i != 0 && !testing::Test::HasFailure(); --i) {
                step(alone, random);
                if (random.one_in(30)) {
                    expect_alike(alone);
                }
            }
            expect_alike(alone);
        }
    }

    pool_type model_{options_with_own_id()};
    std::optional<std::uint32_t> first_;
    std::vector<std::pair<handle_type, handle_type>> handles_;
    std::uint64_t value_ = 0;
};

TYPED_TEST_SUITE(exclusive_exactness, oracle_cases);

TYPED_TEST(exclusive_exactness, of_handles_order_and_counts) {
    this->run();
}

} // namespace
} // namespace handlepool::test
