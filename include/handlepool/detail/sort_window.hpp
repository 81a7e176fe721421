#pragma once

#include <handlepool/detail/scratch_array.hpp>

#include <array>
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
///
/// Two places may be *kept* out of it.
class sort_window {
public:
    /// An object where it is, and where it belongs.
    using pair_of_places = std::array<std::uint32_t, 2>;

    /// `sources[place]` says where the object is that belongs to a place. As many places as `budget` moves
    /// can put in order. Throws std::bad_alloc.
    sort_window(const scratch_array<std::uint32_t>& sources, std::uint32_t first, std::size_t budget)
        : count_(static_cast<std::uint32_t>(sources.size())),
          first_(first),
          budget_(budget),
          places_(sources.size()) {
        for (std::uint32_t place = 0; place != count_; ++place) {
            places_[sources[place]] = place;
        }
        extend(sources);
    }

    std::uint32_t count() const noexcept { return count_; }
    /// Where the object at a position belongs.
    std::uint32_t place_of(std::uint32_t position) const noexcept { return places_[position]; }
    /// Where the next window begins.
    std::uint32_t end() const noexcept { return place_after(size_); }

    /// The place that comes so many after the window's first.
    std::uint32_t place_after(std::uint32_t distance) const noexcept {
        return distance < count_ - first_ ? first_ + distance : distance - (count_ - first_);
    }

    /// Chooses the window again, without these places.
    void keep(const pair_of_places& kept, const scratch_array<std::uint32_t>& sources) noexcept {
        kept_ = kept;
        extend(sources);
    }

    /// The moves of this window alone, in the form of the whole order.
    void restrict(const scratch_array<std::uint32_t>& sources,
                  scratch_array<std::uint32_t>& steps) const noexcept {
        for (std::uint32_t place = 0; place != count_; ++place) {
            steps[place] = contains(place) ? sources[place] : place;
        }
        std::uint32_t freed = 0;
        for (std::uint32_t place = 0; place != count_; ++place) {
            if (!contains(place) && contains(sources[place])) {
                while (contains(freed) || !contains(places_[freed])) {
                    ++freed;
                }
                steps[freed++] = sources[place];
            }
        }
    }

private:
    static constexpr std::uint32_t no_place = 0xffff'ffff;

    void extend(const scratch_array<std::uint32_t>& sources) noexcept {
        // Each place costs a move unless its object is there, and another for the object that leaves the
        // window for one that comes in. So the sum never falls while the window grows.
        std::size_t moving = 0;
        std::size_t incoming = 0;
        for (size_ = 0; size_ != count_; ++size_) {
            const std::uint32_t place = end();
            if (sources[place] == place || is_kept(place)) {
                continue;
            }
            const std::size_t coming =
                incoming + (contains(sources[place]) ? 0U : 1U)
                // What is here belongs into the window so far, to which it was to come from outside.
                - (contains(places_[place]) ? 1U : 0U);
            if (moving + 1 + coming > budget_) {
                break;
            }
            ++moving;
            incoming = coming;
        }
    }

    bool is_kept(std::uint32_t place) const noexcept { return place == kept_[0] || place == kept_[1]; }
    bool contains(std::uint32_t place) const noexcept {
        return (place >= first_ ? place - first_ : place + (count_ - first_)) < size_ && !is_kept(place);
    }
    std::uint32_t count_;
    std::uint32_t first_;
    std::size_t budget_;
    std::uint32_t size_ = 0;
    pair_of_places kept_{no_place, no_place};
    scratch_array<std::uint32_t> places_;
};

} // namespace handlepool::detail
