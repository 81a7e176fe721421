// SPDX-License-Identifier: MIT

// Elements whose constructors throw, at each column: what was made of the row is destroyed, and the room that
// the pool guarantees stays whole.

#include <handlepool/columns.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/row_consistency.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

/// When elements are to throw, and what became of them: in which order they were made and destroyed.
struct trouble {
    fuse when{1'000'000};
    census people;
    std::vector<int> made;
    std::vector<int> destroyed;
};

/// An element of column I, which reports both.
template <int I>
class element {
public:
    explicit element(trouble& whose) : whose_(&whose), counted_(whose.people, I) {
        whose.when.burn();
        whose.made.push_back(I);
    }
    element(element&& other) noexcept : whose_(other.whose_), counted_(std::move(other.counted_)) {
        whose_->made.push_back(I);
    }
    ~element() { whose_->destroyed.push_back(I); }

    std::uint64_t value() const noexcept { return counted_.value(); }

private:
    trouble* whose_;
    counted counted_;
};

template <class Policy>
class throwing_columns : public testing::Test {
protected:
    using pool_type = pool<columns<element<0>, element<1>, int, element<3>>, with_policy<Policy>>;
    static constexpr int throwing = 3; // of a row's elements

    trouble trouble_;
    pool_type pool_{{.name = "throwing", .capacity = 20, .reuse_delay = 0}};

    typename pool_type::handle_type emplace() { return pool_.try_emplace(trouble_, trouble_, 2, trouble_); }
    std::size_t fill() {
        std::size_t made = 0;
        while (emplace()) {
            ++made;
        }
        return made;
    }
    void expect_nobody() {
        EXPECT_EQ(trouble_.people.alive(), 0);
        EXPECT_EQ(pool_.size(), 0U);
    }
};

using policies =
    testing::Types<default_policy, support::tiny_policy<1>, support::tiny_policy<2>, support::tiny_policy<4>>;
TYPED_TEST_SUITE(throwing_columns, policies);

TYPED_TEST(throwing_columns, elements_made_before_the_exception_are_destroyed_the_last_one_first) {
    for (int failing = 0; failing != this->throwing; ++failing) {
        trouble trouble{.when = fuse(failing), .people = {}, .made = {}, .destroyed = {}};
        EXPECT_THROW(this->pool_.emplace(trouble, trouble, 2, trouble), construction_failure);
        EXPECT_EQ(trouble.made.size(), static_cast<std::size_t>(failing));
        EXPECT_EQ(std::vector<int>(trouble.destroyed.rbegin(), trouble.destroyed.rend()), trouble.made);
    }
    this->expect_nobody();
}

TYPED_TEST(throwing_columns, no_room_is_lost) {
    const std::size_t room = this->fill();
    EXPECT_GE(room, 20U);
    this->pool_.clear();
    this->pool_.compact();
    this->expect_nobody();
    for (int round = 0; round != 100; ++round) {
        trouble trouble{.when = fuse(round % this->throwing), .people = {}, .made = {}, .destroyed = {}};
        EXPECT_THROW(this->pool_.emplace(trouble, trouble, 2, trouble), construction_failure);
        if (round % 7 == 0) {
            this->emplace();
        }
        if (round % 10 == 0) {
            this->pool_.clear();
            expect_consistent_rows(this->pool_);
        }
    }
    this->pool_.clear();
    this->pool_.compact();
    this->expect_nobody();
    EXPECT_EQ(this->fill(), room);
    expect_consistent_rows(this->pool_);
    this->pool_.reset();
    this->expect_nobody();
}

/// Throws when it is made from nothing as many times as are left.
struct born_in_trouble {
    born_in_trouble() {
        if (--left == 0) {
            throw construction_failure();
        }
        ++alive;
    }
    born_in_trouble(born_in_trouble&&) noexcept { ++alive; }
    ~born_in_trouble() { --alive; }
    inline static int left = 0;
    inline static int alive = 0;
};

TYPED_TEST(throwing_columns, value_initialization_may_throw_too) {
    using troubled = pool<columns<counted, born_in_trouble, born_in_trouble>, with_policy<TypeParam>>;
    census people;
    {
        troubled pool({.name = "born in trouble", .capacity = 20});
        for (const int calls : {1, 2}) {
            born_in_trouble::left = calls;
            EXPECT_THROW(pool.emplace(people), construction_failure);
            EXPECT_EQ(people.alive(), 0);
            EXPECT_EQ(born_in_trouble::alive, 0);
        }
        born_in_trouble::left = 3;
        EXPECT_TRUE(pool.emplace(people));
        EXPECT_EQ(born_in_trouble::alive, 2);
        expect_consistent_rows(pool);
        EXPECT_EQ(born_in_trouble::alive, 2);
    }
    EXPECT_EQ(born_in_trouble::alive, 0);
}

