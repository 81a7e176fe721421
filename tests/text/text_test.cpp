// SPDX-License-Identifier: MIT
#include <handlepool/detail/text/text.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace handlepool::test {
namespace {

using namespace detail;

// As a text, so that those with a zero byte are whole.
using namespace std::string_view_literals;

struct written_text {
    std::string_view text;
    std::string_view printed; // for people, in each format
    std::string_view json;
    std::string_view prometheus;
};

constexpr std::array written_texts{
    written_text{""sv, ""sv, R"("")"sv, R"("")"sv},
    written_text{"ships"sv, "ships"sv, R"("ships")"sv, R"("ships")"sv},
    written_text{"a \"b\" \\ 'c' / {}"sv, "a \"b\" \\ 'c' / {}"sv, R"("a \"b\" \\ 'c' / {}")"sv,
                 R"("a \"b\" \\ 'c' / {}")"sv},
    // one, two, three and four bytes
    written_text{"e\u00e9\u20ac\U0001f600"sv, "e\u00e9\u20ac\U0001f600"sv, "\"e\u00e9\u20ac\U0001f600\""sv,
                 "\"e\u00e9\u20ac\U0001f600\""sv},
    written_text{"\0\b\t\n\f\r\x1b\x7f"sv, "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd"sv,
                 R"("\u0000\b\t\n\f\r\u001b\u007f")"sv,
                 "\"\ufffd\ufffd\ufffd\\n\ufffd\ufffd\ufffd\ufffd\""sv},
    written_text{"\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0"sv, "\ufffd\ufffd\ufffd\xc2\xa0"sv,
                 "\"\\u0080\\u009b\\u009f\xc2\xa0\""sv, "\"\ufffd\ufffd\ufffd\xc2\xa0\""sv},
    written_text{"\xff\xc3("sv, "\ufffd\ufffd("sv, "\"\ufffd\ufffd(\""sv, "\"\ufffd\ufffd(\""sv},
};

TEST(text_test, what_can_not_be_read_is_replaced_or_escaped) {
    for (const written_text& each : written_texts) {
        EXPECT_EQ(printable(each.text), each.printed);
        EXPECT_EQ(json_string(each.text), each.json);
        EXPECT_EQ(prometheus_label(each.text), each.prometheus);
    }
}

TEST(text_test, all_that_is_printed_is_printed_the_same_again) {
    for (const written_text& each : written_texts) {
        EXPECT_EQ(printable(each.printed), each.printed);
        EXPECT_TRUE(is_utf8(each.json) && is_utf8(each.prometheus));
    }
}

// Unicode, chapter 3.9, table 3-8, and the other rows of that section.
TEST(text_test, each_longest_beginning_of_a_character_is_replaced_by_one) {
    EXPECT_EQ(printable("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41"),
              "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\x41");
    EXPECT_EQ(printable("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41"),
              "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\x41");
    EXPECT_EQ(printable("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42"),
              "\ufffd\ufffd\ufffd\ufffd\ufffd\x41\ufffd\ufffd\x42");
    EXPECT_EQ(printable("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41"), "\ufffd\ufffd\ufffd\ufffd\x41");
    EXPECT_EQ(printable("\xf1\x80\x80\xe1\x80\xc2"), "\ufffd\ufffd\ufffd") << "also at the end";
}

/// As a sequence of that many bytes would have it, whether it may be one or not.
std::array<char, 4> encoded(char32_t code, std::size_t bytes) {
    std::array<char, 4> text{};
    for (std::size_t i = bytes; --i != 0; code >>= 6) {
        text[i] = static_cast<char>(0x80 | (code & 0x3f));
    }
    text[0] = static_cast<char>((bytes == 1 ? 0 : 0xf00 >> bytes) | code);
    return text;
}

TEST(text_test, a_character_has_one_encoding) {
    constexpr std::array<char32_t, 4> ends{0x80, 0x800, 0x1'0000, 0x20'0000}; // of those with 1 to 4 bytes
    for (std::size_t bytes = 1; bytes <= 4; ++bytes) {
        for (char32_t code = 0; code != ends[bytes - 1]; ++code) {
            const bool needs_as_many = bytes == 1 || code >= ends[bytes - 2];
            const bool is_character = code <= 0x10'ffff && (code < 0xd800 || code > 0xdfff);
            const std::array<char, 4> text = encoded(code, bytes);
            if (is_utf8({text.data(), bytes}) != (needs_as_many && is_character)) {
                FAIL() << std::hex << static_cast<std::uint32_t>(code) << " in " << bytes << " bytes";
            }
        }
    }
}

TEST(text_test, a_bounded_copy_has_whole_characters) {
    const std::string_view text = "a\u20ac\xff"
                                  "b";
    const std::string_view whole = "a\u20ac\ufffd"
                                   "b";
    constexpr std::array<std::size_t, 9> copied{0, 1, 1, 1, 4, 4, 4, 7, 8};
    for (std::size_t room = 0; room != copied.size(); ++room) {
        std::array<char, 9> to;
        to.fill('#');
        ASSERT_EQ(copy_printable(text, std::span(to).first(room)), copied[room]);
        EXPECT_EQ(std::string_view(to.data(), to.size()),
                  std::string(whole.substr(0, copied[room])) + std::string(to.size() - copied[room], '#'));
    }
}

} // namespace
} // namespace handlepool::test
