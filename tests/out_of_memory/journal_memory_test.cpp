// SPDX-License-Identifier: MIT

// Journals whose allocations fail, and those that need none.

#include <handlepool/snapshots/journal_reader.hpp>
#include <handlepool/snapshots/journal_writer.hpp>

#include <gtest/gtest.h>
#include <tests/snapshots/memory_storage.hpp>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

class journal_memory : public testing::TestWithParam<shortage> {
protected:
    static std::unique_ptr<journal_storage> storage_of(std::vector<std::byte>& bytes) {
        return std::make_unique<memory_storage>(bytes);
    }
    void append(journal_writer& journal, std::uint64_t frame) const {
        journal.append(frame,
                       {{"a part whose name no small string holds", std::span(part_).first(frame * 50)},
                        {"another part whose name no small string holds", {}}});
    }

    const std::vector<std::byte> part_ = std::vector<std::byte>(1000, std::byte{7});
};

TEST_P(journal_memory, an_entry_that_finds_no_memory_is_none) {
    std::vector<std::byte> expected;
    expected.reserve(10'000);
    {
        auto journal = journal_writer::create(storage_of(expected), "made", {});
        append(journal, 1);
        append(journal, 2);
    }
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        std::vector<std::byte> bytes;
        bytes.reserve(10'000);
        auto journal = journal_writer::create(storage_of(bytes), "made", {});
        append(journal, 1);
        const std::vector<std::byte> before = bytes;
        bytes.reserve(10'000);
        if (short_of.hits([&] { append(journal, 2); })) {
            EXPECT_EQ(bytes, before);
            append(journal, 2);
        }
        EXPECT_EQ(bytes, expected);
    });
    EXPECT_GT(allocations, 0U);
}

TEST_P(journal_memory, a_journal_that_cannot_be_opened_is_as_it_was) {
    std::vector<std::byte> bytes;
    {
        auto journal = journal_writer::create(storage_of(bytes), "made", {});
        append(journal, 1);
        append(journal, 2);
    }
    bytes.pop_back();
    const std::vector<std::byte> torn = bytes;
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        bytes = torn;
        const bool failed = short_of.hits([&] { journal_writer::open(storage_of(bytes), "made"); });
        EXPECT_EQ(bytes == torn, failed);
    });
    EXPECT_GT(allocations, 3U);
}

INSTANTIATE_TEST_SUITE_P(memory, journal_memory, both_shortages, name_of_shortage);

TEST(journal_memory_use, needs_none_for_an_entry_as_large_as_one_before) {
    const std::vector<std::byte> part(1000);
    std::vector<std::byte> bytes;
    bytes.reserve(100'000);
    auto journal = journal_writer::create(std::make_unique<memory_storage>(bytes), "made", {});
    const std::vector<journal_part> parts = {{"a part whose name no small string holds", part}, {"b", {}}};
    journal.append(1, parts);
    expect_no_allocation([&] {
        for (std::uint64_t frame = 2; frame != 50; ++frame) {
            journal.append(frame, parts);
        }
    });
    journal_reader reader(std::make_unique<memory_storage>(bytes), "read");
    ASSERT_TRUE(reader.next());
    expect_no_allocation([&] {
        for (std::uint64_t frame = 2; frame != 50; ++frame) {
            reader.next();
        }
    });
    EXPECT_EQ(reader.frame(), 49u);
}

} // namespace
} // namespace handlepool::test
