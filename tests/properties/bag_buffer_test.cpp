// SPDX-License-Identifier: MIT

// A buffer by itself, in memory of the test's own.

#include <handlepool/detail/properties/bag_buffer.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace handlepool::test {
namespace {

using detail::bag_entry;
using detail::bag_reader;
using detail::bag_writer;

bag_entry number_entry(std::uint32_t key, std::uint32_t word) {
    return {.hash = property_hash{key}, .kind = property_kind::number, .word = word};
}

bag_entry string_entry(std::uint32_t key, std::string_view text) {
    return {
        .hash = property_hash{key}, .kind = property_kind::string, .content = std::as_bytes(std::span(text))};
}

/// A buffer of so many bytes, followed by bytes that nobody may write.
class bag_buffer_test : public testing::Test {
protected:
    static constexpr std::size_t capacity = 100;

    bag_buffer_test() { memory_.fill(std::byte{0xee}); }
    ~bag_buffer_test() override {
        for (std::size_t i = capacity; i != memory_.size(); ++i) {
            EXPECT_EQ(memory_[i], std::byte{0xee}) << "written beyond the end";
        }
    }

    bag_writer make(std::size_t entries = 0) { return bag_writer(memory_.data(), capacity, entries); }
    std::span<const std::byte> image() const { return std::span(memory_).first(capacity); }
    /// What is wrong with the buffer.
    std::string flaw() const {
        const auto found = detail::flaw_of(image());
        return found ? std::string(found->problem) : "";
    }

