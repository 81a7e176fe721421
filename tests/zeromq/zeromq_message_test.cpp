// SPDX-License-Identifier: MIT

// What bytes from anybody are taken for, and what messages mean to whoever follows.

#include <handlepool/detail/followers/frame_position.hpp>

#include <gtest/gtest.h>
#include <src/zeromq/followed_origin.hpp>
#include <src/zeromq/zeromq_message.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

using detail::zeromq_header;
using detail::zeromq_kind;

constexpr std::initializer_list<zeromq_kind> all_kinds = {zeromq_kind::request, zeromq_kind::snapshot,
                                                          zeromq_kind::delta, zeromq_kind::position};

std::vector<std::byte> sent(const zeromq_header& header, std::size_t payload = 0) {
    const auto bytes = detail::bytes_of(header);
    std::vector<std::byte> all(bytes.begin(), bytes.end());
    for (std::size_t i = 0; i != payload; ++i) {
        all.push_back(static_cast<std::byte>(i));
    }
    return all;
}

std::string problem_with(std::span<const std::byte> bytes,
                         std::initializer_list<zeromq_kind> kinds = all_kinds) {
    std::string problem;
    const bool is_message = detail::read_zeromq_message(bytes, kinds, problem).has_value();
    EXPECT_EQ(is_message, problem.empty());
    return problem;
}

constexpr zeromq_header some_delta{
    .kind = zeromq_kind::delta, .origin = 11, .before = 5, .frame = 6, .history = 12};
constexpr zeromq_header some_position{
    .kind = zeromq_kind::position, .origin = 11, .before = 5, .frame = 5, .history = 12};

TEST(zeromq_message, bytes_are_those_of_the_document) {
    const zeromq_header header{.kind = zeromq_kind::delta,
                               .origin = 0x0807060504030201,
                               .before = 0x18,
                               .frame = 0x2100000000000028,
                               .history = 0x31};
    const std::uint8_t expected[] = {'h',  'p', ' ', 'f', 'r', 'a', 'm', 'e',  1,    0, 0, 0, 3, 0, 0, 0,
                                     1,    2,   3,   4,   5,   6,   7,   8,    0x18, 0, 0, 0, 0, 0, 0, 0,
                                     0x28, 0,   0,   0,   0,   0,   0,   0x21, 0x31, 0, 0, 0, 0, 0, 0, 0};
    const auto bytes = detail::bytes_of(header);
    ASSERT_EQ(bytes.size(), sizeof expected);
    for (std::size_t i = 0; i != bytes.size(); ++i) {
        EXPECT_EQ(std::to_integer<int>(bytes[i]), expected[i]) << "byte " << i;
    }
}

TEST(zeromq_message, comes_out_as_it_was_put_in) {
    const auto bytes = sent(some_delta, 3);
    std::string problem;
    const auto read = detail::read_zeromq_message(bytes, {zeromq_kind::delta}, problem);
    ASSERT_TRUE(read.has_value()) << problem;
    EXPECT_EQ(read->header.kind, zeromq_kind::delta);
    EXPECT_EQ(read->header.origin, 11u);
    EXPECT_EQ(read->header.before, 5u);
    EXPECT_EQ(read->header.frame, 6u);
    EXPECT_EQ(read->header.history, 12u);
    EXPECT_EQ(read->payload.data(), bytes.data() + detail::zeromq_header_size);
    EXPECT_EQ(read->payload.size(), 3u);
    EXPECT_EQ(problem_with(sent(some_position)), "");
    EXPECT_EQ(problem_with(sent({.kind = zeromq_kind::request})), "");
    EXPECT_EQ(problem_with(sent({.kind = zeromq_kind::snapshot, .before = 7, .frame = 7}, 1)), "");
}

TEST(zeromq_message, that_is_none_is_refused) {
    EXPECT_EQ(problem_with({}), "it has 0 bytes; the header alone has 48");
    const auto whole = sent(some_position);
    for (std::size_t size = 0; size != whole.size(); ++size) {
        EXPECT_EQ(problem_with(std::span(whole).first(size)),
                  "it has " + std::to_string(size) + " bytes; the header alone has 48");
    }
    const auto with_byte = [](std::size_t at, int byte) {
        auto bytes = sent(some_position);
        bytes[at] = static_cast<std::byte>(byte);
        return bytes;
    };
    for (std::size_t at = 0; at != 8; ++at) {
        EXPECT_EQ(problem_with(with_byte(at, 'x')), "it does not begin with 'hp frame'");
    }
    EXPECT_EQ(problem_with(with_byte(8, 2)), "it has the format 2; known is 1");
    EXPECT_EQ(problem_with(with_byte(11, 1)), "it has the format 16777217; known is 1");
    EXPECT_EQ(problem_with(with_byte(12, 0)), "it is of kind 0; 1 or 2 or 3 or 4 is expected");
    EXPECT_EQ(problem_with(with_byte(12, 5)), "it is of kind 5; 1 or 2 or 3 or 4 is expected");
    EXPECT_EQ(problem_with(whole, {zeromq_kind::snapshot}), "it is of kind 4; 2 is expected");
}

