// SPDX-License-Identifier: MIT
#include "../shared/files.hpp"
#include "bag_merge.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/properties/bag_file.hpp>

#include <boost/crc.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ostream>
#include <utility>

namespace handlepool::detail {

namespace {

struct file_header {
    std::array<char, 8> magic;
    std::uint32_t format;
    std::uint32_t layout;
    std::uint64_t bags;
};
static_assert(sizeof(file_header) == 24);

constexpr std::array<char, 8> magic{'h', 'p', ' ', 'b', 'a', 'g', 's', '\n'};
constexpr std::uint32_t format_without_names = 1;
constexpr std::uint32_t format_with_names = 2;
constexpr std::size_t checksum_size = sizeof(std::uint32_t);

std::uint64_t slot_of(std::uint64_t handle, std::uint32_t layout) noexcept {
    const unsigned index_bits = layout & 0xff;
    return index_bits < 64 ? handle & ((std::uint64_t{1} << index_bits) - 1) : handle;
}

/// The value of that type that stands there.
template <class Value>
Value value_at(std::span<const std::byte> bytes, std::size_t offset) noexcept {
    Value value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

void add_paths(std::vector<property_hash>& paths, bag_reader bag) {
    for (std::size_t i = 0; i != bag.count(); ++i) {
        paths.push_back(bag.hash(i));
    }
}

void sort_and_unite(std::vector<property_hash>& paths) {
    std::ranges::sort(paths);
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
}

} // namespace

// ---- Writing ---------------------------------------------------------------------------------------------

struct bag_file_writer::state {
    std::ostream& out;
    const key_table* names;
    std::vector<property_hash> paths{}; // of the bags, if there may be names
    boost::crc_32_type checksum{};
    std::vector<std::uint32_t> compact{}; // a bag without what it does not use

