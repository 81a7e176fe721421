// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/handle.hpp>

#include <lua.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

// Scripts of Lua 5.4 on a pool that a C++ program owns. Lua leaves functions by longjmp, which ends no C++
// object: so no function here has one that needs an end when it calls what may raise an error of Lua. And no
// exception may pass through Lua: guarded() makes errors of them.

/// Calls `body()`, which returns how many values it has pushed.
template <class Body>
int guarded(lua_State* lua, Body body) {
    static_assert(std::is_trivially_destructible_v<Body>);
    std::array<char, 512> message{};
    try {
        return body();
    } catch (const std::exception& error) {
        const std::string_view text = error.what();
        text.copy(message.data(), message.size() - 1);
    }
    return luaL_error(lua, "%s", message.data()); // when the exception has ended
}

/// A member that scripts read and write by its name.
template <class T>
struct script_field {
    const char* name;
    void (*push)(lua_State* lua, const T& object);
    /// Raises an error of Lua unless the value at the index has the member's type and range.
    void (*check)(lua_State* lua, int index);
    /// After that.
    void (*assign)(lua_State* lua, int index, T& object);
};

/// Of numbers, truths and texts, of which a member is made.
template <class Value>
struct script_value {
    static_assert(std::is_arithmetic_v<Value> || std::is_same_v<Value, std::string>);

    static void push(lua_State* lua, const Value& value) {
        if constexpr (std::is_same_v<Value, std::string>) {
            lua_pushlstring(lua, value.data(), value.size());
        } else if constexpr (std::is_same_v<Value, bool>) {
            lua_pushboolean(lua, value);
        } else if constexpr (std::is_floating_point_v<Value>) {
            lua_pushnumber(lua, value);
        } else {
            static_assert(std::numeric_limits<Value>::digits < 64, "Lua's integers have a sign and 63 bits");
            lua_pushinteger(lua, value);
        }
    }
    static void check(lua_State* lua, int index) {
        if constexpr (std::is_same_v<Value, std::string>) {
            luaL_checktype(lua, index, LUA_TSTRING);
        } else if constexpr (std::is_same_v<Value, bool>) {
            luaL_checktype(lua, index, LUA_TBOOLEAN);
        } else if constexpr (std::is_floating_point_v<Value>) {
            const lua_Number number = luaL_checknumber(lua, index);
            if constexpr (sizeof(Value) < sizeof number) {
                constexpr lua_Number most = std::numeric_limits<Value>::max();
                if (std::isfinite(number) && std::abs(number) > most) {
                    luaL_argerror(
                        lua, index,
                        lua_pushfstring(lua, "a number from %f to %f expected, got %f", -most, most, number));
                }
            }
        } else {
            const lua_Integer number = luaL_checkinteger(lua, index);
            constexpr lua_Integer least = std::numeric_limits<Value>::min();
            constexpr lua_Integer most = std::numeric_limits<Value>::max();
            if (number < least || number > most) {
                luaL_argerror(lua, index,
                              lua_pushfstring(lua, "a whole number from %I to %I expected, got %I", least,
                                              most, number));
            }
        }
    }
    static Value value(lua_State* lua, int index) {
        if constexpr (std::is_same_v<Value, std::string>) {
            std::size_t size = 0;
            const char* const bytes = lua_tolstring(lua, index, &size);
            return {bytes, size};
        } else if constexpr (std::is_same_v<Value, bool>) {
            return lua_toboolean(lua, index) != 0;
        } else if constexpr (std::is_floating_point_v<Value>) {
            return static_cast<Value>(lua_tonumber(lua, index));
        } else {
            return static_cast<Value>(lua_tointeger(lua, index));
        }
    }
};

template <class Member>
struct script_member;
template <class T, class Value>
struct script_member<Value T::*> {
    using object = T;
    using value = script_value<Value>;
};

/// script_field_of<&ship::hull>("hull")
template <auto Member>
constexpr auto script_field_of(const char* name) {
    using member = script_member<decltype(Member)>;
    using object = typename member::object;
    using value = typename member::value;
    return script_field<object>{
        name, [](lua_State* lua, const object& from) { value::push(lua, from.*Member); }, value::check,
        [](lua_State* lua, int index, object& to) { to.*Member = value::value(lua, index); }};
}

/// A global of that name in Lua, whose functions are new{...}, count() and each(). What new returns are
/// handles: they have the fields, and the methods alive, erase and number. Those of one object are equal, and
/// one key of a table. A loop over each() goes over a copy of the handles: it may last for several frames.
/// Pool and fields outlive the state; the thread of the scripts is ordered with the pool's compactions.
template <class Pool>
class script_pool {
public:
    using object = typename Pool::value_type;
    using handle_type = typename Pool::handle_type;

