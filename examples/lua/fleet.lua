-- SPDX-License-Identifier: MIT

-- A fleet whose types are the script's, in pools of the library.
local ship = handlepool.type("ships", 30000, { "x", "number", "hull", "integer", "target", "handle", "armed", "boolean" })
local rocket = handlepool.type("rockets", 1000, { "target", "handle", "fuel", "integer" })

-- Thousands of objects: each flies after the one that was made before it.
local fleet = {}
for i = 1, 20000 do
    fleet[i] = ship.new { x = i, hull = 100, target = fleet[i - 1], armed = i % 2 == 0 }
end
assert(ship.count() == 20000)
handlepool.compact()

-- A frame: all move, every fourth is lost.
for each in ship.each() do
    each.x = each.x + 0.5
    if (each.x - 0.5) % 4 == 0 then
        assert(each:erase())
    end
end
assert(ship.count() == 15000 and handlepool.compact() == 5000)
local sum = 0
for each in ship.each() do
    sum = sum + each.hull
end
assert(sum == 15000 * 100)

local argo, lost = fleet[3], fleet[4]
assert(argo:alive() and argo.x == 3.5 and argo.hull == 100 and argo.armed == false)
assert(not lost:alive() and not lost:erase())

-- What is stale says so, in the pool's words, and can't be read or written.
local ok, message = pcall(function() return lost.x end)
assert(not ok and message:find("pool 'ships': handle #%d+ generation 1"), message)
assert(not pcall(function() lost.x = 1 end))
assert(tostring(lost):find("^ships #%d+ generation 1: erased"), tostring(lost))
assert(tostring(argo):find("alive"), tostring(argo))
-- A field may hold the handle of an object that is gone, and of any type.
assert(fleet[5].target == lost and not fleet[5].target:alive())
local chaser = rocket.new { target = argo, fuel = 3 }
assert(chaser.target == argo and chaser.target.hull == 100)
chaser.target = nil
assert(chaser.target == nil)

-- Handles are compared by the object that they name, and own nothing.
assert(argo ~= fleet[5] and argo ~= chaser and fleet[1].target == nil and fleet[2].target == fleet[1])
assert(argo == handlepool.handle(argo:number()))
-- Equal ones are one key, whoever made them, also after those that nobody held were collected.
local captains = { [argo] = "Jason", [lost] = "nobody" }
assert(captains[handlepool.handle(argo:number())] == "Jason" and captains[chaser.target] == nil)
chaser.target = argo
assert(captains[chaser.target] == "Jason" and captains[fleet[5]] == nil)
chaser.target = nil
fleet[4], lost = nil, nil
local count = 0
for each in ship.each() do
    count = count + (captains[each] and 1 or 0)
end
collectgarbage()
assert(count == 1 and captains[fleet[5].target] == "nobody")
captains = nil
-- Nothing else equals a handle, not even another userdata.
assert(not (argo == io.stdout) and not (io.stdout == argo) and argo ~= io.stdout and argo ~= argo:number())
local number = argo:number()
argo, fleet = nil, nil
collectgarbage()
assert(ship.count() == 15000)

-- They are kept as numbers: of 53 bits, which a float holds too, and JSON with it.
assert(math.type(number) == "integer" and number < 2 ^ 53)
local as_float = number + 0.0
assert(math.type(as_float) == "float" and handlepool.handle(as_float) == handlepool.handle(number))
local json = string.format('{"flagship": %.17g}', as_float)
local loaded = tonumber(json:match(": (.*)}"))
assert(handlepool.handle(loaded):number() == number and handlepool.handle(loaded).x == 3.5)
assert(handlepool.handle(0) == nil)
assert(not handlepool.handle(number + 2 ^ 24):alive()) -- another generation

-- A slot has many objects, one after the other, and each its own number: the generation passes bit 32.
local scout = handlepool.type("scouts", 100, { "x", "number" })
local function generation(of)
    return of:number() >> 24 & 0xfffff
end
local veteran = scout.new { x = 7 }
for i = 1, 2 ^ 20 do
    if generation(veteran) > 256 then break end
    veteran:erase()
    if i % 50 == 0 then handlepool.compact() end
    veteran = scout.new { x = i }
end
assert(generation(veteran) > 256, tostring(veteran))
number = veteran:number()
assert(math.type(number) == "integer" and number > 2 ^ 32 and number < 2 ^ 53)
assert(handlepool.handle(number) == veteran and handlepool.handle(number).x == veteran.x)
assert(handlepool.handle(number + 0.0) == veteran)
local first = handlepool.handle(number - 256 * 2 ^ 24) -- of the same slot
assert(first ~= veteran and not first:alive())
assert(handlepool.handle(number % 2 ^ 32) ~= veteran)

-- Texts are any bytes, of any length, and end with their objects.
local boat = handlepool.type("boats", 100, { "x", "number", "name", "text", "crew", "integer", "flag", "text" })
local long = ("x"):rep(100000)
local named = boat.new { name = "Argo\0\xff", x = 1, crew = 50 }
assert(named.name == "Argo\0\xff" and named.flag == "" and named.x == 1 and named.crew == 50)
named.flag = long
named.name = named.flag
assert(named.name == long and named.flag == long)
named.name = ""
assert(named.name == "" and named.flag == long and named.x == 1 and named.crew == 50)
for i = 1, 99 do
    boat.new { name = "boat " .. i, flag = long }
end
handlepool.compact()
for each in boat.each() do
    if each ~= named then
        assert(each.name:find("^boat %d+$") and each.flag == long)
        each:erase()
    end
end
handlepool.compact()
assert(boat.count() == 1 and named.flag == long) -- it has moved

