// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
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
        claimed_.clear();
        claims_.clear();
        for (std::size_t i = 0, last = shards.count(); i != last; ++i) {
            const std::span<const std::uint32_t> unused = shards[i].claim.unused();
            claims_.push_back(unused.size());
            claimed_.insert(claimed_.end(), unused.begin(), unused.end());
        }
        const auto& indices = allocator.indices();
        returned_.clear();
        if (indices.returned().waiting() != 0) {
            indices.returned_words().for_each(indices.list().fresh(),
                                              [this](std::uint32_t index) { returned_.push_back(index); });
        }
        returned_word_ = indices.returned_words().next_word();
        retired_ = allocator.retired();
        free_ = indices.list().position();
        add_to(journal, indices.list(), before);
        journal_end_ = journal.end();
    }

    /// The slots go out from here on as they did from there on.
    void restore(allocator_type& allocator, shards_type& shards,
                 const index_journal& journal) const noexcept {
        std::size_t next = 0;
        for (std::size_t i = 0, last = shards.count(); i != last; ++i) {
            const std::size_t count = i < claims_.size() ? claims_[i] : 0;
            shards[i].claim.restore({claimed_.data() + next, count});
            next += count;
        }
        auto& indices = allocator.indices();
        indices.returned_words().reset();
        indices.list().restore(free_, [&](std::size_t i) { return journal[journal_begin() + i]; });
        for (const std::uint32_t index : returned_) {
            indices.give_back(index);
        }
        indices.returned_words().set_next_word(returned_word_);
        allocator.set_retired(retired_);
    }

    /// Calls `visit(slot)` for each slot that can have gone out since.
    template <class Visit>
    void for_each_gone(const allocator_type& allocator, const index_journal& journal, Visit visit) const {
        for (const std::uint32_t slot : claimed_) {
            visit(slot_index{slot});
        }
        for (const std::uint32_t slot : returned_) {
            visit(slot_index{slot});
        }
        const freelist_position now = allocator.list().position();
        const auto taken =
            static_cast<std::size_t>(least<std::uint64_t>(now.claimed - free_.claimed, free_.waiting));
        for (std::size_t i = 0; i != taken; ++i) {
            visit(slot_index{journal[journal_begin() + i]});
        }
        for (std::size_t slot = free_.fresh; slot < now.fresh; ++slot) {
            visit(slot_index{static_cast<std::uint32_t>(slot)});
        }
    }

    std::size_t fresh() const noexcept { return free_.fresh; }
    /// Where the journal has what waited.
    std::uint64_t journal_begin() const noexcept { return journal_end_ - free_.waiting; }
    std::uint64_t journal_end() const noexcept { return journal_end_; }

    std::size_t bytes() const noexcept {
        return (claimed_.capacity() + returned_.capacity()) * sizeof(std::uint32_t) +
               claims_.capacity() * sizeof(std::size_t);
    }

private:
    /// Adds those that wait and did not wait before.
    void add_to(index_journal& journal, const typename Config::freelist& list,
                const allocator_capture* before) {
        std::size_t known = 0;
        if (before != nullptr) {
            const std::uint64_t claimed = free_.claimed - before->free_.claimed;
            known = before->free_.waiting -
                    static_cast<std::size_t>(least<std::uint64_t>(claimed, before->free_.waiting));
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

    freelist_position free_;
    std::uint64_t journal_end_ = 0;
    std::vector<std::uint32_t> claimed_; // by shards, one after the other
    std::vector<std::size_t> claims_;    // how many of them each has
    std::vector<std::uint32_t> returned_;
    std::size_t returned_word_ = 0;
    std::size_t retired_ = 0;
};

} // namespace handlepool::detail
