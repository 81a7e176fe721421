// SPDX-License-Identifier: MIT

// Random operations on rows against an oracle, a map of what must be alive.

#include <handlepool/columns.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/random.hpp>
#include <tests/support/row_consistency.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

struct nothing {};

/// What a row must hold; nothing where the element was not given.
struct expected_row {
    std::uint64_t value;
    bool has_small;
    std::uint64_t score;
};

template <class Policy>
class columns_oracle : public testing::Test {
protected:
    using pool_type = pool<columns<counted, std::uint64_t, sized<1>, over_aligned<64>, nothing, sized<3>>,
                           with_policy<Policy>>;
    using handle_type = typename pool_type::handle_type;

    void create(std::uint64_t value) {
        const bool has_small = random_.one_in(2);
        const handle_type made = has_small
                                     ? pool_.try_emplace(sized<3>(value), sized<1>(value),
                                                         counted(people_, value), over_aligned<64>(value))
                                     : pool_.try_emplace(over_aligned<64>(value), counted(people_, value));
        if (made) {
            ASSERT_TRUE(living_.emplace(made, expected_row{value, has_small, 0}).second);
        } else {
            ASSERT_GE(living_.size() + reserved_.size() + dead_since_compaction_, capacity);
        }
    }

    void create_several(std::uint64_t value) {
        std::vector<handle_type> made;
        const std::size_t count = random_.below(20);
        if (!pool_.try_emplace_n(count, std::back_inserter(made), std::ref(people_))) {
            ASSERT_GT(living_.size() + reserved_.size() + dead_since_compaction_ + count, capacity);
        }
        for (const handle_type each : made) {
            pool_[each].template get<over_aligned<64>>().value = value;
            ASSERT_TRUE(living_.emplace(each, expected_row{value, false, 0}).second);
        }
    }

    void create_told(std::uint64_t value) {
        const handle_type made = pool_.try_emplace_with(
            [&](handle_type) { return std::tuple(over_aligned<64>(value), counted(people_, value)); });
        if (made) {
            ASSERT_TRUE(living_.emplace(made, expected_row{value, false, 0}).second);
        } else {
            ASSERT_GE(living_.size() + reserved_.size() + dead_since_compaction_, capacity);
        }
    }

    void reserve() {
        const handle_type made = pool_.try_reserve_handle();
        if (made) {
            reserved_.push_back(made);
        } else {
            ASSERT_GE(living_.size() + reserved_.size() + dead_since_compaction_, capacity);
        }
    }
    void fulfill_or_cancel(std::uint64_t value) {
        const handle_type handle = reserved_.back();
        ASSERT_EQ(pool_.state(handle), handle_state::reserved);
        ASSERT_TRUE(!pool_.find(handle) && !pool_.erase(handle) && !pool_.revoke(handle));
        if (random_.one_in(3)) {
            ASSERT_TRUE(pool_.cancel(handle));
            dead_.push_back(handle);
        } else if (pool_.try_fulfill(handle, counted(people_, value), over_aligned<64>(value))) {
            ASSERT_TRUE(living_.emplace(handle, expected_row{value, false, 0}).second);
        } else {
            return; // no room in the nursery
        }
        reserved_.pop_back();
        ASSERT_TRUE(!pool_.cancel(handle) && !pool_.try_fulfill(handle, people_, 0U, 0U, value));
    }

    void revoke(handle_type old) {
        const handle_type next = pool_.revoke(old);
        ASSERT_TRUE(next);
        auto row = living_.extract(old);
        row.key() = next;
        ASSERT_TRUE(living_.insert(std::move(row)).inserted);
        dead_.push_back(old);
    }

    handle_type any_living() {
        // The map's own order will do: it follows from the handles' hash.
        return std::next(living_.begin(),
                         static_cast<std::ptrdiff_t>(random_.below(std::min<std::size_t>(living_.size(), 8))))
            ->first;
    }

    void kill(handle_type victim) {
        ASSERT_TRUE(pool_.erase(victim));
        ASSERT_FALSE(pool_.erase(victim));
        living_.erase(victim);
        dead_.push_back(victim);
        ++dead_since_compaction_;
    }

    void expect_row(handle_type handle, const expected_row& expected) {
        const auto found = std::as_const(pool_).find(handle);
        ASSERT_TRUE(found);
        const auto [person, score, byte, aligned, no, three] = *found;
        ASSERT_EQ(aligned.value, expected.value);
        ASSERT_TRUE(aligned.is_aligned());
        ASSERT_EQ(score, expected.score);
        ASSERT_EQ(byte.value(), static_cast<unsigned char>(expected.has_small ? expected.value : 0));
        ASSERT_EQ(three.value(), byte.value());
        ASSERT_TRUE(three.is_whole());
        ASSERT_EQ(pool_.handle_of(person), handle);
        ASSERT_EQ(pool_.handle_of(no), handle);
    }

