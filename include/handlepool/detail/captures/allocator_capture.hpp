// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/captures/allocator_state.hpp>
#include <handlepool/detail/captures/index_journal.hpp>
#include <handlepool/detail/parts/slot_allocator.hpp>
#include <handlepool/freelist.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

namespace handlepool::detail {

/// Which slots come next, as it was when a frame ended: those that wait in the freelist, those that shards
/// have claimed, and those that came back unused. Slots go out in the same order again when it is restored.
template <class Config>
class allocator_capture {
    using policy = typename Config::policy;
    using allocator_type = slot_allocator<Config>;
    using shards_type = shard_table<policy>;

public:
    /// `before` is the capture before this one, or null. Throws std::bad_alloc; then the journal is as it
    /// was.
    void take(const allocator_type& allocator, const shards_type& shards, const allocator_capture* before,
              index_journal& journal) {
        state_.take(allocator, shards);
        add_to(journal, allocator.list(), before);
        journal_end_ = journal.end();
    }

    /// The slots go out from here on as they did from there on.
    void restore(allocator_type& allocator, shards_type& shards,
                 const index_journal& journal) const noexcept {
        state_.restore(allocator, shards, [&](std::size_t i) { return journal[journal_begin() + i]; });
    }

    /// Calls `visit(slot)` for each slot that can have gone out since.
    template <class Visit>
    void for_each_gone(const allocator_type& allocator, const index_journal& journal, Visit visit) const {
        for (const std::uint32_t slot : state_.claimed) {
            visit(slot_index{slot});
        }
        for (const std::uint32_t slot : state_.returned) {
            visit(slot_index{slot});
        }
        const freelist_position now = allocator.list().position();
        const std::size_t taken =
            least<std::uint64_t>(now.claimed - state_.freelist.claimed, state_.freelist.waiting);
        for (std::size_t i = 0; i != taken; ++i) {
            visit(slot_index{journal[journal_begin() + i]});
        }
        for (std::size_t slot = state_.freelist.fresh; slot < now.fresh; ++slot) {
            visit(slot_index{static_cast<std::uint32_t>(slot)});
        }
    }

    const allocator_state& state() const noexcept { return state_; }
    std::size_t fresh() const noexcept { return state_.freelist.fresh; }
    /// Where the journal has what waited.
    std::uint64_t journal_begin() const noexcept { return journal_end_ - state_.freelist.waiting; }
    std::uint64_t journal_end() const noexcept { return journal_end_; }

    std::size_t bytes() const noexcept { return state_.bytes(); }

private:
    /// Adds those that wait and did not wait before.
    void add_to(index_journal& journal, const typename Config::freelist& list,
                const allocator_capture* before) {
        std::size_t known = 0;
        if (before != nullptr) {
            const std::uint64_t claimed = state_.freelist.claimed - before->state_.freelist.claimed;
            known = before->state_.freelist.waiting -
                    least<std::uint64_t>(claimed, before->state_.freelist.waiting);
        }
        const std::uint64_t end = journal.end();
        const bool whole = capture_exception([&] {
                               list.for_each_waiting(known, [&](std::uint32_t index) { journal.add(index); });
                           }) == nullptr;
        if (!whole) {
            journal.truncate(end);
            throw_exception(std::bad_alloc());
        }
    }

    allocator_state state_;
    std::uint64_t journal_end_ = 0;
};

} // namespace handlepool::detail
