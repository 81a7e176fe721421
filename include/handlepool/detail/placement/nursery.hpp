// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/high_water_mark.hpp>
#include <handlepool/detail/memory/memory_of.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/placement/held_groups.hpp>
#include <handlepool/detail/queues/budget.hpp>
#include <handlepool/detail/queues/chunk_store.hpp>
#include <handlepool/detail/slots/index_allocator.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace handlepool::detail {

/// A shard's part of the nursery.
template <class Policy>
struct newborn_chain {
    /// Tells the shards of a nursery apart.
    typename Policy::template plain<std::uint32_t> shard{0};
    /// Head of a linked list of vacated positions.
    typename Policy::template plain<link> vacant{link::none};
    /// Positions ever vacated.
    typename Policy::template atomic<std::uint64_t> vacated{0};
    /// In stable_places, a bit for each place of the shard's group that is still to be taken.
    typename Policy::template plain<std::uint64_t> to_take{0};
    /// In stable_places, the groups after that.
    held_groups<Policy> held;
    chunk_chain<Policy> positions;
    /// Of compaction: positions that could be taken when it last looked, and were not drained; how many had
    /// been vacated then, and when it last left none behind that it could pass.
    typename Policy::template plain<std::size_t> pending{0};
    typename Policy::template plain<std::uint64_t> vacated_before{0};
    typename Policy::template atomic<std::uint64_t> vacated_seen{0};

    /// Makes it as new. Only while nobody uses it.
    void reset() noexcept {
        vacant = link::none;
        to_take = 0;
        held.reset();
        vacated_seen.store(vacated.load(std::memory_order::relaxed), std::memory_order::relaxed);
        positions.reset();
    }
};

/// Positions for objects that are published together: the rest of a shard's chunk, then vacated ones, then
/// whole chunks that no chain leads to yet.
struct newborn_batch {
    std::uint32_t first = 0;
    std::uint32_t in_shard_chunk = 0; // positions from `first` on
    std::vector<std::uint32_t> vacated;
    std::vector<std::uint32_t> chunks;
};

/// Where objects created since the last compaction live, and the record of whose they are: for each position
/// the whole handle that its object was published under; it may have been revoked since. A position is
/// *empty*, *owned*, *gone* (its object was destroyed or has moved away) or *vacated* (its constructor threw
/// when later positions were taken already). The positions of one shard are a queue: the shard takes them,
/// compaction drains them in order. A vacated position is the shard's to use again until compaction passes
/// it; of both, one wins by compare-exchange.
///
/// Compaction takes an owned position for a newborn only when the slot's tag has reached that handle's.
/// Otherwise it stops there, as at an empty one: the object may be half built, or complete and not yet
/// published.
///
/// Chunks that were drained are used again before others, the first ones first. So the nursery stays as small
/// as the frames are, and what a large one has left behind can go back to the system: see trim().
template <class Config>
class nursery {
public:
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using chain = newborn_chain<policy>;
    using batch_type = newborn_batch;

    nursery(const allocation_label& what_for, std::size_t chunks, std::size_t chunk_size,
            std::size_t max_threads = (std::numeric_limits<std::size_t>::max)())
        : chunks_(what_for, chunks, chunk_size, max_threads),
          owners_(what_for, chunks_.positions(), 0),
          links_(what_for.part(" vacated positions").rarely(), chunks_.positions(), 0) {}

    std::size_t positions() const noexcept { return owners_.size(); }
    /// Positions ever taken are the first ones.
    std::size_t positions_in_service() const noexcept { return chunks_.chunks_in_service() * chunk_size(); }
    std::uint32_t chunk_size() const noexcept { return chunks_.chunk_size(); }

    /// Shard: takes a position for an object. None when no position is left. Calls `soon(position)` for such
    /// as are probably taken some calls later, for prefetching; they may lie past the end. Lock-free.
    template <class Soon>
    nursery_position take(chain& shard, Soon soon) noexcept {
        if (!chunks_.has_position(shard.positions)) [[unlikely]] {
            return take_elsewhere(shard);
        }
        const std::uint32_t position = chunks_.take_held(shard.positions);
        soon(nursery_position{position + positions_ahead});
        return nursery_position{position};
    }
    nursery_position take(chain& shard) noexcept {
        return take(shard, [](nursery_position) {});
    }

