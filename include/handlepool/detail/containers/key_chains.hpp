// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// An object and its key, which stays where it is.
template <class Key, class Handle>
struct keyed_entry {
    keyed_entry(Key&& its_key, Handle of, std::size_t its_hash)
        : key(std::move(its_key)), handle(of), hash(its_hash) {}
    explicit keyed_entry(const keyed_entry& other) : key(other.key), handle(other.handle), hash(other.hash) {}

    Key key;
    Handle handle;
    std::size_t hash; // of the key
    keyed_entry* next = nullptr;
    keyed_entry* previous = nullptr; // of the first one of a chain, the last
};

/// Entries by the hashes of their keys, in chains. Those with equal hashes stand in the order in which they
/// came, however many chains there are: what std::unordered_multimap leaves to each standard library.
template <class Entry>
class key_chains {
public:
    void swap(key_chains& other) noexcept { firsts_.swap(other.firsts_); }

    /// The first entry of the chain in which those with this hash are, among others; null if there is none.
    Entry* first(std::size_t hash) const noexcept {
        return firsts_.empty() ? nullptr : firsts_[chain_of(hash)];
    }

    /// As many chains as entries, at least. Throws std::bad_alloc; then nothing has changed.
    void reserve(std::size_t entries) {
        if (entries > firsts_.size()) {
            key_chains more;
            more.firsts_.resize(std::bit_ceil(entries < fewest ? fewest : entries));
            for_each([&more](Entry& each) { more.append(each); });
            swap(more);
        }
    }
    /// As many chains as others have, and nothing in them. Throws std::bad_alloc.
    void reset_like(const key_chains& other) { firsts_.assign(other.firsts_.size(), nullptr); }

    /// Adds an entry for which there is room.
    void append(Entry& entry) noexcept {
        Entry*& first = firsts_[chain_of(entry.hash)];
        entry.next = nullptr;
        if (first == nullptr) {
            first = &entry;
        } else {
            entry.previous = first->previous;
            entry.previous->next = &entry;
        }
        first->previous = &entry;
    }
    void remove(Entry& entry) noexcept {
        Entry*& first = firsts_[chain_of(entry.hash)];
        Entry* const next = entry.next;
        Entry* const last = first->previous;
        if (first == &entry) {
            first = next;
        } else {
            entry.previous->next = next;
        }
        if (next != nullptr) {
            next->previous = first == next ? last : entry.previous;
        } else if (first != nullptr) {
            first->previous = entry.previous;
        }
    }
    void clear() noexcept { firsts_.assign(firsts_.size(), nullptr); }

    /// Calls `visit(entry)`, which may put the entry elsewhere, for each one of a chain in their order.
    template <class Visit>
    void for_each(Visit visit) const {
        for (Entry* each : firsts_) {
            while (each != nullptr) {
                visit(*std::exchange(each, each->next));
            }
        }
    }

private:
    static constexpr std::size_t fewest = 8;

    /// By the upper bits of a product: the lower ones of many hashes are alike.
    std::size_t chain_of(std::size_t hash) const noexcept {
        const std::uint64_t mixed = std::uint64_t{hash} * 0x9e37'79b9'7f4a'7c15;
        return static_cast<std::size_t>(mixed >> (65 - std::bit_width(firsts_.size())));
    }

    std::vector<Entry*> firsts_; // as many as a power of two
};

} // namespace handlepool::detail
