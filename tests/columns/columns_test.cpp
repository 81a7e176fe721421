// SPDX-License-Identifier: MIT
#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>
#include <tests/support/row_consistency.hpp>
#include <tests/support/tabulate.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct position {
    float x = 0;
    float y = 0;
    friend bool operator==(position, position) = default;
};
struct velocity {
    float x;
    float y;
    friend bool operator==(velocity, velocity) = default;
};
struct health {
    int points;
    friend bool operator==(health, health) = default;
};

using movers = pool<columns<position, velocity, health>>;

const pool_options ten{.name = "movers", .capacity = 10};

TEST(columns, an_emplaced_row_is_found_by_its_handle) {
    movers pool(ten);
    const auto handle = pool.emplace(position{1, 2}, velocity{3, 4}, health{5});
    EXPECT_TRUE(pool.contains(handle));
    const auto found = pool.find(handle);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->get<position>(), (position{1, 2}));
    EXPECT_EQ(found->get<1>(), (velocity{3, 4}));
    EXPECT_EQ(pool.at(handle).get<health>(), health{5});
    EXPECT_EQ(pool[handle].get<2>(), health{5});
    EXPECT_EQ(handle.pool_id(), pool.id());
    EXPECT_EQ(pool.size(), 1U);
    EXPECT_FALSE(pool.empty());
}

TEST(columns, elements_of_a_row_are_changed_through_it) {
    movers pool(ten);
    const auto handle = pool.emplace(position{1, 2}, velocity{3, 4}, health{5});
    auto [where, speed, left] = pool.at(handle);
    where.x += speed.x;
    left.points = 0;
    pool.compact();
    EXPECT_EQ(pool.at(handle).get<position>(), (position{4, 2}));
    EXPECT_EQ(pool.items<health>()[0], health{0});
    pool.mutable_items<health>()[0].points = 7;
    pool.mutable_items<0>()[0].y = 8;
    EXPECT_EQ(pool.at(handle).get<health>(), health{7});
    EXPECT_EQ(pool.at(handle).get<position>(), (position{4, 8}));
}

TEST(columns, rows_of_a_const_pool_are_const) {
    movers pool(ten);
    const auto handle = pool.emplace(health{5});
    pool.compact();
    const movers& view = pool;
    static_assert(std::is_same_v<decltype(view.find(handle)->get<health>()), const health&>);
    static_assert(std::is_same_v<decltype(view.at(handle).get<0>()), const position&>);
    static_assert(std::is_same_v<decltype(view.items<velocity>()), std::span<const velocity>>);
    static_assert(std::is_same_v<decltype(std::as_const(pool).pin(handle)->get<0>()), const position&>);
    const auto [where, speed, left] = view.at(handle);
    static_assert(std::is_same_v<decltype(left), const health&>);
    EXPECT_EQ(left, health{5});
    EXPECT_EQ(view[handle].get<health>(), health{5});
    EXPECT_EQ(view.handle_at(0), handle);
    EXPECT_EQ(view.handle_of(left), handle);
    const row<const position, const velocity, const health> as_const = pool.at(handle);
    EXPECT_EQ(&as_const.get<health>(), &left);
    const row_pointer<const position, const velocity, const health> const_pointer = pool.find(handle);
    EXPECT_EQ(const_pointer, view.find(handle));
    static_assert(!std::is_convertible_v<movers::const_reference, movers::reference>);
    static_assert(!std::is_convertible_v<movers::const_pointer, movers::pointer>);
}

TEST(columns, a_row_pointer_is_like_a_pointer) {
    movers pool(ten);
    const auto one = pool.emplace();
    const auto other = pool.emplace();
    movers::pointer found;
    EXPECT_FALSE(found);
    EXPECT_EQ(found, nullptr);
    EXPECT_EQ(found, pool.find({}));
    found = pool.find(one);
    EXPECT_TRUE(found);
    EXPECT_NE(found, nullptr);
    EXPECT_EQ(found, pool.find(one));
    EXPECT_NE(found, pool.find(other));
    found = nullptr;
    EXPECT_FALSE(found);
    static_assert(std::is_trivially_copyable_v<movers::pointer> && sizeof(movers::pointer) == 16);
    static_assert(std::tuple_size_v<movers::reference> == 3);
}

