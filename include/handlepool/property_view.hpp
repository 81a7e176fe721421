// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/properties/bag_buffer.hpp>
#include <handlepool/property_error.hpp>
#include <handlepool/property_kind.hpp>
#include <handlepool/property_path.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace handlepool {

class key_table;

namespace detail {
class bag_file_reader;
class bag_store;
} // namespace detail

/// One property of a bag, as iteration gives it. It refers to the bag, and is valid until that changes.
class property {
public:
    /// The hash of its path, which is all that the bag stores of the path.
    property_hash hash() const noexcept { return bag_.hash(position_); }
    /// The kind of its value, which is never property_kind::none.
    property_kind kind() const noexcept { return bag_.kind(position_); }

    /// The value, if it is of that type. Any thread while none changes the bag; wait-free, constant.
    template <property_type T>
    std::optional<T> get() const noexcept {
        if (kind() != kind_of<T>) {
            return std::nullopt;
        }
        if constexpr (kind_of<T> == property_kind::boolean) {
            return bag_.word_at(position_) != 0;
        } else if constexpr (kind_of<T> == property_kind::number) {
            return std::bit_cast<float>(bag_.word_at(position_));
        } else if constexpr (kind_of<T> == property_kind::string) {
            return bag_.text(position_);
        } else {
            return bag_.numbers(position_);
        }
    }

private:
    friend class property_reader;
    property(detail::bag_reader bag, std::size_t position) noexcept : bag_(bag), position_(position) {}

    detail::bag_reader bag_;
    std::size_t position_;
};

/// Reads properties: the base of property_bag and property_view.
///
/// All functions: any threads at the same time, while none changes the bag. Look-ups are wait-free, and
/// linear in the number of properties: one pass over their hashes. Strings and arrays that are returned refer
/// to the bag, and are valid until it changes.
class HANDLEPOOL_EXPORT property_reader {
public:
    class iterator;

    /// The value, if there is one of that type: bool, float, std::string_view or std::span<const float>.
    template <property_type T>
    std::optional<T> get(property_hash path) const noexcept {
        const detail::bag_reader bag = buffer();
        const std::size_t position = bag.find(path);
        return position != bag.count() ? property(bag, position).get<T>() : std::nullopt;
    }

    /// The value, if there is one of that type, or else `otherwise`.
    template <property_type T>
    T value_or(property_hash path, T otherwise) const noexcept {
        return get<T>(path).value_or(otherwise);
    }

    /// The value. Throws no_such_property if there is none, or it is of another type.
    template <property_type T>
    T at(property_hash path) const {
        if (const std::optional<T> value = get<T>(path)) {
            return *value;
        }
        throw_missing(path, kind_of<T>);
    }

    /// The kind of the value; property_kind::none if there is none.
    property_kind kind(property_hash path) const noexcept {
        const detail::bag_reader bag = buffer();
        const std::size_t position = bag.find(path);
        return position != bag.count() ? bag.kind(position) : property_kind::none;
    }

    /// Returns whether there is a property under that path. Removals count too, here and below.
    bool contains(property_hash path) const noexcept { return kind(path) != property_kind::none; }

    /// The number of properties. Constant.
    std::size_t size() const noexcept { return buffer().count(); }
    /// Returns whether there is none. Constant.
    bool empty() const noexcept { return size() == 0; }

    /// All properties, in the order of their hashes. Constant.
    iterator begin() const noexcept;
    /// The end of the properties. Constant.
    iterator end() const noexcept;

    /// The whole buffer. A copy of these bytes is a copy of the bag, which can be written to a file and read
    /// by `from_bytes`. They record the byte order of the machine, on which they depend, and contain nothing
    /// of erased properties. Constant.
    std::span<const std::byte> bytes() const noexcept { return {buffer().memory(), buffer().capacity()}; }
    /// The size of the buffer in bytes. A bag that has never had a value owns no buffer, and shares one.
    /// Constant.
    std::size_t capacity() const noexcept { return buffer().capacity(); }

    /// The table that names the paths; null if there is none. Constant.
    key_table* names() const noexcept { return names_; }

