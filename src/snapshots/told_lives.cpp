// SPDX-License-Identifier: MIT
#include "delta_frames.hpp"
#include "lives_format.hpp"
#include "read_entries.hpp"
#include "widest_limits.hpp"

#include <handlepool/detail/deltas/lives_writer.hpp>
#include <handlepool/detail/recorder/recorded_event.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/snapshots/told_lives.hpp>

namespace handlepool {

namespace {

using detail::block_reader;

std::string_view text_in(block_reader& from) {
    const auto bytes = from.bytes(from.number<std::uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Those of a block; number 0 is none.
class text_list {
public:
    explicit text_list(block_reader& from) {
        const auto count = from.number<std::uint32_t>();
        from.require_that(count <= from.left() / sizeof(std::uint32_t), sizeof count,
                          std::to_string(count) +
                              " texts are announced, for which there are not enough bytes");
        texts_.reserve(std::size_t{count} + 1);
        texts_.emplace_back();
        for (std::uint32_t i = 0; i != count; ++i) {
            texts_.push_back(text_in(from));
        }
    }

    std::string_view next(block_reader& from) const {
        const auto number = from.number<std::uint32_t>();
        from.require_that(number < texts_.size(), sizeof number,
                          "text " + std::to_string(number) + " is named; the last one is " +
                              std::to_string(texts_.size() - 1));
        return texts_[number];
    }

private:
    std::vector<std::string_view> texts_;
};

/// Of these events, if it is there.
std::optional<told_event> next_event(block_reader& from, const text_list& texts, life_event first,
                                     life_event last) {
    const auto how = from.number<std::uint32_t>();
    const auto event = static_cast<life_event>(how & 255);
    const bool is_there = (how & detail::told_is_there) != 0;
    from.require_that(
        (how & ~(detail::told_is_undone | detail::told_is_there)) < 256 &&
            (is_there ? event == life_event::none || (event >= first && event <= last) : how == 0),
        sizeof how,
        "event " + std::to_string(how) + " is unknown here; 0 is allowed, and 512 with 0 or " +
            std::to_string(static_cast<std::uint32_t>(first)) + " to " +
            std::to_string(static_cast<std::uint32_t>(last)) + ", and 256 more for one that was taken back");
    const told_event told{.event = event,
                          .frames_ago = from.number<std::uint32_t>(),
                          .thread = texts.next(from),
                          .task = texts.next(from),
                          .site = texts.next(from),
                          .is_undone = (how & detail::told_is_undone) != 0};
    from.require_that(is_there || told == told_event(), 16, "an event that is not there has something");
    return is_there ? std::optional(told) : std::nullopt;
}

told_lives read_part(const detail::snapshot_block& block) {
    block_reader from = detail::reader_of(block, detail::block_kind::lives, detail::lives_writer::version);
    const std::uint32_t widths = detail::read_any_widths(from);
    const unsigned index_bits = widths & 255;
    const unsigned generation_bits = widths >> 8 & 255;
    const unsigned naming_bits = index_bits + generation_bits + (widths >> 16 & 255);
    from.require_that(naming_bits <= 64, sizeof widths, "the handles have more than 64 bits");
    const auto low_bits = [](unsigned bits) { return ~std::uint64_t{0} >> (64 - bits); };
    told_lives told{
        .part = block.name, .handle_mask = low_bits(naming_bits), .pool_id = from.number<std::uint32_t>()};
    const auto flags = from.number<std::uint32_t>();
    from.require_that(flags <= 1, sizeof flags,
                      "flags " + std::to_string(flags) + " are unknown; known are 0 and 1");
    told.some_are_missing = flags != 0;
    told.pool = text_in(from);
    const text_list texts(from);
    const auto count = from.number<std::uint64_t>();
    from.require_that(count <= from.left() / detail::told_life_bytes, sizeof count,
                      std::to_string(count) + " lives are announced, for which there are not enough bytes");
    told.lives.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i != count; ++i) {
        const auto handle = from.number<std::uint64_t>();
        const std::uint64_t tag = handle >> (index_bits - 1) >> 1;
        from.require_that((handle & ~told.handle_mask) == 0 && tag % 2 != 0 &&
                              tag >> (generation_bits - 1) >> 1 == told.pool_id,
                          sizeof handle,
                          "handle " + std::to_string(handle) + " is none of an object of the pool");
        told.lives.push_back({.handle = handle,
                              .index = handle & low_bits(index_bits),
                              .generation = static_cast<std::uint32_t>(tag & low_bits(generation_bits)),
                              .beginning = next_event(from, texts, life_event::created, life_event::renamed),
                              .end = next_event(from, texts, life_event::erased, life_event::forgotten)});
    }
    from.require_end();
    return told;
}

} // namespace

std::string told_event::to_string() const {
    return std::string(handlepool::to_string(event)).append(detail::text_of_caller(thread, task, site));
}

std::vector<told_lives> read_lives(std::span<const std::byte> delta, std::string_view origin) {
    const detail::snapshot_blocks blocks = detail::blocks_of_delta(delta, origin);
    static_cast<void>(detail::read_frames(blocks)); // it is a delta
    std::vector<told_lives> told;
    for (const detail::snapshot_block& each : blocks.all()) {
        if (each.kind == detail::block_kind::lives) {
            told.push_back(read_part(each));
        }
    }
    return told;
}

} // namespace handlepool
