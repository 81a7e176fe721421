// SPDX-License-Identifier: MIT

// Parts of a sort are stable, say rightly whether the store is in order, and reach the order in as many calls
// as they promise, whatever the keys are, whoever comes and goes.

#include <handlepool/columns.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/consistency.hpp>
#include <tests/support/order_checks.hpp>
#include <tests/support/random.hpp>
#include <tests/support/tabulate.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

struct part_item {
    int key = 0;
    int other_key = 0;
    int number = 0; // in the order of creation

    friend bool operator==(const part_item&, const part_item&) = default;
};

using part_items = pool<part_item>;
using part_handle = handle<part_item>;
using part_sort = std::function<sort_stats(part_items&, std::size_t budget)>;

constexpr std::size_t huge_budget = std::numeric_limits<std::size_t>::max();

constexpr auto smaller_key = [](const part_item& a, const part_item& b) noexcept { return a.key < b.key; };
constexpr auto smaller_other_key = [](const part_item& a, const part_item& b) noexcept {
    return a.other_key < b.other_key;
};

std::vector<part_item> part_content(const part_items& pool) {
    return {pool.items().begin(), pool.items().end()};
}

/// std::stable_sort, without the deprecated functions that it calls in some libraries.
template <class Values, class Before>
void sort_stably(Values& values, Before before) {
    for (auto next = values.begin(); next != values.end(); ++next) {
        std::rotate(std::upper_bound(values.begin(), next, *next, before), next, next + 1);
    }
}

/// The calls that bring `count` objects in order, whatever their order is.
std::size_t most_calls(std::size_t count, std::size_t budget) {
    if (budget >= count) {
        return 1;
    }
    const std::size_t places = budget / 2;
    return (count - budget + places - 1) / places + 1;
}

void fill_parts(part_items& pool, const std::vector<int>& keys) {
    pool.reset();
    for (const int key : keys) {
        pool.emplace(key, 0, static_cast<int>(pool.size()));
    }
    pool.compact();
}

/// Sorts in parts until the store is in order, and compares with a stable sort.
void expect_parts_of_a_stable_sort(part_items& pool, const part_sort& sort, std::size_t budget,
                                   std::string_view what) {
    SCOPED_TRACE(testing::Message() << what << ", " << pool.size() << " objects, budget " << budget);
    std::vector<part_item> expected = part_content(pool);
    sort_stably(expected, smaller_key);
    const std::size_t bound = most_calls(expected.size(), budget);
    std::size_t calls = 0;
    for (bool in_order = false; !in_order;) {
        const std::vector<part_item> before = part_content(pool);
        const sort_stats done = sort(pool, budget);
        const std::vector<part_item> after = part_content(pool);
        in_order = done.in_order;
        ASSERT_EQ(in_order, after == expected) << "call " << calls;
        ASSERT_EQ(done.moved, places_that_differ(before, after));
        ASSERT_LE(done.moved, budget);
        ASSERT_LE(++calls, bound);
    }
    ASSERT_EQ(part_content(pool), expected);
    expect_consistent(pool);
}

/// Orders that a sort might stumble over.
std::vector<std::pair<std::string_view, std::vector<int>>> shapes_of_parts(random_source& random,
                                                                           std::size_t count) {
    std::vector<std::pair<std::string_view, std::vector<int>>> made;
    const auto add = [&](std::string_view name, auto key_at) {
        made.emplace_back(name, tabulate(count, [&](std::size_t i) { return static_cast<int>(key_at(i)); }));
    };
    add("random", [&](std::size_t) { return random.below(1'000'000); });
    add("three values", [&](std::size_t) { return random.below(3); });
    add("two values", [&](std::size_t) { return random.below(2); });
    add("equal", [](std::size_t) { return 7; });
    add("ascending", [](std::size_t i) { return i; });
    add("descending", [=](std::size_t i) { return count - i; });
    add("two blocks", [=](std::size_t i) { return i < count / 2 ? 2 : 1; });
    add("the smallest last", [=](std::size_t i) { return i + 1 == count ? 1 : 2; });
    add("the largest first", [=](std::size_t i) { return i == 0 ? 2 : 1; });
    add("organ pipes", [=](std::size_t i) { return std::min(i, count - i); });
    add("saw", [](std::size_t i) { return i % 5; });
    return made;
}

