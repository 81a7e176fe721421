// SPDX-License-Identifier: MIT

// Blocks of a snapshot: what was written is read, and whatever else is refused.

#include "made_snapshot.hpp"

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/memory/large_copy.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::test {
namespace {

using detail::block_kind;
using detail::block_reader;
using detail::former_bytes;
using detail::payload_hashes;
using detail::snapshot_block;
using detail::snapshot_blocks;
using detail::snapshot_writer;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

std::string snapshot_refusal(const snapshot_bytes& bytes) {
    return message_of<invalid_snapshot>([&] { snapshot_blocks(bytes, "a.save"); });
}

std::size_t number_of_blocks(const snapshot_bytes& bytes) {
    const snapshot_blocks blocks(bytes, "a.save");
    return blocks.all().size();
}

/// What is said of two_blocks() with other numbers in it.
template <std::unsigned_integral Number>
std::string refusal_with(std::size_t at, Number number) {
    snapshot_bytes bytes = two_blocks();
    put(bytes, at, number);
    return snapshot_refusal(bytes);
}

/// The same, where the header's hash is right.
template <std::unsigned_integral Number>
std::string sealed_refusal_with(std::size_t header, std::size_t further, Number number,
                                std::size_t name_size = 5) {
    snapshot_bytes bytes = two_blocks();
    put(bytes, header + further, number);
    seal_header(bytes, header, name_size);
    return snapshot_refusal(bytes);
}

std::string spelled(std::span<const std::byte> bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

TEST(snapshot_container, is_what_its_description_says) {
    using namespace std::string_view_literals;
    std::string expected; // the hashes are those of another library
    for (const std::string_view part : {
             "hp world\1\0\0\0\0\0\0\0"sv,
             "\5\0\0\0\0\0\0\0\1\0\0\0\3\0\0\0\5\0\0\0\0\0\0\0"sv,
             "\xdf\xa1\x22\x35\xe0\x16\x63\x0e"sv,
             "ships\0\0\0"sv,
             "\1\2\3\4\5\0\0\0"sv,
             "\xc1\x83\x92\x64\x87\x83\xb6\x59"sv,
             "\0\0\0\0\0\0\0\0\3\0\0\0\2\0\0\0\5\0\0\0\0\0\0\0"sv,
             "\x12\x70\xc2\x93\x42\xb0\xcf\xe5"sv,
             "a day\0\0\0"sv,
             "\xc2\x94\xd3\x38\x05\x80\x06\x2d"sv,
             "\x08\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\3\0\0\0\0\0\0\0"sv,
             "\x5a\x34\x99\x2b\x50\xfb\xc1\xc2"sv,
             "end\0\0\0\0\0"sv,
             "\2\0\0\0\0\0\0\0"sv,
             "\x43\xe2\xee\x91\x5c\xc6\x86\x20"sv,
         }) {
        expected += part;
    }
    EXPECT_EQ(spelled(two_blocks()), expected);
    EXPECT_EQ(expected.size(), two_blocks_bytes);
}

TEST(snapshot_container, is_the_same_when_its_payloads_are_hashed_later) {
    snapshot_bytes bytes = two_blocks(detail::payload_hashes::later);
    EXPECT_EQ(snapshot_refusal(bytes),
              "snapshot 'a.save', byte 64, block 'ships': the payload is damaged: its "
              "hash is 59b68387649283c1, and 0000000000000000 is expected");
    detail::hash_payloads(bytes);
    EXPECT_EQ(bytes, two_blocks());
}

TEST(snapshot_container, gives_blocks_back) {
    const snapshot_bytes bytes = two_blocks();
    const snapshot_blocks blocks(bytes, "a.save");
    ASSERT_EQ(blocks.all().size(), 2U);
    const snapshot_block& ships = blocks.all()[0];
    EXPECT_EQ(ships.kind, block_kind::pool);
    EXPECT_EQ(ships.version, 3U);
    EXPECT_EQ(ships.name, "ships");
    EXPECT_EQ(ships.offset, ships_payload_at);
    EXPECT_EQ(ships.payload.data(), bytes.data() + ships_payload_at);
    EXPECT_EQ(spelled(ships.payload), "\1\2\3\4\5");
    const snapshot_block& day = blocks.all()[1];
    EXPECT_EQ(day.kind, block_kind::value);
    EXPECT_EQ(day.name, "a day");
    EXPECT_TRUE(day.payload.empty());
    EXPECT_EQ(blocks.find("ships"), &ships);
    EXPECT_EQ(blocks.find("a day"), &day);
    EXPECT_EQ(blocks.find("end"), nullptr);
    EXPECT_EQ(blocks.find(""), nullptr);
}

TEST(snapshot_container, may_have_no_blocks) {
    snapshot_bytes bytes;
    snapshot_writer(bytes).finish();
    EXPECT_EQ(number_of_blocks(bytes), 0U);
}

// A user may give a pool the name of the last block, which is known by its kind.
TEST(snapshot_container, has_no_name_of_its_own) {
    snapshot_bytes bytes;
    snapshot_writer to(bytes);
    to.begin_block(block_kind::pool, 1, "end", 0);
    to.end_block();
    to.finish();
    const snapshot_blocks blocks(bytes, "a.save");
    ASSERT_NE(blocks.find("end"), nullptr);
    EXPECT_EQ(blocks.find("end")->kind, block_kind::pool);
}

TEST(snapshot_container, is_appended_wherever_bytes_end) {
    const snapshot_bytes alone = two_blocks();
    snapshot_bytes behind(3, std::byte{9});
    {
        snapshot_writer to(behind);
        to.begin_block(block_kind::container, 1, "names", 3);
        to.bytes("abc", 3);
        to.end_block();
        to.finish();
    }
    EXPECT_EQ(spelled(std::span(behind).first(3)), "\11\11\11");
    const std::span<const std::byte> all(behind);
    const snapshot_blocks blocks(all.subspan(3), "a.save");
    EXPECT_EQ(spelled(blocks.find("names")->payload), "abc");
    EXPECT_EQ(blocks.find("names")->offset % 8, 0U);
}

// Of each size, so that any part of it can be the first that is appended; some go past the caches.
TEST(snapshot_container, is_the_same_over_whatever_was_there) {
    constexpr std::size_t large = detail::too_much_for_caches;
    random_source random;
    snapshot_bytes source(large + 1000);
    for (std::byte& each : source) {
        each = static_cast<std::byte>(random.bits());
    }
    const std::vector<std::vector<std::size_t>> payloads = {
        {},          {1, 3}, {7, 65'536, 9}, {65'535, 1}, {131'075, 100'000}, {5, large + 77, 70'000},
        {large - 1}, {8}};
    const auto write = [&](snapshot_bytes& to_bytes, former_bytes former, payload_hashes hashes) {
        snapshot_writer to(to_bytes, former, hashes);
        for (std::size_t i = 0; i != payloads.size(); ++i) {
            const std::vector<std::size_t>& pieces = payloads[i];
            to.begin_block(block_kind::value, 1, std::to_string(i),
                           std::accumulate(pieces.begin(), pieces.end(), std::size_t{0}));
            for (const std::size_t piece : pieces) {
                to.bytes(source.data() + i, piece);
            }
            to.end_block();
        }
        to.finish();
        if (hashes == payload_hashes::later) {
            detail::hash_payloads(to_bytes);
        }
    };
    snapshot_bytes expected;
    write(expected, former_bytes::stay, payload_hashes::at_once);
    ASSERT_EQ(number_of_blocks(expected), payloads.size());
    std::vector<std::size_t> sizes = {
        0, 1, 15, 16, 17, expected.size() - 1, expected.size(), expected.size() + 100};
    for (int i = 0; i != 12; ++i) {
        sizes.push_back(static_cast<std::size_t>(random.below(expected.size())));
    }
    for (const std::size_t size : sizes) {
        for (const payload_hashes hashes : {payload_hashes::at_once, payload_hashes::later}) {
            snapshot_bytes bytes(size, std::byte{0xAA});
            if (random.one_in(2)) { // all is written where it is
                bytes.reserve(expected.size());
            }
            write(bytes, former_bytes::replaced, hashes);
            ASSERT_TRUE(bytes == expected) << size;
        }
    }
}

TEST(snapshot_container, many_small_blocks_stay_where_there_is_room_for_them) {
    snapshot_bytes bytes(100'000, std::byte{7});
    const std::byte* const begin = bytes.data();
    snapshot_bytes appended;
    for (snapshot_bytes* const each : {&bytes, &appended}) {
        snapshot_writer to(*each, former_bytes::replaced);
        for (int i = 0; i != 1000; ++i) {
            to.begin_block(block_kind::value, 1, std::to_string(i), 4);
            to.number(std::uint32_t{1});
            to.end_block();
        }
        to.finish();
    }
    EXPECT_EQ(bytes, appended);
    EXPECT_EQ(bytes.data(), begin);
}

TEST(snapshot_container, without_an_end_there_is_none) {
    snapshot_bytes bytes = {std::byte{7}};
    {
        snapshot_writer to(bytes);
        to.begin_block(block_kind::pool, 1, "ships", 100);
        to.number(std::uint64_t{1});
    }
    EXPECT_THAT(bytes, ElementsAre(std::byte{7}));
    {
        snapshot_writer to(bytes, former_bytes::replaced);
        to.begin_block(block_kind::pool, 1, "ships", 100);
    }
    EXPECT_THAT(bytes, IsEmpty());
}

TEST(snapshot_container, gives_payloads_of_all_sizes_back) {
    random_source random;
    std::vector<std::uint32_t> numbers(100'000);
    for (std::uint32_t& each : numbers) {
        each = static_cast<std::uint32_t>(random.below(std::uint64_t{1} << 32));
    }
    const auto all = std::as_bytes(std::span(numbers));
    std::vector<std::size_t> sizes = {0, 1, 7, 8, 9, 65'535, 65'536, 65'537, 131'072, 300'001};
    snapshot_bytes bytes;
    snapshot_writer to(bytes);
    for (const std::size_t size : sizes) {
        to.begin_block(block_kind::value, 1, std::to_string(size), size);
        for (std::size_t done = 0; done != size;) { // in pieces of any size
            const std::size_t piece = (std::min)(size - done, 1 + random.below(90'000));
            to.bytes(all.data() + done, piece);
            done += piece;
        }
        to.end_block();
    }
    to.finish();
    const snapshot_blocks blocks(bytes, "a.save");
    ASSERT_EQ(blocks.all().size(), sizes.size());
    for (const std::size_t size : sizes) {
        const snapshot_block* const found = blocks.find(std::to_string(size));
        ASSERT_NE(found, nullptr);
        EXPECT_TRUE(std::ranges::equal(found->payload, all.first(size))) << size;
    }
}

TEST(snapshot_container, keeps_the_memory_of_what_it_replaces) {
    snapshot_bytes bytes(1'000, std::byte{9});
    const std::byte* const begin = bytes.data();
    snapshot_writer to(bytes, detail::former_bytes::replaced);
    to.finish();
    EXPECT_EQ(bytes.data(), begin);
    EXPECT_EQ(number_of_blocks(bytes), 0U);
}

TEST(snapshot_container, a_payload_needs_memory_once) {
    snapshot_bytes bytes;
    snapshot_writer to(bytes);
    to.begin_block(block_kind::pool, 1, "ships", 1'000'000);
    const std::byte* const begin = bytes.data();
    const std::vector<std::uint32_t> numbers(250'000, 7);
    to.numbers(numbers);
    to.end_block();
    EXPECT_EQ(bytes.data(), begin);
}

TEST(snapshot_container, many_small_blocks_do_not_copy_all_again_and_again) {
    snapshot_bytes bytes;
    snapshot_writer to(bytes);
    int copies = 0;
    for (int i = 0; i != 1000; ++i) {
        const std::size_t before = bytes.capacity();
        to.begin_block(block_kind::value, 1, std::to_string(i), 4);
        to.number(std::uint32_t{1});
        to.end_block();
        copies += bytes.capacity() == before ? 0 : 1;
    }
    EXPECT_LT(copies, 40);
}

TEST(snapshot_container, names_are_checked_when_they_are_written) {
    snapshot_bytes bytes;
    snapshot_writer to(bytes);
    const auto refusal_of = [&](std::string_view name) {
        const snapshot_bytes before = bytes;
        const std::string message =
            message_of<std::invalid_argument>([&] { to.begin_block(block_kind::value, 1, name, 4); });
        EXPECT_EQ(bytes, before);
        return message;
    };
    EXPECT_EQ(refusal_of(""), "snapshot, block '': the name has 0 bytes; 1 to 255 are allowed");
    const std::string long_name(256, 'a');
    EXPECT_EQ(refusal_of(long_name),
              "snapshot, block '" + long_name + "': the name has 256 bytes; 1 to 255 are allowed");
    EXPECT_EQ(refusal_of("a\nb"), "snapshot, block 'a\xEF\xBF\xBD"
                                  "b': the name has the control character 10 at byte 1; none is allowed");
    EXPECT_EQ(refusal_of("a\x7f"), "snapshot, block 'a\xEF\xBF\xBD"
                                   "': the name has the control character 127 at byte 1; none is allowed");
    for (const std::string& name : {std::string(255, 'a'), std::string("\xC3\xA4")}) {
        to.begin_block(block_kind::value, 1, name, 0);
        to.end_block();
        EXPECT_EQ(refusal_of(name),
                  "snapshot, block '" + name + "': a block has this name already; each needs its own");
    }
    to.finish();
    EXPECT_EQ(number_of_blocks(bytes), 2U);
}

TEST(snapshot_container, no_payload_is_larger_than_memory) {
    snapshot_bytes bytes;
    snapshot_writer to(bytes);
    const snapshot_bytes before = bytes;
    const auto most = (std::numeric_limits<std::uint64_t>::max)();
    for (const std::uint64_t size : {most, most - 7, most - 56, most / 2 + 1, most / 2 - 40}) {
        EXPECT_THROW(to.begin_block(block_kind::value, 1, "large", size), std::bad_alloc) << size;
        EXPECT_EQ(bytes, before);
    }
    to.begin_block(block_kind::value, 1, "large", 0); // the name was not taken
    to.end_block();
    to.finish();
    EXPECT_EQ(number_of_blocks(bytes), 1U);
}

TEST(snapshot_container_contract, what_is_announced_is_written) {
    if constexpr (detail::checked) {
        snapshot_bytes bytes;
        snapshot_writer to(bytes);
        EXPECT_DEATH(to.end_block(), "a block of a snapshot ends with another size than was announced");
        EXPECT_DEATH(to.bytes("a", 1), "a block of a snapshot is given more than was announced");
        EXPECT_DEATH(to.begin_block(block_kind::end, 1, "last", 0),
                     "'last': a block of a snapshot is begun that only finish\\(\\) writes");
        to.begin_block(block_kind::pool, 1, "ships", 2);
        to.number(std::uint8_t{1});
        EXPECT_DEATH(to.end_block(), "a block of a snapshot ends with another size than was announced");
        EXPECT_DEATH(to.bytes("ab", 2), "a block of a snapshot is given more than was announced");
        const char* const not_ended = "a block of a snapshot is begun before the one before it has ended";
        EXPECT_DEATH(to.begin_block(block_kind::pool, 1, "ports", 2), not_ended);
        EXPECT_DEATH(to.finish(), not_ended);
    }
}

TEST(snapshot_container, cut_off_anywhere_it_is_refused) {
    const snapshot_bytes whole = two_blocks();
    for (std::size_t size = 0; size != whole.size(); ++size) {
        const snapshot_bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_NE(snapshot_refusal(part), "") << size;
    }
    snapshot_bytes longer = whole;
    longer.push_back(std::byte{0});
    EXPECT_EQ(snapshot_refusal(longer),
              "snapshot 'a.save', byte " + std::to_string(two_blocks_bytes) +
                  ": nothing is expected behind the last block, and 1 byte is there");
}

TEST(snapshot_container, each_bit_counts) {
    const snapshot_bytes whole = two_blocks();
    for (std::size_t i = 0; i != whole.size(); ++i) {
        for (unsigned bit = 0; bit != 8; ++bit) {
            snapshot_bytes other = whole;
            other[i] ^= static_cast<std::byte>(1U << bit);
            EXPECT_NE(snapshot_refusal(other), "") << "bit " << bit << " of byte " << i;
        }
    }
}

TEST(snapshot_container, says_what_is_wrong_with_a_file) {
    EXPECT_EQ(snapshot_refusal({}),
              "snapshot 'a.save', byte 0: this is no snapshot; \"hp world\" is expected");
    EXPECT_EQ(refusal_with(0, std::uint8_t{'H'}),
              "snapshot 'a.save', byte 0: this is no snapshot; \"hp world\" is expected");
    const snapshot_bytes whole = two_blocks();
    EXPECT_EQ(snapshot_refusal(snapshot_bytes(whole.begin(), whole.begin() + 15)),
              "snapshot 'a.save', byte 0: the header of the file is cut off: 16 bytes are expected, and "
              "15 bytes are there");
    EXPECT_EQ(refusal_with(8, std::uint32_t{2}),
              "snapshot 'a.save', byte 8: format 2 is unknown; known is 1");
    EXPECT_EQ(refusal_with(12, std::uint32_t{9}),
              "snapshot 'a.save', byte 12: 0 is expected, and 9 is there");
    EXPECT_EQ(snapshot_refusal(snapshot_bytes(whole.begin(), whole.begin() + end_at)),
              "snapshot 'a.save', byte " + std::to_string(end_at) +
                  ": the header of a block is expected, which has 32 bytes, and 0 bytes are there");
    // An origin is any text.
    EXPECT_EQ(message_of<invalid_snapshot>([] { snapshot_blocks({}, "a\nb"); }),
              "snapshot 'a\xEF\xBF\xBD"
              "b', byte 0: this is no snapshot; \"hp world\" is expected");
}

TEST(snapshot_container, says_what_is_wrong_with_a_header) {
    EXPECT_EQ(
        refusal_with(ships_at + 12, std::uint32_t{4}),
        "snapshot 'a.save', byte 16: the header of a block is damaged: its hash is 3cafa626d9194c2c, and "
        "0e6316e03522a1df is expected");
    EXPECT_EQ(refusal_with(ships_at + 16, std::uint32_t{0}),
              "snapshot 'a.save', byte 32: a name of 1 to 255 bytes is expected, and 0 bytes are announced");
    EXPECT_EQ(
        refusal_with(ships_at + 16, std::uint32_t{256}),
        "snapshot 'a.save', byte 32: a name of 1 to 255 bytes is expected, and 256 bytes are announced");
    EXPECT_EQ(
        refusal_with(end_at + 16, std::uint32_t{201}),
        "snapshot 'a.save', byte 152: the name is cut off: 208 bytes are expected with its padding, and "
        "24 bytes are there");
    EXPECT_EQ(sealed_refusal_with(ships_at, 8, std::uint32_t{7}),
              "snapshot 'a.save', byte 24, block 'ships': kind 7 is unknown; known are 0 to 6");
    EXPECT_EQ(sealed_refusal_with(ships_at, 20, std::uint32_t{1}),
              "snapshot 'a.save', byte 36, block 'ships': 0 is expected, and 1 is there");
    EXPECT_EQ(sealed_refusal_with(ships_at, 33, std::uint8_t{7}),
              "snapshot 'a.save', byte 48, block 's\xEF\xBF\xBD"
              "ips': the name has the control character 7 at byte 1; none is allowed");
    EXPECT_EQ(refusal_with(ships_name_at + 6, std::uint8_t{3}),
              "snapshot 'a.save', byte 54, block 'ships': 0 is expected, and 3 is there");
}

TEST(snapshot_container, says_what_is_wrong_with_a_payload) {
    EXPECT_EQ(refusal_with(ships_payload_at + 2, std::uint8_t{0}),
              "snapshot 'a.save', byte 64, block 'ships': the payload is damaged: its hash is "
              "15c6a74ab31a1663, and 59b68387649283c1 is expected");
    EXPECT_EQ(refusal_with(ships_payload_at + 5, std::uint8_t{0x80}),
              "snapshot 'a.save', byte 61, block 'ships': 0 is expected, and 128 is there");
}

TEST(snapshot_container, believes_no_size) {
    const std::size_t left = two_blocks_bytes - ships_payload_at;
    const auto most = (std::numeric_limits<std::uint64_t>::max)();
    for (const std::uint64_t size :
         {most, most - 1, most - 7, most - 8, most - 15, most - 16, most - 64, most / 2 + 1,
          std::uint64_t{1} << 40, std::uint64_t{left}, std::uint64_t{left - 7}}) {
        const std::size_t behind = static_cast<std::size_t>(-size % 8) + 8;
        EXPECT_EQ(sealed_refusal_with(ships_at, 0, size),
                  "snapshot 'a.save', byte 16, block 'ships': the payload is cut off: " +
                      std::to_string(size) + " bytes are expected, " + std::to_string(behind) +
                      " behind it, and " + std::to_string(left) + " bytes are there");
    }
}

TEST(snapshot_container, says_what_is_wrong_with_its_end) {
    EXPECT_EQ(sealed_refusal_with(end_at, 32, std::uint8_t{'E'}, 3),
              "snapshot 'a.save', byte 152, block 'End': the last block has this name; \"end\" is expected");
    EXPECT_EQ(sealed_refusal_with(end_at, 12, std::uint32_t{2}, 3),
              "snapshot 'a.save', byte 132, block 'end': version 2 is unknown; known is 1");
    snapshot_bytes counted = two_blocks();
    put(counted, end_payload_at, std::uint64_t{1});
    put_hash(counted, end_hash_at, std::span<const std::byte>(counted).subspan(end_payload_at, 8));
    EXPECT_EQ(snapshot_refusal(counted),
              "snapshot 'a.save', byte 160, block 'end': 1 block is expected before "
              "the last one, and 2 blocks are there");
    snapshot_bytes shorter = two_blocks();
    put(shorter, end_at, std::uint64_t{7});
    seal_header(shorter, end_at, 3);
    put_hash(shorter, end_hash_at, std::span<const std::byte>(shorter).subspan(end_payload_at, 7));
    EXPECT_EQ(snapshot_refusal(shorter),
              "snapshot 'a.save', byte 120, block 'end': 8 bytes are expected, and 7 bytes are announced");
}

TEST(snapshot_container, names_are_checked_when_they_are_read) {
    snapshot_bytes bytes = two_blocks();
    for (std::size_t i = 0; i != 5; ++i) {
        bytes[day_name_at + i] = bytes[ships_name_at + i];
    }
    seal_header(bytes, day_at, 5);
    EXPECT_EQ(
        snapshot_refusal(bytes),
        "snapshot 'a.save', byte 104, block 'ships': a block before it has this name; each needs its own");
}

// ---- Payloads --------------------------------------------------------------------------------------------

class payload_reader : public testing::Test {
protected:
    std::string refusal_of(const auto& action) { return message_of<invalid_snapshot>(action); }

    const snapshot_bytes bytes_ = two_blocks();
    const snapshot_blocks blocks_{bytes_, "a.save"};
    block_reader from_{*blocks_.find("ships")};
};

TEST_F(payload_reader, reads_numbers_and_bytes) {
    EXPECT_EQ(from_.left(), 5U);
    EXPECT_EQ(from_.number<std::uint16_t>(), 0x0201U);
    EXPECT_EQ(spelled(from_.bytes(2)), "\3\4");
    EXPECT_EQ(from_.number<std::uint8_t>(), 5U);
    EXPECT_TRUE(from_.bytes(0).empty());
    EXPECT_EQ(from_.left(), 0U);
    from_.require_end();
}

TEST_F(payload_reader, reads_many_numbers) {
    std::vector<std::uint32_t> numbers(1000);
    std::iota(numbers.begin(), numbers.end(), 0xfffffe00U);
    snapshot_bytes bytes;
    snapshot_writer to(bytes);
    to.begin_block(block_kind::container, 1, "numbers", 4001);
    to.number(std::uint8_t{1}); // so that they are where no processor likes them
    to.numbers(numbers);
    to.end_block();
    to.finish();
    const snapshot_blocks blocks(bytes, "a.save");
    block_reader from(blocks.all()[0]);
    from.number<std::uint8_t>();
    std::vector<std::uint32_t> read(3, 1);
    from.numbers(998, read);
    EXPECT_THAT(read, ElementsAreArray(std::span(numbers).first(998)));
    EXPECT_EQ(from.number<std::uint32_t>(), numbers[998]);
    from.numbers(0, read);
    EXPECT_TRUE(read.empty());
    EXPECT_EQ(from.left(), 4U);
}

TEST_F(payload_reader, never_reads_beyond_the_end) {
    from_.number<std::uint16_t>();
    const auto most = (std::numeric_limits<std::uint64_t>::max)();
    EXPECT_EQ(refusal_of([&] { from_.number<std::uint32_t>(); }),
              "snapshot 'a.save', byte 58, block 'ships': the payload ends early: 4 bytes are expected, and "
              "3 bytes are there");
    EXPECT_EQ(
        refusal_of([&] { from_.bytes(most); }),
        "snapshot 'a.save', byte 58, block 'ships': the payload ends early: 18446744073709551615 bytes are "
        "expected, and 3 bytes are there");
    std::vector<std::uint32_t> numbers = {1, 2};
    for (const std::uint64_t count : {most, most / 4 + 1, most / 4 + 2, std::uint64_t{2}}) {
        EXPECT_EQ(refusal_of([&] { from_.numbers(count, numbers); }),
                  "snapshot 'a.save', byte 58, block 'ships': the payload ends early: " +
                      std::to_string(count) + " numbers are expected, and 3 bytes are there");
    }
    EXPECT_EQ(refusal_of([&] { from_.numbers(1, numbers); }),
              "snapshot 'a.save', byte 58, block 'ships': the payload ends early: 1 number is expected, and "
              "3 bytes are there");
    EXPECT_THAT(numbers, ElementsAre(1U, 2U));
    EXPECT_EQ(from_.left(), 3U); // nothing was read
    from_.bytes(2);
    EXPECT_EQ(refusal_of([&] { from_.number<std::uint64_t>(); }),
              "snapshot 'a.save', byte 60, block 'ships': the payload ends early: 8 bytes are expected, and "
              "1 byte is there");
}

TEST_F(payload_reader, says_where_others_find_a_problem) {
    from_.bytes(4);
    from_.require_that(true, 4, "nothing");
    EXPECT_EQ(refusal_of([&] { from_.require_that(false, 4, "slot 7 is expected, and 9 is there"); }),
              "snapshot 'a.save', byte 56, block 'ships': slot 7 is expected, and 9 is there");
    EXPECT_EQ(refusal_of([&] { from_.refuse(0, "something else is expected"); }),
              "snapshot 'a.save', byte 60, block 'ships': something else is expected");
    EXPECT_EQ(
        refusal_of([&] { from_.require_end(); }),
        "snapshot 'a.save', byte 60, block 'ships': the payload is expected to end, and 1 byte is there");
}

} // namespace
} // namespace handlepool::test
