// SPDX-License-Identifier: MIT
/* A program whose scripts make objects in its pools: lua_host SCRIPT... */
#include "handlepool_lua.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** arguments) {
    handlepool_service* world = NULL;
    if (count < 2) {
        fprintf(stderr, "usage: lua_host SCRIPT...\n");
        return EXIT_FAILURE;
    }
    if (handlepool_service_create(NULL, &world) != HANDLEPOOL_OK) {
        fprintf(stderr, "lua_host: %s\n", handlepool_last_error());
        return EXIT_FAILURE;
    }
    int result = EXIT_SUCCESS;
    lua_State* const lua = luaL_newstate();
    if (lua == NULL) {
        fprintf(stderr, "lua_host: there is no memory for Lua\n");
        result = EXIT_FAILURE;
    } else {
        luaL_openlibs(lua);
        handlepool_lua_open(lua, world);
        for (int i = 1; i != count && result == EXIT_SUCCESS; ++i) {
            if (luaL_dofile(lua, arguments[i]) != LUA_OK) {
                fprintf(stderr, "lua_host: %s\n", lua_tostring(lua, -1));
                result = EXIT_FAILURE;
            }
        }
        lua_close(lua);
    }
    handlepool_service_destroy(world);
    return result;
}