class parts_of_a_sort : public testing::TestWithParam<std::pair<std::string_view, part_sort>> {};

thread_executor& three_threads() {
    static thread_executor executor(3);
    return executor;
}

const std::pair<std::string_view, part_sort> ways[] = {
    {"by_comparison",
     [](part_items& pool, std::size_t budget) { return sort_some(pool, smaller_key, budget); }},
    {"by_number",
     [](part_items& pool, std::size_t budget) { return sort_some_by(pool, &part_item::key, budget); }},
    {"by_small_key",
     [](part_items& pool, std::size_t budget) {
         return sort_some_by(pool, [](const part_item& one) { return std::int64_t{one.key} << 20; }, budget);
     }},
    {"by_text",
     [](part_items& pool, std::size_t budget) {
         return sort_some_by(
             pool, [](const part_item& one) { return std::to_string(one.key + 1'000'000); }, budget);
     }},
    {"by_comparison_in_threads",
     [](part_items& pool, std::size_t budget) {
         return sort_some(pool, smaller_key, budget, three_threads());
     }},
    {"by_number_in_threads",
     [](part_items& pool, std::size_t budget) {
         return sort_some_by(pool, &part_item::key, budget, three_threads());
     }},
};
INSTANTIATE_TEST_SUITE_P(ways, parts_of_a_sort, testing::ValuesIn(ways),
                         [](const auto& way) { return std::string(way.param.first); });

TEST_P(parts_of_a_sort, make_a_stable_sort_in_as_many_calls_as_promised) {
    random_source random(41);
    part_items pool({.name = "items", .capacity = 100});
    for (const std::size_t count : {2U, 3U, 4U, 5U, 9U, 60U}) {
        for (const auto& [shape, keys] : shapes_of_parts(random, count)) {
            for (const std::size_t budget :
                 {std::size_t{2}, std::size_t{3}, std::size_t{4}, count / 2, count - 1, count, huge_budget}) {
                if (budget >= 2) {
                    fill_parts(pool, keys);
                    ASSERT_NO_FATAL_FAILURE(
                        expect_parts_of_a_stable_sort(pool, GetParam().second, budget, shape));
                }
            }
        }
    }
}

TEST(parts_of_sorts, of_a_few_objects_are_right_for_all_keys_and_budgets) {
    part_items pool({.name = "items", .capacity = 5});
    for (std::size_t count = 2; count != 6; ++count) {
        std::size_t all = 1;
        for (std::size_t i = 0; i != count; ++i) {
            all *= 4;
        }
        for (std::size_t number = 0; number != all; ++number) {
            std::vector<int> keys;
            for (std::size_t rest = number; keys.size() != count; rest /= 4) {
                keys.push_back(static_cast<int>(rest % 4));
            }
            for (std::size_t budget = 2; budget <= count; ++budget) {
                fill_parts(pool, keys);
                ASSERT_NO_FATAL_FAILURE(expect_parts_of_a_stable_sort(
                    pool,
                    [](part_items& of, std::size_t moves) {
                        return sort_some_by(of, &part_item::key, moves);
                    },
                    budget, "all keys"));
            }
        }
    }
}

