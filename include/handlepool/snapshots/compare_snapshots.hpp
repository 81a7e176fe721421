// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool {

/// One thing that two snapshots have in different ways, in words for people.
struct snapshot_difference {
    std::string part{};   ///< the name of the pool, container or value
    std::string object{}; ///< whose it is, as "#81 generation 5"; empty: the part's as a whole
    /// What differs: a member by its name, as ".hull" or ".name, bytes 3 to 7", or else "bytes 8 to 11"; of
    /// rows with the column before it; "object", "parent", "slots that wait, number 3"...
    std::string what{};
    std::string first{};  ///< how the first snapshot has it
    std::string second{}; ///< and how the second one does

    /// Whether all texts are the same.
    friend bool operator==(const snapshot_difference&, const snapshot_difference&) = default;
};

/// "ships #81 generation 5, .hull: 70 / 60". Throws std::bad_alloc.
HANDLEPOOL_EXPORT std::string to_string(const snapshot_difference& difference);

/// What was found by a comparison.
struct snapshot_differences {
    std::vector<snapshot_difference> found{}; ///< part by part, in the order of the first snapshot
    std::uint64_t left_out = 0;               ///< how many more there are
};

/// What a member's bytes are.
enum class member_kind : std::uint8_t {
    bytes,           ///< nothing that is known
    boolean,         ///< a bool
    signed_number,   ///< an integer
    unsigned_number, ///< an integer, or a character
    real,            ///< a floating-point number of 4 or 8 bytes
    address,         ///< of something in the program, shown as a hexadecimal number
};

/// A member of a saved type. Numbers have up to 8 bytes: wider ones are shown as bytes.
struct named_member {
    std::string name{};     ///< as "hull", "position.x" or "slots[3]"; empty: the type as a whole
    std::size_t offset = 0; ///< bytes from the begin of the type
    std::size_t size = 0;   ///< bytes
    member_kind kind = member_kind::bytes; ///< what they are
    unsigned first_bit = 0; ///< of a bit-field, that is an integer: which bit of its bytes is the lowest one,
    unsigned bits = 0;      ///< and how many there are; 0: all, for it is no bit-field
    /// Returns what is said beside an integer, such as an enumerator's name; nothing for an empty text. A
    /// signed number is passed as it is converted to this type.
    std::function<std::string(std::uint64_t number)> meaning{};
};

/// How snapshots are compared.
struct comparison_options {
    std::size_t most = 20;              ///< differences to tell of each part
    std::string_view first = "first";   ///< what messages of invalid snapshots call the one,
    std::string_view second = "second"; ///< and the other
    /// Returns the members of a type which has no `snapshot_layout` that names them, and is saved as its
    /// bytes; nothing where it does not know them: then bytes are told. It is asked by the name of the part,
    /// that of the column, which is empty but for rows, and the size of the type in bytes, for parts that
    /// differ only, once in each comparison. What lies between the members that it returns is taken for
    /// padding, and not compared.
    std::function<std::vector<named_member>(std::string_view part, std::string_view column, std::size_t size)>
        members{};
};

/// Says in what two snapshots differ, so that who has two worlds that should be the same sees where they
/// part.
///
/// ```
///   first    ships   #3   #81   #7            ships #81 generation 5, .hull: 70 / 60
///                          │                  ships, objects: 3 / 4
///   second   ships   #3   #81   #7   #90      ships #90 generation 1, object: is not there / is there
/// ```
///
/// Objects and members are compared by their handles, and then their order, and the slots, which decide what
/// the next handles are. It knows no types: members are named if the type has a `snapshot_layout` that is a
/// list of names and numbers, as "x:f32 y:f32 hull:i32", or by the option `members`, and padding between them
/// is not compared; else it tells which bytes differ. Snapshots without a difference are the same world:
/// whatever is created next gets the same handle. What their files have beside, such as the order of the
/// blocks, is not compared.
///
/// Any thread may call it at any time. Linear in the bytes, but for the names of the parts, which are sorted.
/// Throws invalid_snapshot, std::invalid_argument for a member that reaches beyond its type, what the option
/// `members` throws, and std::bad_alloc.
HANDLEPOOL_EXPORT snapshot_differences compare_snapshots(std::span<const std::byte> first,
                                                         std::span<const std::byte> second,
                                                         const comparison_options& options = {});

} // namespace handlepool
