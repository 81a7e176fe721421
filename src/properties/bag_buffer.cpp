// SPDX-License-Identifier: MIT
#include <handlepool/detail/properties/bag_buffer.hpp>

#include <algorithm>
#include <bitset>
#include <cstring>

namespace handlepool::detail {

namespace {

// Both may be empty and null.
void move_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (bytes != 0) {
        std::memmove(to, from, bytes);
    }
}

constexpr bool has_content(property_kind kind) noexcept {
    return kind == property_kind::string || kind == property_kind::numbers;
}

} // namespace

bool operator==(const bag_entry& one, const bag_entry& other) noexcept {
    return one.hash == other.hash && one.kind == other.kind && one.word == other.word &&
           std::ranges::equal(one.content, other.content);
}

constinit const bag_header empty_bag{
    .format = bag_format, .count = 0, .contents = 0, .capacity = sizeof(bag_header) / bag_unit};

// ---- Reading ---------------------------------------------------------------------------------------------

bag_entry bag_reader::entry(std::size_t position) const noexcept {
    if (has_content(kind(position))) {
        return {.hash = hash(position), .kind = kind(position), .content = content(position)};
    }
    return {.hash = hash(position), .kind = kind(position), .word = word_at(position)};
}

std::size_t bag_reader::compact_size() const noexcept {
    bag_size size;
    for (std::size_t i = 0; i != count(); ++i) {
        size.add(entry(i));
    }
    return size.bytes();
}

std::size_t compact_size_with(const bag_reader& buffer, const bag_entry& entry) noexcept {
    bag_size size;
    size.add(entry);
    for (std::size_t i = 0; i != buffer.count(); ++i) {
        if (buffer.hash(i) != entry.hash) {
            size.add(buffer.entry(i));
        }
    }
    return size.bytes();
}

std::size_t grown_size(std::size_t needed, std::size_t capacity) noexcept {
    const std::size_t roomy = std::max(rounded_to_units(needed + needed / 2), capacity);
    return std::max(needed, std::min(roomy, bag_limit));
}

// ---- Changing --------------------------------------------------------------------------------------------

bag_writer::bag_writer(std::byte* memory, std::size_t capacity, std::size_t entries) noexcept
    : bag_reader(memory) {
    std::memset(memory, 0, capacity);
    mutable_header() = {.format = bag_format,
                        .count = static_cast<std::uint16_t>(entries),
                        .contents = 0,
                        .capacity = static_cast<std::uint16_t>(capacity / bag_unit)};
}

bool bag_writer::put(const bag_entry& entry) noexcept {
    const std::size_t position = lower_bound(entry.hash);
    if (position != count() && hash(position) == entry.hash) {
        return replace(position, entry);
    }
    if (unused() < bag_bytes_an_entry + rounded_to_units(entry.content.size())) {
        return false;
    }
    insert(position, entry);
    return true;
}

bool bag_writer::replace(std::size_t position, const bag_entry& entry) noexcept {
    const room before = room_of(position);
    const std::size_t needed = rounded_to_units(entry.content.size());
    if (needed == 0 || needed > before.bytes) {
        if (unused() < needed) {
            return false;
        }
        mutable_words()[position] = write(entry);
        release(before);
    } else {
        std::byte* const place = mutable_memory() + before.offset;
        move_bytes(place, entry.content.data(), entry.content.size());
        std::memset(place + entry.content.size(), 0, before.bytes - entry.content.size());
        mutable_words()[position] = word_of(before.offset, entry.content.size());
    }
    mutable_kinds()[position] = static_cast<std::byte>(entry.kind);
    return true;
}

