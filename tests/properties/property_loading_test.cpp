// SPDX-License-Identifier: MIT

// Bytes that claim to be a bag.

#include <handlepool/property_bag.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::test {
namespace {

using namespace handlepool::property_literals;
using testing::StartsWith;
using testing::ThrowsMessage;

/// Makes images by hand.
class image_maker {
public:
    explicit image_maker(std::size_t bytes) : bytes_(bytes) {
        set16(0, 0xba01);
        set16(6, static_cast<std::uint16_t>(bytes / 4));
    }
    image_maker& set16(std::size_t offset, std::uint16_t value) { return set(offset, value); }
    image_maker& set32(std::size_t offset, std::uint32_t value) { return set(offset, value); }
    image_maker& set8(std::size_t offset, std::uint8_t value) { return set(offset, value); }

    /// Why it is refused; empty if it is not.
    std::string refusal() const {
        std::string error;
        const bool taken = property_bag::try_from_bytes(bytes_, error).has_value();
        EXPECT_EQ(taken, error.empty());
        EXPECT_EQ(property_view::try_from_bytes(bytes_, error).has_value(), taken);
        return error;
    }
    std::span<const std::byte> bytes() const { return bytes_; }

private:
    template <class Value>
    image_maker& set(std::size_t offset, Value value) {
        std::memcpy(bytes_.data() + offset, &value, sizeof value);
        return *this;
    }

