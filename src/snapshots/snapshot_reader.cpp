// SPDX-License-Identifier: MIT
#include "../shared/refusal_text.hpp"
#include "snapshot_format.hpp"

#include <handlepool/detail/base/contract.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/memory/large_copy.hpp>
#include <handlepool/detail/snapshots/content_hash.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/text/text.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace handlepool::detail {

namespace {

/// A block without a name is none, or has none that could be read.
[[noreturn]] void throw_invalid(const snapshot_source& source, std::size_t offset, std::string_view block,
                                std::string_view problem) {
    std::string message = text_of(source) + ", byte " + std::to_string(offset);
    if (!block.empty()) {
        message += ", block '" + printable(block) + '\'';
    }
    message += ": ";
    message += problem;
    throw_exception(invalid_snapshot(message));
}

/// The hash of a payload, whose end is copied there.
std::uint64_t hash_and_copy(std::span<const std::byte> payload, std::span<std::byte> end) {
    expects(end.size() <= payload.size(), "?", "the end of a payload is larger than the payload");
    const auto before = payload.first(payload.size() - end.size());
    content_hash hash;
    hash.add(before);
    copy_past_caches(end.data(), payload.subspan(before.size()),
                     [&hash](std::span<const std::byte> piece) { hash.add(piece); });
    return hash.value();
}

} // namespace

std::string text_of(const snapshot_source& source) {
    return std::string(source.kind) + " '" + printable(source.origin) + '\'';
}

/// Goes over a snapshot, block by block.
class snapshot_blocks::scan {
public:
    scan(std::span<const std::byte> bytes, const snapshot_source& source, const room_for_end& room) noexcept
        : bytes_(bytes), source_(source), room_(room) {}

    void read_file_header();
    /// The next block, of whose name nothing is known yet. `before` come before it.
    snapshot_block read_block();
    void read_end(const snapshot_block& end, std::size_t before);
    [[noreturn]] void refuse_repeated(std::string_view name) const {
        refuse(header_ + block_header_bytes, name, "a block before it has this name; each needs its own");
    }

private:
    std::size_t left() const noexcept { return bytes_.size() - next_; }
    template <std::unsigned_integral Number>
    Number number_at(std::size_t offset) const noexcept {
        return from_little_endian<Number>(bytes_.data() + offset);
    }
    std::string_view read_name();
    void read_payload_size(std::uint64_t size, std::string_view name) const;
    void read_padding(std::uint64_t size, std::string_view name);
    [[noreturn]] void refuse(std::size_t offset, std::string_view block, std::string_view problem) const {
        throw_invalid(source_, offset, block, problem);
    }

    std::span<const std::byte> bytes_;
    snapshot_source source_;
    const room_for_end& room_;
    std::size_t next_ = 0;
    std::size_t header_ = 0; // of the block
};

void snapshot_blocks::scan::read_file_header() {
    const auto mark = bytes_.first((std::min)(bytes_.size(), snapshot_mark.size()));
    if (!std::ranges::equal(mark, std::as_bytes(std::span(snapshot_mark)))) {
        refuse(0, "", "this is no " + std::string(source_.kind) + "; \"hp world\" is expected");
    }
    if (bytes_.size() < file_header_bytes) {
        refuse(0, "",
               "the header of the file is cut off: 16 bytes are expected, and " +
                   counted(bytes_.size(), "byte", "there"));
    }
    if (const auto format = number_at<std::uint32_t>(8); format != snapshot_format) {
        refuse(8, "", "format " + std::to_string(format) + " is unknown; known is 1");
    }
    if (const auto zero = number_at<std::uint32_t>(12); zero != 0) {
        refuse(12, "", "0 is expected, and " + std::to_string(zero) + " is there");
    }
    next_ = file_header_bytes;
}

snapshot_block snapshot_blocks::scan::read_block() {
    const std::string_view name = read_name();
    const auto size = number_at<std::uint64_t>(header_);
    const auto kind = number_at<std::uint32_t>(header_ + 8);
    if (kind > static_cast<std::uint32_t>(block_kind::lives)) {
        refuse(header_ + 8, name, "kind " + std::to_string(kind) + " is unknown; known are 0 to 6");
    }
    if (const auto zero = number_at<std::uint32_t>(header_ + 20); zero != 0) {
        refuse(header_ + 20, name, "0 is expected, and " + std::to_string(zero) + " is there");
    }
    read_padding(name.size(), name);
    read_payload_size(size, name);
    const snapshot_block block{.kind = static_cast<block_kind>(kind),
                               .version = number_at<std::uint32_t>(header_ + 12),
                               .name = name,
                               .payload = bytes_.subspan(next_, static_cast<std::size_t>(size)),
                               .offset = next_,
                               .source = source_};
    next_ += block.payload.size();
    read_padding(size, name);
    const auto hash = number_at<std::uint64_t>(next_);
    const auto room = room_ ? room_(block) : std::span<std::byte>();
    const std::uint64_t expected =
        room.empty() ? content_hash_of(block.payload) : hash_and_copy(block.payload, room);
    if (hash != expected) {
        refuse(next_, name,
               "the payload is damaged: its hash is " + text_of_hash(expected) + ", and " +
                   text_of_hash(hash) + " is expected");
    }
    next_ += hash_bytes;
    return block;
}

