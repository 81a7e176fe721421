#include "handlepool_lua.h"

#include <lauxlib.h>
#include <string.h>

// Lua leaves functions by longjmp, which must not pass through the library: it is given no callback here.

enum { most_fields = 64 };
static const char* const kinds[] = {"number", "integer", "boolean", "handle", NULL};
enum kind { kind_number, kind_integer, kind_boolean, kind_handle };

/// A field of an object.
union value {
    lua_Number number;
    lua_Integer integer;
    bool boolean;
    handlepool_handle handle;
};

/// What a script has described: a pool of objects of these fields. Lives as long as the Lua state.
struct type {
    handlepool_service* service;
    handlepool_pool* pool;
    int kinds[most_fields];
};

struct reference {
    const struct type* type;
    handlepool_handle handle;
};

static int raise_last_error(lua_State* lua) {
    return luaL_error(lua, "%s", handlepool_last_error());
}

static int push_text(lua_State* lua, char* text) {
    if (text == NULL) {
        return raise_last_error(lua);
    }
    lua_pushstring(lua, text);
    handlepool_free_text(text);
    return 1;
}

// ---- Handles. The registry has the metatable of each type's handles, by the type's address.

static void push_reference(lua_State* lua, const struct type* type, handlepool_handle handle) {
    struct reference* const made = lua_newuserdatauv(lua, sizeof(*made), 0);
    *made = (struct reference){type, handle};
    lua_rawgetp(lua, LUA_REGISTRYINDEX, type);
    lua_setmetatable(lua, -2);
}

/// Pushes a handle of any type, which its pool knows; nil when there is no such pool.
static void push_any(lua_State* lua, const handlepool_service* service, handlepool_handle handle) {
    const handlepool_pool* const pool = handlepool_service_route(service, handle);
    if (pool == NULL) {
        lua_pushnil(lua);
    } else {
        push_reference(lua, handlepool_pool_user(pool), handle);
    }
}

/// NULL when it is something else.
static const struct reference* to_reference(lua_State* lua, int index) {
    if (!lua_isuserdata(lua, index) || luaL_getmetafield(lua, index, "is_handle") == LUA_TNIL) {
        return NULL;
    }
    lua_pop(lua, 1);
    return lua_touserdata(lua, index);
}

static const struct reference* check_reference(lua_State* lua, int index) {
    const struct reference* const reference = to_reference(lua, index);
    luaL_argexpected(lua, reference != NULL, index, "handle");
    return reference;
}

static int reference_alive(lua_State* lua) {
    const struct reference* const self = check_reference(lua, 1);
    lua_pushboolean(lua, handlepool_contains(self->type->pool, self->handle));
    return 1;
}

static int reference_erase(lua_State* lua) {
    const struct reference* const self = check_reference(lua, 1);
    lua_pushboolean(lua, handlepool_erase(self->type->pool, self->handle));
    return 1;
}

static int reference_number(lua_State* lua) {
    lua_pushinteger(lua, (lua_Integer)check_reference(lua, 1)->handle); // 53 bits, as a float has them
    return 1;
}

static int reference_equal(lua_State* lua) {
    const struct reference* const one = to_reference(lua, 1); // the other may be a userdata of any kind
    const struct reference* const other = to_reference(lua, 2);
    lua_pushboolean(lua, one != NULL && other != NULL && one->handle == other->handle);
    return 1;
}

static int reference_tostring(lua_State* lua) {
    const struct reference* const self = check_reference(lua, 1);
    return push_text(lua, handlepool_describe(self->type->pool, self->handle));
}

/// What handles can do. No field has one of these names: it could be written and never read.
static const luaL_Reg methods[] = {
    {"alive", reference_alive}, {"erase", reference_erase}, {"number", reference_number}, {NULL, NULL}};

// ---- Fields. Upvalue 1 of the functions that use them: the numbers of the fields by their names.

static lua_Integer check_field(lua_State* lua, int name) {
    lua_pushvalue(lua, name);
    if (lua_rawget(lua, lua_upvalueindex(1)) == LUA_TNIL) {
        return luaL_error(lua, "there is no field '%s'", luaL_tolstring(lua, name, NULL));
    }
    return lua_tointeger(lua, -1);
}

static union value* check_object(lua_State* lua, const struct reference* reference) {
    void* object = NULL;
    if (handlepool_at(reference->type->pool, reference->handle, &object) != HANDLEPOOL_OK) {
        raise_last_error(lua);
    }
    return object;
}

