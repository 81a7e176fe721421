// SPDX-License-Identifier: MIT

// Random operations of every kind on pools of each placement: a snapshot and the deltas since are, byte for
// byte, the snapshot of each frame.

#include "delta_world.hpp"

#include <handlepool/snapshots/replay.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace handlepool::test {
namespace {

/// Where two snapshots differ.
std::optional<std::size_t> first_difference(const std::vector<std::byte>& one,
                                            const std::vector<std::byte>& other) {
    const auto at = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
    return one == other ? std::nullopt : std::optional(static_cast<std::size_t>(at.first - one.begin()));
}

template <class Case>
class delta_oracle : public testing::Test {};

using told_cases = testing::Types<
    told_case<told_number, default_traits>,
    told_case<told_number, with_policy<told_blocks, with_layout<told_generations>>>,
    told_case<told_number, with_policy<told_blocks>, true, 5>, told_case<told_text, with_policy<told_blocks>>,
    told_case<told_number, with_placement<stable_placement>>,
    told_case<told_text, with_placement<stable_placement, with_policy<told_blocks>>, false, 3>,
    told_case<told_number,
              with_placement<stable_placement, with_policy<told_blocks, with_layout<told_generations>>>>,
    told_case<told_text, with_placement<recycling_placement, with_policy<told_blocks>>>>;
TYPED_TEST_SUITE(delta_oracle, told_cases);

TYPED_TEST(delta_oracle, a_snapshot_and_deltas_are_the_snapshot_of_each_frame) {
    random_source random;
    told_world<TypeParam> world(8); // so that the log has lost frames at times
    world.play(random.bits(), 300);
    const std::vector<std::byte> first = world.save();
    world.recorder().begin(0);
    replay past(first, 0);
    for (std::uint64_t frame = 1; frame != 300; ++frame) {
        world.play(random.bits(), static_cast<int>(random.below(random.one_in(8) ? 300 : 40)));
        const std::vector<std::byte> delta = world.append(frame);
        const std::vector<std::byte> now = world.save();
        past.apply(delta);
        std::vector<std::byte> replayed;
        past.save(replayed);
        ASSERT_EQ(first_difference(replayed, now), std::nullopt) << "frame " << frame;
        ASSERT_EQ(past.frame(), frame);
    }
}

} // namespace
} // namespace handlepool::test
