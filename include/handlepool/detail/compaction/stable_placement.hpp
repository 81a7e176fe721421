// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/for_ranges_or_throw.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/compaction/stable_promoter.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/placement/object_lifetimes.hpp>
#include <handlepool/detail/placement/promoted_groups.hpp>
#include <handlepool/detail/placement/stable_places.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/placement.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

namespace handlepool::detail {

/// Goes over the objects of a pool that stay where they are, and skips the holes between them. An input
/// iterator for the same reason as dense_iterator: objects may be changed, but not exchanged.
template <class T, class Config>
class promoted_iterator {
    using policy = typename Config::policy;
    using word = typename promoted_groups<policy>::word;

public:
    using value_type = std::remove_const_t<T>;
    using reference = T&;
    using pointer = T*;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    /// After the last object.
    promoted_iterator() noexcept = default;
    /// The first object of so many groups; `objects` is the first place.
    promoted_iterator(const promoted_groups<policy>& promoted, std::size_t groups, T* objects) noexcept
        : group_(promoted.data()), last_(group_ + groups), first_(objects) {
        if (group_ != last_) {
            left_ = *group_;
            skip_empty_groups();
        }
    }
    T& operator*() const noexcept { return first_[std::countr_zero(left_)]; }
    T* operator->() const noexcept { return &**this; }
    promoted_iterator& operator++() noexcept {
        left_ &= left_ - 1;
        if (left_ == 0) {
            skip_empty_groups();
        }
        return *this;
    }
    promoted_iterator operator++(int) noexcept {
        promoted_iterator before = *this;
        ++*this;
        return before;
    }

    friend bool operator==(const promoted_iterator& left, const promoted_iterator& right) noexcept {
        // At the end there are none left, whatever the number of groups was when the loop began.
        return left.left_ == right.left_ && (left.left_ == 0 || left.group_ == right.group_);
    }

private:
    void skip_empty_groups() noexcept {
        while (left_ == 0 && ++group_ != last_) {
            left_ = *group_;
            first_ += place_bits<policy>::group_size;
        }
    }

    const word* group_ = nullptr; // bits of the current group's objects
    const word* last_ = nullptr;  // behind those of the last group
    T* first_ = nullptr;          // the first place of the group
    std::uint64_t left_ = 0;      // bits of its objects from the current one on
};

/// Objects are created where they stay.
template <class Config>
struct placement_parts<Config, stable_placement> {
    using places = stable_places<Config>;
    template <class T>
    using promoter = stable_promoter<T, Config>;

    static constexpr bool stable = true;

    template <class T>
    using iterator = promoted_iterator<T, Config>;
    template <class T>
    using const_iterator = promoted_iterator<const T, Config>;
    template <class Iterator, class Parts>
    static Iterator first(const Parts& parts) noexcept {
        return Iterator(parts.newborns.promoted_places(), parts.newborns.groups(),
                        parts.objects.at(location{}));
    }
    template <class Iterator, class Parts>
    static Iterator last(const Parts&) noexcept {
        return Iterator();
    }

    /// Positions of the store, which are its places; and the most that it can have.
    template <class Parts>
    static std::size_t positions(const Parts& parts) noexcept {
        return parts.newborns.groups() * places::group_size;
    }
    template <class Parts>
    static std::size_t most_positions(const Parts& parts) noexcept {
        return parts.objects.locations();
    }
    /// The slot of the object there; none in a hole, or where an object is not promoted yet.
    template <class Parts>
    static slot_index owner_of(const Parts& parts, std::size_t position) noexcept {
        const nursery_position place{static_cast<std::uint32_t>(position)};
        return parts.newborns.is_promoted(place) ? parts.table.slot_of(parts.newborns.owner(place))
                                                 : slot_index::none;
    }
    template <class Parts>
    static location location_of(const Parts& parts, std::size_t position) noexcept {
        return parts.objects.location_of(nursery_position{static_cast<std::uint32_t>(position)});
    }
    template <class Parts>
    static std::size_t position_of(const Parts& parts, location where) noexcept {
        return raw(parts.objects.nursery_position_of(where));
    }

    /// Calls `visit(object)` for each object of the store.
    template <executor Executor, class Parts, class Visit>
    static void for_each(Executor& executor, const Parts& parts, Visit visit) {
        for_ranges_or_throw<typename Parts::policy>(
            executor, parts.newborns.groups(), Parts::policy::compaction_grain / places::group_size + 1,
            [&](std::size_t first, std::size_t last) noexcept(noexcept(visit(parts.objects.at(location{})))) {
                for (std::size_t group = first; group != last; ++group) {
                    parts.newborns.for_each_promoted(group, [&](nursery_position place) {
                        visit(parts.objects.at(parts.objects.location_of(place)));
                    });
                }
            });
    }
};

/// Objects stay where they are, and their memory is kept.
template <class Config>
struct placement_parts<Config, recycling_placement> : placement_parts<Config, stable_placement> {
    using places = stable_places<Config, kept_objects<typename Config::policy>>;
};

} // namespace handlepool::detail
