// SPDX-License-Identifier: MIT

// lookup(): its answers are those of the pool, one by one and for ranges.

#include <handlepool/boost_freelist.hpp>
#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/deadline.hpp>
#include <tests/support/random.hpp>
#include <tests/support/tabulate.hpp>
#include <tests/support/threads.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <new>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsNull;

using ints = pool<int>;
using int_handle = handle<int>;
using lookup = ints::lookup_type;

static_assert(std::is_trivially_copyable_v<lookup> && sizeof(lookup) == 24);
static_assert(std::is_same_v<decltype(std::declval<ints&>().lookup().find(int_handle())), int*>);
static_assert(std::is_same_v<decltype(std::declval<const ints&>().lookup().find(int_handle())), const int*>);
static_assert(std::is_same_v<decltype(std::declval<raw_pool<>&>().lookup().find(any_handle())), void*>);
static_assert(
    std::is_same_v<decltype(std::declval<const raw_pool<>&>().lookup().find(any_handle())), const void*>);
static_assert(std::is_same_v<decltype(std::declval<pool<columns<int, char>>&>().lookup().find({})),
                             row_pointer<int, char>>);
static_assert(std::is_same_v<decltype(std::declval<const pool<columns<int, char>>&>().lookup().find({})),
                             row_pointer<const int, const char>>);

// ---- Of one handle

/// What each kind of pool is called, and how it makes an object of a number.
template <class Pool>
struct pool_in_use {
    using handle_type = typename Pool::handle_type;

    handle_type create(int number) {
        if constexpr (std::is_same_v<Pool, recycling_pool<std::string>>) {
            return objects.emplace_with(
                [&](handle_type, std::string& made) { made = std::to_string(number); });
        } else if constexpr (std::is_same_v<Pool, raw_pool<>> || std::is_same_v<Pool, raw_stable_pool<>>) {
            return objects.emplace([&](void* memory) noexcept { ::new (memory) int(number); });
        } else {
            return objects.emplace(number);
        }
    }

    static Pool make() {
        const pool_options options{.name = "looked up", .capacity = 500, .reuse_delay = 4};
        if constexpr (std::is_same_v<typename Pool::handle_type, any_handle>) {
            return Pool(options, raw_type{.size = sizeof(int), .alignment = alignof(int)});
        } else {
            return Pool(options);
        }
    }

    Pool objects = make();
};

template <class Pool>
struct object_lookup_of : testing::Test {
    pool_in_use<Pool> used;
};

using key_of_a_world = keyed_layout<struct a_world>;
using kinds =
    testing::Types<pool<int>, stable_pool<int>, recycling_pool<std::string>, raw_pool<>, raw_stable_pool<>,
                   pool<columns<int, double>>, pool<int, with_layout<handle_layout<10, 12, 6>>>,
                   pool<int, with_layout<handle_layout<24, 20, 4, 8>>>,
                   pool<int, with_layout<key_of_a_world>>, pool<int, with_layout<script_layout>>,
                   pool<int, with_policy<support::tiny_policy<1>>>, pool<int, with_freelist<boost_freelist>>>;
TYPED_TEST_SUITE(object_lookup_of, kinds);

TYPED_TEST(object_lookup_of, every_handle_has_the_answers_of_the_pool) {
    using handle_type = typename TypeParam::handle_type;
    using value_type = typename handle_type::value_type;
    auto& pool = this->used.objects;
    const auto look = pool.lookup();
    const auto look_only = std::as_const(pool).lookup();
    random_source random;
    std::vector<handle_type> all{handle_type()};
    std::size_t found = 0;
    for (int frame = 0; frame != 20; ++frame) {
        for (int i = 0; i != 40; ++i) {
            all.push_back(this->used.create(i));
        }
        for (int i = 0; i != 40; ++i) {
            pool.erase(all[random.below(all.size())]);
        }
        if (frame % 2 == 1) {
            pool.compact();
        }
        for (const handle_type each : all) {
            ASSERT_EQ(look.contains(each), pool.contains(each));
            ASSERT_TRUE(look.find(each) == pool.find(each));
            ASSERT_TRUE(look_only.find(each) == std::as_const(pool).find(each));
            found += look.find(each) ? 1U : 0U;
            const auto forged = handle_type::from_value(
                each.value() ^ (value_type{1} << random.below(8 * sizeof(value_type))));
            ASSERT_EQ(look.contains(forged), pool.contains(forged));
            ASSERT_TRUE(look.find(forged) == pool.find(forged));
        }
    }
    EXPECT_GT(found, 1000U);
}

