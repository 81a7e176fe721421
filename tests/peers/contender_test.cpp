// SPDX-License-Identifier: MIT

// What the comparison relies on, for each of its contenders.

#include <bench/peers/contender.hpp>
#include <contenders.hpp>
#include <gtest/gtest.h>
#include <support/threads/thread_team.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

namespace handlepool_bench::peers {
namespace {

constexpr std::size_t alive = 2000;

template <class Contender>
struct contenders : testing::Test {
    using handle_type = typename Contender::handle_type;

    // The object's eight words, or none.
    static std::vector<std::uint64_t> contents(Contender& of, handle_type handle) {
        std::vector<std::uint64_t> words;
        const bool found =
            of.find(handle, [&](const auto& one) { words.assign(one.words.begin(), one.words.end()); });
        EXPECT_EQ(found, !words.empty());
        return words;
    }
    static std::vector<std::uint64_t> contents_made_from(std::uint64_t seed) {
        std::vector<std::uint64_t> words(8);
        std::iota(words.begin(), words.end(), seed);
        return words;
    }
    // The seeds of all objects, in order.
    static std::vector<std::uint64_t> seeds(Contender& of) {
        std::vector<std::uint64_t> found;
        of.for_each([&](const auto& one) { found.push_back(one.words[0]); });
        std::ranges::sort(found);
        return found;
    }

