// SPDX-License-Identifier: MIT

// A game in C++ whose ships are worked on by scripts too: cpp_host SCRIPT
//
// The pool and the type of its objects are the program's. In each frame it moves the ships, calls the
// script's function `frame`, and compacts.

#include "script_pool.hpp"

#include <handlepool/pool.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

struct ship {
    std::string name = "nameless";
    double x = 0;
    float speed = 1;
    int hull = 100;
    bool docked = false;
    int moves = 0; // which scripts don't know
};

constexpr script_field<ship> fields_of_ships[] = {
    script_field_of<&ship::name>("name"), script_field_of<&ship::x>("x"),
    script_field_of<&ship::speed>("speed"), script_field_of<&ship::hull>("hull"),
    script_field_of<&ship::docked>("docked")};

struct state_deleter {
    void operator()(lua_State* lua) const { lua_close(lua); }
};
using lua_state = std::unique_ptr<lua_State, state_deleter>;

/// Is it no error? Says else what it is.
bool succeeded(lua_State* lua, int result) {
    if (result != LUA_OK) {
        std::fprintf(stderr, "cpp_host: %s\n", lua_tostring(lua, -1));
    }
    return result == LUA_OK;
}

int run(lua_State* lua, const char* script, handlepool::pool<ship>& ships) {
    luaL_openlibs(lua);
    const script_pool bound(lua, "ships", ships, fields_of_ships);
    if (!succeeded(lua, luaL_dofile(lua, script))) {
        return EXIT_FAILURE;
    }
    for (int frame = 0; frame != 10; ++frame) {
        for (ship& each : ships.mutable_items()) {
            each.x += each.docked ? 0 : each.speed;
            ++each.moves;
        }
        lua_getglobal(lua, "frame");
        lua_pushinteger(lua, frame);
        if (!succeeded(lua, lua_pcall(lua, 1, 0, 0))) {
            return EXIT_FAILURE;
        }
        ships.compact();
    }
    for (const ship& each : ships.items()) {
        std::printf("%s is at %g after %d moves, with a hull of %d%s\n", each.name.c_str(), each.x,
                    each.moves, each.hull, each.docked ? ", docked" : "");
    }
    return EXIT_SUCCESS;
}

} // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: cpp_host SCRIPT\n");
        return EXIT_FAILURE;
    }
    handlepool::pool<ship> ships({.name = "ships", .capacity = 1000, .remember_frames = true});
    ships.emplace(ship{.name = "Argo", .speed = 2});
    ships.emplace(ship{.name = "Titan", .hull = 500});
    ships.compact();
    const lua_state lua(luaL_newstate()); // ends before the pool
    if (lua == nullptr) {
        std::fprintf(stderr, "cpp_host: there is no memory for Lua\n");
        return EXIT_FAILURE;
    }
    return run(lua.get(), arguments[1], ships);
}
