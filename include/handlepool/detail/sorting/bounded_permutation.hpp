// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/scratch_array.hpp>
#include <handlepool/detail/sorting/sort_algorithms.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// The part of an order that a bounded number of moves can reach: a *window* of places, from a given first
/// one on and past the last place to the beginning again, gets exactly the objects that belong there. The
/// objects that have to leave it for them go to the places of those that come in. Other objects stay.
///
///     places        0  1  2  3  4  5        what is where: objects are called after their places
///     before        4  0  5  3  1  2
///     window        [0  1  2]               1 and 2 come in, 4 and 5 leave
///     after         0  1  2  3  4  5        in five moves; with four the window would end after 1
class bounded_permutation {
public:
    /// The window has as many places as `budget` moves can put in order. `sources[place]` says where the
    /// object is that belongs to a place. Throws std::bad_alloc.
    bounded_permutation(const scratch_array<std::uint32_t>& sources, std::uint32_t first, std::size_t budget)
        : count_(static_cast<std::uint32_t>(sources.size())), first_(first), places_(sources.size()) {
        for (std::uint32_t place = 0; place != count_; ++place) {
            places_[sources[place]] = place;
        }
        extend(sources, budget);
    }

    /// Where the next window begins.
    std::uint32_t end() const noexcept { return place_after(size_); }

    /// Writes the moves of this window alone to `steps`, in the form of the whole order. Throws
    /// std::bad_alloc.
    void restrict(const scratch_array<std::uint32_t>& sources, scratch_array<std::uint32_t>& steps) const {
        for (std::uint32_t place = 0; place != steps.size(); ++place) {
            steps[place] = place;
        }
        scratch_array<std::uint32_t> leaving(incoming_); // where they belong
        scratch_array<std::uint32_t> freed(incoming_);
        std::size_t left = 0;
        std::size_t entered = 0;
        for (std::uint32_t distance = 0; distance != size_; ++distance) {
            const std::uint32_t place = place_after(distance);
            if (sources[place] == place) {
                continue;
            }
            steps[place] = sources[place];
            if (!contains(sources[place])) {
                freed[entered++] = sources[place];
            }
            if (!contains(places_[place])) {
                leaving[left++] = places_[place];
            }
        }
        // Those that leave are close to where they belong if both are in ascending order.
        scratch_array<std::uint32_t> spare(incoming_);
        const auto lower = [](std::uint32_t a, std::uint32_t b) { return a < b; };
        merge_sort(leaving.data(), spare.data(), left, lower);
        merge_sort(freed.data(), spare.data(), left, lower);
        for (std::size_t i = 0; i != left; ++i) {
            steps[freed[i]] = sources[leaving[i]];
        }
    }

private:
    /// The place at this distance from the window's first.
    std::uint32_t place_after(std::uint32_t distance) const noexcept {
        return distance < count_ - first_ ? first_ + distance : distance - (count_ - first_);
    }

    void extend(const scratch_array<std::uint32_t>& sources, std::size_t budget) noexcept {
        // Each place costs a move unless its object is there, and another for the object that leaves the
        // window for one that comes in. So the sum never falls while the window grows.
        std::size_t moving = 0;
        for (; size_ != count_; ++size_) {
            const std::uint32_t place = end();
            if (sources[place] == place) {
                continue;
            }
            const std::uint32_t incoming =
                incoming_ +
                (contains(sources[place]) ? 0U : 1U)
                // What is here belongs into the window so far, to which it was to come from outside.
                - (contains(places_[place]) ? 1U : 0U);
            if (moving + 1 + incoming > budget) {
                break;
            }
            ++moving;
            incoming_ = incoming;
        }
    }

    bool contains(std::uint32_t place) const noexcept {
        return (place >= first_ ? place - first_ : place + (count_ - first_)) < size_;
    }

    std::uint32_t count_;
    std::uint32_t first_;
    std::uint32_t size_ = 0;
    std::uint32_t incoming_ = 0; // objects that come in
    scratch_array<std::uint32_t> places_;
};

} // namespace handlepool::detail
