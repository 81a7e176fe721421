// SPDX-License-Identifier: MIT
#include "snapshot_format.hpp"

#include <handlepool/detail/base/contract.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/memory/large_copy.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/detail/time/little_endian.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <stdexcept>

namespace handlepool::detail {

namespace {

// What was written is hashed while the processor's cache has it.
constexpr std::size_t hashed_at_once = std::size_t{1} << 16;

} // namespace

void hash_payloads(std::span<std::byte> snapshot) noexcept {
    for (std::size_t at = file_header_bytes; at != snapshot.size();) {
        const auto payload_size = from_little_endian<std::uint64_t>(&snapshot[at]);
        const auto name_size = from_little_endian<std::uint32_t>(&snapshot[at + name_size_at]);
        at += block_header_bytes + name_size + padding_of(name_size);
        const auto payload = snapshot.subspan(at, static_cast<std::size_t>(payload_size));
        at += payload.size() + padding_of(payload_size);
        std::ranges::copy(to_little_endian(content_hash_of(payload)),
                          snapshot.begin() + static_cast<std::ptrdiff_t>(at));
        at += hash_bytes;
    }
}

snapshot_writer::snapshot_writer(std::vector<std::byte>& out, former_bytes former, payload_hashes hashes)
    : rollback_{out, former == former_bytes::stay ? out.size() : 0},
      out_(out),
      hashes_(hashes),
      next_(rollback_.stay) {
    make_room(0, file_header_bytes);
    append(snapshot_mark);
    append(snapshot_format);
    append(std::uint32_t{0});
}

snapshot_writer::~snapshot_writer() = default;

void snapshot_writer::begin_block(block_kind kind, std::uint32_t version, std::string_view name,
                                  std::uint64_t payload_size) {
    expects(kind != block_kind::end, name, "a block of a snapshot is begun that only finish() writes");
    if (const auto problem = problem_of_name(name)) {
        throw_exception(std::invalid_argument("snapshot, block '" + printable(name) + "': " + *problem));
    }
    if (names_.contains(name)) {
        throw_exception(std::invalid_argument("snapshot, block '" + printable(name) +
                                              "': a block has this name already; each needs its own"));
    }
    make_room(payload_size, block_header_bytes + name.size() + padding_of(name.size()) +
                                padding_of(payload_size) + hash_bytes);
    names_.emplace(name);
    append_header(kind, version, name, payload_size);
}

void snapshot_writer::bytes(const void* data, std::size_t size) {
    expects(next_ + size <= end_, "?", "a block of a snapshot is given more than was announced");
    const std::span added(static_cast<const std::byte*>(data), size);
    if (size < hashed_at_once) {
        put(added);
        if (next_ - hashed_ >= hashed_at_once) {
            hash_up_to_here();
        }
        return;
    }
    hash_up_to_here();
    const std::size_t over = (std::min)(size, out_.size() - next_);
    put_payload_over(added.first(over));
    const auto behind = added.subspan(over);
    hash(behind); // where it is, so that it can be copied as a whole
    put(behind);
    hashed_ = next_;
}

void snapshot_writer::numbers(std::span<const std::uint32_t> numbers) {
    if constexpr (std::endian::native == std::endian::little) {
        bytes(numbers.data(), numbers.size_bytes());
    } else {
        for (const std::uint32_t each : numbers) {
            number(each);
        }
    }
}

void snapshot_writer::end_block() {
    expects(end_ != 0 && next_ == end_, "?",
            "a block of a snapshot ends with another size than was announced");
    hash_up_to_here();
    append_padding(end_ - payload_);
    append(hashes_ == payload_hashes::at_once ? hash_.value() : std::uint64_t{0});
    end_ = 0;
}

void snapshot_writer::finish() {
    make_room(end_bytes, block_header_bytes + end_name.size() + padding_of(end_name.size()) + hash_bytes);
    append_header(block_kind::end, end_version, end_name, end_bytes);
    number(std::uint64_t{names_.size()});
    end_block();
    out_.resize(next_); // what was not replaced is no part of it
    rollback_.finished = true;
}

/// Of memory. Many small blocks don't copy all that was written, each time.
void snapshot_writer::make_room(std::uint64_t payload, std::size_t around) {
    if (payload > out_.max_size() - next_ - around) {
        throw_exception(std::bad_alloc());
    }
    const std::size_t needed = next_ + around + static_cast<std::size_t>(payload);
    if (needed > out_.capacity()) {
        const std::size_t capacity = out_.capacity();
        out_.resize(next_); // what is still to be replaced need not be copied
        out_.reserve((std::max)(needed, (std::min)(capacity + capacity / 2, out_.max_size())));
    }
}

/// Over what is there, and behind it.
void snapshot_writer::put(std::span<const std::byte> added) {
    const auto over = added.first((std::min)(added.size(), out_.size() - next_));
    std::ranges::copy(over, out_.begin() + static_cast<std::ptrdiff_t>(next_));
    out_.insert(out_.end(), added.begin() + static_cast<std::ptrdiff_t>(over.size()), added.end());
    next_ += added.size();
}

/// A part of a payload, hashed while the processor's cache has it.
void snapshot_writer::put_payload_over(std::span<const std::byte> added) {
    std::byte* to = out_.data() + next_;
    next_ += added.size();
    if (end_ - payload_ >= too_much_for_caches) {
        if (hashes_ == payload_hashes::at_once) {
            copy_past_caches(to, added, [this](std::span<const std::byte> piece) { hash_.add(piece); });
        } else {
            copy_past_caches(to, added);
        }
        return;
    }
    while (!added.empty()) {
        const auto piece = added.first((std::min)(added.size(), hashed_at_once));
        hash(piece);
        to = std::ranges::copy(piece, to).out;
        added = added.subspan(piece.size());
    }
}

template <std::unsigned_integral Number>
void snapshot_writer::append(Number number) {
    put(to_little_endian(number));
}

void snapshot_writer::append(std::string_view text) {
    put(std::as_bytes(std::span(text)));
}

void snapshot_writer::append_padding(std::uint64_t size) {
    constexpr std::array<std::byte, 8> zeros{};
    put(std::span(zeros).first(padding_of(size)));
}

void snapshot_writer::append_header(block_kind kind, std::uint32_t version, std::string_view name,
                                    std::uint64_t payload_size) {
    expects(end_ == 0, name, "a block of a snapshot is begun before the one before it has ended");
    const std::size_t header = next_;
    append(payload_size);
    append(static_cast<std::uint32_t>(kind));
    append(version);
    append(static_cast<std::uint32_t>(name.size()));
    append(std::uint32_t{0});
    append(hash_of_header(
        std::span<const std::byte, block_header_hashed>(out_.data() + header, block_header_hashed), name));
    append(name);
    append_padding(name.size());
    hash_.begin();
    payload_ = next_;
    hashed_ = payload_;
    end_ = payload_ + static_cast<std::size_t>(payload_size);
}

void snapshot_writer::hash(std::span<const std::byte> piece) noexcept {
    if (hashes_ == payload_hashes::at_once) {
        hash_.add(piece);
    }
}

void snapshot_writer::hash_up_to_here() noexcept {
    hash(std::span(out_).subspan(hashed_, next_ - hashed_));
    hashed_ = next_;
}

} // namespace handlepool::detail