    void step() {
        switch (random_.below(13)) {
        case 0:
        case 1:
        case 2:
            return create(next_value_++);
        case 3:
            return create_several(next_value_++);
        case 4:
        case 5:
            return living_.empty() ? void() : kill(any_living());
        case 6:
            if (!living_.empty()) {
                const handle_type one = any_living();
                expect_row(one, living_.at(one));
            }
            return;
        case 7:
            if (!living_.empty()) {
                const handle_type one = any_living();
                pool_.at(one).template get<std::uint64_t>() += 5;
                living_.at(one).score += 5;
            }
            return;
        case 8:
            return create_told(next_value_++);
        case 9:
            return reserved_.size() < 20 ? reserve() : void();
        case 10:
            return reserved_.empty() ? void() : fulfill_or_cancel(next_value_++);
        case 11:
            return living_.empty() ? void() : revoke(any_living());
        default:
            if (!dead_.empty()) {
                const handle_type stale = dead_[random_.below(dead_.size())];
                ASSERT_TRUE(!pool_.contains(stale) && !pool_.find(stale) && !pool_.erase(stale));
                ASSERT_EQ(pool_.state(stale), handle_state::stale);
            }
        }
    }

    void sort() {
        const auto value_of = [](const over_aligned<64>& each) noexcept { return each.value; };
        switch (random_.below(3)) {
        case 0:
            sort_by<over_aligned<64>>(pool_, value_of, executor_);
            break;
        case 1:
            handlepool::sort(pool_, [](auto a, auto b) {
                return a.template get<over_aligned<64>>().value < b.template get<over_aligned<64>>().value;
            });
            break;
        default:
            sort_some_by<over_aligned<64>>(pool_, value_of, 50);
            return;
        }
        EXPECT_TRUE(std::ranges::is_sorted(pool_.template items<over_aligned<64>>(), {}, value_of));
    }

    void end_frame() {
        random_.one_in(2) ? pool_.compact() : pool_.compact(executor_);
        dead_since_compaction_ = 0;
        if (random_.one_in(3)) {
            sort();
        }
        expect_consistent_rows(pool_);
        for (const auto& [handle, expected] : living_) {
            expect_row(handle, expected);
            if (HasFatalFailure()) {
                return;
            }
        }
        std::uint64_t value_sum = 0;
        std::uint64_t score_sum = 0;
        for (const auto& [handle, expected] : living_) {
            value_sum += expected.value;
            score_sum += expected.score;
        }
        std::as_const(pool_).template for_each<over_aligned<64>, std::uint64_t>(
            [&](const over_aligned<64>& value, std::uint64_t score) {
                value_sum -= value.value;
                score_sum -= score;
            });
        EXPECT_EQ(value_sum, 0U);
        EXPECT_EQ(score_sum, 0U);
        EXPECT_EQ(pool_.size(), living_.size());
        EXPECT_EQ(pool_.stats().slots_reserved, reserved_.size());
        EXPECT_EQ(people_.alive(), static_cast<std::int64_t>(living_.size()));
    }

    void forget_all(bool reserved_too) {
        if (reserved_too) {
            dead_.insert(dead_.end(), reserved_.begin(), reserved_.end());
            reserved_.clear();
        }
        for (const auto& [handle, expected] : living_) {
            dead_.push_back(handle);
        }
        dead_since_compaction_ += living_.size();
        living_.clear();
    }

    static constexpr std::size_t capacity = 300;

    random_source random_{21};
    census people_;
    thread_executor executor_{2};
    pool_type pool_{{.name = "rows", .capacity = capacity, .reuse_delay = 3}};
    std::unordered_map<handle_type, expected_row> living_;
    std::vector<handle_type> reserved_;
    std::vector<handle_type> dead_;
    std::size_t dead_since_compaction_ = 0;
    std::uint64_t next_value_ = 1;
};

using policies = testing::Types<default_policy, support::tiny_policy<1>, support::tiny_policy<2>>;
TYPED_TEST_SUITE(columns_oracle, policies);

TYPED_TEST(columns_oracle, agrees) {
    for (int frame = 0; frame != 150; ++frame) {
        for (std::uint64_t i = this->random_.below(100); i != 0; --i) {
            this->step();
            if (this->HasFatalFailure()) {
                return;
            }
        }
        if (this->random_.one_in(20)) {
            const bool reset = this->random_.one_in(2);
            reset ? this->pool_.reset() : this->pool_.clear();
            this->forget_all(reset);
        }
        if (this->random_.one_in(10)) {
            this->pool_.shrink_to_fit();
        }
        this->end_frame();
        if (testing::Test::HasFailure()) {
            return;
        }
    }
}

} // namespace
} // namespace handlepool::test
