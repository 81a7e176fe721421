// SPDX-License-Identifier: MIT

// Random operations against an oracle. The invariants stand in pool_invariants_test.

#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/pool_oracle.hpp>
#include <tests/support/random.hpp>
#include <tests/support/threads.hpp>

#include <cstdint>
#include <vector>

namespace handlepool::test {
namespace {

TYPED_TEST_SUITE(pool_oracle, oracle_cases);

TYPED_TEST(pool_oracle, agrees_in_one_thread) {
    random_source random(11);
    auto engine = random.fork();
    typename TestFixture::pool_type pool(TypeParam::options());
    std::vector<typename TestFixture::population> all(1);
    for (int frame = 0; frame < 300; ++frame) {
        for (std::uint64_t i = random.below(100); i > 0; --i) {
            this->step(pool, all[0], engine, 400);
        }
        if (random.one_in(40)) {
            random.one_in(2) ? pool.clear() : pool.reset();
            for (const auto& [handle, value] : all[0].living) {
                all[0].dead.push_back(handle);
            }
            all[0].living.clear();
        }
        this->expect_same(pool, all);
        if (testing::Test::HasFailure()) {
            return;
        }
    }
}

TYPED_TEST(pool_oracle, agrees_in_threads_that_erase_each_others_objects) {
    constexpr std::size_t thread_count = 3;
    random_source random(12);
    thread_executor executor(2);
    typename TestFixture::pool_type pool(TypeParam::options());
    std::vector<typename TestFixture::population> all(thread_count);
    std::vector<std::mt19937_64> engines;
    for (std::size_t thread = 0; thread < thread_count; ++thread) {
        all[thread].next_value = thread << 32;
        engines.push_back(random.fork());
    }
    for (std::size_t frame = 0; frame < 60; ++frame) {
        in_threads(thread_count, [&](std::size_t thread) {
            for (int i = 0; i < 200; ++i) {
                this->step(pool, all[(thread + frame) % thread_count], engines[thread], 100);
            }
        });
        if (frame % 2 == 0) {
            pool.compact(executor);
        }
        this->expect_same(pool, all);
        if (testing::Test::HasFailure()) {
            return;
        }
    }
}

} // namespace
} // namespace handlepool::test