void bag_writer::insert(std::size_t position, const bag_entry& entry) noexcept {
    const std::uint32_t word = write(entry);
    const std::size_t before = count();
    const std::size_t after = before - position;
    // From the last to the first: each array moves up over the room of the one behind it.
    std::byte* const old_kinds = mutable_kinds();
    std::uint32_t* const old_words = mutable_words();
    std::byte* const kinds = old_kinds + 2 * sizeof(std::uint32_t);
    std::uint32_t* const words = old_words + 1;
    property_hash* const hashes = mutable_hashes();
    std::memmove(kinds + position + 1, old_kinds + position, after);
    std::memmove(kinds, old_kinds, position);
    std::memmove(words + position + 1, old_words + position, after * sizeof(std::uint32_t));
    std::memmove(words, old_words, position * sizeof(std::uint32_t));
    std::memmove(hashes + position + 1, hashes + position, after * sizeof(property_hash));
    kinds[position] = static_cast<std::byte>(entry.kind);
    words[position] = word;
    hashes[position] = entry.hash;
    set_count(before + 1);
}

void bag_writer::erase(std::size_t position) noexcept {
    release(room_of(position));
    const std::size_t before = count();
    const std::size_t after = before - position - 1;
    std::byte* const old_kinds = mutable_kinds();
    std::uint32_t* const old_words = mutable_words();
    std::byte* const kinds = old_kinds - 2 * sizeof(std::uint32_t);
    std::uint32_t* const words = old_words - 1;
    property_hash* const hashes = mutable_hashes();
    std::memmove(hashes + position, hashes + position + 1, after * sizeof(property_hash));
    std::memmove(words, old_words, position * sizeof(std::uint32_t));
    std::memmove(words + position, old_words + position + 1, after * sizeof(std::uint32_t));
    std::memmove(kinds, old_kinds, position);
    std::memmove(kinds + position, old_kinds + position + 1, after);
    std::memset(kinds + before - 1, 0, bag_bytes_an_entry);
    set_count(before - 1);
}

void bag_writer::fill_in(std::size_t position, const bag_entry& entry) noexcept {
    mutable_hashes()[position] = entry.hash;
    mutable_words()[position] = write(entry);
    mutable_kinds()[position] = static_cast<std::byte>(entry.kind);
}

std::uint32_t bag_writer::write(const bag_entry& entry) noexcept {
    const std::size_t bytes = rounded_to_units(entry.content.size());
    if (bytes == 0) {
        return entry.word;
    }
    const std::size_t contents = header().contents + bytes;
    const std::size_t offset = capacity() - contents;
    move_bytes(mutable_memory() + offset, entry.content.data(), entry.content.size());
    mutable_header().contents = static_cast<std::uint16_t>(contents);
    return word_of(offset, entry.content.size());
}

bag_writer::room bag_writer::room_of(std::size_t position) const noexcept {
    if (!has_content(kind(position))) {
        return {.offset = 0, .bytes = 0};
    }
    return {.offset = word_at(position) >> 16, .bytes = rounded_to_units(word_at(position) & 0xffff)};
}

void bag_writer::release(room freed) noexcept {
    if (freed.bytes != 0) {
        std::memset(mutable_memory() + freed.offset, 0, freed.bytes);
        if (freed.offset == capacity() - header().contents) {
            mutable_header().contents = static_cast<std::uint16_t>(header().contents - freed.bytes);
        }
    }
}

// ---- Copying ---------------------------------------------------------------------------------------------

void copy_to(std::byte* memory, std::size_t capacity, const bag_reader& from) noexcept {
    bag_writer to(memory, capacity, from.count());
    for (std::size_t i = 0; i != from.count(); ++i) {
        to.fill_in(i, from.entry(i));
    }
}

void copy_with(std::byte* memory, std::size_t capacity, const bag_reader& from,
               const bag_entry& entry) noexcept {
    const std::size_t position = from.lower_bound(entry.hash);
    const std::size_t replaced = from.find(entry.hash) != from.count() ? 1 : 0;
    bag_writer to(memory, capacity, from.count() + 1 - replaced);
    for (std::size_t i = 0; i != position; ++i) {
        to.fill_in(i, from.entry(i));
    }
    to.fill_in(position, entry);
    for (std::size_t i = position + replaced; i != from.count(); ++i) {
        to.fill_in(i + 1 - replaced, from.entry(i));
    }
}

