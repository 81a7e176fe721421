// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/snapshots/journal.hpp>
#include <handlepool/snapshots/journal_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// Goes over a journal from its begin, and believes nothing that has no right hash.
class HANDLEPOOL_EXPORT journal_scan {
public:
    /// Reads the header. `name` is for messages. Throws invalid_journal, std::system_error and
    /// std::bad_alloc.
    journal_scan(std::unique_ptr<journal_storage> storage, std::string_view name);

    /// Goes to the next entry; false: tail() says why there is none. Throws std::system_error and
    /// std::bad_alloc; then it can be called again.
    bool next();

    const journal_origin& origin() const noexcept { return origin_; }
    std::uint64_t frame() const noexcept { return frame_; }
    std::span<const journal_part> parts() const noexcept { return parts_; }
    const journal_tail& tail() const noexcept { return tail_; }
    /// Where the entry ends.
    std::uint64_t offset() const noexcept { return offset_; }
    std::uint64_t header_hash() const noexcept { return header_hash_; }
    /// The hash of the entry, or of the header.
    std::uint64_t last_hash() const noexcept { return last_hash_; }
    /// The disk had the entries up to this frame, as the last one says.
    std::uint64_t synced_frame() const noexcept { return synced_frame_; }

    /// Throws invalid_journal for the tail; `advice` follows what is wrong.
    [[noreturn]] void refuse_tail(std::string_view advice) const;
    /// Throws invalid_journal for what is at a byte.
    [[noreturn]] void refuse(std::uint64_t offset, std::string_view problem) const;
    [[noreturn]] void throw_error(std::error_code error) const;

    /// The storage, for whoever goes on with it.
    std::unique_ptr<journal_storage> release() && noexcept { return std::move(storage_); }
    /// The bytes from an offset on, so many, or as many as there are: valid until the next call.
    std::span<const std::byte> bytes(std::uint64_t offset, std::size_t size);

private:
    void read_header();
    std::uint64_t size_of_storage();
    std::optional<std::string> read_entry();
    std::optional<std::string> read_parts(std::span<const std::byte> body, std::uint32_t count);
    std::optional<std::uint64_t> size_of_whole_entry(std::uint64_t offset, std::uint64_t end);
    void look_for_whole_entries(std::uint64_t end);

    std::unique_ptr<journal_storage> storage_;
    std::string name_;
    journal_origin origin_;
    journal_tail tail_;
    std::uint64_t header_hash_ = 0;
    std::uint64_t last_hash_ = 0;
    std::uint64_t offset_ = 0;
    std::uint64_t frame_ = 0;
    std::uint64_t synced_frame_ = 0;
    std::vector<journal_part> parts_;
    std::vector<std::string_view> names_;
    std::vector<std::byte> buffer_; // bytes of the storage
    std::uint64_t buffer_begin_ = 0;
    std::size_t buffered_ = 0;
};

} // namespace handlepool::detail