    static constexpr unsigned fewest = Contender::fewest_threads;
};

template <class...>
struct joined;
template <class... Types>
struct joined<testing::Types<Types...>> {
    using type = testing::Types<Types...>;
};
template <class... First, class... Second, class... Rest>
struct joined<testing::Types<First...>, testing::Types<Second...>, Rest...>
    : joined<testing::Types<First..., Second...>, Rest...> {};

template <bool Chosen, class Contender>
using if_chosen = std::conditional_t<Chosen, testing::Types<Contender>, testing::Types<>>;

constexpr unsigned most_threads_here = 3;

template <class List>
struct types_of;
template <class... Contenders>
struct types_of<contender_list<Contenders...>> {
    using all = testing::Types<Contenders...>;
    using that_check_handles =
        joined<testing::Types<>, if_chosen<Contenders::checks_handles, Contenders>...>::type;
    using for_threads =
        joined<testing::Types<>,
               if_chosen<(Contenders::most_threads >= most_threads_here), Contenders>...>::type;
};

template <class Contender>
using contenders_that_check_handles = contenders<Contender>;
template <class Contender>
using contenders_for_threads = contenders<Contender>;

struct contender_names {
    template <class Contender>
    static std::string GetName(int) {
        std::string name = Contender::name;
        std::ranges::replace_if(
            name, [](char letter) { return !isalnum(static_cast<unsigned char>(letter)); }, '_');
        return name;
    }
};

TYPED_TEST_SUITE(contenders, types_of<all_contenders>::all, contender_names);
TYPED_TEST_SUITE(contenders_that_check_handles, types_of<all_contenders>::that_check_handles,
                 contender_names);
TYPED_TEST_SUITE(contenders_for_threads, types_of<all_contenders>::for_threads, contender_names);

TYPED_TEST(contenders, find_what_was_created_with_its_contents) {
    TypeParam one(alive, this->fewest);
    EXPECT_EQ(one.size(), 0);
    std::vector<typename TypeParam::handle_type> handles;
    for (std::uint64_t i = 0; i != alive; ++i) {
        handles.push_back(one.create(0, 10 * i));
        if (i % 100 == 0) {
            one.end_frame();
        }
    }
    for (int frames = 0; frames != 2; ++frames) {
        for (std::uint64_t i = 0; i != alive; ++i) {
            ASSERT_EQ(this->contents(one, handles[i]), this->contents_made_from(10 * i));
        }
        one.end_frame();
    }
    EXPECT_EQ(one.size(), alive);
}

TYPED_TEST(contenders, do_not_find_what_was_erased) {
    TypeParam one(alive, this->fewest);
    std::vector<typename TypeParam::handle_type> handles;
    for (std::uint64_t i = 0; i != alive; ++i) {
        handles.push_back(one.create(0, i));
    }
    one.end_frame();
    for (std::uint64_t i = 0; i < alive; i += 3) {
        EXPECT_TRUE(one.erase(0, handles[i]));
    }
    for (int frames = 0; frames != 2; ++frames) {
        for (std::uint64_t i = 0; i != alive; ++i) {
            if (i % 3 != 0) {
                ASSERT_EQ(this->contents(one, handles[i]), this->contents_made_from(i));
            } else if (TypeParam::checks_handles) {
                ASSERT_TRUE(this->contents(one, handles[i]).empty());
                ASSERT_FALSE(one.erase(0, handles[i]));
            }
        }
        one.end_frame();
    }
    EXPECT_EQ(one.size(), alive - (alive + 2) / 3);
}

TYPED_TEST(contenders, visit_each_living_object_once) {
    TypeParam one(alive, this->fewest);
    std::vector<typename TypeParam::handle_type> handles;
    std::vector<std::uint64_t> expected;
    std::uint64_t seed = 0;
    for (std::size_t i = 0; i != alive; ++i) {
        expected.push_back(seed);
        handles.push_back(one.create(0, seed++));
    }
    one.end_frame();
    EXPECT_EQ(this->seeds(one), expected);
    for (std::size_t frame = 0; frame != 20; ++frame) {
        for (std::size_t i = frame; i < alive; i += 10) {
            EXPECT_TRUE(one.erase(0, handles[i]));
            expected[i] = seed;
            handles[i] = one.create(0, seed++);
        }
        one.end_frame();
        std::vector<std::uint64_t> in_order = expected;
        std::ranges::sort(in_order);
        ASSERT_EQ(this->seeds(one), in_order);
        ASSERT_EQ(one.size(), alive);
    }
}

// A handle of a place's former object is not that of the next.
TYPED_TEST(contenders_that_check_handles, never_find_another_object) {
    TypeParam one(10, this->fewest);
    std::vector<typename TypeParam::handle_type> stale;
    for (std::uint64_t i = 0; i != 20'000; ++i) {
        const auto handle = one.create(0, i);
        ASSERT_EQ(this->contents(one, handle), this->contents_made_from(i));
        ASSERT_TRUE(one.erase(0, handle));
        if (i % 100 == 0) {
            stale.push_back(handle);
        }
        if (i % 2 == 0) {
            one.end_frame();
        }
    }
    const auto last = one.create(0, 1);
    one.end_frame();
    for (const auto& each : stale) {
        EXPECT_TRUE(this->contents(one, each).empty());
    }
    EXPECT_EQ(this->contents(one, last), this->contents_made_from(1));
}

TYPED_TEST(contenders_for_threads, find_and_erase_what_others_created) {
    constexpr unsigned threads = most_threads_here;
    TypeParam one(alive, threads);
    std::vector<typename TypeParam::handle_type> handles(alive);
    std::vector<std::uint64_t> seeds(alive);
    for (std::size_t i = 0; i != alive; ++i) {
        seeds[i] = i;
        handles[i] = one.create(0, i);
    }
    one.end_frame();
    handlepool::support::thread_team team(threads);
    std::array<std::size_t, threads> failures{};
    for (std::size_t frame = 0; frame != 60; ++frame) {
        team.run([&](std::size_t thread) {
            team.meet();
            // A tenth a frame; another thread's of the frame before.
            for (std::size_t i = frame / 3 % 10 + 10 * ((thread + frame) % threads); i < alive;
                 i += 10 * threads) {
                failures[thread] += one.erase(static_cast<unsigned>(thread), handles[i]) ? 0 : 1;
                seeds[i] += alive;
                handles[i] = one.create(static_cast<unsigned>(thread), seeds[i]);
                std::uint64_t found = 0;
                failures[thread] +=
                    one.find(handles[i], [&](const auto& it) { found = it.words[7]; }) ? 0 : 1;
                failures[thread] += found == seeds[i] + 7 ? 0 : 1;
            }
        });
        one.end_frame();
        std::vector<std::uint64_t> in_order = seeds;
        std::ranges::sort(in_order);
        ASSERT_EQ(this->seeds(one), in_order);
    }
    EXPECT_EQ(failures, (std::array<std::size_t, threads>{}));
    for (std::size_t i = 0; i != alive; ++i) {
        ASSERT_EQ(this->contents(one, handles[i]), this->contents_made_from(seeds[i]));
    }
}

// Of simultaneous calls with one handle exactly one erases the object.
TYPED_TEST(contenders_for_threads, erase_an_object_once) {
    constexpr unsigned threads = 2;
    TypeParam one(alive, threads);
    std::vector<typename TypeParam::handle_type> handles;
    for (std::size_t i = 0; i != alive; ++i) {
        handles.push_back(one.create(0, i));
    }
    one.end_frame();
    handlepool::support::thread_team team(threads);
    std::array<std::size_t, threads> erased{};
    team.run([&](std::size_t thread) {
        team.meet();
        for (const auto& each : handles) {
            erased[thread] += one.erase(static_cast<unsigned>(thread), each) ? 1 : 0;
        }
    });
    one.end_frame();
    EXPECT_EQ(erased[0] + erased[1], alive);
    EXPECT_EQ(one.size(), 0);
}

} // namespace
} // namespace handlepool_bench::peers
