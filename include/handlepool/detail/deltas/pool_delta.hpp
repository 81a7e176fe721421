// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/snapshots/saved_pool.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace handlepool::detail {

/// How a pool differs from what it was, but for what its objects contain. Objects are named by their slots,
/// of which the receiver knows the handles and where they are.
///
/// ```
///   slot          before           delta                        after
///   3             object at 7      gone                         waits, or is in another list
///   4             object at 9      moved, to 7                  the same object at 7
///   5             waits            born, at 8, generation 11    object at 8
///   6             object at 2      edited                       the same, with other contents
/// ```
///
/// Lists of slots ascend, but for `waiting` and `claimed`, which are in the order in which they go out.
struct pool_delta {
    std::uint32_t widths = 0; // as in a saved_pool, here and below
    std::uint32_t placement = 0;
    std::uint32_t id = 0;
    std::uint32_t fresh_generation = 0; // another one than before: of what was before, nothing is left
    std::uint32_t in_service = 0;       // slots
    std::uint32_t taken = 0;            // so many of those that wait, the first ones, wait no more
    std::uint32_t retired = 0;          // slots, in all
    std::uint32_t returned_word = 0;
    std::uint64_t turn = 0;
    std::uint64_t claimed_waiting = 0; // the freelist's count of them

    std::vector<std::uint32_t> gone;  // objects that are no more
    std::vector<std::uint32_t> moved; // objects that were there before,
    std::vector<std::uint32_t> moved_to;
    std::vector<std::uint32_t> edited; // objects that were there before, with other contents
    std::vector<std::uint32_t> born;   // objects that were not there before,
    std::vector<std::uint32_t> born_at;
    std::vector<std::uint32_t> born_generations;
    std::vector<std::uint32_t> regenerated; // slots with another generation than follows from that,
    std::vector<std::uint32_t> generations;
    std::vector<std::uint32_t> unreserved; // slots that were reserved, and are not any more
    std::vector<std::uint32_t> reserved;   // slots that are reserved, and were not
    std::vector<std::uint32_t> reclaimed;  // slots that were given back unused, and are not any more
    std::vector<std::uint32_t> returned;   // slots that are given back unused, and were not
    std::vector<std::uint32_t> waiting;    // slots that wait behind all others
    std::vector<std::uint32_t> claims;     // all that threads have claimed, as in an allocator_state
    std::vector<std::uint32_t> claimed;

    /// In the order in which they are written.
    template <class Self>
    static auto lists(Self& self) noexcept {
        return std::array{&self.gone,        &self.moved,      &self.moved_to,         &self.edited,
                          &self.born,        &self.born_at,    &self.born_generations, &self.regenerated,
                          &self.generations, &self.unreserved, &self.reserved,         &self.reclaimed,
                          &self.returned,    &self.waiting,    &self.claims,           &self.claimed};
    }

    /// Forgets what is in the lists, and keeps their memory.
    void clear() noexcept {
        for (auto* const list : lists(*this)) {
            list->clear();
        }
    }
    /// Objects whose contents follow: of those born, and then of those edited.
    std::size_t contents() const noexcept { return born.size() + edited.size(); }
    /// The slot of the object that has these contents.
    std::uint32_t slot_of_content(std::size_t i) const noexcept {
        return i < born.size() ? born[i] : edited[i - born.size()];
    }
};

/// What is wrong with a delta, and at which number of which list; null where it is none of a list.
struct delta_problem {
    const std::vector<std::uint32_t>* list = nullptr;
    std::size_t number = 0;
    std::string text;
};

/// Bytes of the delta in its block, before the contents of objects.
HANDLEPOOL_EXPORT std::uint64_t bytes_of(const pool_delta& delta) noexcept;
HANDLEPOOL_EXPORT void write(snapshot_writer& to, const pool_delta& delta);

/// Reads a delta up to the contents of objects: lists of one kind are as long as each other, and those of
/// slots ascend. Throws invalid_snapshot and std::bad_alloc.
HANDLEPOOL_EXPORT pool_delta read_pool_delta(block_reader& from);

/// Throws invalid_snapshot for what is wrong with the delta that was read last.
[[noreturn]] HANDLEPOOL_EXPORT void refuse(const block_reader& from, const pool_delta& delta,
                                           const delta_problem& problem);

} // namespace handlepool::detail