static union value check_value(lua_State* lua, int index, int kind) {
    switch (kind) {
    case kind_number:
        return (union value){.number = luaL_checknumber(lua, index)};
    case kind_integer:
        return (union value){.integer = luaL_checkinteger(lua, index)};
    case kind_boolean:
        return (union value){.boolean = lua_toboolean(lua, index)};
    default:
        return (union value){.handle = lua_isnil(lua, index) ? HANDLEPOOL_NULL
                                                             : check_reference(lua, index)->handle};
    }
}

static int reference_newindex(lua_State* lua) {
    const struct reference* const self = lua_touserdata(lua, 1);
    const lua_Integer field = check_field(lua, 2);
    const union value value = check_value(lua, 3, self->type->kinds[field]);
    check_object(lua, self)[field] = value;
    return 0;
}

static int reference_index(lua_State* lua) {
    const struct reference* const self = lua_touserdata(lua, 1);
    lua_pushvalue(lua, 2);
    if (lua_rawget(lua, lua_upvalueindex(2)) != LUA_TNIL) {
        return 1; // a method
    }
    const lua_Integer field = check_field(lua, 2);
    const union value value = check_object(lua, self)[field];
    switch (self->type->kinds[field]) {
    case kind_number:
        lua_pushnumber(lua, value.number);
        break;
    case kind_integer:
        lua_pushinteger(lua, value.integer);
        break;
    case kind_boolean:
        lua_pushboolean(lua, value.boolean);
        break;
    default:
        push_any(lua, self->type->service, value.handle);
    }
    return 1;
}

// ---- Types. Upvalue 2 of their functions: the type.

static int type_new(lua_State* lua) {
    const struct type* const type = lua_touserdata(lua, lua_upvalueindex(2));
    union value values[most_fields] = {{0}}; // an object of them is made when all are known to be right
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_settop(lua, 1);
    for (lua_pushnil(lua); lua_next(lua, 1) != 0; lua_settop(lua, 2)) {
        const lua_Integer field = check_field(lua, 2);
        values[field] = check_value(lua, 3, type->kinds[field]);
    }
    handlepool_handle handle = HANDLEPOOL_NULL;
    if (handlepool_insert(type->pool, values, &handle) != HANDLEPOOL_OK) {
        return raise_last_error(lua);
    }
    push_reference(lua, type, handle);
    return 1;
}

static int type_count(lua_State* lua) {
    const struct type* const type = lua_touserdata(lua, lua_upvalueindex(2));
    lua_pushinteger(lua, (lua_Integer)handlepool_pool_size(type->pool));
    return 1;
}

static int next_living(lua_State* lua) { // upvalues: the position, the type
    const struct type* const type = lua_touserdata(lua, lua_upvalueindex(2));
    size_t position = (size_t)lua_tointeger(lua, lua_upvalueindex(1));
    handlepool_handle handle = HANDLEPOOL_NULL;
    do {
        if (handlepool_handles_of(type->pool, position++, 1, &handle) != HANDLEPOOL_OK) {
            return 0; // the end
        }
    } while (!handlepool_contains(type->pool, handle));
    lua_pushinteger(lua, (lua_Integer)position);
    lua_replace(lua, lua_upvalueindex(1));
    push_reference(lua, type, handle);
    return 1;
}

/// for each in ship.each() do ... end: those that were alive at the last compaction, and still are.
static int type_each(lua_State* lua) {
    lua_pushinteger(lua, 0);
    lua_pushvalue(lua, lua_upvalueindex(2));
    lua_pushcclosure(lua, next_living, 2);
    return 1;
}

// ---- The module. Upvalue 1 of its functions: the service.

/// The name of a field, on top of the stack, is not allowed.
static void refuse_field(lua_State* lua, const char* why) {
    luaL_argerror(lua, 3, lua_pushfstring(lua, "the field '%s' %s", luaL_tolstring(lua, -1, NULL), why));
}

static void check_name(lua_State* lua) {
    for (const luaL_Reg* each = methods; each->name != NULL; ++each) {
        if (lua_type(lua, -1) == LUA_TSTRING && strcmp(lua_tostring(lua, -1), each->name) == 0) {
            refuse_field(lua, "has the name of a method");
        }
    }
    lua_pushvalue(lua, -1);
    const bool is_new = lua_rawget(lua, 4) == LUA_TNIL;
    lua_pop(lua, 1);
    if (!is_new) {
        refuse_field(lua, "is there twice");
    }
}

