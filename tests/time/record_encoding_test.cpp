// SPDX-License-Identifier: MIT

#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/time/change_log.hpp>
#include <handlepool/time/record_encoding.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>
#include <tests/support/random.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAreArray;
using number_handle = handle<int>;
using number_record = frame_record<number_handle>;
using bytes_of = std::vector<std::byte>;

number_handle named(std::uint64_t index, std::uint32_t generation) {
    return number_handle::from_value(
        default_layout::value_of(index, default_layout::make_tag(5, generation)));
}

number_record full_record() {
    number_record record;
    record.frame = 0x0102030405060708;
    record.born = {{named(3, 1), 0}, {named(4, 7), 9}};
    record.destroyed = {{named(5, 3), 2}};
    record.moved = {{named(6, 1), 4, 2}};
    record.renamed = {{named(7, 1), named(7, 5), 3}};
    record.edited = {{named(6, 1), 2}};
    record.never_seen = 2;
    record.size = 11;
    record.cleared = true;
    record.reordered = true;
    return record;
}

bytes_of encoded(const number_record& record) {
    bytes_of bytes;
    encode_record(record, bytes);
    return bytes;
}

std::string refusal_of(const bytes_of& bytes) {
    number_record record = full_record();
    std::string error;
    if (try_decode_record(std::span<const std::byte>(bytes), record, error)) {
        return "";
    }
    EXPECT_EQ(record, full_record()); // untouched
    EXPECT_EQ(message_of<invalid_record>([&] { decode_record(std::span<const std::byte>(bytes), record); }),
              error);
    return error;
}

void put(bytes_of& bytes, std::size_t at, std::initializer_list<unsigned> values) {
    for (const unsigned value : values) {
        bytes.at(at++) = static_cast<std::byte>(value);
    }
}

TEST(record_encoding, is_what_its_description_says) {
    number_record record;
    record.frame = 7;
    record.size = 1;
    record.born = {{named(3, 1), 9}};
    record.reset = true;
    bytes_of expected(8 + 4 + 4 + 4 + 24 + 20 + 12);
    put(expected, 0, {'h', 'p', ' ', 'f', 'r', 'a', 'm', 'e', 1, 0, 0, 0, 32, 22, 10, 0, 2, 0, 0, 0});
    put(expected, 20, {7});
    put(expected, 28, {1});
    put(expected, 44, {1});
    // The index in 32 bits, the generation in 22, the pool id in 10.
    put(expected, 64, {3, 0, 0, 0, 1, 0, 0x40, 0x01, 9});
    EXPECT_THAT(encoded(record), ElementsAreArray(expected));
    bytes_of behind = {std::byte{1}};
    encode_record(record, behind); // appends
    expected.insert(expected.begin(), std::byte{1});
    EXPECT_THAT(behind, ElementsAreArray(expected));
}

TEST(record_encoding, appending_does_not_copy_all_again_and_again) {
    bytes_of bytes;
    int copies = 0;
    for (int i = 0; i != 1000; ++i) {
        const std::size_t before = bytes.capacity();
        encode_record(full_record(), bytes);
        copies += bytes.capacity() == before ? 0 : 1;
    }
    EXPECT_LT(copies, 30);
}

TEST(record_encoding, gives_the_record_back) {
    for (const number_record& record : {number_record(), full_record()}) {
        number_record read = full_record();
        decode_record(std::span<const std::byte>(encoded(record)), read);
        EXPECT_EQ(read, record);
    }
}

