// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>

#include <cstddef>
#include <cstdint>

/// What the program and the game's module know of each other. The program owns all objects, and outlives
/// every module; so nothing that lives on may point to a module's code or data: no virtual functions, no
/// std::function, no pointers to constants, and no destructors or hooks of a module in a pool.
namespace hot_reload {

/// Plain data, of the same layout in all versions.
struct monster {
    std::uint64_t number; // unlike all others'
    float position;
    int health;
};

struct world {
    handlepool::pool<monster> monsters{{.name = "monsters", .capacity = 10'000}};
    /// Of a type that the module alone knows, and may add to: the program gives its objects a fixed size, and
    /// zeros.
    handlepool::raw_pool<> sparks{{.name = "sparks", .capacity = 100'000}, {.size = spark_size}};
    std::uint64_t hatched = 0;
    std::uint64_t mourned = 0; ///< deaths that a module's hook has seen

    static constexpr std::size_t spark_size = 64;
};

/// The functions of a module. Between stop and start the program may put another in its place.
struct game {
    int version;
    void (*start)(world&);
    void (*run_frame)(world&);
    /// Takes off all that start has put into the pools; the program compacts them before it unloads the
    /// module.
    void (*stop)(world&) noexcept;
    /// What the module knows of a spark.
    float (*heat_of)(const void* spark) noexcept;
};

/// The name of the one that a module exports.
constexpr const char* game_symbol = "hot_reload_game";

} // namespace hot_reload