TYPED_TEST(object_lookup_of, a_range_has_the_answers_of_its_handles) {
    using handle_type = typename TypeParam::handle_type;
    auto& pool = this->used.objects;
    const auto look = pool.lookup();
    auto handles = tabulate(120, [&](int i) { return this->used.create(i); });
    pool.compact();
    for (std::size_t i = 0; i < handles.size(); i += 3) {
        pool.erase(handles[i]);
    }
    handles[1] = handle_type();
    for (std::size_t count = 0; count <= handles.size(); ++count) {
        const std::span<const handle_type> some(handles.data(), count);
        std::vector<typename TypeParam::lookup_type::pointer> found;
        look.find(some, std::back_inserter(found));
        std::size_t alive = 0;
        ASSERT_EQ(found.size(), count);
        for (std::size_t i = 0; i != count; ++i) {
            ASSERT_TRUE(found[i] == pool.find(handles[i])) << i << " of " << count;
            alive += found[i] ? 1U : 0U;
        }
        std::vector<handle_type> visited;
        EXPECT_EQ(look.for_each(some, [&](handle_type each, auto&&) { visited.push_back(each); }), alive);
        std::vector<handle_type> expected;
        for (const handle_type each : some) {
            if (pool.contains(each)) {
                expected.push_back(each);
            }
        }
        ASSERT_EQ(visited, expected);
    }
}

