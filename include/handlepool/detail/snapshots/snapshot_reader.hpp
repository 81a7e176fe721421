// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/snapshots/block_kind.hpp>
#include <handlepool/detail/time/little_endian.hpp>
#include <handlepool/detail/time/number_list.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Snapshots are read in two steps: all of the container first, so that whoever reads a payload knows that it
/// is as it was written. It may have been written by anybody, though.
namespace handlepool::detail {

/// What bytes are, and where they come from, as messages say it: snapshot 'game.save'.
struct snapshot_source {
    std::string_view kind; // "snapshot" or "delta"
    std::string_view origin;
};

/// Throws std::bad_alloc.
HANDLEPOOL_EXPORT std::string text_of(const snapshot_source& source);

/// A view of the bytes of a snapshot or a delta.
struct snapshot_block {
    block_kind kind;
    std::uint32_t version; // of the payload's format
    std::string_view name;
    std::span<const std::byte> payload;
    std::size_t offset; // of the payload in the file
    snapshot_source source;
};

/// Where the end of a block's payload is wanted: at most as much as that, or nothing. What the block has was
/// not checked yet.
using room_for_end = std::function<std::span<std::byte>(const snapshot_block&)>;

/// What a snapshot consists of, or a delta.
class HANDLEPOOL_EXPORT snapshot_blocks {
public:
    /// Checks all but what the payloads mean, hashes included. The bytes and the source outlive the blocks.
    /// Needs memory for blocks that are there only, whatever the bytes say. Linear, but for names, which are
    /// sorted. Throws invalid_snapshot and std::bad_alloc.
    /// Ends of payloads are also copied to where `room` wants them, if it is one, while they are hashed: so
    /// they are fetched from memory once. Nobody may look at them before all has been checked.
    snapshot_blocks(std::span<const std::byte> bytes, const snapshot_source& source,
                    const room_for_end& room = {});
    /// The same of a snapshot; `origin` is the name of a file, for example.
    snapshot_blocks(std::span<const std::byte> bytes, std::string_view origin)
        : snapshot_blocks(bytes, snapshot_source{.kind = "snapshot", .origin = origin}) {}

    const snapshot_source& source() const noexcept { return source_; }

    /// The block of that name, or null. Logarithmic.
    const snapshot_block* find(std::string_view name) const noexcept;

    /// In the order of the file, without the last one, which says that it ends.
    std::span<const snapshot_block> all() const& noexcept { return blocks_; }
    void all() const&& = delete; // they end with this

private:
    class scan;

    snapshot_source source_;
    std::vector<snapshot_block> blocks_;
    std::map<std::string_view, std::size_t> by_name_;
};

/// Reads a payload from its begin, never beyond its end.
class HANDLEPOOL_EXPORT block_reader {
public:
    /// The block's bytes and source outlive the reader.
    explicit block_reader(const snapshot_block& block) noexcept : block_(block) {}

    /// The next number. Throws invalid_snapshot if the payload ends before, here and below.
    template <std::unsigned_integral Number>
    Number number() {
        return from_little_endian<Number>(bytes(sizeof(Number)).data());
    }

    /// The next bytes.
    std::span<const std::byte> bytes(std::uint64_t size) {
        require_left(size, 1);
        const auto read = block_.payload.subspan(position_, size);
        position_ += read.size();
        return read;
    }

    /// The next numbers, in place of those in `out`. Throws std::bad_alloc, too; in both cases `out` is as it
    /// was.
    void numbers(std::uint64_t count, std::vector<std::uint32_t>& out);
    /// The same, but they stay where they are if numbers of this machine can lie there.
    void numbers(std::uint64_t count, number_list& out);

    /// So many bytes are left.
    std::uint64_t left() const noexcept { return block_.payload.size() - position_; }

    /// Throws invalid_snapshot unless `holds`: `problem`, which says what is allowed too, is that of the byte
    /// `back` before the next one.
    void require_that(bool holds, std::size_t back, std::string_view problem) const {
        if (!holds) {
            refuse(back, problem);
        }
    }
    [[noreturn]] void refuse(std::size_t back, std::string_view problem) const;

    /// Throws invalid_snapshot if something is left.
    void require_end() const;

private:
    void require_left(std::uint64_t count, std::size_t size_of_each) const {
        if (count > left() / size_of_each) {
            refuse_size(count, size_of_each);
        }
    }
    [[noreturn]] void refuse_size(std::uint64_t count, std::size_t size_of_each) const;

    snapshot_block block_;
    std::size_t position_ = 0;
};

} // namespace handlepool::detail
