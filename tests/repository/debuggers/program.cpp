// SPDX-License-Identifier: MIT

// The program that the debuggers look at: it stops in stop_here(), whose callers hold what is printed.

#include <handlepool/columns.hpp>
#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/key_table.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_bag.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/raw_stable_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/stable_pool.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <utility>

struct position {
    int x;
    int y;
};
struct velocity {
    int dx;
};
struct ship {
    int id;
    int crew;
};
struct sprite {
    int frame = 0;
    explicit sprite(int first) : frame(first) {}
    sprite& operator=(int first) {
        frame = first;
        return *this;
    }
    void clear() noexcept { frame = 0; }
};
using team_layout = handlepool::handle_layout<20, 16, 8, 4>;

// What printers print is compared with what describe() says here.
std::string said;

[[gnu::noinline]] void stop_here() {
    asm volatile("" ::: "memory");
}

struct slow_ship {
    explicit slow_ship(int number) : id(number) {
        if (number == 2) {
            stop_here(); // while it is emplaced
        }
    }
    int id;
};

[[gnu::noinline]] void handle_projection() {
    handlepool::pool<ship> ships({.name = "ships", .capacity = 100, .remember_frames = true, .pool_id = 3});
    const auto alive = ships.emplace(1, 10);
    const auto erased = ships.emplace(2, 20);
    const auto reused = ships.emplace(3, 30);
    ships.compact();
    ships.compact();
    ships.erase(erased);
    ships.compact();
    ships.compact();
    const auto revoked_one = reused;
    const auto revoked = ships.revoke(revoked_one);
    const auto reserved = ships.reserve_handle();
    const auto cancelled = ships.reserve_handle();
    ships.cancel(cancelled);
    const auto newborn = ships.emplace(4, 40);
    const auto just_erased = ships.emplace(5, 50);
    ships.erase(just_erased);
    const handlepool::handle<ship> null;
    const handlepool::any_handle any = alive;
    const auto never = decltype(alive)::from_value(alive.value() + (8ULL << 32));
    handlepool::pool<ship, handlepool::with_layout<handlepool::keyed_layout<struct moored>>> keyed_ships(
        {.name = "keyed", .capacity = 100});
    const auto keyed = keyed_ships.emplace(8, 80);
    handlepool::pool<ship> strange_ships({.name = "a\nb\xff", .capacity = 100});
    const auto strange = strange_ships.emplace(9, 90);
    handlepool::pool<ship, handlepool::with_layout<team_layout>> teams({.name = "teams", .capacity = 100});
    const auto of_no_pool = decltype(alive)::from_value(alive.value() + (9ULL << 54));
    const auto member = teams.emplace(7, 70).with_user(5);

    for (const auto each : {alive, erased, revoked_one, revoked, reserved, cancelled, newborn, just_erased}) {
        said += ships.describe(each) + "\n";
    }
    std::printf("%s", said.c_str());
    stop_here();
    static_cast<void>(null), static_cast<void>(any), static_cast<void>(never), static_cast<void>(of_no_pool),
        static_cast<void>(member), static_cast<void>(keyed), static_cast<void>(strange);
}

[[gnu::noinline]] void look_at_pools() {
    handlepool::pool<ship> ships({.name = "ships", .capacity = 100, .pool_id = 3});
    handlepool::stable_pool<ship> rocks({.name = "rocks", .capacity = 100, .pool_id = 4});
    handlepool::recycling_pool<sprite> sprites({.name = "sprites", .capacity = 100, .pool_id = 5});
    handlepool::pool<handlepool::columns<position, velocity>> movers(
        {.name = "movers", .capacity = 100, .pool_id = 6});
    handlepool::raw_pool<> things({.name = "things", .capacity = 100, .pool_id = 7},
                                  {.size = 4, .alignment = 4});
    const auto first = ships.emplace(1, 10);
    ships.emplace(2, 20);
    rocks.emplace(3, 30);
    const auto second = rocks.emplace(4, 40);
    sprites.emplace(5);
    movers.emplace(position{1, 2}, velocity{3});
    const auto thing = things.emplace([](void* memory) { ::new (memory) int(0x01020304); });
    ships.compact();
    rocks.compact();
    ships.erase(first);
    rocks.erase(second);
    ships.emplace(6, 60);
    rocks.emplace(7, 70);
    static_cast<void>(ships.reserve_handle());
    stop_here();
    static_cast<void>(thing);
}

