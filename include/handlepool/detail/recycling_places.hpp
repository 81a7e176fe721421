#pragma once

#include <handlepool/detail/kept_place.hpp>
#include <handlepool/detail/memory_of.hpp>
#include <handlepool/detail/memory_purpose.hpp>
#include <handlepool/detail/numbers.hpp>
#include <handlepool/detail/stable_places.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/recycler.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace handlepool::detail {

/// Places whose objects are constructed once: at its end an object is cleared, and *kept* for the next one
/// there. A bit for each place says whether an object is constructed, living or kept. The bits of a group
/// belong to the lane that holds the group, or to compaction while it owns it. They go from one to the other
/// as the memory of the objects does, so they need no memory order of their own. An object's end leaves the
/// bits alone, for a lane may hold the group.
template <class Config>
class recycling_places : public stable_places<Config> {
    using base = stable_places<Config>;
    using word = typename base::policy::template plain<std::uint64_t>;

public:
    recycling_places(const memory_purpose& what_for, std::size_t groups, std::size_t, std::size_t max_threads)
        : base(what_for, groups, base::group_size, max_threads),
          constructed_(what_for.part(" bits of constructed objects"), groups, 0) {}

    /// Lane: what is at a place that it has taken.
    template <class Objects>
    kept_place<word> memory_at(Objects& objects, location where) noexcept {
        const std::uint32_t place = raw(objects.nursery_position_of(where));
        return {objects.storage(where), constructed_[place / base::group_size], base::bit_of(place)};
    }

    /// Clears an object, and keeps it.
    template <class Objects>
    static void end_object(Objects& objects, location where) noexcept {
        recycler<object_of<Objects>>::clear(*objects.at(where));
        objects.poison_objects(where);
    }
    template <class Objects>
    static constexpr bool ends_objects(const Objects&) noexcept {
        return true;
    }

    /// Destroys the objects that are kept. Only while none lives, and nobody else uses the pool.
    template <class Objects>
    void destroy_kept(Objects& objects) noexcept {
        for (std::size_t group = 0, last = base::groups(); group != last; ++group) {
            destroy_kept_in(objects, group);
        }
    }

    /// Compaction: destroys the objects that are kept, and gives the memory after the last object back to the
    /// system; except in groups which a lane holds.
    template <class Objects>
    void shrink(Objects& objects) {
        for (std::size_t group = 0, last = base::groups(); group != last; ++group) {
            if (!base::has_hole(group)) {
                continue;
            }
            const std::size_t in_word = group / base::groups_a_word;
            const std::uint64_t taken = base::take_over(in_word, base::bit_of_group(group));
            if (taken != 0) {
                destroy_kept_in(objects, group);
                base::offer(in_word, taken);
            }
        }
        // A lane may have kept new ones since, and given their group back.
        base::shrink(objects, [&](std::size_t group) { destroy_kept_in(objects, group); });
    }

    void reset() noexcept {
        base::reset();
        constructed_.discard();
    }

    memory_use memory() const noexcept { return base::memory() + memory_of(constructed_); }

private:
    template <class Objects>
    using object_of = std::remove_pointer_t<typename Objects::pointer>;

    /// Of a group in which nothing happens.
    template <class Objects>
    void destroy_kept_in(Objects& objects, std::size_t group) noexcept {
        const std::uint64_t living = base::settled_in(group);
        for (std::uint64_t kept = constructed_[group] & ~living; kept != 0; kept &= kept - 1) {
            const std::size_t place =
                group * base::group_size + static_cast<std::size_t>(std::countr_zero(kept));
            const location where = objects.location_of(nursery_position{static_cast<std::uint32_t>(place)});
            objects.unpoison_objects(where);
            objects.destroy(where);
        }
        constructed_[group] = constructed_[group] & living;
    }

    typename base::policy::template array<word> constructed_;
};

} // namespace handlepool::detail
