// SPDX-License-Identifier: MIT
#pragma once

#include "world.hpp"

#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/spawner.hpp>
#include <handlepool/tbb/executor.hpp>
#include <handlepool/tbb/for_each.hpp>
#include <handlepool/tbb/frame_graph.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace asteroids {

/// The tasks of a frame. In this order, objects are counted and aimed at before the first is erased, and so
/// what the world becomes does not depend on the number of threads:
///
///     start ──▶ replace rocks ──▶ replace ships ──▶ aim ships ──▶ fly ships ──────────▶ split rocks ──▶ next
///       │            └─────────▶ move rocks ─────────▶ │  └─────▶ fly projectiles ─────────▶ │
///       └──▶ fade debris ────────────────────────────────────────────────────────────────────┘
class tasks {
public:
    explicit tasks(world& of) : space(of) {}
    virtual ~tasks() = default;

    /// When all has been simulated, `next` runs, which is the compaction, or comes before it.
    void add_to(handlepool::frame_graph& frame, handlepool::frame_graph::node& next) {
        // Nobody else uses the pool of these two while they run.
        auto& replace_rocks = frame.add_exclusive_task("replace rocks", space.rocks,
                                                       [this](auto& alone) { space.replace_rocks(alone); });
        auto& replace_ships = frame.add_exclusive_task("replace ships", space.ships,
                                                       [this](auto& alone) { space.replace_ships(alone); });
        auto& move_rocks = frame.add_task("move rocks", [this] {
            handlepool::for_each(space.rocks, [&](rock& one) { space.move(one); });
            space.rock_grid.rebuild(space.rocks);
        });
        auto& aim = frame.add_task("aim ships", [this] { aim_ships(); });
        auto& fly_crews = frame.add_task("fly ships", [this] { fly_ships(); });
        auto& fly_shots = frame.add_task("fly projectiles", [this] { fly_projectiles(); });
        auto& fade = frame.add_task("fade debris", [this] { fade_debris(); });
        auto& split = frame.add_task("split rocks", [this] { split_rocks(); });
        auto& check = frame.add_task("check", [this] {
            space.check();
            ++space.frames;
        });

        using tbb::flow::make_edge;
        make_edge(frame.start(), replace_rocks);
        make_edge(replace_rocks, replace_ships);
        make_edge(replace_rocks, move_rocks);
        make_edge(frame.start(), fade);
        make_edge(move_rocks, aim);
        make_edge(replace_ships, aim);
        make_edge(aim, fly_crews);
        make_edge(aim, fly_shots);
        make_edge(fly_crews, split);
        make_edge(fly_shots, split);
        make_edge(fade, split);
        make_edge(split, next);
        make_edge(frame.compaction(), check);
    }

protected:
    world& space;

private:
    virtual void aim_ships() = 0;
    virtual void fly_ships() = 0;
    virtual void fly_projectiles() = 0;
    virtual void fade_debris() = 0;
    virtual void split_rocks() = 0;
};

/// Any thread creates and erases as it goes. The same objects come out each time, with other handles and in
/// another order.
class tasks_as_they_come : public tasks {
public:
    using tasks::tasks;

private:
    // Of all that hit a rock in this frame, in any task and thread, one erases it, and that one splits it.
    auto split_first() {
        return [this](handlepool::handle<rock> which, const rock& whole) {
            if (space.rocks.erase(which)) {
                space.split(whole, space.rocks, space.dust);
            }
        };
    }

    void aim_ships() override {
        handlepool::for_each_with_handle(
            space.ships, [this](auto self, ship& one) { space.aim(self, one, space.projectiles); });
    }
    void fly_ships() override {
        handlepool::for_each_with_handle(
            space.ships, [this](auto self, ship& one) { space.fly(self, one, space.ships, split_first()); });
    }
    void fly_projectiles() override {
        handlepool::for_each_with_handle(space.projectiles, [this](auto self, projectile& one) {
            space.fly(self, one, space.projectiles, split_first());
        });
    }
    void fade_debris() override {
        handlepool::for_each_with_handle(
            space.dust, [this](auto self, debris& one) { space.fade(self, one, space.dust); });
    }
    void split_rocks() override {} // they are already
};

/// The objects are divided into parts, and each part has a spawner of its own, however many threads there
/// are. So handles and orders are the same each time, too.
class deterministic_tasks : public tasks {
public:
    /// So many parts: enough for many threads, and with a share of the room for each.
    static constexpr std::size_t parts = 32;

    using tasks::tasks;

private:
    auto mark_hit() {
        return [this](handlepool::handle<rock>, const rock& whole) {
            std::atomic_ref(hit_of(whole)).store(1, std::memory_order::relaxed);
        };
    }
    std::uint8_t& hit_of(const rock& one) {
        return hits_[static_cast<std::size_t>(&one - space.rocks.items().data())];
    }

    void aim_ships() override {
        hits_.assign(space.rocks.items().size(), 0); // all rocks of the frame are there
        in_parts(space.projectiles.spawners(parts), space.ships,
                 [this](auto self, ship& one, auto& shots) { space.aim(self, one, shots); });
    }
    void fly_ships() override {
        in_parts(space.ships.spawners(parts), space.ships,
                 [this](auto self, ship& one, auto& own) { space.fly(self, one, own, mark_hit()); });
    }
    void fly_projectiles() override {
        in_parts(space.projectiles.spawners(parts), space.projectiles,
                 [this](auto self, projectile& one, auto& own) { space.fly(self, one, own, mark_hit()); });
    }
    void fade_debris() override {
        in_parts(space.dust.spawners(parts), space.dust,
                 [this](auto self, debris& one, auto& own) { space.fade(self, one, own); });
    }
    // Whoever has hit them: who was first depends on the threads, and who goes through all of them doesn't.
    void split_rocks() override {
        auto ashes = space.dust.spawners(parts);
        in_parts(space.rocks.spawners(parts), space.rocks, [&](auto self, rock& one, auto& own) {
            if (hit_of(one) != 0) {
                space.erase(own, self);
                space.split(one, own, ashes[own.number()]);
            }
        });
    }

    /// Calls `visit(handle, object, spawner)` for all objects, each with the spawner of its part.
    template <class Spawners, class T, class Visit>
    static void in_parts(Spawners spawners, handlepool::pool<T>& objects, const Visit& visit) {
        const auto entries = objects.entries();
        spawners.for_each(
            [&](auto& spawner) {
                const std::size_t last = entries.size() * (spawner.number() + 1) / parts;
                for (std::size_t i = entries.size() * spawner.number() / parts; i != last; ++i) {
                    const auto each = entries[i];
                    visit(each.handle, each.object, spawner);
                }
            },
            handlepool::tbb_executor());
    }

    std::vector<std::uint8_t> hits_; // of each rock, whether it was hit in this frame
};

} // namespace asteroids