/// Reads the names and kinds of the table at 3, and puts the numbers of the fields by their names into the
/// one at 4. Returns how many there are.
static int read_fields(lua_State* lua, struct type* type) {
    const lua_Integer length = luaL_len(lua, 3);
    luaL_argcheck(lua, length >= 1 && length <= 2 * most_fields, 3, "a type has 1 to 64 fields");
    for (int i = 0; i < (int)length; i += 2) {
        lua_geti(lua, 3, i + 1);
        check_name(lua);
        if (i + 1 == (int)length) {
            refuse_field(lua, "has no kind");
        }
        lua_geti(lua, 3, i + 2);
        type->kinds[i / 2] = luaL_checkoption(lua, -1, NULL, kinds);
        lua_pop(lua, 1);
        lua_pushinteger(lua, i / 2);
        lua_rawset(lua, 4);
    }
    return (int)length / 2;
}

static int module_type(lua_State* lua) {
    const char* const name = luaL_checkstring(lua, 1);
    const lua_Integer capacity = luaL_checkinteger(lua, 2);
    luaL_checktype(lua, 3, LUA_TTABLE);
    luaL_argcheck(lua, capacity >= 1, 2, "the capacity of a pool is 1 or more");

    lua_settop(lua, 3);
    lua_newtable(lua);                                                  // at 4: the fields
    struct type* const type = lua_newuserdatauv(lua, sizeof(*type), 0); // at 5
    const int count = read_fields(lua, type);
    type->service = lua_touserdata(lua, lua_upvalueindex(1));
    const handlepool_description description = {.name = name,
                                                .size = (size_t)count * sizeof(union value),
                                                .capacity = (size_t)capacity,
                                                .alignment = sizeof(union value),
                                                .user = type,
                                                .remember_frames = true};
    if (handlepool_service_add_pool(type->service, &description, &type->pool) != HANDLEPOOL_OK) {
        return raise_last_error(lua);
    }

    const luaL_Reg operators[] = {
        {"__eq", reference_equal}, {"__tostring", reference_tostring}, {NULL, NULL}};
    const luaL_Reg accesses[] = {
        {"__index", reference_index}, {"__newindex", reference_newindex}, {NULL, NULL}};
    const luaL_Reg functions[] = {
        {"new", type_new}, {"count", type_count}, {"each", type_each}, {NULL, NULL}};
    luaL_newlib(lua, operators); // the metatable of the handles; without __gc, they own nothing
    lua_pushvalue(lua, 5);
    lua_setfield(lua, -2, "is_handle"); // and keeps the type
    lua_pushboolean(lua, false);
    lua_setfield(lua, -2, "__metatable"); // what it has is not for scripts
    lua_pushvalue(lua, 4);
    luaL_newlib(lua, methods);
    luaL_setfuncs(lua, accesses, 2);
    lua_rawsetp(lua, LUA_REGISTRYINDEX, type);
    luaL_newlibtable(lua, functions);
    lua_pushvalue(lua, 4);
    lua_pushvalue(lua, 5);
    luaL_setfuncs(lua, functions, 2);
    return 1;
}

static int module_handle(lua_State* lua) {
    push_any(lua, lua_touserdata(lua, lua_upvalueindex(1)), (handlepool_handle)luaL_checkinteger(lua, 1));
    return 1;
}

static int module_compact(lua_State* lua) {
    handlepool_compaction done;
    if (handlepool_service_compact(lua_touserdata(lua, lua_upvalueindex(1)), &done) != HANDLEPOOL_OK) {
        return raise_last_error(lua);
    }
    lua_pushinteger(lua, (lua_Integer)done.removed);
    return 1;
}

static int module_stats(lua_State* lua) {
    return push_text(lua, handlepool_service_stats(lua_touserdata(lua, lua_upvalueindex(1))));
}

void handlepool_lua_open(lua_State* lua, handlepool_service* service) {
    const luaL_Reg functions[] = {{"type", module_type},
                                  {"handle", module_handle},
                                  {"compact", module_compact},
                                  {"stats", module_stats},
                                  {NULL, NULL}};
    luaL_newlibtable(lua, functions);
    lua_pushlightuserdata(lua, service);
    luaL_setfuncs(lua, functions, 1);
    lua_setglobal(lua, "handlepool");
}