-- A loop does not show what was erased since the last compaction, be it before the loop or in it.
local scouts = { veteran }
for i = 2, 5 do
    scouts[i] = scout.new { x = i }
end
handlepool.compact()
local function shown(action)
    local count = 0
    for each in scout.each() do
        assert(each:alive())
        count = count + 1
        action(each)
    end
    return count
end
assert(shown(function() end) == 5)
assert(scouts[2]:erase() and scouts[5]:erase())
assert(shown(function(each) assert(each ~= scouts[2] and each ~= scouts[5]) end) == 3)
assert(shown(function(each) -- the first one ends the others
    for i = 1, 5 do
        if scouts[i] ~= each then scouts[i]:erase() end
    end
end) == 1 and scout.count() == 1)

-- A loop shows each object once, whatever compactions move meanwhile; what is created in it comes with the next loop.
local buoy = handlepool.type("buoys", 100, { "seen", "integer" })
for _ = 1, 10 do
    buoy.new {}
end
handlepool.compact()
local loops = 0
for each in buoy.each() do
    loops = loops + 1
    each.seen = each.seen + 1
    buoy.new { seen = 1 }
    handlepool.compact()
end
assert(loops == 10 and buoy.count() == 20)
for each in buoy.each() do
    loops = loops + 1
    assert(each.seen == 1 and each:erase())
    handlepool.compact() -- the last one moves to the place of this one
end
assert(loops == 30 and buoy.count() == 0)

-- Mistakes are errors.
local function fails(expected, action)
    local ok, message = pcall(action)
    assert(not ok, "this is no error: " .. expected)
    assert(message:find(expected, 1, true), message)
end
fails("there is no field 'y'", function() return chaser.y end)
fails("there is no field 'y'", function() return ship.new { y = 1 } end)
fails("number expected, got string", function() chaser.fuel = "full" end)
fails("number has no integer representation", function() chaser.fuel = 0.5 end)
fails("handle expected, got number", function() chaser.target = number end)
fails("the service has a pool 'ships' already", function() handlepool.type("ships", 10, { "x", "number" }) end)
fails("invalid option 'string'", function() handlepool.type("tugs", 10, { "name", "string" }) end)
fails("bad argument #2 to 'type' (the capacity of a pool is 1 or more, and not 0)",
    function() handlepool.type("tugs", 0, { "x", "number" }) end)
fails("bad argument #2 to 'type' (the capacity of a pool is 1 or more, and not -9223372036854775808)",
    function() handlepool.type("tugs", math.mininteger, { "x", "number" }) end)
fails("pool 'tugs': capacity = 9223372036854775807 is not allowed; allowed are 1 to 16777216 by the handle's layout",
    function() handlepool.type("tugs", math.maxinteger, { "x", "number" }) end)
for _, none in ipairs { 0 / 0, 1 / 0, 2.0 ^ 63, 1.5 } do
    fails("bad argument #2 to 'type' (number has no integer representation)",
        function() handlepool.type("tugs", none, { "x", "number" }) end)
    fails("bad argument #1 to 'handle' (number has no integer representation)", function() handlepool.handle(none) end)
end
for _, none in ipairs { -1, math.mininteger, math.maxinteger, 1 << 53, number + (1 << 53), 500 << 44 } do
    fails(("bad argument #1 to 'handle' (%d is no handle of a pool that a script has described)"):format(none),
        function() handlepool.handle(none) end)
end
fails("bad argument #1 to 'handle' (number expected, got string)", function() handlepool.handle("ship") end)
fails("string expected, got number", function() named.name = 7 end)
fails("string expected, got nil", function() named.name = nil end)
fails("string expected, got boolean", function() boat.new { name = "Argo", flag = true } end)
fails("bad argument #3", function() handlepool.type("tugs", 10, { "x", "number", "x", "integer" }) end)
fails("the field 'x' is there twice", function() handlepool.type("tugs", 10, { "x", "number", "x", "integer" }) end)
fails("the field 'y' has no kind", function() handlepool.type("tugs", 10, { "x", "number", "y" }) end)
fails("the field 'y' has no kind", function() handlepool.type("tugs", 10, { "y" }) end)
fails("a type has 1 to 64 fields", function() handlepool.type("tugs", 10, {}) end)
for _, method in ipairs { "number", "alive", "erase" } do
    fails(("the field '%s' has the name of a method"):format(method), function()
        handlepool.type("tugs", 10, { "x", "number", method, "number" })
    end)
end
fails("bad argument #1 to 'type' (the name of a pool must be without zero bytes)",
    function() handlepool.type("tugs\0", 10, { "x", "number" }) end)
fails("bad argument #3 to 'type' (the name of a field must be without zero bytes)",
    function() handlepool.type("tugs", 10, { "alive\0", "number" }) end)
fails("bad argument #3 to 'type' (the kind of a field must be without zero bytes)",
    function() handlepool.type("tugs", 10, { "x", "number\0" }) end)
local tug = handlepool.type("tugs", 2, { "name", "text" })
fails("pool 'tugs' is exhausted: its capacity is 2 objects", function()
    for _ = 1, 10000 do tug.new { name = "no more" } end
end)
local fields = {}
for i = 1, 64 do
    table.move({ "f" .. i, "integer" }, 1, 2, #fields + 1, fields)
end
assert(handlepool.type("widest", 1, fields).new { f64 = 64 }.f64 == 64)
table.move({ "f65", "integer" }, 1, 2, #fields + 1, fields)
fails("a type has 1 to 64 fields", function() handlepool.type("wider", 1, fields) end)
fails("handle expected", function() chaser.alive(7) end)
assert(getmetatable(chaser) == false)

print(("%d ships, %d rockets, %d boats"):format(ship.count(), rocket.count(), boat.count()))
