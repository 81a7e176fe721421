// SPDX-License-Identifier: MIT

// The places of stable pools that one thread has alone: none twice, and none lost.

#include <handlepool/exclusive_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

struct birth_with_call {
    int number;
    std::function<void()> call = [] {};
};

/// Calls back when it is made, or used again.
struct called_object {
    explicit called_object(const birth_with_call& mine) : number(mine.number) { mine.call(); }
    called_object& operator=(const birth_with_call& mine) {
        number = mine.number;
        mine.call();
        return *this;
    }
    void clear() noexcept { number = -2; }

    int number;
};

template <class Placement>
class exclusive_places_test : public testing::Test {
protected:
    // Eight places a group, and as few more groups as may be.
    using pool_type = pool<called_object, with_placement<Placement, with_policy<support::tiny_policy<8>>>>;
    using handle_type = typename pool_type::handle_type;

    static constexpr std::size_t capacity = 500;

    /// Creates objects until there are so many as the pool has room for, and expects that there is no more.
    template <class Pool>
    void fill(Pool& pool) {
        while (handles_.size() != capacity) {
            const handle_type made = pool.try_emplace(birth_with_call{next_});
            ASSERT_TRUE(made) << handles_.size();
            handles_.push_back(made);
            numbers_.push_back(next_++);
        }
        EXPECT_FALSE(pool.try_emplace(birth_with_call{next_}));
    }
    template <class Pool>
    void erase_some(Pool& pool) {
        for (std::size_t left = 1 + random_.below(capacity / 2); left != 0; --left) {
            const std::size_t victim = random_.below(handles_.size());
            EXPECT_TRUE(pool.erase(handles_[victim]));
            handles_[victim] = handles_.back();
            handles_.pop_back();
            numbers_[victim] = numbers_.back();
            numbers_.pop_back();
        }
    }
    template <class Pool>
    void expect_all(const Pool& pool) {
        std::vector<int> found;
        for (const called_object& each : pool) {
            found.push_back(each.number);
        }
        std::vector<int> expected = numbers_;
        std::ranges::sort(found);
        std::ranges::sort(expected);
        EXPECT_EQ(found, expected);
        for (std::size_t i = 0; i != handles_.size(); ++i) {
            EXPECT_EQ(pool.at(handles_[i]).number, numbers_[i]);
        }
    }

    pool_type pool_{{.name = "pool", .capacity = capacity, .max_threads = 2}};
    std::vector<handle_type> handles_;
    std::vector<int> numbers_;
    int next_ = 0;
    random_source random_{29};
};

using stable_placements = testing::Types<stable_placement, recycling_placement>;
TYPED_TEST_SUITE(exclusive_places_test, stable_placements);

TYPED_TEST(exclusive_places_test, are_found_again) {
    auto alone = this->pool_.exclusive_access();
    for (int round = 0; round != 100 && !testing::Test::HasFailure(); ++round) {
        this->fill(alone);
        this->erase_some(alone);
    }
    this->expect_all(alone);
}

TYPED_TEST(exclusive_places_test, are_left_to_others) {
    for (int round = 0; round != 100 && !testing::Test::HasFailure(); ++round) {
        {
            auto alone = this->pool_.exclusive_access();
            this->fill(alone);
            this->erase_some(alone);
        }
        this->fill(this->pool_);
        this->erase_some(this->pool_);
        this->pool_.compact();
        this->expect_all(this->pool_);
    }
}

TYPED_TEST(exclusive_places_test, of_objects_that_were_not_made_are_used_again) {
    auto alone = this->pool_.exclusive_access();
    for (std::size_t i = 0; i != 10 * this->capacity; ++i) {
        EXPECT_THROW(alone.emplace(birth_with_call{-1, [] { throw std::runtime_error("made to fail"); }}),
                     std::runtime_error);
    }
    this->fill(alone);
    this->expect_all(alone);
}

// As many times as there are groups of 64 places, and more.
TYPED_TEST(exclusive_places_test, of_groups_with_holes_are_all_left_to_others) {
    pool<called_object, with_placement<TypeParam>> pool({.name = "pool", .capacity = 5000, .max_threads = 2});
    std::vector<handle<called_object>> erased;
    std::set<const called_object*> places;
    for (int i = 0; i != 5000; ++i) {
        const auto made = pool.emplace(birth_with_call{i});
        places.insert(&pool.at(made));
        if (i % 2 == 0) {
            erased.push_back(made);
        }
    }
    pool.compact();
    pool.erase(erased);
    pool.compact();
    for (int i = 0; i != 2500; ++i) {
        auto alone = pool.exclusive_access();
        const auto made = alone.try_emplace(birth_with_call{i});
        ASSERT_TRUE(made) << i;
        EXPECT_TRUE(i >= 2400 || places.contains(&alone.at(made))) << i; // a shard may hold the last group
    }
    EXPECT_EQ(pool.size(), 5000U);
}

// All of them fit into one word of groups.
TYPED_TEST(exclusive_places_test, that_become_free_in_offered_groups_are_offered_too) {
    pool<called_object, with_placement<TypeParam>> pool({.name = "pool", .capacity = 4096, .max_threads = 2});
    std::vector<handle<called_object>> all;
    std::set<const called_object*> places;
    const auto fill = [&] {
        std::size_t elsewhere = 0;
        while (pool.size() != 4096) {
            all.push_back(pool.emplace(birth_with_call{1}));
            elsewhere += places.insert(&pool.at(all.back())).second ? 1U : 0U;
        }
        return elsewhere;
    };
    EXPECT_EQ(fill(), 4096U);
    pool.compact();
    for (std::size_t i = 0; i < all.size(); i += 64) { // so that each group is offered
        EXPECT_TRUE(pool.erase(all[i]));
    }
    pool.compact();
    {
        auto alone = pool.exclusive_access();
        alone.erase(all);
        alone.emplace(birth_with_call{2});
        EXPECT_EQ(alone.size(), 1U);
    }
    EXPECT_LE(fill(), 128U); // shards hold a group each, of which they don't know the new holes
}

TYPED_TEST(exclusive_places_test, are_not_given_to_objects_that_a_constructor_makes) {
    auto alone = this->pool_.exclusive_access();
    for (int round = 0; round != 100 && !testing::Test::HasFailure(); ++round) {
        this->fill(alone);
        this->erase_some(alone);
        while (this->handles_.size() + 3 < this->capacity) {
            // A place of the group in which the next object is made becomes free.
            const auto last = alone.emplace(birth_with_call{-1});
            alone.erase(last);
            if (this->random_.one_in(4)) {
                alone.compact();
            }
            std::vector<std::pair<typename TestFixture::handle_type, int>> inner;
            const int outer = this->next_++;
            const auto made = alone.emplace(birth_with_call{
                outer, [&] {
                    inner.emplace_back(alone.emplace(birth_with_call{this->next_}), this->next_);
                    ++this->next_;
                    inner.emplace_back(this->pool_.emplace(birth_with_call{this->next_}), this->next_);
                    ++this->next_;
                }});
            inner.emplace_back(made, outer);
            for (const auto& [handle, number] : inner) {
                this->handles_.push_back(handle);
                this->numbers_.push_back(number);
            }
        }
        this->expect_all(alone);
    }
}

} // namespace
} // namespace handlepool::test