TEST(parts_of_sorts, without_moves_say_whether_the_store_is_in_order) {
    random_source random(42);
    part_items pool({.name = "items", .capacity = 100});
    for (const std::size_t count : {0U, 1U, 2U, 3U, 50U}) {
        for (const auto& [shape, keys] : shapes_of_parts(random, count)) {
            fill_parts(pool, keys);
            const std::vector<part_item> before = part_content(pool);
            for (const std::size_t budget : {0U, 1U, 0U}) {
                const sort_stats done = sort_some(pool, smaller_key, budget);
                EXPECT_EQ(done.moved, 0U);
                EXPECT_EQ(done.size, count);
                EXPECT_EQ(done.in_order, std::ranges::is_sorted(before, smaller_key)) << shape;
                EXPECT_EQ(part_content(pool), before);
            }
        }
    }
}

/// What a pool's order means to parts of a sort: the handles in the order that equal objects keep.
class part_model {
public:
    part_model(random_source& random, bool keep_order)
        : random_(random), pool_({.name = "items", .capacity = 200, .keep_order = keep_order}) {}

    /// Creates and erases some, by the pool or by a view of it.
    template <class Pool>
    void change(Pool& pool) {
        for (std::uint64_t i = random_.below(6); i != 0; --i) {
            const part_item made{static_cast<int>(random_.below(4)), static_cast<int>(random_.below(3)),
                                 next_number_++};
            newborns_.push_back(pool.emplace(made));
        }
        for (std::uint64_t i = random_.below(5); i != 0 && !pool.items().empty(); --i) {
            pool.erase(pool.handle_at(random_.below(pool.items().size())));
        }
    }
    void change(bool alone) {
        if (alone) {
            auto view = pool_.exclusive_access();
            change(view);
        } else {
            change(pool_);
        }
    }
    void compact() {
        pool_.compact();
        std::erase_if(order_, [&](part_handle each) { return !pool_.contains(each); });
        std::vector<std::pair<const part_item*, part_handle>> placed;
        for (const part_handle each : newborns_) {
            if (const part_item* const object = pool_.find(each)) {
                placed.emplace_back(object, each);
            }
        }
        std::ranges::sort(placed);
        for (const auto& [object, each] : placed) {
            order_.push_back(each);
        }
        newborns_.clear();
    }
    template <class Before>
    sort_stats sort_some(Before before, std::size_t budget) {
        if (finished_) {
            order_.clear();
            for (std::size_t i = 0; i != pool_.items().size(); ++i) {
                order_.push_back(pool_.handle_at(i));
            }
        }
        const sort_stats done = handlepool::sort_some(pool_, before, budget);
        EXPECT_LE(done.moved, budget);
        sort_stably(order_, [&](part_handle a, part_handle b) { return before(pool_.at(a), pool_.at(b)); });
        finished_ = is_reached();
        EXPECT_EQ(done.in_order, finished_);
        return done;
    }
    part_items& pool() { return pool_; }

private:
    bool is_reached() const {
        for (std::size_t i = 0; i != order_.size(); ++i) {
            if (pool_.handle_at(i) != order_[i]) {
                return false;
            }
        }
        return true;
    }

    random_source& random_;
    part_items pool_;
    std::vector<part_handle> order_;
    std::vector<part_handle> newborns_;
    bool finished_ = true;
    int next_number_ = 0;
};

TEST(parts_of_sorts, stay_stable_while_objects_come_and_go_and_comparisons_change) {
    for (std::uint64_t seed = 0; seed != 60; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        random_source random(4300 + seed);
        part_model model(random, seed % 2 == 0);
        const bool one_comparison = seed % 4 < 2;
        for (int step = 0; step != 120; ++step) {
            const std::uint64_t what = random.below(10);
            if (what < 4) {
                model.change(random.one_in(2));
                model.compact();
            }
            const std::size_t budget = random.below(12);
            if (one_comparison || random.one_in(2)) {
                model.sort_some(smaller_key, budget);
            } else {
                model.sort_some(smaller_other_key, budget);
            }
            ASSERT_FALSE(testing::Test::HasFailure());
        }
        const std::size_t bound = most_calls(model.pool().items().size(), 6);
        std::size_t calls = 1;
        while (!model.sort_some(smaller_key, 6).in_order) {
            ASSERT_LE(++calls, bound);
        }
        expect_consistent(model.pool());
    }
}

