// SPDX-License-Identifier: MIT

// Records that are written while others erase, compact and use the slots again.

#include <handlepool/pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;

/// "created in x; erased in y".
template <class Pool>
std::string told(const Pool& pool, typename Pool::handle_type handle) {
    const recorded_life life = pool.life_of(handle);
    const auto text = [](const std::optional<recorded_event>& event) {
        return event ? std::string(to_string(event->event)) + " in " + event->site.name() : "nothing";
    };
    return text(life.beginning) + "; " + text(life.end);
}

/// A thread that ends objects is stopped at each access, while a sweep looks for objects without a record of
/// their removal, and other objects get the slots.
class stopped_eraser : public testing::Test {
protected:
    using pool_type = pool<int, with_policy<support::tiny_policy<1, support::step_policy>>>;
    using handle_type = pool_type::handle_type;

    template <class End>
    void expect_exact_records(End end, const std::string& how) {
        for (std::size_t steps = 0;; ++steps) {
            SCOPED_TRACE(steps);
            pool_type pool({.name = "late",
                            .capacity = 3,
                            .reuse_delay = 0,
                            .slot_limit = 3,
                            .removal_queue_size = 1,
                            .max_threads = 64,
                            .record_lives = 1});
            std::array<handle_type, 3> first;
            {
                const scoped_site here("maker");
                for (handle_type& each : first) {
                    each = pool.emplace(1);
                }
            }
            pool.compact();
            support::stepper victim(steps, [&] {
                const scoped_site here("victim");
                end(pool, first[0]);
            });
            const bool stopped = victim.stopped();
            {
                const scoped_site here("eraser");
                pool.erase(first[1]);
                pool.erase(first[2]); // its queue of one is full: a sweep
            }
            pool.compact();
            std::vector<handle_type> next;
            {
                const scoped_site here("next maker");
                while (const handle_type made = pool.try_emplace(2)) {
                    next.push_back(made);
                }
                const scoped_site there("next eraser");
                for (const handle_type each : next) {
                    pool.erase(each);
                }
            }
            const auto expect_next = [&] {
                for (const handle_type each : next) {
                    EXPECT_EQ(told(pool, each), "created in next maker; erased in next eraser");
                }
            };
            expect_next();
            victim.finish();
            expect_next();
            const bool is_used_again =
                std::ranges::any_of(next, [&](handle_type each) { return each.index() == first[0].index(); });
            EXPECT_EQ(told(pool, first[0]),
                      is_used_again ? "nothing; nothing" : "created in maker; " + how + " in victim");
            pool.compact(); // takes over what the victim has left
            expect_next();
            EXPECT_EQ(pool.size(), 0U);
            pool.compact();
            EXPECT_TRUE(pool.idle());
            if (!stopped || HasFailure()) {
                return;
            }
        }
    }
};

TEST_F(stopped_eraser, that_erases) {
    expect_exact_records([](pool_type& pool, handle_type handle) { pool.erase(handle); }, "erased");
}

TEST_F(stopped_eraser, that_extracts) {
    expect_exact_records([](pool_type& pool, handle_type handle) { pool.extract(handle, [](int) {}); },
                         "extracted");
}

TEST_F(stopped_eraser, that_clears) {
    // Which ends all three, unless the others are faster.
    for (std::size_t steps = 0;; ++steps) {
        SCOPED_TRACE(steps);
        pool_type pool({.name = "late",
                        .capacity = 3,
                        .reuse_delay = 0,
                        .slot_limit = 3,
                        .max_threads = 64,
                        .record_lives = 1});
        std::array<handle_type, 3> first;
        for (handle_type& each : first) {
            each = pool.emplace(1);
        }
        pool.compact();
        support::stepper victim(steps, [&] {
            const scoped_site here("victim");
            pool.clear();
        });
        const bool stopped = victim.stopped();
        std::array<bool, 3> won{};
        {
            const scoped_site here("eraser");
            for (std::size_t i = 0; i != first.size(); ++i) {
                won[i] = pool.erase(first[i]);
            }
            pool.clear();
        }
        victim.finish();
        for (std::size_t i = 0; i != first.size(); ++i) {
            const std::string text = told(pool, first[i]);
            EXPECT_EQ(text.substr(text.find(';')), won[i] ? "; erased in eraser" : "; cleared in victim");
        }
        pool.compact();
        EXPECT_TRUE(pool.idle());
        if (!stopped || HasFailure()) {
            return;
        }
    }
}

