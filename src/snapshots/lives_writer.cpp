// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/deltas/lives_writer.hpp>
#include <handlepool/detail/recorder/recorded_event.hpp>

namespace handlepool::detail {

namespace {

constexpr std::uint64_t header_bytes = 5 * sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::uint64_t event_bytes = 5 * sizeof(std::uint32_t);
constexpr std::uint64_t life_bytes = sizeof(std::uint64_t) + 2 * event_bytes;

void write_text(snapshot_writer& to, std::string_view text) {
    to.number(static_cast<std::uint32_t>(text.size()));
    to.bytes(text.data(), text.size());
}

} // namespace

void lives_writer::begin() noexcept {
    lives_ = {};
    texts_ = {};
    numbers_ = {};
    callers_ = {};
    told_ = 0;
    some_are_missing_ = false;
}

void lives_writer::note(const noted_life& life) noexcept {
    if (capture_exception([&] { lives_.push_back(life); })) {
        some_are_missing_ = true;
    }
}

void lives_writer::note_reset(const noted_event& reset) noexcept {
    for (noted_life& each : lives_) {
        if (each.end.event == life_event::forgotten && each.end.who == caller::unknown) {
            each.end = reset;
        }
    }
}

void lives_writer::write(snapshot_writer& to, std::string_view name, const pool_of_lives& pool) {
    for (const noted_life& each : lives_) {
        static_cast<void>(numbers_of(each.beginning.who));
        static_cast<void>(numbers_of(each.end.who));
    }
    std::uint64_t text_bytes = sizeof(std::uint32_t) + pool.name.size();
    for (std::size_t i = told_; i != texts_.size(); ++i) {
        text_bytes += sizeof(std::uint32_t) + texts_[i].size();
    }
    to.begin_block(block_kind::lives, version, name, header_bytes + text_bytes + lives_.size() * life_bytes);
    to.number(pool.widths);
    to.number(pool.id);
    to.number(static_cast<std::uint32_t>(some_are_missing_));
    to.number(static_cast<std::uint32_t>(told_));
    to.number(static_cast<std::uint32_t>(texts_.size() - told_));
    to.number(static_cast<std::uint64_t>(lives_.size()));
    write_text(to, pool.name);
    for (std::size_t i = told_; i != texts_.size(); ++i) {
        write_text(to, texts_[i]);
    }
    for (const noted_life& each : lives_) {
        to.number(each.handle);
        write(to, each.beginning);
        write(to, each.end);
    }
    to.end_block();
}

void lives_writer::write(snapshot_writer& to, const noted_event& event) {
    const numbered_caller who = numbers_of(event.who);
    to.number(static_cast<std::uint32_t>(event.event) | (event.is_undone ? std::uint32_t{256} : 0));
    to.number(event.frames_ago);
    to.number(who.thread);
    to.number(who.task);
    to.number(who.site);
}

void lives_writer::commit() noexcept {
    told_ = texts_.size();
    some_are_missing_ = false;
    // After a frame in which much has ended, its memory is not kept.
    if (lives_.capacity() > 4 * lives_.size() + 1024) {
        lives_ = {};
    }
    lives_.clear();
}

lives_writer::numbered_caller lives_writer::numbers_of(caller who) {
    if (who == caller::unknown) {
        return {};
    }
    if (const auto known = callers_.find(static_cast<std::uint64_t>(who)); known != callers_.end()) {
        return known->second;
    }
    const recorded_event told = recorded({.who = who}, 0);
    const numbered_caller numbers{.thread = number_of(told.thread),
                                  .task = number_of(told.task),
                                  .site = number_of(name_of_site(told.site, namer_))};
    callers_.emplace(static_cast<std::uint64_t>(who), numbers);
    return numbers;
}

std::uint32_t lives_writer::number_of(const std::string& text) {
    if (text.empty()) {
        return 0;
    }
    if (const auto known = numbers_.find(text); known != numbers_.end()) {
        return known->second;
    }
    texts_.push_back(text);
    const auto number = static_cast<std::uint32_t>(texts_.size());
    numbers_.emplace(text, number);
    return number;
}

} // namespace handlepool::detail