TEST(columns, elements_without_an_argument_are_value_initialized) {
    movers pool(ten);
    for (int round = 0; round != 1000; ++round) { // until all memory has held other values
        std::array<movers::handle_type, 10> handles;
        pool.emplace_n(10, handles.begin(), position{1, 1}, velocity{2, 2}, health{3});
        pool.erase(handles);
        pool.compact();
    }
    EXPECT_THAT(pool.at(pool.emplace()).get<velocity>(), (velocity{0, 0}));
    EXPECT_THAT(pool.at(pool.emplace(health{5})).get<velocity>(), (velocity{0, 0}));
    EXPECT_THAT(pool.at(pool.emplace(velocity{1, 2})).get<health>(), health{0});
}

TEST(columns, arguments_of_the_columns_types_are_matched_by_type) {
    movers pool(ten);
    const health left{5};
    auto [where, speed, points] = pool.at(pool.emplace(left, velocity{3, 4}));
    EXPECT_EQ(where, position{});
    EXPECT_EQ(speed, (velocity{3, 4}));
    EXPECT_EQ(points, left);
    // Also when they could be converted to others.
    ::handlepool::pool<columns<float, double, int>> numbers({.name = "numbers", .capacity = 10});
    const auto one = numbers.at(numbers.emplace(1.5));
    EXPECT_EQ(one.get<float>(), 0);
    EXPECT_EQ(one.get<double>(), 1.5);
    const auto all = numbers.at(numbers.emplace(7, 1.5F, 2.5));
    EXPECT_EQ(all.get<0>(), 1.5F);
    EXPECT_EQ(all.get<1>(), 2.5);
    EXPECT_EQ(all.get<2>(), 7);
}

TEST(columns, other_arguments_are_for_the_first_columns) {
    pool<columns<std::string, int, std::string>> pool({.name = "mixed", .capacity = 10});
    const auto named = pool.at(pool.emplace("ship"));
    EXPECT_EQ(named.get<0>(), "ship");
    EXPECT_EQ(named.get<1>(), 0);
    const auto all = pool.at(pool.emplace("ship", short{3}, std::string("red")));
    EXPECT_EQ(all.get<0>(), "ship");
    EXPECT_EQ(all.get<1>(), 3);
    EXPECT_EQ(all.get<2>(), "red");
    EXPECT_EQ(pool.at(pool.emplace(4)).get<int>(), 4); // the only int
}

template <class Pool, class... Args>
constexpr bool takes = requires(Pool& pool, Args&&... args) { pool.emplace(std::forward<Args>(args)...); };

TEST(columns, what_makes_no_row_does_not_compile) {
    static_assert(takes<movers> && takes<movers, health> && takes<movers, health&, const position&>);
    static_assert(!takes<movers, std::string>);
    static_assert(!takes<movers, position, std::string>);
    static_assert(!takes<movers, position, position>);
    static_assert(!takes<movers, position, velocity, health, health>);
    using unmade = pool<columns<int, move_only>>; // a move_only is not made from nothing
    static_assert(!takes<unmade> && !takes<unmade, int> && takes<unmade, move_only>);
    static_assert(!takes<unmade, move_only&> && takes<unmade, int, std::uint64_t>);
    using twins = pool<columns<int, int, char>>;
    static_assert(takes<twins, int> && takes<twins, int, int> && takes<twins, int, int, int>);
}

TEST(columns, columns_of_one_type_are_named_by_their_index) {
    pool<columns<int, int, char>> pool({.name = "twins", .capacity = 10});
    const auto handle = pool.emplace(1, 2, 'c');
    pool.compact();
    EXPECT_THAT(pool.items<0>(), ElementsAre(1));
    EXPECT_THAT(pool.items<1>(), ElementsAre(2));
    EXPECT_THAT(pool.items<char>(), ElementsAre('c'));
    EXPECT_EQ(pool.handle_of(pool.items<0>()[0]), handle);
    EXPECT_EQ(pool.handle_of(pool.items<1>()[0]), handle);
    pool.for_each([](int& one, int& other, char) { std::swap(one, other); });
    EXPECT_EQ(pool.at(handle).get<0>(), 2);
    EXPECT_EQ(pool.at(handle).get<1>(), 1);
}

TEST(columns, what_cannot_be_copied_is_moved_in) {
    pool<columns<move_only, int>> pool({.name = "moved", .capacity = 10});
    const auto handle = pool.emplace(move_only(5), 6);
    pool.compact();
    EXPECT_EQ(pool.at(handle).get<move_only>().value(), 5U);
    EXPECT_EQ(pool.at(handle).get<int>(), 6);
}

