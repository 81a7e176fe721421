// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/snapshots/archive_stream.hpp>
#include <handlepool/detail/snapshots/saved_objects.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <istream>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace handlepool::detail {

/// The archive of values that consist of bytes.
template <class Value>
struct byte_value {
    void save(std::ostream& out, const Value& value) const {
        out.write(reinterpret_cast<const char*>(&value), sizeof(Value));
    }
    Value load(std::istream& in) const {
        alignas(Value) std::byte bytes[sizeof(Value)];
        in.read(reinterpret_cast<char*>(bytes), sizeof bytes);
        Value value;
        std::memcpy(&value, bytes, sizeof bytes);
        return value;
    }
};

/// A value in a snapshot: its version, and the bytes of an archive.
template <class Value, class Archive>
class saved_value_entry final : public snapshot_entry {
    static_assert(std::is_nothrow_move_assignable_v<Value>,
                  "a load can't fail half-way: values must be nothrow move assignable");

public:
    saved_value_entry(std::string name, Value& value, Archive archive)
        : snapshot_entry(block_kind::value, std::move(name)), value_(value), archive_(std::move(archive)) {}

    void save(snapshot_writer& to) override {
        std::ostringstream out;
        archive_.save(out, std::as_const(value_));
        const std::string bytes = std::move(out).str();
        to.begin_block(kind(), version, name(), sizeof(std::uint32_t) + bytes.size());
        to.number(snapshot_version<Value>());
        to.bytes(bytes.data(), bytes.size());
        to.end_block();
    }
    void read(block_reader& from) override {
        const auto there = from.number<std::uint32_t>();
        from.require_that(there == snapshot_version<Value>(), sizeof there,
                          "the value is of version " + std::to_string(there) + "; here it is " +
                              std::to_string(snapshot_version<Value>()));
        read_archived(from, from.left(), "the value",
                      [this](std::istream& in) { read_.emplace(archive_.load(in)); });
    }
    void apply() noexcept override { value_ = std::move(*read_); }
    void unlock(bool) noexcept override { read_.reset(); }

private:
    Value& value_;
    Archive archive_;
    std::optional<Value> read_;
};

} // namespace handlepool::detail
