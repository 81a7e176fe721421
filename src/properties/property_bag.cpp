// SPDX-License-Identifier: MIT
#include "bag_merge.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/property_bag.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace handlepool {

namespace {

using detail::bag_entry;
using detail::bag_limit;
using detail::bag_reader;

std::unique_ptr<std::byte[]> allocate(std::size_t bytes) {
    return std::unique_ptr<std::byte[]>(new std::byte[bytes]);
}

} // namespace

property_bag::property_bag(property_view properties) : property_reader(properties) {
    if (empty()) {
        adopt(nullptr);
    } else {
        move_to(buffer().compact_size());
    }
}

property_bag& property_bag::operator=(const property_bag& other) {
    if (other.memory_ == nullptr) {
        adopt(nullptr);
    } else if (this != &other) {
        if (memory_ == nullptr || capacity() != other.capacity()) {
            adopt(allocate(other.capacity()));
        }
        std::ranges::copy(other.bytes(), memory_.get());
    }
    property_reader::set_names(other.names());
    return *this;
}

property_bag& property_bag::operator=(property_bag&& other) noexcept {
    property_bag taken(std::move(other)); // also what is assigned to itself
    swap(taken);
    return *this;
}

void property_bag::swap(property_bag& other) noexcept {
    property_reader::swap(other);
    memory_.swap(other.memory_);
}

void property_bag::adopt(std::unique_ptr<std::byte[]> memory) noexcept {
    memory_ = std::move(memory);
    set_buffer(memory_ != nullptr ? memory_.get() : property_view().bytes().data());
}

std::optional<detail::bag_flaw> property_bag::load(std::span<const std::byte> bytes) {
    if (bytes.size() > bag_limit) {
        return detail::flaw_of(bytes);
    }
    auto memory = allocate(bytes.size()); // aligned, which the bytes need not be
    std::ranges::copy(bytes, memory.get());
    const auto flaw = detail::flaw_of({memory.get(), bytes.size()});
    if (!flaw) {
        adopt(std::move(memory));
    }
    return flaw;
}

property_bag property_bag::from_bytes(std::span<const std::byte> bytes, std::string_view where) {
    property_bag bag;
    if (const auto flaw = bag.load(bytes)) {
        detail::throw_exception(invalid_bag(where, flaw->offset, flaw->problem));
    }
    return bag;
}

std::optional<property_bag> property_bag::try_from_bytes(std::span<const std::byte> bytes, std::string& error,
                                                         std::string_view where) {
    property_bag bag;
    if (const auto flaw = bag.load(bytes)) {
        error = invalid_bag(where, flaw->offset, flaw->problem).what();
        return std::nullopt;
    }
    return bag;
}

property_bag::outcome property_bag::put(property_path path, const bag_entry& entry, std::string& error) {
    if (names() != nullptr && !names()->try_add(path, error)) {
        return outcome::collides;
    }
    if (memory_ != nullptr && writer().put(entry)) {
        return outcome::done;
    }
    const std::size_t needed = detail::compact_size_with(buffer(), entry);
    if (needed > bag_limit) {
        return outcome::too_large;
    }
    // What is set may be a part of the old buffer, which ends last.
    const std::size_t bytes = detail::grown_size(needed, capacity());
    auto memory = allocate(bytes);
    detail::copy_with(memory.get(), bytes, buffer(), entry);
    adopt(std::move(memory));
    return outcome::done;
}

void property_bag::set_entry(property_path path, const bag_entry& entry) {
    std::string error;
    const outcome came = put(path, entry, error);
    if (came == outcome::collides) {
        detail::throw_exception(path_collision(error));
    }
    if (came == outcome::too_large) {
        detail::throw_exception(detail::too_large_with(buffer(), path, entry, names()));
    }
}

bool property_bag::erase(property_hash path) noexcept {
    const std::size_t position = buffer().find(path);
    if (position == size()) {
        return false;
    }
    writer().erase(position);
    return true;
}

void property_bag::clear() noexcept {
    if (memory_ != nullptr) {
        detail::bag_writer(memory_.get(), capacity(), 0);
    }
}

void property_bag::reserve(std::size_t bytes) {
    if (bytes > bag_limit) {
        detail::throw_exception(
            bag_too_large(fmt::format("a bag of {} bytes is asked for, and may have {}", bytes, bag_limit)));
    }
    if (bytes > capacity()) {
        move_to(detail::rounded_to_units(bytes));
    }
}

void property_bag::shrink_to_fit() {
    if (empty()) {
        adopt(nullptr);
    } else if (const std::size_t needed = buffer().compact_size(); needed != capacity()) {
        move_to(needed);
    }
}

void property_bag::move_to(std::size_t bytes) {
    auto memory = allocate(bytes);
    detail::copy_to(memory.get(), bytes, buffer());
    adopt(std::move(memory));
}

} // namespace handlepool
