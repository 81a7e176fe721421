// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

namespace handlepool {

/// Where the bytes of a journal lie: a file, or what a program has in place of one. One thread at a time
/// calls it. Each function says in `error` why it has failed, or that it has not.
class HANDLEPOOL_EXPORT journal_storage {
public:
    journal_storage() = default;
    virtual ~journal_storage();
    journal_storage(const journal_storage&) = delete;
    journal_storage& operator=(const journal_storage&) = delete;

    /// The number of bytes that were written.
    virtual std::uint64_t size(std::error_code& error) noexcept = 0;

    /// Reads bytes from an offset on, and returns how many: fewer at the end, 0 behind it.
    virtual std::size_t read(std::uint64_t offset, std::span<std::byte> out,
                             std::error_code& error) noexcept = 0;

    /// Writes bytes at the end, whose offset that is, and returns how many were written: perhaps fewer.
    /// Whoever calls it repeats it for the others, and where it was interrupted.
    virtual std::size_t write(std::uint64_t offset, std::span<const std::byte> bytes,
                              std::error_code& error) noexcept = 0;

    /// Cuts off what is behind that size.
    virtual void truncate(std::uint64_t size, std::error_code& error) noexcept = 0;

    /// Returns when all of it will outlive a crash of the system. After an error nobody knows what does.
    virtual void sync(std::error_code& error) noexcept = 0;

    /// Gives a new journal its name, for good, which it has not before: so there is none that lacks its
    /// header.
    virtual void publish(std::error_code& error) noexcept = 0;
};

} // namespace handlepool
