// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/scratch_array.hpp>
#include <handlepool/detail/parts/pool_state.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace handlepool::detail {

/// Permutes the objects of the dense store, each of which moves once, along the cycles of the permutation:
/// the first object of a cycle is taken out, each place is filled from where its object is, and the last
/// place gets the one that was taken out.
///
/// For several threads cycles are cut: the objects at places that lie regularly in the store are all taken
/// out first, and the way from one of these places to the next is a *chain* that no other thread touches.
template <class T, class Config>
class cycle_mover {
public:
    using parts_type = pool_state<T, Config>;

    /// Prepares for a permutation of the first `count` objects, along up to `chains` chains at once, one or
    /// more. Throws std::bad_alloc.
    cycle_mover(parts_type& parts, std::uint32_t count, std::size_t chains)
        : parts_(parts), count_(count), cuts_(chains), owners_(chains) {
        while ((count >> cut_bits_) >= chains) {
            ++cut_bits_;
        }
        const object_type<T>& type = parts.objects.type();
        taken_out_ = ::operator new(chains * type.stride(), std::align_val_t{alignment()});
    }
    ~cycle_mover() { ::operator delete(taken_out_, std::align_val_t{alignment()}); }

    cycle_mover(const cycle_mover&) = delete;
    cycle_mover& operator=(const cycle_mover&) = delete;

    /// Moves to each place the object that is at `sources[place]`, a permutation, and makes it the identity.
    /// Returns how many objects moved.
    template <class Executor>
    std::size_t run(Executor& executor, scratch_array<std::uint32_t>& sources) noexcept {
        std::size_t moved = 0;
        const std::uint32_t count = count_;
        for (std::uint32_t place = 0; place != count; ++place) {
            moved += sources[place] == place ? 0U : 1U;
        }
        if (moved != 0 && cuts_ > 1) {
            move_chains(executor, sources);
        }
        // Cycles without a cut.
        for (std::uint32_t place = 0; place != count; ++place) {
            if (sources[place] != place) {
                take_out(place, 0);
                const std::uint32_t hole =
                    move_chain(sources, place, [place](std::uint32_t source) { return source == place; });
                put_in(0, hole, sources);
            }
        }
        return moved;
    }

private:
    // How many moves ahead of the one that is made an object and its owner's entry are asked for, and its
    // slot.
    static constexpr std::size_t objects_ahead = 16;
    static constexpr std::size_t slots_ahead = 8;

    template <class Executor>
    void move_chains(Executor& executor, scratch_array<std::uint32_t>& sources) noexcept {
        const std::uint32_t between = (std::uint32_t{1} << cut_bits_) - 1;
        const std::size_t cuts = (std::size_t{count_ - 1} >> cut_bits_) + 1;
        executor.for_ranges(cuts, 1, [&](std::size_t first, std::size_t last) noexcept {
            for (std::size_t cut = first; cut != last; ++cut) {
                if (const auto place = static_cast<std::uint32_t>(cut << cut_bits_);
                    sources[place] != place) {
                    take_out(place, cut);
                }
            }
        });
        executor.for_ranges(cuts, 1, [&](std::size_t first, std::size_t last) noexcept {
            for (std::size_t cut = first; cut != last; ++cut) {
                if (const auto place = static_cast<std::uint32_t>(cut << cut_bits_);
                    sources[place] != place) {
                    const std::uint32_t hole = move_chain(
                        sources, place, [between](std::uint32_t source) { return (source & between) == 0; });
                    put_in(sources[hole] >> cut_bits_, hole, sources);
                }
            }
        });
    }

    /// Fills the hole and those that this leaves, until a hole's source is the end of the chain; returns that
    /// hole.
    template <class IsEnd>
    std::uint32_t move_chain(scratch_array<std::uint32_t>& sources, std::uint32_t hole,
                             IsEnd is_end) noexcept {
        // Prefetching stops at the end: what lies beyond is another thread's.
        const auto advance = [&](std::uint32_t place) {
            const std::uint32_t source = sources[place];
            return is_end(source) ? place : source;
        };
        std::uint32_t object_ahead = hole;
        std::uint32_t slot_ahead = hole;
        for (std::size_t i = 0; i != objects_ahead && !is_end(sources[object_ahead]); ++i) {
            object_ahead = advance(object_ahead);
            prefetch_object(object_ahead);
            slot_ahead = i < slots_ahead ? advance(slot_ahead) : slot_ahead;
        }
        while (true) {
            const std::uint32_t source = sources[hole];
            if (is_end(source)) {
                return hole;
            }
            object_ahead = advance(object_ahead);
            prefetch_object(object_ahead);
            slot_ahead = advance(slot_ahead);
            const slot_index soon = parts_.objects.owner(dense_position{slot_ahead});
            parts_.table.prefetch_slot(soon);

            const slot_index slot = parts_.objects.owner(dense_position{source});
            parts_.objects.relocate(location{source}, location{hole});
            own(hole, slot);
            sources[hole] = hole;
            hole = source;
        }
    }

    void own(std::uint32_t place, slot_index slot) noexcept {
        parts_.own(dense_position{place}, slot);
        if (is_watched_) {
            parts_.watch.note_moved(dense_position{place});
        }
    }
    void take_out(std::uint32_t place, std::size_t which) noexcept {
        owners_[which] = parts_.objects.owner(dense_position{place});
        parts_.objects.take_out(location{place}, storage(which));
    }
    void put_in(std::size_t which, std::uint32_t hole, scratch_array<std::uint32_t>& sources) noexcept {
        parts_.objects.put_in(storage(which), location{hole});
        own(hole, owners_[which]);
        sources[hole] = hole;
    }

    void prefetch_object(std::uint32_t place) const noexcept {
        parts_.objects.prefetch_object(location{place});
        parts_.objects.prefetch_owner(dense_position{place});
    }

    void* storage(std::size_t which) const noexcept {
        return static_cast<std::byte*>(taken_out_) + which * parts_.objects.type().stride();
    }
    std::size_t alignment() const noexcept {
        return greatest(parts_.objects.type().alignment(), std::size_t{__STDCPP_DEFAULT_NEW_ALIGNMENT__});
    }

    parts_type& parts_;
    const bool is_watched_ = parts_.watch.is_on(); // nobody begins to watch while the gate is closed
    std::uint32_t count_;
    std::size_t cuts_;
    unsigned cut_bits_ = 0;            // a cut at each multiple of this power of two
    scratch_array<slot_index> owners_; // of the objects that were taken out
    void* taken_out_;
};

} // namespace handlepool::detail