TYPED_TEST(throwing_columns, emplace_n_is_all_or_nothing_whichever_element_throws) {
    constexpr int rows = 5;
    std::vector<typename TestFixture::pool_type::handle_type> handles;
    for (int failing = 0; failing != rows * this->throwing; ++failing) {
        trouble trouble{.when = fuse(failing), .people = {}, .made = {}, .destroyed = {}};
        EXPECT_THROW(this->pool_.emplace_n(rows, std::back_inserter(handles), std::ref(trouble),
                                           std::ref(trouble), 2, std::ref(trouble)),
                     construction_failure);
        EXPECT_TRUE(handles.empty());
        EXPECT_EQ(trouble.made.size(), static_cast<std::size_t>(failing));
        EXPECT_EQ(std::vector<int>(trouble.destroyed.rbegin(), trouble.destroyed.rend()), trouble.made);
    }
    this->expect_nobody();
    this->pool_.emplace_n(20, std::back_inserter(handles), std::ref(this->trouble_), std::ref(this->trouble_),
                          2, std::ref(this->trouble_));
    EXPECT_EQ(handles.size(), 20U);
    expect_consistent_rows(this->pool_);
}

/// An iterator that throws when it is written to for the second time.
struct failing_output {
    using iterator_category = std::output_iterator_tag;
    using value_type = void;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = void;

    template <class Handle>
    failing_output& operator=(Handle) {
        when->burn();
        return *this;
    }
    failing_output& operator*() { return *this; }
    failing_output& operator++() { return *this; }
    failing_output operator++(int) { return *this; }

    fuse* when;
};

TYPED_TEST(throwing_columns, rows_whose_handles_cannot_be_written_are_erased) {
    fuse second(1);
    EXPECT_THROW(this->pool_.emplace_n(3, failing_output{&second}, std::ref(this->trouble_),
                                       std::ref(this->trouble_), 2, std::ref(this->trouble_)),
                 construction_failure);
    EXPECT_EQ(this->pool_.size(), 0U);
    this->pool_.compact();
    this->expect_nobody();
}

/// Uses the pool in which it is being made.
struct maker {
    explicit maker(pool<columns<int, maker>>* where) {
        if (where != nullptr) {
            made = where->emplace(7, nullptr);
            throw construction_failure();
        }
    }
    maker(maker&&) noexcept = default;
    inline static handle<columns<int, maker>> made;
};

TEST(columns_that_throw, a_constructor_may_create_rows_and_throw) {
    pool<columns<int, maker>> pool({.name = "makers", .capacity = 10, .reuse_delay = 0});
    for (int round = 0; round != 10; ++round) {
        EXPECT_THROW(pool.emplace(1, &pool), construction_failure);
        EXPECT_EQ(pool.size(), 1U);
        EXPECT_EQ(pool.at(maker::made).template get<int>(), 7);
        pool.erase(maker::made);
        expect_consistent_rows(pool);
    }
}

/// A destructor may look up and erase other rows, and create some.
struct heir {
    explicit heir(pool<columns<heir, int>>* where = nullptr) : pool_of(where) {}
    heir(heir&& other) noexcept : pool_of(std::exchange(other.pool_of, nullptr)), victim(other.victim) {}
    ~heir();

    pool<columns<heir, int>>* pool_of;
    handle<columns<heir, int>> victim;
};
heir::~heir() {
    if (pool_of != nullptr) {
        const auto found = pool_of->find(victim);
        EXPECT_EQ(static_cast<bool>(found), static_cast<bool>(victim));
        if (found) {
            EXPECT_EQ(found->get<int>(), 2);
            EXPECT_TRUE(pool_of->erase(victim));
            pool_of->emplace(nullptr, 3);
        }
    }
}

TEST(columns_that_throw, a_destructor_may_use_the_pool) {
    pool<columns<heir, int>> pool({.name = "heirs", .capacity = 10});
    const auto victim = pool.emplace(&pool, 2);
    const auto killer = pool.emplace(&pool, 1);
    pool.at(killer).get<heir>().victim = victim;
    pool.compact();
    pool.erase(killer);
    pool.compact();
    EXPECT_FALSE(pool.contains(victim));
    pool.compact();
    ASSERT_EQ(pool.items<int>().size(), 1U);
    EXPECT_EQ(pool.items<int>()[0], 3);
}

} // namespace
} // namespace handlepool::test