    /// Shard: gives a position back whose constructor threw. Wait-free.
    void give_back(chain& shard, nursery_position given_back) noexcept {
        const std::uint32_t position = raw(given_back);
        chunk_chain<policy>& own = shard.positions;
        if (own.put == position + 1 && own.put_end - position <= chunk_size()) {
            own.put = position;
        } else { // the constructor had made other objects after it, in its chunk or in a later one
            vacate(shard, position);
        }
    }

    /// Shard: takes positions for `count` objects. Returns false when there are not as many, and throws
    /// std::bad_alloc; then nothing has changed. Lock-free.
    bool take(chain& shard, std::size_t count, newborn_batch& batch) {
        const std::size_t rest = shard.positions.put_end - shard.positions.put;
        const std::size_t in_shard_chunk = least(count, rest);
        std::size_t further = count - in_shard_chunk;
        if (shard.vacant != link::none) {
            batch.vacated.reserve(further);
        }
        batch.chunks.reserve((further + chunk_size() - 1) / chunk_size());
        batch.first = shard.positions.put;
        batch.in_shard_chunk = static_cast<std::uint32_t>(in_shard_chunk);
        shard.positions.put = batch.first + batch.in_shard_chunk;
        for (; further != 0; --further) {
            const std::optional<std::uint32_t> vacated = take_vacated(shard);
            if (!vacated) {
                break;
            }
            batch.vacated.push_back(*vacated);
        }
        for (std::size_t chunks = (further + chunk_size() - 1) / chunk_size(); chunks != 0; --chunks) {
            const std::optional<std::uint32_t> chunk = chunks_.take_chunk();
            if (!chunk) {
                give_back(shard, batch);
                return false;
            }
            batch.chunks.push_back(*chunk);
        }
        return true;
    }

    /// The position of a batch's object.
    nursery_position position(const newborn_batch& batch, std::size_t object) const noexcept {
        if (object < batch.in_shard_chunk) {
            return nursery_position{batch.first + static_cast<std::uint32_t>(object)};
        }
        std::size_t further = object - batch.in_shard_chunk;
        if (further < batch.vacated.size()) {
            return nursery_position{batch.vacated[further]};
        }
        further -= batch.vacated.size();
        return nursery_position{batch.chunks[further / chunk_size()] * chunk_size() +
                                static_cast<std::uint32_t>(further % chunk_size())};
    }

    /// Calls `visit(i, position)` for the batch's first `count` objects: faster than asking for each
    /// position.
    template <class Visit>
    void for_each_position(const newborn_batch& batch, std::size_t count, Visit visit) const {
        std::size_t object = 0;
        const auto visit_run = [&object, count, visit](std::uint32_t first, std::size_t most) {
            const std::size_t begin = object;
            object += least(count - begin, most);
            for (std::size_t i = begin, end = object; i != end; ++i) {
                visit(i, nursery_position{first + static_cast<std::uint32_t>(i - begin)});
            }
        };
        visit_run(batch.first, batch.in_shard_chunk);
        for (const std::uint32_t vacated : batch.vacated) {
            visit_run(vacated, 1);
        }
        for (const std::uint32_t chunk : batch.chunks) {
            visit_run(chunk * chunk_size(), chunk_size());
        }
    }

    /// Shard: gives a whole batch back. Wait-free.
    void give_back(chain& shard, const newborn_batch& batch) noexcept {
        for (const std::uint32_t chunk : batch.chunks) {
            chunks_.give_back_chunk(chunk);
            note_unused(chunk);
        }
        for (const std::uint32_t position : batch.vacated) {
            vacate(shard, position);
        }
        for (std::uint32_t i = batch.in_shard_chunk; i != 0; --i) {
            give_back(shard, nursery_position{batch.first + i - 1});
        }
    }