    alignas(8) std::array<std::byte, 200> memory_;
};

TEST_F(bag_buffer_test, an_empty_one_holds_nothing) {
    const bag_writer bag = make();
    EXPECT_EQ(bag.count(), 0U);
    EXPECT_EQ(bag.capacity(), capacity);
    EXPECT_EQ(bag.unused(), capacity - 8);
    EXPECT_EQ(bag.find(property_hash{0}), 0U) << "not there";
    EXPECT_EQ(bag.compact_size(), 8U);
    EXPECT_EQ(flaw(), "");
}

TEST_F(bag_buffer_test, keys_ascend_in_whatever_order_they_come) {
    bag_writer bag = make();
    for (const std::uint32_t key : {5U, 0U, 0xffff'ffffU, 7U, 3U, 0x8000'0000U}) {
        EXPECT_TRUE(bag.put(number_entry(key, key + 1)));
        EXPECT_EQ(flaw(), "");
    }
    ASSERT_EQ(bag.count(), 6U);
    std::size_t position = 0;
    for (const std::uint32_t key : {0U, 3U, 5U, 7U, 0x8000'0000U, 0xffff'ffffU}) {
        EXPECT_EQ(bag.find(property_hash{key}), position);
        EXPECT_EQ(bag.hash(position), property_hash{key});
        EXPECT_EQ(bag.word_at(position), key + 1);
        ++position;
    }
    EXPECT_EQ(bag.find(property_hash{4}), 6U);
    EXPECT_EQ(bag.find(property_hash{0xffff'fffe}), 6U);
}

TEST_F(bag_buffer_test, is_filled_to_the_last_byte) {
    bag_writer bag = make();
    for (std::uint32_t key = 0; key != 10; ++key) {
        EXPECT_TRUE(bag.put(number_entry(key, 1)));
    }
    EXPECT_EQ(bag.unused(), 2U);
    EXPECT_FALSE(bag.put(number_entry(10, 1)));
    EXPECT_TRUE(bag.put(number_entry(9, 2))) << "replacing needs no room";
    EXPECT_FALSE(bag.put(string_entry(9, "x")));
    EXPECT_TRUE(bag.put(string_entry(9, ""))) << "nor does what is empty";
    EXPECT_EQ(flaw(), "");

    bag = make();
    EXPECT_TRUE(bag.put(string_entry(1, std::string(80, 'x'))));
    EXPECT_EQ(bag.unused(), 3U);
    EXPECT_FALSE(bag.put(string_entry(1, std::string(81, 'x'))))
        << "there are the old and the new one for a while";
    EXPECT_EQ(bag.text(0), std::string(80, 'x'));
    EXPECT_EQ(flaw(), "");
}

TEST_F(bag_buffer_test, a_smaller_content_takes_the_place_of_a_larger_one) {
    bag_writer bag = make();
    bag.put(string_entry(1, "a long string"));
    const char* const place = bag.text(0).data();
    bag.put(string_entry(1, "short"));
    EXPECT_EQ(bag.text(0), "short");
    EXPECT_EQ(bag.text(0).data(), place);
    EXPECT_EQ(flaw(), "") << "and leaves nothing of it";
}

TEST_F(bag_buffer_test, a_part_of_a_content_replaces_it) {
    bag_writer bag = make();
    bag.put(string_entry(1, "a long string"));
    bag.put(string_entry(1, bag.text(0).substr(2, 8)));
    EXPECT_EQ(bag.text(0), "long str");
    bag.put(string_entry(2, bag.text(0)));
    EXPECT_EQ(bag.text(1), "long str");
    bag.put({.hash = property_hash{1}, .kind = property_kind::numbers, .content = bag.content(1)});
    EXPECT_EQ(bag.numbers(0).size(), 2U);
    EXPECT_EQ(flaw(), "");
}

TEST_F(bag_buffer_test, the_place_of_the_lowest_content_is_free_again) {
    bag_writer bag = make();
    bag.put(string_entry(1, "the first"));
    const std::size_t unused = bag.unused();
    bag.put(string_entry(2, "the second"));
    bag.erase(bag.find(property_hash{2}));
    EXPECT_EQ(bag.unused(), unused);
    bag.put(string_entry(2, "the second"));
    bag.put(number_entry(2, 0));
    EXPECT_EQ(bag.unused(), unused - detail::bag_bytes_an_entry);
    EXPECT_EQ(flaw(), "");
}

TEST_F(bag_buffer_test, what_was_erased_is_zero) {
    bag_writer bag = make();
    bag.put(string_entry(1, "secret"));
    bag.put(string_entry(2, "kept"));
    bag.erase(bag.find(property_hash{1}));
    EXPECT_EQ(bag.text(0), "kept");
    const std::string bytes(reinterpret_cast<const char*>(memory_.data()), capacity);
    EXPECT_EQ(bytes.find("secret"), std::string::npos);
    EXPECT_EQ(flaw(), "");
}

TEST_F(bag_buffer_test, erasing_leaves_the_others) {
    for (std::uint32_t victim = 0; victim != 5; ++victim) {
        bag_writer bag = make();
        for (std::uint32_t key = 0; key != 5; ++key) {
            bag.put(string_entry(key, std::string(key, 'x')));
        }
        bag.erase(bag.find(property_hash{victim}));
        EXPECT_EQ(flaw(), "");
        ASSERT_EQ(bag.count(), 4U);
        for (std::uint32_t key = 0; key != 5; ++key) {
            if (key != victim) {
                EXPECT_EQ(bag.text(bag.find(property_hash{key})), std::string(key, 'x'));
            }
        }
    }
}

TEST_F(bag_buffer_test, a_copy_has_no_holes) {
    bag_writer bag = make();
    for (std::uint32_t key = 0; key != 4; ++key) {
        bag.put(string_entry(key, "12345678"));
    }
    bag.erase(1);
    bag.erase(0);
    alignas(8) std::array<std::byte, 200> other{};
    ASSERT_EQ(bag.compact_size(), 8 + 20 + 16U) << "9 bytes an entry, rounded up to 4 for all";
    detail::copy_to(other.data(), bag.compact_size(), bag);
    const bag_reader copy(other.data());
    EXPECT_EQ(copy.unused(), 2U);
    EXPECT_EQ(copy.text(copy.find(property_hash{2})), "12345678");
    EXPECT_FALSE(detail::flaw_of(std::span(other).first(bag.compact_size())));
}

TEST_F(bag_buffer_test, a_copy_takes_one_more_or_replaces_one) {
    bag_writer bag = make();
    bag.put(string_entry(2, "two"));
    bag.put(string_entry(4, "four"));
    for (const std::uint32_t key : {1U, 2U, 3U, 4U, 5U}) {
        alignas(8) std::array<std::byte, 200> other{};
        const std::size_t bytes = detail::compact_size_with(bag, string_entry(key, "new one"));
        detail::copy_with(other.data(), bytes, bag, string_entry(key, "new one"));
        const bag_reader copy(other.data());
        EXPECT_FALSE(detail::flaw_of(std::span(other).first(bytes)));
        EXPECT_EQ(copy.count(), key % 2 == 0 ? 2U : 3U);
        EXPECT_LT(copy.unused(), 4U) << "the size was computed right";
        for (const std::uint32_t other_key : {2U, 4U}) {
            if (key != other_key) {
                EXPECT_EQ(copy.text(copy.find(property_hash{other_key})), other_key == 2 ? "two" : "four");
            }
        }
        EXPECT_EQ(copy.text(copy.find(property_hash{key})), "new one");
    }
}

TEST(bag_size_test, grows_by_halves_up_to_the_limit_and_not_without_need) {
    EXPECT_EQ(detail::grown_size(20, 8), 32U) << "30, in units of 4";
    EXPECT_EQ(detail::grown_size(100, 100), 152U);
    EXPECT_EQ(detail::grown_size(60, 100), 100U) << "closing holes is enough";
    EXPECT_EQ(detail::grown_size(60'000, 60'000), 65'536U);
    EXPECT_EQ(detail::grown_size(65'536, 65'536), 65'536U);
}

} // namespace
} // namespace handlepool::test
