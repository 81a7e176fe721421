// SPDX-License-Identifier: MIT
#include "lives_format.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/deltas/lives_writer.hpp>
#include <handlepool/detail/recorder/recorded_event.hpp>
#include <handlepool/detail/time/little_endian.hpp>

#include <algorithm>
#include <utility>

namespace handlepool::detail {

namespace {

constexpr std::uint64_t header_bytes = 3 * sizeof(std::uint32_t);

std::uint64_t bytes_of(std::string_view text) {
    return sizeof(std::uint32_t) + text.size();
}

template <class Number>
std::byte* put(std::byte* to, Number number) noexcept {
    return std::ranges::copy(to_little_endian(number), to).out;
}

void write_text(snapshot_writer& to, std::string_view text) {
    to.number(static_cast<std::uint32_t>(text.size()));
    to.bytes(text.data(), text.size());
}

} // namespace

void lives_writer::note(const noted_life& life) noexcept {
    if (capture_exception([&] { lives_.push_back(life); })) {
        some_are_missing_ = true;
    }
}

void lives_writer::write(snapshot_writer& to, std::string_view name, const pool_of_lives& pool,
                         std::uint32_t frame) {
    encode(frame);
    std::uint64_t name_bytes = 0;
    for (const std::size_t each : written_) {
        name_bytes += bytes_of(names_[each].text);
    }
    to.begin_block(block_kind::lives, version, name,
                   header_bytes + bytes_of(pool.name) + sizeof(std::uint32_t) + name_bytes +
                       sizeof(std::uint64_t) + encoded_.size());
    to.number(pool.widths);
    to.number(pool.id);
    to.number(static_cast<std::uint32_t>(some_are_missing_));
    write_text(to, pool.name);
    to.number(static_cast<std::uint32_t>(written_.size()));
    for (const std::size_t each : written_) {
        write_text(to, names_[each].text);
    }
    to.number(static_cast<std::uint64_t>(lives_.size()));
    to.bytes(encoded_.data(), encoded_.size());
    to.end_block();
}

void lives_writer::encode(std::uint32_t frame) {
    for (const std::size_t each : written_) { // by the block before
        names_[each].number = 0;
    }
    written_.clear();
    encoded_.resize(lives_.size() * told_life_bytes);
    std::byte* to = encoded_.data();
    for (const noted_life& each : lives_) {
        to = put(to, each.handle);
        to = encode(each.beginning, frame, to);
        to = encode(each.end, frame, to);
    }
}

std::byte* lives_writer::encode(const noted_event& event, std::uint32_t frame, std::byte* to) {
    const named_caller& who = known(event.who);
    const std::uint32_t ago = (frame - event.frame) & life_record::frame_mask;
    const std::uint32_t since_last = (frame - told_frame_) & life_record::frame_mask;
    to = put(to, static_cast<std::uint32_t>(event.event) | (event.is_undone ? told_is_undone : 0) |
                     (event.is_there ? told_is_there : 0));
    to = put(to, event.is_unknown() || ago <= since_last ? std::uint32_t{0} : ago - since_last);
    to = put(to, number_of_name(who.thread));
    to = put(to, number_of_name(who.task));
    return put(to, number_of_name(who.site));
}

std::uint32_t lives_writer::number_of_name(std::size_t position) {
    known_name& name = names_[position];
    if (position != 0 && name.number == 0) {
        written_.push_back(position);
        name.number = static_cast<std::uint32_t>(written_.size());
    }
    return name.number;
}

void lives_writer::commit(std::uint32_t frame) noexcept {
    told_frame_ = frame;
    some_are_missing_ = false;
    // After a frame in which much has ended, its memory is not kept.
    if (lives_.capacity() > 4 * lives_.size() + 1024) {
        lives_ = {};
        encoded_ = {};
    }
    lives_.clear();
}

const lives_writer::named_caller& lives_writer::known(caller who) {
    const auto [found, is_new] = callers_.try_emplace(static_cast<std::uint64_t>(who));
    if (is_new && who != caller::unknown) {
        const auto thrown = capture_exception([&, &named = found->second] {
            const recorded_event told = recorded({.who = who}, 0);
            named = {.thread = position_of(told.thread),
                     .task = position_of(told.task),
                     .site = position_of(name_of_site(told.site, namer_))};
        });
        if (thrown) {
            callers_.erase(found);
            std::rethrow_exception(thrown);
        }
    }
    return found->second;
}

std::size_t lives_writer::position_of(std::string name) {
    if (name.empty()) {
        return 0;
    }
    if (const auto found = positions_.find(name); found != positions_.end()) {
        return found->second;
    }
    names_.push_back({.text = name});
    positions_.emplace(std::move(name), names_.size() - 1);
    return names_.size() - 1;
}

} // namespace handlepool::detail
