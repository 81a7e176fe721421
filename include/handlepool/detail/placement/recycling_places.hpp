// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/memory_of.hpp>
#include <handlepool/detail/placement/recycled_site.hpp>
#include <handlepool/detail/placement/stable_places.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/recycler.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace handlepool::detail {

/// Places whose objects are constructed once: at its end an object is cleared, and *kept* for the next one
/// there. A bit for each place says whether an object is constructed, living or kept. It belongs to whom the
/// place belongs to, a shard or compaction, and goes from one to the other as the memory of the object does:
/// so it needs no memory order of its own, only that changes of others in the word leave it alone. An
/// object's end leaves the bits alone, too.
template <class Config>
class recycling_places : public stable_places<Config> {
    using base = stable_places<Config>;
    using word = typename base::policy::template atomic<std::uint64_t>;

public:
    recycling_places(const allocation_label& what_for, std::size_t groups, std::size_t,
                     std::size_t max_threads)
        : base(what_for, groups, base::group_size, max_threads),
          constructed_(what_for.part(" bits of constructed objects"), groups, 0) {}

    /// Shard: what is at a place that it has taken.
    template <class Objects>
    recycled_site<word> memory_at(Objects& objects, location where) noexcept {
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
            destroy_kept_in(objects, group, ~base::promoted_in(group));
        }
    }

    /// Compaction: destroys the objects that are kept, and gives the memory of all holes back to the system;
    /// except where a shard may create objects.
    template <class Objects>
    void shrink(Objects& objects) noexcept {
        base::shrink(objects, destroy_in(objects));
    }
    template <class Objects>
    void shrink_held(Objects& objects, const typename base::chain& shard, bool mine) noexcept {
        base::shrink_held(objects, shard, mine, destroy_in(objects));
    }

    void reset() noexcept {
        base::reset();
        constructed_.discard();
    }

    memory_use memory() const noexcept { return base::memory() + memory_of(constructed_); }

private:
    template <class Objects>
    using object_of = std::remove_pointer_t<typename Objects::pointer>;

    /// Of places of a group that are free.
    template <class Objects>
    void destroy_kept_in(Objects& objects, std::size_t group, std::uint64_t places) noexcept {
        const std::uint64_t kept = constructed_[group].load(std::memory_order::relaxed) & places;
        base::for_each_bit(group, kept, [&](nursery_position place) {
            const location where = objects.location_of(place);
            objects.unpoison_objects(where);
            objects.destroy(where);
        });
        if (kept != 0) {
            constructed_[group].fetch_and(~kept, std::memory_order::relaxed);
        }
    }
    template <class Objects>
    auto destroy_in(Objects& objects) noexcept {
        return [this, &objects](std::size_t group, std::uint64_t places) {
            destroy_kept_in(objects, group, places);
        };
    }

    typename base::policy::template array<word> constructed_;
};

} // namespace handlepool::detail
