#pragma once

#include <handlepool/chunk_pool.hpp>
#include <handlepool/slot_table.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace handlepool {

/// Where objects created since the last compaction live, and the record of whose they are: for each position
/// the whole handle of its object. A position is *empty*, *owned* or *gone* (its object was destroyed, or its
/// constructor threw). The positions of one lane are a queue: the lane takes them, compaction drains them in
/// order.
///
/// Compaction takes an owned position for a newborn only when the slot's tag has reached that handle.
/// Otherwise it stops there, as at an empty one: the object may be half built, or complete and not yet
/// published.
template <class Layout, class Policy, template <class> class Freelist>
class nursery {
public:
    using value_type = typename Layout::value_type;
    using chain = chunk_chain<Policy>;

    nursery(std::string_view what_for, std::size_t chunks, std::size_t chunk_size)
        : chunks_(what_for, chunks, chunk_size), owners_(what_for, chunks_.positions(), 0) {}

    std::size_t positions() const noexcept { return owners_.size(); }
    std::uint32_t chunk_size() const noexcept { return chunks_.chunk_size(); }

    /// Lane: takes a position for an object. False when none is left. Lock-free.
    bool take(chain& lane, std::uint32_t& position) noexcept { return chunks_.take(lane, position); }

    /// Lane: gives a position back whose constructor threw. False when it stays out until compaction passes
    /// it. Wait-free.
    bool give_back(chain& lane, std::uint32_t position) noexcept {
        if (lane.put == position + 1 && lane.put_end - position <= chunk_size()) {
            lane.put = position;
            return true;
        } else { // the constructor had made other objects behind it, in its chunk or in a later one
            // (5) release: pairs with (6), so that what the constructor wrote happens before the next use
            owners_[position].store(gone, std::memory_order::release);
            return false;
        }
    }

    /// Lane: records whose the object is. Before its slot is published, whose order carries the record.
    void own(std::uint32_t position, value_type handle) noexcept {
        owners_[position].store(handle, std::memory_order::relaxed);
    }

    /// The handle of the object at a position; a value that is no living handle's when there is none.
    value_type owner(std::uint32_t position) const noexcept {
        return owners_[position].load(std::memory_order::relaxed);
    }

    /// Compaction: marks the position of an object that was destroyed or has moved away. The next use of the
    /// position is ordered by the freelist of chunks.
    void bury(std::uint32_t position) noexcept { owners_[position].store(gone, std::memory_order::relaxed); }

    /// Compaction: calls `visit(first, last)` for the ranges of positions, none longer than a chunk, in which
    /// the lane's newborns lie that are not yet drained, in their order.
    template <class Visit>
    void for_pending(const chain& lane, Visit visit) const {
        chunks_.for_pending(lane, visit);
    }

    /// Compaction: how many of such a range can be drained, from its first on: up to one that is empty, or
    /// whose object is not yet published. For any number of ranges at the same time.
    std::uint32_t count_ready(std::uint32_t first, std::uint32_t last,
                              const slot_table<Layout, Policy>& slots) const noexcept {
        for (std::uint32_t position = first; position != last; ++position) {
            // (6) acquire: pairs with (5)
            const value_type handle = owners_[position].load(std::memory_order::acquire);
            if (handle == empty) {
                return position - first;
            }
            if (last - position > slots_ahead) {
                slots.prefetch_slot(Layout::index_of(owner(position + slots_ahead)));
            }
            if (handle != gone && !reached(slots.tag(Layout::index_of(handle)), handle)) { // (4)
                return position - first;
            }
        }
        return last - first;
    }

    /// Compaction: passes the lane's next `count` positions, which are ready, and calls `take(position)` for
    /// those of newborns.
    template <class Take>
    void drain(chain& lane, std::size_t count, Take take) {
        for (; count != 0; --count) {
            chunks_.follow(lane);
            const std::uint32_t position = lane.get;
            if (owner(position) != gone) {
                take(position);
            }
            lane.get = position + 1;
        }
        chunks_.follow(lane); // so that a chunk is done with as soon as there is another
    }

    /// Compaction, after an overflow: calls `found(handle)` for the objects in the lane's nursery that are
    /// erased, also behind positions that are still empty.
    template <class Found>
    void sweep(const chain& lane, const slot_table<Layout, Policy>& slots, Found found) const {
        chunks_.for_pending(lane, [&](std::uint32_t first, std::uint32_t last) {
            for (std::uint32_t position = first; position != last; ++position) {
                const value_type handle = owner(position);
                if (handle != empty && handle != gone &&
                    slots.tag(Layout::index_of(handle)) == Layout::tag_of(handle) + 1) { // (4)
                    found(handle);
                }
            }
        });
    }

    /// Compaction: gives the drained chunks back, after `discarded(first position)` of each.
    template <class Discarded>
    void recycle(Discarded discarded) {
        chunks_.recycle([&](std::uint32_t first) {
            for (std::uint32_t position = first; position != first + chunk_size(); ++position) {
                owners_[position].store(empty, std::memory_order::relaxed); // carried by the freelist's tail
            }
            discarded(first);
        });
    }

    /// Forgets everything. Only while nobody else uses it; the lanes' chains must be made anew.
    void reset() noexcept {
        chunks_.reset();
        owners_.discard();
    }

    std::size_t bytes_reserved() const noexcept {
        return chunks_.bytes_reserved() + owners_.bytes_reserved();
    }
    std::size_t bytes_resident() const noexcept {
        return chunks_.bytes_resident() + owners_.bytes_resident();
    }

private:
    // Neither is the value of a handle that was ever valid: one has generation 0, the other the last.
    static constexpr value_type empty = 0;
    static constexpr value_type gone = static_cast<value_type>(~value_type{0});

    // How far ahead of a newborn its slot is asked for.
    static constexpr std::uint32_t slots_ahead = 16;

    /// A newborn's slot can't be reused before compaction has seen the newborn: its tag is the handle's own,
    /// or one further when it was erased already. Anything else stood there before.
    static bool reached(typename Layout::tag_type tag, value_type handle) noexcept {
        return tag == Layout::tag_of(handle) || tag == Layout::tag_of(handle) + 1;
    }

    chunk_pool<Policy, Freelist> chunks_;
    typename Policy::template array<typename Policy::template atomic<value_type>> owners_;
};

} // namespace handlepool
