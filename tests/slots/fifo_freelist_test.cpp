// SPDX-License-Identifier: MIT
#include <handlepool/detail/memory/virtual_array.hpp>
#include <handlepool/fifo_freelist.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/freelist_tools.hpp>
#include <tests/support/random.hpp>
#include <tests/support/stop_at_every_access.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <latch>
#include <random>
#include <string>
#include <thread>
#include <vector>

// What is the native freelist's own: its ring, its counters, and the order of its accesses.
namespace handlepool::test {
namespace {

/// A list whose indices have all been in use; freed they are, and none is fresh.
template <class List>
struct full_list {
    full_list(std::uint32_t size, std::size_t delay, std::uint64_t position = 0)
        : list({.index_limit = size, .waiting_limit = size, .reuse_delay = delay}, position) {
        free_all(list, claim(list, size));
    }

    /// Late in its life.
    struct late_list : List {
        late_list(freelist_options options, std::uint64_t position) : List("list", options) {
            List::start_at(0, position);
        }
    };
    late_list list;
};

template <class Policy>
class fifo_freelist_test : public testing::Test {
protected:
    using full_list_type = full_list<fifo_freelist<Policy>>;

    /// Sends the indices round, each at a time, so often that the counters move by `turns`.
    static void send_round(full_list_type& full, std::uint32_t size, std::uint64_t turns) {
        indices order = claim(full.list, size);
        ASSERT_EQ(order, sequence(0, size));
        free_all(full.list, order);
        for (std::uint64_t i = 0; i < turns; ++i) {
            const indices one = claim(full.list, 1);
            ASSERT_EQ(one, indices{order[i % size]}) << "turn " << i;
            ASSERT_EQ(full.list.waiting(), size - 1);
            ASSERT_EQ(full.list.in_use(), 1U);
            free_all(full.list, one);
        }
        std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(turns % size), order.end());
        ASSERT_EQ(claim(full.list, size), order);
    }

    /// Lets the counters pass `mark`, from everywhere shortly before it.
    static void pass(std::uint64_t mark) {
        for (const std::uint32_t size : {1U, 2U, 3U, 5U, 8U, 64U, 100U}) {
            for (std::uint64_t before = 0; before != 5; ++before) {
                SCOPED_TRACE(std::to_string(size) + " indices, " + std::to_string(before) + " before");
                full_list_type full(size, 0, mark - 2 * size - before);
                send_round(full, size, 4 * size + 10);
                if (testing::Test::HasFatalFailure()) {
                    return;
                }
            }
        }
    }
};

using freelist_policies =
    testing::Types<default_policy, support::tiny_policy<1>, support::tiny_policy<2>, support::tiny_policy<4>>;
TYPED_TEST_SUITE(fifo_freelist_test, freelist_policies);

TYPED_TEST(fifo_freelist_test, the_ring_wraps_at_any_size) {
    for (const std::uint32_t size : {1U, 2U, 3U, 5U, 8U, 13U, 100U}) {
        typename TestFixture::full_list_type full(size, 0);
        this->send_round(full, size, 300 + 5 * size);
    }
}

TYPED_TEST(fifo_freelist_test, batches_cross_the_end_of_the_ring_and_of_its_blocks) {
    for (const std::size_t batch_size : {1U, 2U, 3U, 5U, 7U}) {
        typename TestFixture::full_list_type full(7, 0);
        indices all = sequence(0, 7);
        for (int round = 0; round != 200; ++round) {
            const indices batch = claim(full.list, batch_size);
            const auto end = all.begin() + static_cast<std::ptrdiff_t>(batch_size);
            ASSERT_EQ(batch, indices(all.begin(), end));
            free_all(full.list, batch);
            std::rotate(all.begin(), end, all.end());
        }
    }
}

TYPED_TEST(fifo_freelist_test, counters_pass_2_to_the_32) {
    this->pass(std::uint64_t{1} << 32);
}

TYPED_TEST(fifo_freelist_test, counters_pass_2_to_the_63) {
    this->pass(std::uint64_t{1} << 63);
}

// No pool lives to see it: a claim a nanosecond takes 584 years. It shows the comparisons to be those of
// differences.
TYPED_TEST(fifo_freelist_test, counters_pass_2_to_the_64) {
    this->pass(0);
}

TYPED_TEST(fifo_freelist_test, the_reuse_delay_and_the_limit_hold_while_counters_pass_2_to_the_64) {
    constexpr std::uint32_t size = 8;
    constexpr std::size_t delay = 3;
    typename TestFixture::full_list_type full(size, delay, ~std::uint64_t{0} - 20);
    for (int round = 0; round != 40; ++round) {
        const indices first = claim(full.list, size, 4);
        ASSERT_EQ(first.size(), 4U);
        ASSERT_EQ(claim(full.list, 1, 4), indices{});
        const indices second = claim(full.list, size, size);
        ASSERT_EQ(second.size(), 1U);
        ASSERT_EQ(full.list.waiting(), delay);
        ASSERT_EQ(claim(full.list, 1, size), indices{});
        free_all(full.list, first);
        free_all(full.list, second);
    }
}

// ---- A claim that is stopped before any of its accesses
// -----------------------------------------------------------

constexpr std::uint32_t ring = 6;

template <class Policy>
struct scene {
    full_list<fifo_freelist<Policy>> full{ring, 0};
    indices victims;
    indices others;
};

/// Claims whatever there is and frees it again, so often that each place is overwritten with another index.
template <class Scene>
void lap(Scene& at) {
    for (int round = 0; round != 20; ++round) {
        indices all = claim(at.full.list, ring);
        std::rotate(all.begin(), all.begin() + (all.empty() ? 0 : 1), all.end());
        free_all(at.full.list, all);
    }
}

template <class Scene>
void expect_each_once(Scene& at) {
    indices held = at.victims;
    held.insert(held.end(), at.others.begin(), at.others.end());
    const indices rest = claim(at.full.list, ring);
    held.insert(held.end(), rest.begin(), rest.end());
    std::ranges::sort(held);
    EXPECT_EQ(held, sequence(0, ring)) << "an index went out twice, or was lost";
}

template <class Policy>
class stopped_claim_test : public testing::Test {
protected:
    using scene_type = scene<Policy>;

