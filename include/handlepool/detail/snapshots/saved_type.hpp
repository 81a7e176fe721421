// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// How elements are written: the objects of a pool, those of one of its columns, or a value.
enum class element_encoding : std::uint32_t {
    bytes,   // each as it lies in memory
    archive, // as the program's functions write it, after a list of how many bytes each takes
};

/// Of which type they are, as far as a snapshot can tell. Of archived ones, the version alone counts.
struct saved_type {
    element_encoding encoding = element_encoding::bytes;
    std::uint32_t version = 0;
    std::uint64_t size = 0; // 0 of types that have no bytes
    std::uint64_t alignment = 0;
    std::string_view layout; // as the program or the library names it; empty where nobody does

    friend constexpr bool operator==(const saved_type&, const saved_type&) = default;
};

/// "4 bytes, alignment 4, version 0, layout 'i32'", for messages.
HANDLEPOOL_EXPORT std::string text_of_type(const saved_type& type);

/// In place of an archive, for elements that are their bytes.
struct no_archive {};

/// The version of a type: `T::snapshot_version`, or 0.
template <class T>
constexpr std::uint32_t snapshot_version() noexcept {
    if constexpr (requires { std::uint32_t{T::snapshot_version}; }) {
        return T::snapshot_version;
    } else {
        return 0;
    }
}

/// The name of a number's type. Without it, a float and an integer of its size would be the same to a file.
/// That of characters doesn't say whether they have a sign, which differs from processor to processor.
template <class T>
constexpr std::string_view layout_of_number() noexcept {
    constexpr std::string_view characters[] = {"c8", "c16", "c32"};
    constexpr std::string_view reals[] = {"f8", "f16", "f32", "f64", "f128"};
    constexpr std::string_view signed_numbers[] = {"i8", "i16", "i32", "i64", "i128"};
    constexpr std::string_view unsigned_numbers[] = {"u8", "u16", "u32", "u64", "u128"};
    std::size_t power = 0; // of 2, bytes
    while ((std::size_t{1} << power) < sizeof(T)) {
        ++power;
    }
    if constexpr (std::is_same_v<T, bool>) {
        return "bool";
    } else if constexpr (std::is_same_v<T, char> || std::is_same_v<T, wchar_t> ||
                         std::is_same_v<T, char8_t> || std::is_same_v<T, char16_t> ||
                         std::is_same_v<T, char32_t>) {
        return characters[power];
    } else if constexpr (std::is_floating_point_v<T>) {
        return std::numeric_limits<T>::digits == 64 ? "f80" : reals[power]; // of 16 bytes, too
    } else {
        return std::is_signed_v<T> ? signed_numbers[power] : unsigned_numbers[power];
    }
}

/// The layout of a type: `T::snapshot_layout`, that of numbers, or none.
template <class T>
constexpr std::string_view snapshot_layout() noexcept {
    if constexpr (requires { std::string_view(T::snapshot_layout); }) {
        constexpr std::string_view layout = T::snapshot_layout;
        static_assert(layout.size() <= 255, "a snapshot_layout has 255 bytes at most");
        return layout;
    } else if constexpr (std::is_enum_v<T>) {
        return layout_of_number<std::underlying_type_t<T>>();
    } else if constexpr (std::is_arithmetic_v<T>) {
        return layout_of_number<T>();
    } else {
        return {};
    }
}

/// The type of elements that Archive writes.
template <class T, class Archive>
constexpr saved_type saved_type_of() noexcept {
    if constexpr (std::is_same_v<Archive, no_archive>) {
        return {.encoding = element_encoding::bytes,
                .version = snapshot_version<T>(),
                .size = std::is_empty_v<T> ? 0 : sizeof(T),
                .alignment = alignof(T),
                .layout = snapshot_layout<T>()};
    } else {
        return {.encoding = element_encoding::archive,
                .version = snapshot_version<T>(),
                .size = 0,
                .alignment = 0,
                .layout = {}};
    }
}

/// What messages call elements.
class HANDLEPOOL_EXPORT element_names {
public:
    static element_names of_value() { return element_names("the value", {}, {}); }
    static element_names of_objects() { return element_names("objects", "object ", {}); }
    static element_names of_column(std::string_view name);
    static element_names of_values() { return element_names("values", "value ", {}); } // of a map
    static element_names of_keys() { return element_names("keys", "key ", {}); }       // of an index

    /// All of them.
    const std::string& all() const noexcept { return all_; }
    /// A single one.
    std::string one(std::size_t i) const;

private:
    element_names(std::string all, std::string before, std::string behind)
        : all_(std::move(all)), before_(std::move(before)), behind_(std::move(behind)) {}

    std::string all_;
    std::string before_; // the number of one
    std::string behind_;
};

/// What comes before elements in a block. docs/snapshot_format.md has the bytes.
struct elements_header {
    std::string_view name; // of a column; else empty
    saved_type type;
    std::uint64_t bytes = 0; // of the elements
};

HANDLEPOOL_EXPORT std::uint64_t bytes_of(const elements_header& header) noexcept;
HANDLEPOOL_EXPORT void write(snapshot_writer& to, const elements_header& header);
/// Throws invalid_snapshot, also when there are less bytes than it announces.
HANDLEPOOL_EXPORT elements_header read_elements_header(block_reader& from);

/// Throws invalid_snapshot: elements with the header that was read last are of none of these types, the first
/// of which is theirs here.
[[noreturn]] HANDLEPOOL_EXPORT void refuse_type(const block_reader& from, const elements_header& there,
                                                const element_names& names, std::span<const saved_type> here);

/// How many bytes each of `count` archived elements has. Throws invalid_snapshot unless they are as many as
/// the header, which was read last, announces.
HANDLEPOOL_EXPORT std::vector<std::uint64_t>
read_archived_sizes(block_reader& from, const elements_header& there, std::size_t count);

/// Throws invalid_snapshot unless the header, which was read last, announces as many bytes as `count`
/// elements of its size have.
HANDLEPOOL_EXPORT void require_size(const block_reader& from, const elements_header& there,
                                    std::size_t count);

} // namespace handlepool::detail
