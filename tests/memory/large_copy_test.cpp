// SPDX-License-Identifier: MIT
#include <handlepool/detail/memory/large_copy.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;

std::vector<std::byte> random_bytes(std::size_t size) {
    random_source random;
    std::vector<std::byte> bytes(size);
    std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random.below(256)); });
    return bytes;
}

// Whole lines are written otherwise than what is before and behind them.
TEST(large_copy, copies_from_any_address_to_any_other_and_nothing_beside) {
    const std::vector<std::byte> source = random_bytes(400);
    for (std::size_t from = 0; from != 20; ++from) {
        for (std::size_t to = 0; to != 70; ++to) {
            for (const std::size_t size : {0U, 1U, 7U, 63U, 64U, 65U, 128U, 200U, 300U}) {
                std::vector<std::byte> copied(400, std::byte{0xa5});
                std::vector<std::byte> expected = copied;
                const auto bytes = std::span(source).subspan(from, size);
                std::ranges::copy(bytes, expected.begin() + static_cast<std::ptrdiff_t>(to));
                copy_past_caches(copied.data() + to, bytes);
                ASSERT_EQ(copied, expected) << "from " << from << " to " << to << ", " << size << " bytes";
            }
        }
    }
    copy_past_caches(nullptr, {});
    large_copy(nullptr, {});
}

TEST(large_copy, is_right_below_and_above_what_caches_keep) {
    const std::vector<std::byte> source = random_bytes(too_much_for_caches + 1);
    for (const std::size_t less : {2U, 1U, 0U}) {
        std::vector<std::byte> copied(source.size() + 1, std::byte{0xa5});
        std::vector<std::byte> expected = copied;
        const auto bytes = std::span(source).first(source.size() - less);
        std::ranges::copy(bytes, expected.begin() + 1);
        large_copy(copied.data() + 1, bytes);
        EXPECT_TRUE(copied == expected) << bytes.size() << " bytes";
    }
}

} // namespace
} // namespace handlepool::test
