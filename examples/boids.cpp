// SPDX-License-Identifier: MIT

// Boids: birds that keep together, fly the way their neighbours do, and keep off each other and off hawks. In
// each frame their pool is sorted by the cells of a grid, so that neighbours lie beside each other in memory;
// hawks know their prey by handle, wherever the sorts and compactions put it. All loops run on oneTBB, and
// the outcome doesn't depend on the number of threads.

#include "asteroids/geometry.hpp"
#include "boids/bird.hpp"
#include "boids/cells.hpp"
#include "boids/draw.hpp"
#include "boids/options.hpp"
#include "require.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/tbb/executor.hpp>

#include <fmt/format.h>
#include <support/files/output_file.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace boids;
using asteroids::derive;
using asteroids::with_length;

constexpr float boid_speed = 0.8F;
constexpr float hawk_speed = 1.3F;

class sky {
public:
    explicit sky(const options& chosen)
        : seed_(chosen.seed), cells_(chosen.boids), boids_({.name = "boids", .capacity = 2 * chosen.boids}) {
        for (std::size_t i = 0; i != chosen.boids; ++i) {
            hatch();
        }
        for (std::size_t i = 0; i != chosen.boids / 250 + 1; ++i) {
            hawks_.push_back(
                {.position = somewhere(derive(seed_, ~i)), .velocity = {hawk_speed, 0}, .prey = {}});
        }
    }

    void run_frame() {
        boids_.compact();
        sort_by(boids_, &boid::cell, executor_);
        examples::require(boids_.items().size() == hatched_ - caught, "a boid is lost");
        cells_.find(boids_.items());
        for (hawk& each : hawks_) {
            hunt(each);
        }
        // Reads the velocities of others, and so writes the new one beside the old.
        boids_.for_each([&](boid& one) { steer(one); }, executor_);
        agreement = std::accumulate(boids_.begin(), boids_.end(), 0.0,
                                    [](double sum, const boid& one) { return sum + one.agreement; }) /
                    static_cast<double>(boids_.items().size());
        boids_.for_each([&](boid& one) { move(one); }, executor_);
    }

    /// The same for the same boids in the same order.
    std::uint64_t fingerprint() const {
        return std::accumulate(boids_.begin(), boids_.end(), seed_, [](std::uint64_t sum, const boid& one) {
            return derive(sum ^ std::bit_cast<std::uint64_t>(one.position), one.number);
        });
    }

    std::string draw(const std::string& title) const {
        return boids::draw(cells_.side(), title, boids_, hawks_);
    }

    std::size_t caught = 0;
    std::size_t lost = 0; // prey that another hawk had caught
    double agreement = 0; // of a boid with its neighbours, on average

private:
    vector2 somewhere(std::uint64_t number) const {
        return (asteroids::direction(number) + vector2{1, 1}) * (cells_.side() / 2);
    }

    void hatch() {
        const std::uint64_t number = derive(seed_, hatched_++);
        const vector2 position = somewhere(derive(number, 0));
        const vector2 velocity = with_length(asteroids::direction(derive(number, 1)), boid_speed);
        boids_.emplace(number, position, velocity, cells_.cell_of(position));
    }

    void steer(boid& one) const {
        vector2 heading, centre, off;
        float others = 0;
        cells_.look_around(one.position, [&](const boid& other, vector2 there) {
            const float distance = length(there);
            if (&other != &one && distance > 0) {
                heading = heading + other.velocity;
                centre = centre + there;
                off = off - there * (std::max(0.0F, sight / 3 - distance) / distance);
                ++others;
            }
        });
        vector2 wish = one.velocity;
        one.agreement = 0;
        if (others != 0) {
            wish = wish + (heading * (1 / others) - one.velocity) * 0.1F + centre * (0.004F / others) +
                   off * 0.03F;
            one.agreement = (heading.x * one.velocity.x + heading.y * one.velocity.y) /
                            std::max(length(heading) * length(one.velocity), 0.001F);
        }
        for (const hawk& each : hawks_) {
            const vector2 from = cells_.way(each.position, one.position);
            const float distance = length(from);
            wish = distance < 2 * sight && distance > 0 ? wish + from * (0.2F / distance) : wish;
        }
        one.next_velocity = length(wish) > 0.001F ? with_length(wish, boid_speed) : one.velocity;
    }

    void move(boid& one) const {
        one.velocity = one.next_velocity;
        one.position = asteroids::wrapped(one.position + one.velocity, cells_.side());
        one.cell = cells_.cell_of(one.position);
    }

    void hunt(hawk& one) {
        const boid* prey = boids_.find(one.prey);
        if (prey == nullptr) {
            lost += one.prey ? 1U : 0U;
            prey = find_prey(one.position);
            one.prey = prey == nullptr ? handlepool::handle<boid>() : boids_.handle_of(*prey);
            one.number_of_prey = prey == nullptr ? 0 : prey->number;
        }
        if (prey != nullptr) {
            examples::require(prey->number == one.number_of_prey, "a handle leads to another boid");
            const vector2 there = cells_.way(one.position, prey->position);
            if (length(there) < hawk_speed) {
                caught += boids_.erase(std::exchange(one.prey, {})) ? 1U : 0U;
                hatch();
            } else {
                one.velocity = with_length(there, hawk_speed);
            }
        }
        one.position = asteroids::wrapped(one.position + one.velocity, cells_.side());
    }

    /// The nearest that is alive, or null.
    const boid* find_prey(vector2 place) const {
        const boid* nearest = nullptr;
        float least = sight;
        cells_.look_around(place, [&](const boid& each, vector2 there) {
            if (length(there) < least && boids_.contains(boids_.handle_of(each))) {
                nearest = &each;
                least = length(there);
            }
        });
        return nearest;
    }

    std::uint64_t seed_;
    cells cells_;
    std::uint64_t hatched_ = 0;
    handlepool::pool<boid> boids_;
    std::vector<hawk> hawks_;
    handlepool::tbb_executor executor_;
};

void run(const options& chosen) {
    // First, so that a wrong name costs no simulation.
    const auto picture =
        chosen.picture.empty()
            ? nullptr
            : std::make_unique<handlepool::support::output_file>("--picture", chosen.picture);
    sky all(chosen);
    all.run_frame();
    const double before = all.agreement;
    const auto begin = std::chrono::steady_clock::now();
    for (unsigned frame = 1; frame < chosen.frames; ++frame) {
        all.run_frame();
    }
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    fmt::print("{} boids, {} frames of {:.1f} ms: {} caught by hawks, {} before another hawk could\n"
               "agreement of neighbours {:.2f}, at first {:.2f}\nfingerprint {:016x}\n",
               chosen.boids, chosen.frames, time.count() / chosen.frames, all.caught, all.lost, all.agreement,
               before, all.fingerprint());
    examples::require(all.agreement >= before, "the boids keep together less than at first");
    if (picture) {
        picture->write(all.draw(fmt::format("frame {}", chosen.frames)));
    }
}

} // namespace

int main(int argc, char** argv) {
    return run_with_options(argc, argv, "Boids in a pool that is sorted by their place", run);
}
