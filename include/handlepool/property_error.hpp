// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/text/message.hpp>

#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

/// The exceptions of properties. Paths are named by their keys where a key_table knows them, and else by
/// their hash.
namespace handlepool {

/// A bag would exceed 64 KiB. The message names the path, and the sizes that are asked for and allowed.
class HANDLEPOOL_EXPORT bag_too_large : public std::length_error {
public:
    using std::length_error::length_error;
};

/// The bytes that the option `bytes` of a property_store allows are used up: by bags, or by what they have
/// left, which is for bags of the same sizes until shrink_to_fit().
class HANDLEPOOL_EXPORT property_store_full : public std::bad_alloc {
public:
    /// Needs no memory.
    explicit property_store_full(std::size_t bytes) noexcept;

    /// Names the option and its value.
    const char* what() const noexcept override { return message_.c_str(); }

private:
    detail::fixed_message message_;
};

/// `at` was asked for a property that is not there, or is of another kind. The message names the path and
/// both kinds.
class HANDLEPOOL_EXPORT no_such_property : public std::out_of_range {
public:
    using std::out_of_range::out_of_range;
};

/// Two paths have the same hash in bags: one of their keys needs another name. The message names both.
class HANDLEPOOL_EXPORT path_collision : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// Bytes that are not a bag, or not the bags of a store: damaged, cut off, or of a machine with the other
/// byte order.
class HANDLEPOOL_EXPORT invalid_bag : public std::runtime_error {
public:
    /// `where` begins the message: a file's name, for example. Throws std::bad_alloc.
    invalid_bag(std::string_view where, std::size_t offset, std::string_view problem);

    /// The first byte that is wrong.
    std::size_t offset() const noexcept { return offset_; }

private:
    std::size_t offset_;
};

/// A text that is not the JSON of a bag.
class HANDLEPOOL_EXPORT invalid_property_json : public std::invalid_argument {
public:
    /// `where` begins the message: a file's name, for example. Throws std::bad_alloc.
    invalid_property_json(std::string_view where, std::size_t line, std::size_t column,
                          std::string_view problem);

    /// Where the text is wrong. Both count from 1; a column is a byte.
    std::size_t line() const noexcept { return line_; }
    std::size_t column() const noexcept { return column_; }

private:
    std::size_t line_;
    std::size_t column_;
};

/// A bag that has no JSON: a path is not named, or is one value and a group of values; a string is not UTF-8;
/// a number is not finite; or it is a change that removes something. The message names the path.
class HANDLEPOOL_EXPORT not_printable : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

} // namespace handlepool
