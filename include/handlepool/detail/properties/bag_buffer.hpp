// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/property_kind.hpp>
#include <handlepool/property_path.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

// The buffer of a bag, whoever owns its memory. From its front grow three parallel arrays, from its end the
// contents of strings and arrays:
//
//     header | hashes | words | kinds | free | contents
//
// The hashes are those of the paths, and ascend, so that equal bags look alike, and two of them are merged in
// one pass. A word is the bits of a number, 0 or 1, or where a content stands: its offset in the upper half,
// its size in bytes in the lower one. Contents are aligned to 4 bytes, and an empty one has no place. What is
// unused is zero: nothing that was erased reaches a file. All is in the byte order of the machine, which the
// header tells.
namespace handlepool::detail {

struct bag_header {
    std::uint16_t format;
    std::uint16_t count;
    std::uint16_t contents; // bytes from the lowest content to the end
    std::uint16_t capacity; // of the buffer, header included, in units of 4 bytes
};
static_assert(sizeof(bag_header) == 8 && alignof(bag_header) == 2);

inline constexpr std::uint16_t bag_format = 0xba01; // other bytes the other way round
inline constexpr std::size_t bag_unit = 4;
inline constexpr std::size_t bag_limit = 65'536;
inline constexpr std::size_t bag_bytes_an_entry = 9; // without content

/// The buffer of a bag that has never had a value. In the library, so that it is there as long as any bag.
HANDLEPOOL_EXPORT extern const bag_header empty_bag;

constexpr std::size_t rounded_to_units(std::size_t bytes) noexcept {
    return (bytes + bag_unit - 1) / bag_unit * bag_unit;
}

/// A property as it is stored, or is to be.
struct HANDLEPOOL_EXPORT bag_entry {
    property_hash hash;
    property_kind kind;
    std::uint32_t word = 0;                  // unless there is a content
    std::span<const std::byte> content = {}; // of strings and arrays, up to bag_limit

    /// Bitwise, so that NaN equals itself.
    friend bool operator==(const bag_entry& one, const bag_entry& other) noexcept;
};

/// Adds up what a buffer needs.
class bag_size {
public:
    void add(const bag_entry& entry) noexcept {
        ++entries_;
        contents_ += rounded_to_units(entry.content.size());
    }
    std::size_t entries() const noexcept { return entries_; }
    std::size_t bytes() const noexcept {
        return rounded_to_units(sizeof(bag_header) + bag_bytes_an_entry * entries_) + contents_;
    }

private:
    std::size_t entries_ = 0;
    std::size_t contents_ = 0;
};

/// Reads a buffer. All functions but compact_size() are constant, and find() is linear in the hashes.
class HANDLEPOOL_EXPORT bag_reader {
public:
    explicit bag_reader(const std::byte* memory) noexcept : memory_(memory) {}

    std::size_t count() const noexcept { return header().count; }
    std::size_t capacity() const noexcept { return std::size_t{header().capacity} * bag_unit; }
    std::size_t unused() const noexcept {
        return capacity() - sizeof(bag_header) - bag_bytes_an_entry * count() - header().contents;
    }

    /// How many hashes are lower: where this one is, or would be. A loop over the hashes alone, without a
    /// branch: the compiler compares 4 of them at once, and more if it may.
    std::size_t lower_bound(property_hash hash) const noexcept {
        const property_hash* const all = hashes();
        const std::uint32_t end = header().count;
        std::uint32_t lower = 0;
        for (std::uint32_t i = 0; i != end; ++i) {
            lower += all[i] < hash ? 1U : 0U;
        }
        return lower;
    }
    /// Its position; count() if it is not there.
    std::size_t find(property_hash hash) const noexcept {
        const std::size_t position = lower_bound(hash);
        return position != count() && hashes()[position] == hash ? position : count();
    }

    property_hash hash(std::size_t position) const noexcept { return hashes()[position]; }
    std::uint32_t word_at(std::size_t position) const noexcept { return words()[position]; }
    property_kind kind(std::size_t position) const noexcept {
        return static_cast<property_kind>(kinds()[position]);
    }
    /// The content of a string or an array.
    std::span<const std::byte> content(std::size_t position) const noexcept {
        const std::uint32_t place = word_at(position);
        return {memory_ + (place >> 16), place & 0xffff};
    }
    std::string_view text(std::size_t position) const noexcept {
        const std::uint32_t place = word_at(position);
        return {as<char>(memory_ + (place >> 16)), place & 0xffff};
    }
    std::span<const float> numbers(std::size_t position) const noexcept {
        const std::uint32_t place = word_at(position);
        return {as<float>(memory_ + (place >> 16)), (place & 0xffff) / sizeof(float)};
    }
    bag_entry entry(std::size_t position) const noexcept;

