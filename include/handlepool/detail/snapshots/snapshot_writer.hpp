// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/snapshots/block_kind.hpp>
#include <handlepool/detail/snapshots/content_hash.hpp>
#include <handlepool/detail/time/little_endian.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What a snapshot is made of: a header of the file, and blocks with a name, whose payload others define.
/// docs/snapshot_format.md has the format.
namespace handlepool::detail {

/// When the hashes of payloads are made: as these are written, or by hash_payloads() later.
enum class payload_hashes { at_once, later };

/// What becomes of bytes that are there before a snapshot: it comes behind them, or in their place.
enum class former_bytes { stay, replaced };

/// Writes the hashes of all payloads into a snapshot that was written without them. Linear.
HANDLEPOOL_EXPORT void hash_payloads(std::span<std::byte> snapshot) noexcept;

/// Writes a snapshot. Without finish() there is none: a writer that ends before that, or can't begin, leaves
/// the bytes that stay, and no others.
///
/// ```
///   former_bytes::stay       │ stay │ written ──▶ appended          memory for what comes is reserved
///   former_bytes::replaced   │ written ──▶ over what was there │ ──▶ appended
/// ```
///
/// Much that is written over others goes past the caches, and is hashed on the way: a std::vector can't
/// append like that.
class HANDLEPOOL_EXPORT snapshot_writer {
public:
    /// Writes the header of the file. `out` outlives the writer. Throws std::bad_alloc.
    explicit snapshot_writer(std::vector<std::byte>& out, former_bytes former = former_bytes::stay,
                             payload_hashes hashes = payload_hashes::at_once);
    ~snapshot_writer();
    snapshot_writer(const snapshot_writer&) = delete;
    snapshot_writer& operator=(const snapshot_writer&) = delete;

    /// Begins a block, of any kind but `end`. Its payload follows by bytes(), number() and numbers(), which
    /// need no memory for the size that is announced. `version` is that of the payload's format. Throws
    /// std::invalid_argument for a name that is repeated, has not 1 to 255 bytes, or has control characters,
    /// and std::bad_alloc; then nothing that was written has changed.
    void begin_block(block_kind kind, std::uint32_t version, std::string_view name,
                     std::uint64_t payload_size);

    void bytes(const void* data, std::size_t size);

    template <std::unsigned_integral Number>
    void number(Number number) {
        const auto written = to_little_endian(number);
        bytes(written.data(), written.size());
    }

    void numbers(std::span<const std::uint32_t> numbers);

    /// Ends the block, whose payload has the size that was announced.
    void end_block();

    /// Writes the last block, behind which nothing comes. Throws std::bad_alloc; then it can be called again.
    void finish();

private:
    /// Takes back what was written and not finished.
    struct rollback {
        ~rollback() {
            if (!finished) {
                out.resize(stay);
            }
        }
        std::vector<std::byte>& out;
        const std::size_t stay; // so many bytes
        bool finished = false;
    };

    void make_room(std::uint64_t payload, std::size_t around);
    void put(std::span<const std::byte> added);
    void put_payload_over(std::span<const std::byte> added);
    template <std::unsigned_integral Number>
    void append(Number number);
    void append(std::string_view text);
    void append_padding(std::uint64_t size);
    void append_header(block_kind kind, std::uint32_t version, std::string_view name,
                       std::uint64_t payload_size);
    void hash(std::span<const std::byte> piece) noexcept;
    void hash_up_to_here() noexcept;

    rollback rollback_; // first: also if another member can't be made
    std::vector<std::byte>& out_;
    const payload_hashes hashes_;
    std::size_t next_; // up to here it is written; bytes behind are still to be replaced
    std::set<std::string, std::less<>> names_;
    content_hash hash_;
    std::size_t payload_ = 0; // where that of the block begins,
    std::size_t hashed_ = 0;  // up to where it is hashed,
    std::size_t end_ = 0;     // and where it ends; 0 between blocks
};

} // namespace handlepool::detail
