// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/time/frame_record.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// How records are written and read: see record_encoding.hpp, which has the format.
namespace handlepool::detail {

inline constexpr std::string_view record_mark = "hp frame";
inline constexpr std::uint32_t record_format = 1;
inline constexpr std::size_t record_header_bytes = 8 + 4 + 4 + 4 + 3 * 8 + 5 * 4;
inline constexpr std::size_t placed_bytes = 8 + 4;
inline constexpr std::size_t moved_bytes = 8 + 4 + 4;
inline constexpr std::size_t renamed_bytes = 8 + 8 + 4;

enum record_flag : std::uint32_t { record_cleared = 1, record_reset = 2, record_reordered = 4 };

/// Appends numbers to bytes, for which there is memory from the beginning.
class record_writer {
public:
    /// Throws std::bad_alloc.
    record_writer(std::vector<std::byte>& out, std::size_t bytes) : out_(out) {
        out.reserve(out.size() + bytes);
    }

    void text(std::string_view text) {
        for (const char each : text) {
            out_.push_back(static_cast<std::byte>(each));
        }
    }
    template <std::unsigned_integral Number>
    void number(Number number) {
        for (std::size_t i = 0; i != sizeof(Number); ++i) {
            out_.push_back(static_cast<std::byte>(number >> (8 * i)));
        }
    }

private:
    std::vector<std::byte>& out_;
};

/// Reads numbers, as long as there are any, and remembers the first problem.
class record_reader {
public:
    explicit record_reader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

    std::size_t left() const noexcept { return bytes_.size() - offset_; }

    /// The next number, or zero: what reads it has looked whether so many bytes are left.
    template <std::unsigned_integral Number>
    Number number() noexcept {
        Number number = 0;
        for (std::size_t i = 0; i != sizeof(Number) && offset_ != bytes_.size(); ++i) {
            number = static_cast<Number>(
                number | static_cast<Number>(std::to_integer<Number>(bytes_[offset_++]) << (8 * i)));
        }
        return number;
    }
    bool text(std::string_view expected) noexcept {
        for (const char each : expected) {
            if (offset_ == bytes_.size() || bytes_[offset_] != static_cast<std::byte>(each)) {
                return false;
            }
            ++offset_;
        }
        return true;
    }

