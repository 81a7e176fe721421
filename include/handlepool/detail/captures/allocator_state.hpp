// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/parts/slot_allocator.hpp>
#include <handlepool/freelist.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace handlepool::detail {

/// Which slots come next, but for those that wait in the freelist: those that shards have claimed, those that
/// came back unused, and how many were withdrawn.
struct allocator_state {
    /// Of an allocator that nobody else uses. Throws std::bad_alloc.
    template <class Config>
    void take(const slot_allocator<Config>& allocator, const shard_table<typename Config::policy>& shards) {
        claimed.clear();
        claims.clear();
        for (std::size_t i = 0, last = allocator.claiming_shards(); i != last; ++i) {
            const std::span<const std::uint32_t> unused = shards[i].claim.unused();
            claims.push_back(static_cast<std::uint32_t>(unused.size()));
            claimed.insert(claimed.end(), unused.begin(), unused.end());
        }
        const auto& indices = allocator.indices();
        returned.clear();
        if (indices.returned().waiting() != 0) {
            indices.returned_words().for_each(indices.list().fresh(),
                                              [this](std::uint32_t index) { returned.push_back(index); });
        }
        returned_word = indices.returned_words().next_word();
        retired = allocator.retired();
        freelist = indices.list().position();
    }

    /// The slots go out from here on as they did from there on; `waiting(i)` are those that waited. What
    /// shards had claimed that are not here, or claim less at once, is given back.
    template <class Config, class Waiting>
    void restore(slot_allocator<Config>& allocator, shard_table<typename Config::policy>& shards,
                 Waiting waiting) const noexcept {
        auto& indices = allocator.indices();
        indices.returned_words().reset();
        indices.list().restore(freelist, waiting);
        const std::uint32_t* next = claimed.data();
        for (std::size_t i = 0, last = shards.count(); i < greatest(last, claims.size()); ++i) {
            const std::uint32_t* const end = next + (i < claims.size() ? claims[i] : 0);
            if (i < last) {
                const auto left = static_cast<std::size_t>(end - next);
                const std::size_t kept = i < allocator.claiming_shards()
                                             ? least<std::size_t>(left, Config::policy::claim_size)
                                             : 0; // a spawner's, which are dealt out anew
                shards[i].claim.restore({next, kept});
                next += kept;
            }
            for (; next != end; ++next) {
                indices.give_back(*next);
            }
        }
        for (const std::uint32_t index : returned) {
            indices.give_back(index);
        }
        indices.returned_words().set_next_word(returned_word);
        allocator.set_retired(retired);
    }

    std::size_t bytes() const noexcept {
        return (claimed.capacity() + claims.capacity() + returned.capacity()) * sizeof(std::uint32_t);
    }

    freelist_position freelist;
    std::vector<std::uint32_t> claims;   // how many slots each shard has claimed
    std::vector<std::uint32_t> claimed;  // these, of one shard after the other
    std::vector<std::uint32_t> returned; // ascending
    std::size_t returned_word = 0;       // where a search of these begins
    std::size_t retired = 0;             // slots
};

} // namespace handlepool::detail
