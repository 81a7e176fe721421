// SPDX-License-Identifier: MIT
#include "../shared/refusal_text.hpp"
#include "journal_format.hpp"
#include "snapshot_format.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/journal/journal_scan.hpp>
#include <handlepool/detail/snapshots/content_hash.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/detail/time/little_endian.hpp>
#include <handlepool/snapshots/invalid_journal.hpp>

#include <algorithm>
#include <concepts>

namespace handlepool {

journal_storage::~journal_storage() = default;

namespace detail {

namespace {

// More than an entry needs, so that small ones are read many at a time.
constexpr std::uint64_t read_ahead = std::uint64_t{1} << 16;

template <std::unsigned_integral Number>
Number number_at(std::span<const std::byte> bytes, std::size_t at) noexcept {
    return from_little_endian<Number>(bytes.data() + at);
}

bool begins_with(std::span<const std::byte> bytes, std::string_view mark) noexcept {
    return std::ranges::equal(bytes.first(mark.size()), std::as_bytes(std::span(mark)));
}

std::string text_of_hashes(std::uint64_t there, std::uint64_t expected) {
    return "its hash is " + text_of_hash(there) + ", and " + text_of_hash(expected) + " is expected";
}

} // namespace

journal_scan::journal_scan(std::unique_ptr<journal_storage> storage, std::string_view name)
    : storage_(std::move(storage)), name_(name) {
    read_header();
}

void journal_scan::read_header() {
    const auto header = bytes(0, journal_header_bytes);
    const auto mark = header.first((std::min)(header.size(), journal_mark.size()));
    if (!std::ranges::equal(mark, std::as_bytes(std::span(journal_mark)).first(mark.size())) ||
        mark.empty()) {
        refuse(0, "this is no journal; \"hp journ\" is expected");
    }
    if (header.size() < journal_header_bytes) {
        refuse(0, "the header of the file is cut off: 40 bytes are expected, and " +
                      counted(header.size(), "byte", "there"));
    }
    if (const auto format = number_at<std::uint32_t>(header, 8); format != journal_format) {
        refuse(8, "format " + std::to_string(format) + " is unknown; known is 1");
    }
    header_hash_ = number_at<std::uint64_t>(header, journal_header_hashed);
    if (const auto hash = content_hash_of(header.first(journal_header_hashed)); hash != header_hash_) {
        refuse(0, "the header of the file is damaged: " + text_of_hashes(hash, header_hash_));
    }
    if (const auto zero = number_at<std::uint32_t>(header, 12); zero != 0) {
        refuse(12, "0 is expected, and " + std::to_string(zero) + " is there");
    }
    origin_ = {.world = number_at<std::uint64_t>(header, 16), .frame = number_at<std::uint64_t>(header, 24)};
    frame_ = synced_frame_ = origin_.frame;
    last_hash_ = header_hash_;
    offset_ = journal_header_bytes;
}

bool journal_scan::next() {
    std::uint64_t end = 0;
    std::optional<std::string> problem = read_entry();
    if (problem) { // others may write there: what is there now is compared with where it ends now
        buffered_ = 0;
        end = size_of_storage();
        problem = read_entry();
    }
    if (!problem) {
        tail_ = {};
        return true;
    }
    buffered_ = 0;
    parts_.clear();
    tail_ = {.offset = offset_, .bytes = end > offset_ ? end - offset_ : 0, .problem = std::move(*problem)};
    if (tail_.bytes == 0) {
        tail_.problem.clear();
    } else {
        look_for_whole_entries(end);
        buffered_ = 0;
    }
    return false;
}

/// The entry behind the last one, or what is there instead of it.
std::optional<std::string> journal_scan::read_entry() {
    const auto header = bytes(offset_, entry_header_bytes);
    if (header.size() < entry_header_bytes) {
        return "the header of an entry is expected, which has 56 bytes, and " +
               counted(header.size(), "byte", "there");
    }
    if (!begins_with(header, entry_mark)) {
        return "an entry is expected, which begins with \"hp frame\"";
    }
    const auto header_hash = number_at<std::uint64_t>(header, entry_header_hashed);
    if (const auto hash = hash_of_entry_header(header_hash_, header.first<entry_header_hashed>());
        hash != header_hash) {
        return "the header of the entry is damaged, or of another journal: " +
               text_of_hashes(hash, header_hash);
    }
    const auto size = number_at<std::uint64_t>(header, entry_size_at);
    if (size < least_entry_bytes || size % 8 != 0) {
        return "an entry has a multiple of 8 bytes, 64 or more, and this one says " + std::to_string(size);
    }
    const auto frame = number_at<std::uint64_t>(header, entry_frame_at);
    const auto previous = number_at<std::uint64_t>(header, entry_previous_at);
    const auto synced = number_at<std::uint64_t>(header, entry_synced_at);
    const auto count = number_at<std::uint32_t>(header, entry_parts_at);
    const auto zero = number_at<std::uint32_t>(header, entry_zero_at);
    // Before there is memory for it.
    std::uint64_t there = buffer_begin_ + buffered_ - offset_;
    if (size > there) {
        const std::uint64_t end = size_of_storage();
        there = end > offset_ ? end - offset_ : 0;
    }
    const auto entry = bytes(offset_, static_cast<std::size_t>((std::min)(size, there)));
    if (entry.size() < size) {
        return "the entry is cut off: " + counted(size, "byte", "expected, and ") +
               counted(entry.size(), "byte", "there");
    }
    const auto body = entry.first(entry.size() - entry_hash_bytes);
    const auto entry_hash = number_at<std::uint64_t>(entry, body.size());
    if (const auto hash = content_hash_of(body); hash != entry_hash) {
        return "the entry is damaged: " + text_of_hashes(hash, entry_hash);
    }
    if (previous != last_hash_) {
        return "this is the entry of frame " + std::to_string(frame) +
               ", which goes on from another one: from hash " + text_of_hash(previous) + ", and " +
               text_of_hash(last_hash_) + " is expected";
    }
    if (frame != frame_ + 1) {
        return "this is the entry of frame " + std::to_string(frame);
    }
    if (synced >= frame) {
        return "the entry says that the disk had frame " + std::to_string(synced) +
               ", which is no earlier one";
    }
    if (zero != 0) {
        return "0 is expected in the header of the entry, and " + std::to_string(zero) + " is there";
    }
    if (auto problem = read_parts(body.subspan(entry_header_bytes), count)) {
        return problem;
    }
    frame_ = frame;
    synced_frame_ = (std::max)(synced_frame_, synced);
    last_hash_ = entry_hash;
    offset_ += size;
    return std::nullopt;
}

std::optional<std::string> journal_scan::read_parts(std::span<const std::byte> body, std::uint32_t count) {
    parts_.clear();
    const auto total = body.size();
    const auto problem_of = [&](std::string_view what) {
        return "part " + std::to_string(parts_.size() + 1) + " of " + std::to_string(count) + ", byte " +
               std::to_string(entry_header_bytes + total - body.size()) +
               " of the entry: " + std::string(what);
    };
    const auto skip_padding = [&body](std::uint64_t size) {
        const auto padding = body.first(padding_of(size));
        body = body.subspan(padding.size());
        return std::ranges::all_of(padding, [](std::byte each) { return each == std::byte{0}; });
    };
    for (std::uint32_t i = 0; i != count; ++i) {
        if (body.size() < part_header_bytes) {
            return problem_of("its header has 16 bytes, and " + counted(body.size(), "byte", "left"));
        }
        const auto size = number_at<std::uint64_t>(body, 0);
        const auto name_size = number_at<std::uint32_t>(body, 8);
        if (number_at<std::uint32_t>(body, 12) != 0) {
            return problem_of("0 is expected at its byte 12");
        }
        const auto left = body.size() - part_header_bytes;
        if (name_size > left || padding_of(name_size) > left - name_size) {
            return problem_of("its name ends behind the entry");
        }
        body = body.subspan(part_header_bytes);
        const std::string_view name(reinterpret_cast<const char*>(body.data()), name_size);
        if (const auto problem = problem_of_name(name)) {
            return problem_of(*problem);
        }
        body = body.subspan(name_size);
        if (!skip_padding(name_size)) {
            return problem_of("zeros are expected behind its name");
        }
        if (size > body.size() || padding_of(size) > body.size() - size) {
            return problem_of("it ends behind the entry");
        }
        const auto bytes = body.first(static_cast<std::size_t>(size));
        body = body.subspan(bytes.size());
        if (!skip_padding(size)) {
            return problem_of("zeros are expected behind it");
        }
        parts_.push_back({.name = name, .bytes = bytes});
    }
    if (!body.empty()) {
        return counted(count, "part", "expected, and ") + counted(body.size(), "byte", "left behind them");
    }
    names_.clear();
    for (const journal_part& each : parts_) {
        names_.push_back(each.name);
    }
    std::ranges::sort(names_);
    if (const auto same = std::ranges::adjacent_find(names_); same != names_.end()) {
        return "two parts have the name '" + printable(*same) + "'; each needs its own";
    }
    return std::nullopt;
}

/// The size of an entry whose hashes are right, whatever it goes on from; nothing if there is none.
std::optional<std::uint64_t> journal_scan::size_of_whole_entry(std::uint64_t offset, std::uint64_t end) {
    const auto header = bytes(offset, entry_header_bytes);
    if (header.size() < entry_header_bytes || !begins_with(header, entry_mark) ||
        hash_of_entry_header(header_hash_, header.first<entry_header_hashed>()) !=
            number_at<std::uint64_t>(header, entry_header_hashed)) {
        return std::nullopt;
    }
    const auto size = number_at<std::uint64_t>(header, entry_size_at);
    if (size < least_entry_bytes || size > end - offset) {
        return std::nullopt;
    }
    const auto entry = bytes(offset, static_cast<std::size_t>(size));
    if (entry.size() < size) {
        return std::nullopt;
    }
    const auto body = entry.first(entry.size() - entry_hash_bytes);
    return content_hash_of(body) == number_at<std::uint64_t>(entry, body.size()) ? std::optional(size)
                                                                                 : std::nullopt;
}

void journal_scan::look_for_whole_entries(std::uint64_t end) {
    const auto mark = std::as_bytes(std::span(entry_mark));
    for (std::uint64_t at = offset_; at < end && end - at >= least_entry_bytes;) {
        const auto window = bytes(at, static_cast<std::size_t>((std::min)(end - at, read_ahead)));
        const auto found = std::search(window.begin(), window.end(), mark.begin(), mark.end());
        if (found == window.end()) {
            if (window.size() < read_ahead) {
                return;
            }
            at += window.size() - mark.size() + 1;
            continue;
        }
        at += static_cast<std::uint64_t>(found - window.begin());
        const auto size = size_of_whole_entry(at, end);
        if (!size) {
            ++at;
            continue;
        }
        const auto header = bytes(at, entry_header_bytes);
        ++tail_.whole_entries;
        tail_.last_frame = number_at<std::uint64_t>(header, entry_frame_at);
        tail_.was_synced = tail_.was_synced || number_at<std::uint64_t>(header, entry_synced_at) > frame_;
        at += *size;
    }
}

std::span<const std::byte> journal_scan::bytes(std::uint64_t offset, std::size_t size) {
    const bool is_there = offset >= buffer_begin_ && offset - buffer_begin_ <= buffered_ &&
                          buffered_ - static_cast<std::size_t>(offset - buffer_begin_) >= size;
    if (!is_there) {
        buffered_ = 0;
        const std::uint64_t end = size_of_storage();
        const std::uint64_t ahead = (std::min)(end > offset ? end - offset : 0, read_ahead);
        buffer_.resize((std::max)({buffer_.size(), size, static_cast<std::size_t>(ahead)}));
        buffer_begin_ = offset;
        while (buffered_ != buffer_.size()) {
            std::error_code error;
            const std::size_t read =
                storage_->read(offset + buffered_, std::span(buffer_).subspan(buffered_), error);
            if (error && error != std::errc::interrupted) {
                buffered_ = 0;
                throw_error(error);
            }
            buffered_ += read;
            if (read == 0 && !error) {
                break;
            }
        }
    }
    const auto from = static_cast<std::size_t>(offset - buffer_begin_);
    return std::span<const std::byte>(buffer_).subspan(from, (std::min)(size, buffered_ - from));
}

std::uint64_t journal_scan::size_of_storage() {
    std::error_code error;
    const std::uint64_t size = storage_->size(error);
    if (error) {
        throw_error(error);
    }
    return size;
}

void journal_scan::refuse_tail(std::string_view advice) const {
    std::string problem = tail_.problem;
    if (tail_.whole_entries != 0) {
        problem += "; whole entries from there on: " + std::to_string(tail_.whole_entries) +
                   ", the last of frame " + std::to_string(tail_.last_frame);
    }
    if (!advice.empty()) {
        problem += "; ";
        problem += advice;
    }
    throw_exception(invalid_journal("journal '" + printable(name_) + "', byte " +
                                    std::to_string(tail_.offset) + ", frame " + std::to_string(frame_ + 1) +
                                    ": " + problem));
}

void journal_scan::refuse(std::uint64_t offset, std::string_view problem) const {
    throw_exception(invalid_journal("journal '" + printable(name_) + "', byte " + std::to_string(offset) +
                                    ": " + std::string(problem)));
}

void journal_scan::throw_error(std::error_code error) const {
    throw_exception(std::system_error(error, "journal '" + printable(name_) + '\''));
}

} // namespace detail
} // namespace handlepool