TEST(object_lookup, serves_as_long_as_the_pool_lives) {
    ints pool({.name = "ints", .capacity = 10'000});
    const lookup look = pool.lookup(); // before there is anything
    const int_handle first = pool.emplace(1);
    EXPECT_EQ(*look.find(first), 1);
    std::vector<int_handle> others;
    pool.emplace_n(9'000, std::back_inserter(others), 2);
    pool.compact();
    EXPECT_EQ(look.find(first), pool.find(first));
    pool.erase(first);
    EXPECT_EQ(look.find(first), nullptr);
    pool.compact();
    pool.clear();
    pool.compact();
    pool.shrink_to_fit();
    EXPECT_FALSE(look.contains(others.back()));
    const int_handle again = pool.emplace(3);
    EXPECT_EQ(*look.find(again), 3);
    pool.reset();
    EXPECT_FALSE(look.contains(again));
}

TEST(object_lookup, handles_of_other_pools_are_strangers) {
    ints pool({.name = "ints", .capacity = 100});
    ints other({.name = "others", .capacity = 100});
    pool.emplace(1);
    const std::array strangers{other.emplace(2), other.emplace(3)};
    EXPECT_FALSE(pool.lookup().contains(strangers[0]));
    EXPECT_EQ(pool.lookup().for_each(strangers, [](int&) { FAIL(); }), 0U);
}

TEST(object_lookup, handles_before_and_after_objects) {
    ints pool({.name = "ints", .capacity = 100});
    const lookup look = pool.lookup();
    const int_handle reserved = pool.reserve_handle();
    std::vector<int*> found;
    look.find(std::array{reserved, reserved}, std::back_inserter(found));
    EXPECT_THAT(found, ElementsAre(IsNull(), IsNull())) << "prefetches of what is no place do no harm";
    pool.fulfill(reserved, 5);
    EXPECT_EQ(*look.find(reserved), 5);
    const int_handle revoked = pool.revoke(reserved);
    EXPECT_EQ(look.find(reserved), nullptr);
    EXPECT_EQ(*look.find(revoked), 5);
}

// ---- Of a range

struct object_lookup_of_ranges : testing::Test {
    object_lookup_of_ranges() {
        for (int i = 0; i != 100; ++i) {
            handles.push_back(objects.emplace(i));
        }
        objects.compact();
    }

    ints objects{{.name = "ints", .capacity = 1000}};
    lookup look = objects.lookup();
    std::vector<int_handle> handles;
};

TEST_F(object_lookup_of_ranges, objects_can_be_changed) {
    EXPECT_EQ(look.for_each(handles, [](int& each) { each *= 2; }), 100U);
    EXPECT_EQ(std::accumulate(objects.items().begin(), objects.items().end(), 0), 9900);
}

TEST_F(object_lookup_of_ranges, one_handle_many_times) {
    const std::vector<int_handle> same(1000, handles[7]);
    EXPECT_EQ(look.for_each(same, [](int& each) { ++each; }), 1000U);
    EXPECT_EQ(*objects.find(handles[7]), 1007);
}

TEST_F(object_lookup_of_ranges, what_is_erased_before_its_turn_is_not_visited) {
    std::vector<int> visited;
    EXPECT_EQ(look.for_each(handles,
                            [&](int& each) {
                                visited.push_back(each);
                                if (each % 2 == 0) { // the next one, which was asked for long ago
                                    objects.erase(handles[static_cast<std::size_t>(each) + 1]);
                                }
                            }),
              50U);
    EXPECT_EQ(visited.size(), 50U);
    EXPECT_EQ(visited.back(), 98);
}

TEST_F(object_lookup_of_ranges, a_visit_may_create) {
    std::vector<int_handle> made;
    look.for_each(handles, [&](int& each) { made.push_back(objects.emplace(each + 1000)); });
    std::vector<int> values;
    look.for_each(made, [&](int& each) { values.push_back(each); });
    EXPECT_EQ(values.size(), 100U);
    EXPECT_EQ(values.back(), 1099);
}

TEST_F(object_lookup_of_ranges, a_list_a_temporary_and_a_range_that_can_be_read_once) {
    const std::list<int_handle> list(handles.begin(), handles.end());
    std::size_t visited = 0;
    const auto count = [&](int&) { ++visited; };
    look.for_each(list, count);
    look.for_each(std::vector(handles), count);
    EXPECT_EQ(visited, 200U);

    // Each is read once, in order.
    struct reading {
        using difference_type = std::ptrdiff_t;

        int_handle operator*() const {
            ++*reads;
            return *next;
        }
        reading& operator++() {
            ++next;
            return *this;
        }
        void operator++(int) { ++next; }
        bool operator==(const int_handle* end) const { return next == end; }

        const int_handle* next;
        std::size_t* reads;
    };
    struct once {
        reading begin() { return {handles.data(), &reads}; }
        const int_handle* end() { return handles.data() + handles.size(); }

        std::span<const int_handle> handles;
        std::size_t reads = 0;
    };
    once source{.handles = handles};
    EXPECT_EQ(look.for_each(source, count), 100U);
    EXPECT_EQ(source.reads, 100U);
}

TEST_F(object_lookup_of_ranges, handles_of_any_type_for_a_raw_pool) {
    raw_pool<> raw({.name = "raw", .capacity = 100},
                   raw_type{.size = sizeof(int), .alignment = alignof(int)});
    const auto made = tabulate(
        50, [&](int i) { return raw.emplace([i](void* memory) noexcept { ::new (memory) int(i); }); });
    int sum = 0;
    EXPECT_EQ(raw.lookup().for_each(made, [&](void* each) { sum += *static_cast<int*>(each); }), 50U);
    EXPECT_EQ(sum, 1225);
    EXPECT_EQ(raw.lookup().for_each(handles, [](const void*) { FAIL(); }), 0U) << "they convert";
}

TEST_F(object_lookup_of_ranges, visits_get_the_handles_with_their_user_bits) {
    pool<int, with_layout<handle_layout<24, 20, 4, 8>>> marked({.name = "marked", .capacity = 100});
    const auto made = tabulate(100U, [&](std::uint32_t i) { return marked.emplace(7).with_user(i); });
    std::vector<decltype(marked)::handle_type> visited;
    EXPECT_EQ(marked.lookup().for_each(made, [&](auto each, const int&) { visited.push_back(each); }), 100U);
    EXPECT_EQ(visited, made);
}

TEST_F(object_lookup_of_ranges, rows) {
    pool<columns<int, std::array<char, 200>, double>> rows({.name = "rows", .capacity = 100});
    const auto made = tabulate(50, [&](int i) { return rows.emplace(i); });
    rows.lookup().for_each(made, [](auto row) { row.template get<double>() = 0.5; });
    double sum = 0;
    std::as_const(rows).lookup().for_each(made, [&](auto row) { sum += row.template get<2>(); });
    EXPECT_EQ(sum, 25);
}

TEST_F(object_lookup_of_ranges, exceptions_of_a_visit_pass_and_leave_all_as_it_was) {
    for (std::size_t failing = 0; failing != 100; ++failing) {
        std::size_t visited = 0;
        EXPECT_THROW(look.for_each(handles,
                                   [&](int&) {
                                       if (visited++ == failing) {
                                           throw std::runtime_error("enough");
                                       }
                                   }),
                     std::runtime_error);
        EXPECT_EQ(visited, failing + 1);
    }
    EXPECT_EQ(look.for_each(handles, [](const int&) {}), 100U);
}

TEST_F(object_lookup_of_ranges, of_no_handles_or_null_handles) {
    EXPECT_EQ(look.for_each(std::vector<int_handle>(), [](int&) { FAIL(); }), 0U);
    EXPECT_EQ(look.for_each(std::vector<int_handle>(77), [](int&) { FAIL(); }), 0U);
    std::vector<int*> found;
    look.find(std::vector<int_handle>(), std::back_inserter(found));
    EXPECT_THAT(found, IsEmpty());
    found.assign(77, nullptr);
    EXPECT_EQ(look.find(std::vector<int_handle>(77), found.begin()), found.end());
    EXPECT_THAT(found, Each(IsNull()));
}

// ---- Threads

// One value in all threads, while others create, erase and compact. What is found under a guard is whole.
TEST(object_lookup_threads, share_one) {
    struct pair {
        explicit pair(std::uint64_t number) : first(number), second(~number) {}
        std::uint64_t first;
        std::uint64_t second;
    };
    pool<pair> objects({.name = "pairs", .capacity = 4000, .reuse_delay = 16});
    const auto look = objects.lookup();
    std::array<std::atomic<std::uint64_t>, 64> shared{};
    std::atomic<bool> done = false;
    std::atomic<std::uint64_t> found = 0;
    in_threads(3, [&](std::size_t thread) {
        std::mt19937_64 random(thread);
        if (thread == 0) {
            const deadline late;
            for (int frame = 0; frame < 200 || (found == 0 && !late.has_passed()); ++frame) {
                for (int i = 0; i != 50; ++i) {
                    auto& seat = shared[random() % shared.size()];
                    const auto old = handle<pair>::from_value(
                        seat.exchange(objects.emplace(random()).value(), std::memory_order::acq_rel));
                    objects.erase(old);
                }
                objects.compact();
            }
            done = true;
        } else {
            std::vector<handle<pair>> handles;
            while (!done) {
                handles.clear();
                for (const auto& seat : shared) {
                    handles.push_back(handle<pair>::from_value(seat.load(std::memory_order::acquire)));
                }
                const auto guard = objects.access();
                found += look.for_each(handles, [](handle<pair> each, const pair& object) {
                    ASSERT_TRUE(each);
                    ASSERT_EQ(object.second, ~object.first);
                });
            }
        }
    });
    EXPECT_GT(found, 0U);
}

} // namespace
} // namespace handlepool::test
