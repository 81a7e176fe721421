// SPDX-License-Identifier: MIT
#pragma once

#include "renderer.hpp"
#include "world.hpp"

#include <handlepool/pool.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <semaphore>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace pipelined {

using std::chrono::duration;
using std::chrono::steady_clock;
using milliseconds = duration<double, std::milli>;

struct settings {
    std::size_t entities;
    int frames;
    std::chrono::microseconds wait; // of each side, in each frame
};

/// How long the frames took, and what in them. The first ones, in which the world fills, don't count.
struct times {
    milliseconds frame{};
    milliseconds simulate{};
    milliseconds compact{};
    milliseconds extract{};
};

/// Sums up times of counted frames.
class frame_clock {
public:
    explicit frame_clock(const settings& chosen) : frames_(chosen.frames) {}

    template <class Work>
    void measure(int frame, milliseconds& sum, const Work& work) {
        if (frame == first_counted) {
            begin_ = steady_clock::now();
        }
        const steady_clock::time_point begin = steady_clock::now();
        work();
        if (frame >= first_counted) {
            sum += steady_clock::now() - begin;
        }
    }

    /// At the end of the last frame.
    times averages() {
        const int counted = frames_ - first_counted + 1;
        sums.frame = steady_clock::now() - begin_;
        return {sums.frame / counted, sums.simulate / counted, sums.compact / counted,
                sums.extract / counted};
    }

    times sums;
    static constexpr int first_counted = world<1>::lifetime + 1;

private:
    int frames_;
    steady_clock::time_point begin_;
};

/// Draws what is in the pool, in frame `frame`.
template <std::size_t Copies>
void draw_in_place(renderer<entity<Copies>>& screen, int frame, std::span<const entity<Copies>> items,
                   std::vector<corpse<entity<Copies>>>& gone) {
    const std::size_t now = static_cast<std::size_t>(frame) % Copies;
    const auto get = [&](std::size_t i) -> drawable<entity<Copies>> {
        return {items[i].self, items[i].at[now], items[i].speed, items[i].look.get()};
    };
    screen.draw(frame, items.size(), get, gone);
}

/// One frame at a time: no thread is needed, and none has anything to do meanwhile.
inline times in_turn(const settings& chosen, world<1>& world, renderer<entity<1>>& screen) {
    frame_clock clock(chosen);
    for (int frame = 1; frame <= chosen.frames; ++frame) {
        clock.measure(frame, clock.sums.simulate, [&] { world.simulate(); });
        clock.measure(frame, clock.sums.compact, [&] { world.compact(); });
        draw_in_place<1>(screen, frame, world.entities().items(), world.gone);
    }
    return clock.averages();
}

/// What the renderer needs of a frame. Nothing in it refers to the pool.
struct snapshot {
    int frame = 0;
    std::vector<drawable<entity<1>>> entities;
    std::vector<corpse<entity<1>>> gone;

    /// After a compaction, while nobody draws this.
    void extract(world<1>& from) {
        frame = from.frame();
        entities.clear();
        for (const entity<1>& each : from.entities().items()) {
            entities.push_back({each.self, each.at[0], each.speed, each.look.get()});
        }
        std::swap(gone, from.gone);
    }
};

/// Frame N + 1 is simulated and compacted while N is drawn from a copy. With one snapshot the copy is made
/// when N is drawn. With two it needs not wait for that, and a third frame is on its way.
inline times by_snapshots(const settings& chosen, world<1>& world, renderer<entity<1>>& screen,
                          std::ptrdiff_t count) {
    std::vector<snapshot> snapshots(static_cast<std::size_t>(count));
    const auto of = [&](int frame) -> snapshot& {
        return snapshots[static_cast<std::size_t>(frame) % snapshots.size()];
    };
    std::counting_semaphore<> drawn(count);
    std::counting_semaphore<> extracted(0);
    frame_clock clock(chosen);

    std::jthread render([&] {
        for (int frame = 1; frame <= chosen.frames; ++frame) {
            extracted.acquire();
            snapshot& shown = of(frame);
            const auto get = [&](std::size_t i) { return shown.entities[i]; };
            screen.draw(shown.frame, shown.entities.size(), get, shown.gone);
            drawn.release();
        }
    });
    for (int frame = 1; frame <= chosen.frames; ++frame) {
        clock.measure(frame, clock.sums.simulate, [&] { world.simulate(); });
        clock.measure(frame, clock.sums.compact, [&] { world.compact(); });
        drawn.acquire(); // the only point at which the two wait for each other
        clock.measure(frame, clock.sums.extract, [&] { of(frame).extract(world); });
        extracted.release();
    }
    render.join();
    return clock.averages();
}

/// Frame N + 1 is simulated while N is drawn where it lies; then the compaction comes, alone.
inline times in_place(const settings& chosen, world<2>& world, renderer<entity<2>>& screen) {
    std::binary_semaphore drawn(1);
    std::binary_semaphore compacted(0);
    frame_clock clock(chosen);

    std::jthread render([&] {
        for (int frame = 1; frame <= chosen.frames; ++frame) {
            compacted.acquire();
            draw_in_place<2>(screen, frame, world.entities().items(), world.gone);
            drawn.release();
        }
    });
    for (int frame = 1; frame <= chosen.frames; ++frame) {
        clock.measure(frame, clock.sums.simulate, [&] { world.simulate(); });
        drawn.acquire();
        clock.measure(frame, clock.sums.compact, [&] { world.compact(); });
        compacted.release();
    }
    render.join();
    return clock.averages();
}

/// The same, but nothing tells the compaction when a frame is drawn: it waits for the renderer's guard. The
/// renderer makes that itself, before the next frame begins, because a compaction refuses to wait for a
/// guard that its own thread has made.
inline times under_a_guard(const settings& chosen, world<2>& world, renderer<entity<2>>& screen) {
    std::binary_semaphore guarded(0);
    std::binary_semaphore compacted(0);
    frame_clock clock(chosen);

    std::jthread render([&] {
        std::vector<corpse<entity<2>>> gone;
        for (int frame = 1; frame <= chosen.frames; ++frame) {
            compacted.acquire();
            const auto guard = world.entities().access();
            std::swap(gone, world.gone);
            guarded.release();
            draw_in_place<2>(screen, frame, world.entities().items(), gone);
        }
    });
    for (int frame = 1; frame <= chosen.frames; ++frame) {
        clock.measure(frame, clock.sums.simulate, [&] { world.simulate(); });
        clock.measure(frame, clock.sums.compact, [&] { world.compact(); });
        compacted.release();
        guarded.acquire();
    }
    render.join();
    return clock.averages();
}

} // namespace pipelined
