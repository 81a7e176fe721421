#include "files.hpp"

#include <handlepool/detail/bag_buffer.hpp>
#include <handlepool/detail/bag_file.hpp>
#include <handlepool/detail/raise.hpp>

#include <boost/crc.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ostream>

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
constexpr std::uint32_t format = 1;
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

} // namespace

// ---- Writing ---------------------------------------------------------------------------------------------

struct bag_file_writer::state {
    std::ostream& out;
    boost::crc_32_type checksum{};
    std::vector<std::uint32_t> compact{}; // a bag without what it does not use

    void write(const void* bytes, std::size_t size) {
        checksum.process_bytes(bytes, size);
        out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    }
};

bag_file_writer::bag_file_writer(std::ostream& out, std::uint32_t layout, std::uint64_t bags)
    : state_(new state{.out = out}) {
    const file_header header{.magic = magic, .format = format, .layout = layout, .bags = bags};
    state_->write(&header, sizeof header);
}

bag_file_writer::~bag_file_writer() = default;

void bag_file_writer::add(std::uint64_t handle, property_view bag) {
    const bag_reader reader(bag.bytes().data());
    const std::size_t size = reader.compact_size();
    state_->compact.resize(size / sizeof(std::uint32_t));
    auto* const memory = static_cast<std::byte*>(static_cast<void*>(state_->compact.data()));
    copy_to(memory, size, reader);
    state_->write(&handle, sizeof handle);
    state_->write(memory, size);
}

void bag_file_writer::end() {
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
    } else if (header.format != format) {
        refuse(8, "it is of another version, or of a machine with the other byte order");
    } else if (checksum.checksum() != value_at<std::uint32_t>(bytes, bytes_.size())) {
        refuse(bytes_.size(), "the checksum is not that of the bytes before it");
    } else if (header.layout != layout) {
        refuse(12, "its handles are of another layout");
    }
    bags_left_ = header.bags;
    offset_ = sizeof header;
}

bool bag_file_reader::next() {
    if (has_flaw() || (offset_ == bytes_.size() && bags_left_ == 0)) {
        return false;
    }
    const std::size_t left = bytes_.size() - offset_;
    if (bags_left_ == 0) {
        return refuse(offset_, "something comes after the last bag");
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
    if (bag_reader(std::as_bytes(std::span(bag_)).data()).compact_size() != size) {
        return refuse(offset_, "a bag has unused bytes");
    }
    offset_ += size;
    --bags_left_;
    return true;
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
        raise(invalid_bag(where, flaw_->offset, flaw_->problem));
    }
}

// ---- Files -----------------------------------------------------------------------------------------------

std::error_code write_bag_file(const std::filesystem::path& file,
                               const std::function<void(std::ostream&)>& write) {
    return write_file(file, write);
}

std::optional<std::string> try_bag_file_bytes(const std::filesystem::path& file, std::string& error) {
    std::string bytes;
    if (const std::error_code failure = read_file(file, bytes)) {
        error = file_error(failure, file).what();
        return std::nullopt;
    }
    return bytes;
}

std::string bag_file_bytes(const std::filesystem::path& file) {
    std::string bytes;
    raise_file_error(read_file(file, bytes), file);
    return bytes;
}

void raise_file_error(std::error_code error, const std::filesystem::path& file) {
    if (error) {
        raise(file_error(error, file));
    }
}

} // namespace handlepool::detail