    /// Shard: makes a batch of `count` objects part of the shard's queue. Before the first of them is
    /// published, so that the next compaction finds them.
    void append(chain& shard, std::size_t count, const newborn_batch& batch) noexcept {
        if (batch.chunks.empty()) {
            return;
        }
        // Vacate the rest of a chunk that a constructor of this batch has started.
        for (chunk_chain<policy>& own = shard.positions; own.put != own.put_end;) {
            const std::uint32_t position = own.put;
            own.put = position + 1;
            vacate(shard, position);
        }
        for (const std::uint32_t chunk : batch.chunks) {
            chunks_.append(shard.positions, chunk);
        }
        shard.positions.put = raw(position(batch, count - 1)) + 1;
    }

    /// Shard: stores the handle of the object at the position. Must come before the slot is published, which
    /// makes this store visible.
    void own(nursery_position position, value_type handle) noexcept {
        owners_[raw(position)].store(handle, std::memory_order::relaxed);
    }

    /// The handle under which the object at a position was published; a value that is no living handle's when
    /// there is none.
    value_type owner(nursery_position position) const noexcept {
        return owners_[raw(position)].load(std::memory_order::relaxed);
    }

    void prefetch_owner(nursery_position position) const noexcept { prefetch(owners_.data(), raw(position)); }

    /// Compaction: marks the position of an object that was destroyed or has moved away. The next use of the
    /// position is ordered by the freelist of chunks.
    void mark_gone(nursery_position position) noexcept {
        owners_[raw(position)].store(gone, std::memory_order::relaxed);
    }

    /// Compaction: calls `visit(first, last)` for the ranges of positions, none longer than a chunk, in which
    /// the shard's newborns lie that are not yet drained, in their order.
    template <class Visit>
    void for_pending(const chain& shard, Visit visit) const {
        chunks_.for_pending(shard.positions, [&](std::uint32_t first, std::uint32_t last) {
            visit(first, last);
            return true;
        });
    }
    /// Compaction: how many positions those are, without the last ones that are empty now: what comes there
    /// later is not pending.
    std::size_t pending(const chain& shard) const { return pending(shard, for_each_in); }
    /// Compaction: the same for the first `most` positions that are not empty, as far as the first that is.
    /// Returns whether those are all before it.
    template <class Visit>
    bool for_used(const chain& shard, std::size_t most, Visit visit) const {
        return for_used(shard, most, visit, for_each_in);
    }
    /// Compaction: how many positions those are.
    std::size_t used(const chain& shard, std::size_t most) const { return used(shard, most, for_each_in); }

    /// Compaction: returns how many positions can be drained, counted from `first`: it stops at one that is
    /// empty or whose object is not published. Marks the vacated positions before that as gone. For any
    /// number of ranges at the same time.
    std::uint32_t scan_published(std::uint32_t first, std::uint32_t last,
                                 const slot_table<Config>& table) noexcept {
        for (std::uint32_t position = first; position != last; ++position) {
            table.prefetch_slot(table.slot_of(owner(nursery_position{position})));
        }
        for (std::uint32_t position = first; position != last; ++position) {
            if (!pass(position, table)) {
                return position - first;
            }
        }
        return last - first;
    }

    /// Compaction: passes the shard's next `count` positions, which are ready, in runs of neighbours: calls
    /// `take(first position, count)`, which calls take_out() for each.
    template <class Take>
    void drain(chain& shard, std::size_t count, Take take) {
        while (count != 0) {
            chunks_.follow(shard.positions);
            const std::uint32_t first = shard.positions.get;
            const auto ready =
                static_cast<std::uint32_t>(least<std::size_t>(count, shard.positions.get_end - first));
            take(nursery_position{first}, ready);
            shard.positions.get = first + ready;
            count -= ready;
        }
        chunks_.follow(shard.positions); // so that a chunk is done with as soon as there is another
    }
    /// Compaction: leaves a position that is ready empty for its next use. Returns the handle of its newborn,
    /// which is to be moved away; zero when there is none any more.
    value_type take_out(nursery_position position) noexcept {
        const value_type handle = owner(position);
        owners_[raw(position)].store(empty, std::memory_order::relaxed); // carried by (32)
        return handle == gone ? 0 : handle;
    }

