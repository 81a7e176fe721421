#pragma once

#include <handlepool/detail/scratch_array.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// The part of an order that a bounded number of moves can reach: a *window* of places, from a given first
/// one on and past the last place to the beginning again, gets exactly the objects that belong there. The
/// objects that have to leave it for them go to the places of those that come in, without changing their
/// order. Other objects stay.
class sort_window {
public:
    /// `sources[place]` says where the object is that belongs to a place. As many places as `budget` moves
    /// can put in order. Throws std::bad_alloc.
    sort_window(const scratch_array<std::uint32_t>& sources, std::uint32_t first, std::size_t budget)
        : count_(static_cast<std::uint32_t>(sources.size())), first_(first), places_(sources.size()) {
        for (std::uint32_t place = 0; place != count_; ++place) {
            places_[sources[place]] = place;
        }
        // Each place costs a move unless its object is there, and another for the object that leaves the
        // window for one that comes in. So the sum never falls while the window grows.
        for (std::size_t in_place = 0; size_ != count_; ++size_) {
            const std::uint32_t place = end();
            std::size_t incoming = incoming_;
            if (sources[place] == place) {
                ++in_place;
            } else {
                incoming += contains(sources[place]) ? 0U : 1U;
                // What is here belongs into the window so far, to which it was to come from outside.
                incoming -= contains(places_[place]) ? 1U : 0U;
            }
            if (std::size_t{size_} + 1 - in_place + incoming > budget) {
                break;
            }
            incoming_ = incoming;
        }
    }

    /// Is it the whole order?
    bool is_whole() const noexcept { return size_ == count_; }
    /// Where the next window begins.
    std::uint32_t end() const noexcept { return place_after(size_); }
    /// Objects that come in from outside.
    std::size_t incoming() const noexcept { return incoming_; }

    /// Reduces the order to the moves of this window, with room in `leaving` for as many as come in.
    void restrict(scratch_array<std::uint32_t>& sources,
                  scratch_array<std::uint32_t>& leaving) const noexcept {
        if (is_whole()) {
            return;
        }
        std::size_t left = 0;
        for (std::uint32_t place = 0; place != count_; ++place) {
            if (!contains(place)) {
                if (contains(sources[place])) {
                    leaving[left++] = sources[place];
                }
                sources[place] = place;
            }
        }
        std::size_t filled = 0;
        for (std::uint32_t place = 0; place != count_; ++place) {
            if (!contains(place) && contains(places_[place])) {
                sources[place] = leaving[filled++];
            }
        }
    }

private:
    bool contains(std::uint32_t place) const noexcept {
        return (place >= first_ ? place - first_ : place + (count_ - first_)) < size_;
    }
    std::uint32_t place_after(std::uint32_t distance) const noexcept {
        return distance < count_ - first_ ? first_ + distance : distance - (count_ - first_);
    }

    std::uint32_t count_;
    std::uint32_t first_;
    std::uint32_t size_ = 0;
    std::size_t incoming_ = 0;
    scratch_array<std::uint32_t> places_; // where the object at a position belongs
};

} // namespace handlepool::detail
