// SPDX-License-Identifier: MIT
#include "handlepool_lua.h"

#include <lauxlib.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Lua leaves functions by longjmp, which must not pass through the library: it is given no callback here that
// uses Lua.

enum { most_fields = 64 };
static const char* const kinds[] = {"number", "integer", "boolean", "handle", "text", NULL};
enum kind { kind_number, kind_integer, kind_boolean, kind_handle, kind_text };

/// A text of its object, which frees it.
struct text {
    size_t size;
    char bytes[];
};

/// A field of an object.
union value {
    lua_Number number;
    lua_Integer integer;
    bool boolean;
    handlepool_handle handle;
    struct text* text; // NULL: empty
};

/// What a script has described: a pool of objects of these fields. Lives as long as the Lua state.
struct type {
    handlepool_service* service;
    handlepool_pool* pool;
    int texts; // the first fields
    int kinds[most_fields];
};

struct reference {
    const struct type* type;
    handlepool_handle handle;
};

static int raise_last_error(lua_State* lua) {
    return luaL_error(lua, "%s", handlepool_last_error());
}

static int raise_no_memory(lua_State* lua, size_t size) {
    return luaL_error(lua, "there is no memory for a text of %I bytes", (lua_Integer)size);
}

static int push_string(lua_State* lua) {
    lua_pushstring(lua, lua_touserdata(lua, 1));
    return 1;
}

/// Frees it, also where Lua has no memory for a copy.
static int push_text(lua_State* lua, char* text) {
    if (text == NULL) {
        return raise_last_error(lua);
    }
    lua_pushcfunction(lua, push_string);
    lua_pushlightuserdata(lua, text);
    const int result = lua_pcall(lua, 1, 1, 0);
    handlepool_free_text(text);
    return result == LUA_OK ? 1 : lua_error(lua);
}

/// C would take the text at the index, if it is one, to end at a zero.
static void refuse_zeros(lua_State* lua, int index, int argument, const char* what) {
    size_t size = 0;
    if (lua_type(lua, index) == LUA_TSTRING && strlen(lua_tolstring(lua, index, &size)) != size) {
        luaL_argerror(lua, argument, lua_pushfstring(lua, "%s must be without zero bytes", what));
    }
}

// ---- Texts

/// NULL where there is no memory.
static struct text* copy_of(const char* bytes, size_t size) {
    struct text* const copy = malloc(sizeof(*copy) + size);
    if (copy != NULL) {
        copy->size = size;
        memcpy(copy->bytes, bytes, size);
    }
    return copy;
}

static void free_texts(union value* values, int count) {
    for (int i = 0; i != count; ++i) {
        free(values[i].text);
    }
}

/// Ends an object, also after the Lua state.
static void destroy(void* object, void* number_of_texts) {
    free_texts(object, (int)(intptr_t)number_of_texts);
}

// ---- Handles. The registry has the metatable of each type's handles, by the address of its pool, and by
// that of `known` all handles that scripts hold, by their numbers: so equal ones are one userdata, and one
// key of a table.

static const char known;

/// Pushes the table of all handles; it doesn't keep them.
static void push_known(lua_State* lua) {
    if (lua_rawgetp(lua, LUA_REGISTRYINDEX, &known) == LUA_TTABLE) {
        return;
    }
    lua_pop(lua, 1);
    lua_newtable(lua);
    lua_createtable(lua, 0, 1);
    lua_pushliteral(lua, "v");
    lua_setfield(lua, -2, "__mode");
    lua_setmetatable(lua, -2);
    lua_pushvalue(lua, -1);
    lua_rawsetp(lua, LUA_REGISTRYINDEX, &known);
}

static void push_reference(lua_State* lua, const struct type* type, handlepool_handle handle) {
    push_known(lua);
    if (lua_rawgeti(lua, -1, (lua_Integer)handle) == LUA_TNIL) {
        lua_pop(lua, 1);
        struct reference* const made = lua_newuserdatauv(lua, sizeof(*made), 0);
        *made = (struct reference){type, handle};
        lua_rawgetp(lua, LUA_REGISTRYINDEX, type->pool);
        lua_setmetatable(lua, -2);
        lua_pushvalue(lua, -1);
        lua_rawseti(lua, -3, (lua_Integer)handle);
    }
    lua_remove(lua, -2);
}