TEST(columns, an_erased_row_is_readable_until_the_compaction) {
    movers pool(ten);
    const auto handle = pool.emplace(health{5});
    pool.compact();
    const auto found = pool.find(handle);
    EXPECT_TRUE(pool.erase(handle));
    EXPECT_FALSE(pool.erase(handle));
    EXPECT_FALSE(pool.contains(handle));
    EXPECT_FALSE(pool.find(handle));
    EXPECT_EQ(found->get<health>(), health{5});
    EXPECT_EQ(pool.items<health>().size(), 1U);
    pool.compact();
    EXPECT_TRUE(pool.items<health>().empty());
    EXPECT_THAT([&] { pool.at(handle); },
                ThrowsMessage<stale_handle>(AllOf(HasSubstr("pool 'movers'"), HasSubstr("erased"))));
}

TEST(columns, a_compaction_moves_whole_rows) {
    pool<columns<std::uint64_t, sized<3>, over_aligned<64>>> pool({.name = "rows", .capacity = 200});
    const auto handles = tabulate(std::uint64_t{200}, [&](std::uint64_t i) {
        return pool.emplace(i, sized<3>(i), over_aligned<64>(i));
    });
    expect_consistent_rows(pool);
    for (std::size_t i = 0; i != 100; ++i) {
        pool.erase(handles[i]);
    }
    expect_consistent_rows(pool);
    for (std::uint64_t i = 100; i != 200; ++i) {
        const auto [number, bytes, aligned] = pool.at(handles[i]);
        EXPECT_EQ(number, i);
        EXPECT_TRUE(bytes.is_whole());
        EXPECT_EQ(bytes.value(), i);
        EXPECT_EQ(aligned.value, i);
    }
}

TEST(columns, every_element_is_destroyed_once) {
    census people;
    pool<columns<counted, int, counted>> pool({.name = "counted", .capacity = 100});
    const auto handles =
        tabulate(100, [&](int i) { return pool.emplace(counted(people, 1), i, counted(people, 2)); });
    EXPECT_EQ(people.alive(), 200);
    pool.compact();
    EXPECT_EQ(people.alive(), 200);
    for (std::size_t i = 0; i < 100; i += 3) {
        pool.erase(handles[i]);
    }
    pool.compact();
    EXPECT_EQ(people.alive(), 2 * 66);
    pool.reset();
    EXPECT_EQ(people.alive(), 0);
    pool.emplace(counted(people), 1, counted(people));
}

TEST(columns, over_aligned_elements_are_aligned_wherever_they_live) {
    pool<columns<char, over_aligned<64>, over_aligned<4096>>> pool({.name = "aligned", .capacity = 10});
    for (int i = 0; i != 10; ++i) {
        const auto made = pool.at(pool.emplace(char(i), over_aligned<64>(1), over_aligned<4096>(2)));
        EXPECT_TRUE(made.get<1>().is_aligned());
        EXPECT_TRUE(made.get<2>().is_aligned());
    }
    expect_consistent_rows(pool);
    for (std::size_t i = 0; i != 10; ++i) {
        EXPECT_TRUE(pool.items<1>()[i].is_aligned());
        EXPECT_TRUE(pool.items<2>()[i].is_aligned());
    }
}

struct tag {};

