// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/snapshots/archive_stream.hpp>
#include <handlepool/detail/snapshots/saved_type.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <istream>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// What members without values have.
struct no_values {
    saved_type type() const noexcept { return {}; }
    std::uint64_t bytes() const noexcept { return 0; }
};

/// Values that consist of bytes, one after the other.
template <class Value>
class byte_values {
    static_assert(std::is_trivially_copyable_v<Value>,
                  "values and keys that don't consist of bytes are added with an archive: see snapshot");

public:
    saved_type type() const noexcept {
        return {.encoding = element_encoding::bytes,
                .version = snapshot_version<Value>(),
                .size = sizeof(Value),
                .alignment = alignof(Value),
                .layout = {}};
    }

    /// Looks at so many values, `value_at(i)` each, which stay as they are until write().
    template <class ValueAt>
    void prepare(std::size_t count, ValueAt) noexcept {
        count_ = count;
    }
    std::uint64_t bytes() const noexcept { return std::uint64_t{count_} * sizeof(Value); }
    template <class ValueAt>
    void write(snapshot_writer& to, ValueAt value_at) {
        for (std::size_t i = 0; i != count_; ++i) {
            to.bytes(&value_at(i), sizeof(Value));
        }
    }

    /// Calls `take(i, value, bytes)` for so many, each when so many bytes of it have been read. Throws what
    /// that throws, and invalid_snapshot.
    template <class Take>
    void read(block_reader& from, std::size_t count, Take take) const {
        for (std::size_t i = 0; i != count; ++i) {
            std::array<std::byte, sizeof(Value)> bytes;
            std::memcpy(bytes.data(), from.bytes(sizeof(Value)).data(), sizeof(Value));
            take(i, std::bit_cast<Value>(bytes), sizeof(Value));
        }
    }

private:
    std::size_t count_ = 0;
};

/// Values as functions of the program write them: how many bytes each takes, and then these.
template <class Value, class Archive>
class archived_values {
public:
    explicit archived_values(Archive archive) : archive_(std::move(archive)) {}

    saved_type type() const noexcept { return saved_type_of<Value, Archive>(); }

    /// Throws std::bad_alloc, and what the archive throws.
    template <class ValueAt>
    void prepare(std::size_t count, ValueAt value_at) {
        std::ostringstream out = archive_output();
        ends_.clear();
        ends_.reserve(count);
        for (std::size_t i = 0; i != count; ++i) {
            archive_.save(out, std::as_const(value_at(i)));
            ends_.push_back(static_cast<std::uint64_t>(out.tellp()));
        }
        written_ = std::move(out).str();
    }
    std::uint64_t bytes() const noexcept { return ends_.size() * sizeof(std::uint64_t) + written_.size(); }
    template <class ValueAt>
    void write(snapshot_writer& to, ValueAt) {
        std::uint64_t before = 0;
        for (const std::uint64_t end : ends_) {
            to.number(end - std::exchange(before, end));
        }
        to.bytes(written_.data(), written_.size());
        written_ = {};
    }

    template <class Take>
    void read(block_reader& from, std::size_t count, Take take) const {
        from.require_that(from.left() / sizeof(std::uint64_t) >= count, 0,
                          "the sizes of " + std::to_string(count) + " values are expected, and " +
                              std::to_string(from.left()) + " bytes are left");
        std::vector<std::uint64_t> sizes(count);
        for (std::uint64_t& each : sizes) {
            each = from.number<std::uint64_t>();
        }
        for (std::size_t i = 0; i != count; ++i) {
            std::optional<Value> value;
            read_archived(
                from, sizes[i], [i] { return "value " + std::to_string(i); },
                [&](std::istream& in) { value.emplace(archive_.load(in)); });
            take(i, std::move(*value), static_cast<std::size_t>(sizes[i]));
        }
    }

private:
    Archive archive_;
    std::vector<std::uint64_t> ends_; // in `written_`
    std::string written_;
};

} // namespace handlepool::detail
