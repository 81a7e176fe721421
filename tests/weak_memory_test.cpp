#include <gtest/gtest.h>
#include <support/weak_memory.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

// The fixture that other tests rely on: it must show what the memory model allows, and nothing else.
namespace handlepool::test {
namespace {

using word = weak_atomic<std::uint32_t>;
using outcomes = std::set<std::pair<std::uint32_t, std::uint32_t>>;

constexpr auto relaxed = std::memory_order::relaxed;
constexpr auto acquire = std::memory_order::acquire;
constexpr auto release = std::memory_order::release;
constexpr auto seq_cst = std::memory_order::seq_cst;

outcomes message_passing(std::memory_order store, std::memory_order load) {
    outcomes seen;
    in_weak_runs(300, [&](weak_run& run) {
        word data;
        word flag;
        std::uint32_t first = 0;
        std::uint32_t second = 0;
        run.threads({[&] {
                         data.store(1, relaxed);
                         flag.store(1, store);
                     },
                     [&] {
                         first = flag.load(load);
                         second = data.load(relaxed);
                     }});
        seen.insert({first, second});
    });
    return seen;
}

TEST(weak_memory_test, a_message_arrives_only_by_release_and_acquire) {
    EXPECT_EQ(message_passing(release, acquire), (outcomes{{0, 0}, {0, 1}, {1, 1}}));
    EXPECT_EQ(message_passing(seq_cst, seq_cst), (outcomes{{0, 0}, {0, 1}, {1, 1}}));
    EXPECT_TRUE(message_passing(relaxed, acquire).contains({1, 0}));
    EXPECT_TRUE(message_passing(release, relaxed).contains({1, 0}));
}

outcomes store_buffering(std::memory_order store, std::memory_order load) {
    outcomes seen;
    in_weak_runs(300, [&](weak_run& run) {
        word x;
        word y;
        std::uint32_t first = 0;
        std::uint32_t second = 0;
        run.threads({[&] {
                         x.store(1, store);
                         first = y.load(load);
                     },
                     [&] {
                         y.store(1, store);
                         second = x.load(load);
                     }});
        seen.insert({first, second});
    });
    return seen;
}

TEST(weak_memory_test, two_threads_miss_each_other_unless_all_is_sequentially_consistent) {
    EXPECT_EQ(store_buffering(seq_cst, seq_cst), (outcomes{{0, 1}, {1, 0}, {1, 1}}));
    EXPECT_TRUE(store_buffering(release, seq_cst).contains({0, 0}));
    EXPECT_TRUE(store_buffering(seq_cst, acquire).contains({0, 0}));
}

TEST(weak_memory_test, a_thread_never_sees_an_older_value_than_before) {
    in_weak_runs(300, [&](weak_run& run) {
        word x;
        run.threads({[&] {
                         for (std::uint32_t value = 1; value != 4; ++value) {
                             x.store(value, relaxed);
                         }
                     },
                     [&] {
                         std::uint32_t before = 0;
                         for (int i = 0; i != 5; ++i) {
                             const std::uint32_t now = x.load(relaxed);
                             ASSERT_GE(now, before);
                             before = now;
                         }
                     }});
        EXPECT_EQ(x.load(relaxed), 3U);
    });
}

TEST(weak_memory_test, exchanges_see_the_last_value_and_pass_on_what_was_released_before_them) {
    in_weak_runs(300, [&](weak_run& run) {
        word data;
        word count;
        std::uint32_t seen = 0;
        run.threads({[&] {
                         data.store(1, relaxed);
                         count.fetch_add(1, release);
                     },
                     [&] { count.fetch_add(1, relaxed); },
                     [&] {
                         while (count.load(acquire) != 2) {
                             weak_run::yield();
                         }
                         seen = data.load(relaxed);
                     }});
        ASSERT_EQ(seen, 1U);
    });
}

TEST(weak_memory_test, reads_are_disturbed_unless_something_orders_them) {
    const auto disturbed = [](std::memory_order store, std::memory_order load) {
        std::size_t count = 0;
        in_weak_runs(100, [&](weak_run& run) {
            word data;
            weak_atomic<std::uint64_t> done;
            run.threads({[&] {
                             weak_run::keep_reads([&] {
                                 data.load(relaxed);
                                 return true;
                             });
                             done.store(1, store);
                         },
                         [&] {
                             while (done.load(load) == 0) {
                                 weak_run::yield();
                             }
                             data.store(2, relaxed);
                         }});
            count += run.disturbed_reads();
        });
        return count;
    };
    EXPECT_EQ(disturbed(release, acquire), 0U);
    EXPECT_GT(disturbed(relaxed, acquire), 0U);
    EXPECT_GT(disturbed(release, relaxed), 0U);
}

} // namespace
} // namespace handlepool::test
