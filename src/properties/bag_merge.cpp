// SPDX-License-Identifier: MIT
#include "bag_merge.hpp"

#include <handlepool/detail/base/throw_exception.hpp>

#include <fmt/format.h>

#include <vector>

namespace handlepool {

namespace {

using detail::bag_entry;
using detail::bag_limit;
using detail::bag_reader;
using detail::reader_of;

/// Calls each(a, b) for each path of either, in the order of their hashes; null stands for the bag that does
/// not have it.
template <class Each>
void for_each_pair(bag_reader a, bag_reader b, Each each) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i != a.count() || j != b.count()) {
        const bool of_a = j == b.count() || (i != a.count() && a.hash(i) <= b.hash(j));
        const bool of_b = i == a.count() || (j != b.count() && b.hash(j) <= a.hash(i));
        const bag_entry one = of_a ? a.entry(i++) : bag_entry{};
        const bag_entry other = of_b ? b.entry(j++) : bag_entry{};
        each(of_a ? &one : nullptr, of_b ? &other : nullptr);
    }
}

/// What a compact buffer needs whose entries `choose(a, b)` makes of the pairs: of each one, or none. Throws
/// bag_too_large.
template <class Choose>
detail::bag_size size_of(bag_reader a, bag_reader b, const key_table* names, Choose choose) {
    detail::bag_size size;
    std::optional<property_hash> beyond; // the first that finds no room
    for_each_pair(a, b, [&](const bag_entry* one, const bag_entry* other) {
        if (const std::optional<bag_entry> chosen = choose(one, other)) {
            size.add(*chosen);
            if (!beyond && size.bytes() > bag_limit) {
                beyond = chosen->hash;
            }
        }
    });
    if (beyond) {
        detail::throw_exception(bag_too_large(fmt::format(
            "property {}: with it and those after it, the bag would need {} bytes, and may have {}",
            name_of(*beyond, names), size.bytes(), bag_limit)));
    }
    return size;
}

/// Writes that buffer.
template <class Choose>
void write_to(std::byte* memory, std::size_t capacity, std::size_t entries, bag_reader a, bag_reader b,
              Choose choose) noexcept {
    detail::bag_writer joined(memory, capacity, entries);
    std::size_t position = 0;
    for_each_pair(a, b, [&](const bag_entry* one, const bag_entry* other) {
        if (const std::optional<bag_entry> chosen = choose(one, other)) {
            joined.fill_in(position++, *chosen);
        }
    });
}

/// Makes that buffer; null if it would have no entries.
template <class Choose>
std::unique_ptr<std::byte[]> join(bag_reader a, bag_reader b, const key_table* names, Choose choose) {
    const detail::bag_size size = size_of(a, b, names, choose);
    if (size.entries() == 0) {
        return nullptr;
    }
    std::unique_ptr<std::byte[]> memory(new std::byte[size.bytes()]);
    write_to(memory.get(), size.bytes(), size.entries(), a, b, choose);
    return memory;
}

auto choice_of(removals how) noexcept {
    return [how](const bag_entry* earlier, const bag_entry* later) -> std::optional<bag_entry> {
        const bag_entry& last = later != nullptr ? *later : *earlier;
        if (last.kind == property_kind::removed && how == removals::apply) {
            return std::nullopt;
        }
        return last;
    };
}

const bag_entry* unless_removed(const bag_entry* entry) noexcept {
    return entry != nullptr && entry->kind != property_kind::removed ? entry : nullptr;
}

} // namespace

std::size_t detail::bag_merge::size(const key_table* names) const {
    return size_of(earlier, later, names, choice_of(how)).bytes();
}

void detail::bag_merge::write_to(std::byte* memory, std::size_t capacity) const noexcept {
    std::size_t entries = 0;
    const auto choose = choice_of(how);
    for_each_pair(earlier, later, [&](const bag_entry* one, const bag_entry* other) {
        entries += choose(one, other) ? 1U : 0U;
    });
    handlepool::write_to(memory, capacity, entries, earlier, later, choose);
}

void property_bag::merge(property_view later, removals how) {
    detail::add_paths_of(later, names());
    adopt(join(buffer(), reader_of(later), names(), choice_of(how)));
}

void detail::add_paths_of(property_view bag, key_table* names) {
    if (names == nullptr || bag.names() == nullptr || bag.names() == names) {
        return;
    }
    for (const property each : bag) {
        const std::vector<std::string> keys = bag.names()->keys_of(each.hash());
        if (!keys.empty()) {
            names->add(std::vector<std::string_view>(keys.begin(), keys.end()));
        } else if (const auto path = bag.names()->path_of(each.hash())) {
            names->add(*path);
        }
    }
}

bag_too_large detail::too_large_with(const bag_reader& bag, property_path path, const bag_entry& entry,
                                     const key_table* names) {
    return bag_too_large(
        fmt::format("property {}: with its {} bytes, the bag would need {} bytes, and may have {}",
                    name_of(path, names), entry.content.size(), compact_size_with(bag, entry), bag_limit));
}

property_bag diff(property_view before, property_view after) {
    const auto change = [](const bag_entry* old_one, const bag_entry* new_one) -> std::optional<bag_entry> {
        const bag_entry* const old_value = unless_removed(old_one);
        const bag_entry* const new_value = unless_removed(new_one);
        if (new_value != nullptr) {
            const bool same = old_value != nullptr && *old_value == *new_value;
            return same ? std::nullopt : std::optional(*new_value);
        }
        if (old_value != nullptr) {
            return bag_entry{.hash = old_value->hash, .kind = property_kind::removed};
        }
        return std::nullopt;
    };
    property_view named = after.names() != nullptr ? after : before;
    return {named, join(reader_of(before), reader_of(after), named.names(), change)};
}

} // namespace handlepool