    void write(const void* bytes, std::size_t size) {
        checksum.process_bytes(bytes, size);
        out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    }
    void write_number(std::size_t number) {
        const auto written = static_cast<std::uint32_t>(number);
        write(&written, sizeof written);
    }
    void write_names();
};

void bag_file_writer::state::write_names() {
    sort_and_unite(paths);
    std::vector<std::vector<std::string>> known;
    for (const property_hash path : paths) {
        if (auto keys = names->keys_of(path); !keys.empty()) {
            known.push_back(std::move(keys));
        }
    }
    write_number(known.size());
    for (const std::vector<std::string>& keys : known) {
        write_number(keys.size());
        for (const std::string& key : keys) {
            write_number(key.size());
            write(key.data(), key.size());
        }
    }
}

bag_file_writer::bag_file_writer(std::ostream& out, std::uint32_t layout, std::uint64_t bags,
                                 const key_table* names)
    : state_(new state{.out = out, .names = names}) {
    const file_header header{.magic = magic,
                             .format = names != nullptr ? format_with_names : format_without_names,
                             .layout = layout,
                             .bags = bags};
    state_->write(&header, sizeof header);
}

bag_file_writer::~bag_file_writer() = default;

void bag_file_writer::add(std::uint64_t handle, property_view bag) {
    const bag_reader reader = reader_of(bag);
    const std::size_t size = reader.compact_size();
    state_->compact.resize(size / sizeof(std::uint32_t));
    auto* const memory = static_cast<std::byte*>(static_cast<void*>(state_->compact.data()));
    copy_to(memory, size, reader);
    if (state_->names != nullptr) {
        add_paths(state_->paths, reader);
    }
    state_->write(&handle, sizeof handle);
    state_->write(memory, size);
}

void bag_file_writer::end() {
    if (state_->names != nullptr) {
        state_->write_names();
    }
    const std::uint32_t checksum = state_->checksum.checksum();
    state_->write(&checksum, sizeof checksum);
}

// ---- Reading ---------------------------------------------------------------------------------------------

bag_file_reader::bag_file_reader(std::span<const std::byte> bytes, std::uint32_t layout) : layout_(layout) {
    if (bytes.size() < sizeof(file_header) + checksum_size) {
        refuse(bytes.size(), "it is shorter than the file of a store can be");
        return;
    }
    bytes_ = bytes.first(bytes.size() - checksum_size);
    const auto header = value_at<file_header>(bytes, 0);
    boost::crc_32_type checksum;
    checksum.process_bytes(bytes_.data(), bytes_.size());
    if (header.magic != magic) {
        refuse(0, "it is not the file of a store");
    } else if (header.format != format_without_names && header.format != format_with_names) {
        refuse(8, "it is of another version, or of a machine with the other byte order");
    } else if (checksum.checksum() != value_at<std::uint32_t>(bytes, bytes_.size())) {
        refuse(bytes_.size(), "the checksum is not that of the bytes before it");
    } else if (header.layout != layout) {
        refuse(12, "its handles are of another layout");
    }
    has_names_ = header.format == format_with_names;
    bags_left_ = header.bags;
    offset_ = sizeof header;
}

bool bag_file_reader::next() {
    if (has_flaw()) {
        return false;
    }
    const std::size_t left = bytes_.size() - offset_;
    if (bags_left_ == 0) {
        return has_names_  ? read_names()
               : left != 0 ? refuse(offset_, "something comes after the last bag")
                           : false;
    }
    if (left < sizeof handle_ + sizeof(bag_header)) {
        return refuse(offset_, "a bag is missing");
    }
    handle_offset_ = offset_;
    const auto handle = value_at<std::uint64_t>(bytes_, offset_);
    if (offset_ != sizeof(file_header) && slot_of(handle, layout_) <= slot_of(handle_, layout_)) {
        return refuse(offset_, "the slots don't ascend");
    }
    handle_ = handle;
    offset_ += sizeof handle;
    const std::size_t size = std::size_t{value_at<bag_header>(bytes_, offset_).capacity} * bag_unit;
    if (size > bytes_.size() - offset_) {
        return refuse(offset_, "a bag is cut off");
    }
    bag_.resize(size / sizeof(std::uint32_t));
    if (size != 0) {
        std::memcpy(bag_.data(), bytes_.data() + offset_, size);
    }
    if (const std::optional<bag_flaw> flaw = flaw_of(std::as_bytes(std::span(bag_)))) {
        return refuse(offset_ + flaw->offset, flaw->problem);
    }
    if (reader_of(bag()).compact_size() != size) {
        return refuse(offset_, "a bag has unused bytes");
    }
    offset_ += size;
    --bags_left_;
    if (has_names_) {
        add_paths(paths_, reader_of(bag()));
    }
    return true;
}

/// False: no bag comes after them.
bool bag_file_reader::read_names() {
    has_names_ = false; // once
    sort_and_unite(paths_);
    const auto count = read_number();
    if (!count) {
        return refuse(offset_, "the number of names is cut off");
    }
    std::optional<property_hash> before;
    for (std::uint32_t i = 0; i != *count; ++i) {
        const std::size_t begin = offset_;
        const std::optional<property_hash> path = read_name();
        if (!path) {
            return false; // and there is a flaw
        }
        if (before && *path <= *before) {
            return refuse(begin, "the names don't ascend");
        }
        if (!std::ranges::binary_search(paths_, *path)) {
            return refuse(begin, "a name is that of a path which no bag has");
        }
        before = path;
    }
    return offset_ != bytes_.size() && refuse(offset_, "something comes after the last name");
}

/// The path, which the table knows from there on.
std::optional<property_hash> bag_file_reader::read_name() {
    const std::size_t begin = offset_;
    const auto refuse_name = [&](std::string_view problem) {
        refuse(begin, problem);
        return std::nullopt;
    };
    const auto count = read_number();
    if (count == 0U) {
        return refuse_name("a name has no keys");
    }
    // Each has 4 bytes at least: no number in the file makes the reader ask for more memory than that.
    if (!count || *count > (bytes_.size() - offset_) / sizeof(std::uint32_t)) {
        return refuse_name("a name is cut off");
    }
    std::vector<std::string_view> keys;
    for (std::uint32_t i = 0; i != *count; ++i) {
        const auto size = read_number();
        if (!size || *size > bytes_.size() - offset_) {
            return refuse_name("a name is cut off");
        }
        const std::span<const std::byte> key = bytes_.subspan(offset_, *size);
        keys.emplace_back(reinterpret_cast<const char*>(key.data()), key.size());
        offset_ += *size;
    }
    std::string collision;
    if (const auto path = names_.try_add(keys, collision)) {
        return path->hash();
    }
    return refuse_name("two names have the same hash");
}

std::optional<std::uint32_t> bag_file_reader::read_number() noexcept {
    if (bytes_.size() - offset_ < sizeof(std::uint32_t)) {
        return std::nullopt;
    }
    offset_ += sizeof(std::uint32_t);
    return value_at<std::uint32_t>(bytes_, offset_ - sizeof(std::uint32_t));
}

property_view bag_file_reader::bag() const noexcept {
    return {std::as_bytes(std::span(bag_)).data(), nullptr};
}

void bag_file_reader::refuse_handle() noexcept {
    refuse(handle_offset_, "no object of one pool has that handle");
}

bool bag_file_reader::refuse(std::size_t offset, std::string_view problem) noexcept {
    flaw_ = bag_flaw{offset, problem};
    return false;
}

std::string bag_file_reader::flaw_text(std::string_view where) const {
    return invalid_bag(where, flaw_->offset, flaw_->problem).what();
}

void bag_file_reader::raise_flaw(std::string_view where) const {
    if (has_flaw()) {
        throw_exception(invalid_bag(where, flaw_->offset, flaw_->problem));
    }
}

// ---- Files -----------------------------------------------------------------------------------------------

std::error_code write_bag_file(const std::filesystem::path& file,
                               const std::function<void(std::ostream&)>& write) {
    return write_file(file, write);
}

std::optional<std::string> try_bag_file_bytes(const std::filesystem::path& file, std::string& error) {
    return try_read_file(file, error);
}

std::string bag_file_bytes(const std::filesystem::path& file) {
    return read_file(file);
}

void raise_file_error(std::error_code error, const std::filesystem::path& file) {
    throw_file_error(error, file);
}

} // namespace handlepool::detail