    script_pool(lua_State* lua, const char* name, Pool& pool, std::span<const script_field<object>> fields)
        : pool_(pool), fields_(fields) {
        lua_newtable(lua); // the handles that scripts hold, by their numbers: it doesn't keep them
        lua_createtable(lua, 0, 1);
        lua_pushliteral(lua, "v");
        lua_setfield(lua, -2, "__mode");
        lua_setmetatable(lua, -2);
        lua_rawsetp(lua, LUA_REGISTRYINDEX, this);

        const luaL_Reg of_handles[] = {
            {"__index", index}, {"__newindex", new_index}, {"__tostring", describe}, {nullptr, nullptr}};
        lua_newtable(lua);
        push_functions(lua, of_handles);
        lua_rawsetp(lua, LUA_REGISTRYINDEX, &fields_);

        const luaL_Reg of_pool[] = {{"new", make}, {"count", count}, {"each", each}, {nullptr, nullptr}};
        lua_newtable(lua);
        push_functions(lua, of_pool);
        lua_setglobal(lua, name);
    }
    script_pool(const script_pool&) = delete;
    script_pool& operator=(const script_pool&) = delete;

private:
    void push_functions(lua_State* lua, const luaL_Reg* functions) {
        lua_pushlightuserdata(lua, this);
        luaL_setfuncs(lua, functions, 1);
    }
    static script_pool& self(lua_State* lua) {
        return *static_cast<script_pool*>(lua_touserdata(lua, lua_upvalueindex(1)));
    }

    // ---- Handles

    void push(lua_State* lua, handle_type handle) {
        lua_rawgetp(lua, LUA_REGISTRYINDEX, this);
        const auto number = static_cast<lua_Integer>(handle.value());
        if (lua_rawgeti(lua, -1, number) == LUA_TNIL) {
            lua_pop(lua, 1);
            *static_cast<handle_type*>(lua_newuserdatauv(lua, sizeof(handle_type), 0)) = handle;
            lua_rawgetp(lua, LUA_REGISTRYINDEX, &fields_);
            lua_setmetatable(lua, -2);
            lua_pushvalue(lua, -1);
            lua_rawseti(lua, -3, number);
        }
        lua_remove(lua, -2);
    }

    static int call_push(lua_State* lua) {
        static_cast<script_pool*>(lua_touserdata(lua, 1))
            ->push(lua, *static_cast<const handle_type*>(lua_touserdata(lua, 2)));
        return 1;
    }

    /// The handle of a new object, which ends where Lua has no memory for it: nobody would ever erase it.
    int push_made(lua_State* lua, handle_type made) {
        lua_pushcfunction(lua, call_push);
        lua_pushlightuserdata(lua, this);
        lua_pushlightuserdata(lua, &made);
        if (lua_pcall(lua, 2, 1, 0) != LUA_OK) {
            pool_.erase(made);
            return lua_error(lua);
        }
        return 1;
    }

    /// At the index 1.
    handle_type check_handle(lua_State* lua) {
        const bool has_metatable = lua_isuserdata(lua, 1) && lua_getmetatable(lua, 1) != 0;
        lua_rawgetp(lua, LUA_REGISTRYINDEX, &fields_);
        luaL_argexpected(lua, has_metatable && lua_rawequal(lua, -1, -2), 1, "handle");
        lua_pop(lua, 2);
        return *static_cast<const handle_type*>(lua_touserdata(lua, 1));
    }

    static int alive(lua_State* lua) {
        lua_pushboolean(lua, self(lua).pool_.contains(self(lua).check_handle(lua)));
        return 1;
    }
    static int erase(lua_State* lua) {
        lua_pushboolean(lua, self(lua).pool_.erase(self(lua).check_handle(lua)));
        return 1;
    }
    static int number(lua_State* lua) {
        lua_pushinteger(lua, static_cast<lua_Integer>(self(lua).check_handle(lua).value()));
        return 1;
    }
    static int describe(lua_State* lua) {
        const handle_type handle = self(lua).check_handle(lua);
        std::array<char, 512> text{};
        return guarded(lua, [lua, handle, &text] {
            self(lua).pool_.describe(handle).copy(text.data(), text.size() - 1);
            lua_pushstring(lua, text.data());
            return 1;
        });
    }

    // ---- Fields