std::vector<int> numbers_in(const part_items& pool) {
    std::vector<int> found;
    for (const part_item& each : pool.items()) {
        found.push_back(each.number);
    }
    return found;
}

TEST(parts_of_sorts, are_not_in_order_before_equal_objects_are_whatever_was_compared_before) {
    part_items pool({.name = "items", .capacity = 10});
    fill_parts(pool, {6, 5, 4, 3, 2, 1});
    EXPECT_FALSE(sort_some(pool, smaller_key, 2).in_order);
    EXPECT_EQ(numbers_in(pool), (std::vector<int>{5, 1, 2, 3, 4, 0}));
    // All are equal by the other key, so each order of them is one by that, but not theirs.
    sort_stats done = sort_some(pool, smaller_other_key, 0);
    EXPECT_FALSE(done.in_order);
    EXPECT_EQ(done.moved, 0U);
    // What has begun is remembered: 5 4 3 2 1 0.
    done = sort_some(pool, smaller_other_key, 2);
    EXPECT_FALSE(done.in_order);
    EXPECT_EQ(done.moved, 2U);
    EXPECT_EQ(numbers_in(pool), (std::vector<int>{5, 4, 2, 3, 1, 0}));
    done = sort_some(pool, smaller_other_key, 2);
    EXPECT_TRUE(done.in_order);
    EXPECT_EQ(done.moved, 2U);
    EXPECT_EQ(numbers_in(pool), (std::vector<int>{5, 4, 3, 2, 1, 0}));
    EXPECT_TRUE(sort_some(pool, smaller_other_key, 0).in_order);
}

TEST(parts_of_sorts, are_counted_in_the_memory_of_the_pool_until_they_are_forgotten) {
    constexpr int count = 1000;
    part_items pool({.name = "items", .capacity = count});
    const auto keys = tabulate(count, [](int i) { return count - i; });
    const auto bytes_more = [&](const auto& action) {
        const pool_stats before = pool.stats();
        action();
        const pool_stats after = pool.stats();
        EXPECT_EQ(after.bytes_resident - before.bytes_resident, after.bytes_reserved - before.bytes_reserved);
        return static_cast<std::ptrdiff_t>(after.bytes_reserved - before.bytes_reserved);
    };
    const auto begin = [&] { EXPECT_FALSE(sort_some(pool, smaller_key, 10).in_order); };
    constexpr std::ptrdiff_t remembered = 4 * count;
    fill_parts(pool, keys);
    EXPECT_EQ(bytes_more(begin), remembered);
    EXPECT_EQ(bytes_more(begin), 0);
    EXPECT_EQ(bytes_more([&] { EXPECT_TRUE(sort_some(pool, smaller_key, count).in_order); }), -remembered);

    fill_parts(pool, keys);
    begin();
    const std::size_t reserved = pool.stats().bytes_reserved;
    pool.shrink_to_fit();
    EXPECT_EQ(pool.stats().bytes_reserved + remembered, reserved);
    begin();
    EXPECT_EQ(pool.stats().bytes_reserved, reserved);
    EXPECT_TRUE(pool.try_shrink_to_fit());
    EXPECT_EQ(pool.stats().bytes_reserved + remembered, reserved);
    begin();
    pool.clear();
    pool.compact();
    EXPECT_EQ(pool.stats().bytes_reserved + remembered, reserved) << "without objects there is no order";
}