// A pool whose slots are used in order: the next handle is known.
TEST(stopped_creator, that_can_be_seen_has_told_who_it_is) {
    using pool_type = pool<int, with_policy<support::tiny_policy<1, support::step_policy>>>;
    using handle_type = pool_type::handle_type;
    for (const bool is_reserved : {false, true}) {
        for (std::size_t steps = 0;; ++steps) {
            SCOPED_TRACE(steps);
            pool_type pool({.name = "early", .capacity = 2, .max_threads = 64, .record_lives = 1});
            const handle_type known = pool.emplace(1);
            handle_type next = handle_type::from_value(known.value() + 1);
            if (is_reserved) {
                next = pool.reserve_handle();
            }
            support::stepper victim(steps, [&] {
                const scoped_site here("victim");
                if (is_reserved) {
                    pool.fulfill(next, 2);
                } else {
                    EXPECT_EQ(pool.emplace(2), next);
                }
            });
            const bool stopped = victim.stopped();
            if (pool.contains(next)) {
                EXPECT_EQ(told(pool, next), "created in victim; nothing");
            }
            victim.finish();
            EXPECT_EQ(told(pool, next), "created in victim; nothing");
            if (!stopped || testing::Test::HasFailure()) {
                break;
            }
        }
    }
}

/// While threads create, erase and revoke what they all know, and one compacts, each stale handle is
/// explained by who has ended it.
template <class Pool>
class racing_threads : public testing::Test {};

using racing_pools = testing::Types<pool<std::uint64_t>, stable_pool<std::uint64_t>,
                                    pool<std::uint64_t, with_policy<support::tiny_policy<1>>>>;
TYPED_TEST_SUITE(racing_threads, racing_pools);

TYPED_TEST(racing_threads, are_all_told_rightly) {
    using handle_type = typename TypeParam::handle_type;
    constexpr std::size_t threads = 4;
    constexpr std::size_t shared_handles = 64;
    constexpr int rounds = 4000;
    // Large enough that no slot has more lives than are kept.
    TypeParam pool(
        {.name = "race", .capacity = 1000, .reuse_delay = 20'000, .slot_limit = 60'000, .record_lives = 64});
    std::array<std::atomic<std::uint64_t>, shared_handles> known{};
    struct truth {
        handle_type handle;
        const char* how;
    };
    std::vector<std::vector<truth>> ended(threads);
    std::vector<std::vector<handle_type>> made(threads);
    std::atomic<std::uint64_t> wrong{0};
    const auto name = [](std::size_t thread) { return "thread " + std::to_string(thread); };

    in_threads(
        threads,
        [&](std::size_t thread) {
            const scoped_task task(name(thread));
            std::uint64_t random = thread + 1;
            for (int i = 0; i != rounds; ++i) {
                random = random * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
                std::atomic<std::uint64_t>& one = known[(random >> 33) % shared_handles];
                const handle_type handle = handle_type::from_value(one.load());
                if (const auto other = pool.life_of(handle); other.end && pool.contains(handle)) {
                    ++wrong; // handles never come back
                }
                if ((random >> 40) % 4 == 0 && handle) {
                    if (const handle_type renewed = pool.revoke(handle)) {
                        ended[thread].push_back({handle, "revoked"});
                        made[thread].push_back(renewed);
                        one.store(renewed.value());
                    }
                } else if (pool.erase(handle)) {
                    ended[thread].push_back({handle, "erased"});
                } else if (const handle_type fresh = pool.try_emplace(random)) {
                    made[thread].push_back(fresh);
                    const handle_type left = handle_type::from_value(one.exchange(fresh.value()));
                    if (left != handle && pool.erase(left)) {
                        ended[thread].push_back({left, "erased"});
                    }
                }
            }
        },
        [&] { pool.compact(); });

    EXPECT_EQ(wrong, 0U);
    std::size_t checked = 0;
    for (std::size_t thread = 0; thread != threads; ++thread) {
        for (const truth& each : ended[thread]) {
            const recorded_life life = pool.life_of(each.handle);
            ASSERT_TRUE(life.end) << pool.describe(each.handle);
            ASSERT_EQ(to_string(life.end->event), each.how) << pool.describe(each.handle);
            ASSERT_EQ(life.end->task, name(thread)) << pool.describe(each.handle);
            ++checked;
        }
        for (const handle_type each : made[thread]) {
            const recorded_life life = pool.life_of(each);
            ASSERT_TRUE(life.beginning) << pool.describe(each);
            ASSERT_EQ(life.beginning->task, name(thread)) << pool.describe(each);
        }
    }
    EXPECT_GT(checked, 1000U);
}

} // namespace
} // namespace handlepool::test
