// SPDX-License-Identifier: MIT
#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/thread_executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/random.hpp>
#include <tests/support/row_consistency.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;

struct position {
    float x = 0;
    float negative() const { return -x; }
};
struct health {
    int points = 0;
    friend auto operator<=>(health, health) = default;
};
struct number {
    int value = 0;
};
using movers = pool<columns<position, health, number>>;

template <class Pool>
std::vector<int> numbers_of(const Pool& pool) {
    std::vector<int> found;
    pool.template for_each<number>([&](number each) { found.push_back(each.value); });
    return found;
}

/// Rows with these points, numbered from 0.
void fill(movers& pool, const std::vector<int>& points) {
    int next = 0;
    for (const int each : points) {
        pool.emplace(position{static_cast<float>(each)}, health{each}, number{next++});
    }
    pool.compact();
}

constexpr auto weaker = [](movers::const_reference a, movers::const_reference b) noexcept {
    return a.get<health>() < b.get<health>();
};
constexpr auto points_of = [](movers::const_reference row) noexcept { return row.get<health>().points; };

TEST(columns_sorting, of_none_and_of_one_is_nothing) {
    movers pool({.name = "movers", .capacity = 10});
    EXPECT_EQ(sort(pool, weaker).moved, 0U);
    EXPECT_EQ(sort_by(pool, points_of).moved, 0U);
    const auto alone = pool.emplace(health{1});
    pool.compact();
    EXPECT_EQ(sort(pool, weaker).moved, 0U);
    EXPECT_EQ(sort_by<health>(pool, &health::points).moved, 0U);
    EXPECT_TRUE(sort_some(pool, weaker, 10).in_order);
    EXPECT_EQ(pool.handle_at(0), alone);
}

TEST(columns_sorting, puts_all_columns_in_one_order_and_equal_rows_stay_in_theirs) {
    const auto sort_and_expect = [](auto sort) {
        movers pool({.name = "movers", .capacity = 10});
        fill(pool, {3, 1, 2, 1, 3, 0});
        const sort_stats done = sort(pool);
        EXPECT_EQ(done.moved, 5U); // all but the first 1
        EXPECT_EQ(done.size, 6U);
        EXPECT_TRUE(done.in_order);
        EXPECT_THAT(numbers_of(pool), ElementsAre(5, 1, 3, 2, 0, 4));
        expect_consistent_rows(pool);
        for (std::size_t i = 0; i != 6; ++i) {
            EXPECT_EQ(pool.items<position>()[i].x, static_cast<float>(pool.items<health>()[i].points));
        }
    };
    thread_executor executor(2);
    sort_and_expect([](movers& pool) { return sort(pool, weaker); });
    sort_and_expect([&](movers& pool) { return sort(pool, weaker, executor); });
    sort_and_expect([](movers& pool) { return sort_by(pool, points_of); });
    sort_and_expect([&](movers& pool) { return sort_by(pool, points_of, executor); });
    sort_and_expect([](movers& pool) { return sort_by<health>(pool, &health::points); });
    sort_and_expect([&](movers& pool) { return sort_by<health>(pool, &health::points, executor); });
    sort_and_expect([](movers& pool) { return sort_by<position>(pool, &position::x); });
    sort_and_expect(
        [](movers& pool) { return sort_by<const health>(pool, [](health each) { return each; }); });
    sort_and_expect([](movers& pool) { return sort_some(pool, weaker, 100); });
    sort_and_expect([&](movers& pool) { return sort_some(pool, weaker, 100, executor); });
    sort_and_expect([](movers& pool) { return sort_some_by(pool, points_of, 100); });
    sort_and_expect([](movers& pool) { return sort_some_by<health>(pool, &health::points, 100); });
    sort_and_expect([&](movers& pool) { return sort_some_by<health>(pool, &health::points, 100, executor); });
}

