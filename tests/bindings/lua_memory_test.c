// SPDX-License-Identifier: MIT
/* examples/lua/handlepool_lua.c where Lua finds no memory, at each of its allocations in turn: the script
 * gets an error, no text of the library or of an object is lost, and no object lives of which the script has
 * no handle. The linker has the functions that give and take texts call those here. */
#include "handlepool_lua.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

static int texts = 0; /* that were given and not yet freed */

char* __real_handlepool_service_stats(const handlepool_service* service);
char* __wrap_handlepool_service_stats(const handlepool_service* service);
char* __real_handlepool_describe(const handlepool_pool* pool, handlepool_handle handle);
char* __wrap_handlepool_describe(const handlepool_pool* pool, handlepool_handle handle);
void __real_handlepool_free_text(char* text);
void __wrap_handlepool_free_text(char* text);
void* __real_malloc(size_t size);
void* __wrap_malloc(size_t size);
void __real_free(void* block);
void __wrap_free(void* block);

static void* counted(void* text) {
    texts += text != NULL;
    return text;
}

char* __wrap_handlepool_service_stats(const handlepool_service* service) {
    return counted(__real_handlepool_service_stats(service));
}

char* __wrap_handlepool_describe(const handlepool_pool* pool, handlepool_handle handle) {
    return counted(__real_handlepool_describe(pool, handle));
}

void __wrap_handlepool_free_text(char* text) {
    texts -= text != NULL;
    __real_handlepool_free_text(text);
}

/* Those of objects. */
void* __wrap_malloc(size_t size) {
    return counted(__real_malloc(size));
}

void __wrap_free(void* block) {
    texts -= block != NULL;
    __real_free(block);
}

/* How many allocations are left, which then fail; there is no end of them while it is negative. */
static long left = -1;

static void* allocate(void* user, void* block, size_t old_size, size_t size) {
    (void)user;
    if (size == 0) {
        __real_free(block);
        return NULL;
    }
    if (left == 0 && (block == NULL || size > old_size)) {
        return NULL;
    }
    left -= left > 0 && (block == NULL || size > old_size);
    return realloc(block, size);
}

static size_t ships_in(handlepool_service* world) {
    handlepool_pool* const ships = handlepool_service_pool(world, "ships");
    return ships == NULL ? 0 : handlepool_pool_size(ships);
}

/* What becomes of the function that the script returns, with this many allocations, and then of the same with
 * all. */
static int run_with(long allocations, const char* script) {
    handlepool_service* world = NULL;
    if (handlepool_service_create(NULL, &world) != HANDLEPOOL_OK) {
        fprintf(stderr, "%s\n", handlepool_last_error());
        exit(EXIT_FAILURE);
    }
    left = -1;
    lua_State* const lua = lua_newstate(allocate, NULL);
    luaL_openlibs(lua);
    handlepool_lua_open(lua, world);
    int result = luaL_dostring(lua, script);
    if (result == LUA_OK) {
        lua_pushvalue(lua, -1);
        const size_t before = ships_in(world);
        left = allocations;
        result = lua_pcall(lua, 0, 0, 0);
        left = -1;
        if (result != LUA_OK && ships_in(world) != before) {
            fprintf(stderr, "%zu ships became %zu\n", before, ships_in(world));
            result = LUA_ERRRUN;
        }
    }
    if (result == LUA_ERRMEM) {
        lua_pop(lua, 1);
        if (lua_pcall(lua, 0, 0, 0) != LUA_OK) {
            fprintf(stderr, "%s\n", lua_tostring(lua, -1));
            result = LUA_ERRRUN;
        }
    }
    lua_close(lua);
    if (handlepool_service_destroy(world) != HANDLEPOOL_OK) {
        fprintf(stderr, "%s\n", handlepool_last_error());
        exit(EXIT_FAILURE);
    }
    return result;
}

static void fail_at_each_allocation(const char* script) {
    long allocations = 0;
    int result = LUA_ERRMEM;
    while (result == LUA_ERRMEM && texts == 0) {
        result = run_with(allocations++, script);
    }
    if (result != LUA_OK || texts != 0 || allocations < 2) {
        fprintf(stderr, "with %ld allocations the script ends with %d, and %d texts are lost: %s\n",
                allocations - 1, result, texts, script);
        exit(EXIT_FAILURE);
    }
    printf("%ld allocations failed: %s\n", allocations - 1, script);
}

int main(void) {
    fail_at_each_allocation("local ship = handlepool.type('ships', 100, { 'name', 'text' })\n"
                            "local argo = ship.new { name = 'Argo' }\n"
                            "return function() return #tostring(argo) + #handlepool.stats() end");
    fail_at_each_allocation("local ship = handlepool.type('ships', 100, { 'name', 'text' })\n"
                            "return function() return ship.new { name = ('x'):rep(100) } end");
    /* A type that could not be made has left no pool of its name behind. */
    fail_at_each_allocation("return function() handlepool.type('ships', 100, { 'name', 'text' }) end");
    return EXIT_SUCCESS;
}
