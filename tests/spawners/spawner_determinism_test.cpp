// SPDX-License-Identifier: MIT

// The same frames on one thread and on many, in many orders: all that can be seen of them is the same.

#include <gtest/gtest.h>
#include <tests/spawners/spawned_frames.hpp>
#include <tests/support/repetitions.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

template <class Case>
class spawner_determinism : public testing::Test {};

using cases =
    testing::Types<dense_case, ordered_case, tiny_case, stable_case, recycling_case, row_case, raw_case>;
TYPED_TEST_SUITE(spawner_determinism, cases);

TYPED_TEST(spawner_determinism, does_not_depend_on_threads_and_their_order) {
    constexpr std::uint64_t frames = 60;
    std::uint64_t seed = 0;
    for (int repetition = 0; repetition != support::repetitions(6); ++repetition, ++seed) {
        std::vector<transcript> expected;
        {
            spawned_frames<TypeParam> run(seed, {.threads = 1, .seed = 1});
            for (std::uint64_t frame = 0; frame != frames; ++frame) {
                expected.push_back(run.play(frame));
            }
        }
        for (const unsigned threads : {1U, 2U, 4U, 8U}) {
            spawned_frames<TypeParam> run(seed, {.threads = threads, .seed = threads * 7 + 2});
            for (std::uint64_t frame = 0; frame != frames; ++frame) {
                ASSERT_EQ(run.play(frame), expected[frame])
                    << "seed " << seed << ", frame " << frame << ", " << threads << " threads";
            }
        }
    }
}

} // namespace
} // namespace handlepool::test
