// SPDX-License-Identifier: MIT
#include "delta_frames.hpp"
#include "read_entries.hpp"
#include "widest_limits.hpp"

#include <handlepool/detail/deltas/lives_writer.hpp>
#include <handlepool/detail/recorder/recorded_event.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/snapshots/lives_reader.hpp>

#include <deque>
#include <utility>

namespace handlepool {

namespace {

using detail::block_reader;

constexpr std::uint32_t undone_bit = 256;
constexpr std::uint64_t life_bytes = 8 + 2 * 5 * 4;

std::string_view text_in(block_reader& from) {
    const auto bytes = from.bytes(from.number<std::uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace

std::string told_event::to_string() const {
    return std::string(handlepool::to_string(event)).append(detail::text_of_caller(thread, task, site));
}

/// Of a part, which a recorder's deltas tell one after the other. Number 0 is none.
struct lives_reader::known_texts {
    std::string pool;
    std::deque<std::string> all{std::string()}; // which stay where they are

    /// Those that the block tells, behind the ones that earlier deltas have told; of such as were not read,
    /// nothing is known.
    void read(block_reader& from, std::uint32_t told_before, std::uint32_t count) {
        all.resize(std::size_t{told_before} + 1);
        for (std::uint32_t i = 0; i != count; ++i) {
            all.emplace_back(text_in(from));
        }
    }
    std::string_view next(block_reader& from) const {
        const auto number = from.number<std::uint32_t>();
        from.require_that(number < all.size(), sizeof number,
                          "text " + std::to_string(number) + " is named; there are " +
                              std::to_string(all.size() - 1));
        return all[number];
    }
    std::optional<told_event> next_event(block_reader& from) const {
        const auto how = from.number<std::uint32_t>();
        const std::uint32_t event = how & ~undone_bit;
        from.require_that(event <= static_cast<std::uint32_t>(life_event::forgotten), sizeof how,
                          "event " + std::to_string(how) +
                              " is unknown; known are 0 to 11, with 256 for one "
                              "that was taken back");
        const told_event told{.event = static_cast<life_event>(event),
                              .frames_ago = from.number<std::uint32_t>(),
                              .thread = next(from),
                              .task = next(from),
                              .site = next(from),
                              .is_undone = (how & undone_bit) != 0};
        return told.event == life_event::none ? std::nullopt : std::optional(told);
    }
};

lives_reader::lives_reader() = default;
lives_reader::~lives_reader() = default;

told_lives lives_reader::read_part(const detail::snapshot_block& block) {
    block_reader from = detail::reader_of(block, detail::block_kind::lives, detail::lives_writer::version);
    const std::uint32_t widths = detail::read_any_widths(from);
    const unsigned index_bits = widths & 255;
    const unsigned naming_bits = index_bits + (widths >> 8 & 255) + (widths >> 16 & 255);
    from.require_that(naming_bits <= 64, sizeof widths, "the handles have more than 64 bits");
    const auto low_bits = [](unsigned bits) { return ~std::uint64_t{0} >> (64 - bits); };
    told_lives told{.part = block.name,
                    .handle_mask = low_bits(naming_bits),
                    .pool_id = from.number<std::uint32_t>(),
                    .some_are_missing = from.number<std::uint32_t>() != 0};
    const auto told_before = from.number<std::uint32_t>();
    const auto new_texts = from.number<std::uint32_t>();
    const auto count = from.number<std::uint64_t>();
    from.require_that(count <= from.left() / life_bytes, sizeof count,
                      std::to_string(count) + " lives are announced, for which there are not enough bytes");
    std::unique_ptr<known_texts>& texts = texts_[std::string(block.name)];
    if (!texts) {
        texts = std::make_unique<known_texts>();
    }
    texts->pool = text_in(from);
    told.pool = texts->pool;
    texts->read(from, told_before, new_texts);
    told.lives.reserve(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i != count; ++i) {
        const auto handle = from.number<std::uint64_t>();
        told.lives.push_back(
            {.handle = handle,
             .index = handle & low_bits(index_bits),
             .generation = static_cast<std::uint32_t>(handle >> index_bits & low_bits(widths >> 8 & 255)),
             .beginning = texts->next_event(from),
             .end = texts->next_event(from)});
    }
    from.require_end();
    return told;
}

const std::vector<told_lives>& lives_reader::read(std::span<const std::byte> delta, std::string_view origin) {
    read_.clear();
    const detail::snapshot_blocks blocks = detail::blocks_of_delta(delta, origin);
    static_cast<void>(detail::read_frames(blocks));
    for (const detail::snapshot_block& each : blocks.all()) {
        if (each.kind == detail::block_kind::lives) {
            read_.push_back(read_part(each));
        }
    }
    return read_;
}

} // namespace handlepool
