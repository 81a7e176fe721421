#ifndef HANDLEPOOL_LUA_H
#define HANDLEPOOL_LUA_H

#include <handlepool/handlepool.h>

#include <lua.h>

/// Gives scripts of Lua 5.4 the module `handlepool`, for the pools of a service that the program owns, and
/// destroys after the state. A script says what its objects are made of, and holds handles:
///
///     local ship = handlepool.type("ships", 10000, { "x", "number", "hull", "integer", "target", "handle" })
///     local argo = ship.new { x = 1.5, hull = 100 }
///     argo.x = argo.x + 1 -- an error that says why, when argo is gone
///     if argo:alive() then argo:erase() end
///
/// A type has 1 to 64 fields, each of its own name, which is none of the methods number, alive and erase.
///
/// A handle does not own its object, whatever is garbage. It is compared by ==, which is false for all that
/// is no handle, and kept as a number by number() and handlepool.handle(number). Scripts run within the frame
/// contract; compact() is for those that run the frames.
void handlepool_lua_open(lua_State* lua, handlepool_service* service);

#endif