TEST(record_encoding, gives_records_of_frames_back) {
    random_source random;
    pool<int> numbers({.name = "numbers", .capacity = 300, .reuse_delay = 0});
    change_log log(numbers);
    std::vector<number_handle> handles;
    for (int frame = 0; frame != 200; ++frame) {
        for (int i = 0; i != 20; ++i) {
            if (handles.size() < 200 && random.one_in(2)) {
                handles.push_back(numbers.emplace(i));
            } else if (!handles.empty()) {
                number_handle& one = handles[random.below(handles.size())];
                if (random.one_in(3)) {
                    one = numbers.revoke(one);
                } else if (random.one_in(2)) {
                    log.mark(one);
                } else {
                    numbers.erase(std::exchange(one, handles.back()));
                    handles.pop_back();
                }
            }
        }
        if (frame % 20 == 0) {
            sort_by(numbers, [](int number) { return -number; });
        }
        numbers.compact();
        const number_record& record = log.changes_since(log.frame() - 1)->front();
        number_record read;
        decode_record(std::span<const std::byte>(encoded(record)), read);
        ASSERT_EQ(read, record);
    }
}

TEST(record_encoding, leaves_user_bits_out) {
    using layout = handle_layout<20, 20, 8, 16>;
    using own_handle = handle<int, layout>;
    const auto plain = own_handle::from_value(layout::value_of(3, layout::make_tag(1, 1)));
    frame_record<own_handle> record;
    record.born = {{plain.with_user(77), 1}};
    bytes_of bytes;
    encode_record(record, bytes);
    frame_record<own_handle> read;
    decode_record(std::span<const std::byte>(bytes), read);
    EXPECT_EQ(read.born.at(0).handle, plain);
}

TEST(record_encoding, what_ends_early_or_late_is_refused) {
    const bytes_of whole = encoded(full_record());
    for (std::size_t size = 0; size != whole.size(); ++size) {
        EXPECT_NE(refusal_of(bytes_of(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))), "");
    }
    bytes_of longer = whole;
    longer.push_back(std::byte{0});
    EXPECT_EQ(refusal_of(longer), "record, byte 44: lists of so many take 84 bytes, and 85 are there");
    EXPECT_EQ(refusal_of({}), "record, byte 0: \"hp frame\" is expected");
    EXPECT_EQ(refusal_of(bytes_of(whole.begin(), whole.begin() + 20)),
              "record, byte 8: the header ends early");
}

// Each other byte makes another record, or none.
TEST(record_encoding, each_byte_counts) {
    const bytes_of whole = encoded(full_record());
    for (std::size_t i = 0; i != whole.size(); ++i) {
        for (const unsigned change : {1U, 2U, 0x80U, 0xffU}) {
            bytes_of other = whole;
            other[i] ^= static_cast<std::byte>(change);
            number_record read;
            std::string error;
            if (try_decode_record(std::span<const std::byte>(other), read, error)) {
                EXPECT_THAT(encoded(read), ElementsAreArray(other));
            } else {
                EXPECT_NE(error, "");
            }
        }
    }
}

TEST(record_encoding, says_what_is_wrong_and_where) {
    const auto with = [](std::size_t at, std::initializer_list<unsigned> values) {
        bytes_of bytes = encoded(full_record());
        put(bytes, at, values);
        return refusal_of(bytes);
    };
    EXPECT_EQ(with(8, {2}), "record, byte 8: format 2 is unknown; known is 1");
    EXPECT_EQ(
        with(12, {20, 20, 8, 16}),
        "record, byte 12: the handles have 20, 20, 8 and 16 bits for index, generation, pool id and user; "
        "here they have 32, 22, 10 and 0");
    EXPECT_EQ(with(16, {9}), "record, byte 16: these flags are unknown; known are 1, 2 and 4");
    EXPECT_EQ(with(44, {0xff, 0xff, 0xff, 0xff}),
              "record, byte 44: lists of so many take 51539607600 bytes, and 84 are there");
    EXPECT_EQ(with(64, {0, 0, 0, 0, 0, 0, 0, 0}),
              "record, byte 64: this is no handle of an object, in the layout of the header");
    EXPECT_EQ(with(68, {2}), "record, byte 64: this is no handle of an object, in the layout of the header");
    EXPECT_EQ(with(84, {0}), "record, byte 84: position 0 does not come after position 0 before it");
    EXPECT_EQ(with(112, {4}), "record, byte 112: this is where the object was before");
    EXPECT_EQ(with(124, {8}), "record, byte 124: this is no later handle of the same slot");
}

} // namespace
} // namespace handlepool::test