    std::vector<std::byte> bytes_;
};

/// One entry of that kind and word, in 40 bytes, the last 12 of which are contents.
image_maker one_entry(property_kind kind, std::uint32_t word) {
    return image_maker(40).set16(2, 1).set16(4, 12).set32(8, 77).set32(12, word).set8(
        16, static_cast<std::uint8_t>(kind));
}

constexpr std::uint32_t place(std::uint32_t offset, std::uint32_t size) {
    return offset << 16 | size;
}

property_bag sample() {
    property_bag bag;
    bag.set("name"_key, "Anna");
    bag.set("stats"_key / "health", 10);
    bag.set("stats"_key / "luck", {0.5F, 1.0F, -2.0F});
    bag.set("awake"_key, true);
    bag.set_removed("gone"_key);
    bag.set("empty"_key, "");
    return bag;
}

TEST(property_loading_test, a_copy_of_the_bytes_is_a_copy_of_the_bag) {
    const property_bag bag = sample();
    std::vector<std::byte> copied(bag.bytes().begin(), bag.bytes().end());
    EXPECT_EQ(property_bag::from_bytes(copied), bag);
    EXPECT_EQ(property_view::from_bytes(copied), bag);
    const property_view view = property_view::from_bytes(copied);
    EXPECT_EQ(view.bytes().data(), copied.data()) << "which stay where they are";
}

TEST(property_loading_test, a_loaded_bag_can_be_changed) {
    property_bag bag = property_bag::from_bytes(sample().bytes());
    bag.set("name"_key, std::string(100, 'x'));
    bag.erase("awake"_key);
    EXPECT_EQ(bag.at<std::string_view>("name"_key), std::string(100, 'x'));
    EXPECT_EQ(bag.size(), 5U);
}

TEST(property_loading_test, an_empty_bag_is_8_bytes) {
    EXPECT_EQ(property_bag().bytes().size(), 8U);
    EXPECT_EQ(property_bag::from_bytes(property_bag().bytes()), property_bag());
    property_bag loaded = property_bag::from_bytes(property_bag().bytes());
    loaded.set("a"_key, 1);
    EXPECT_EQ(loaded.size(), 1U);
}

TEST(property_loading_test, bytes_at_any_address_can_be_loaded) {
    const property_bag bag = sample();
    for (std::size_t shift = 0; shift != 4; ++shift) {
        std::vector<std::byte> shifted(shift + bag.bytes().size());
        std::memcpy(shifted.data() + shift, bag.bytes().data(), bag.bytes().size());
        const auto bytes = std::span(shifted).subspan(shift);
        EXPECT_EQ(property_bag::from_bytes(bytes), bag);
        std::string error;
        EXPECT_EQ(property_view::try_from_bytes(bytes, error).has_value(), shift == 0);
        EXPECT_EQ(error, shift == 0 ? "" : "bag, byte 0: the address is no multiple of 4");
    }
}

TEST(property_loading_test, all_that_is_cut_off_is_refused) {
    const property_bag bag = sample();
    for (std::size_t size = 0; size != bag.bytes().size(); ++size) {
        // Just as large, so that a sanitizer sees each byte too far.
        const std::unique_ptr<std::byte[]> exact(new std::byte[size]);
        std::memcpy(exact.get(), bag.bytes().data(), size);
        EXPECT_THROW(property_bag::from_bytes({exact.get(), size}), invalid_bag) << size;
        EXPECT_THROW(property_view::from_bytes({exact.get(), size}), invalid_bag) << size;
    }
    std::vector<std::byte> longer(bag.bytes().begin(), bag.bytes().end());
    longer.resize(longer.size() + 4);
    EXPECT_THROW(property_bag::from_bytes(longer), invalid_bag);
}

TEST(property_loading_test, any_flipped_bit_is_refused_or_leaves_a_sound_bag) {
    const property_bag bag = sample();
    std::vector<std::byte> bytes(bag.bytes().begin(), bag.bytes().end());
    for (std::size_t bit = 0; bit != 8 * bytes.size(); ++bit) {
        bytes[bit / 8] ^= std::byte{1} << bit % 8;
        std::string error;
        if (auto loaded = property_bag::try_from_bytes(bytes, error)) {
            EXPECT_NE(*loaded, bag) << "bit " << bit << " means nothing";
            loaded->set("more"_key, "more");
            loaded->erase("name"_key);
            loaded->shrink_to_fit();
            EXPECT_EQ(property_bag::from_bytes(loaded->bytes()), *loaded);
        }
        bytes[bit / 8] ^= std::byte{1} << bit % 8;
    }
}

TEST(property_loading_test, random_bytes_are_refused_or_are_a_bag) {
    random_source random;
    std::vector<std::byte> bytes(64);
    for (int round = 0; round != 20'000; ++round) {
        image_maker image(64);
        image.set16(2, static_cast<std::uint16_t>(random.below(7)));
        for (std::size_t i = 8; i != 64; ++i) {
            image.set8(i, static_cast<std::uint8_t>(random.one_in(4) ? random.bits() : 0));
        }
        image.set16(4, static_cast<std::uint16_t>(4 * random.below(14)));
        std::string error;
        if (const auto loaded = property_bag::try_from_bytes(image.bytes(), error)) {
            EXPECT_EQ(property_bag(property_view(*loaded)), *loaded);
        }
    }
}

TEST(property_loading_test, what_is_sound_is_taken) {
    EXPECT_EQ(image_maker(8).refusal(), "");
    EXPECT_EQ(image_maker(40).refusal(), "");
    EXPECT_EQ(one_entry(property_kind::number, 0xffff'ffff).refusal(), "");
    EXPECT_EQ(one_entry(property_kind::boolean, 1).refusal(), "");
    EXPECT_EQ(one_entry(property_kind::removed, 0).refusal(), "");
    EXPECT_EQ(one_entry(property_kind::string, 0).refusal(), "");
    EXPECT_EQ(one_entry(property_kind::string, place(28, 12)).refusal(), "");
    EXPECT_EQ(one_entry(property_kind::numbers, place(36, 4)).refusal(), "");
}

TEST(property_loading_test, a_header_that_is_wrong_is_refused) {
    EXPECT_EQ(image_maker(40).set16(0, 0x01ba).refusal(), "bag, byte 0: the bag has the other byte order");
    EXPECT_EQ(image_maker(40).set16(0, 0).refusal(), "bag, byte 0: this is no bag");
    EXPECT_EQ(image_maker(40).set16(6, 11).refusal(), "bag, byte 6: the capacity is not the number of bytes");
    EXPECT_EQ(image_maker(41).refusal(), "bag, byte 6: the capacity is not the number of bytes");
    EXPECT_EQ(image_maker(65'540).refusal(), "bag, byte 65536: there are more bytes than a bag may have");
    EXPECT_EQ(image_maker(40).set16(2, 4).refusal(),
              "bag, byte 2: there are more properties than bytes for them");
    EXPECT_EQ(image_maker(40).set16(2, 0xffff).refusal(),
              "bag, byte 2: there are more properties than bytes for them");
    EXPECT_EQ(image_maker(40).set16(4, 36).refusal(),
              "bag, byte 4: the contents don't fit behind the properties");
    EXPECT_EQ(image_maker(40).set16(4, 0xfffc).refusal(),
              "bag, byte 4: the contents don't fit behind the properties");
    EXPECT_EQ(image_maker(40).set16(4, 6).refusal(),
              "bag, byte 4: the contents don't fit behind the properties");
}

TEST(property_loading_test, keys_that_do_not_ascend_are_refused) {
    const auto two_keys = [](std::uint32_t first, std::uint32_t second) {
        return image_maker(40)
            .set16(2, 2)
            .set32(8, first)
            .set32(12, second)
            .set8(24, 2)
            .set8(25, 2)
            .refusal();
    };
    EXPECT_EQ(two_keys(1, 2), "");
    EXPECT_EQ(two_keys(0, 0xffff'ffff), "");
    EXPECT_EQ(two_keys(2, 1), "bag, byte 12: the keys don't ascend");
    EXPECT_EQ(two_keys(1, 1), "bag, byte 12: the keys don't ascend");
}

TEST(property_loading_test, kinds_and_words_that_are_wrong_are_refused) {
    EXPECT_EQ(one_entry(property_kind::none, 0).refusal(), "bag, byte 12: there is no such kind");
    EXPECT_EQ(one_entry(static_cast<property_kind>(6), 0).refusal(), "bag, byte 12: there is no such kind");
    EXPECT_EQ(one_entry(static_cast<property_kind>(255), 0).refusal(), "bag, byte 12: there is no such kind");
    EXPECT_EQ(one_entry(property_kind::boolean, 2).refusal(), "bag, byte 12: a truth is neither 0 nor 1");
    EXPECT_EQ(one_entry(property_kind::removed, 1).refusal(), "bag, byte 12: a removal has a value");
}

TEST(property_loading_test, contents_in_the_wrong_place_are_refused) {
    const auto content = [](std::uint32_t offset, std::uint32_t size) {
        return one_entry(property_kind::string, place(offset, size)).refusal();
    };
    EXPECT_EQ(content(28, 13), "bag, byte 12: a content lies outside of the contents");
    EXPECT_EQ(content(24, 4), "bag, byte 12: a content lies outside of the contents");
    EXPECT_EQ(content(40, 4), "bag, byte 12: a content lies outside of the contents");
    EXPECT_EQ(content(0, 4), "bag, byte 12: a content lies outside of the contents");
    EXPECT_EQ(content(0xfffc, 0xffff), "bag, byte 12: a content lies outside of the contents");
    EXPECT_EQ(content(30, 4), "bag, byte 12: a content is not aligned to 4 bytes");
    EXPECT_EQ(content(28, 0), "bag, byte 12: an empty content has a place");
    EXPECT_EQ(one_entry(property_kind::numbers, place(28, 6)).refusal(),
              "bag, byte 12: the size of an array is no multiple of 4 bytes");
}

TEST(property_loading_test, contents_that_overlap_are_refused) {
    const auto two = [](std::uint32_t first, std::uint32_t second) {
        return image_maker(40)
            .set16(2, 2)
            .set16(4, 12)
            .set32(8, 1)
            .set32(12, 2)
            .set32(16, first)
            .set32(20, second)
            .set8(24, 3)
            .set8(25, 3)
            .refusal();
    };
    EXPECT_EQ(two(place(28, 4), place(32, 8)), "");
    EXPECT_EQ(two(place(32, 8), place(28, 4)), "");
    EXPECT_EQ(two(place(28, 4), place(28, 4)), "bag, byte 20: two contents overlap");
    EXPECT_EQ(two(place(28, 5), place(32, 8)), "bag, byte 20: two contents overlap") << "in their padding";
    EXPECT_EQ(two(place(36, 4), place(28, 12)), "bag, byte 20: two contents overlap");
}

TEST(property_loading_test, what_is_unused_must_be_zero) {
    EXPECT_EQ(image_maker(40).set8(39, 1).refusal(), "bag, byte 39: an unused byte is not zero");
    EXPECT_EQ(image_maker(40).set8(8, 1).refusal(), "bag, byte 8: an unused byte is not zero");
    EXPECT_EQ(one_entry(property_kind::string, place(28, 9)).set8(37, 1).refusal(),
              "bag, byte 12: a content is padded with other bytes than zeros");
    EXPECT_EQ(one_entry(property_kind::string, place(28, 8)).set8(36, 1).refusal(),
              "bag, byte 36: an unused byte is not zero");
}

TEST(property_loading_test, errors_say_where) {
    const image_maker wrong = image_maker(40).set16(2, 4);
    EXPECT_THAT([&] { property_bag::from_bytes(wrong.bytes(), "anna.bag"); },
                ThrowsMessage<invalid_bag>(StartsWith("anna.bag, byte 2: ")));
    try {
        property_view::from_bytes(wrong.bytes());
        FAIL();
    } catch (const invalid_bag& error) {
        EXPECT_EQ(error.offset(), 2U);
    }
    std::string error;
    EXPECT_FALSE(property_bag::try_from_bytes(wrong.bytes(), error, "anna.bag"));
    EXPECT_THAT(error, StartsWith("anna.bag, byte 2: "));
}

} // namespace
} // namespace handlepool::test