    /// Compaction: finds out what is ready and drains it in one pass, in the first `most` positions that are
    /// not empty, and in those that were pending when the shard's chain was last looked at. Returns whether
    /// it left out positions for that limit alone.
    template <class Take>
    bool drain_ready(chain& shard, std::size_t most, const slot_table<Config>& table, Take take) {
        return drain_ready(
            shard, least<std::size_t>(most, shard.pending), limit_positions,
            [&](std::uint32_t first, std::uint32_t last) {
                const std::uint32_t ready = scan_published(first, last, table);
                take(nursery_position{first}, ready);
                shard.positions.get = first + ready;
                return ready;
            },
            for_each_in);
    }

    /// Has the owner's object been published, to judge from its slot's tag? A newborn's slot can't be reused
    /// before compaction has seen the newborn: its tag is that of the owner, or a later one when the object
    /// was erased or its handle revoked. Anything else stood there before, and is lower.
    static bool reached(typename layout::tag_type tag, value_type owner) noexcept {
        return tag >= layout::tag_of(owner);
    }

    /// Compaction: is the object at a position the one that died in this slot under this tag?
    bool holds(nursery_position position, slot_index slot, typename layout::tag_type tag) const noexcept {
        const value_type found = owner(position);
        // A lower tag is the object's too: the slot was its own from then on, see reached().
        return names_object(found) && slot_table<Config>::slot_of(found) == slot && reached(tag, found);
    }

    /// Compaction: gives the drained chunks back, after `recycled(first position)` of each, a
    /// nursery_position.
    template <class Recycled>
    void recycle(Recycled recycled) {
        chunks_.give_back_finished([&](std::uint32_t chunk) {
            recycled(nursery_position{chunk * chunk_size()});
            drained_ = drained_ + 1;
            memory_.touch(std::size_t{chunk} + 1);
        });
    }

    /// Compaction, after recycle(): gives memory back to the system that a frame doesn't usually need. Costs
    /// no more than the frame did.
    template <class Objects>
    void trim(Objects& objects) noexcept {
        touch_unused();
        touch_huge_page(objects);
        const auto cold = memory_.end_frame(drained_ + chunks_.chunks_in_use());
        drained_ = 0;
        kept_ = memory_.touched();
        if (cold.first != cold.last) {
            discard(objects, cold.first, cold.last);
        }
    }

    // Objects don't stay in a nursery, as they do in stable_places.
    static constexpr bool demote(nursery_position) noexcept { return false; }
    static constexpr std::size_t promoted() noexcept { return 0; }

    /// Compaction: gives the memory of all chunks that no shard holds back to the system. See shrink_held()
    /// for the others.
    template <class Objects>
    void shrink(Objects& objects) noexcept {
        touch_unused();
        if (memory_.touched() != 0) {                   // else there is nothing new since the last time
            memory_.touch(chunks_.chunks_in_service()); // also behind a chunk that a shard holds
        }
        touch_huge_page(objects);
        discard(objects, 0, memory_.touched());
        memory_.discarded();
        kept_ = 0;
    }
    /// Compaction: the same of the positions that were passed in the chunk that a shard holds; with those
    /// that the shard has still to take, if it is the calling thread's. Of another thread's these are out of
    /// reach, even when that has ended: the next one with its number may take them at any time.
    template <class Objects>
    void shrink_held(Objects& objects, const chain& shard, bool mine) noexcept {
        std::uint32_t left = mine ? std::uint32_t{shard.positions.put} : 0;
        const std::uint32_t left_end = mine ? std::uint32_t{shard.positions.put_end} : 0;
        for_held(shard, [&](std::uint32_t first, std::uint32_t next) {
            const bool together = next == left; // they may share a page
            discard_positions(objects, first, together ? left_end : next);
            left = together ? left_end : left;
        });
        discard_positions(objects, left, left_end);
    }

