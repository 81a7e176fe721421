// SPDX-License-Identifier: MIT

// Objects that some threads keep for others.

#include <handlepool/recycling_pool.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/recycled_object.hpp>
#include <tests/support/threads.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::test {
namespace {

using pool_type = recycling_pool<recycled_object, with_policy<support::tiny_policy<1>>>;

TEST(recycling_pool_threads, threads_that_create_and_erase_each_others_objects) {
    recycled_object::counts seen;
    pool_type pool({.name = "objects", .capacity = 2000, .reuse_delay = 0});
    std::atomic<std::size_t> wrong{0};
    std::vector<std::atomic<std::uint64_t>> shared(200);
    const auto work = [&](std::size_t) {
        for (std::uint64_t i = 1; i != 5000; ++i) {
            if (i % 50 == 0) {
                seen.fail_at(static_cast<std::int64_t>(i % 3));
            }
            pool_type::handle_type made;
            try {
                made = pool.try_emplace_with(
                    [&](auto handle, recycled_object& object) { object = handle.index() + 1; });
            } catch (const construction_failure&) {
                continue;
            }
            if (!made) {
                continue;
            }
            const auto known = pool.find(made); // nobody else has its handle
            wrong += known == nullptr || known->value() != made.index() + 1 ? 1U : 0U;
            const auto other =
                pool_type::handle_type::from_value(shared[i % shared.size()].exchange(made.value()));
            if (other) {
                wrong += pool.erase(other) ? 0U : 1U;
            }
        }
    };
    thread_executor executor(2);
    in_threads(2, work, [&, frame = 0]() mutable {
        pool.compact(executor);
        if (frame++ % 5 == 0) {
            pool.shrink_to_fit();
        }
    });
    EXPECT_EQ(wrong, 0U);
    seen.fail_never();
    expect_consistent(pool);
    EXPECT_LE(pool.size(), shared.size());
}

} // namespace
} // namespace handlepool::test
