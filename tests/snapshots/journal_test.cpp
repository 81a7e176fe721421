// SPDX-License-Identifier: MIT

// The bytes of a journal, and whole messages about those that are none.

#include "made_snapshot.hpp"
#include "memory_storage.hpp"

#include <handlepool/detail/snapshots/content_hash.hpp>
#include <handlepool/snapshots/journal_reader.hpp>
#include <handlepool/snapshots/journal_writer.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace handlepool::test {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

std::unique_ptr<journal_storage> storage_of(snapshot_bytes& bytes) {
    return std::make_unique<memory_storage>(bytes);
}

/// Frames 8, 9 and 10.
snapshot_bytes three_frames() {
    snapshot_bytes bytes;
    auto journal = journal_writer::create(storage_of(bytes), "made", {.world = 5, .frame = 7});
    journal.append(8, {{"ships", bytes_of("abc")}, {"score", {}}});
    journal.append(9, std::span<const journal_part>());
    journal.append(10, {{"ships", bytes_of("12345678")}});
    return bytes;
}
constexpr std::size_t first_at = 40;
constexpr std::size_t first_size = 64 + 16 + 8 + 8 + 16 + 8;
constexpr std::size_t second_at = first_at + first_size;
constexpr std::size_t third_at = second_at + 64;
constexpr std::size_t third_size = 64 + 16 + 8 + 8;

std::vector<std::string> read_texts(snapshot_bytes& bytes) {
    std::vector<std::string> texts;
    journal_reader reader(storage_of(bytes), "read");
    while (reader.next()) {
        std::string text = std::to_string(reader.frame());
        for (const journal_part& each : reader.parts()) {
            text += ' ' + std::string(each.name) + '=';
            text.append(reinterpret_cast<const char*>(each.bytes.data()), each.bytes.size());
        }
        texts.push_back(text);
    }
    return texts;
}

journal_tail tail_of(snapshot_bytes& bytes) {
    journal_reader reader(storage_of(bytes), "read");
    while (reader.next()) {
    }
    return reader.tail();
}

std::string refusal_of(snapshot_bytes bytes) {
    return message_of<invalid_journal>([&] { tail_of(bytes); });
}

/// Makes the hashes of the entry there right, whose size is that.
void seal_entry(snapshot_bytes& bytes, std::size_t at, std::size_t size) {
    const std::span<const std::byte> all(bytes);
    snapshot_bytes hashed(all.begin() + 32, all.begin() + 40);
    const auto header = all.subspan(at, 48);
    hashed.insert(hashed.end(), header.begin(), header.end());
    put_hash(bytes, at + 48, hashed);
    put_hash(bytes, at + size - 8, all.subspan(at, size - 8));
}

TEST(journal, has_the_bytes_that_are_documented) {
    const snapshot_bytes bytes = three_frames();
    ASSERT_EQ(bytes.size(), third_at + third_size);
    const auto number = [&](std::size_t at) { return detail::from_little_endian<std::uint64_t>(&bytes[at]); };
    const auto half = [&](std::size_t at) { return detail::from_little_endian<std::uint32_t>(&bytes[at]); };
    const auto text = [&](std::size_t at, std::size_t size) {
        return std::string(reinterpret_cast<const char*>(&bytes[at]), size);
    };
    EXPECT_EQ(text(0, 8), "hp journ");
    EXPECT_EQ(half(8), 1u);
    EXPECT_EQ(half(12), 0u);
    EXPECT_EQ(number(16), 5u);
    EXPECT_EQ(number(24), 7u);
    EXPECT_EQ(number(32), detail::content_hash_of(std::span(bytes).first(32)));

    EXPECT_EQ(text(first_at, 8), "hp frame");
    EXPECT_EQ(number(first_at + 8), first_size);
    EXPECT_EQ(number(first_at + 16), 8u);
    EXPECT_EQ(number(first_at + 24), number(32));
    EXPECT_EQ(number(first_at + 32), 7u); // the disk had none
    EXPECT_EQ(half(first_at + 40), 2u);
    EXPECT_EQ(half(first_at + 44), 0u);
    EXPECT_EQ(number(first_at + 56), 3u);
    EXPECT_EQ(half(first_at + 64), 5u);
    EXPECT_EQ(half(first_at + 68), 0u);
    EXPECT_EQ(text(first_at + 72, 8), std::string("ships\0\0\0", 8));
    EXPECT_EQ(text(first_at + 80, 8), std::string("abc\0\0\0\0\0", 8));
    EXPECT_EQ(number(first_at + 88), 0u);
    EXPECT_EQ(text(first_at + 104, 8), std::string("score\0\0\0", 8));
    EXPECT_EQ(number(first_at + 112), detail::content_hash_of(std::span(bytes).subspan(first_at, 112)));
    EXPECT_EQ(number(second_at + 24), number(first_at + 112));
    EXPECT_EQ(number(second_at + 32), 8u);

    snapshot_bytes sealed = bytes;
    put(sealed, first_at + 48, std::uint64_t{0});
    put(sealed, first_at + 112, std::uint64_t{0});
    seal_entry(sealed, first_at, first_size);
    EXPECT_EQ(sealed, bytes);
}