/// And of the header, that it is as it was written: no other number is looked at before.
std::string_view snapshot_blocks::scan::read_name() {
    header_ = next_;
    if (left() < block_header_bytes) {
        refuse(header_, "",
               "the header of a block is expected, which has 32 bytes, and " +
                   counted(left(), "byte", "there"));
    }
    next_ += block_header_bytes;
    const auto size = number_at<std::uint32_t>(header_ + 16);
    if (size == 0 || size > most_name_bytes) {
        refuse(header_ + 16, "",
               "a name of 1 to 255 bytes is expected, and " + counted(size, "byte", "announced"));
    }
    if (left() < size + padding_of(size)) {
        refuse(next_, "",
               "the name is cut off: " +
                   counted(size + padding_of(size), "byte", "expected with its padding, and ") +
                   counted(left(), "byte", "there"));
    }
    const std::string_view name(reinterpret_cast<const char*>(bytes_.data()) + next_, size);
    const auto hash = number_at<std::uint64_t>(header_ + block_header_hashed);
    const std::uint64_t expected =
        hash_of_header(bytes_.subspan(header_, block_header_hashed).first<block_header_hashed>(), name);
    if (hash != expected) {
        refuse(header_, "",
               "the header of a block is damaged: its hash is " + text_of_hash(expected) + ", and " +
                   text_of_hash(hash) + " is expected");
    }
    if (const auto problem = problem_of_name(name)) {
        refuse(next_, name, *problem);
    }
    next_ += size;
    return name;
}

/// That all of it is there, and what comes behind it.
void snapshot_blocks::scan::read_payload_size(std::uint64_t size, std::string_view name) const {
    const std::size_t behind = padding_of(size) + hash_bytes;
    if (left() < behind || size > left() - behind) {
        refuse(header_, name,
               "the payload is cut off: " + counted(size, "byte", "expected, ") + std::to_string(behind) +
                   " behind it, and " + counted(left(), "byte", "there"));
    }
}

/// What comes behind so many bytes.
void snapshot_blocks::scan::read_padding(std::uint64_t size, std::string_view name) {
    for (const std::size_t end = next_ + padding_of(size); next_ != end; ++next_) {
        if (bytes_[next_] != std::byte{0}) {
            refuse(next_, name,
                   "0 is expected, and " + std::to_string(std::to_integer<unsigned>(bytes_[next_])) +
                       " is there");
        }
    }
}

void snapshot_blocks::scan::read_end(const snapshot_block& end, std::size_t before) {
    if (end.name != end_name) {
        refuse(header_ + block_header_bytes, end.name, "the last block has this name; \"end\" is expected");
    }
    if (end.version != end_version) {
        refuse(header_ + 12, end.name, "version " + std::to_string(end.version) + " is unknown; known is 1");
    }
    if (end.payload.size() != end_bytes) {
        refuse(header_, end.name,
               "8 bytes are expected, and " + counted(end.payload.size(), "byte", "announced"));
    }
    if (const auto count = number_at<std::uint64_t>(end.offset); count != before) {
        refuse(end.offset, end.name,
               counted(count, "block", "expected before the last one, and ") +
                   counted(before, "block", "there"));
    }
    if (left() != 0) {
        refuse(next_, "",
               "nothing is expected behind the last block, and " + counted(left(), "byte", "there"));
    }
}

snapshot_blocks::snapshot_blocks(std::span<const std::byte> bytes, const snapshot_source& source,
                                 const room_for_end& room)
    : source_(source) {
    scan from(bytes, source, room);
    from.read_file_header();
    for (;;) {
        const snapshot_block block = from.read_block();
        if (block.kind == block_kind::end) {
            from.read_end(block, blocks_.size());
            return;
        }
        if (!by_name_.emplace(block.name, blocks_.size()).second) {
            from.refuse_repeated(block.name);
        }
        blocks_.push_back(block);
    }
}

const snapshot_block* snapshot_blocks::find(std::string_view name) const noexcept {
    const auto found = by_name_.find(name);
    return found != by_name_.end() ? &blocks_[found->second] : nullptr;
}

void block_reader::numbers(std::uint64_t count, std::vector<std::uint32_t>& out) {
    require_left(count, sizeof(std::uint32_t));
    out.resize(static_cast<std::size_t>(count)); // no more than there are bytes
    const auto from = bytes(count * sizeof(std::uint32_t));
    if constexpr (std::endian::native == std::endian::little) {
        if (!from.empty()) {
            std::memcpy(out.data(), from.data(), from.size());
        }
    } else {
        for (std::size_t i = 0; i != out.size(); ++i) {
            out[i] = from_little_endian<std::uint32_t>(from.data() + i * sizeof(std::uint32_t));
        }
    }
}

void block_reader::numbers(std::uint64_t count, number_list& out) {
    require_left(count, sizeof(std::uint32_t));
    const std::byte* const first = block_.payload.data() + position_;
    if (std::endian::native != std::endian::little ||
        reinterpret_cast<std::uintptr_t>(first) % alignof(std::uint32_t) != 0) {
        numbers(count, out.own());
        return;
    }
    out.refer_to({reinterpret_cast<const std::uint32_t*>(first), static_cast<std::size_t>(count)});
    bytes(count * sizeof(std::uint32_t));
}

void block_reader::refuse(std::size_t back, std::string_view problem) const {
    throw_invalid(block_.source, block_.offset + position_ - back, block_.name, problem);
}

void block_reader::refuse_size(std::uint64_t count, std::size_t size_of_each) const {
    const std::string_view what = size_of_each == 1 ? "byte" : "number";
    refuse(0, "the payload ends early: " + counted(count, what, "expected, and ") +
                  counted(left(), "byte", "there"));
}

void block_reader::require_end() const {
    if (left() != 0) {
        refuse(0, "the payload is expected to end, and " + counted(left(), "byte", "there"));
    }
}

} // namespace handlepool::detail