TEST(zeromq_message, whose_numbers_contradict_is_refused) {
    const std::string not_empty = "it is a request, in which all that follows the kind is 0";
    EXPECT_EQ(problem_with(sent({.kind = zeromq_kind::request, .origin = 1})), not_empty);
    EXPECT_EQ(problem_with(sent({.kind = zeromq_kind::request, .before = 1})), not_empty);
    EXPECT_EQ(problem_with(sent({.kind = zeromq_kind::request, .frame = 1})), not_empty);
    EXPECT_EQ(problem_with(sent({.kind = zeromq_kind::request, .history = 1})), not_empty);
    EXPECT_EQ(problem_with(sent({.kind = zeromq_kind::request}, 1)),
              "there are 1 bytes behind the header; none are expected");
    EXPECT_EQ(problem_with(sent(some_position, 8)), "there are 8 bytes behind the header; none are expected");
    EXPECT_EQ(problem_with(sent(some_delta)), "there are 0 bytes behind the header; at least 1 is expected");
    EXPECT_EQ(problem_with(sent({.kind = zeromq_kind::snapshot})),
              "there are 0 bytes behind the header; at least 1 is expected");
    EXPECT_EQ(problem_with(sent({.kind = zeromq_kind::delta, .before = 5, .frame = 5}, 1)),
              "the delta leads from frame 5 to frame 5, which does not come after it");
    EXPECT_EQ(problem_with(sent({.kind = zeromq_kind::delta, .before = 6, .frame = 5}, 1)),
              "the delta leads from frame 6 to frame 5, which does not come after it");
    EXPECT_EQ(problem_with(sent({.kind = zeromq_kind::snapshot, .before = 5, .frame = 6}, 1)),
              "it is no delta, and has the frames 5 and 6; they must be the same");
    EXPECT_EQ(problem_with(sent({.kind = zeromq_kind::position, .before = 6, .frame = 5})),
              "it is no delta, and has the frames 6 and 5; they must be the same");
}

struct heard {
    detail::zeromq_news news;
    std::string problem;
    friend bool operator==(const heard&, const heard&) = default;
};

heard hear(detail::followed_origin& origin, const zeromq_header& header,
           std::span<const std::byte> payload = {}) {
    std::string problem;
    const detail::zeromq_news news = origin.hear({.header = header, .payload = payload}, problem);
    return {news, problem};
}

TEST(followed_origin, tells_what_comes_next) {
    const std::vector<std::byte> delta(10, std::byte{7});
    const std::uint64_t after = detail::history_after(100, delta);
    detail::followed_origin origin;
    EXPECT_FALSE(origin.is_known());
    origin.begin({.kind = zeromq_kind::snapshot, .origin = 50, .before = 5, .frame = 5, .history = 100});
    EXPECT_TRUE(origin.is_known());

    const auto delta_of = [&](std::uint64_t before, std::uint64_t frame, std::uint64_t history) {
        return hear(
            origin,
            {.kind = zeromq_kind::delta, .origin = 50, .before = before, .frame = frame, .history = history},
            delta);
    };
    const auto position_of = [&](std::uint64_t frame, std::uint64_t history, std::uint64_t begin = 50) {
        return hear(origin, {.kind = zeromq_kind::position,
                             .origin = begin,
                             .before = frame,
                             .frame = frame,
                             .history = history});
    };
    using detail::zeromq_news;
    const heard old{zeromq_news::old, ""};
    EXPECT_EQ(position_of(5, 100), old);
    EXPECT_EQ(position_of(4, 3), old);
    EXPECT_EQ(delta_of(3, 4, 3), old);
    EXPECT_EQ(delta_of(4, 5, 100), old);
    EXPECT_EQ(delta_of(4, 5, 101), (heard{zeromq_news::loss, "frame 5 has another history here"}));
    EXPECT_EQ(position_of(5, 101), (heard{zeromq_news::loss, "frame 5 has another history here"}));
    EXPECT_EQ(position_of(5, 100, 51),
              (heard{zeromq_news::loss, "the publisher has begun anew, with frame 5 or before"}));
    EXPECT_EQ(position_of(6, after),
              (heard{zeromq_news::loss, "frames are missing: here is 5, and what comes next is of 6"}));
    EXPECT_EQ(
        delta_of(6, 7, after),
        (heard{zeromq_news::loss, "frames are missing: here is 5, and what comes next leads from 6 to 7"}));
    EXPECT_EQ(
        delta_of(4, 7, after),
        (heard{zeromq_news::loss, "frames are missing: here is 5, and what comes next leads from 4 to 7"}));
    EXPECT_EQ(delta_of(5, 8, after + 1), (heard{zeromq_news::loss, "frame 8 has another history here"}));

    EXPECT_EQ(delta_of(5, 8, after), (heard{zeromq_news::next, ""}));
    EXPECT_EQ(delta_of(5, 8, after), old);
    EXPECT_EQ(position_of(8, after), old);
    EXPECT_EQ(delta_of(8, 9, detail::history_after(after, delta)), (heard{zeromq_news::next, ""}));
    origin.forget();
    EXPECT_FALSE(origin.is_known());
}

} // namespace
} // namespace handlepool::test
