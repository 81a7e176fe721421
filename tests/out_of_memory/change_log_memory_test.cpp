// SPDX-License-Identifier: MIT

// A log of changes whose allocations fail: it is not attached, or loses a frame and knows the next one.

#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

class change_log_memory : public testing::TestWithParam<shortage> {};

/// Returns how many allocations a log makes, with values and, of rows, with marks of columns.
template <class Pool>
std::size_t fail_to_make_logs(shortage kind) {
    Pool objects({.name = "objects", .capacity = 100});
    objects.emplace(1);
    for (std::size_t allocation = 0;; ++allocation) {
        std::unique_ptr<change_log<Pool>> log;
        memory_shortage short_of(kind, allocation);
        if (!short_of.hits([&] {
                log = std::make_unique<change_log<Pool>>(
                    objects, keep_destroyed,
                    change_log_options{.mark_columns = !std::is_same_v<Pool, pool<int>>});
            })) {
            return allocation;
        }
        objects.compact();
        EXPECT_TRUE(objects.idle());
    }
}

TEST_P(change_log_memory, a_log_that_can_not_be_made_leaves_the_pool_as_it_was) {
    const std::size_t allocations = fail_to_make_logs<pool<int>>(GetParam());
    EXPECT_GT(allocations, 3U);
    EXPECT_GT((fail_to_make_logs<pool<columns<int, char>>>(GetParam())), allocations + 2); // a set a column
}

template <bool Keeps, class Pool>
change_log<Pool> log_of(Pool& pool, change_log_options options) {
    if constexpr (Keeps) {
        return change_log<Pool>(pool, keep_destroyed, options);
    } else {
        return change_log<Pool>(pool, options);
    }
}

/// How many values of 1 a log has of a frame.
template <bool Keeps, class Log>
std::size_t values_of([[maybe_unused]] const Log& log, [[maybe_unused]] std::uint64_t frame) {
    std::size_t count = 0;
    if constexpr (Keeps) {
        if (const auto entries = log.destroyed_entries(frame)) {
            for (const auto& [handle, object] : *entries) {
                count += object == 1 ? 1U : 0U;
            }
        }
    }
    return count;
}

/// Returns how many allocations a frame has, in which objects end whose values are kept if `Keeps`.
template <bool Keeps, class Pool>
std::size_t lose_frames(shortage kind) {
    std::size_t lost = 0;
    for (std::size_t allocation = 0;; ++allocation) {
        Pool numbers({.name = "numbers", .capacity = 400, .reuse_delay = 0});
        using handle_type = typename Pool::handle_type;
        std::vector<handle_type> handles;
        numbers.emplace_n(100, std::back_inserter(handles), 1);
        numbers.compact();
        auto log = log_of<Keeps>(numbers, {.frames = 4, .check_marks = false}); // which allocates too
        for (std::size_t i = 0; i != 30; ++i) {
            numbers.erase(std::exchange(handles[3 * i], numbers.emplace(2)));
            handles[3 * i + 1] = numbers.revoke(handles[3 * i + 1]);
            log.mark(handles[3 * i + 2]);
        }
        const std::uint64_t seen = log.frame();
        memory_shortage short_of(kind, allocation);
        short_of.begin();
        numbers.compact();
        short_of.end();
        EXPECT_EQ(log.frame(), 1U);
        if (short_of.came()) {
            ++lost;
            EXPECT_FALSE(log.changes_since(seen));
            EXPECT_FALSE(log.upload_ranges(seen));
            EXPECT_EQ(log.oldest(), 1U);
            EXPECT_EQ(values_of<Keeps>(log, 1), 0U);
        } else {
            EXPECT_EQ(values_of<Keeps>(log, 1), Keeps ? 30U : 0U);
            EXPECT_EQ(log.changes_since(seen)->front().destroyed.size(), 30U);
            EXPECT_EQ(log.changes_since(seen)->front().renamed.size(), 30U);
        }
        // Who begins anew finds what there is, and the next frame is right.
        std::vector<handle_type> known;
        log.for_each_known([&](handle_type handle, std::size_t position) {
            EXPECT_EQ(log.position_of(handle), position);
            known.push_back(handle);
        });
        EXPECT_EQ(known.size(), 100U);
        numbers.erase(handles[1]);
        handles[4] = numbers.revoke(handles[4]);
        numbers.compact();
        const auto records = log.changes_since(1);
        if (!records) {
            ADD_FAILURE() << "the next frame is lost";
            return lost;
        }
        EXPECT_EQ(records->front().destroyed.size(), 1U);
        EXPECT_EQ(records->front().destroyed[0].handle, handles[1]);
        EXPECT_EQ(records->front().renamed.size(), 1U);
        EXPECT_EQ(records->front().born.size(), 0U);
        EXPECT_EQ(records->front().edited.size(), 0U);
        EXPECT_EQ(records->front().never_seen, 0U);
        EXPECT_EQ(records->front().size, 99U);
        EXPECT_EQ(values_of<Keeps>(log, 2), Keeps ? 1U : 0U);
        // The one that was lost stays so.
        EXPECT_EQ(log.oldest(), short_of.came() ? 1U : seen);
        EXPECT_EQ(log.changes_since(seen).has_value(), !short_of.came());
        EXPECT_EQ(log.upload_ranges(seen).has_value(), !short_of.came());
        if (!short_of.came()) {
            return lost;
        }
    }
}

