-- SPDX-License-Identifier: MIT

-- What cpp_host runs: the ships are the program's, and their fields members of a class of C++.
local by_name = {}
for each in ships.each() do
    by_name[each.name] = each
end
local argo, titan = by_name.Argo, by_name.Titan
assert(ships.count() == 2 and argo.speed == 2 and titan.hull == 500 and not titan.docked)

local dory = ships.new { name = ("small "):rep(20) .. "\0 boat", hull = 1 }
dory.name = "Dory" -- a std::string, whatever was in it
assert(dory.name == "Dory" and dory.hull == 1 and dory.speed == 1)

-- Handles of one object are one value, and one key.
local crew = { [argo] = 50, [titan] = 1000, [dory] = 2 }
local lost

-- A loop that goes on over several frames shows each ship that it began with, whatever compactions move.
local tour = coroutine.wrap(function()
    for each in ships.each() do
        coroutine.yield(each.name)
    end
end)

function frame(number)
    local sum = 0
    for each in ships.each() do
        sum = sum + crew[each]
    end
    assert(sum == (number == 0 and 1050 or number <= 5 and 1052 or 52)) -- the new one is an item after a compaction
    if number == 2 then
        argo.docked = true
        assert(argo.x == 6) -- the program has moved it
        assert(tour() == "Argo")
    elseif number == 5 then
        assert(tour() == "Titan")
        lost = titan
        assert(titan:erase() and not titan:erase() and not titan:alive())
    elseif number == 6 then
        assert(tour() == "Dory") -- at Titan's place now
        assert(tour() == nil)
    elseif number == 7 then
        -- The pool says why the handle is stale.
        local ok, message = pcall(function() return lost.hull end)
        assert(not ok and message:find(": pool 'ships': handle #1 generation 1 pool %d+ is stale: erased 2 frames ago$"), message)
        assert(tostring(lost):find("^ships #1 generation 1: erased 2 frames ago$"), tostring(lost))
    end
end

-- Mistakes are errors, with what is allowed, and change nothing.
local function fails(expected, action)
    local ok, message = pcall(action)
    assert(not ok, "this is no error: " .. expected)
    assert(message:gsub("^[^ ]*:%d+: ", "") == expected, message)
end
fails("there is no field 'y'", function() return argo.y end)
fails("there is no field 'moves'", function() argo.moves = 1 end)
-- A name that C would cut at a zero is another name.
for _, name in ipairs { "hull\0", "alive\0" } do
    assert(not pcall(function() return argo[name] end) and not pcall(function() argo[name] = 1 end))
    assert(not pcall(ships.new, { [name] = 1 }))
end
fails("there is no field '7'", function() ships.new { [7] = 1 } end)
for _, number in ipairs { 2 ^ 31 | 0, -2 ^ 31 - 1 | 0, math.maxinteger, math.mininteger } do
    local expected = ("(a whole number from -2147483648 to 2147483647 expected, got %d)"):format(number)
    fails("bad argument #3 to 'newindex' " .. expected, function() argo.hull = number end)
    fails("bad argument #3 to 'new' " .. expected, function() ships.new { hull = number } end)
end
for _, none in ipairs { 0.5, 0 / 0, 1 / 0 } do
    fails("bad argument #3 to 'newindex' (number has no integer representation)", function() argo.hull = none end)
end
-- A float of C++ holds less than a number of Lua; infinity and what is no number at all are among both.
for _, number in ipairs { 1e300, -1e300, 3.5e38 } do
    local expected = ("(a number from -3.4028234663853e+38 to 3.4028234663853e+38 expected, got %.14g)"):format(number)
    fails("bad argument #3 to 'newindex' " .. expected, function() argo.speed = number end)
    fails("bad argument #3 to 'new' " .. expected, function() ships.new { speed = number } end)
end
for _, number in ipairs { 1 / 0, -1 / 0, 2.0 ^ 127, 0.5 } do
    argo.speed = number
    assert(argo.speed == number)
end
argo.speed = 0 / 0
assert(argo.speed ~= argo.speed)
argo.speed = 2
fails("bad argument #3 to 'newindex' (number expected, got string)", function() argo.hull = "strong" end)
fails("bad argument #3 to 'newindex' (string expected, got number)", function() argo.name = 7 end)
fails("bad argument #3 to 'newindex' (boolean expected, got nil)", function() argo.docked = nil end)
fails("bad argument #1 to 'alive' (handle expected, got FILE*)", function() argo.alive(io.stdout) end)
local many = {}
fails("pool 'ships' is exhausted: its capacity is 1000 objects (places of erased objects come back with the next compaction)",
    function() for i = 1, 10000 do many[i] = ships.new {} end end)
for _, each in ipairs(many) do each:erase() end
for each in ships.each() do assert(each == argo or each == titan) end
assert(argo.hull == 100 and argo.name == "Argo")