TEST(columns_sorting, reads_each_key_once_from_the_columns_element) {
    movers pool({.name = "movers", .capacity = 10});
    fill(pool, {3, 1, 2});
    std::vector<const health*> read;
    sort_by<health>(pool, [&](const health& each) {
        read.push_back(&each);
        return each.points;
    });
    const health* const first = pool.items<health>().data();
    EXPECT_THAT(read, ElementsAre(first, first + 1, first + 2));
    EXPECT_THAT(numbers_of(pool), ElementsAre(1, 2, 0));
    sort_by<position>(pool, &position::negative);
    EXPECT_THAT(numbers_of(pool), ElementsAre(0, 2, 1));
}

// Keys may refer to elements, also those that are read through a row.
TEST(columns_sorting, by_views_of_the_elements) {
    pool<columns<int, std::string>> names({.name = "names", .capacity = 10});
    for (const char* const name : {"delta", "alpha", "a name too long for the string itself", "beta"}) {
        names.emplace(1, name);
    }
    names.compact();
    sort_by(names, [](auto row) { return std::string_view(row.template get<std::string>()); });
    EXPECT_EQ(names.items<1>()[0], "a name too long for the string itself");
    EXPECT_EQ(names.items<1>()[3], "delta");
    sort_by<std::string>(names, &std::string::size);
    EXPECT_EQ(names.items<1>()[0], "beta");
}

TEST(columns_sorting, of_columns_of_one_type) {
    pool<columns<int, int>> pairs({.name = "pairs", .capacity = 10});
    for (const int each : {2, 0, 1}) {
        pairs.emplace(each, -each);
    }
    pairs.compact();
    sort_by(pairs, [](auto row) { return row.template get<1>(); });
    EXPECT_THAT(pairs.items<0>(), ElementsAre(2, 1, 0));
    EXPECT_THAT(pairs.items<1>(), ElementsAre(-2, -1, 0));
}

/// Rows of which each element shows whether it was moved whole, and is where its type wants it.
template <class Policy>
class columns_sorts : public testing::Test {
protected:
    struct nothing {};
    struct watched_alignment : over_aligned<256> {
        explicit watched_alignment(std::uint64_t initial) noexcept : over_aligned(initial) {}
        watched_alignment(watched_alignment&& other) noexcept : over_aligned(other.value) {
            // Also of one that is taken out of its column.
            EXPECT_TRUE(is_aligned() && other.is_aligned());
        }
    };
    using pool_type = pool<columns<sized<1>, counted, nothing, watched_alignment, sized<3>, move_only>,
                           with_policy<Policy>>;
    using handle_type = typename pool_type::handle_type;
    using row_type = typename pool_type::const_reference;

    static bool before(row_type a, row_type b) noexcept {
        return a.template get<counted>().value() / 3 < b.template get<counted>().value() / 3;
    }

    void create(std::uint64_t value) {
        handles_.push_back(pool_.emplace(sized<1>(value), counted(people_, value), nothing{},
                                         watched_alignment(value), sized<3>(value), move_only(value)));
        values_.push_back(value);
    }
    void expect_whole() {
        expect_consistent_rows(pool_);
        for (std::size_t i = 0; i != handles_.size(); ++i) {
            const auto [byte, person, no, aligned, three, alone] = pool_.at(handles_[i]);
            ASSERT_EQ(person.value(), values_[i]);
            ASSERT_EQ(byte.value(), static_cast<unsigned char>(values_[i]));
            ASSERT_EQ(aligned.value, values_[i]);
            ASSERT_TRUE(three.is_whole() && three.value() == byte.value());
            ASSERT_EQ(alone.value(), values_[i]);
        }
        EXPECT_EQ(people_.alive(), static_cast<std::int64_t>(pool_.size()));
    }
    std::vector<std::uint64_t> content() const {
        std::vector<std::uint64_t> values;
        pool_.template for_each<counted>([&](const counted& each) { values.push_back(each.value()); });
        return values;
    }

    random_source random_{15};
    census people_;
    thread_executor executor_{3};
    pool_type pool_{{.name = "rows", .capacity = 3000, .keep_order = true}};
    std::vector<handle_type> handles_;
    std::vector<std::uint64_t> values_;
};

