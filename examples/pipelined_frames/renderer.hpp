// SPDX-License-Identifier: MIT
#pragma once

#include "world.hpp"

#include <handlepool/handle_map.hpp>

#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace pipelined {

/// What the renderer is told of an entity in a frame.
template <class Entity>
struct drawable {
    handlepool::handle<Entity> self;
    vector2 at;
    vector2 speed;
    const mesh* look;
};

/// Draws frames in one thread, which is all that uses it. Keeps something of each entity between the frames,
/// here how often it was drawn, in a map of its own: attached to no pool, since compactions change attached
/// ones in their own thread.
template <class Entity>
class renderer {
public:
    /// Each frame waits for `gpu`, as for a graphics card.
    explicit renderer(std::chrono::microseconds gpu) : gpu_(gpu) {}

    /// Draws `count` entities, of which `get(i)` says what is to be drawn; then `gone` is not needed any
    /// more.
    template <class Get>
    void draw(int frame, std::size_t count, const Get& get, std::vector<corpse<Entity>>& gone) {
        expect(frame == frames_ + 1, "a frame was left out, or came twice");
        frames_ = frame;
        for (std::size_t i = 0; i != count; ++i) {
            const drawable<Entity> one = get(i);
            expect(one.at == static_cast<float>(frame) * one.speed, "a frame shows an entity as in another");
            vertices_ += one.look->vertices;
            ++*drawn_.try_emplace(one.self, 0).value;
        }
        std::this_thread::sleep_for(gpu_);
        for (const corpse<Entity>& each : gone) { // this frame is the first that does not show them
            const int* const times = drawn_.find(each.self);
            expect(times != nullptr && *times == each.frames_lived,
                   "an entity was not drawn in each frame of its life");
            drawn_.erase(each.self);
        }
        buried_ += gone.size();
        gone.clear(); // here the meshes end
    }

    /// What was wrong with a frame; null if nothing was.
    const char* fault() const { return fault_; }
    int frames() const { return frames_; }
    std::size_t buried() const { return buried_; }
    std::size_t drawn_now() const { return drawn_.size(); }
    double vertices() const { return vertices_; }

private:
    void expect(bool holds, const char* otherwise) {
        if (!holds) {
            fault_ = otherwise;
        }
    }

    std::chrono::microseconds gpu_;
    handlepool::handle_map<Entity, int> drawn_;
    const char* fault_ = nullptr;
    int frames_ = 0;
    std::size_t buried_ = 0;
    double vertices_ = 0;
};

} // namespace pipelined