TEST(journal, is_read_as_it_was_written) {
    snapshot_bytes bytes = three_frames();
    EXPECT_EQ(read_texts(bytes), (std::vector<std::string>{"8 ships=abc score=", "9", "10 ships=12345678"}));
    EXPECT_EQ(tail_of(bytes), (journal_tail{.offset = bytes.size()}));
    journal_reader reader(storage_of(bytes), "read");
    EXPECT_EQ(reader.origin(), (journal_origin{.world = 5, .frame = 7}));
    EXPECT_EQ(reader.frame(), 7u);
    EXPECT_EQ(reader.offset(), first_at);
}

TEST(journal, goes_on_where_it_was_opened) {
    snapshot_bytes bytes = three_frames();
    bytes.resize(third_at);
    {
        auto journal = journal_writer::open(storage_of(bytes), "made");
        EXPECT_EQ(journal.frame(), 9u);
        EXPECT_EQ(journal.synced_frame(), 8u);
        EXPECT_EQ(journal.size(), third_at);
        EXPECT_EQ(journal.origin(), (journal_origin{.world = 5, .frame = 7}));
        EXPECT_EQ(journal.tail(), (journal_tail{.offset = third_at}));
        journal.sync();
        journal.append(10, {{"ships", bytes_of("12345678")}});
        EXPECT_EQ(journal.synced_frame(), 10u);
    }
    EXPECT_EQ(bytes, three_frames());
}

TEST(journal, of_a_large_entry_is_read) {
    snapshot_bytes bytes;
    auto journal = journal_writer::create(storage_of(bytes), "made", {});
    snapshot_bytes large(1'000'003);
    for (std::size_t i = 0; i != large.size(); ++i) {
        large[i] = static_cast<std::byte>(i % 251);
    }
    journal.append(1, {{"large", large}});
    journal.append(2, {{"small", bytes_of("x")}});
    journal_reader reader(storage_of(bytes), "read");
    ASSERT_TRUE(reader.next());
    EXPECT_TRUE(std::ranges::equal(reader.parts()[0].bytes, large));
    ASSERT_TRUE(reader.next());
    EXPECT_EQ(reader.parts()[0].name, "small");
    EXPECT_FALSE(reader.next());
}

TEST(journal, waits_for_the_disk_as_often_as_is_said) {
    for (const std::uint64_t every : std::vector<std::uint64_t>{0, 1, 3}) {
        snapshot_bytes bytes;
        auto journal = journal_writer::create(storage_of(bytes), "made", {}, {.sync_every = every});
        for (std::uint64_t frame = 1; frame != 8; ++frame) {
            journal.append(frame, {});
            EXPECT_EQ(journal.synced_frame(), every == 0 ? 0 : frame / every * every);
        }
        journal.sync();
        EXPECT_EQ(journal.synced_frame(), 7u);
    }
}

