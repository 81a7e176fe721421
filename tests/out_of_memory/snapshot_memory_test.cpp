// SPDX-License-Identifier: MIT

// Snapshots whose allocations fail: what is written stays as it was, and so does what numbers are read to.

#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

using detail::block_kind;
using detail::block_reader;
using detail::snapshot_blocks;
using detail::snapshot_writer;

class snapshot_memory : public testing::TestWithParam<shortage> {};

const std::string& long_block_name(std::size_t number) {
    static const std::vector<std::string> names = {"a block whose name no small string holds",
                                                   "another block whose name no small string holds"};
    return names[number];
}

void write_block(snapshot_writer& to, std::size_t number, const std::vector<std::uint32_t>& payload) {
    to.begin_block(block_kind::pool, 1, long_block_name(number), payload.size() * 4);
    to.numbers(payload);
    to.end_block();
}

TEST_P(snapshot_memory, a_snapshot_that_fails_is_none) {
    const std::vector<std::uint32_t> payload(1000, 3);
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        std::vector<std::byte> bytes = {std::byte{1}, std::byte{2}};
        const std::vector<std::byte> before = bytes;
        const bool failed = short_of.hits([&] {
            snapshot_writer to(bytes);
            write_block(to, 0, payload);
            write_block(to, 1, payload);
            to.finish();
        });
        EXPECT_EQ(bytes == before, failed);
    });
    EXPECT_GT(allocations, 6U);
}

TEST_P(snapshot_memory, a_snapshot_that_fails_leaves_nothing_of_what_it_replaces) {
    const std::vector<std::uint32_t> payload(1000, 3);
    const auto write_over = [&payload](std::vector<std::byte>& bytes) {
        snapshot_writer to(bytes, detail::former_bytes::replaced);
        write_block(to, 0, payload);
        write_block(to, 1, payload);
        to.finish();
    };
    std::vector<std::byte> whole;
    write_over(whole);
    std::size_t failures = 0;
    for (const std::size_t former : {std::size_t{2}, std::size_t{5000}, whole.size() + 100}) {
        with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
            std::vector<std::byte> bytes(former, std::byte{7});
            const bool failed = short_of.hits([&] { write_over(bytes); });
            failures += failed ? 1U : 0U;
            EXPECT_EQ(bytes, failed ? std::vector<std::byte>() : whole) << former;
        });
    }
    EXPECT_GT(failures, 12U);
}

// A block that could not begin can begin again; so can the end.
TEST_P(snapshot_memory, a_step_that_fails_can_be_repeated) {
    const std::vector<std::uint32_t> payload(1000, 3);
    std::vector<std::byte> expected;
    {
        snapshot_writer to(expected);
        write_block(to, 0, payload);
        write_block(to, 1, payload);
        to.finish();
    }
    std::size_t steps_that_failed = 0;
    with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        std::vector<std::byte> bytes;
        snapshot_writer to(bytes);
        write_block(to, 0, payload);
        bytes.shrink_to_fit();
        const std::vector<std::byte> before = bytes;
        if (short_of.hits([&] { write_block(to, 1, payload); })) {
            ++steps_that_failed;
            EXPECT_EQ(bytes, before);
            write_block(to, 1, payload);
        }
        to.finish();
        EXPECT_EQ(bytes, expected);
    });
    with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        std::vector<std::byte> bytes;
        snapshot_writer to(bytes);
        write_block(to, 0, payload);
        write_block(to, 1, payload);
        bytes.shrink_to_fit();
        const std::vector<std::byte> before = bytes;
        if (short_of.hits([&] { to.finish(); })) {
            ++steps_that_failed;
            EXPECT_EQ(bytes, before);
            to.finish();
        }
        EXPECT_EQ(bytes, expected);
    });
    EXPECT_GT(steps_that_failed, 3U);
}

TEST_P(snapshot_memory, numbers_that_have_no_room_are_not_read) {
    const std::vector<std::uint32_t> payload(1000, 3);
    std::vector<std::byte> bytes;
    snapshot_writer to(bytes);
    write_block(to, 0, payload);
    to.finish();
    std::size_t failures = 0;
    with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        std::size_t found = 0;
        if (short_of.hits([&] {
                const snapshot_blocks blocks(bytes, "a.save");
                found = blocks.all().size();
            })) {
            ++failures;
        } else {
            EXPECT_EQ(found, 1U);
        }
    });
    EXPECT_GT(failures, 0U);
    const snapshot_blocks blocks(bytes, "a.save");
    const std::vector<std::uint32_t> before = {1, 2, 3};
    with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        std::vector<std::uint32_t> numbers = before;
        block_reader from(blocks.all()[0]);
        if (short_of.hits([&] { from.numbers(1000, numbers); })) {
            EXPECT_EQ(numbers, before);
            EXPECT_EQ(from.left(), 4000U);
            from.numbers(1000, numbers);
        }
        EXPECT_EQ(numbers, payload);
    });
}

INSTANTIATE_TEST_SUITE_P(shortages, snapshot_memory, both_shortages, name_of_shortage);

} // namespace
} // namespace handlepool::test