    /// Returns whether both have the same properties. Numbers are compared bit by bit. Linear.
    friend bool operator==(const property_reader& one, const property_reader& other) noexcept {
        return equal(one.buffer(), other.buffer());
    }

protected:
    /// A reader of no properties.
    property_reader() noexcept = default;
    /// A reader of a buffer that was validated.
    property_reader(const std::byte* memory, key_table* names) noexcept : memory_(memory), names_(names) {}
    property_reader(const property_reader&) noexcept = default;
    property_reader& operator=(const property_reader&) noexcept = default;
    ~property_reader() = default;

    /// The buffer that is read.
    detail::bag_reader buffer() const noexcept { return detail::bag_reader(memory_); }
    /// Makes this the buffer that is read.
    void set_buffer(const std::byte* memory) noexcept { memory_ = memory; }

    /// Exchanges buffers and tables.
    void swap(property_reader& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(names_, other.names_);
    }
    /// Makes this the table that names the paths.
    void set_names(key_table* names) noexcept { names_ = names; }

private:
    [[noreturn]] void throw_missing(property_hash path, property_kind wanted) const;
    static bool equal(detail::bag_reader one, detail::bag_reader other) noexcept;
    static property at_position(detail::bag_reader bag, std::size_t position) noexcept {
        return {bag, position};
    }

    const std::byte* memory_ = static_cast<const std::byte*>(static_cast<const void*>(&detail::empty_bag));
    key_table* names_ = nullptr;
};

/// Iterates over the properties of a bag; valid until the bag changes.
class property_reader::iterator {
public:
    /// The types of a forward iterator.
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag; // it gives values, not references
    using value_type = property;
    using difference_type = std::ptrdiff_t;
    using reference = property;
    using pointer = void;

    /// An iterator that belongs to no bag.
    iterator() noexcept = default;

    /// The operations of a forward iterator.
    property operator*() const noexcept { return at_position(detail::bag_reader(memory_), position_); }
    iterator& operator++() noexcept {
        ++position_;
        return *this;
    }
    iterator operator++(int) noexcept {
        iterator before = *this;
        ++position_;
        return before;
    }
    friend bool operator==(iterator, iterator) noexcept = default;

private:
    friend class property_reader;
    iterator(const std::byte* memory, std::size_t position) noexcept : memory_(memory), position_(position) {}

    const std::byte* memory_ = nullptr;
    std::size_t position_ = 0;
};

inline property_reader::iterator property_reader::begin() const noexcept {
    return {memory_, 0};
}

inline property_reader::iterator property_reader::end() const noexcept {
    return {memory_, size()};
}

/// The properties of a bag that something else keeps: a property_bag, a file in memory. Like a
/// std::string_view, it is small, is passed by value, and must not be used after that bag has changed.
class HANDLEPOOL_EXPORT property_view : public property_reader {
public:
    /// A view of no properties.
    property_view() noexcept = default;
    /// A view of the reader's properties, with its table of names.
    property_view(const property_reader& bag) noexcept : property_reader(bag) {}
    /// A view of the reader's properties, with another table of names.
    property_view(const property_reader& bag, key_table& names) noexcept : property_reader(bag) {
        set_names(&names);
    }

    /// A view of the bytes of a bag, which stay where they are, at an address that is a multiple of 4. Throws
    /// invalid_bag unless they are a bag; `where` begins the message. No byte outside of them is read,
    /// whatever they contain. Any thread, at any time; linear.
    static property_view from_bytes(std::span<const std::byte> bytes, std::string_view where = "bag");
    /// Like from_bytes(), but returns nothing instead of throwing invalid_bag, and puts the message into
    /// `error`.
    static std::optional<property_view> try_from_bytes(std::span<const std::byte> bytes, std::string& error,
                                                       std::string_view where = "bag");

private:
    friend class detail::bag_store;
    friend class detail::bag_file_reader;
    property_view(const std::byte* memory, key_table* names) noexcept : property_reader(memory, names) {}
};

/// Returns the properties as readable text, one a line, in the order of their hashes: `"stats" / "health":
/// 10`. Paths without a name are shown as their hash. Throws std::bad_alloc. Any threads while none changes
/// the bag; linear.
HANDLEPOOL_EXPORT std::string describe(property_view bag);

} // namespace handlepool