TEST(journal, that_is_opened_counts_the_entries_that_nobody_has_waited_for) {
    snapshot_bytes bytes;
    auto journal = journal_writer::create(storage_of(bytes), "made", {}, {.sync_every = 0});
    journal.append(1, {});
    journal.append(2, {});
    auto opened = journal_writer::open(storage_of(bytes), "made", {.sync_every = 3});
    EXPECT_EQ(opened.synced_frame(), 0u);
    opened.append(3, {});
    EXPECT_EQ(opened.synced_frame(), 3u);
}

TEST(journal, refuses_what_is_no_next_entry) {
    snapshot_bytes bytes = three_frames();
    auto journal = journal_writer::open(storage_of(bytes), "made");
    const auto refusal = [&](std::uint64_t frame, std::vector<journal_part> parts) {
        return message_of<std::invalid_argument>([&] { journal.append(frame, parts); });
    };
    EXPECT_EQ(refusal(10, {}), "journal 'made', frame 10: frame 11 is the next one");
    EXPECT_EQ(refusal(12, {}), "journal 'made', frame 12: frame 11 is the next one");
    EXPECT_EQ(refusal(11, {{"", {}}}),
              "journal 'made', frame 11: part '': the name has 0 bytes; 1 to 255 are allowed");
    EXPECT_EQ(refusal(11, {{"a\n", {}}}),
              "journal 'made', frame 11: part 'a\uFFFD': the name has the control "
              "character 10 at byte 1; none is allowed");
    EXPECT_EQ(refusal(11, {{"a", {}}, {"b", {}}, {"a", {}}}),
              "journal 'made', frame 11: two parts have the name 'a'; each needs its own");
    EXPECT_EQ(bytes, three_frames());
    EXPECT_FALSE(journal.is_broken());

    snapshot_bytes last;
    auto of_last = journal_writer::create(storage_of(last), "last", {.frame = ~std::uint64_t{0}});
    EXPECT_EQ(message_of<std::invalid_argument>([&] { of_last.append(0, {}); }),
              "journal 'last', frame 0: there is no frame after 18446744073709551615");
    journal.append(11, {});
    EXPECT_EQ(read_texts(bytes).size(), 4u);
}

TEST(journal, that_is_cut_off_ends_with_the_last_whole_entry) {
    const snapshot_bytes whole = three_frames();
    for (std::size_t size = first_at; size <= whole.size(); ++size) {
        snapshot_bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        const std::size_t entries = (size >= second_at) + (size >= third_at) + (size == whole.size());
        const std::size_t end = std::vector{first_at, second_at, third_at, whole.size()}[entries];
        EXPECT_EQ(read_texts(cut).size(), entries);
        const journal_tail tail = tail_of(cut);
        EXPECT_EQ(tail.offset, end);
        EXPECT_EQ(tail.bytes, size - end);
        EXPECT_EQ(tail.problem.empty(), size == end);
        auto journal = journal_writer::open(storage_of(cut), "made");
        EXPECT_EQ(journal.tail(), tail);
        EXPECT_EQ(cut.size(), end);
        journal.append(journal.frame() + 1, {});
        EXPECT_EQ(read_texts(cut).size(), entries + 1);
    }
    snapshot_bytes cut(whole.begin(), whole.end() - 1);
    EXPECT_EQ(
        tail_of(cut),
        (journal_tail{.offset = third_at,
                      .bytes = third_size - 1,
                      .problem = "the entry is cut off: 96 bytes are expected, and 95 bytes are there"}));
    cut.resize(second_at + 1);
    EXPECT_EQ(tail_of(cut),
              (journal_tail{.offset = second_at,
                            .bytes = 1,
                            .problem = "the header of an entry is expected, which has 56 bytes, "
                                       "and 1 byte is there"}));
    EXPECT_EQ(message_of<invalid_journal>(
                  [&] { journal_writer::open(storage_of(cut), "made", {.repair = journal_repair::refuse}); }),
              "journal 'made', byte 160, frame 9: the header of an entry is expected, which has 56 bytes, "
              "and 1 byte "
              "is there");
    EXPECT_EQ(cut.size(), second_at + 1);
}

