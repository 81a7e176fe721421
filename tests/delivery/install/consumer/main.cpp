// SPDX-License-Identifier: MIT
#include <handlepool/boost_freelist.hpp>
#include <handlepool/fmt.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_json.hpp>
#include <handlepool/service.hpp>
#include <handlepool/tbb.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>

#include <cstddef>
#include <string>

// Whatever configuration this is built in.
static_assert(handlepool::detail::checked == (LIBRARY_CHECKS_CONTRACTS != 0));

int main() {
    handlepool::pool<std::string> names({.name = "names", .capacity = 10});
    const auto handle = names.emplace("installed, and found again");
    names.compact();
    fmt::print("{}: {}\n", handle, names.at(handle));

    handlepool::pool<int, handlepool::with_freelist<handlepool::boost_freelist>> numbers(
        {.name = "numbers", .capacity = 10});
    if (!numbers.contains(numbers.emplace(1))) {
        return 1;
    }

    handlepool::service world;
    auto& ships = world.add<handlepool::pool<int>>("ships", {.capacity = 10});
    const handlepool::any_handle ship = ships.emplace(1);
    handlepool::frame_graph frame(world);
    tbb::flow::make_edge(frame.start(), frame.compaction());
    frame.run(3).rethrow();

    handlepool::change_log log(ships);
    handlepool::capture_ring past(log);
    past.capture(1);
    *log.edit(ships.handle_at(0)) = 2;
    past.capture(2);
    const std::size_t edited = log.changes_since(log.frame() - 1)->front().edited.size();
    past.restore(1);
    if (edited != 1 || *world.find<int>(ship) != 1) {
        return 1;
    }

    handlepool::key_table keys;
    const handlepool::property_bag sheet = handlepool::bag_from_json(R"({"health": 10})", "sheet", &keys);
    fmt::print("{}\n", handlepool::to_json(sheet));
    fmt::print("{}\n{}", world.describe(ship), to_table(world.stats()));
    return world.contains(ship) ? 0 : 1;
}