    std::size_t lowest_content() const noexcept { return capacity() - header().contents; }

    /// What a buffer would need that has the same properties, and nothing unused.
    std::size_t compact_size() const noexcept;

    const std::byte* memory() const noexcept { return memory_; }

protected:
    const bag_header& header() const noexcept { return *as<bag_header>(memory_); }
    const property_hash* hashes() const noexcept { return as<property_hash>(memory_ + sizeof(bag_header)); }
    const std::uint32_t* words() const noexcept {
        return as<std::uint32_t>(memory_ + sizeof(bag_header) + sizeof(property_hash) * count());
    }
    const std::byte* kinds() const noexcept {
        return memory_ + sizeof(bag_header) + (sizeof(property_hash) + sizeof(std::uint32_t)) * count();
    }

    template <class T>
    static const T* as(const std::byte* place) noexcept {
        return static_cast<const T*>(static_cast<const void*>(place));
    }

    const std::byte* memory_;
};

/// Changes a buffer in its place.
class HANDLEPOOL_EXPORT bag_writer : public bag_reader {
public:
    /// Writes to memory that is a valid buffer already.
    explicit bag_writer(std::byte* memory) noexcept : bag_reader(memory) {}

    /// Makes a buffer of so many entries, all of which must be filled in then, and have room. The memory is
    /// aligned to 4 bytes; `capacity` is a multiple of 4, at least the header and at most bag_limit. Linear
    /// in it.
    bag_writer(std::byte* memory, std::size_t capacity, std::size_t entries) noexcept;
    void fill_in(std::size_t position, const bag_entry& entry) noexcept;

    /// Inserts the entry, or replaces the one of that hash. Returns whether there was room; if not, nothing
    /// has changed. The content may be anywhere, also in this buffer. Linear in the number of properties.
    bool put(const bag_entry& entry) noexcept;

    /// Erases an entry. Linear in the number of properties.
    void erase(std::size_t position) noexcept;

private:
    struct room {
        std::size_t offset;
        std::size_t bytes;
    };

    static constexpr std::uint32_t word_of(std::size_t offset, std::size_t size) noexcept {
        return size == 0 ? 0 : static_cast<std::uint32_t>(offset << 16 | size);
    }

    bool replace(std::size_t position, const bag_entry& entry) noexcept;
    void insert(std::size_t position, const bag_entry& entry) noexcept;
    /// The word of a value, whose content is written to the free space.
    std::uint32_t write(const bag_entry& entry) noexcept;
    room room_of(std::size_t position) const noexcept;
    void release(room freed) noexcept;

    bag_header& mutable_header() noexcept { return *const_cast<bag_header*>(&header()); }
    property_hash* mutable_hashes() noexcept { return const_cast<property_hash*>(hashes()); }
    std::uint32_t* mutable_words() noexcept { return const_cast<std::uint32_t*>(words()); }
    std::byte* mutable_kinds() noexcept { return const_cast<std::byte*>(kinds()); }
    std::byte* mutable_memory() noexcept { return const_cast<std::byte*>(memory_); }
    void set_count(std::size_t count) noexcept { mutable_header().count = static_cast<std::uint16_t>(count); }
};

// When there is no room for an entry, whoever owns the buffer takes another one of grown_size() bytes, where
// copy_with() puts all together: growing is defragmenting.

/// What a compact buffer would need after put(entry). More than bag_limit: there is no such bag. Linear.
HANDLEPOOL_EXPORT std::size_t compact_size_with(const bag_reader& buffer, const bag_entry& entry) noexcept;

/// How large the next buffer is, if a compact one needs `needed` bytes, up to bag_limit: so large that copies
/// are rare, and not larger than now without need.
HANDLEPOOL_EXPORT std::size_t grown_size(std::size_t needed, std::size_t capacity) noexcept;

/// Makes a buffer of the entries of another one, without holes; and of those and one more, which may replace
/// one. Memory and capacity as for bag_writer. Linear.
HANDLEPOOL_EXPORT void copy_to(std::byte* memory, std::size_t capacity, const bag_reader& from) noexcept;
HANDLEPOOL_EXPORT void copy_with(std::byte* memory, std::size_t capacity, const bag_reader& from,
                                 const bag_entry& entry) noexcept;

/// What is wrong with bytes that were read from somewhere, and where.
struct bag_flaw {
    std::size_t offset;
    std::string_view problem;
};

/// The first flaw of an image, which is aligned to 4 bytes; nothing if bag_reader and bag_writer can work on
/// it. Linear, without an allocation.
HANDLEPOOL_EXPORT std::optional<bag_flaw> flaw_of(std::span<const std::byte> image) noexcept;

} // namespace handlepool::detail
