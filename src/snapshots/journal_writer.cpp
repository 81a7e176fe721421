// SPDX-License-Identifier: MIT
#include "journal_format.hpp"
#include "snapshot_format.hpp"
#include "whole_writes.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/journal/journal_file.hpp>
#include <handlepool/detail/journal/journal_scan.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/detail/time/little_endian.hpp>
#include <handlepool/snapshots/journal_writer.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <concepts>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

namespace handlepool {

namespace {

using detail::to_little_endian;

/// Writes into bytes that have room for it.
class byte_cursor {
public:
    explicit byte_cursor(std::byte* next) noexcept : next_(next) {}

    template <std::unsigned_integral Number>
    void number(Number number) noexcept {
        next_ = std::ranges::copy(to_little_endian(number), next_).out;
    }
    void bytes(std::span<const std::byte> bytes) noexcept { next_ = std::ranges::copy(bytes, next_).out; }
    void text(std::string_view text) noexcept { bytes(std::as_bytes(std::span(text))); }
    void padded(std::span<const std::byte> padded) noexcept {
        bytes(padded);
        next_ = std::fill_n(next_, detail::padding_of(padded.size()), std::byte{0});
    }

private:
    std::byte* next_;
};

std::size_t padded_size(std::size_t size) noexcept {
    return size + detail::padding_of(size);
}

[[noreturn]] void refuse_append(std::string_view journal, std::uint64_t frame, std::string_view problem) {
    detail::throw_exception(std::invalid_argument("journal '" + detail::printable(journal) + "', frame " +
                                                  std::to_string(frame) + ": " + std::string(problem)));
}

} // namespace

journal_writer::journal_writer(std::unique_ptr<journal_storage> storage, std::string_view name,
                               const journal_options& options)
    : storage_(std::move(storage)), name_(name), options_(options) {}

journal_writer::journal_writer(journal_writer&& other) noexcept = default;
journal_writer& journal_writer::operator=(journal_writer&& other) noexcept = default;
journal_writer::~journal_writer() = default;

journal_writer journal_writer::create(const std::filesystem::path& file, const journal_origin& origin,
                                      const journal_options& options) {
    return create(detail::open_journal_file(file, detail::journal_file_use::create), file.string(), origin,
                  options);
}

journal_writer journal_writer::create(std::unique_ptr<journal_storage> storage, std::string_view name,
                                      const journal_origin& origin, const journal_options& options) {
    journal_writer made(std::move(storage), name, options);
    std::array<std::byte, detail::journal_header_bytes> header{};
    byte_cursor to(header.data());
    to.text(detail::journal_mark);
    to.number(detail::journal_format);
    to.number(std::uint32_t{0});
    to.number(origin.world);
    to.number(origin.frame);
    made.header_hash_ = made.last_hash_ =
        detail::content_hash_of(std::span(header).first(detail::journal_header_hashed));
    to.number(made.header_hash_);

    std::error_code error;
    made.storage_->truncate(0, error);
    if (!error) {
        error = detail::write_all(*made.storage_, 0, header);
    }
    if (!error) {
        error = detail::wait_for_disk(*made.storage_);
    }
    if (!error) {
        made.storage_->publish(error);
    }
    if (error) {
        detail::throw_exception(
            std::system_error(error, "journal '" + detail::printable(name) + "' can't be made"));
    }
    made.origin_ = origin;
    made.size_ = header.size();
    made.frame_ = made.synced_frame_ = origin.frame;
    return made;
}

journal_writer journal_writer::open(const std::filesystem::path& file, const journal_options& options) {
    return open(detail::open_journal_file(file, detail::journal_file_use::append), file.string(), options);
}

journal_writer journal_writer::open(std::unique_ptr<journal_storage> storage, std::string_view name,
                                    const journal_options& options) {
    detail::journal_scan scan(std::move(storage), name);
    while (scan.next()) {
    }
    const journal_tail tail = scan.tail();
    if (tail.was_synced) {
        scan.refuse_tail("the disk had this one");
    }
    if (tail.whole_entries != 0 && options.repair != journal_repair::cut_unsynced) {
        scan.refuse_tail(
            "nothing says that the disk had this one, so journal_repair::cut_unsynced cuts them off");
    }
    if (tail.bytes != 0 && options.repair == journal_repair::refuse) {
        scan.refuse_tail("");
    }
    journal_writer opened(nullptr, name, options);
    opened.origin_ = scan.origin();
    opened.tail_ = tail;
    opened.header_hash_ = scan.header_hash();
    opened.last_hash_ = scan.last_hash();
    opened.size_ = scan.offset();
    opened.frame_ = scan.frame();
    opened.synced_frame_ = scan.synced_frame();
    opened.unsynced_ = opened.frame_ - opened.synced_frame_;
    opened.storage_ = std::move(scan).release();
    if (tail.bytes != 0) {
        if (const std::error_code error = detail::cut_off(*opened.storage_, opened.size_)) {
            opened.throw_error(error, opened.frame_ + 1,
                               "what follows the last whole entry can't be cut off");
        }
        opened.synced_frame_ = opened.frame_;
        opened.unsynced_ = 0;
    }
    return opened;
}

void journal_writer::append(std::uint64_t frame, std::span<const journal_part> parts) {
    require_whole();
    if (frame_ == std::numeric_limits<std::uint64_t>::max()) {
        refuse_append(name_, frame, "there is no frame after " + std::to_string(frame_));
    }
    if (frame != frame_ + 1) {
        refuse_append(name_, frame, "frame " + std::to_string(frame_ + 1) + " is the next one");
    }
    encode(frame, parts);
    if (const std::error_code error = detail::write_all(*storage_, size_, entry_)) {
        std::error_code not_taken_back;
        storage_->truncate(size_, not_taken_back);
        broken_ = not_taken_back;
        throw_error(error, frame, broken_ ? "the entry is written in part" : "the entry can't be written");
    }
    size_ += entry_.size();
    frame_ = frame;
    last_hash_ =
        detail::from_little_endian<std::uint64_t>(entry_.data() + entry_.size() - detail::entry_hash_bytes);
    ++unsynced_;
    if (options_.sync_every != 0 && unsynced_ >= options_.sync_every) {
        sync();
    }
}

/// Into entry_.
void journal_writer::encode(std::uint64_t frame, std::span<const journal_part> parts) {
    if (parts.size() > std::numeric_limits<std::uint32_t>::max()) {
        refuse_append(name_, frame, "there are more than 4294967295 parts");
    }
    names_.clear();
    std::size_t size = detail::least_entry_bytes;
    for (const journal_part& each : parts) {
        if (const auto problem = detail::problem_of_name(each.name)) {
            refuse_append(name_, frame, "part '" + detail::printable(each.name) + "': " + *problem);
        }
        names_.push_back(each.name);
        size += detail::part_header_bytes + padded_size(each.name.size()) + padded_size(each.bytes.size());
    }
    std::ranges::sort(names_);
    if (const auto same = std::ranges::adjacent_find(names_); same != names_.end()) {
        refuse_append(name_, frame,
                      "two parts have the name '" + detail::printable(*same) + "'; each needs its own");
    }
    entry_.resize(size);
    byte_cursor to(entry_.data());
    to.text(detail::entry_mark);
    to.number(std::uint64_t{size});
    to.number(frame);
    to.number(last_hash_);
    to.number(synced_frame_);
    to.number(static_cast<std::uint32_t>(parts.size()));
    to.number(std::uint32_t{0});
    to.number(detail::hash_of_entry_header(
        header_hash_, std::span<const std::byte>(entry_).first<detail::entry_header_hashed>()));
    for (const journal_part& each : parts) {
        to.number(std::uint64_t{each.bytes.size()});
        to.number(static_cast<std::uint32_t>(each.name.size()));
        to.number(std::uint32_t{0});
        to.padded(std::as_bytes(std::span(each.name)));
        to.padded(each.bytes);
    }
    to.number(detail::content_hash_of(std::span(entry_).first(size - detail::entry_hash_bytes)));
}

void journal_writer::sync() {
    require_whole();
    if ((broken_ = detail::wait_for_disk(*storage_))) {
        throw_error(broken_, frame_, "the disk may lack any entry since the last sync");
    }
    synced_frame_ = frame_;
    unsynced_ = 0;
}

void journal_writer::require_whole() const {
    if (broken_) {
        throw_error(broken_, frame_, "an error before has broken this writer; go on with a new journal");
    }
}

void journal_writer::throw_error(std::error_code error, std::uint64_t frame, std::string_view problem) const {
    detail::throw_exception(std::system_error(error, "journal '" + detail::printable(name_) + "', frame " +
                                                         std::to_string(frame) + ": " +
                                                         std::string(problem)));
}

} // namespace handlepool
