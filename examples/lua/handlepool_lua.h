// SPDX-License-Identifier: MIT
#ifndef HANDLEPOOL_LUA_H
#define HANDLEPOOL_LUA_H

#include <handlepool/handlepool.h>

#include <lua.h>

/// Gives scripts of Lua 5.4 the module `handlepool`, for the pools of a service that the program owns, and
/// destroys after the state; until then it removes no pool that scripts have made. A script says what its
/// objects are made of, and holds handles:
///
///     local ship = handlepool.type("ships", 10000, { "x", "number", "name", "text", "target", "handle" })
///     local argo = ship.new { x = 1.5, name = "Argo" }
///     argo.x = argo.x + 1 -- an error that says why, when argo is gone
///     if argo:alive() then argo:erase() end
///
/// A type has 1 to 64 fields, each of its own name, which is none of the methods number, alive and erase.
///
/// A handle does not own its object, whatever is garbage. Handles of one object are one value: they are
/// equal, and one key of a table. They are kept as numbers by number() and handlepool.handle(number), which
/// refuses what is no handle; 0 is nil. Texts are any bytes. Scripts run within the frame contract; compact()
/// is for those that run the frames, and may be called in a loop over each(), which goes over a copy of the
/// handles.
void handlepool_lua_open(lua_State* lua, handlepool_service* service);

#endif