    // Objects are made in raw memory and end by their destructors, unlike in recycling_places.
    template <class Objects>
    static auto memory_at(Objects& objects, location where) noexcept {
        return objects.storage(where);
    }
    template <class Objects>
    static void end_object(Objects& objects, location where) noexcept {
        objects.destroy(where);
    }
    /// Is something done at the end of an object?
    template <class Objects>
    static bool ends_objects(const Objects& objects) noexcept {
        return objects.type().has_destructor();
    }
    template <class Objects>
    static constexpr void destroy_kept(const Objects&) noexcept {}

    /// Forgets everything. Only while nobody else uses it; the shards' chains must be made anew.
    void reset() noexcept {
        chunks_.reset();
        owners_.discard();
        links_.discard();
        memory_.discarded();
        kept_ = 0;
        drained_ = 0;
        unused_end_.store(0, std::memory_order::relaxed);
    }

    memory_use memory() const noexcept { return memory_of(chunks_, owners_, links_); }

protected:
    // Owners that name no object: their generation is even. The others are numbered from `first_vacated` on,
    // by the shard that vacated the position.
    static constexpr value_type no_object(std::uint32_t number) noexcept {
        const value_type low = number & layout::index_mask;
        const value_type high = static_cast<value_type>(value_type{number} >> layout::index_bits);
        return static_cast<value_type>(high << (layout::index_bits + 1) | low);
    }
    static constexpr value_type empty = no_object(0);
    static constexpr value_type gone = no_object(1);
    static constexpr std::uint32_t first_vacated = 2;
    static bool names_object(value_type owner) noexcept { return layout::is_alive(layout::tag_of(owner)); }

    /// The public ones, where `for_places(first, last, visit)` calls `visit(position)` for the positions of a
    /// range that the shard may take, as long as it returns true.
    template <class Visit, class ForPlaces>
    bool for_used(const chain& shard, std::size_t& most, Visit visit, ForPlaces for_places) const {
        bool all = true;
        chunks_.for_pending(shard.positions, [&](std::uint32_t first, std::uint32_t last) {
            std::uint32_t end = last;
            for_places(first, last, [&](std::uint32_t position) {
                const bool is_used = owner(nursery_position{position}) != empty;
                if (is_used && most != 0) {
                    --most;
                    return true;
                }
                all = !is_used;
                end = position;
                return false;
            });
            if (end != first) {
                visit(first, end);
            }
            return end == last;
        });
        return all;
    }
    template <class ForPlaces>
    std::size_t used(const chain& shard, std::size_t most, ForPlaces for_places) const {
        std::size_t left = most;
        for_used(shard, left, [](std::uint32_t, std::uint32_t) {}, for_places);
        return most - left;
    }
    template <class ForPlaces>
    std::size_t pending(const chain& shard, ForPlaces for_places) const {
        std::size_t count = 0;
        std::uint32_t last_begin = 0;
        std::uint32_t last_end = 0;
        for_pending(shard, [&](std::uint32_t first, std::uint32_t last) {
            count += last - first;
            last_begin = first;
            last_end = last;
        });
        std::uint32_t used_end = last_begin;
        for_places(last_begin, last_end, [&](std::uint32_t position) {
            used_end = owner(nursery_position{position}) == empty ? used_end : position + 1;
            return true;
        });
        return count - (last_end - used_end);
    }
    /// The same: `limit(first, last, left)` returns the end of the first `left` such positions, which it
    /// counts down; `pass(first, last)` drains those of a run that are ready and returns how many they are.
    template <class Limit, class Pass, class ForPlaces>
    bool drain_ready(chain& shard, std::size_t most, Limit limit, Pass pass, ForPlaces for_places) {
        bool ready = true;
        while (ready && most != 0 && chunks_.follow(shard.positions)) {
            const std::uint32_t first = shard.positions.get;
            const std::uint32_t last = limit(first, std::uint32_t{shard.positions.get_end}, most);
            ready = pass(first, last) == last - first;
        }
        chunks_.follow(shard.positions); // so that a chunk is done with as soon as there is another
        return ready && most == 0 && used(shard, 1, for_places) != 0;
    }
    /// The end of a run's first `left` positions, which it counts down.
    static std::uint32_t limit_positions(std::uint32_t first, std::uint32_t last,
                                         std::size_t& left) noexcept {
        const auto count = static_cast<std::uint32_t>(least<std::size_t>(last - first, left));
        left -= count;
        return first + count;
    }
    static constexpr auto for_each_in = [](std::uint32_t first, std::uint32_t last, auto visit) {
        while (first != last && visit(first)) {
            ++first;
        }
    };