    /// Stops claims of different sizes at each access, while `meanwhile` happens.
    static void stop_claims(const std::function<void(scene_type&)>& meanwhile) {
        for (const std::size_t wanted : {std::size_t{1}, std::size_t{2}, std::size_t{ring}}) {
            SCOPED_TRACE("the claim wants " + std::to_string(wanted));
            stop_at_every_access<scene_type>(
                [wanted](scene_type& at) { at.victims = claim(at.full.list, wanted); }, meanwhile,
                expect_each_once<scene_type>);
        }
    }
};

using step_policies = testing::Types<support::tiny_policy<1, support::step_policy>,
                                     support::tiny_policy<2, support::step_policy>,
                                     support::tiny_policy<4, support::step_policy>>;
TYPED_TEST_SUITE(stopped_claim_test, step_policies);

TYPED_TEST(stopped_claim_test, gets_no_index_twice_when_the_ring_is_lapped_and_all_is_taken) {
    this->stop_claims([](auto& at) {
        lap(at);
        at.others = claim(at.full.list, ring);
    });
}

TYPED_TEST(stopped_claim_test, gets_no_index_twice_when_the_ring_is_lapped_and_nothing_is_taken) {
    this->stop_claims([](auto& at) { lap(at); });
}

TYPED_TEST(stopped_claim_test, gets_no_index_twice_when_others_keep_some) {
    for (std::size_t kept = 1; kept != ring; ++kept) {
        this->stop_claims([kept](auto& at) {
            lap(at);
            at.others = claim(at.full.list, kept);
            lap(at);
        });
    }
}

// At each moment two indices wait, though never for long the same ones.
TYPED_TEST(stopped_claim_test, is_not_refused_while_freed_indices_wait) {
    struct two_held : scene<TypeParam> {
        two_held() { this->others = claim(this->full.list, 2); }
    };
    stop_at_every_access<two_held>([](two_held& at) { at.victims = claim(at.full.list, 1); },
                                   [](two_held& at) {
                                       for (int round = 0; round != 10; ++round) {
                                           free_all(at.full.list, at.others);
                                           const std::size_t waiting = at.full.list.waiting();
                                           at.others = claim(at.full.list, waiting - 2);
                                       }
                                   },
                                   [](two_held& at) {
                                       EXPECT_EQ(at.victims.size(), 1U);
                                       expect_each_once(at);
                                   });
}

// In use are never more than four, one less than the limit, while fresh and freed indices take turns.
TYPED_TEST(stopped_claim_test, is_not_refused_while_fewer_than_the_limit_are_in_use) {
    struct fresh_left {
        fifo_freelist<TypeParam> list{"list", {.index_limit = 100, .waiting_limit = 100, .reuse_delay = 2}};
        indices victims;
        indices others = claim(list, 4);
    };
    stop_at_every_access<fresh_left>(
        [](fresh_left& at) { at.victims = claim(at.list, 1, 5); },
        [](fresh_left& at) {
            for (int round = 0; round != 10; ++round) {
                const std::size_t left = at.others.size() / 2;
                free_all(at.list, {at.others.begin() + static_cast<std::ptrdiff_t>(left), at.others.end()});
                at.others.resize(left);
                while (at.others.size() != 3) {
                    at.others.push_back(claim(at.list, 1, 5).at(0));
                }
            }
        },
        [](fresh_left& at) { EXPECT_EQ(at.victims.size(), 1U); });
}

TYPED_TEST(stopped_claim_test, a_single_try_claims_what_a_block_has_or_nothing) {
    constexpr std::size_t of_block = std::min<std::size_t>(2, TypeParam::freelist_block);
    std::size_t won = 0;
    std::size_t lost = 0;
    stop_at_every_access<scene<TypeParam>>(
        [](auto& at) {
            at.victims.resize(2);
            at.victims.resize(at.full.list.claim(at.victims.data(), 2, ring, 1));
        },
        [](auto& at) { lap(at); },
        [&](auto& at) {
            EXPECT_TRUE(at.victims.empty() || at.victims.size() == of_block);
            ++(at.victims.empty() ? lost : won);
            expect_each_once(at);
        });
    EXPECT_GT(won, 0U);  // nobody interfered
    EXPECT_GT(lost, 0U); // somebody did
}

// ---- Several claims that are stopped before they have counted what they read
// -------------------------------------------

/// A thread that says so waits there. Arrays know their ends.
struct waits_before_counting : support::tiny_policy<1> {
    inline static thread_local std::latch* go_on = nullptr;
    inline static std::atomic<std::size_t> waiting{0};

