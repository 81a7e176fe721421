// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/for_ranges_or_throw.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/compaction/dense_promoter.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/placement/nursery.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/placement.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace handlepool::detail {

/// Goes over the objects of a pool, which may be changed but not exchanged: to move one into another's place
/// would change what the handles of both name. So it is an input iterator: what sorts, shuffles, reverses,
/// rotates or partitions refuses it. std::remove and std::unique accept it all the same; they must not be
/// used.
template <class T>
class dense_iterator {
public:
    using value_type = T;
    using reference = T&;
    using pointer = T*;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    dense_iterator() noexcept = default;
    explicit dense_iterator(T* object) noexcept : object_(object) {}

    T& operator*() const noexcept { return *object_; }
    T* operator->() const noexcept { return object_; }
    dense_iterator& operator++() noexcept {
        ++object_;
        return *this;
    }
    dense_iterator operator++(int) noexcept { return dense_iterator(object_++); }

    friend bool operator==(dense_iterator, dense_iterator) noexcept = default;

private:
    T* object_ = nullptr;
};

/// Objects are created in a nursery, and packed into a dense store.
template <class Config>
struct placement_parts<Config, dense_placement> {
    using places = nursery<Config>;
    template <class T>
    using promoter = dense_promoter<T, Config>;

    static constexpr bool stable = false;

    template <class T>
    using iterator = dense_iterator<T>;
    template <class T>
    using const_iterator = const T*;
    template <class Iterator, class Parts>
    static Iterator first(const Parts& parts) noexcept {
        return Iterator(parts.objects.at(location{}));
    }
    template <class Iterator, class Parts>
    static Iterator last(const Parts& parts) noexcept {
        return Iterator(parts.objects.at(location{}) + parts.objects.size());
    }

    /// Positions of the store; and the most that it can have.
    template <class Parts>
    static std::size_t positions(const Parts& parts) noexcept {
        return parts.objects.size();
    }
    template <class Parts>
    static std::size_t most_positions(const Parts& parts) noexcept {
        return parts.objects.capacity();
    }
    /// The slot of the object there.
    template <class Parts>
    static slot_index owner_of(const Parts& parts, std::size_t position) noexcept {
        return parts.objects.owner(dense_position{static_cast<std::uint32_t>(position)});
    }
    template <class Parts>
    static location location_of(const Parts&, std::size_t position) noexcept {
        return location{static_cast<std::uint32_t>(position)};
    }
    /// The position that a location is; none of the store's if it is in the nursery.
    template <class Parts>
    static std::size_t position_of(const Parts&, location where) noexcept {
        return raw(where);
    }

    /// Calls `visit(object)` for each object of the store.
    template <executor Executor, class Parts, class Visit>
    static void for_each(Executor& executor, const Parts& parts, Visit visit) {
        for_ranges_or_throw<typename Parts::policy>(
            executor, parts.objects.size(), Parts::policy::compaction_grain,
            [&](std::size_t first, std::size_t last) noexcept(noexcept(visit(parts.objects.at(location{})))) {
                for (std::size_t i = first; i != last; ++i) {
                    visit(parts.objects.at(location{static_cast<std::uint32_t>(i)}));
                }
            });
    }
};

} // namespace handlepool::detail