    /// Returns whether `holds`; else the problem is that of the bytes `back` before the next ones.
    template <class Text>
    bool accept(bool holds, std::size_t back, Text problem) {
        if (!holds && problem_.empty()) {
            problem_ = "record, byte " + std::to_string(offset_ - back) + ": " + problem();
        }
        return holds;
    }
    const std::string& problem() const noexcept { return problem_; }

private:
    std::span<const std::byte> bytes_;
    std::size_t offset_ = 0;
    std::string problem_;
};

/// The widths of a layout, as the header has them.
template <class Layout>
constexpr std::uint32_t widths_of_layout() noexcept {
    return static_cast<std::uint32_t>(Layout::index_bits) |
           static_cast<std::uint32_t>(Layout::generation_bits) << 8 |
           static_cast<std::uint32_t>(Layout::pool_id_bits) << 16 |
           static_cast<std::uint32_t>(Layout::user_bits) << 24;
}
inline std::string text_of_widths(std::uint32_t widths) {
    return std::to_string(widths & 255) + ", " + std::to_string(widths >> 8 & 255) + ", " +
           std::to_string(widths >> 16 & 255) + " and " + std::to_string(widths >> 24);
}

template <class Handle>
std::size_t bytes_of_record(const frame_record<Handle>& record) noexcept {
    return record_header_bytes +
           placed_bytes * (record.born.size() + record.destroyed.size() + record.edited.size()) +
           moved_bytes * record.moved.size() + renamed_bytes * record.renamed.size();
}

template <class Handle>
void write_record(record_writer& to, const frame_record<Handle>& record) {
    const auto count = [&to](const auto& list) { to.number(static_cast<std::uint32_t>(list.size())); };
    const auto handle = [&to](Handle each) {
        to.number(std::uint64_t{Handle::layout::without_user(each.value())});
    };
    const auto placed = [&](const auto& list) {
        for (const auto& each : list) {
            handle(each.handle);
            to.number(each.position);
        }
    };
    to.text(record_mark);
    to.number(record_format);
    to.number(widths_of_layout<typename Handle::layout>());
    to.number((record.cleared ? std::uint32_t{record_cleared} : 0) |
              (record.reset ? std::uint32_t{record_reset} : 0) |
              (record.reordered ? std::uint32_t{record_reordered} : 0));
    to.number(record.frame);
    to.number(std::uint64_t{record.size});
    to.number(std::uint64_t{record.never_seen});
    count(record.born);
    count(record.destroyed);
    count(record.moved);
    count(record.renamed);
    count(record.edited);
    placed(record.born);
    placed(record.destroyed);
    for (const auto& each : record.moved) {
        handle(each.handle);
        to.number(each.from);
        to.number(each.to);
    }
    for (const auto& each : record.renamed) {
        handle(each.before);
        handle(each.after);
        to.number(each.position);
    }
    placed(record.edited);
}

/// Reads a handle that can be alive.
template <class Handle>
bool read_handle(record_reader& from, Handle& handle) {
    using layout = typename Handle::layout;
    const auto value = from.number<std::uint64_t>();
    const bool fits = value <= (std::numeric_limits<typename Handle::value_type>::max)();
    handle = Handle::from_value(static_cast<typename Handle::value_type>(value));
    return from.accept(fits && layout::fits(handle.value()) && layout::can_be_alive(handle.tag()) &&
                           layout::without_user(handle.value()) == handle.value(),
                       8, [] { return "this is no handle of an object, in the layout of the header"; });
}

/// Reads a position above the one before it; `least` is the lowest that is allowed, and becomes the next.
inline bool read_position(record_reader& from, std::uint32_t& position, std::uint64_t& least) {
    position = from.number<std::uint32_t>();
    const std::uint64_t lowest = least;
    least = std::uint64_t{position} + 1;
    return from.accept(position >= lowest, 4, [&] {
        return "position " + std::to_string(position) + " does not come after position " +
               std::to_string(lowest - 1) + " before it";
    });
}

/// Reads a list, by `read_one(element, least)`: see read_position() for the second.
template <class Element, class ReadOne>
bool read_list(std::size_t count, std::vector<Element>& list, ReadOne read_one) {
    std::uint64_t least = 0;
    list.resize(count);
    for (Element& each : list) {
        if (!read_one(each, least)) {
            return false;
        }
    }
    return true;
}

template <class Placed>
bool read_placed(record_reader& from, std::size_t count, std::vector<Placed>& list) {
    return read_list(count, list, [&](Placed& each, std::uint64_t& least) {
        return read_handle(from, each.handle) && read_position(from, each.position, least);
    });
}

template <class Moved>
bool read_moved(record_reader& from, std::size_t count, std::vector<Moved>& list) {
    return read_list(count, list, [&](Moved& each, std::uint64_t& least) {
        if (!read_handle(from, each.handle) || !read_position(from, each.from, least)) {
            return false;
        }
        each.to = from.number<std::uint32_t>();
        return from.accept(each.to != each.from, 4, [] { return "this is where the object was before"; });
    });
}

template <class Renamed>
bool read_renamed(record_reader& from, std::size_t count, std::vector<Renamed>& list) {
    return read_list(count, list, [&](Renamed& each, std::uint64_t& least) {
        return read_handle(from, each.before) && read_handle(from, each.after) &&
               from.accept(each.before.index() == each.after.index() && each.before != each.after, 8,
                           [] { return "this is no later handle of the same slot"; }) &&
               read_position(from, each.position, least);
    });
}

/// Reads the header, but for the counts.
template <class Handle>
bool read_record_head(record_reader& from, frame_record<Handle>& record) {
    constexpr std::uint32_t widths = widths_of_layout<typename Handle::layout>();
    if (!from.accept(from.text(record_mark), 0, [] { return "\"hp frame\" is expected"; }) ||
        !from.accept(from.left() >= record_header_bytes - record_mark.size(), 0,
                     [] { return "the header ends early"; })) {
        return false;
    }
    const auto format = from.number<std::uint32_t>();
    if (!from.accept(format == record_format, 4,
                     [&] { return "format " + std::to_string(format) + " is unknown; known is 1"; })) {
        return false;
    }
    const auto found = from.number<std::uint32_t>();
    if (!from.accept(found == widths, 4, [&] {
            return "the handles have " + text_of_widths(found) +
                   " bits for index, generation, pool id and user; here they have " + text_of_widths(widths);
        })) {
        return false;
    }
    const auto flags = from.number<std::uint32_t>();
    record.cleared = (flags & record_cleared) != 0;
    record.reset = (flags & record_reset) != 0;
    record.reordered = (flags & record_reordered) != 0;
    record.frame = from.number<std::uint64_t>();
    record.size = static_cast<std::size_t>(from.number<std::uint64_t>());
    record.never_seen = static_cast<std::size_t>(from.number<std::uint64_t>());
    return from.accept(flags <= (record_cleared | record_reset | record_reordered), 28,
                       [] { return "these flags are unknown; known are 1, 2 and 4"; });
}

template <class Handle>
bool read_record(record_reader& from, frame_record<Handle>& record) {
    if (!read_record_head(from, record)) {
        return false;
    }
    std::array<std::uint32_t, 5> counts{};
    for (std::uint32_t& each : counts) {
        each = from.number<std::uint32_t>();
    }
    // Before anything is allocated.
    const std::uint64_t expected = placed_bytes * (std::uint64_t{counts[0]} + counts[1] + counts[4]) +
                                   std::uint64_t{moved_bytes} * counts[2] +
                                   std::uint64_t{renamed_bytes} * counts[3];
    return from.accept(from.left() == expected, 20,
                       [&] {
                           return "lists of so many take " + std::to_string(expected) + " bytes, and " +
                                  std::to_string(from.left()) + " are there";
                       }) &&
           read_placed(from, counts[0], record.born) && read_placed(from, counts[1], record.destroyed) &&
           read_moved(from, counts[2], record.moved) && read_renamed(from, counts[3], record.renamed) &&
           read_placed(from, counts[4], record.edited);
}

} // namespace handlepool::detail