static int call_push_reference(lua_State* lua) {
    push_reference(lua, lua_touserdata(lua, 1), *(const handlepool_handle*)lua_touserdata(lua, 2));
    return 1;
}

/// That of a new object, which ends where Lua has no memory for its handle: nobody would ever erase it.
static int push_made(lua_State* lua, struct type* type, handlepool_handle handle) {
    lua_pushcfunction(lua, call_push_reference);
    lua_pushlightuserdata(lua, type);
    lua_pushlightuserdata(lua, &handle);
    if (lua_pcall(lua, 2, 1, 0) != LUA_OK) {
        handlepool_erase(type->pool, handle);
        return lua_error(lua);
    }
    return 1;
}

/// The type of a handle; NULL when it belongs to no pool that a script has described.
static const struct type* type_of(lua_State* lua, const handlepool_service* service,
                                  handlepool_handle handle) {
    const struct type* type = NULL;
    if (lua_rawgetp(lua, LUA_REGISTRYINDEX, handlepool_service_route(service, handle)) == LUA_TTABLE) {
        lua_rawgetp(lua, -1, &known);
        type = lua_touserdata(lua, -1);
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    return type;
}

/// NULL when it is something else.
static const struct reference* to_reference(lua_State* lua, int index) {
    if (!lua_isuserdata(lua, index) || lua_getmetatable(lua, index) == 0) {
        return NULL;
    }
    const bool has_type = lua_rawgetp(lua, -1, &known) != LUA_TNIL;
    lua_pop(lua, 2);
    return has_type ? lua_touserdata(lua, index) : NULL;
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

/// Not of a text, which is made when nothing can raise an error any more.
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
    if (self->type->kinds[field] != kind_text) {
        const union value value = check_value(lua, 3, self->type->kinds[field]);
        check_object(lua, self)[field] = value;
        return 0;
    }
    luaL_checktype(lua, 3, LUA_TSTRING);
    size_t size = 0;
    const char* const bytes = lua_tolstring(lua, 3, &size);
    union value* const value = &check_object(lua, self)[field];
    struct text* const copy = copy_of(bytes, size);
    if (copy == NULL) {
        return raise_no_memory(lua, size);
    }
    free(value->text);
    value->text = copy;
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
    const struct type* type = NULL;
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
    case kind_text:
        lua_pushlstring(lua, value.text == NULL ? "" : value.text->bytes,
                        value.text == NULL ? 0 : value.text->size);
        break;
    default:
        type = type_of(lua, self->type->service, value.handle);
        if (type == NULL) {
            lua_pushnil(lua); // none, or of a pool that the program has removed
        } else {
            push_reference(lua, type, value.handle);
        }
    }
    return 1;
}

// ---- Types. Upvalue 2 of their functions: the type.

static int type_new(lua_State* lua) {
    struct type* const type = lua_touserdata(lua, lua_upvalueindex(2));
    union value values[most_fields] = {{0}}; // an object of them is made when all are known to be right
    const char* bytes[most_fields] = {NULL}; // of texts; they are in the table
    size_t sizes[most_fields] = {0};
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_settop(lua, 1);
    for (lua_pushnil(lua); lua_next(lua, 1) != 0; lua_settop(lua, 2)) {
        const lua_Integer field = check_field(lua, 2);
        if (type->kinds[field] == kind_text) {
            luaL_checktype(lua, 3, LUA_TSTRING);
            bytes[field] = lua_tolstring(lua, 3, &sizes[field]);
        } else {
            values[field] = check_value(lua, 3, type->kinds[field]);
        }
    }
    for (int i = 0; i != type->texts; ++i) {
        if (bytes[i] != NULL && (values[i].text = copy_of(bytes[i], sizes[i])) == NULL) {
            free_texts(values, i);
            return raise_no_memory(lua, sizes[i]);
        }
    }
    handlepool_handle handle = HANDLEPOOL_NULL;
    if (handlepool_insert(type->pool, values, &handle) != HANDLEPOOL_OK) {
        free_texts(values, type->texts);
        return raise_last_error(lua);
    }
    return push_made(lua, type, handle);
}

