// SPDX-License-Identifier: MIT
#include "require.hpp"

#include <handlepool/columns.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_json.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/thread_executor.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>
#include <handlepool/time/record_encoding.hpp>
#include <handlepool/time/world.hpp>
#include <handlepool/timeline.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

// Uses what a game would use, with every compiler and in every mode: ci/compilers.sh. Each try_ function is
// seen to work and to refuse; it needs neither exceptions nor run-time type information.
namespace {

using handlepool::test::require;

struct ship {
    explicit ship(int its_owner) : owner(its_owner) {} // clang 14 makes no aggregate from (7)

    int owner;
    int hull = 100;
};

void create_in_several_threads(handlepool::pool<ship>& ships) {
    std::vector<std::thread> threads;
    for (int owner = 0; owner != 3; ++owner) {
        threads.emplace_back([&ships, owner] {
            for (int i = 0; i != 1000; ++i) {
                const auto handle = ships.emplace(owner);
                if (i % 4 == 0) {
                    ships.erase(handle);
                }
            }
        });
    }
    for (std::thread& each : threads) {
        each.join();
    }
}

void sort_ships(handlepool::pool<ship>& ships, handlepool::thread_executor& executor) {
    const auto last_first = [](const ship& a, const ship& b) noexcept { return b.owner < a.owner; };
    const auto owner_at = [&](std::size_t position) { return ships.items()[position].owner; };
    const std::size_t last = ships.items().size() - 1;
    sort_by(ships, &ship::owner);
    require(owner_at(0) == 0 && owner_at(last) == 2, "sort_by");
    sort(ships, last_first, executor);
    require(owner_at(0) == 2 && owner_at(last) == 0, "sort");
    while (!sort_some_by(ships, &ship::owner, 500).in_order) {
    }
    require(owner_at(0) == 0 && owner_at(last) == 2, "sort_some_by");
    require(sort_some(ships, last_first, 2, executor).moved == 2, "sort_some");
}

void use_pool() {
    handlepool::pool<ship> ships({.name = "ships", .capacity = 5000});
    create_in_several_threads(ships);
    handlepool::thread_executor executor(2);
    const auto done = ships.compact(executor);
    require(done.removed == 750 && ships.size() == 2250 && ships.items().size() == 2250, "frame");
    for (ship& each : ships) {
        each.hull -= 1;
    }
    require(ships.at(ships.handle_at(0)).hull == 99, "iteration");
    sort_ships(ships, executor);

    const auto handle = ships.emplace(7);
    require(ships.contains(handle) && ships.find(handle)->owner == 7 && ships[handle].owner == 7, "look-up");
    {
        const auto guard = ships.access();
        require(!ships.try_compact(), "a guard keeps compactions off");
        require(ships.try_pin(handle)->owner == 7, "try_pin");
    }
    require(ships.try_compact().has_value(), "try_compact");
    require(ships.erase(handle) && !ships.erase(handle) && !ships.try_pin(handle), "a stale handle");
    require(ships.describe(handle).find("erased") != std::string::npos, "describe");
    ships.on_destroy([](auto, ship&) {}).release();
    ships.clear();
    ships.compact();
    ships.shrink_to_fit();
    require(ships.try_shrink_to_fit(), "try_shrink_to_fit");
    ships.reset();
    require(ships.empty() && ships.stats().alive == 0, "reset");
}

void fill_pool() {
    handlepool::pool<int> full({.name = "full", .capacity = 2, .reuse_delay = 0, .slot_limit = 2});
    require(static_cast<bool>(full.try_emplace(1)), "try_emplace");
    std::vector<handlepool::handle<int>> made(2);
    require(!full.try_emplace_n(2, made.begin(), 7), "try_emplace_n without room");
    require(full.try_emplace_n(1, made.begin(), 7).has_value(), "try_emplace_n");
    require(!full.try_emplace(3), "try_emplace without room");
    require(!handlepool::pool<int>::validate({.capacity = 0}).empty(), "validate");
}

void use_raw_pool() {
    handlepool::raw_pool<> bytes({.name = "bytes", .capacity = 100}, {.size = 24, .alignment = 8});
    const auto handle = bytes.emplace();
    bytes.compact();
    require(bytes.items().size() == 1 && bytes.at(handle) == bytes.mutable_items()[0], "raw_pool");
    require(bytes.try_pin(handle).get() == bytes.find(handle), "raw_pool::try_pin");
    require(static_cast<bool>(bytes.try_emplace([](void*) {})), "raw_pool::try_emplace");
}

void use_columns() {
    struct position {
        float x;
    };
    struct health {
        int points;
    };
    using movers = handlepool::pool<handlepool::columns<position, health>>;
    movers pool({.name = "movers", .capacity = 100});
    const auto hurt = pool.emplace(health{-1}, position{2});
    const auto whole = pool.emplace_with([](auto) { return std::tuple(position{1}); });
    const auto late = pool.try_reserve_handle();
    require(pool.try_fulfill(late, position{3}) && !pool.cancel(late), "try_fulfill of a row");
    handlepool::thread_executor executor(2);
    pool.compact(executor);
    sort_by<position>(pool, &position::x);
    require(pool.handle_at(0) == whole && pool.handle_at(2) == late, "sort_by of a column");
    sort(
        pool,
        [](movers::const_reference a, movers::const_reference b) noexcept {
            return a.get<health>().points < b.get<health>().points;
        },
        executor);
    require(pool.handle_at(0) == hurt, "sort of rows");
    pool.for_each<position, const health>([](position& where, const health&) noexcept { where.x += 1; },
                                          executor);
    int sum = 0;
    for (const auto [where, left] : pool) {
        sum += static_cast<int>(where.x);
    }
    require(sum == 9, "iteration over rows");
    require(pool.erase(pool.revoke(hurt)) && !pool.find(hurt) && !pool.try_pin(hurt), "a stale row");
}

void use_time() {
    handlepool::pool<ship> ships({.name = "ships", .capacity = 10});
    handlepool::change_log log(ships);
    handlepool::capture_ring past(log, {.frames = 3});
    int score = 0;
    handlepool::world game({.frames = 2});
    game.add(past);
    game.add(score);
    const auto handle = ships.emplace(7);
    game.capture(1);
    log.edit(handle)->owner = 8;
    score = 1;
    game.capture(2);

    const auto records = log.changes_since(1);
    require(records && records->size() == 1 && records->front().edited.front().handle == handle,
            "changes_since");
    require(log.upload_ranges(1)->front() == handlepool::position_range{0, 1}, "upload_ranges");
    std::vector<std::byte> bytes;
    encode_record(records->front(), bytes);
    handlepool::frame_record<handlepool::handle<ship>> read;
    std::string error;
    require(handlepool::try_decode_record(bytes, read, error) && read == records->front(),
            "try_decode_record");
    bytes.pop_back();
    require(!handlepool::try_decode_record(bytes, read, error) && !error.empty(), "bytes that are no record");
    game.restore(1);
    require(ships.at(handle).owner == 7 && score == 0 && past.is_confirmed(handle), "restore");
}

void use_properties() {
    using namespace handlepool::property_literals;
    constexpr auto health = "stats"_key / "health";
    handlepool::key_table names;
    std::string error;
    auto sheet =
        handlepool::try_bag_from_json(R"({"stats": {"health": 10}, "name": "Anna"})", "", error, &names);
    require(sheet && static_cast<int>(sheet->at<float>(health)) == 10, "try_bag_from_json");
    require(!handlepool::try_bag_from_json("{\"a\": null}", "", error), "JSON that is no bag");
    const handlepool::property_bag before = *sheet;
    sheet->set("luck"_key, {0.5F, 1});
    sheet->set("awake"_key, true);
    require(sheet->try_set("name"_key, "Bert") && !sheet->try_set("name"_key, std::string(70'000, 'x')),
            "try_set");
    require(sheet->get<std::span<const float>>("luck"_key)->size() == 2 && !sheet->get<bool>("luck"_key),
            "get");
    handlepool::property_bag merged = before;
    merged.merge(diff(before, *sheet));
    require(merged == *sheet && merged.erase("awake"_key), "merge and diff");
    require(!handlepool::try_to_json(merged, error), "a path without a name");
    require(handlepool::try_to_json(before, error).has_value(), "try_to_json");
    const auto loaded = handlepool::property_bag::try_from_bytes(merged.bytes(), error);
    require(loaded && *loaded == merged && !describe(*loaded).empty(), "try_from_bytes");
    require(!handlepool::property_view::try_from_bytes(merged.bytes().first(9), error),
            "bytes that are no bag");
}

void use_snapshots() {
    const auto file = std::filesystem::temp_directory_path() / "handlepool_compiled.save";
    const std::vector<std::byte> bytes(1000, std::byte{7});
    handlepool::write_snapshot_file(file, bytes);
    require(handlepool::read_snapshot_file(file) == bytes, "read_snapshot_file");
    std::filesystem::remove(file);

    std::vector<std::byte> snapshot;
    handlepool::detail::snapshot_writer to(snapshot);
    to.begin_block(handlepool::detail::block_kind::value, 1, "score", 12);
    to.number(std::uint64_t{7});
    to.number(std::uint32_t{8});
    to.end_block();
    to.finish();
    const handlepool::detail::snapshot_blocks blocks(snapshot, "memory");
    handlepool::detail::block_reader from(*blocks.find("score"));
    require(from.number<std::uint64_t>() == 7 && from.number<std::uint32_t>() == 8, "snapshot_blocks");
    from.require_end();
}

void use_service() {
    std::string error;
    const auto limits =
        handlepool::try_parse_pool_limits(R"({"pools": {"ships": {"capacity": 50}}})", "", error);
    require(limits.has_value(), "try_parse_pool_limits");
    require(!handlepool::try_parse_pool_limits("{", "", error), "limits that are not JSON");
    require(!handlepool::try_read_pool_limits("/no/such/file", error), "limits that are not there");

    handlepool::service world({.limits = *limits});
    auto& ships = world.add<handlepool::pool<ship>>("ships");
    require(ships.capacity() == 50, "limits");
    require(world.try_add<handlepool::pool<ship>>("ships", {.capacity = 1}, error) == nullptr,
            "a name that is taken");
    require(world.try_add<handlepool::pool<int>>("more", {.capacity = 0}, error) == nullptr,
            "options that can't be");
    require(world.try_add<handlepool::raw_pool<>>("raw", {.capacity = 1}, error,
                                                  handlepool::raw_type{.size = 0}) == nullptr,
            "no type");
    require(world.try_add<handlepool::raw_pool<>>("raw", {.capacity = 1}, error,
                                                  handlepool::raw_type{.size = 3, .alignment = 1}) != nullptr,
            "try_add of a raw_pool");

    const handlepool::any_handle handle = ships.emplace(7);
    require(world.find<ship>(handle)->owner == 7 && world.find<int>(handle) == nullptr, "find");
    require(world.find_pool<handlepool::pool<ship>>("ships") == &ships &&
                world.find_pool<handlepool::pool<int>>("ships") == nullptr,
            "find_pool");
    handlepool::timeline records;
    handlepool::traced_executor<handlepool::inline_executor> executor(records);
    world.compact(executor);
    {
        const auto pinned = world.try_pin<ship>(handle);
        require(pinned && !world.try_compact(), "service::try_pin");
        require(static_cast<bool>(world.try_access()), "service::try_access");
    }
    require(world.try_compact().has_value(), "service::try_compact");
    require(world.try_shrink_to_fit().has_value() && world.shrink_to_fit().pools != 0,
            "service::shrink_to_fit");
    require(!to_table(world.stats()).empty() && !to_json(world.stats()).empty() &&
                !to_prometheus(world.stats()).empty() && !to_text(world.leaks()).empty(),
            "texts");
    std::ostringstream text;
    records.write(text);
    require(records.size() != 0 && !text.str().empty(), "timeline");
    require(static_cast<bool>(records.try_save("/no/such/folder/timeline.json")), "try_save");
    require(world.remove_pool("ships") && !world.contains(handle), "remove_pool");
}

#ifdef __cpp_exceptions
template <class Error, class Action>
void require_thrown(Action action, const char* what) {
    try {
        action();
    } catch (const Error&) {
        return;
    }
    require(false, what);
}

void meet_errors() {
    handlepool::pool<int> ints({.name = "ints", .capacity = 1, .slot_limit = 1});
    const auto handle = ints.emplace(1);
    require_thrown<handlepool::pool_exhausted>([&] { ints.emplace(2); }, "pool_exhausted");
    const auto guard = ints.access();
    require_thrown<handlepool::compaction_conflict>([&] { ints.compact(); }, "compaction_conflict");
    ints.erase(handle);
    require_thrown<handlepool::stale_handle>([&] { ints.at(handle); }, "stale_handle");
    require_thrown<std::invalid_argument>([] { handlepool::pool<int>({.capacity = 0}); }, "bad options");
}
#else
void meet_errors() {} // see without_exceptions.cpp
#endif

} // namespace

int main() {
    use_pool();
    fill_pool();
    use_raw_pool();
    use_columns();
    use_time();
    use_snapshots();
    use_service();
    use_properties();
    meet_errors();
}