TEST_P(change_log_memory, a_frame_is_lost_and_the_next_is_right) {
    EXPECT_GT((lose_frames<false, pool<int>>(GetParam())), 2U); // a list for each of what comes
    EXPECT_GT((lose_frames<false, stable_pool<int>>(GetParam())), 2U);
    EXPECT_GT((lose_frames<true, pool<int>>(GetParam())), 4U); // also the values, and their order
    EXPECT_GT((lose_frames<true, stable_pool<int>>(GetParam())), 4U);
}

TEST_P(change_log_memory, a_lost_frame_is_no_change_without_a_mark) {
    std::size_t lost = 0;
    with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        pool<columns<int, float>> rows({.name = "rows", .capacity = 400, .reuse_delay = 0});
        std::vector<pool<columns<int, float>>::handle_type> handles;
        rows.emplace_n(100, std::back_inserter(handles), 1, 1.0F);
        rows.compact();
        change_log log(rows, {.frames = 4, .mark_columns = true});
        rows.compact(); // a checked build knows the rows now
        for (std::size_t i = 0; i != 30; ++i) {
            rows.erase(std::exchange(handles[3 * i], rows.emplace(2, 2.0F)));
            *log.edit<float>(handles[3 * i + 1]) = 3;
        }
        short_of.begin();
        rows.compact();
        short_of.end();
        lost += log.oldest() == 2 ? 1U : 0U;
        *log.edit<float>(handles[1]) = 4;
        rows.compact();
        EXPECT_EQ(log.upload_ranges<float>(2)->size(), 1U);
        EXPECT_EQ(log.upload_ranges<int>(2)->size(), 0U);
    });
    EXPECT_GT(lost, 2U);
}

/// After some frames, those that come need no more memory.
template <class Pool, class... More>
void use_memory_again(const More&... more) {
    Pool objects({.name = "objects", .capacity = 100, .reuse_delay = 0}, more...);
    change_log log(objects, keep_destroyed, {.frames = 2, .check_marks = false});
    std::vector<typename Pool::handle_type> handles(10);
    const auto replace_all = [&] {
        for (auto& each : handles) {
            objects.erase(std::exchange(each, objects.emplace()));
        }
        objects.compact();
    };
    for (int i = 0; i != 8; ++i) {
        replace_all();
    }
    expect_no_allocation(replace_all);
    EXPECT_EQ(log.destroyed_entries(9)->size(), 10U);
}

TEST(change_log_values, use_their_memory_again) {
    use_memory_again<pool<int>>();
    use_memory_again<stable_pool<int>>();
    use_memory_again<pool<columns<int, char>>>();
    use_memory_again<raw_pool<>>(raw_type{.size = 12, .alignment = 64});
}

INSTANTIATE_TEST_SUITE_P(memory, change_log_memory, both_shortages, name_of_shortage);

} // namespace
} // namespace handlepool::test