TEST(journal, with_any_bit_flipped_has_no_other_entries) {
    const snapshot_bytes whole = three_frames();
    for (std::size_t byte = 0; byte != whole.size(); ++byte) {
        for (unsigned bit = 0; bit != 8; ++bit) {
            snapshot_bytes flipped = whole;
            flipped[byte] ^= std::byte{1} << bit;
            if (byte < third_at) { // the others say that the disk had it
                EXPECT_NE(refusal_of(flipped), "");
                EXPECT_NE(message_of<invalid_journal>([&] {
                              journal_writer::open(storage_of(flipped), "made",
                                                   {.repair = journal_repair::cut_unsynced});
                          }),
                          "");
            } else {
                EXPECT_EQ(read_texts(flipped).size(), 2u);
            }
        }
    }
}

/// The system crashed when the disk had only the begin of an entry, and the one behind an earlier one that
/// was cut off there.
TEST(journal, with_a_whole_entry_where_one_is_torn_is_not_cut_off_unasked) {
    snapshot_bytes bytes;
    auto journal = journal_writer::create(storage_of(bytes), "made", {}, {.sync_every = 0});
    journal.append(1, {{"large", snapshot_bytes(1000)}});
    const std::size_t second = bytes.size();
    journal.append(2, {});
    bytes.erase(bytes.begin() + first_at + 56, bytes.begin() + static_cast<std::ptrdiff_t>(second));
    const std::string refusal =
        "byte 40, frame 1: the entry is cut off: 1088 bytes are expected, and 120 bytes are "
        "there; whole entries from there on: 1, the last of frame 2; nothing says that the "
        "disk had this one";
    EXPECT_EQ(refusal_of(bytes), "journal 'read', " + refusal);
    EXPECT_EQ(message_of<invalid_journal>([&] { journal_writer::open(storage_of(bytes), "made"); }),
              "journal 'made', " + refusal + ", so journal_repair::cut_unsynced cuts them off");
    EXPECT_EQ(bytes.size(), first_at + 56 + 64);
    const auto opened =
        journal_writer::open(storage_of(bytes), "made", {.repair = journal_repair::cut_unsynced});
    EXPECT_EQ(opened.tail().whole_entries, 1u);
    EXPECT_EQ(bytes.size(), first_at);
}

struct refused {
    const char* name;
    std::function<void(snapshot_bytes&)> damage;
    std::string message;
};
class journal_refusal : public testing::TestWithParam<refused> {};

TEST_P(journal_refusal, says_what_is_wrong) {
    snapshot_bytes bytes = three_frames();
    GetParam().damage(bytes);
    EXPECT_EQ(refusal_of(bytes), GetParam().message);
}

void put_sealed(snapshot_bytes& bytes, std::size_t at, std::uint64_t number) {
    put(bytes, second_at + at, number);
    seal_entry(bytes, second_at, 64);
}

const std::string synced_after =
    "; whole entries from there on: 1, the last of frame 10; the disk had this one";
const std::string synced_from =
    "; whole entries from there on: 2, the last of frame 10; the disk had this one";

