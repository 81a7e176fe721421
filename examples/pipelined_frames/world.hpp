// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/pool.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace pipelined {

// Whole numbers, small enough to be exact.
struct vector2 {
    float x = 0;
    float y = 0;

    friend bool operator==(const vector2&, const vector2&) = default;
    friend vector2 operator+(const vector2& a, const vector2& b) { return {a.x + b.x, a.y + b.y}; }
    friend vector2 operator*(float factor, const vector2& a) { return {factor * a.x, factor * a.y}; }
};

/// What the renderer needs for an object as long as it draws it: buffers of a graphics card, say.
struct mesh {
    float vertices = 3;
};

/// An object of the simulation. With two copies of its place, frame N writes one while the other, of frame
/// N - 1, is drawn.
template <std::size_t Copies>
struct entity {
    handlepool::handle<entity> self;
    std::array<vector2, Copies> at;
    vector2 speed;
    std::unique_ptr<mesh> look;
    int born = 0;
    int dies = 0;
};

/// An object that a compaction has destroyed, and what the renderer still has of it.
template <class Entity>
struct corpse {
    handlepool::handle<Entity> self;
    std::unique_ptr<mesh> look;
    int frames_lived = 0;
};

/// In each frame all entities move on, some die, and as many are born. A frame's entities are at
/// `frame * speed`, so whoever sees one knows which frame it is of.
template <std::size_t Copies>
class world {
public:
    using entity_type = entity<Copies>;
    static constexpr int lifetime = 20; // in frames

    /// Each frame waits for `jobs`, which other threads do.
    world(std::size_t entities, std::chrono::microseconds jobs)
        : births_(entities / lifetime),
          jobs_(jobs),
          entities_({.name = "entities", .capacity = 2 * entities}) {}

    /// Entities that the last compaction has destroyed. It ends their meshes only if nobody takes them.
    std::vector<corpse<entity_type>> gone;

    int frame() const { return frame_; }
    handlepool::pool<entity_type>& entities() { return entities_; }

    /// The next frame. Erases entities, and moves others, but no entity leaves its place in memory.
    void simulate() {
        ++frame_;
        const std::size_t now = static_cast<std::size_t>(frame_) % Copies;
        const std::size_t before = static_cast<std::size_t>(frame_ - 1) % Copies;
        for (entity_type& one : entities_.mutable_items()) {
            one.at[now] = one.at[before] + one.speed;
            if (one.dies == frame_) {
                entities_.erase(one.self);
                ++dying_;
            }
        }
        for (std::size_t i = 0; i != births_; ++i) {
            bear(static_cast<float>(i % 100), now);
        }
        std::this_thread::sleep_for(jobs_);
    }

    /// The end of the frame: entities are destroyed, moved, and taken into items().
    void compact() {
        gone.clear();
        gone.reserve(std::exchange(dying_, 0)); // a hook must not throw
        entities_.compact();
    }

private:
    void bear(float number, std::size_t now) {
        entities_.emplace_with([&](auto self) {
            entity_type made{.self = self,
                             .at = {},
                             .speed = {1, number},
                             .look = std::make_unique<mesh>(),
                             .born = frame_,
                             .dies = frame_ + lifetime};
            made.at[now] = static_cast<float>(frame_) * made.speed;
            return made;
        });
    }

    std::size_t births_;
    std::chrono::microseconds jobs_;
    std::size_t dying_ = 0;
    int frame_ = 0;
    handlepool::pool<entity_type> entities_;
    // Behind the pool: it sees nothing of the pool's end, where nobody takes the meshes.
    handlepool::scoped_hook deaths_ = entities_.on_destroy([this](auto self, entity_type& one) {
        gone.push_back({self, std::move(one.look), frame_ - one.born});
    });
};

} // namespace pipelined
