// SPDX-License-Identifier: MIT
#include <handlepool/detail/slots/index_allocator.hpp>
#include <handlepool/fifo_freelist.hpp>
#include <handlepool/freelist.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <tests/support/stop_at_every_access.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using indices = std::vector<std::uint32_t>;
using set_type = free_bitmap<default_policy>;
using allocator_type = index_allocator<default_policy, fifo_freelist<default_policy>>;

constexpr std::size_t many = 1000;

template <class Source>
indices claim(Source& source, std::size_t wanted, std::size_t limit) {
    indices out(wanted);
    out.resize(source.claim(out.data(), wanted, limit));
    return out;
}

indices sorted(indices all) {
    std::ranges::sort(all);
    return all;
}

TEST(free_bitmap_test, what_is_given_back_goes_out_once) {
    set_type set("set", 300);
    EXPECT_EQ(claim(set, many, 300), indices{});
    for (const std::uint32_t index : {0U, 63U, 64U, 199U, 299U}) {
        set.give_back(index);
    }
    EXPECT_EQ(set.seen().waiting(), 5U);
    EXPECT_EQ(sorted(claim(set, many, 300)), (indices{0, 63, 64, 199, 299}));
    EXPECT_EQ(set.seen().waiting(), 0U);
    EXPECT_EQ(claim(set, many, 300), indices{});
}

TEST(free_bitmap_test, no_more_go_out_than_are_wanted_and_the_others_stay) {
    set_type set("set", 64);
    for (std::uint32_t index = 0; index != 64; ++index) {
        set.give_back(index);
    }
    indices all = claim(set, 0, 64);
    EXPECT_EQ(all, indices{});
    for (const std::size_t wanted : {1U, 20U, 42U, 5U}) {
        const indices some = claim(set, wanted, 64);
        EXPECT_EQ(some.size(), std::min<std::size_t>(wanted, 64 - all.size()));
        all.insert(all.end(), some.begin(), some.end());
    }
    EXPECT_EQ(all.size(), 64U);
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), 64U) << "none goes out twice";
}

