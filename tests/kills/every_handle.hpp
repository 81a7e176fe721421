// SPDX-License-Identifier: MIT
#pragma once

#include "testimony.hpp"

#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>

#include <examples/asteroids/world.hpp>
#include <examples/require.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kills {

/// All handles that were ever made in frames that count, of whatever process.
class every_handle {
public:
    /// What a process has said of a frame, of which nobody knows yet whether it counts. One that was said of
    /// it before did not.
    void hear(std::uint64_t frame, std::vector<birth> born, std::vector<std::uint64_t> ended) {
        said_[frame] = {std::move(born), std::move(ended)};
    }

    /// The frames up to this one count, and those after it are lost. Throws std::logic_error if one was not
    /// said, or a handle was made or has ended twice.
    void count_up_to(std::uint64_t frame) {
        for (; next_ <= frame; ++next_) {
            const auto found = said_.find(next_);
            examples::require(found != said_.end(), "frame {} is there, but nobody has said what it did",
                              next_);
            for (const birth& each : found->second.born) {
                auto& lives = lives_[pool_of(each.handle)];
                const bool is_new = place_.emplace(each.handle, lives.size()).second;
                examples::require(is_new, "frame {}: handle {:x} was made before", next_, each.handle);
                lives.push_back({.handle = each.handle, .number = each.number, .born = next_});
            }
            for (const std::uint64_t handle : found->second.ended) {
                const auto place = place_.find(handle);
                examples::require(place != place_.end(), "frame {}: handle {:x} ended, and was never made",
                                  next_, handle);
                life& of_handle = lives_[pool_of(handle)][place->second];
                examples::require(of_handle.ended == never, "frame {}: handle {:x} had ended in frame {}",
                                  next_, handle, of_handle.ended);
                of_handle.ended = next_;
            }
        }
        said_.clear();
    }

    /// Compares each handle: it is valid if it was at the end of the last frame that counts, and leads to the
    /// object that it was made for. Throws std::logic_error if one doesn't. Returns how many were compared.
    std::uint64_t compare(const asteroids::world& space) const {
        return compare(space.rocks) + compare(space.ships) + compare(space.projectiles) + compare(space.dust);
    }

    /// Frames that count, with the one in which the world was made.
    std::uint64_t frames() const { return next_; }

private:
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

    struct doings {
        std::vector<birth> born;
        std::vector<std::uint64_t> ended;
    };
    struct life {
        std::uint64_t handle = 0;
        std::uint64_t number = 0;
        std::uint64_t born = 0;
        std::uint64_t ended = never;
    };

    static std::size_t pool_of(std::uint64_t handle) {
        return handlepool::handle<void>::from_value(handle).pool_id() - 1;
    }

    template <class T>
    std::uint64_t compare(const handlepool::pool<T>& objects) const {
        const auto& lives = lives_[objects.stats().pool_id - 1];
        std::uint64_t living = 0;
        for (const life& each : lives) {
            const T* const object = objects.find(handlepool::handle<T>::from_value(each.handle));
            const bool lives_on = each.ended == never;
            living += lives_on ? 1 : 0;
            examples::require((object != nullptr) == lives_on,
                              "after frame {}, {}: handle {:x} of frame {} is {}, the object {}", next_ - 1,
                              objects.name(), each.handle, each.born, object == nullptr ? "stale" : "valid",
                              lives_on ? "lives" : "has ended");
            examples::require(object == nullptr || object->number == each.number,
                              "after frame {}, {}: handle {:x} leads to object {:x}, and was made for {:x}",
                              next_ - 1, objects.name(), each.handle, object == nullptr ? 0 : object->number,
                              each.number);
        }
        examples::require(objects.size() == living,
                          "after frame {}, {}: {} objects, of which {} have a handle", next_ - 1,
                          objects.name(), objects.size(), living);
        return lives.size();
    }

    std::uint64_t next_ = 0; // the frames before it count
    std::map<std::uint64_t, doings> said_;
    std::array<std::vector<life>, 4> lives_;               // by the pool's id
    std::unordered_map<std::uint64_t, std::size_t> place_; // of a handle in the lives of its pool
};

} // namespace kills
