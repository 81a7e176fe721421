// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/placement/newborn_consumer.hpp>
#include <handlepool/detail/placement/newborn_positions.hpp>
#include <handlepool/detail/placement/nursery_memory.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace handlepool::detail {

/// Positions for objects that are published together: the rest of a shard's chunk, then vacated ones, then
/// whole chunks that no chain leads to yet.
struct newborn_batch {
    std::uint32_t first = 0;
    std::uint32_t in_shard_chunk = 0; // positions from `first` on
    std::vector<std::uint32_t> vacated;
    std::vector<std::uint32_t> chunks;
};

/// Where objects created since the last compaction live, and the record of whose they are: an owner_word for
/// each position. The positions of one shard are a queue: the shard takes them, compaction drains them in
/// order. A vacated position is the shard's to use again until compaction passes it.
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
        : positions_(what_for, chunks, chunk_size, max_threads) {}

    std::size_t positions() const noexcept { return positions_.owners.size(); }
    /// Positions ever taken are the first ones.
    std::size_t positions_in_service() const noexcept {
        return positions_.chunks.chunks_in_service() * chunk_size();
    }
    std::uint32_t chunk_size() const noexcept { return positions_.chunks.chunk_size(); }

    // ---- A shard's end of its queue

    /// Shard: takes a position for an object. None when no position is left. Calls `soon(position)` for such
    /// as are probably taken some calls later, for prefetching; they may lie past the end. Lock-free.
    template <class Soon>
    nursery_position take(chain& shard, Soon soon) noexcept {
        if (!positions_.chunks.has_position(shard.positions)) [[unlikely]] {
            return take_elsewhere(shard);
        }
        const std::uint32_t position = positions_.chunks.take_held(shard.positions);
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
            positions_.vacate(shard, position);
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
            const std::optional<std::uint32_t> vacated = positions_.take_vacated(shard);
            if (!vacated) {
                break;
            }
            batch.vacated.push_back(*vacated);
        }
        for (std::size_t chunks = (further + chunk_size() - 1) / chunk_size(); chunks != 0; --chunks) {
            const std::optional<std::uint32_t> chunk = positions_.chunks.take_chunk();
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
            positions_.chunks.give_back_chunk(chunk);
            memory_.note_unused(chunk);
        }
        for (const std::uint32_t position : batch.vacated) {
            positions_.vacate(shard, position);
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
            positions_.vacate(shard, position);
        }
        for (const std::uint32_t chunk : batch.chunks) {
            positions_.chunks.append(shard.positions, chunk);
        }
        shard.positions.put = raw(position(batch, count - 1)) + 1;
    }

    // ---- Owners, see owner_word

    /// Shard: stores the handle of the object at the position. Must come before the slot is published, which
    /// makes this store visible.
    void own(nursery_position position, value_type handle) noexcept { positions_[position].own(handle); }

    /// The handle under which the object at a position was published; a value that is no living handle's when
    /// there is none.
    value_type owner(nursery_position position) const noexcept { return positions_[position].value(); }
    void prefetch_owner(nursery_position position) const noexcept {
        prefetch(positions_.owners.data(), raw(position));
    }

    /// Compaction: marks the position of an object that was destroyed or has moved away. The next use of the
    /// position is ordered by the freelist of chunks.
    void mark_gone(nursery_position position) noexcept { positions_[position].mark_gone(); }

    /// Compaction: returns whether the object at a position is the one that died in this slot under this tag.
    bool holds(nursery_position position, slot_index slot, typename layout::tag_type tag) const noexcept {
        return positions_[position].is_of(slot, tag);
    }
    static bool reached(typename layout::tag_type tag, value_type owner) noexcept {
        return owner_word<Config>::reached(tag, owner);
    }

    // ---- Compaction's end of the queues, see newborn_consumer

    auto& consumer() noexcept { return consumer_; }

    /// Compaction: returns how many positions are ready, counted from `first`: it stops at one that is empty
    /// or whose object is not published. Marks the vacated positions before that as gone. For any number of
    /// ranges at the same time.
    std::uint32_t scan_ready(std::uint32_t first, std::uint32_t last,
                             const slot_table<Config>& table) noexcept {
        for (std::uint32_t position = first; position != last; ++position) {
            table.prefetch_slot(table.slot_of(positions_.owners[position].value()));
        }
        for (std::uint32_t position = first; position != last; ++position) {
            if (!positions_.owners[position].pass(table)) {
                return position - first;
            }
        }
        return last - first;
    }

    /// Compaction: leaves a position that is ready empty for its next use. Returns the handle of its newborn,
    /// which is to be moved away; zero when there is none any more.
    value_type take_out(nursery_position position) noexcept { return positions_[position].take_out(); }

    /// Compaction: gives the drained chunks back, after `recycled(first position)` of each, a
    /// nursery_position.
    template <class Recycled>
    void recycle(Recycled recycled) {
        positions_.chunks.give_back_finished([&](std::uint32_t chunk) {
            recycled(nursery_position{chunk * chunk_size()});
            memory_.note_drained(chunk);
        });
    }

    // Objects don't stay in a nursery, as they do in stable_places.
    static constexpr bool demote(nursery_position) noexcept { return false; }
    static constexpr std::size_t promoted() noexcept { return 0; }

    // ---- Spawners: where an object is made can't be seen

    static constexpr void open_deal(std::span<const std::uint32_t>) noexcept {}
    static constexpr void close_deal() noexcept {}
    static constexpr void take_groups_from(const chain&) noexcept {}

    // ---- Memory, see nursery_memory

    /// Compaction, after recycle().
    template <class Objects>
    void trim(Objects& objects) noexcept {
        memory_.trim(objects);
    }
    template <class Objects>
    void shrink(Objects& objects) noexcept {
        memory_.shrink(objects);
    }
    template <class Objects>
    void shrink_held(Objects& objects, const chain& shard, bool mine) noexcept {
        memory_.shrink_held(objects, shard, mine);
    }

    // ---- Objects: they are made in raw memory, and end by their destructors

    template <class Objects>
    static auto memory_at(Objects& objects, location where) noexcept {
        return objects.storage(where);
    }
    template <class Objects>
    static void end_object(Objects& objects, location where) noexcept {
        objects.destroy(where);
    }
    template <class Objects>
    static bool ends_objects(const Objects& objects) noexcept {
        return objects.type().has_destructor();
    }
    template <class Objects>
    static constexpr void destroy_kept(const Objects&) noexcept {}

    // ---- For captures, while nobody else uses the pool and nothing waits for a compaction

    /// Positions that a shard has still to take in its chunk: while there are any, it uses none that it has
    /// vacated.
    static std::uint32_t left_in_chunk(const chain& shard) noexcept {
        return shard.positions.put_end - shard.positions.put;
    }
    /// Lets it have so many in its chunk, if it has one. What it has vacated was passed.
    void set_left_in_chunk(chain& shard, std::uint32_t left) noexcept {
        chunk_chain<policy>& own = shard.positions;
        shard.vacant = link::none;
        if (own.put_end != 0) {
            positions_.chunks.follow(own); // to its last chunk
            own.put = own.put_end - left;
            own.get = std::uint32_t{own.put};
        }
    }

    /// Forgets everything. Only while nobody else uses it; the shards' chains must be made anew.
    void reset() noexcept {
        positions_.reset();
        memory_.reset();
    }

    memory_use memory() const noexcept { return positions_.memory(); }

private:
    // How far ahead of the position that is taken memory is asked for.
    static constexpr std::uint32_t positions_ahead = 8;

    /// Shard: takes a position when its chunk has none left. Not inline, so that what is rare does not lie in
    /// the way of what isn't.
    HANDLEPOOL_NOINLINE nursery_position take_elsewhere(chain& shard) noexcept {
        if (const auto vacated = positions_.take_vacated(shard)) {
            return nursery_position{*vacated};
        }
        auto& chunks = positions_.chunks;
        return chunks.extend_again(shard.positions, memory_.kept()) || chunks.extend(shard.positions)
                   ? nursery_position{chunks.take_held(shard.positions)}
                   : nursery_position::none;
    }

    static constexpr all_positions candidates{};

    newborn_positions<Config> positions_;
    newborn_consumer<Config, all_positions> consumer_{positions_, candidates};
    nursery_memory<Config> memory_{positions_};
};

} // namespace handlepool::detail