static int type_count(lua_State* lua) {
    const struct type* const type = lua_touserdata(lua, lua_upvalueindex(2));
    lua_pushinteger(lua, (lua_Integer)handlepool_pool_size(type->pool));
    return 1;
}

static int next_living(lua_State* lua) { // upvalues: the position, the type, the handles
    const struct type* const type = lua_touserdata(lua, lua_upvalueindex(2));
    const handlepool_handle* const handles = lua_touserdata(lua, lua_upvalueindex(3));
    const size_t count = lua_rawlen(lua, lua_upvalueindex(3)) / sizeof(*handles);
    for (size_t position = (size_t)lua_tointeger(lua, lua_upvalueindex(1)); position != count;) {
        const handlepool_handle handle = handles[position++];
        if (handlepool_contains(type->pool, handle)) {
            lua_pushinteger(lua, (lua_Integer)position);
            lua_replace(lua, lua_upvalueindex(1));
            push_reference(lua, type, handle);
            return 1;
        }
    }
    return 0;
}

/// for each in ship.each() do ... end: those that were alive at the last compaction, and still are. By a copy
/// of their handles: a compaction in the loop moves objects.
static int type_each(lua_State* lua) {
    const struct type* const type = lua_touserdata(lua, lua_upvalueindex(2));
    size_t count = handlepool_items_of(type->pool).count;
    lua_pushinteger(lua, 0);
    lua_pushvalue(lua, lua_upvalueindex(2));
    const size_t size = count * sizeof(handlepool_handle);
    handlepool_handle* const handles = lua_newuserdatauv(lua, size, 0);
    memset(handles, 0, size); // null handles, which next_living() skips
    // A finalizer of the script, which Lua may have called just now, may compact.
    if (handlepool_items_of(type->pool).count < count) {
        count = handlepool_items_of(type->pool).count;
    }
    if (handlepool_handles_of(type->pool, 0, count, handles) != HANDLEPOOL_OK) {
        return raise_last_error(lua);
    }
    lua_pushcclosure(lua, next_living, 3);
    return 1;
}

// ---- The module. Upvalue 1 of its functions: the service.

/// The name of a field, on top of the stack, is not allowed.
static void refuse_field(lua_State* lua, const char* why) {
    luaL_argerror(lua, 3, lua_pushfstring(lua, "the field '%s' %s", luaL_tolstring(lua, -1, NULL), why));
}