INSTANTIATE_TEST_SUITE_P(
    bytes, journal_refusal,
    testing::Values(
        refused{"empty", [](auto& bytes) { bytes.clear(); },
                "journal 'read', byte 0: this is no journal; \"hp journ\" is expected"},
        refused{"other_mark", [](auto& bytes) { bytes[3] = std::byte{'J'}; },
                "journal 'read', byte 0: this is no journal; \"hp journ\" is expected"},
        refused{"cut_header", [](auto& bytes) { bytes.resize(39); },
                "journal 'read', byte 0: the header of the file is cut off: 40 bytes are expected, and 39 "
                "bytes are "
                "there"},
        refused{"other_format", [](auto& bytes) { bytes[8] = std::byte{2}; },
                "journal 'read', byte 8: format 2 is unknown; known is 1"},
        refused{
            "other_world", [](auto& bytes) { put(bytes, 16, std::uint64_t{6}); },
            "journal 'read', byte 0: the header of the file is damaged: its hash is 7fb1450e81ee9b8c, and "
            "a98db2d0a092c991 is expected"},
        refused{"not_zero",
                [](auto& bytes) {
                    bytes[12] = std::byte{1};
                    put_hash(bytes, 32, std::span(bytes).first(32));
                },
                "journal 'read', byte 12: 0 is expected, and 1 is there"},
        refused{"no_entry", [](auto& bytes) { bytes[second_at] = std::byte{'H'}; },
                "journal 'read', byte 160, frame 9: an entry is expected, which begins with \"hp frame\"" +
                    synced_after},
        refused{"twice",
                [](auto& bytes) {
                    const snapshot_bytes again(bytes.begin() + second_at, bytes.begin() + third_at);
                    bytes.insert(bytes.begin() + third_at, again.begin(), again.end());
                },
                "journal 'read', byte 224, frame 10: this is the entry of frame 9, which goes on from "
                "another one: from "
                "hash 5ec7fa5ba4a7085c, and 6377c04f9f87bc8d is expected; whole entries from there on: 2, "
                "the last "
                "of frame 10; nothing says that the disk had this one"},
        refused{"left_out",
                [](auto& bytes) { bytes.erase(bytes.begin() + second_at, bytes.begin() + third_at); },
                "journal 'read', byte 160, frame 9: this is the entry of frame 10, which goes on from "
                "another one: from "
                "hash 6377c04f9f87bc8d, and 5ec7fa5ba4a7085c is expected" +
                    synced_after},
        refused{"other_frame", [](auto& bytes) { put_sealed(bytes, 16, 7); },
                "journal 'read', byte 160, frame 9: this is the entry of frame 7" + synced_from},
        refused{"synced_too_late", [](auto& bytes) { put_sealed(bytes, 32, 9); },
                "journal 'read', byte 160, frame 9: the entry says that the disk had frame 9, which is no "
                "earlier "
                "one" +
                    synced_from},
        refused{
            "small", [](auto& bytes) { put_sealed(bytes, 8, 56); },
            "journal 'read', byte 160, frame 9: an entry has a multiple of 8 bytes, 64 or more, and this one "
            "says 56" +
                synced_after},
        refused{"parts_without_bytes", [](auto& bytes) { put_sealed(bytes, 40, 1); },
                "journal 'read', byte 160, frame 9: part 1 of 1, byte 56 of the entry: its header has 16 "
                "bytes, and "
                "0 bytes are left" +
                    synced_from},
        refused{
            "zero_of_the_header", [](auto& bytes) { put_sealed(bytes, 40, std::uint64_t{3} << 32); },
            "journal 'read', byte 160, frame 9: 0 is expected in the header of the entry, and 3 is there" +
                synced_from}),
    [](const auto& tested) { return std::string(tested.param.name); });

/// A part of the first entry, whose hashes are made right.
class journal_part_refusal : public testing::Test {
protected:
    std::string refusal(std::size_t at, std::uint64_t number) const {
        snapshot_bytes bytes = three_frames();
        bytes.resize(second_at);
        put(bytes, first_at + at, number);
        seal_entry(bytes, first_at, first_size);
        const std::string message = refusal_of(bytes);
        const std::string before = "journal 'read', byte 40, frame 8: ";
        const std::string after =
            "; whole entries from there on: 1, the last of frame 8; nothing says that the disk had this one";
        EXPECT_TRUE(message.starts_with(before) && message.ends_with(after)) << message;
        return message.substr(before.size(), message.size() - before.size() - after.size());
    }
};

