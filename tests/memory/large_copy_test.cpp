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

using byte_vector = std::vector<std::byte>;

byte_vector random_bytes(std::size_t size) {
    random_source random;
    byte_vector bytes(size);
    std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random.bits()); });
    return bytes;
}

/// What a copy makes of bytes of 7, with some before and behind it.
template <class Copy>
byte_vector with_copy_at(std::size_t at, std::span<const std::byte> from, Copy copy) {
    byte_vector to(at + from.size() + 100, std::byte{7});
    copy(to.data() + at, from);
    return to;
}

void plain_copy(std::byte* to, std::span<const std::byte> from) {
    std::ranges::copy(from, to);
}

void plain_past_caches(std::byte* to, std::span<const std::byte> from) {
    detail::copy_past_caches(to, from);
}

TEST(large_copy_test, copies_past_caches_from_and_to_any_address) {
    const byte_vector source = random_bytes(1000);
    for (std::size_t from = 0; from != 3; ++from) {
        for (std::size_t to = 0; to != 65; ++to) {
            for (const std::size_t size : {0U, 1U, 15U, 16U, 63U, 64U, 65U, 127U, 128U, 129U, 500U}) {
                const auto copied = std::span(source).subspan(from, size);
                ASSERT_EQ(with_copy_at(to, copied, plain_past_caches), with_copy_at(to, copied, plain_copy))
                    << "from " << from << " to " << to << ", " << size << " bytes";
            }
        }
    }
}

/// Of several pieces, and pages.
TEST(large_copy_test, shows_each_piece_before_it_is_copied) {
    const byte_vector source = random_bytes(10'000);
    for (const std::size_t from : {0U, 1U, 8U, 63U}) {
        for (const std::size_t size : {0U, 1U, 1984U, 1985U, 2048U, 2049U, 4096U, 4097U, 9'000U}) {
            const auto copied = std::span(source).subspan(from, size);
            byte_vector seen;
            const auto copy = [&](std::byte* to, std::span<const std::byte> all) {
                const auto show = [&](std::span<const std::byte> piece) {
                    EXPECT_EQ(piece.data(), all.data() + seen.size());
                    EXPECT_EQ(to[seen.size()], std::byte{7}) << "it is copied behind that";
                    EXPECT_FALSE(piece.empty());
                    seen.insert(seen.end(), piece.begin(), piece.end());
                };
                detail::copy_past_caches(to, all, show);
            };
            const auto plain = with_copy_at(9, copied, plain_copy);
            EXPECT_TRUE(with_copy_at(9, copied, copy) == plain)
                << "from " << from << ", " << size << " bytes";
            EXPECT_TRUE(std::ranges::equal(seen, copied)) << "from " << from << ", " << size << " bytes";
            EXPECT_TRUE(with_copy_at(9, copied, plain_past_caches) == plain)
                << "from " << from << ", " << size << " bytes";
        }
    }
}

TEST(large_copy_test, copies_as_many_as_the_caches_keep_and_more) {
    const byte_vector source = random_bytes(detail::too_much_for_caches + 1);
    for (const std::size_t size : {std::size_t{0}, source.size() - 2, source.size() - 1, source.size()}) {
        const auto copied = std::span(source).first(size);
        EXPECT_TRUE(with_copy_at(5, copied, detail::large_copy) == with_copy_at(5, copied, plain_copy))
            << size;
    }
}

TEST(large_copy_test, nothing_may_have_no_address) {
    detail::copy_past_caches(nullptr, {});
    detail::large_copy(nullptr, {});
}

} // namespace
} // namespace handlepool::test
