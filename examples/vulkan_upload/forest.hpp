// SPDX-License-Identifier: MIT
#pragma once

#include "../asteroids/geometry.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/time/change_log.hpp>

#include <support/threads/thread_team.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace vulkan_upload {

/// As shaders read it.
struct tree {
    float x;
    float y;
    float height;
    std::uint32_t number; // what happens to the tree follows from it, and from the frame
};

/// Trees that grow, seed themselves and fall, in all threads of a team. Some were planted: foresters know
/// those by handle, cut them, and look after them. All that happens is drawn from the numbers of the trees,
/// so the same seed makes the same forest with any number of threads; only the order of its trees is another.
class forest {
public:
    using pool_type = handlepool::pool<tree>;
    using log_type = handlepool::change_log<pool_type>;

    /// `kept` are the frames that the log keeps.
    forest(std::size_t trees, std::uint64_t seed, std::size_t kept, handlepool::support::thread_team& team)
        : first_trees_(trees),
          seed_(seed),
          team_(team),
          trees_({.name = "trees", .capacity = 8 * trees}),
          log_(trees_, {.frames = kept}) {
        plant(trees);
    }

    /// Ends with the frame: from then on the log tells what has changed in it.
    void run_frame() {
        in_parts(trees_.items().size(), [this](std::size_t position) { live(position); });
        if (frame() % 64 == 63) {
            plant(first_trees_ / 8);
        }
        in_parts(planted_.size(), [this](std::size_t i) { look_after(i); });
        if (frame() % 100 == 99) {
            sort_by(trees_, &tree::x);
        }
        trees_.compact();
    }

    std::span<const tree> items() const { return trees_.items(); }
    const log_type& log() const { return log_; }
    std::uint64_t frame() const { return log_.frame(); }

    /// The same for the same trees, in any order.
    std::uint64_t fingerprint() const {
        std::uint64_t sum = 0;
        for (const tree& each : items()) {
            const auto place = std::uint64_t{std::bit_cast<std::uint32_t>(each.x)} << 32 |
                               std::bit_cast<std::uint32_t>(each.y);
            const auto rest = std::uint64_t{each.number} << 32 | std::bit_cast<std::uint32_t>(each.height);
            sum += asteroids::derive(asteroids::derive(seed_, place), rest);
        }
        return sum;
    }

private:
    /// Calls `visit(i)` for all i below `count`, each thread for a part of them.
    template <class Visit>
    void in_parts(std::size_t count, const Visit& visit) {
        team_.run([&](std::size_t thread) {
            const std::size_t last = count * (thread + 1) / team_.size();
            for (std::size_t i = count * thread / team_.size(); i != last; ++i) {
                visit(i);
            }
        });
    }

    static tree make_sapling(std::uint64_t random) {
        return {.x = asteroids::fraction(asteroids::derive(random, 0)),
                .y = asteroids::fraction(asteroids::derive(random, 1)),
                .height = 1,
                .number = static_cast<std::uint32_t>(random)};
    }

    /// By one thread, so that foresters know them in the same order each time.
    void plant(std::size_t count) {
        std::erase_if(planted_, [this](handlepool::handle<tree> each) { return !trees_.contains(each); });
        trees_.emplace_n(count, std::back_inserter(planted_), [this](std::size_t) {
            return make_sapling(asteroids::derive(seed_, ++plantings_));
        });
    }

    /// Of each tree of the store, by its position.
    void live(std::size_t position) {
        tree& self = trees_.mutable_items()[position];
        const std::uint64_t random = asteroids::derive(self.number, frame());
        const std::uint64_t what = random % 2048;
        if (what < 4) {
            trees_.erase(trees_.handle_at(position));
        } else if (what < 7) {
            trees_.insert(make_sapling(random >> 16));
        } else if (what < 64) {
            self.height += 0.25F;
            log_.mark_at(position);
        }
    }

    /// Of each tree that was planted, by its handle, which finds nothing when the tree has fallen.
    void look_after(std::size_t i) {
        const handlepool::handle<tree> handle = planted_[i];
        const std::uint64_t what = asteroids::derive(i, frame()) % 1024;
        if (what < 2) {
            trees_.erase(handle);
        } else if (what < 4) {
            if (tree* const cut = log_.edit(handle)) { // finds and marks
                cut->height /= 2;
            }
        } else if (what < 64) {
            tree* const found = trees_.find(handle);
            if (found != nullptr && found->height >= 2) {
                found->height = 1;
                log_.mark(handle);
            }
        }
    }

    std::size_t first_trees_;
    std::uint64_t seed_;
    handlepool::support::thread_team& team_;
    pool_type trees_;
    log_type log_;
    std::vector<handlepool::handle<tree>> planted_;
    std::uint64_t plantings_ = 0;
};

} // namespace vulkan_upload