TEST_F(journal_part_refusal, says_what_is_wrong) {
    EXPECT_EQ(refusal(40, 1), "1 part is expected, and 24 bytes are left behind them");
    EXPECT_EQ(refusal(40, 3),
              "part 3 of 3, byte 112 of the entry: its header has 16 bytes, and 0 bytes are left");
    EXPECT_EQ(refusal(56, 100), "part 1 of 2, byte 80 of the entry: it ends behind the entry");
    EXPECT_EQ(refusal(56, ~std::uint64_t{0}), "part 1 of 2, byte 80 of the entry: it ends behind the entry");
    EXPECT_EQ(refusal(56, 2), "part 1 of 2, byte 88 of the entry: zeros are expected behind it");
    EXPECT_EQ(refusal(64, 0),
              "part 1 of 2, byte 72 of the entry: the name has 0 bytes; 1 to 255 are allowed");
    EXPECT_EQ(refusal(64, 41), "part 1 of 2, byte 56 of the entry: its name ends behind the entry");
    EXPECT_EQ(refusal(64, 4), "part 1 of 2, byte 80 of the entry: zeros are expected behind its name");
    EXPECT_EQ(refusal(64, 5 | std::uint64_t{1} << 32),
              "part 1 of 2, byte 56 of the entry: 0 is expected at its byte 12");
    EXPECT_EQ(refusal(104, 0x73'70'69'68'73), "two parts have the name 'ships'; each needs its own");
}

TEST(journal, of_another_world_has_no_entries_for_this_one) {
    snapshot_bytes bytes = three_frames();
    snapshot_bytes other;
    journal_writer::create(storage_of(other), "other", {.world = 6, .frame = 7});
    other.insert(other.end(), bytes.begin() + first_at, bytes.end());
    const journal_tail tail = tail_of(other);
    EXPECT_EQ(tail.bytes, bytes.size() - first_at);
    EXPECT_EQ(tail.whole_entries, 0u);
    EXPECT_THAT(tail.problem,
                testing::StartsWith("the header of the entry is damaged, or of another journal: its "
                                    "hash is "));
}

TEST(journal, is_read_while_it_grows) {
    const snapshot_bytes whole = three_frames();
    snapshot_bytes bytes(whole.begin(), whole.begin() + first_at);
    journal_reader reader(storage_of(bytes), "read");
    std::vector<std::uint64_t> frames;
    while (bytes.size() != whole.size()) {
        while (reader.next()) {
            frames.push_back(reader.frame());
        }
        EXPECT_EQ(reader.tail().bytes, bytes.size() - reader.offset());
        bytes.push_back(whole[bytes.size()]);
    }
    EXPECT_EQ(frames, (std::vector<std::uint64_t>{8, 9}));
    EXPECT_TRUE(reader.next());
    EXPECT_EQ(reader.frame(), 10u);
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.frame(), 10u);
    EXPECT_TRUE(reader.parts().empty());
}

// What a reader has read ahead may be a torn end, which a writer then cuts off, to go on in its place.
TEST(journal, is_read_while_a_writer_cuts_its_torn_end_off) {
    const snapshot_bytes whole = three_frames();
    for (const std::size_t torn : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{1000}}) {
        snapshot_bytes bytes = whole;
        bytes.resize(third_at);
        bytes.resize(third_at + torn); // zeros, as after a power failure
        journal_reader reader(storage_of(bytes), "read");
        EXPECT_TRUE(reader.next());
        EXPECT_EQ(reader.frame(), 8U);
        auto journal = journal_writer::open(storage_of(bytes), "made");
        EXPECT_EQ(journal.tail().bytes, torn);
        journal.append(10, {{"ships", bytes_of("12345678")}});
        EXPECT_TRUE(reader.next());
        EXPECT_EQ(reader.frame(), 9U);
        ASSERT_TRUE(reader.next()) << torn;
        EXPECT_EQ(reader.frame(), 10U);
        EXPECT_EQ(reader.parts().size(), 1U);
        EXPECT_FALSE(reader.next());
    }
}

TEST(journal, needs_no_memory_for_what_it_only_claims) {
    snapshot_bytes bytes = three_frames();
    bytes.resize(second_at + 56);
    put(bytes, second_at + 8, std::uint64_t{1} << 62);
    bytes.resize(second_at + 64);
    seal_entry(bytes, second_at, 64);
    bytes.resize(second_at + 56);
    EXPECT_EQ(tail_of(bytes).problem,
              "the entry is cut off: 4611686018427387904 bytes are expected, and 56 bytes are there");
}

} // namespace
} // namespace handlepool::test