static void check_name(lua_State* lua) {
    refuse_zeros(lua, -1, 3, "the name of a field");
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
/// one at 4: those of texts first. Returns how many there are.
static int read_fields(lua_State* lua, struct type* type) {
    int given[most_fields] = {0}; // the kinds, as they were given
    const lua_Integer length = luaL_len(lua, 3);
    luaL_argcheck(lua, length >= 1 && length <= 2 * most_fields, 3, "a type has 1 to 64 fields");
    for (int i = 0; i < (int)length; i += 2) {
        lua_geti(lua, 3, i + 1);
        check_name(lua);
        if (i + 1 == (int)length) {
            refuse_field(lua, "has no kind");
        }
        lua_geti(lua, 3, i + 2);
        refuse_zeros(lua, -1, 3, "the kind of a field");
        given[i / 2] = luaL_checkoption(lua, -1, NULL, kinds);
        type->texts += given[i / 2] == kind_text;
        lua_pop(lua, 1);
        lua_pushinteger(lua, i / 2);
        lua_rawset(lua, 4);
    }
    int texts = 0;
    int others = type->texts;
    lua_Integer numbers[most_fields] = {0};
    for (int i = 0; i != (int)length / 2; ++i) {
        const int number = given[i] == kind_text ? texts++ : others++;
        numbers[i] = number;
        type->kinds[number] = given[i];
    }
    for (lua_pushnil(lua); lua_next(lua, 4) != 0;) { // the name, and which it was
        const lua_Integer number = numbers[lua_tointeger(lua, -1)];
        lua_pop(lua, 1);
        lua_pushvalue(lua, -1);
        lua_pushinteger(lua, number);
        lua_rawset(lua, 4);
    }
    return others;
}

/// Of the fields and a type that has its pool: what scripts have of them.
static int make_type(lua_State* lua) {
    const struct type* const type = lua_touserdata(lua, 2);
    const luaL_Reg operators[] = {{"__tostring", reference_tostring}, {NULL, NULL}};
    const luaL_Reg accesses[] = {
        {"__index", reference_index}, {"__newindex", reference_newindex}, {NULL, NULL}};
    const luaL_Reg functions[] = {
        {"new", type_new}, {"count", type_count}, {"each", type_each}, {NULL, NULL}};
    luaL_newlibtable(lua, functions);
    lua_pushvalue(lua, 1);
    lua_pushvalue(lua, 2);
    luaL_setfuncs(lua, functions, 2);
    luaL_newlib(lua, operators); // the metatable of the handles; without __gc, they own nothing
    lua_pushvalue(lua, 2);
    lua_rawsetp(lua, -2, &known); // which says what it is, and keeps the type
    lua_pushboolean(lua, false);
    lua_setfield(lua, -2, "__metatable"); // what it has is not for scripts
    lua_pushvalue(lua, 1);
    luaL_newlib(lua, methods);
    luaL_setfuncs(lua, accesses, 2);
    lua_rawsetp(lua, LUA_REGISTRYINDEX, type->pool); // the last thing that may find no memory
    return 1;
}

static int module_type(lua_State* lua) {
    const char* const name = luaL_checkstring(lua, 1);
    refuse_zeros(lua, 1, 1, "the name of a pool");
    const lua_Integer capacity = luaL_checkinteger(lua, 2);
    luaL_checktype(lua, 3, LUA_TTABLE);
    if (capacity < 1) { // which would become a large number
        return luaL_argerror(
            lua, 2, lua_pushfstring(lua, "the capacity of a pool is 1 or more, and not %I", capacity));
    }

    lua_settop(lua, 3);
    lua_newtable(lua);                                                  // at 4: the fields
    struct type* const type = lua_newuserdatauv(lua, sizeof(*type), 0); // at 5
    *type = (struct type){0};
    const int count = read_fields(lua, type);
    type->service = lua_touserdata(lua, lua_upvalueindex(1));
    const handlepool_description description = {.name = name,
                                                .size = (size_t)count * sizeof(union value),
                                                .capacity = (size_t)capacity,
                                                .alignment = sizeof(union value),
                                                .destroy = type->texts == 0 ? NULL : destroy,
                                                .user = (void*)(intptr_t)type->texts,
                                                .remember_frames = true};
    if (handlepool_service_add_pool(type->service, &description, &type->pool) != HANDLEPOOL_OK) {
        return raise_last_error(lua);
    }
    lua_pushcfunction(lua, make_type);
    lua_pushvalue(lua, 4);
    lua_pushvalue(lua, 5);
    if (lua_pcall(lua, 2, 1, 0) != LUA_OK) { // it has found no memory
        handlepool_service_remove_pool(type->service, name);
        return lua_error(lua);
    }
    return 1;
}

static int module_handle(lua_State* lua) {
    const lua_Integer number = luaL_checkinteger(lua, 1);
    const bool has_53_bits = number >= 0 && number >> 53 == 0; // a pool is known by some of them
    const struct type* const type =
        has_53_bits ? type_of(lua, lua_touserdata(lua, lua_upvalueindex(1)), (handlepool_handle)number)
                    : NULL;
    if (type != NULL) {
        push_reference(lua, type, (handlepool_handle)number);
    } else if (number == (lua_Integer)HANDLEPOOL_NULL) {
        lua_pushnil(lua);
    } else {
        return luaL_argerror(
            lua, 1, lua_pushfstring(lua, "%I is no handle of a pool that a script has described", number));
    }
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
