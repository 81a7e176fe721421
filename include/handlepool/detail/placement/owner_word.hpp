// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/slots/slot_table.hpp>

#include <atomic>
#include <cstdint>

namespace handlepool::detail {

/// Says whose a position of the nursery is, or a place of a stable pool:
///
/// | state     | the word              | next                                                        |
/// | --------- | --------------------- | ----------------------------------------------------------- |
/// | *empty*   | 0                     | *owned*: own() by the shard, before it publishes the object |
/// |           |                       | *vacated*: vacate() by the shard, when a constructor threw  |
/// | *owned*   | the object's handle   | *empty*: take_out() or clear() by compaction                |
/// |           |                       | *gone*: mark_gone() by compaction, when the object ended    |
/// | *vacated* | a number of the shard | *empty*: retake() by the shard                              |
/// |           |                       | *gone*: pass() by compaction                                |
/// | *gone*    | 1                     | *empty*: take_out() or clear() by compaction                |
///
/// Of retake() and pass() one wins, by compare-exchange. Zero bytes are an empty word.
template <class Config>
class owner_word {
public:
    using layout = typename Config::layout;
    using value_type = typename layout::value_type;
    using tag_type = typename layout::tag_type;

    /// The handle under which the object was published, which may have been revoked since; a value that is no
    /// living handle's when there is none.
    value_type value() const noexcept { return word_.load(std::memory_order::relaxed); }
    bool is_empty() const noexcept { return value() == empty; }
    bool is_owned() const noexcept { return names_object(value()); }

    /// Shard: stores the handle of its object. Must come before the slot is published, which makes this store
    /// visible.
    void own(value_type handle) noexcept { word_.store(handle, std::memory_order::relaxed); }

    /// Shard: leaves the position, which is empty, to whichever comes first, its own next use or compaction.
    void vacate(std::uint32_t shard) noexcept {
        // (5) release: pairs with (6), so that what the constructor wrote happens before the next use
        word_.store(vacated_by(shard), std::memory_order::release);
    }
    /// Shard: takes a position again that it has vacated. False when compaction has passed it.
    bool retake(std::uint32_t shard) noexcept {
        value_type mine = vacated_by(shard);
        // Relaxed: whoever wrote there did so in this shard.
        return word_.compare_exchange_strong(mine, empty, std::memory_order::relaxed,
                                             std::memory_order::relaxed);
    }

    /// Compaction: returns whether the position is ready to be drained: its object is published, or it is
    /// done with. A vacated one is from here on.
    ///
    /// An owned position has a newborn only when the slot's tag has reached the handle's. Before that the
    /// object may be half built, or complete and not yet published.
    bool pass(const slot_table<Config>& table) noexcept {
        const value_type handle = value();
        return names_object(handle) ? reached(table.tag(table.slot_of(handle)), handle) // (4)
                                    : handle == gone || (handle != empty && pass_vacated(handle));
    }
    /// Compaction: the object has ended, before the position was drained.
    void mark_gone() noexcept { word_.store(gone, std::memory_order::relaxed); }
    /// Compaction: leaves a position that is ready empty for its next use.
    void clear() noexcept { word_.store(empty, std::memory_order::relaxed); } // carried by (32)
    /// Compaction: clears a position that is ready. Returns the handle of its newborn, which is to be moved
    /// away; zero when there is none any more.
    value_type take_out() noexcept {
        const value_type handle = value();
        clear();
        return handle == gone ? 0 : handle;
    }

    /// Compaction: returns whether the object is the one that died in this slot under this tag.
    bool is_of(slot_index slot, tag_type tag) const noexcept {
        const value_type found = value();
        // A lower tag is the object's too: the slot was its own from then on, see reached().
        return names_object(found) && slot_table<Config>::slot_of(found) == slot && reached(tag, found);
    }

    /// Returns whether the owner's object has been published, to judge from its slot's tag. A newborn's slot
    /// can't be reused before compaction has seen the newborn: its tag is that of the owner, or a later one
    /// when the object was erased or its handle revoked. Anything else stood there before, and is lower.
    static bool reached(tag_type tag, value_type owner) noexcept { return tag >= layout::tag_of(owner); }

private:
    // Words that name no object: their generation is even. The others are numbered from `first_vacated` on,
    // by the shard that vacated the position.
    static constexpr value_type no_object(std::uint32_t number) noexcept {
        const value_type low = number & layout::index_mask;
        const value_type high = static_cast<value_type>(value_type{number} >> layout::index_bits);
        return static_cast<value_type>(high << (layout::index_bits + 1) | low);
    }
    static constexpr value_type empty = no_object(0);
    static constexpr value_type gone = no_object(1);
    static constexpr std::uint32_t first_vacated = 2;
    static constexpr value_type vacated_by(std::uint32_t shard) noexcept {
        return no_object(first_vacated + shard);
    }
    static bool names_object(value_type word) noexcept { return layout::is_alive(layout::tag_of(word)); }

    /// Compaction: passes a vacated position, unless its shard has taken it again.
    bool pass_vacated(value_type vacated) noexcept {
        // (6) acquire: pairs with (5)
        return word_.compare_exchange_strong(vacated, gone, std::memory_order::acquire,
                                             std::memory_order::relaxed);
    }

    typename Config::policy::template atomic<value_type> word_{empty};
};

} // namespace handlepool::detail