    // How far ahead of the position that is taken memory is asked for.
    static constexpr std::uint32_t positions_ahead = 8;

    /// Shard: a chunk was given back that compaction has never seen. Relaxed: compaction claims the chunk
    /// before it gives its memory back.
    void note_unused(std::uint32_t chunk) noexcept {
        std::uint32_t end = unused_end_.load(std::memory_order::relaxed);
        while (end <= chunk &&
               !unused_end_.compare_exchange_weak(end, chunk + 1, std::memory_order::relaxed)) {
        }
    }

    /// Compaction: their memory may go back.
    void touch_unused() noexcept {
        if (unused_end_.load(std::memory_order::relaxed) != 0) { // rarely: the exchange is dear
            memory_.touch(unused_end_.exchange(0, std::memory_order::relaxed));
        }
    }

    /// Compaction: in a huge page, chunks that nobody has used have memory, too. This frame is taken to have
    /// used them, and those that were never in service become unused ones, so that all of it can go back.
    template <class Objects>
    void touch_huge_page(const Objects& objects) noexcept {
        const std::size_t touched = memory_.touched();
        if (touched <= kept_) {
            return;
        }
        const auto last = nursery_position{static_cast<std::uint32_t>(touched * chunk_size())};
        const std::size_t end = (raw(objects.end_of_huge_page(last)) + chunk_size() - 1) / chunk_size();
        if (end != touched) {
            chunks_.put_in_service(least(end, chunks_.chunks()), chunks_to_hold(chunks_.chunks()));
            memory_.touch(least(end, chunks_.chunks_in_service()));
            drained_ = drained_ + (memory_.touched() - touched);
        }
    }

    /// Compaction: gives the memory of those of the chunks that no shard holds back to the system. It takes
    /// them from the shards meanwhile, a few at a time, so that shards always find others.
    template <class Objects>
    void discard(Objects& objects, std::size_t first, std::size_t last) noexcept {
        constexpr std::size_t word_size = free_bitmap<policy>::bits_per_word;
        static_assert(word_size == chunks_of_piece);
        auto& free = chunks_.given_back();
        for (std::size_t end = last; end != first;) {
            const std::size_t word = (end - 1) / word_size;
            const std::size_t begin = greatest(greatest(first, word * word_size),
                                               end - least(end, chunks_to_hold(chunks_.chunks())));
            const std::uint64_t taken = free.claim_word(word, bits_between(begin, end));
            for_each_run(word * word_size, taken, [&](std::size_t run, std::size_t run_end) {
                discard_positions(objects, run * chunk_size(), run_end * chunk_size());
            });
            if (taken != 0) {
                free.give_back_word(word, taken);
            }
            end = begin;
        }
        free.rewind();
    }
    /// Compaction: gives the memory of a range of positions back that no shard uses, whole pages of it.
    template <class Objects>
    void discard_positions(Objects& objects, std::size_t first, std::size_t last) noexcept {
        if (first == last) {
            return;
        }
        objects.discard(objects.location_of(nursery_position{static_cast<std::uint32_t>(first)}),
                        objects.location_of(nursery_position{static_cast<std::uint32_t>(last)}));
        // Its shard may still look at a position that it has vacated, and that was passed since.
        owners_.release(first, last);
        links_.release(first, last);
    }

    /// Compaction: calls `visit(first, next)` for the chunk in which the shard's next position to be drained
    /// lies, unless it has drained none yet.
    template <class Visit>
    void for_held(const chain& shard, Visit visit) const {
        if (shard.positions.get_end != 0) {
            visit(shard.positions.get_end - chunk_size(), std::uint32_t{shard.positions.get});
        }
    }