TEST(columns, an_empty_column_costs_no_memory) {
    static_assert(std::is_empty_v<tag>);
    const pool_options many{.name = "tags", .capacity = 100'000};
    pool<columns<char>> plain(many);
    pool<columns<char, tag>> tagged(many);
    std::vector<handle<columns<char>>> plain_handles;
    std::vector<handle<columns<char, tag>>> tagged_handles;
    for (int round = 0; round != 2; ++round) {
        plain.emplace_n(50'000, std::back_inserter(plain_handles), 'c');
        tagged.emplace_n(25'000, std::back_inserter(tagged_handles), 'c', tag{});
        tagged.emplace_n(25'000, std::back_inserter(tagged_handles), 'c');
        plain.compact();
        tagged.compact();
    }
    EXPECT_EQ(tagged.items<tag>().size(), 100'000U);
    EXPECT_EQ(tagged.stats().bytes_resident_in_objects, plain.stats().bytes_resident_in_objects);
    EXPECT_EQ(tagged.handle_of(tagged.items<tag>()[77]), tagged.handle_at(77));
    tagged.erase(tagged_handles[5]);
    EXPECT_EQ(tagged.stats().bytes_resident_in_objects, plain.stats().bytes_resident_in_objects);
}

struct counted_tag {
    counted_tag() { ++alive; }
    counted_tag(counted_tag&&) noexcept { ++alive; }
    ~counted_tag() { --alive; }
    inline static int alive = 0;
};

TEST(columns, constructors_of_an_empty_column_are_called) {
    static_assert(std::is_empty_v<counted_tag>);
    {
        pool<columns<counted_tag, int>> pool({.name = "tags", .capacity = 10});
        const auto one = pool.emplace();
        pool.emplace(counted_tag(), 1);
        EXPECT_EQ(counted_tag::alive, 2);
        pool.compact();
        EXPECT_EQ(counted_tag::alive, 2);
        pool.erase(one);
        pool.compact();
        EXPECT_EQ(counted_tag::alive, 1);
    }
    EXPECT_EQ(counted_tag::alive, 0);
}

template <std::size_t I>
struct numbered {
    std::uint16_t value = I;
};
template <class Indices>
struct many_columns;
template <std::size_t... Is>
struct many_columns<std::index_sequence<Is...>> {
    using type = columns<numbered<Is>...>;
};

TEST(columns, there_may_be_one_column_or_sixteen) {
    pool<columns<char>> one({.name = "one", .capacity = 100});
    const auto handle = one.emplace('a');
    one.emplace('b');
    expect_consistent_rows(one);
    EXPECT_EQ(one.at(handle).get<char>(), 'a');

    pool<many_columns<std::make_index_sequence<16>>::type> many({.name = "many", .capacity = 100});
    const auto made = many.emplace(numbered<7>{99}, numbered<15>{98});
    many.emplace();
    expect_consistent_rows(many);
    EXPECT_EQ(many.at(made).get<7>().value, 99);
    EXPECT_EQ(many.at(made).get<15>().value, 98);
    EXPECT_EQ(many.at(made).get<14>().value, 14);
}

TEST(columns, handle_of_knows_elements_of_all_columns_wherever_they_live) {
    movers pool(ten);
    const auto handle = pool.emplace(health{5});
    const auto expect_known = [&] {
        auto [where, speed, left] = *pool.find(handle);
        EXPECT_EQ(pool.handle_of(where), handle);
        EXPECT_EQ(pool.handle_of(speed), handle);
        EXPECT_EQ(pool.handle_of(left), handle);
    };
    expect_known();
    pool.compact();
    expect_known();
    const health& left = pool.at(handle).get<health>();
    pool.erase(handle);
    EXPECT_EQ(pool.handle_of(left), handle) << "erased, and still in memory";
    EXPECT_FALSE(pool.contains(pool.handle_at(0)));
    EXPECT_EQ(pool.handle_of(health{}), movers::handle_type{});
    EXPECT_THROW(pool.handle_at(1), std::out_of_range);
}

TEST(columns, emplace_n_is_all_or_nothing) {
    movers pool({.name = "movers", .capacity = 100});
    std::vector<movers::handle_type> handles;
    pool.emplace_n(90, std::back_inserter(handles), health{3}, position{1, 2});
    ASSERT_EQ(handles.size(), 90U);
    for (const auto handle : handles) {
        EXPECT_EQ(pool.at(handle).get<health>(), health{3});
        EXPECT_EQ(pool.at(handle).get<position>(), (position{1, 2}));
        EXPECT_EQ(pool.at(handle).get<velocity>(), (velocity{0, 0}));
    }
    EXPECT_THROW(pool.emplace_n(101, std::back_inserter(handles)), pool_exhausted);
    EXPECT_FALSE(pool.try_emplace_n(101, std::back_inserter(handles)));
    EXPECT_EQ(handles.size(), 90U);
    EXPECT_TRUE(pool.try_emplace_n(0, handles.begin()));
    EXPECT_EQ(pool.erase(handles), 90U);
    expect_consistent_rows(pool);
}

TEST(columns, a_full_pool_refuses_rows) {
    movers pool({.name = "movers", .capacity = 3, .reuse_delay = 0});
    while (pool.try_emplace(health{1})) {
    }
    EXPECT_GE(pool.size(), 3U);
    EXPECT_THAT([&] { pool.emplace(health{1}); }, ThrowsMessage<pool_exhausted>(HasSubstr("pool 'movers'")));
    pool.clear();
    EXPECT_TRUE(pool.empty());
    pool.compact();
    EXPECT_TRUE(pool.try_emplace(health{1}));
}

TEST(columns, a_refused_emplace_leaves_its_arguments_untouched) {
    pool<columns<std::string, int>> pool({.name = "strings", .capacity = 1, .reuse_delay = 0});
    while (pool.try_emplace("filler")) {
    }
    std::string text = "longer than what fits into the string itself";
    EXPECT_FALSE(pool.try_emplace(std::move(text), 1));
    EXPECT_FALSE(text.empty());
}

TEST(columns, hooks_get_the_row_before_it_is_destroyed) {
    census people;
    std::vector<std::uint64_t> seen;
    handle<columns<int, counted>> one;
    scoped_hook hook; // outlives the pool, whose end calls it
    {
        pool<columns<int, counted>> pool({.name = "hooked", .capacity = 10});
        one = pool.emplace(100, counted(people, 1));
        pool.emplace(200, counted(people, 2));
        hook = pool.on_destroy([&](auto handle, row<int, counted> dying) {
            auto [number, person] = dying;
            EXPECT_EQ(handle == one, number == 100);
            EXPECT_FALSE(pool.contains(handle));
            seen.push_back(person.value());
        });
        pool.compact();
        pool.erase(one);
        EXPECT_THAT(seen, ElementsAre());
        pool.compact();
        EXPECT_THAT(seen, ElementsAre(1U));
    }
    EXPECT_THAT(seen, ElementsAre(1U, 2U)) << "also for what is alive when the pool ends";
}

TEST(columns, pin_keeps_the_row_where_it_is) {
    movers pool(ten);
    const auto handle = pool.emplace(health{5});
    {
        auto pinned = pool.pin(handle);
        ASSERT_TRUE(pinned);
        EXPECT_EQ(pinned->get<health>(), health{5});
        (*pinned).get<position>().x = 3;
        EXPECT_EQ(pinned.get(), pool.find(handle));
        EXPECT_FALSE(pool.try_compact());
        pinned_object<const columns<position, velocity, health>> read_only = std::move(pinned);
        EXPECT_FALSE(pinned);
        EXPECT_EQ(read_only->get<position>().x, 3);
        EXPECT_FALSE(pool.try_compact());
    }
    EXPECT_TRUE(pool.try_compact());
    EXPECT_TRUE(pool.try_pin(handle));
    EXPECT_TRUE(std::as_const(pool).try_pin(handle));
    pool.erase(handle);
    const auto stale = pool.pin(handle);
    EXPECT_FALSE(stale);
    EXPECT_TRUE(pool.try_compact()) << "an empty one holds nothing off";
    auto guard = pool.access();
    EXPECT_THROW(pool.compact(), compaction_conflict);
    guard.reset();
    EXPECT_TRUE(pool.try_access());
}

TEST(columns, what_a_pool_says_of_itself) {
    movers pool({.name = "movers", .capacity = 10, .remember_frames = true});
    EXPECT_EQ(pool.name(), "movers");
    EXPECT_EQ(pool.capacity(), 10U);
    EXPECT_TRUE(pool.idle());
    const auto one = pool.emplace();
    EXPECT_FALSE(pool.idle());
    pool.compact();
    EXPECT_TRUE(pool.idle());
    detail::pool_access::core_of(pool).skip_frame();
    const auto other = pool.emplace();
    EXPECT_THAT(pool.oldest(5), ElementsAre(one, other));
    EXPECT_THAT(pool.describe(one), HasSubstr("movers #"));
    EXPECT_EQ(pool.stats().alive, 2U);
    EXPECT_EQ(pool.stats().compactions, 2U);
    EXPECT_EQ(movers::validate(ten), "");
    EXPECT_NE(movers::validate({.name = "none", .capacity = 0}), "");
}

TEST(columns, memory_is_that_of_all_columns) {
    pool<columns<sized<100>, sized<60>>> pool({.name = "rows", .capacity = 10'000});
    ::handlepool::pool<sized<100>> hundred({.name = "100", .capacity = 10'000});
    ::handlepool::pool<sized<60>> sixty({.name = "60", .capacity = 10'000});
    EXPECT_GE(pool.stats().bytes_reserved, std::size_t{160 * 10'000});
    for (int i = 0; i != 10'000; ++i) {
        pool.emplace(sized<100>(1), sized<60>(2));
        hundred.emplace(1U);
        sixty.emplace(2U);
    }
    pool.compact();
    hundred.compact();
    sixty.compact();
    // But for the page that the second column's later begin may reach, and those that hold the end of one of
    // the three pieces of its nursery and the beginning of the next.
    EXPECT_NEAR(static_cast<double>(pool.stats().bytes_resident_in_objects),
                static_cast<double>(hundred.stats().bytes_resident_in_objects +
                                    sixty.stats().bytes_resident_in_objects),
                4 * 4096);
    const std::size_t full = pool.stats().bytes_resident_in_objects;
    pool.clear();
    pool.compact();
    pool.shrink_to_fit();
    EXPECT_LT(pool.stats().bytes_resident_in_objects + 150 * 10'000, full) << "the nursery stays";
}

} // namespace
} // namespace handlepool::test