// ---- Validation ------------------------------------------------------------------------------------------

namespace {

/// Which units of an image something uses.
using used_units = std::bitset<bag_limit / bag_unit>;

/// What is wrong with an entry; marks its content. The front of the image is sound.
std::string_view flaw_of_entry(const bag_reader& image, std::size_t position, used_units& used) noexcept {
    const std::uint32_t word = image.word_at(position);
    const property_kind kind = image.kind(position);
    if (kind == property_kind::none || kind > property_kind::removed) {
        return "there is no such kind";
    }
    if (kind == property_kind::boolean && word > 1) {
        return "a truth is neither 0 nor 1";
    }
    if (kind == property_kind::removed && word != 0) {
        return "a removal has a value";
    }
    if (!has_content(kind)) {
        return "";
    }
    const std::size_t offset = word >> 16;
    const std::size_t size = word & 0xffff;
    if (kind == property_kind::numbers && size % sizeof(float) != 0) {
        return "the size of an array is no multiple of 4 bytes";
    }
    if (size == 0) {
        return offset == 0 ? "" : "an empty content has a place";
    }
    if (offset % bag_unit != 0) {
        return "a content is not aligned to 4 bytes";
    }
    if (offset < image.lowest_content() || offset + rounded_to_units(size) > image.capacity()) {
        return "a content lies outside of the contents";
    }
    for (std::size_t unit = offset / bag_unit; unit != (offset + rounded_to_units(size)) / bag_unit; ++unit) {
        if (used[unit]) {
            return "two contents overlap";
        }
        used.set(unit);
    }
    for (std::size_t i = offset + size; i % bag_unit != 0; ++i) {
        if (image.memory()[i] != std::byte{0}) {
            return "a content is padded with other bytes than zeros";
        }
    }
    return "";
}

} // namespace

std::optional<bag_flaw> flaw_of(std::span<const std::byte> image) noexcept {
    if (image.size() > bag_limit) {
        return bag_flaw{bag_limit, "there are more bytes than a bag may have"};
    }
    if (image.size() < sizeof(bag_header)) {
        return bag_flaw{image.size(), "the header of 8 bytes is cut off"};
    }
    bag_header header;
    std::memcpy(&header, image.data(), sizeof header);
    if (header.format != bag_format) {
        constexpr std::uint16_t swapped = (bag_format & 0xffU) << 8 | bag_format >> 8;
        return bag_flaw{0, header.format == swapped ? "the bag has the other byte order" : "this is no bag"};
    }
    if (header.capacity * bag_unit != image.size()) {
        return bag_flaw{6, "the capacity is not the number of bytes"};
    }
    const std::size_t front = sizeof header + bag_bytes_an_entry * header.count;
    if (front > image.size()) {
        return bag_flaw{2, "there are more properties than bytes for them"};
    }
    if (header.contents % bag_unit != 0 || header.contents > image.size() - front) {
        return bag_flaw{4, "the contents don't fit behind the properties"};
    }
    const bag_reader bag(image.data());
    used_units used;
    for (std::size_t i = 0; i != bag.count(); ++i) {
        if (i != 0 && bag.hash(i) <= bag.hash(i - 1)) {
            return bag_flaw{sizeof header + i * sizeof(std::uint32_t), "the keys don't ascend"};
        }
        if (const std::string_view problem = flaw_of_entry(bag, i, used); !problem.empty()) {
            return bag_flaw{sizeof header + (bag.count() + i) * sizeof(std::uint32_t),
                            problem}; // of its word
        }
    }
    for (std::size_t i = front; i != image.size(); ++i) {
        if (image[i] != std::byte{0} && !used[i / bag_unit]) {
            return bag_flaw{i, "an unused byte is not zero"};
        }
    }
    return std::nullopt;
}

} // namespace handlepool::detail
