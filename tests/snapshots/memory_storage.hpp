// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/snapshots/journal_storage.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <vector>

namespace handlepool::test {

/// Bytes in memory: each call does what it should.
class memory_storage final : public journal_storage {
public:
    explicit memory_storage(std::vector<std::byte>& bytes) : bytes_(bytes) {}

    std::uint64_t size(std::error_code& error) noexcept override {
        error.clear();
        return bytes_.size();
    }
    std::size_t read(std::uint64_t offset, std::span<std::byte> out,
                     std::error_code& error) noexcept override {
        error.clear();
        const auto from =
            std::span(bytes_).subspan((std::min)(static_cast<std::size_t>(offset), bytes_.size()));
        const auto read = from.first((std::min)(from.size(), out.size()));
        std::ranges::copy(read, out.begin());
        return read.size();
    }
    std::size_t write(std::uint64_t offset, std::span<const std::byte> bytes,
                      std::error_code& error) noexcept override {
        error.clear();
        bytes_.resize(static_cast<std::size_t>(offset));
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return bytes.size();
    }
    void truncate(std::uint64_t size, std::error_code& error) noexcept override {
        error.clear();
        bytes_.resize(static_cast<std::size_t>(size));
    }
    void sync(std::error_code& error) noexcept override { error.clear(); }
    void publish(std::error_code& error) noexcept override { error.clear(); }

private:
    std::vector<std::byte>& bytes_;
};

} // namespace handlepool::test