    /// The bits, in their word, of chunks of one word.
    static std::uint64_t bits_between(std::size_t first, std::size_t last) noexcept {
        constexpr std::size_t word_size = free_bitmap<policy>::bits_per_word;
        return ~std::uint64_t{0} >> (word_size - (last - first)) << (first % word_size);
    }
    /// Calls `visit(first, last)` for each run of set bits, counted from `start`.
    template <class Visit>
    static void for_each_run(std::size_t start, std::uint64_t bits, Visit visit) {
        for (std::size_t first = start; bits != 0;) {
            const auto gap = static_cast<unsigned>(std::countr_zero(bits));
            const auto length = static_cast<unsigned>(std::countr_one(bits >> gap));
            visit(first + gap, first + gap + length);
            first += gap + length;
            bits = gap + length == 64 ? 0 : bits >> (gap + length);
        }
    }

    /// Compaction: is the object at a position published, or the position done with? A vacated one is from
    /// here on.
    bool pass(std::uint32_t position, const slot_table<Config>& table) noexcept {
        const value_type handle = owner(nursery_position{position});
        return names_object(handle) ? reached(table.tag(table.slot_of(handle)), handle) // (4)
                                    : handle == gone || (handle != empty && pass_vacated(position, handle));
    }

    /// Shard: marks a position without an object as vacated, because later ones were already taken.
    void vacate(chain& shard, std::uint32_t position) noexcept {
        links_[position] = shard.vacant;
        shard.vacant = link_to(position);
        // (5) release: pairs with (6), so that what the constructor wrote happens before the next use
        owners_[position].store(no_object(first_vacated + shard.shard), std::memory_order::release);
        add(shard.vacated, 1);
    }

    /// Shard: takes a position when its chunk has none left. Not inline, so that what is rare does not lie in
    /// the way of what isn't.
    HANDLEPOOL_NOINLINE nursery_position take_elsewhere(chain& shard) noexcept {
        if (const auto vacated = take_vacated(shard)) {
            return nursery_position{*vacated};
        }
        return chunks_.extend(shard.positions) ? nursery_position{chunks_.take_held(shard.positions)}
                                               : nursery_position::none;
    }

    /// Shard: takes the last vacated position, if compaction has not passed it.
    std::optional<std::uint32_t> take_vacated(chain& shard) noexcept {
        if (shard.vacant == link::none) {
            return std::nullopt;
        }
        const std::uint32_t position = target_of(shard.vacant);
        value_type mine = no_object(first_vacated + shard.shard);
        // Relaxed: whoever wrote there did so in this shard.
        if (!owners_[position].compare_exchange_strong(mine, empty, std::memory_order::relaxed,
                                                       std::memory_order::relaxed)) {
            // Passed: its link may be another shard's by now, and most of the others are passed, too.
            shard.vacant = link::none;
            return std::nullopt;
        }
        shard.vacant = links_[position];
        return position;
    }

    /// Compaction: passes a vacated position, unless its shard has taken it again.
    bool pass_vacated(std::uint32_t position, value_type vacated) noexcept {
        // (6) acquire: pairs with (5)
        return owners_[position].compare_exchange_strong(vacated, gone, std::memory_order::acquire,
                                                         std::memory_order::relaxed);
    }

    chunk_store<policy, index_allocator<policy, typename Config::freelist>> chunks_;
    typename policy::template array<typename policy::template atomic<value_type>> owners_;
    typename policy::template array<typename policy::template plain<link>> links_; // of vacated positions
    // Of compaction: the chunks that have memory, how many had after the last trim(), and how many were
    // drained since.
    high_water_mark<policy> memory_{policy::warm_chunks};
    typename policy::template plain<std::size_t> kept_{0};
    typename policy::template plain<std::size_t> drained_{0};
    // After the last chunk that a shard gave back whole: its memory may have been touched.
    typename policy::template atomic<std::uint32_t> unused_end_{0};
};

} // namespace handlepool::detail
