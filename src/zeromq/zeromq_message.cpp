// SPDX-License-Identifier: MIT
#include "zeromq_message.hpp"

#include <handlepool/detail/time/little_endian.hpp>

#include <algorithm>
#include <concepts>

namespace handlepool::detail {

namespace {

constexpr std::size_t format_at = zeromq_mark.size();
constexpr std::size_t kind_at = format_at + 4;
constexpr std::size_t origin_at = kind_at + 4;
constexpr std::size_t before_at = origin_at + 8;
constexpr std::size_t frame_at = before_at + 8;
constexpr std::size_t history_at = frame_at + 8;
static_assert(history_at + 8 == zeromq_header_size);

bool has_payload(zeromq_kind kind) noexcept {
    return kind == zeromq_kind::snapshot || kind == zeromq_kind::delta;
}

std::string names_of(std::initializer_list<zeromq_kind> kinds) {
    std::string names;
    for (const zeromq_kind each : kinds) {
        names += (names.empty() ? "" : " or ") + std::to_string(static_cast<std::uint32_t>(each));
    }
    return names;
}

std::string problem_of_size(std::size_t size) {
    return "it has " + std::to_string(size) + " bytes; the header alone has " +
           std::to_string(zeromq_header_size);
}

/// What is wrong with a header of a known kind, or nothing.
std::string problem_of(const zeromq_header& header, std::size_t payload) {
    if (header.kind == zeromq_kind::request &&
        (header.origin | header.before | header.frame | header.history) != 0) {
        return "it is a request, in which all that follows the kind is 0";
    }
    if (header.kind == zeromq_kind::delta && header.before >= header.frame) {
        return "the delta leads from frame " + std::to_string(header.before) + " to frame " +
               std::to_string(header.frame) + ", which does not come after it";
    }
    if (header.kind != zeromq_kind::delta && header.before != header.frame) {
        return "it is no delta, and has the frames " + std::to_string(header.before) + " and " +
               std::to_string(header.frame) + "; they must be the same";
    }
    if (has_payload(header.kind) != (payload != 0)) {
        return "there are " + std::to_string(payload) + " bytes behind the header; " +
               (has_payload(header.kind) ? "at least 1 is expected" : "none are expected");
    }
    return {};
}

} // namespace

std::array<std::byte, zeromq_header_size> bytes_of(const zeromq_header& header) noexcept {
    std::array<std::byte, zeromq_header_size> bytes{};
    const auto put = [&bytes](std::size_t at, std::unsigned_integral auto number) {
        std::ranges::copy(to_little_endian(number), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    };
    std::ranges::copy(std::as_bytes(std::span(zeromq_mark)), bytes.begin());
    put(format_at, zeromq_format);
    put(kind_at, static_cast<std::uint32_t>(header.kind));
    put(origin_at, header.origin);
    put(before_at, header.before);
    put(frame_at, header.frame);
    put(history_at, header.history);
    return bytes;
}

std::optional<zeromq_message> read_zeromq_message(std::span<const std::byte> bytes,
                                                  std::initializer_list<zeromq_kind> kinds,
                                                  std::string& problem) {
    if (bytes.size() < zeromq_header_size) {
        problem = problem_of_size(bytes.size());
        return std::nullopt;
    }
    if (!std::ranges::equal(bytes.first(zeromq_mark.size()), std::as_bytes(std::span(zeromq_mark)))) {
        problem = "it does not begin with '" + std::string(zeromq_mark) + "'";
        return std::nullopt;
    }
    if (const auto format = from_little_endian<std::uint32_t>(bytes.data() + format_at);
        format != zeromq_format) {
        problem =
            "it has the format " + std::to_string(format) + "; known is " + std::to_string(zeromq_format);
        return std::nullopt;
    }
    const auto kind = from_little_endian<std::uint32_t>(bytes.data() + kind_at);
    if (std::ranges::find(kinds, static_cast<zeromq_kind>(kind)) == kinds.end()) {
        problem = "it is of kind " + std::to_string(kind) + "; " + names_of(kinds) + " is expected";
        return std::nullopt;
    }
    const zeromq_header header{.kind = static_cast<zeromq_kind>(kind),
                               .origin = from_little_endian<std::uint64_t>(bytes.data() + origin_at),
                               .before = from_little_endian<std::uint64_t>(bytes.data() + before_at),
                               .frame = from_little_endian<std::uint64_t>(bytes.data() + frame_at),
                               .history = from_little_endian<std::uint64_t>(bytes.data() + history_at)};
    const auto payload = bytes.subspan(zeromq_header_size);
    problem = problem_of(header, payload.size());
    if (!problem.empty()) {
        return std::nullopt;
    }
    return zeromq_message{.header = header, .payload = payload};
}

} // namespace handlepool::detail