TEST(parts_of_sorts, are_forgotten_by_a_whole_sort_by_reset_and_when_the_pool_shrinks) {
    part_items pool({.name = "items", .capacity = 10});
    fill_parts(pool, {4, 4, 4, 1, 1, 1});
    EXPECT_FALSE(sort_some(pool, smaller_key, 2).in_order);
    const std::vector<int> begun = numbers_in(pool);
    EXPECT_EQ(begun, (std::vector<int>{3, 1, 2, 0, 4, 5}));
    // All are equal by this: they stay where they are, and so they do from then on.
    sort(pool, [](const part_item&, const part_item&) noexcept { return false; });
    EXPECT_EQ(numbers_in(pool), begun);
    sort_some(pool, [](const part_item&, const part_item&) noexcept { return false; }, 10);
    EXPECT_EQ(numbers_in(pool), begun);
    sort_some(pool, smaller_key, 10);
    EXPECT_EQ(numbers_in(pool), (std::vector<int>{3, 4, 5, 1, 2, 0}));

    fill_parts(pool, {4, 4, 4, 1, 1, 1});
    sort_some(pool, smaller_key, 2);
    fill_parts(pool, {1, 1, 0, 0});
    EXPECT_TRUE(sort_some(pool, smaller_key, 4).in_order);
    EXPECT_EQ(numbers_in(pool), (std::vector<int>{2, 3, 0, 1}));

    fill_parts(pool, {4, 4, 4, 1, 1, 1});
    sort_some(pool, smaller_key, 2);
    pool.shrink_to_fit();
    EXPECT_TRUE(sort_some(pool, smaller_other_key, 0).in_order);
    EXPECT_EQ(numbers_in(pool), begun);
}

TEST(parts_of_sorts, keep_the_order_of_objects_whose_handles_were_revoked) {
    part_items pool({.name = "items", .capacity = 10});
    fill_parts(pool, {4, 4, 4, 1, 1, 1});
    sort_some(pool, smaller_key, 2); // 3 1 2 0 4 5
    EXPECT_EQ(pool.items()[1].number, 1);
    pool.revoke(pool.handle_at(1));
    pool.compact();
    EXPECT_TRUE(sort_some(pool, smaller_key, 10).in_order);
    EXPECT_EQ(numbers_in(pool), (std::vector<int>{3, 4, 5, 0, 1, 2}));
}

// The new object of a slot has nothing of the old one's place among its equals.
TEST(parts_of_sorts, put_an_object_in_the_slot_of_an_erased_one_after_its_equals) {
    thread_executor executor(2);
    for (int kind = 0; kind != 16; ++kind) {
        const bool by_threads = (kind & 1) != 0;
        part_items pool(
            {.name = "items", .capacity = 10, .remember_frames = (kind & 2) != 0, .keep_order = true});
        const scoped_hook births = (kind & 4) != 0 ? pool.on_birth([](auto, auto&) {}) : scoped_hook();
        fill_parts(pool, {4, 4, 4, 1, 1, 1});
        sort_some(pool, smaller_key, 2); // 3 1 2 0 4 5
        const auto replace = [](auto& in, auto take_in) {
            const auto erased = in.handle_at(4);
            in.erase(erased);
            take_in();
            while (true) {
                const auto made = in.emplace(1, 0, 6);
                take_in();
                if (made.index() == erased.index()) {
                    return;
                }
                in.erase(made);
                take_in();
            }
        };
        if ((kind & 8) != 0) {
            auto alone = pool.exclusive_access();
            replace(alone, [] {});
        } else {
            replace(pool, [&] { by_threads ? pool.compact(executor) : pool.compact(); });
        }
        EXPECT_TRUE(sort_some(pool, smaller_key, 10).in_order);
        EXPECT_EQ(numbers_in(pool), (std::vector<int>{3, 5, 6, 0, 1, 2})) << kind;
    }
}