    /// The text at the index, with its zeros; empty if it is none.
    static std::string_view name_at(lua_State* lua, int index) {
        std::size_t size = 0;
        const char* const bytes = lua_type(lua, index) == LUA_TSTRING ? lua_tolstring(lua, index, &size) : "";
        return {bytes, size};
    }
    /// Of the name at the index.
    const script_field<object>& check_field(lua_State* lua, int index) {
        if (const script_field<object>* const found = find_field(lua, index)) {
            return *found;
        }
        luaL_error(lua, "there is no field '%s'", luaL_tolstring(lua, index, nullptr));
        std::terminate(); // it does not return
    }
    const script_field<object>* find_field(lua_State* lua, int index) const {
        const std::string_view name = name_at(lua, index);
        const auto found = std::ranges::find_if(
            fields_, [name](const script_field<object>& one) { return std::string_view(one.name) == name; });
        return found != fields_.end() ? &*found : nullptr;
    }

    static int index(lua_State* lua) {
        const handle_type handle = self(lua).check_handle(lua);
        for (const luaL_Reg& method : methods) {
            if (name_at(lua, 2) == method.name) {
                lua_pushvalue(lua, lua_upvalueindex(1));
                lua_pushcclosure(lua, method.func, 1);
                return 1;
            }
        }
        const script_field<object>& field = self(lua).check_field(lua, 2);
        return guarded(lua, [lua, handle, &field] {
            field.push(lua, self(lua).pool_.at(handle)); // the pool says why a handle is stale
            return 1;
        });
    }
    static int new_index(lua_State* lua) {
        const handle_type handle = self(lua).check_handle(lua);
        const script_field<object>& field = self(lua).check_field(lua, 2);
        field.check(lua, 3);
        return guarded(lua, [lua, handle, &field] {
            field.assign(lua, 3, self(lua).pool_.at(handle));
            return 0;
        });
    }

    // ---- The pool

    static int make(lua_State* lua) {
        luaL_checktype(lua, 1, LUA_TTABLE);
        lua_settop(lua, 1);
        for (lua_pushnil(lua); lua_next(lua, 1) != 0; lua_settop(lua, 2)) {
            self(lua).check_field(lua, 2).check(lua, 3);
        }
        return guarded(lua, [lua] {
            const handle_type made = self(lua).pool_.emplace_with([lua](handle_type) {
                object one{}; // nothing raises an error of Lua meanwhile: all values are known to be right
                for (lua_pushnil(lua); lua_next(lua, 1) != 0; lua_settop(lua, 2)) {
                    self(lua).find_field(lua, 2)->assign(lua, 3, one);
                }
                return one;
            });
            return self(lua).push_made(lua, made);
        });
    }
    static int count(lua_State* lua) {
        lua_pushinteger(lua, static_cast<lua_Integer>(self(lua).pool_.size()));
        return 1;
    }
    /// By a copy of the handles: a compaction in the loop moves objects.
    static int each(lua_State* lua) {
        const Pool& pool = self(lua).pool_;
        lua_pushvalue(lua, lua_upvalueindex(1));
        lua_pushinteger(lua, 0);
        const std::size_t count = pool.items().size();
        auto* const handles =
            static_cast<handle_type*>(lua_newuserdatauv(lua, count * sizeof(handle_type), 0));
        for (std::size_t i = 0; i != count; ++i) { // a finalizer of the script may just have compacted
            std::construct_at(handles + i, i < pool.items().size() ? pool.handle_at(i) : handle_type());
        }
        lua_pushcclosure(lua, next, 3);
        return 1;
    }
    /// Upvalue 2: the position; 3: the handles.
    static int next(lua_State* lua) {
        const auto* const handles = static_cast<const handle_type*>(lua_touserdata(lua, lua_upvalueindex(3)));
        const std::size_t count = lua_rawlen(lua, lua_upvalueindex(3)) / sizeof(handle_type);
        for (auto position = static_cast<std::size_t>(lua_tointeger(lua, lua_upvalueindex(2)));
             position != count;) {
            const handle_type handle = handles[position++];
            if (self(lua).pool_.contains(handle)) {
                lua_pushinteger(lua, static_cast<lua_Integer>(position));
                lua_replace(lua, lua_upvalueindex(2));
                self(lua).push(lua, handle);
                return 1;
            }
        }
        return 0;
    }

    static constexpr luaL_Reg methods[] = {{"alive", alive}, {"erase", erase}, {"number", number}};

    Pool& pool_;
    std::span<const script_field<object>> fields_;
};