/// By a third of the values. Not by std::stable_sort, which compilers call deprecated.
std::vector<std::uint64_t> stably_sorted(const std::vector<std::uint64_t>& values) {
    std::multimap<std::uint64_t, std::uint64_t> by_key; // equal keys in the order of their insertion
    for (const std::uint64_t value : values) {
        by_key.emplace(value / 3, value);
    }
    std::vector<std::uint64_t> sorted;
    for (const auto& [key, value] : by_key) {
        sorted.push_back(value);
    }
    return sorted;
}

using policies = testing::Types<default_policy, support::tiny_policy<2>>;
TYPED_TEST_SUITE(columns_sorts, policies);

TYPED_TEST(columns_sorts, like_a_stable_sort) {
    for (int round = 0; round != 12; ++round) {
        for (std::size_t i = this->random_.below(round % 4 == 0 ? 10 : 200); i != 0; --i) {
            this->create(this->random_.below(500));
        }
        this->pool_.compact();
        const std::vector<std::uint64_t> expected = stably_sorted(this->content());
        switch (round % 4) {
        case 0:
            sort(this->pool_, TestFixture::before);
            break;
        case 1:
            sort(this->pool_, TestFixture::before, this->executor_);
            break;
        case 2:
            sort_by<counted>(this->pool_, [](const counted& each) { return each.value() / 3; });
            break;
        default:
            sort_by<counted>(
                this->pool_,
                [](const counted& each) noexcept { return static_cast<std::uint16_t>(each.value() / 3); },
                this->executor_);
        }
        ASSERT_EQ(this->content(), expected);
        this->expect_whole();
        if (testing::Test::HasFailure()) {
            return;
        }
        // Compaction keeps the order of those that are left.
        for (std::size_t i = this->handles_.size() / 4; i != 0; --i) {
            const std::size_t victim = this->random_.below(this->handles_.size());
            ASSERT_TRUE(this->pool_.erase(this->handles_[victim]));
            this->handles_[victim] = this->handles_.back();
            this->handles_.pop_back();
            this->values_[victim] = this->values_.back();
            this->values_.pop_back();
        }
        this->pool_.compact(this->executor_);
        EXPECT_TRUE(
            std::ranges::is_sorted(this->content(), {}, [](std::uint64_t value) { return value / 3; }));
        this->expect_whole();
    }
}

TYPED_TEST(columns_sorts, by_parts_until_all_rows_are_in_order) {
    constexpr std::size_t count = 300;
    constexpr std::size_t budget = 60;
    for (std::size_t i = 0; i != count; ++i) {
        this->create(this->random_.below(1000));
    }
    this->pool_.compact();
    for (std::size_t calls = 0; calls != 2 * count / budget; ++calls) {
        const sort_stats done =
            calls % 2 == 0 ? sort_some(this->pool_, TestFixture::before, budget, this->executor_)
                           : sort_some_by<counted>(
                                 this->pool_, [](const counted& each) { return each.value() / 3; }, budget);
        EXPECT_LE(done.moved, budget);
        this->expect_whole();
    }
    EXPECT_TRUE(std::ranges::is_sorted(this->content(), {}, [](std::uint64_t value) { return value / 3; }));
}

TEST(columns_sorting, that_throws_changes_nothing) {
    movers pool({.name = "movers", .capacity = 100});
    fill(pool, {5, 4, 3, 2, 1, 0});
    for (int passes = 0; passes != 6; ++passes) {
        fuse when(passes);
        const auto burning_key = [&](const health& each) {
            when.burn();
            return each.points;
        };
        EXPECT_THROW(sort_by<health>(pool, burning_key), construction_failure);
        fuse comparisons(passes);
        EXPECT_THROW(sort(pool,
                          [&](movers::const_reference a, movers::const_reference b) {
                              comparisons.burn();
                              return weaker(a, b);
                          }),
                     construction_failure);
        EXPECT_THAT(numbers_of(pool), ElementsAre(0, 1, 2, 3, 4, 5));
    }
    expect_consistent_rows(pool);
    sort(pool, weaker);
    EXPECT_THAT(numbers_of(pool), ElementsAre(5, 4, 3, 2, 1, 0));
}

