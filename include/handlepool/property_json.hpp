// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/key_table.hpp>
#include <handlepool/property_bag.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Bags as JSON, of which they have objects, truths, numbers, strings and arrays of numbers.
namespace handlepool {

/// How deep objects may be nested in each other.
inline constexpr std::size_t deepest_property = 32;

/// Reads a bag:
///
///     {"name": "Anna", "stats": {"health": 10, "luck": [0.5, 1]}, "awake": true}
///
/// An object's keys are those of paths, `"stats"_key / "health"`; an object without values leaves nothing.
/// Numbers become the nearest float, -0 one with a sign. Anything else is refused: null, other arrays, a key
/// that stands twice in one object, what has no room, paths that collide. If there is a table, it knows the
/// paths afterwards, and the bag is attached to it.
///
/// Throws invalid_property_json, whose message has the line, the column and what is allowed, and
/// std::bad_alloc; then the table is as before. `where` begins the message: a file's name, for example. Any
/// thread, at any time; linear in the text but for the sizes of bag and table, as in property_bag.
HANDLEPOOL_EXPORT property_bag bag_from_json(std::string_view json, std::string_view where,
                                             key_table* names = nullptr);

/// Like bag_from_json(), but returns nothing instead of throwing invalid_property_json, and puts the message
/// into `error`.
HANDLEPOOL_EXPORT std::optional<property_bag> try_bag_from_json(std::string_view json, std::string_view where,
                                                                std::string& error,
                                                                key_table* names = nullptr);

/// The JSON of a bag that is attached to a table: reading it gives the same bag. With `indent` below 0, in
/// one line. Throws not_printable and std::bad_alloc. Any threads while none changes the bag; linear but for
/// the sizes of bag and table.
HANDLEPOOL_EXPORT std::string to_json(property_view bag, int indent = 4);

/// Like to_json(), but returns nothing instead of throwing not_printable, and puts the message into `error`.
HANDLEPOOL_EXPORT std::optional<std::string> try_to_json(property_view bag, std::string& error,
                                                         int indent = 4);

} // namespace handlepool
