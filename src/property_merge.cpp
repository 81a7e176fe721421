#include <handlepool/detail/raise.hpp>
#include <handlepool/property_bag.hpp>

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace handlepool {

namespace {

using detail::bag_entry;
using detail::bag_limit;
using detail::bag_reader;

bag_reader reader_of(property_view bag) noexcept {
    return bag_reader(bag.bytes().data());
}

/// Calls each(a, b) for each key of either, in ascending order; null stands for the bag that does not have
/// it.
template <class Each>
void for_each_pair(bag_reader a, bag_reader b, Each each) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i != a.count() || j != b.count()) {
        const bool of_a = j == b.count() || (i != a.count() && a.key(i) <= b.key(j));
        const bool of_b = i == a.count() || (j != b.count() && b.key(j) <= a.key(i));
        const bag_entry one = of_a ? a.entry(i++) : bag_entry{};
        const bag_entry other = of_b ? b.entry(j++) : bag_entry{};
        each(of_a ? &one : nullptr, of_b ? &other : nullptr);
    }
}

/// A buffer of what `choose(a, b)` makes of each pair: an entry, or nothing. Null if all that is nothing.
template <class Choose>
std::unique_ptr<std::byte[]> join(bag_reader a, bag_reader b, const key_table* names, Choose choose) {
    detail::bag_size size;
    std::optional<std::uint32_t> beyond; // the first that finds no room
    for_each_pair(a, b, [&](const bag_entry* one, const bag_entry* other) {
        if (const std::optional<bag_entry> chosen = choose(one, other)) {
            size.add(*chosen);
            if (!beyond && size.bytes() > bag_limit) {
                beyond = chosen->key;
            }
        }
    });
    if (beyond) {
        detail::raise(bag_too_large(fmt::format(
            "property {}: with it and those after it, the bag would need {} bytes, and may have {}",
            name_of(static_cast<property_hash>(*beyond), names), size.bytes(), bag_limit)));
    }
    if (size.entries() == 0) {
        return nullptr;
    }
    std::unique_ptr<std::byte[]> memory(new std::byte[size.bytes()]);
    detail::bag_writer joined(memory.get(), size.bytes(), size.entries());
    std::size_t position = 0;
    for_each_pair(a, b, [&](const bag_entry* one, const bag_entry* other) {
        if (const std::optional<bag_entry> chosen = choose(one, other)) {
            joined.fill_in(position++, *chosen);
        }
    });
    return memory;
}

const bag_entry* unless_removed(const bag_entry* entry) noexcept {
    return entry != nullptr && entry->kind != property_kind::removed ? entry : nullptr;
}

} // namespace

void property_bag::merge(property_view later, removals how) {
    const auto keep = [how](const bag_entry* mine, const bag_entry* theirs) -> std::optional<bag_entry> {
        const bag_entry& last = theirs != nullptr ? *theirs : *mine;
        if (last.kind == property_kind::removed && how == removals::apply) {
            return std::nullopt;
        }
        return last;
    };
    take_names_of(later);
    adopt(join(buffer(), reader_of(later), names(), keep));
}

void property_bag::take_names_of(property_view other) {
    if (names() == nullptr || other.names() == nullptr || other.names() == names()) {
        return;
    }
    for (const property each : other) {
        const std::vector<std::string> keys = other.names()->keys_of(each.hash());
        if (!keys.empty()) {
            names()->add(std::vector<std::string_view>(keys.begin(), keys.end()));
        } else if (const auto path = other.names()->path_of(each.hash())) {
            names()->add(*path);
        }
    }
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
            return bag_entry{.key = old_value->key, .kind = property_kind::removed};
        }
        return std::nullopt;
    };
    property_view named = after.names() != nullptr ? after : before;
    return {named, join(reader_of(before), reader_of(after), named.names(), change)};
}

} // namespace handlepool
