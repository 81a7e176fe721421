// SPDX-License-Identifier: MIT

// The game, as a module. It is compiled twice, with GAME_VERSION 1 and 2, as if it had been changed while the
// program ran: in the second version monsters heal, and sparks have a heat.

#include "game.hpp"

#include <cstring>
#include <new>

namespace {

using namespace hot_reload;

// The second version adds to what the first had. In sparks of the first, the addition is zero.
struct spark {
    float position = 0;
    int frames_left = 50;
#if GAME_VERSION >= 2
    float heat = 1;
#endif
};
static_assert(sizeof(spark) <= world::spark_size);

#if GAME_VERSION >= 2
constexpr int healing = 1;
float heat_of(const void* object) noexcept {
    return static_cast<const spark*>(object)->heat;
}
#else
constexpr int healing = 0;
float heat_of(const void*) noexcept {
    return 0;
}
#endif

// Belongs to the module, and ends with it.
handlepool::scoped_hook deaths;

void start(world& all) {
    deaths = all.monsters.on_destroy([&all](auto, monster& dead) {
        ++all.mourned;
        all.sparks.try_emplace([&](void* memory) {
            std::memset(memory, 0, world::spark_size); // also what later versions will add
            (new (memory) spark)->position = dead.position;
        });
    });
}

void run_frame(world& all) {
    for (int i = 0; i != 10; ++i) {
        all.monsters.try_emplace(all.hatched++, 0.0F, 100);
    }
    for (auto [self, one] : all.monsters.entries()) {
        one.position += 1;
        one.health -= static_cast<int>(one.number % 7) + 1 - healing;
        if (one.health <= 0) {
            all.monsters.erase(self);
        }
    }
    for (auto [self, object] : all.sparks.entries()) {
        if (--static_cast<spark*>(object)->frames_left == 0) {
            all.sparks.erase(self);
        }
    }
}

void stop(world&) noexcept {
    deaths = {};
}

} // namespace

extern "C" [[gnu::visibility("default")]] const game hot_reload_game;
const game hot_reload_game{GAME_VERSION, start, run_frame, stop, heat_of};
