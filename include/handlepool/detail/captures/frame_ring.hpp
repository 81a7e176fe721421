// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace handlepool::detail {

/// The latest captures, under the numbers of their frames, which ascend, and one more that is being made.
/// Their places are used in turn, and so is the memory that a capture has left at its place:
///
/// ```
///   ◀─ drop_oldest()   at(0)   at(1)   at(2)   next()
///                        5       6       7       ·       ── add_next(8) ──▶   5   6   7   8
/// ```
template <class Capture>
class frame_ring {
public:
    /// Keeps as many captures as `capacity` says. Throws std::bad_alloc.
    explicit frame_ring(std::size_t capacity) : places_(capacity + 1) {}

    /// The number of captures, and how many are kept: add_next() may make one more than that, until
    /// drop_oldest() is called.
    std::size_t size() const noexcept { return count_; }
    std::size_t capacity() const noexcept { return places_.size() - 1; }

    /// The captures, the oldest first.
    Capture& at(std::size_t i) noexcept { return place_at(i).capture; }
    const Capture& at(std::size_t i) const noexcept { return place_at(i).capture; }
    /// Null if there is none.
    const Capture* newest() const noexcept { return count_ == 0 ? nullptr : &at(count_ - 1); }

    /// The numbers of the oldest capture and the newest; nothing when there is none.
    std::optional<std::uint64_t> oldest_number() const noexcept {
        return count_ == 0 ? std::nullopt : std::optional(place_at(0).number);
    }
    std::optional<std::uint64_t> newest_number() const noexcept {
        return count_ == 0 ? std::nullopt : std::optional(place_at(count_ - 1).number);
    }
    /// Which of the captures has a number; size() if it is not there. Linear.
    std::size_t find(std::uint64_t number) const noexcept {
        std::size_t i = 0;
        while (i != count_ && place_at(i).number != number) {
            ++i;
        }
        return i;
    }
    bool contains(std::uint64_t number) const noexcept { return find(number) != count_; }

    /// The one that is being made, which add_next() makes the newest. Not while there are more than are kept.
    Capture& next() noexcept { return at(count_); }
    void add_next(std::uint64_t number) noexcept {
        place_at(count_).number = number;
        ++count_;
    }

    void drop_oldest() noexcept {
        first_ = (first_ + 1) % places_.size();
        --count_;
    }
    void drop_newest() noexcept { --count_; }
    void drop_all() noexcept { count_ = 0; }

    /// Of all places.
    std::size_t bytes() const noexcept {
        std::size_t bytes = 0;
        for (const place& each : places_) {
            bytes += each.capture.bytes();
        }
        return bytes;
    }

private:
    struct place {
        std::uint64_t number = 0;
        Capture capture;
    };

    place& place_at(std::size_t i) noexcept { return places_[(first_ + i) % places_.size()]; }
    const place& place_at(std::size_t i) const noexcept { return places_[(first_ + i) % places_.size()]; }

    std::vector<place> places_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

} // namespace handlepool::detail
