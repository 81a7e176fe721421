// SPDX-License-Identifier: MIT

// Many objects at once: emplace_n with a generator, insert_range.

#include <handlepool/pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>

#include <any>
#include <array>
#include <cstddef>
#include <forward_list>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class T>
using handles_of = std::vector<handle<T>>;

/// What the handles name, in their order.
template <class T>
std::vector<T> named(pool<T>& from, const handles_of<T>& handles) {
    std::vector<T> all;
    for (const auto each : handles) {
        all.push_back(from.at(each));
    }
    return all;
}

TEST(emplace_n, makes_each_object_by_a_generator) {
    pool<int> pool({.name = "ints", .capacity = 1000});
    handles_of<int> handles;
    pool.emplace_n(500, std::back_inserter(handles), [](std::size_t i) { return static_cast<int>(i * i); });
    ASSERT_EQ(handles.size(), 500U);
    for (std::size_t i = 0; i != handles.size(); ++i) {
        EXPECT_EQ(pool.at(handles[i]), static_cast<int>(i * i));
    }
    expect_consistent(pool);
}

TEST(emplace_n, takes_a_generator_of_what_an_object_is_made_from) {
    pool<std::string> strings({.name = "strings", .capacity = 10});
    handles_of<std::string> handles;
    strings.emplace_n(2, std::back_inserter(handles), [](std::size_t i) { return i == 0 ? "zero" : "one"; });
    EXPECT_THAT(named(strings, handles), ElementsAre("zero", "one"));
}

TEST(emplace_n, makes_objects_in_place_and_moves_none) {
    census counts;
    pool<counted> pool({.name = "counted", .capacity = 10});
    handles_of<counted> handles;
    pool.emplace_n(3, std::back_inserter(handles), [&](std::size_t i) { return counted(counts, i); });
    EXPECT_EQ(counts.born(), 3);
    EXPECT_EQ(pool.at(handles[2]).value(), 2U);
}

TEST(emplace_n, takes_a_function_for_an_object_where_it_makes_one) {
    pool<std::function<int(std::size_t)>> pool({.name = "functions", .capacity = 10});
    std::vector<decltype(pool)::handle_type> handles;
    pool.emplace_n(2, std::back_inserter(handles), [](std::size_t i) { return static_cast<int>(i) + 7; });
    EXPECT_EQ(pool.at(handles[1])(1), 8);
}

TEST(emplace_n, of_no_objects_calls_nothing) {
    pool<int> pool({.name = "ints", .capacity = 10});
    handles_of<int> handles;
    pool.emplace_n(0, std::back_inserter(handles),
                   [](std::size_t) -> int { throw std::runtime_error("called"); });
    EXPECT_THAT(handles, IsEmpty());
}

TEST(emplace_n, changes_nothing_when_the_generator_throws_or_there_is_no_room) {
    census counts;
    pool<counted> pool({.name = "counted", .capacity = 100});
    handles_of<counted> handles;
    EXPECT_THROW(pool.emplace_n(50, std::back_inserter(handles),
                                [&](std::size_t i) {
                                    if (i == 30) {
                                        throw construction_failure();
                                    }
                                    return counted(counts, i);
                                }),
                 construction_failure);
    EXPECT_EQ(counts.alive(), 0);
    int calls = 0;
    const auto make = [&](std::size_t i) {
        ++calls;
        return counted(counts, i);
    };
    EXPECT_THROW(pool.emplace_n(1'000'000, std::back_inserter(handles), make), pool_exhausted);
    EXPECT_FALSE(pool.try_emplace_n(1'000'000, std::back_inserter(handles), make));
    EXPECT_EQ(calls, 0);
    EXPECT_THAT(handles, IsEmpty());
    EXPECT_TRUE(pool.try_emplace_n(100, std::back_inserter(handles), make)) << "nothing was lost";
    expect_consistent(pool);
}

TEST(emplace_n, has_fresh_slots_for_those_that_have_retired) {
    using layout = handle_layout<32, 3, 29>; // of three objects in each slot
    for (const bool ranges : {false, true}) {
        pool<int, with_layout<layout>> pool(
            {.name = "narrow", .capacity = 10, .reuse_delay = 0, .slot_limit = 40});
        std::vector<handle<int, layout>> handles;
        const std::vector<int> objects(10, 7);
        for (std::size_t created = 0; created != 40 * 3; created += 10) {
            ASSERT_TRUE(ranges ? pool.try_insert_range(objects, std::back_inserter(handles))
                               : pool.try_emplace_n(10, std::back_inserter(handles), 7))
                << "after " << created;
            EXPECT_EQ(pool.size(), 10U);
            pool.erase(std::exchange(handles, {}));
            pool.compact();
        }
        EXPECT_EQ(pool.stats().slots_retired, 40U);
        EXPECT_FALSE(pool.try_emplace_n(1, std::back_inserter(handles), 7));
        expect_consistent(pool);
    }
}

TEST(emplace_n, erases_all_when_writing_throws) {
    struct refusing {
        using difference_type = std::ptrdiff_t;
        refusing& operator*() { return *this; }
        refusing& operator++() { return *this; }
        refusing operator++(int) { return *this; }
        void operator=(handle<int>) {
            if (++*written == 3) {
                throw std::runtime_error("no room to write");
            }
        }
        int* written;
    };
    pool<int> pool({.name = "ints", .capacity = 10});
    int written = 0;
    EXPECT_THROW(pool.emplace_n(5, refusing{&written}, [](std::size_t) { return 1; }), std::runtime_error);
    EXPECT_EQ(pool.size(), 0U);
    written = 0;
    EXPECT_THROW(pool.insert_range(std::array{1, 2, 3, 4}, refusing{&written}), std::runtime_error);
    EXPECT_EQ(pool.size(), 0U);
    expect_consistent(pool);
}

