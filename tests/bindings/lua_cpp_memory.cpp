// SPDX-License-Identifier: MIT

// examples/lua/script_pool.hpp where Lua finds no memory, at each of its allocations in turn: the script gets
// an error, and no object lives of which it has no handle.
#include "script_pool.hpp"

#include <handlepool/pool.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

struct ship {
    std::string name;
    int hull = 100;
};

constexpr script_field<ship> fields_of_ships[] = {script_field_of<&ship::name>("name"),
                                                  script_field_of<&ship::hull>("hull")};

/// How many allocations are left, which then fail; there is no end of them while it is negative.
long left = -1;

void* allocate(void*, void* block, std::size_t old_size, std::size_t size) {
    if (size == 0) {
        std::free(block);
        return nullptr;
    }
    const bool grows = block == nullptr || size > old_size;
    if (left == 0 && grows) {
        return nullptr;
    }
    left -= left > 0 && grows ? 1 : 0;
    return std::realloc(block, size);
}

/// Makes a ship with this many allocations. Is what became of that, and the number of ships.
struct outcome {
    int result = LUA_OK;
    std::size_t ships = 0;
};
outcome make_with(long allocations) {
    handlepool::pool<ship> ships({.name = "ships", .capacity = 100});
    left = -1;
    lua_State* const lua = lua_newstate(allocate, nullptr);
    luaL_openlibs(lua);
    const script_pool bound(lua, "ships", ships, fields_of_ships);
    outcome became{.result = luaL_dostring(lua, "return function() return ships.new { hull = 7 } end")};
    if (became.result == LUA_OK) {
        left = allocations;
        became.result = lua_pcall(lua, 0, 1, 0);
        left = -1;
    }
    became.ships = ships.size();
    lua_close(lua);
    return became;
}

} // namespace

int main() {
    long allocations = 0;
    outcome became = make_with(allocations);
    while (became.result == LUA_ERRMEM && became.ships == 0) {
        became = make_with(++allocations);
    }
    std::printf("after %ld allocations that failed, the script ends with %d, and %zu ships live\n",
                allocations, became.result, became.ships);
    return became.result == LUA_OK && became.ships == 1 && allocations >= 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