TEST(free_bitmap_test, words_of_which_no_index_was_ever_used_are_not_searched) {
    set_type set("set", std::size_t{1} << 32);
    set.give_back(70);
    EXPECT_EQ(claim(set, 1, 64), indices{}) << "only the first word is in service";
    EXPECT_EQ(claim(set, 1, 71), indices{70});
    EXPECT_LT(set.memory().resident, 100'000U);
}

TEST(free_bitmap_test, a_search_begins_anywhere_and_comes_round) {
    set_type set("set", 256);
    set.give_back(200); // where the next search begins
    EXPECT_EQ(claim(set, 1, 256), indices{200});
    set.give_back(10);
    set.give_back(201);
    EXPECT_EQ(sorted(claim(set, many, 256)), (indices{10, 201}));
    set.give_back(255);
    EXPECT_EQ(claim(set, many, 100), indices{}) << "and may begin past the indices in service";
}

TEST(free_bitmap_test, what_comes_next_is_what_the_next_claims_take) {
    set_type set("set", 300);
    const auto next = [&set](std::size_t in_service, std::size_t most) {
        indices seen;
        set.for_next(in_service, [&](std::uint32_t index) {
            seen.push_back(index);
            return seen.size() < most;
        });
        return seen;
    };
    EXPECT_EQ(next(300, many), indices{});
    for (const std::uint32_t index : {70U, 200U, 66U, 3U, 299U, 5U}) {
        set.give_back(index);
    }
    set.rewind();
    EXPECT_EQ(next(300, many), (indices{3, 5, 66, 70})) << "of two words";
    EXPECT_EQ(next(300, 3), (indices{3, 5, 66}));
    EXPECT_EQ(next(64, many), (indices{3, 5})) << "and of those in service";
    EXPECT_EQ(claim(set, 3, 300), (indices{3, 5, 66}));
    EXPECT_EQ(next(300, many), indices{70});
    EXPECT_EQ(claim(set, 2, 300), (indices{70, 200}));
    EXPECT_EQ(next(300, many), indices{299});
    EXPECT_EQ(next(100, many), indices{}) << "also where claims begin past those in service";
}

TEST(free_bitmap_test, reset_forgets_them) {
    set_type set("set", 100);
    set.give_back(3);
    set.reset();
    EXPECT_EQ(set.seen().waiting(), 0U);
    EXPECT_EQ(claim(set, many, 100), indices{});
    set.give_back(3);
    EXPECT_EQ(claim(set, many, 100), indices{3});
}

// Plain data of each index: ThreadSanitizer reports owners that nothing orders.
TEST(free_bitmap_test, each_index_has_one_owner_who_sees_what_the_one_before_did) {
    constexpr std::uint32_t count = 70;
    set_type set("set", count);
    std::vector<std::uint64_t> things(count);
    std::atomic<std::uint64_t> uses = 0;
    for (std::uint32_t index = 0; index != count; ++index) {
        set.give_back(index);
    }
    in_threads(4, [&](std::size_t thread) {
        for (int round = 0; round != 20'000; ++round) {
            for (const std::uint32_t mine : claim(set, 1 + thread * 20, count)) {
                ++things[mine];
                ++uses;
                set.give_back(mine);
            }
        }
    });
    std::uint64_t sum = 0;
    for (const std::uint64_t thing : things) {
        sum += thing;
    }
    EXPECT_EQ(sum, uses.load());
    EXPECT_EQ(claim(set, many, count).size(), count);
}

TEST(index_allocator_test, what_came_back_unused_goes_out_first_whatever_the_limit) {
    allocator_type allocator("list", {.index_limit = 10, .waiting_limit = 10, .reuse_delay = 0});
    EXPECT_EQ(claim(allocator, 4, 4), (indices{0, 1, 2, 3}));
    EXPECT_EQ(claim(allocator, 1, 4), indices{});
    allocator.give_back(2);
    EXPECT_EQ(allocator.returned().waiting(), 1U);
    EXPECT_EQ(allocator.list().in_use(), 4U);
    EXPECT_EQ(claim(allocator, 3, 4), indices{2});
    EXPECT_EQ(claim(allocator, 3, 4), indices{});
    EXPECT_EQ(claim(allocator, 3, 6), (indices{4, 5}));
}

TEST(index_allocator_test, what_was_used_comes_back_by_the_freelist) {
    allocator_type allocator("list", {.index_limit = 3, .waiting_limit = 3, .reuse_delay = 1});
    EXPECT_EQ(claim(allocator, 3, 3), (indices{0, 1, 2}));
    allocator.release(1);
    allocator.release(0);
    EXPECT_EQ(claim(allocator, 3, 3), indices{}) << "before it is published";
    allocator.publish();
    EXPECT_EQ(claim(allocator, 3, 3), indices{1}) << "the other waits out the reuse delay";
    allocator.give_back(1);
    EXPECT_EQ(claim(allocator, 3, 3), indices{1}) << "which is for those that were used";
}

TEST(index_allocator_test, reset_forgets_what_came_back) {
    allocator_type allocator("list", {.index_limit = 5, .waiting_limit = 5, .reuse_delay = 0});
    claim(allocator, 4, 4);
    allocator.give_back(0);
    allocator.reset(2);
    EXPECT_EQ(allocator.returned().waiting(), 0U);
    EXPECT_EQ(claim(allocator, many, 5), (indices{2, 3, 4}));
    EXPECT_EQ(allocator.limit(), 5U);
}

// Of three indices one is always there, but never the same and never in the same place for long.
struct one_is_left {
    using policy = support::step_policy;

    one_is_left() {
        claim(allocator, 3, 3);
        allocator.give_back(1);
    }
    void take_one() { won += claim(allocator, 1, 3).size(); }
    void exchange() {
        allocator.give_back(0);
        won_meanwhile += claim(allocator, 1, 3).size();
        allocator.release(2);
        allocator.publish();
        won_meanwhile += claim(allocator, 1, 3).size();
    }

    index_allocator<policy, fifo_freelist<policy>> allocator{
        "list", {.index_limit = 3, .waiting_limit = 3, .reuse_delay = 0}};
    std::size_t won = 0;
    std::size_t won_meanwhile = 0;
};

TEST(index_allocator_step_test, a_claim_is_refused_only_when_at_some_moment_nothing_is_left) {
    test::stop_at_every_access<one_is_left>([](one_is_left& at) { at.take_one(); },
                                            [](one_is_left& at) { at.exchange(); },
                                            [](one_is_left& at) {
                                                EXPECT_EQ(at.won, 1U);
                                                EXPECT_EQ(at.won_meanwhile, 2U);
                                            });
}

TEST(index_allocator_step_test, a_thread_stopped_while_it_gives_back_holds_no_more_than_that_index) {
    struct scene : one_is_left {};
    test::stop_at_every_access<scene>([](scene& at) { at.allocator.give_back(0); },
                                      [](scene& at) { at.take_one(); },
                                      [](scene& at) {
                                          EXPECT_EQ(at.won, 1U);
                                          EXPECT_EQ(claim(at.allocator, 3, 3).size(), 1U);
                                      });
}

} // namespace
} // namespace handlepool::test