TEST(insert_range, copies_the_elements_of_a_range) {
    const auto inserted = [](const auto& range) {
        pool<int> pool({.name = "ints", .capacity = 10});
        handles_of<int> handles;
        pool.insert_range(range, std::back_inserter(handles));
        EXPECT_EQ(pool.size(), handles.size());
        return named(pool, handles);
    };
    EXPECT_THAT(inserted(std::vector{3, 1, 2}), ElementsAre(3, 1, 2));
    EXPECT_THAT(inserted(std::list{3, 1, 2}), ElementsAre(3, 1, 2));
    EXPECT_THAT(inserted(std::forward_list{3, 1, 2}), ElementsAre(3, 1, 2));
    EXPECT_THAT(inserted(std::vector<int>()), IsEmpty());
    EXPECT_THAT(inserted(std::views::iota(3, 6)), ElementsAre(3, 4, 5));
    const int array[] = {4, 5};
    EXPECT_THAT(inserted(array), ElementsAre(4, 5));
}

TEST(insert_range, moves_elements_that_a_range_gives_as_rvalues) {
    pool<std::unique_ptr<int>> pool({.name = "pointers", .capacity = 10});
    std::vector<std::unique_ptr<int>> source;
    source.push_back(std::make_unique<int>(7));
    source.push_back(std::make_unique<int>(8));
    std::vector<decltype(pool)::handle_type> handles;
    pool.insert_range(
        std::ranges::subrange(std::move_iterator(source.begin()), std::move_iterator(source.end())),
        std::back_inserter(handles));
    EXPECT_EQ(source[0], nullptr);
    EXPECT_EQ(*pool.at(handles[0]), 7);
    EXPECT_EQ(*pool.at(handles[1]), 8);
}

TEST(insert_range, reads_a_range_once_whose_size_nobody_knows) {
    std::istringstream words("one two three");
    pool<std::string> strings({.name = "strings", .capacity = 10});
    handles_of<std::string> handles;
    strings.insert_range(std::ranges::subrange(std::istream_iterator<std::string>(words),
                                               std::istream_iterator<std::string>()),
                         std::back_inserter(handles));
    EXPECT_THAT(named(strings, handles), ElementsAre("one", "two", "three"));
    std::istringstream numbers("4 5");
    pool<over_aligned<64>> aligned({.name = "aligned", .capacity = 10});
    std::vector<handle<over_aligned<64>>> places;
    aligned.insert_range(std::views::istream<std::uint64_t>(numbers), std::back_inserter(places));
    ASSERT_EQ(places.size(), 2U);
    EXPECT_EQ(aligned.at(places[1]).value, 5U);
    EXPECT_TRUE(aligned.at(places[1]).is_aligned());
}

TEST(insert_range, of_too_many_changes_nothing_and_reads_no_endless_range_to_its_end) {
    pool<int> pool({.name = "ints", .capacity = 10});
    handles_of<int> handles;
    EXPECT_THROW(pool.insert_range(std::views::iota(0, 100'000), std::back_inserter(handles)),
                 pool_exhausted);
    EXPECT_FALSE(pool.try_insert_range(std::views::iota(0, 100'000), std::back_inserter(handles)));
    struct endless {
        using value_type = int;
        using difference_type = std::ptrdiff_t;
        int operator*() const { return 1; }
        endless& operator++() { return *this; }
        void operator++(int) {}
        bool operator==(std::default_sentinel_t) const { return false; }
    };
    EXPECT_THROW(pool.insert_range(std::ranges::subrange(endless(), std::default_sentinel),
                                   std::back_inserter(handles)),
                 pool_exhausted);
    EXPECT_THAT(handles, IsEmpty());
    EXPECT_EQ(pool.size(), 0U);
    pool.insert_range(std::views::iota(0, 10), std::back_inserter(handles));
    EXPECT_EQ(pool.size(), 10U) << "nothing was lost";
    expect_consistent(pool);
}

TEST(insert_range, changes_nothing_when_the_range_or_a_constructor_throws) {
    census counts;
    fuse third(2);
    pool<throwing> pool({.name = "throwing", .capacity = 10});
    handles_of<throwing> handles;
    const auto make = [&](int i) {
        if (i == 8) {
            throw std::runtime_error("thrown by the range");
        }
        return throwing(third, counts, static_cast<std::uint64_t>(i));
    };
    EXPECT_THROW(
        pool.insert_range(std::views::iota(0, 5) | std::views::transform(make), std::back_inserter(handles)),
        construction_failure);
    EXPECT_THROW(
        pool.insert_range(std::views::iota(6, 10) | std::views::transform(make), std::back_inserter(handles)),
        std::runtime_error);
    EXPECT_EQ(counts.alive(), 0);
    EXPECT_EQ(pool.size(), 0U);
    pool.insert_range(std::views::iota(0, 5) | std::views::transform(make), std::back_inserter(handles));
    EXPECT_EQ(pool.at(handles[4]).value(), 4U);
    expect_consistent(pool);
}

// One object, and an iterator that can only be moved: neither is taken for the other.
TEST(insert, still_takes_one_object) {
    pool<std::vector<int>> pool({.name = "vectors", .capacity = 10});
    const auto one = pool.insert({1, 2, 3});
    EXPECT_THAT(pool.at(one), ElementsAre(1, 2, 3));
}

} // namespace
} // namespace handlepool::test