TEST(parts_of_sorts, of_rows_and_of_raw_memory_are_stable) {
    random_source random(44);
    constexpr std::size_t count = 40;
    pool<columns<int, std::uint64_t>> rows({.name = "rows", .capacity = count});
    raw_pool<> memory({.name = "memory", .capacity = count}, {.size = sizeof(part_item), .alignment = 8});
    std::vector<std::pair<int, std::uint64_t>> expected;
    for (std::size_t i = 0; i != count; ++i) {
        const int key = static_cast<int>(random.below(3));
        rows.emplace(key, std::uint64_t{i});
        memory.emplace([&](void* place) { ::new (place) part_item{key, 0, static_cast<int>(i)}; });
        expected.emplace_back(key, i);
    }
    rows.compact();
    memory.compact();
    sort_stably(expected, [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto key_of = [](const void* object) noexcept {
        return static_cast<const part_item*>(object)->key;
    };
    std::size_t calls = 1;
    while (!sort_some_by<int>(rows, [](int key) noexcept { return key; }, 6).in_order) {
        ASSERT_LE(++calls, most_calls(count, 6));
    }
    calls = 1;
    while (!sort_some_by(memory, key_of, 6).in_order) {
        ASSERT_LE(++calls, most_calls(count, 6));
    }
    for (std::size_t i = 0; i != count; ++i) {
        EXPECT_EQ(rows.items<std::uint64_t>()[i], expected[i].second);
        EXPECT_EQ(static_cast<const part_item*>(memory.items()[i])->number,
                  static_cast<int>(expected[i].second));
    }
}

/// Comparisons that are no order.
std::vector<std::pair<std::string_view, std::function<bool(const part_item&, const part_item&)>>>
hostile_comparisons() {
    return {
        {"<=", [](const part_item& a, const part_item& b) { return a.key <= b.key; }},
        {"always", [](const part_item&, const part_item&) { return true; }},
        {"not equal", [](const part_item& a, const part_item& b) { return a.key != b.key; }},
        {"in a circle", [](const part_item& a, const part_item& b) { return (b.key - a.key + 3) % 3 == 1; }},
        {"mixed up",
         [](const part_item& a, const part_item& b) { return (a.number * 31 + b.number * 17) % 7 < 3; }}};
}

#if HANDLEPOOL_CHECKED

TEST(parts_of_sorts_death, comes_before_the_end_where_the_comparison_is_checked) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    part_items pool({.name = "items", .capacity = 100});
    fill_parts(pool, {2, 0, 1});
    const std::map<std::string_view, std::string> reasons{
        {"<=", "compare\\(a, a\\) is true for the object at position 1"},
        {"always", "compare\\(a, a\\) is true for the object at position 0"},
        {"not equal",
         "compare\\(b, a\\) is true, and compare\\(a, b\\) is true, for the objects a at position 0 "
         "and b at position 1"},
        {"in a circle",
         "compare\\(b, a\\) is true, and others put a before b, for the objects a at position 0 "
         "and b at position 2"},
        {"mixed up", "compare\\(a, a\\) is true for the object at position 0"}};
    for (const auto& [name, compare] : hostile_comparisons()) {
        EXPECT_DEATH(
            sort_some(pool, compare, 2),
            "^handlepool: pool 'items': sorted by what is no strict weak order: " + reasons.at(name) + "\n$")
            << name;
    }
}

#else

TEST(parts_of_sorts, come_to_an_end_whatever_the_comparison_says) {
    random_source random(45);
    part_items pool({.name = "items", .capacity = 100});
    for (const auto& [name, compare] : hostile_comparisons()) {
        for (int round = 0; round != 50; ++round) {
            const std::size_t count = random.below(60) + 2;
            const std::size_t budget = random.below(count) + 2;
            const auto keys = tabulate(count, [&](std::size_t) { return static_cast<int>(random.below(3)); });
            fill_parts(pool, keys);
            std::size_t calls = 1;
            while (!sort_some(pool, compare, budget).in_order) {
                ASSERT_LE(++calls, most_calls(count, budget)) << name << ", " << count << ", " << budget;
            }
            expect_consistent(pool);
        }
    }
}

#endif

} // namespace
} // namespace handlepool::test