    template <class T>
    struct word : std::atomic<T> {
        using std::atomic<T>::atomic;
        T fetch_add(T value, std::memory_order order) noexcept {
            if (go_on != nullptr) {
                ++waiting;
                go_on->wait();
            }
            return std::atomic<T>::fetch_add(value, order);
        }
    };
    template <class T>
    using atomic = word<T>;

    template <class T>
    struct array : detail::virtual_array<T> {
        using base = detail::virtual_array<T>;
        using base::base;
        T& operator[](std::size_t position) noexcept {
            EXPECT_LT(position, this->size());
            return base::operator[](position);
        }
        const T& operator[](std::size_t position) const noexcept {
            EXPECT_LT(position, this->size());
            return base::operator[](position);
        }
    };
};

// There are no more blocks than waiting entries and claims need, and a ring for the former alone.
TEST(stopped_claims_test, give_all_their_blocks_back) {
    constexpr std::uint32_t claims = 6;
    fifo_freelist<waits_before_counting> list(
        "list", {.index_limit = 2 * claims, .waiting_limit = claims, .max_threads = claims});
    const auto lap = [&list] {
        for (int round = 0; round != 100; ++round) {
            const indices one = claim(list, 1);
            ASSERT_EQ(one.size(), 1U);
            free_all(list, one);
        }
    };

    indices others = claim(list, 2 * claims);
    for (int cycle = 0; cycle != 5; ++cycle) {
        free_all(list, {others.begin(), others.begin() + claims});
        std::latch go_on(1);
        waits_before_counting::waiting = 0;
        std::array<indices, claims> held;
        std::vector<std::jthread> threads;
        for (indices& mine : held) {
            threads.emplace_back([&go_on, &mine, &list] {
                waits_before_counting::go_on = &go_on;
                mine = claim(list, 1);
            });
        }
        while (waits_before_counting::waiting != claims) {
            std::this_thread::yield();
        }
        free_all(list, {others.begin() + claims, others.end()});
        lap();
        go_on.count_down();
        threads.clear();
        lap();

        others = claim(list, claims);
        for (const indices& mine : held) {
            others.insert(others.end(), mine.begin(), mine.end());
        }
        indices all = others;
        std::ranges::sort(all);
        ASSERT_EQ(all, sequence(0, 2 * claims));
    }
}

TEST(claims_of_one_thread_alone, give_all_their_blocks_back) {
    constexpr std::uint32_t size = 6;
    fifo_freelist<waits_before_counting> list("list",
                                              {.index_limit = size, .waiting_limit = size, .max_threads = 1});
    indices all(size);
    for (std::uint32_t i = 0; i != size; ++i) {
        ASSERT_EQ(list.claim_alone(&all[i], 1, size), 1U);
    }
    ASSERT_EQ(all, sequence(0, size));
    std::uint32_t none = 0;
    EXPECT_EQ(list.claim_alone(&none, 1, size), 0U);
    EXPECT_EQ(list.fresh(), size);
    free_all(list, all);
    for (int round = 0; round != 200; ++round) {
        std::uint32_t one = 0;
        ASSERT_EQ(list.claim_alone(&one, 1, size), 1U);
        ASSERT_EQ(one, all[static_cast<std::size_t>(round) % size]);
        ASSERT_EQ(list.in_use(), 1U);
        free_all(list, {one});
    }
}

/// Blocks of N entries. Arrays know their ends.
template <std::size_t N>
struct blocks_of : waits_before_counting {
    static constexpr std::size_t freelist_block = N;
};

template <class Policy>
class sequential_freelist_test : public testing::Test {
protected:
    /// What one thread alone does with a list, and with a queue that says what is right.
    static void run(random_source& random, std::uint32_t size, std::size_t delay) {
        fifo_freelist<Policy> list(
            "list", {.index_limit = size, .waiting_limit = size, .max_threads = 1, .reuse_delay = delay});
        std::deque<std::uint32_t> waiting;
        std::size_t published = 0; // of those that wait
        std::uint32_t fresh = 0;
        std::uint64_t released = 0;
        indices in_use;
        const auto expect_next = [&](std::uint32_t index) {
            ASSERT_FALSE(waiting.empty());
            ASSERT_EQ(index, waiting.front());
            waiting.pop_front();
            --published;
            in_use.push_back(index);
        };
        const auto release = [&](std::size_t count) {
            std::shuffle(in_use.begin(), in_use.end(), std::mt19937_64(random.bits()));
            const indices freed(in_use.end() - static_cast<std::ptrdiff_t>(count), in_use.end());
            in_use.resize(in_use.size() - count);
            if (random.one_in(2)) {
                list.release_many(count, [&freed](std::size_t i) { return freed[i]; });
            } else {
                std::ranges::for_each(freed, [&list](std::uint32_t index) { list.release(index); });
            }
            waiting.insert(waiting.end(), freed.begin(), freed.end());
            released += count;
            ASSERT_EQ(list.released(), released);
        };
        for (int step = 0; step != 3000 && !testing::Test::HasFatalFailure(); ++step) {
            switch (random.below(4)) {
            case 0: { // in place
                if (list.claimed_left() == 0) {
                    const std::size_t wanted = 1 + random.below(2 * Policy::freelist_block);
                    const std::size_t claimed = list.claim_in_place(wanted, size);
                    ASSERT_LE(claimed, wanted);
                    ASSERT_LE(claimed, published > delay ? published - delay : 0);
                    ASSERT_EQ(claimed != 0, published > delay);
                    for (std::size_t i = 0; i != claimed; ++i) {
                        ASSERT_EQ(list.claimed(i), waiting[i]);
                    }
                }
                for (std::size_t most = random.below(5); most != 0 && list.claimed_left() != 0; --most) {
                    expect_next(list.take_claimed());
                }
                break;
            }
            case 1: { // copied
                list.end_claim();
                ASSERT_EQ(list.claimed_left(), 0U);
                ASSERT_EQ(list.waiting(), published);
                ASSERT_EQ(list.in_use(), fresh - published);
                indices out(1 + random.below(5));
                const bool freed = published > delay;
                out.resize(random.one_in(2) ? list.claim_alone(out.data(), out.size(), size)
                                            : list.claim(out.data(), out.size(), size));
                ASSERT_EQ(!out.empty(), freed || (fresh != size && fresh - published != size));
                for (const std::uint32_t index : out) {
                    if (freed) {
                        expect_next(index);
                    } else {
                        ASSERT_EQ(index, fresh);
                        ++fresh;
                        in_use.push_back(index);
                    }
                }
                break;
            }
            case 2:
                release(random.below(in_use.size() + 1));
                break;
            default:
                list.publish();
                published = waiting.size();
            }
        }
        list.end_claim();
        list.publish();
        list.reset(0);
        EXPECT_EQ(list.released(), 0U);
        EXPECT_EQ(list.claimed_left(), 0U);
        EXPECT_EQ(claim(list, size), sequence(0, size));
    }
};

using block_sizes = testing::Types<blocks_of<1>, blocks_of<2>, blocks_of<8>, blocks_of<64>>;
TYPED_TEST_SUITE(sequential_freelist_test, block_sizes);

TYPED_TEST(sequential_freelist_test, gives_what_a_queue_gives) {
    random_source random(1);
    for (const std::uint32_t size : {1U, 2U, 3U, 8U, 9U, 63U, 64U, 65U, 200U}) {
        for (const std::size_t delay : {0U, 1U, 7U}) {
            SCOPED_TRACE(std::to_string(size) + " indices, delay " + std::to_string(delay));
            this->run(random, size, delay);
            if (testing::Test::HasFatalFailure()) {
                return;
            }
        }
    }
}

TEST(sequential_freelist, a_claim_in_place_is_counted_when_it_ends_and_as_far_as_it_was_taken) {
    fifo_freelist<default_policy> list(
        "list", {.index_limit = 10, .waiting_limit = 10, .max_threads = 1, .reuse_delay = 2});
    free_all(list, claim(list, 10));
    ASSERT_EQ(list.claim_in_place(5, 10), 5U);
    EXPECT_EQ(list.take_claimed(), 0U);
    EXPECT_EQ(list.take_claimed(), 1U);
    EXPECT_EQ(list.claimed_left(), 3U);
    list.end_claim();
    EXPECT_EQ(list.claimed_left(), 0U);
    EXPECT_EQ(list.waiting(), 8U);
    EXPECT_EQ(list.in_use(), 2U);
    EXPECT_EQ(list.smallest_reuse_distance(), 8U);
    list.end_claim();
    EXPECT_EQ(list.waiting(), 8U);
    EXPECT_EQ(claim(list, 3), (indices{2, 3, 4}));
    EXPECT_EQ(list.smallest_reuse_distance(), 5U);
}

TEST(sequential_freelist, a_reuse_distance_is_that_of_the_claim_however_late_it_ends) {
    fifo_freelist<default_policy> list("list", {.index_limit = 10, .waiting_limit = 10, .max_threads = 1});
    free_all(list, claim(list, 4));
    ASSERT_EQ(list.claim_in_place(4, 10), 4U);
    indices taken;
    while (list.claimed_left() != 0) {
        taken.push_back(list.take_claimed());
    }
    EXPECT_EQ(taken, (indices{0, 1, 2, 3}));
    free_all(list, taken);
    list.end_claim();
    EXPECT_EQ(list.smallest_reuse_distance(), 0U);
}

// ---- Views that are stopped half-way
// --------------------------------------------------------------------------

struct view_scene {
    fifo_freelist<support::tiny_policy<2, support::step_policy>> list{
        "list", {.index_limit = 100, .waiting_limit = 6, .reuse_delay = 0}};
    std::size_t view = 0;

    void put_six_in_service_and_send_them_round() {
        for (int round = 0; round != 5; ++round) {
            free_all(list, claim(list, 6));
        }
    }
};

TEST(stopped_view_test, no_more_indices_are_in_use_than_were_put_in_service) {
    stop_at_every_access<view_scene>([](view_scene& at) { at.view = at.list.in_use(); },
                                     [](view_scene& at) { at.put_six_in_service_and_send_them_round(); },
                                     [](view_scene& at) { EXPECT_LE(at.view, 6U); });
}

TEST(stopped_view_test, no_more_indices_wait_than_there_are) {
    stop_at_every_access<view_scene>([](view_scene& at) { at.view = at.list.waiting(); },
                                     [](view_scene& at) { at.put_six_in_service_and_send_them_round(); },
                                     [](view_scene& at) { EXPECT_LE(at.view, 6U); });
}

} // namespace
} // namespace handlepool::test
