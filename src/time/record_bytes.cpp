// SPDX-License-Identifier: MIT
#include <handlepool/detail/time/record_bytes.hpp>

namespace handlepool::detail {

namespace {

constexpr std::string_view record_mark = "hp frame";
constexpr std::uint32_t record_format = 1;
constexpr std::size_t header_bytes = 8 + 4 + 4 + 4 + 3 * 8 + 5 * 4;
constexpr std::uint64_t placed_bytes = 8 + 4;
constexpr std::uint64_t moved_bytes = 8 + 4 + 4;
constexpr std::uint64_t renamed_bytes = 8 + 8 + 4;

enum record_flag : std::uint32_t { record_cleared = 1, record_reset = 2, record_reordered = 4 };

std::uint64_t bytes_of_lists(const record_header& header) noexcept {
    return placed_bytes * (std::uint64_t{header.born} + header.destroyed + header.edited) +
           moved_bytes * header.moved + renamed_bytes * header.renamed;
}

bool begins_with_mark(std::span<const std::byte> bytes) noexcept {
    return bytes.size() >= record_mark.size() &&
           std::string_view(reinterpret_cast<const char*>(bytes.data()), record_mark.size()) == record_mark;
}

} // namespace

std::string text_of_widths(std::uint32_t widths) {
    return std::to_string(widths & 255) + ", " + std::to_string(widths >> 8 & 255) + ", " +
           std::to_string(widths >> 16 & 255) + " and " + std::to_string(widths >> 24);
}

std::string problem_of_widths(std::uint32_t there, std::uint32_t here) {
    return "the handles have " + text_of_widths(there) +
           " bits for index, generation, pool id and user; here they have " + text_of_widths(here);
}

record_writer::record_writer(std::vector<std::byte>& out, const record_header& header) {
    const std::size_t before = out.size();
    out.resize(before + header_bytes + static_cast<std::size_t>(bytes_of_lists(header)));
    next_ = out.data() + before;
    for (const char each : record_mark) {
        *next_++ = static_cast<std::byte>(each);
    }
    number(record_format);
    number(header.widths);
    number((header.cleared ? std::uint32_t{record_cleared} : 0) |
           (header.reset ? std::uint32_t{record_reset} : 0) |
           (header.reordered ? std::uint32_t{record_reordered} : 0));
    number(header.frame);
    number(header.size);
    number(header.never_seen);
    number(header.born);
    number(header.destroyed);
    number(header.moved);
    number(header.renamed);
    number(header.edited);
}

bool record_reader::read_header(std::uint32_t widths, record_header& header) {
    if (!accept(begins_with_mark(bytes_), 0, "\"hp frame\" is expected")) {
        return false;
    }
    offset_ = record_mark.size();
    if (!accept(bytes_.size() >= header_bytes, 0, "the header ends early")) {
        return false;
    }
    const auto format = number<std::uint32_t>();
    if (format != record_format) {
        refuse(4, "format " + std::to_string(format) + " is unknown; known is 1");
        return false;
    }
    header.widths = number<std::uint32_t>();
    if (header.widths != widths) {
        refuse(4, problem_of_widths(header.widths, widths));
        return false;
    }
    const auto flags = number<std::uint32_t>();
    if (!accept(flags <= (record_cleared | record_reset | record_reordered), 4,
                "these flags are unknown; known are 1, 2 and 4")) {
        return false;
    }
    header.cleared = (flags & record_cleared) != 0;
    header.reset = (flags & record_reset) != 0;
    header.reordered = (flags & record_reordered) != 0;
    header.frame = number<std::uint64_t>();
    header.size = number<std::uint64_t>();
    header.never_seen = number<std::uint64_t>();
    header.born = number<std::uint32_t>();
    header.destroyed = number<std::uint32_t>();
    header.moved = number<std::uint32_t>();
    header.renamed = number<std::uint32_t>();
    header.edited = number<std::uint32_t>();
    // Before anything is allocated.
    const std::uint64_t expected = bytes_of_lists(header);
    const std::size_t left = bytes_.size() - offset_;
    if (left != expected) {
        refuse(20, "lists of so many take " + std::to_string(expected) + " bytes, and " +
                       std::to_string(left) + " are there");
        return false;
    }
    return true;
}

void record_reader::refuse(std::size_t back, std::string_view problem) {
    problem_ = "record, byte " + std::to_string(offset_ - back) + ": ";
    problem_ += problem;
}

void record_reader::refuse_position(std::uint32_t position, std::uint64_t least) {
    refuse(4, "position " + std::to_string(position) + " does not come after position " +
                  std::to_string(least - 1) + " before it");
}

} // namespace handlepool::detail
