// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/memory/virtual_memory.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// Keeps each different value once, for the rest of the program, and numbers them from 1 on. Lock-free: a
/// hash table of chains to which values are only ever added.
class word_depot {
public:
    using value_type = std::array<std::uint64_t, 16>;

    /// Room for so many values, as address space.
    word_depot(const allocation_label& what_for, std::uint32_t most)
        : memory_(what_for, bucket_count * sizeof(link) + (std::size_t{most} + 1) * sizeof(entry), 1,
                  alignof(entry), 0),
          buckets_(static_cast<link*>(memory_.data())),
          entries_(reinterpret_cast<entry*>(buckets_ + bucket_count)),
          most_(most) {}

    /// The number of this value; 0 when there is no room.
    std::uint32_t number_of(const value_type& value) noexcept {
        link& bucket = buckets_[hash_of(value) % bucket_count];
        // acquire: pairs with the release below, for the values of the chain
        std::uint32_t first = bucket.load(std::memory_order::acquire);
        if (const std::uint32_t found = find(value, first, 0); found != 0) {
            return found;
        }
        const std::uint32_t mine = take();
        if (mine == 0) {
            return 0;
        }
        entries_[mine].value = value;
        while (true) {
            entries_[mine].next = first;
            const std::uint32_t searched = first;
            if (bucket.compare_exchange_strong(first, mine, std::memory_order::acq_rel,
                                               std::memory_order::acquire)) {
                return mine;
            }
            // Another thread was faster, perhaps with the same value: then this entry stays unused.
            if (const std::uint32_t found = find(value, first, searched); found != 0) {
                return found;
            }
        }
    }

    /// The value with a number that some thread was given, who has told this one.
    const value_type* find(std::uint32_t number) const noexcept {
        const bool is_given = number != 0 && number <= taken_.load(std::memory_order::relaxed);
        return is_given ? &entries_[number].value : nullptr;
    }

    /// The entries from number 0 on, each of which begins with its value.
    const void* entries() const noexcept { return entries_; }
    static constexpr std::size_t entry_size() noexcept { return sizeof(entry); }

private:
    using link = std::atomic<std::uint32_t>;
    struct alignas(8) entry {
        value_type value;
        std::uint32_t next;
    };

    static constexpr std::size_t bucket_count = 1U << 18;

    static std::uint64_t hash_of(const value_type& value) noexcept {
        std::uint64_t hash = 0;
        for (const std::uint64_t word : value) {
            hash = (hash ^ word) * 0x9e37'79b9'7f4a'7c15;
            hash ^= hash >> 29;
        }
        return hash;
    }

    /// Looks through a chain up to before the entry `end`.
    std::uint32_t find(const value_type& value, std::uint32_t first, std::uint32_t end) const noexcept {
        while (first != end && entries_[first].value != value) {
            first = entries_[first].next;
        }
        return first == end ? 0 : first;
    }

    std::uint32_t take() noexcept {
        std::uint32_t taken = taken_.load(std::memory_order::relaxed);
        while (taken != most_ &&
               !taken_.compare_exchange_weak(taken, taken + 1, std::memory_order::relaxed)) {
        }
        return taken != most_ && memory_.make_ready(0, memory_.size()) ? taken + 1 : 0;
    }

    virtual_memory memory_;
    link* buckets_;
    entry* entries_;
    std::uint32_t most_;
    std::atomic<std::uint32_t> taken_{0};
};

} // namespace handlepool::detail
