// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/objects/object_buffer.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/snapshots/archive_stream.hpp>
#include <handlepool/detail/snapshots/saved_pool.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// The version of a type's objects: `T::snapshot_version`, or 0.
template <class T>
constexpr std::uint32_t snapshot_version() noexcept {
    if constexpr (requires { std::uint32_t{T::snapshot_version}; }) {
        return T::snapshot_version;
    } else {
        return 0;
    }
}

inline void require_encoding(block_reader& from, const saved_type& there, const saved_type& here) {
    const auto text = [](const saved_type& type) {
        return type.encoding == object_encoding::archive
                   ? "archived, of version " + std::to_string(type.version)
                   : std::to_string(type.size) + " bytes, aligned to " + std::to_string(type.alignment) +
                         ", of version " + std::to_string(type.version);
    };
    from.require_that(there == here, 0, "objects are " + text(there) + "; here they are " + text(here));
}

/// Objects that consist of bytes, each as it lies in memory, one after the other.
template <class T>
class byte_objects {
public:
    explicit byte_objects(const object_type<T>& type) noexcept
        : type_{.encoding = object_encoding::bytes,
                .version = snapshot_version<T>(),
                .size = type.stride(),
                .alignment = type.alignment()} {}

    const saved_type& type() const noexcept { return type_; }

    /// Looks at the objects at these locations, which stay as they are until write().
    template <class Parts, class LocationAt>
    void prepare(const Parts&, std::size_t count, LocationAt) noexcept {
        count_ = count;
    }
    std::uint64_t bytes() const noexcept { return count_ * type_.size; }
    template <class Parts, class LocationAt>
    void write(snapshot_writer& to, const Parts& parts, LocationAt location_at) {
        const auto size = static_cast<std::size_t>(type_.size);
        for (std::size_t i = 0, next = 0; i != count_; i = next) { // neighbours at once
            const location first = location_at(i);
            do {
                ++next;
            } while (next != count_ && raw(location_at(next)) == raw(first) + (next - i));
            to.bytes(parts.objects.storage(first), (next - i) * size);
        }
    }

    void read(block_reader& from, std::size_t count, const saved_type& there) {
        require_encoding(from, there, type_);
        // No overflow: less than 2^32 of less than 2^31 bytes.
        read_ = from.bytes(count * type_.size);
    }
    template <class Parts>
    void put_in(Parts& parts, std::size_t i, location where) noexcept {
        const auto size = static_cast<std::size_t>(type_.size);
        parts.objects.unpoison_objects(where);
        std::memcpy(parts.objects.storage(where), read_.data() + i * size, size);
    }
    void forget(bool) noexcept { read_ = {}; }

private:
    saved_type type_;
    std::size_t count_ = 0;
    std::span<const std::byte> read_;
};

/// Objects as functions of the program write them: how many bytes each takes, and then these.
template <class T, class Archive>
class archived_objects {
    static_assert(std::is_nothrow_move_constructible_v<T>,
                  "loading moves objects to their places and can't fail half-way: they must be nothrow move "
                  "constructible");

public:
    archived_objects(const object_type<T>& type, Archive archive)
        : archive_(std::move(archive)), read_(type) {}

    saved_type type() const noexcept {
        return {.encoding = object_encoding::archive, .version = snapshot_version<T>()};
    }

    /// Throws std::bad_alloc, and what the archive throws.
    template <class Parts, class LocationAt>
    void prepare(const Parts& parts, std::size_t count, LocationAt location_at) {
        std::ostringstream out;
        ends_.clear();
        ends_.reserve(count);
        for (std::size_t i = 0; i != count; ++i) {
            archive_.save(out, std::as_const(*parts.objects.at(location_at(i))));
            ends_.push_back(static_cast<std::uint64_t>(out.tellp()));
        }
        written_ = std::move(out).str();
    }
    std::uint64_t bytes() const noexcept { return ends_.size() * sizeof(std::uint64_t) + written_.size(); }
    template <class Parts, class LocationAt>
    void write(snapshot_writer& to, const Parts&, LocationAt) {
        std::uint64_t before = 0;
        for (const std::uint64_t end : ends_) {
            to.number(end - std::exchange(before, end));
        }
        to.bytes(written_.data(), written_.size());
        written_ = {};
    }

    void read(block_reader& from, std::size_t count, const saved_type& there) {
        require_encoding(from, there, type());
        from.require_that(from.left() / sizeof(std::uint64_t) >= count, 0,
                          "the sizes of " + std::to_string(count) + " objects are expected, and " +
                              std::to_string(from.left()) + " bytes are left");
        std::vector<std::uint64_t> sizes(count);
        for (std::uint64_t& each : sizes) {
            each = from.number<std::uint64_t>();
        }
        read_.clear();
        read_.reserve(count);
        for (std::size_t i = 0; i != count; ++i) {
            read_archived(from, sizes[i], "object " + std::to_string(i), [&](std::istream& in) {
                ::new (read_.next()) T(archive_.load(in));
                read_.add();
            });
        }
    }
    template <class Parts>
    void put_in(Parts& parts, std::size_t i, location where) noexcept {
        parts.objects.put_in(read_.at(i), where);
    }
    /// put_in() has moved them all, or they are not wanted.
    void forget(bool moved) noexcept {
        if (moved) {
            read_.forget();
        } else {
            read_.clear();
        }
    }

private:
    Archive archive_;
    std::vector<std::uint64_t> ends_; // in `written_`
    std::string written_;
    object_buffer<T> read_;
};

} // namespace handlepool::detail
