// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/time/little_endian.hpp>
#include <handlepool/time/frame_record.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// How records are written and read: see record_encoding.hpp, which has the format. What does not depend on
/// the type of the handles is in the library.
namespace handlepool::detail {

/// What comes before the lists, but for the mark and the format.
struct record_header {
    std::uint32_t widths = 0; // of the handles' layout, as widths_of_layout() has them
    bool cleared = false;
    bool reset = false;
    bool reordered = false;
    std::uint64_t frame = 0;
    std::uint64_t size = 0;
    std::uint64_t never_seen = 0;
    std::uint32_t born = 0; // so many
    std::uint32_t destroyed = 0;
    std::uint32_t moved = 0;
    std::uint32_t renamed = 0;
    std::uint32_t edited = 0;
};

/// Appends a record to bytes, for which there is memory from the beginning.
class HANDLEPOOL_EXPORT record_writer {
public:
    /// Writes the header. The lists follow by number(), as it has announced them. Throws std::bad_alloc; then
    /// nothing has changed.
    record_writer(std::vector<std::byte>& out, const record_header& header);

    template <std::unsigned_integral Number>
    void number(Number number) noexcept {
        for (const std::byte each : to_little_endian(number)) {
            *next_++ = each;
        }
    }

private:
    std::byte* next_;
};

/// Reads a record, which is all of the bytes, up to the first problem.
class HANDLEPOOL_EXPORT record_reader {
public:
    /// `problem` becomes what is wrong, if something is. Both outlive the reader.
    record_reader(std::span<const std::byte> bytes, std::string& problem) noexcept
        : bytes_(bytes), problem_(problem) {}

    /// Reads the header, in which the handles must have these widths. Returns false for a problem, else as
    /// many bytes follow as the lists need. Throws std::bad_alloc.
    bool read_header(std::uint32_t widths, record_header& header);

    /// The next number of the lists.
    template <std::unsigned_integral Number>
    Number number() noexcept {
        offset_ += sizeof(Number);
        return from_little_endian<Number>(bytes_.data() + offset_ - sizeof(Number));
    }

    /// Returns whether `holds`; else the problem is that of the bytes `back` before the next ones. Throws
    /// std::bad_alloc.
    bool accept(bool holds, std::size_t back, std::string_view problem) {
        if (!holds) {
            refuse(back, problem);
        }
        return holds;
    }
    /// Reads a position above the one before it; `least` is the lowest that is allowed, and becomes the next.
    /// Returns false for a problem. Throws std::bad_alloc.
    bool read_position(std::uint32_t& position, std::uint64_t& least) {
        position = number<std::uint32_t>();
        const bool ascends = position >= least;
        if (!ascends) {
            refuse_position(position, least);
        }
        least = std::uint64_t{position} + 1;
        return ascends;
    }

private:
    void refuse(std::size_t back, std::string_view problem);
    void refuse_position(std::uint32_t position, std::uint64_t least);

    std::span<const std::byte> bytes_;
    std::size_t offset_ = 0;
    std::string& problem_;
};

/// The widths of a layout, as the header has them.
template <class Layout>
constexpr std::uint32_t widths_of_layout() noexcept {
    return static_cast<std::uint32_t>(Layout::index_bits) |
           static_cast<std::uint32_t>(Layout::generation_bits) << 8 |
           static_cast<std::uint32_t>(Layout::pool_id_bits) << 16 |
           static_cast<std::uint32_t>(Layout::user_bits) << 24;
}

/// "32, 24, 8 and 0": the bits of index, generation, pool id and user. Throws std::bad_alloc.
HANDLEPOOL_EXPORT std::string text_of_widths(std::uint32_t widths);
/// What is wrong when handles with these widths are read here. Throws std::bad_alloc.
HANDLEPOOL_EXPORT std::string problem_of_widths(std::uint32_t there, std::uint32_t here);

/// Throws std::bad_alloc; then `out` is as it was.
template <class Handle>
void write_record(std::vector<std::byte>& out, const frame_record<Handle>& record) {
    const auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
    record_writer to(out, {.widths = widths_of_layout<typename Handle::layout>(),
                           .cleared = record.cleared,
                           .reset = record.reset,
                           .reordered = record.reordered,
                           .frame = record.frame,
                           .size = record.size,
                           .never_seen = record.never_seen,
                           .born = count(record.born),
                           .destroyed = count(record.destroyed),
                           .moved = count(record.moved),
                           .renamed = count(record.renamed),
                           .edited = count(record.edited)});
    const auto handle = [&to](Handle each) {
        to.number(std::uint64_t{Handle::layout::without_user(each.value())});
    };
    const auto placed = [&](const auto& list) {
        for (const auto& each : list) {
            handle(each.handle);
            to.number(each.position);
        }
    };
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
                       8, "this is no handle of an object, in the layout of the header");
}

/// Reads a list, by `read_one(element, least)`: see record_reader::read_position() for the second.
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
        return read_handle(from, each.handle) && from.read_position(each.position, least);
    });
}

template <class Moved>
bool read_moved(record_reader& from, std::size_t count, std::vector<Moved>& list) {
    return read_list(count, list, [&](Moved& each, std::uint64_t& least) {
        if (!read_handle(from, each.handle) || !from.read_position(each.from, least)) {
            return false;
        }
        each.to = from.number<std::uint32_t>();
        return from.accept(each.to != each.from, 4, "this is where the object was before");
    });
}

template <class Renamed>
bool read_renamed(record_reader& from, std::size_t count, std::vector<Renamed>& list) {
    return read_list(count, list, [&](Renamed& each, std::uint64_t& least) {
        return read_handle(from, each.before) && read_handle(from, each.after) &&
               from.accept(each.before.index() == each.after.index() && each.before != each.after, 8,
                           "this is no later handle of the same slot") &&
               from.read_position(each.position, least);
    });
}

/// Returns false for a problem. Throws std::bad_alloc. In both cases the record may have been read in part.
template <class Handle>
bool read_record(record_reader& from, frame_record<Handle>& record) {
    record_header header;
    if (!from.read_header(widths_of_layout<typename Handle::layout>(), header)) {
        return false;
    }
    record.frame = header.frame;
    record.never_seen = header.never_seen;
    record.size = header.size;
    record.cleared = header.cleared;
    record.reset = header.reset;
    record.reordered = header.reordered;
    return read_placed(from, header.born, record.born) &&
           read_placed(from, header.destroyed, record.destroyed) &&
           read_moved(from, header.moved, record.moved) &&
           read_renamed(from, header.renamed, record.renamed) &&
           read_placed(from, header.edited, record.edited);
}

} // namespace handlepool::detail