[[gnu::noinline]] void look_at_containers() {
    handlepool::pool<ship> ships({.name = "ships", .capacity = 100, .pool_id = 3});
    const auto flagship = ships.emplace(1, 10);
    const auto escort = ships.emplace(2, 20);
    const auto lost = ships.emplace(3, 30);
    handlepool::handle_set<ship> fleet;
    fleet.insert(flagship);
    fleet.insert(lost);
    handlepool::handle_map<ship, int> cargo;
    cargo.try_emplace(flagship, 500);
    cargo.try_emplace(escort, 20);
    handlepool::handle_index<ship, int> by_number;
    by_number.insert(escort, 77);
    handlepool::hierarchy<ship> squadron;
    squadron.insert(flagship);
    squadron.set_parent(escort, flagship);
    ships.erase(lost);
    const handlepool::handle_set<ship> none;
    stop_here();
}

[[gnu::noinline]] void look_at_properties() {
    using namespace handlepool::property_literals;
    handlepool::key_table names;
    names.add({"stats", "health"});
    names.add({"name"});
    handlepool::property_bag sheet(names);
    sheet.set("stats"_key / "health", 10);
    sheet.set("name"_key, "Ada");
    sheet.set("awake"_key, true);
    sheet.set("path"_key, std::array{1.5F, 2.5F});
    sheet.set("note"_key, "");
    sheet.set_removed("old"_key);
    const handlepool::property_bag empty;
    handlepool::pool<ship> ships({.name = "ships", .capacity = 100, .pool_id = 3});
    handlepool::property_store<ship> sheets({.slot_limit = 1000, .bytes = 65'536});
    sheets.set(ships.emplace(1, 10), "speed"_key, 3.5F);
    stop_here();
}

[[gnu::noinline]] void look_at_a_service() {
    handlepool::service service;
    auto& ships = service.add<handlepool::pool<ship>>("ships", {.capacity = 100, .pool_id = 3});
    service.add<handlepool::raw_stable_pool<>>("things", {.capacity = 100, .pool_id = 4},
                                               handlepool::raw_type{.size = 4, .alignment = 4});
    service.add<handlepool::pool<int>>("wrecks", {.capacity = 100, .pool_id = 5});
    const handlepool::any_handle any = ships.emplace(1, 10);
    service.remove_pool("wrecks");
    const handlepool::any_handle& same = any;
    stop_here();
    static_cast<void>(any), static_cast<void>(same);
}

[[gnu::noinline]] void look_while_emplacing() {
    handlepool::pool<slow_ship> slow({.name = "slow", .capacity = 100, .pool_id = 3});
    slow.emplace(1);
    slow.emplace(2);
}

[[gnu::noinline]] void look_after_the_end() {
    alignas(handlepool::pool<ship>) std::byte memory[sizeof(handlepool::pool<ship>)]{};
    auto* const ships = reinterpret_cast<handlepool::pool<ship>*>(memory);
    stop_here(); // before it is made
    ::new (static_cast<void*>(ships))
        handlepool::pool<ship>({.name = "ships", .capacity = 100, .pool_id = 3});
    const auto handle = ships->emplace(1, 10);
    ships->~pool();
    stop_here();
    static_cast<void>(handle);
}

/// What small numbers don't show: ages beyond a byte, shards of several threads and none, places beyond the
/// first few of a group, a text longer than a word.
[[gnu::noinline]] void look_at_large_numbers() {
    using namespace handlepool::property_literals;
    handlepool::pool<ship> old_ships({.name = "old", .capacity = 100, .remember_frames = true, .pool_id = 8});
    const auto veteran = old_ships.emplace(1, 10);
    const auto late = old_ships.emplace(2, 20);
    for (int frame = 0; frame != 300; ++frame) {
        old_ships.compact();
    }
    old_ships.erase(late);
    for (int frame = 0; frame != 300; ++frame) {
        old_ships.compact();
    }
    std::printf("%s\n%s\n", old_ships.describe(veteran).c_str(), old_ships.describe(late).c_str());

    handlepool::pool<ship> shared({.name = "shared", .capacity = 100, .max_threads = 2, .pool_id = 9});
    const auto first = shared.emplace(1, 10);
    const auto reserved = shared.reserve_handle();
    static_cast<void>(shared.reserve_handle());
    std::thread([&] {
        const auto second = shared.emplace(2, 20);
        shared.emplace(3, 30);
        shared.erase(second);
        std::thread([&] { // no shard is left for this one
            shared.erase(first);
            shared.cancel(reserved);
        })
            .join();
    }).join();

    handlepool::stable_pool<ship> pebbles({.name = "pebbles", .capacity = 100, .pool_id = 10});
    for (int i = 0; i != 9; ++i) {
        pebbles.emplace(i, 0);
    }
    pebbles.compact();
    pebbles.emplace(9, 0);

    handlepool::property_bag letter;
    letter.set("motto"_key, "per aspera ad astra");
    stop_here();
    static_cast<void>(veteran), static_cast<void>(late);
}

/// Writes this number over and over, or those that rise from it: what an unmade object on the stack may
/// consist of.
[[gnu::noinline]] void dirty(std::span<std::byte> memory, std::uintptr_t word, std::uintptr_t rise = 0) {
    for (std::size_t at = 0; at + sizeof(word) <= memory.size(); at += sizeof(word), word += rise) {
        std::memcpy(&memory[at], &word, sizeof(word));
    }
    asm volatile("" : : "r"(memory.data()) : "memory");
}

[[gnu::noinline]] void look_before_they_are_made(std::uintptr_t word, std::uintptr_t rise = 0) {
    alignas(handlepool::service) std::byte of_service[sizeof(handlepool::service)];
    alignas(handlepool::property_store<ship>) std::byte of_sheets[sizeof(handlepool::property_store<ship>)];
    alignas(handlepool::property_bag) std::byte of_sheet[sizeof(handlepool::property_bag)];
    dirty(of_service, word, rise);
    dirty(of_sheets, word, rise);
    dirty(of_sheet, word, rise);
    auto* const service = reinterpret_cast<handlepool::service*>(of_service);
    auto* const sheets = reinterpret_cast<handlepool::property_store<ship>*>(of_sheets);
    auto* const sheet = reinterpret_cast<handlepool::property_bag*>(of_sheet);
    stop_here();
    asm volatile("" : : "r"(service), "r"(sheets), "r"(sheet)); // no jump to stop_here(): it returns to here
}

[[gnu::noinline]] void look_at_containers_before_they_are_made(std::uintptr_t word, std::uintptr_t rise) {
    using map = handlepool::handle_map<ship, int>;
    using index = handlepool::handle_index<ship, int>;
    alignas(map) std::byte of_fleet[sizeof(handlepool::handle_set<ship>)];
    alignas(map) std::byte of_cargo[sizeof(map)];
    alignas(index) std::byte of_by_number[sizeof(index)];
    alignas(map) std::byte of_squadron[sizeof(handlepool::hierarchy<ship>)];
    alignas(map) std::byte of_undefined[sizeof(handlepool::hierarchy<velocity>)]; // whose nodes nobody uses
    dirty(of_fleet, word, rise);
    dirty(of_cargo, word, rise);
    dirty(of_by_number, word, rise);
    dirty(of_squadron, word, rise);
    dirty(of_undefined, word, rise);
    auto* const fleet = reinterpret_cast<handlepool::handle_set<ship>*>(of_fleet);
    auto* const cargo = reinterpret_cast<map*>(of_cargo);
    auto* const by_number = reinterpret_cast<index*>(of_by_number);
    auto* const squadron = reinterpret_cast<handlepool::hierarchy<ship>*>(of_squadron);
    auto* const undefined = reinterpret_cast<handlepool::hierarchy<velocity>*>(of_undefined);
    stop_here();
    asm volatile("" : : "r"(fleet), "r"(cargo), "r"(by_number), "r"(squadron), "r"(undefined));
}

/// Handles of no pool, which the list of the living pools is searched for to its end.
[[gnu::noinline]] void look_at_a_list_in_circles() {
    handlepool::pool<ship> ships({.name = "ships", .capacity = 100, .pool_id = 3});
    handlepool::handle_set<ship> strangers;
    for (std::uint64_t index = 0; index != 8; ++index) {
        strangers.insert(handlepool::handle<ship>::from_value(9ULL << 54 | 1ULL << 32 | index));
    }
    handlepool::detail::living_pool* const first = handlepool::detail::living_pools;
    handlepool::detail::living_pool* const next = std::exchange(first->next, first);
    stop_here();
    first->next = next;
}

[[gnu::noinline]] void sink(handlepool::pool<ship>& ships, handlepool::handle<ship> which) {
    ships.erase(which);
    asm volatile("" ::: "memory"); // no jump to it
}

/// Who made and erased what, by names that the program gives, and by the code that a debugger knows.
[[gnu::noinline]] void look_at_recorded_lives() {
    handlepool::pool<ship> recorded({.name = "recorded", .capacity = 100, .record_lives = 1, .pool_id = 3});
    handlepool::pool<ship> forgetful({.name = "forgetful", .capacity = 100, .record_lives = 2, .pool_id = 4});
    const handlepool::call_site wave = handlepool::call_site::named("waves.lua:30");
    const auto make = [&](auto& pool) {
        const handlepool::scoped_site here(wave);
        return pool.emplace(1, 10);
    };
    const auto alive = make(recorded);
    const auto erased = make(recorded);
    const auto extracted = make(recorded);
    const auto revoked_one = make(recorded);
    recorded.compact();
    const handlepool::scoped_task task("explosions");
    handlepool::handle<ship> revoked;
    handlepool::handle<ship> cancelled;
    {
        const handlepool::scoped_site here("ship.lua:88");
        recorded.erase(erased);
        recorded.extract(extracted, [](ship) {});
        revoked = recorded.revoke(revoked_one);
    }
    for (int frame = 0; frame != 3; ++frame) {
        recorded.compact();
    }
    const auto sunk = recorded.emplace(2, 20);
    {
        const handlepool::scoped_site here("ship.lua:88");
        cancelled = recorded.reserve_handle();
        recorded.cancel(cancelled);
    }
    const auto forgotten = make(forgetful);
    {
        const handlepool::scoped_site here("ship.lua:88");
        forgetful.reset();
    }
    said.clear();
    for (const auto each : {alive, erased, extracted, revoked_one, revoked, cancelled}) {
        said += recorded.describe(each) + "\n";
    }
    said += forgetful.describe(forgotten) + "\n";
    std::printf("%s", said.c_str());
    sink(recorded, sunk);
    stop_here();
    static_cast<void>(sunk);
}

int main() {
    handle_projection();
    look_at_pools();
    look_at_containers();
    look_at_properties();
    look_at_a_service();
    look_while_emplacing();
    look_after_the_end();
    look_at_large_numbers();
    // Pointers that lead to themselves, numbers that are huge; pointers to nowhere, and to the end of all
    // addresses; nothing but zeros.
    alignas(256) static std::byte knot[4096];
    dirty(knot, reinterpret_cast<std::uintptr_t>(knot));
    look_before_they_are_made(reinterpret_cast<std::uintptr_t>(knot));
    look_before_they_are_made(0xbebe'bebe'bebe'bebe);
    look_before_they_are_made(0xffff'ffff'ffff'fff8);
    look_before_they_are_made(0);
    // Arrays without an end.
    look_before_they_are_made(reinterpret_cast<std::uintptr_t>(knot), std::uintptr_t{1} << 40);
    look_at_containers_before_they_are_made(0, 0);
    look_at_containers_before_they_are_made(reinterpret_cast<std::uintptr_t>(knot), std::uintptr_t{1} << 40);
    look_at_containers_before_they_are_made(0xffff'ffff'ffff'fff8, 0 - std::uintptr_t{8});
    look_at_a_list_in_circles();
    look_at_recorded_lives();
}
