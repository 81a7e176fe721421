// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/properties/bag_buffer.hpp>
#include <handlepool/detail/properties/entry_of.hpp>
#include <handlepool/key_table.hpp>
#include <handlepool/property_view.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace handlepool {

/// Determines what merge() does where the later bag removes a property, as those that diff() returns do.
enum class removals {
    apply, ///< what is removed is gone
    keep   ///< the result removes it too, so that two changes become one
};

class property_bag;

/// The change that makes `after` of `before`: merged into that, it gives the same bag as `after`. It has what
/// is new or other, whole strings and arrays too, and removals of what is gone. A removal in `before` or
/// `after` counts as nothing. Throws bag_too_large and std::bad_alloc. Any threads while none changes the
/// bags; linear in both.
HANDLEPOOL_EXPORT property_bag diff(property_view before, property_view after);

/// A few dynamic values of an object, such as a character sheet or the flags of a save-game, in one
/// allocation of 8 bytes, 9 for each value, and the contents of strings and arrays. The buffer grows by
/// halves, up to 64 KiB; a step of growth also closes the holes that erased contents leave. `bytes` is a
/// copy of it for a file.
///
///     handlepool::property_bag sheet;
///     sheet.set("stats"_key / "health", 10);
///     float health = sheet.at<float>("stats"_key / "health");
///
/// Values are read as property_reader says. Changing: one thread at a time, while no other thread reads the
/// bag; linear in the bag. What throws changes nothing. A moved-from bag is empty, and has no table of names.
/// Destroying one and moving one is constant and never throws.
class HANDLEPOOL_EXPORT property_bag : public property_reader {
public:
    /// A bag without properties; allocates nothing.
    property_bag() noexcept = default;
    /// A bag without properties, whose paths are named by a table.
    explicit property_bag(key_table& names) noexcept { set_names(names); }
    /// A bag of its own with these properties, and nothing unused. Throws std::bad_alloc. Linear.
    explicit property_bag(property_view properties);

    /// Copies have the same bytes and use the same table of names, as does the target of a move. A bag that
    /// is assigned to keeps its memory if the other has as much. Copying throws std::bad_alloc; then nothing
    /// has changed.
    property_bag(const property_bag& other) : property_bag() { *this = other; }
    property_bag(property_bag&& other) noexcept { swap(other); }
    property_bag& operator=(const property_bag& other);
    property_bag& operator=(property_bag&& other) noexcept;
    ~property_bag() = default;

    /// Makes this the table that names the paths: from here on set() refuses a path that collides with
    /// another one of the table. Properties that the bag has already are not checked, because it stores half
    /// of the bits of their hashes only. The table must outlive the bag and its copies. Constant.
    void set_names(key_table& names) noexcept { property_reader::set_names(&names); }

    /// Sets a value; a former one may be of another kind. A string or an array may be a part of this bag.
    /// Throws bag_too_large, std::bad_alloc, and path_collision where a table is attached.
    template <property_value T>
    void set(property_path path, const T& value) {
        set_entry(path, detail::entry_of(path, value));
    }
    void set(property_path path, std::initializer_list<float> value) {
        set(path, std::span(value.begin(), value.size()));
    }

    /// Marks a property as removed: merging this bag into another one removes it there. Throws what set()
    /// throws.
    void set_removed(property_path path) { set_entry(path, {.hash = path, .kind = property_kind::removed}); }

    /// Sets a value like set, but returns false instead of throwing bag_too_large and path_collision.
    template <property_value T>
    bool try_set(property_path path, const T& value) {
        std::string error;
        return put(path, detail::entry_of(path, value), error) == outcome::done;
    }

    /// Erases the property. Returns whether there was one; false also changes nothing. Never throws.
    bool erase(property_hash path) noexcept;

    /// Erases all properties, and keeps the memory. Never throws; linear in the memory.
    void clear() noexcept;

    /// Allocates memory so that the bag does not allocate again before it needs more than `bytes`. Throws
    /// bag_too_large and std::bad_alloc.
    void reserve(std::size_t bytes);

    /// Moves the properties into the smallest buffer that has room for them. Throws std::bad_alloc.
    void shrink_to_fit();

    /// Exchanges properties and tables. Constant; never throws.
    void swap(property_bag& other) noexcept;
    friend void swap(property_bag& one, property_bag& other) noexcept { one.swap(other); }

    /// Takes over the properties of a later bag, value by value; a string or an array is one value. Where the
    /// later bag removes a property, `how` says what becomes of it; with removals::apply the bag has no
    /// removals afterwards. Throws bag_too_large, std::bad_alloc, and path_collision if both are attached to
    /// tables. Linear in both.
    void merge(property_view later, removals how = removals::apply);

    /// A copy of the bag whose bytes these are, at any address. Throws invalid_bag unless they are a bag, and
    /// std::bad_alloc; `where` begins the message. No byte outside of them is read, whatever they contain.
    /// Any thread, at any time; linear.
    static property_bag from_bytes(std::span<const std::byte> bytes, std::string_view where = "bag");
    /// Like from_bytes(), but returns nothing instead of throwing invalid_bag, and puts the message into
    /// `error`.
    static std::optional<property_bag> try_from_bytes(std::span<const std::byte> bytes, std::string& error,
                                                      std::string_view where = "bag");

private:
    friend property_bag diff(property_view before, property_view after);

    /// A bag of a buffer that was joined from others, with the table of names of one of them.
    property_bag(property_view other, std::unique_ptr<std::byte[]> memory) noexcept : property_reader(other) {
        adopt(std::move(memory));
    }

    enum class outcome { done, too_large, collides };

    outcome put(property_path path, const detail::bag_entry& entry, std::string& error);
    void set_entry(property_path path, const detail::bag_entry& entry);
    /// Copies the bytes into the bag, or returns what is wrong with them.
    std::optional<detail::bag_flaw> load(std::span<const std::byte> bytes);
    /// Moves the properties into a new buffer of that size.
    void move_to(std::size_t bytes);
    void adopt(std::unique_ptr<std::byte[]> memory) noexcept;
    detail::bag_writer writer() noexcept { return detail::bag_writer(memory_.get()); }

    std::unique_ptr<std::byte[]> memory_; // null before the first value
};

} // namespace handlepool