TEST(columns_sorting, moves_erased_rows_too_and_leaves_newborns_where_they_are) {
    movers pool({.name = "movers", .capacity = 10});
    fill(pool, {3, 1, 2});
    const auto erased = pool.handle_at(1);
    pool.erase(erased);
    const auto newborn = pool.emplace(health{0}, number{9});
    sort_by<health>(pool, &health::points);
    EXPECT_THAT(numbers_of(pool), ElementsAre(1, 2, 0));
    EXPECT_EQ(pool.handle_at(0), erased);
    EXPECT_EQ(pool.at(newborn).get<number>().value, 9);
    expect_consistent_rows(pool);
    EXPECT_EQ(pool.size(), 3U);
}

TEST(columns_sorting, is_refused_while_a_guard_of_the_thread_lives) {
    movers pool({.name = "movers", .capacity = 10});
    fill(pool, {3, 1, 2});
    const auto guard = pool.access();
    EXPECT_THROW(sort(pool, weaker), compaction_conflict);
    EXPECT_THROW(sort_some_by<health>(pool, &health::points, 10), compaction_conflict);
    EXPECT_THAT(numbers_of(pool), ElementsAre(0, 1, 2));
}

// An element without content is not moved, and costs no memory.
TEST(columns_sorting, does_not_touch_an_empty_column) {
    struct tag {};
    constexpr std::size_t count = 20'000;
    pool<columns<int, tag>> tagged({.name = "tagged", .capacity = count});
    pool<columns<int>> bare({.name = "bare", .capacity = count});
    for (std::size_t i = 0; i != count; ++i) {
        tagged.emplace(static_cast<int>(count - i));
        bare.emplace(static_cast<int>(count - i));
    }
    tagged.compact();
    bare.compact();
    EXPECT_EQ(sort_by<int>(tagged, [](int value) { return value; }).moved, count);
    EXPECT_EQ(tagged.items<int>()[0], 1);
    EXPECT_EQ(tagged.stats().bytes_resident_in_objects, bare.stats().bytes_resident_in_objects);
}

template <class Pool, class Function>
concept sortable = requires(Pool& pool, Function function) { sort(pool, function); };
template <class Pool, class Function>
concept sortable_by = requires(Pool& pool, Function function) { sort_by(pool, function); };
template <class Pool, class C, class Function>
concept sortable_by_column = requires(Pool& pool, Function function) { sort_by<C>(pool, function); };

TEST(columns_sorting, refuses_what_orders_nothing_when_it_is_compiled) {
    static_assert(sortable<movers, bool (*)(movers::const_reference, const movers::const_reference&)>);
    static_assert(!sortable<movers, bool (*)(movers::reference, movers::reference)>,
                  "a comparison must not change rows");
    static_assert(sortable_by<movers, int (*)(movers::const_reference)>);
    static_assert(!sortable_by<movers, position (*)(movers::const_reference)>, "keys need a <");
    static_assert(sortable_by_column<movers, position, float position::*>);
    static_assert(!sortable_by_column<movers, position, int health::*>);
    static_assert(!sortable_by_column<movers, position, float (*)(position&)>);
    static_assert(!sortable_by_column<movers, int, int (*)(int)>, "it has no such column");
    static_assert(!sortable_by_column<pool<columns<int, int>>, int, int (*)(int)>, "it has two of them");
}

// A row that is taken out of its columns lies like a structure of its elements.
TEST(columns_sorting, takes_rows_out_to_memory_of_a_structures_size) {
    struct structure {
        char a;
        double b;
        char c;
        over_aligned<64> d{};
        short e;
    };
    using rows = detail::object_type<columns<char, double, char, over_aligned<64>, short>>;
    static_assert(rows::alignment() == alignof(structure) && rows::stride() == sizeof(structure));
    static_assert(detail::object_type<columns<char>>::stride() == 1);
    std::byte memory[rows::stride()];
    EXPECT_EQ(rows::element<1>(memory), memory + 8);
    EXPECT_EQ(rows::element<3>(memory), memory + 64);
    EXPECT_EQ(rows::element<4>(memory), memory + 128);
}

} // namespace
} // namespace handlepool::test
