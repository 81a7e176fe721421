// SPDX-License-Identifier: MIT
#include "address_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace handlepool::coherence {

void address_map::add_array(const void* header, std::size_t header_bytes, const void* first,
                            std::size_t bytes, std::string_view name) {
    range& added = add(first, bytes, name);
    headers_[reinterpret_cast<std::uintptr_t>(header)] = shown(added.name);
    name_words(header, header_bytes, "where arrays are");
    const auto named = std::ranges::find(fields_, added.name, &array_names::array);
    if (named == fields_.end()) {
        added.names = {number(shown(added.name))};
        return;
    }
    added.names.resize(named->element_size / word_size);
    for (const field& each : named->fields) {
        std::fill(added.names.begin() + static_cast<std::ptrdiff_t>(each.offset / word_size),
                  added.names.end(), number(each.name));
    }
}

void address_map::add_object(const void* first, std::size_t bytes, std::string_view name) {
    range& added = add(first, bytes, name);
    added.members = true;
    added.names.resize(bytes / word_size + 1,
                       number(shown(added.name))); // the last one tells which have no own
}

void address_map::remove(const void* first) {
    ranges_.erase(reinterpret_cast<std::uintptr_t>(first));
    latest_ = nullptr;
}

void address_map::name_member(const void* first, std::size_t bytes, std::string_view file) {
    const auto after = headers_.upper_bound(reinterpret_cast<std::uintptr_t>(first));
    name_words(first, bytes,
               member_namer_(std::filesystem::path(file).stem().string(),
                             after == headers_.begin() ? "" : std::prev(after)->second,
                             after == headers_.end() ? "" : after->second));
}

void address_map::name_words(const void* first, std::size_t bytes, std::string_view name) {
    const range* const found = find(first);
    if (found == nullptr || !found->members) {
        return;
    }
    range& object = ranges_.at(found->first);
    const std::size_t word = (reinterpret_cast<std::uintptr_t>(first) - object.first) / word_size;
    const auto begin = object.names.begin() + static_cast<std::ptrdiff_t>(word);
    std::fill_n(begin, (bytes + word_size - 1) / word_size, number(name));
}

const address_map::range* address_map::find(const void* address) const noexcept {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    if (latest_ != nullptr && wanted - latest_->first < latest_->bytes) {
        return latest_;
    }
    auto after = ranges_.upper_bound(wanted);
    if (after == ranges_.begin()) {
        return nullptr;
    }
    const range& found = std::prev(after)->second;
    if (wanted - found.first >= found.bytes) {
        return nullptr;
    }
    latest_ = &found;
    return latest_;
}

address_map::name_number address_map::number(std::string_view text) {
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) {
        return found->second;
    }
    const auto next = static_cast<name_number>(texts_.size());
    texts_.emplace_back(text);
    numbers_.emplace(text, next);
    return next;
}

std::string address_map::describe(line_number line) const {
    const auto after = lines_.upper_bound(line);
    if (after == lines_.begin()) {
        return fmt::format("line {}", line);
    }
    const auto& [first, name] = *std::prev(after);
    return fmt::format("{}, line {}", shown(name), line - first);
}

address_map::range& address_map::add(const void* first, std::size_t bytes, std::string_view name) {
    const auto address = reinterpret_cast<std::uintptr_t>(first);
    if (address % line_size != 0) {
        throw std::invalid_argument(
            fmt::format("'{}' does not begin with a cache line, and can't be simulated", name));
    }
    const auto there = [this](std::string_view wanted) {
        return std::ranges::any_of(ranges_, [=](const auto& each) { return each.second.name == wanted; });
    };
    std::string unique(name);
    for (int i = 2; there(unique); ++i) {
        unique = fmt::format("{} {}", name, i);
    }
    range& added = ranges_[address];
    added = {.first = address,
             .bytes = bytes,
             .name = std::move(unique),
             .first_line = next_line_,
             .names = {},
             .members = false};
    lines_[next_line_] = added.name;
    next_line_ += (bytes + line_size - 1) / line_size;
    latest_ = nullptr;
    return added;
}

std::string address_map::shown(std::string_view name) const {
    const auto found = shown_.find(name);
    return found == shown_.end() ? std::string(name) : found->second;
}

} // namespace handlepool::coherence
