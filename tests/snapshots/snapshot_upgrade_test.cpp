// SPDX-License-Identifier: MIT

// Objects of older versions, which become those of today.

#include <handlepool/columns.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/snapshots/made_snapshot.hpp>
#include <tests/support/message_of.hpp>

#include <cstddef>
#include <cstdint>
#include <istream>
#include <iterator>
#include <memory>
#include <new>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;

/// A ship of three years, the last of which is more than its bytes, and can't be made of nothing.
struct ship_of_spring {
    float x;
};
struct ship_of_summer {
    static constexpr std::uint32_t snapshot_version = 1;
    explicit ship_of_summer(float at, int plates) : x(at), hull(plates) {} // has no default
    float x;
    int hull;
};
struct ship_of_autumn {
    ship_of_autumn(double at, std::string plates) : x(at), hull(std::move(plates)) {}
    double x;
    std::string hull;
};
struct autumn_archive {
    void save(std::ostream& out, const ship_of_autumn& saved) const { out << saved.x << saved.hull; }
    ship_of_autumn load(std::istream& in) const {
        double x = 0;
        in >> x;
        return ship_of_autumn(x, std::string(std::istreambuf_iterator<char>(in), {}));
    }
};
/// Sinks with a story: how many there are is counted.
class ship_of_today {
public:
    static constexpr std::uint32_t snapshot_version = 3;
    ship_of_today(double at, const std::string& plates) : x(at), hull(std::make_unique<std::string>(plates)) {
        ++living;
    }
    ship_of_today(ship_of_today&& other) noexcept : x(other.x), hull(std::move(other.hull)) { ++living; }
    ship_of_today& operator=(ship_of_today&&) noexcept = default;
    ~ship_of_today() { --living; }

    static inline int living = 0;
    double x;
    std::unique_ptr<std::string> hull;
};
struct today_archive {
    void save(std::ostream& out, const ship_of_today& saved) const { out << saved.x << *saved.hull; }
    ship_of_today load(std::istream& in) const {
        double x = 0;
        in >> x;
        return {x, std::string(std::istreambuf_iterator<char>(in), {})};
    }
};

struct ship_of_winter {
    static constexpr std::uint32_t snapshot_version = 2;
    double x;
};
struct turned_point {
    static constexpr std::string_view snapshot_layout = "y:f32 x:f32";
    float y;
    float x;
};
struct right_point {
    static constexpr std::string_view snapshot_layout = "x:f32 y:f32";
    float x;
    float y;
};

auto summer_of_spring() {
    return upgrade<ship_of_spring, ship_of_summer>(
        [](const ship_of_spring& old) { return ship_of_summer(old.x, 100); });
}
auto autumn_of_summer() {
    return upgrade<ship_of_summer, ship_of_autumn>([](const ship_of_summer& old) {
        if (old.hull < 0) {
            throw std::runtime_error("it has sunk");
        }
        return ship_of_autumn(old.x, " of " + std::to_string(old.hull));
    });
}
auto today_of_autumn() {
    return upgrade<ship_of_autumn, ship_of_today>(
        [](ship_of_autumn&& old) { return ship_of_today(old.x, std::move(old.hull)); }, autumn_archive());
}

pool_options fleet() {
    return {.name = "fleet", .capacity = 100, .pool_id = 921};
}

/// A snapshot of three ships, of which the second one has ended.
template <class Ship, class... Archive>
snapshot_bytes saved_ships(auto make, const Archive&... archive) {
    pool<Ship> ships(fleet());
    snapshot all;
    all.add("fleet", ships, archive...);
    ships.emplace(make(1));
    const auto second = ships.emplace(make(2));
    ships.emplace(make(3));
    ships.erase(second);
    snapshot_bytes bytes;
    all.save(bytes);
    return bytes;
}
snapshot_bytes ships_of_spring() {
    return saved_ships<ship_of_spring>([](int i) { return ship_of_spring{static_cast<float>(i)}; });
}
snapshot_bytes ships_of_summer(int sunk = 0) {
    return saved_ships<ship_of_summer>(
        [sunk](int i) { return ship_of_summer(static_cast<float>(i), i == sunk ? -1 : 10 * i); });
}
snapshot_bytes ships_of_autumn() {
    return saved_ships<ship_of_autumn>([](int i) { return ship_of_autumn(i, " in " + std::to_string(i)); },
                                       autumn_archive());
}

/// One ship, and a snapshot that knows all versions.
class fleet_of_today {
public:
    fleet_of_today() {
        all.add("fleet", ships, today_archive(), summer_of_spring(), autumn_of_summer(), today_of_autumn());
        ships.emplace(ship_of_today(9, " of today"));
        ships.compact();
    }
    ~fleet_of_today() {
        ships.clear();
        ships.compact();
        EXPECT_EQ(ship_of_today::living, 0);
    }

    std::vector<std::string> stories() {
        std::vector<std::string> told;
        ships.for_each([&told](const ship_of_today& each) {
            told.push_back(std::to_string(static_cast<int>(each.x)) + *each.hull);
        });
        return told;
    }
    std::string refusal(const snapshot_bytes& bytes) {
        const std::string refusal = message_of<invalid_snapshot>([&] { all.load(bytes, "game"); });
        expect_as_made();
        return refusal;
    }
    void expect_as_made() {
        EXPECT_THAT(stories(), ElementsAre("9 of today"));
        EXPECT_EQ(ship_of_today::living, 1);
    }

    pool<ship_of_today> ships{fleet()};
    snapshot all;
};

TEST(snapshot_upgrade, leads_from_each_version_to_that_of_today) {
    const snapshot_bytes spring = ships_of_spring();
    const snapshot_bytes summer = ships_of_summer();
    const snapshot_bytes autumn = ships_of_autumn();
    fleet_of_today fleet;
    snapshot_bytes today;
    fleet.all.save(today);
    fleet.all.load(spring);
    EXPECT_THAT(fleet.stories(), ElementsAre("1 of 100", "3 of 100"));
    EXPECT_EQ(ship_of_today::living, 2);
    fleet.all.load(summer);
    EXPECT_THAT(fleet.stories(), ElementsAre("1 of 10", "3 of 30"));
    fleet.all.load(autumn);
    EXPECT_THAT(fleet.stories(), ElementsAre("1 in 1", "3 in 3"));
    fleet.all.load(today);
    fleet.expect_as_made();
}

// Handles are those of the older file.
TEST(snapshot_upgrade, keeps_handles) {
    const snapshot_bytes spring = ships_of_spring();
    std::vector<std::uint64_t> before;
    {
        pool<ship_of_spring> ships(fleet());
        snapshot all;
        all.add("fleet", ships);
        all.load(spring);
        for (const auto& each : ships.entries()) {
            before.push_back(each.handle.value());
        }
        before.push_back(ships.emplace(ship_of_spring{4}).value());
    }
    fleet_of_today fleet;
    fleet.all.load(spring);
    std::vector<std::uint64_t> after;
    for (const auto& each : fleet.ships.entries()) {
        after.push_back(each.handle.value());
    }
    after.push_back(fleet.ships.emplace(ship_of_today(4, "")).value());
    EXPECT_EQ(after, before);
    EXPECT_EQ(after.size(), 3U);
}

TEST(snapshot_upgrade, that_fails_changes_nothing) {
    const snapshot_bytes sunk = ships_of_summer(3);
    fleet_of_today fleet;
    EXPECT_EQ(fleet.refusal(sunk),
              "snapshot 'game', byte 200, block 'fleet': object 1 can't be upgraded: it has sunk");
}

TEST(snapshot_upgrade, of_an_archive_that_fails_changes_nothing) {
    const snapshot_bytes autumn = ships_of_autumn();
    pool<std::uint64_t> ships(fleet());
    snapshot all;
    all.add("fleet", ships,
            upgrade<ship_of_autumn, std::uint64_t>(
                [](const ship_of_autumn& old) -> std::uint64_t {
                    if (old.x > 2) {
                        throw std::invalid_argument("it is too far away");
                    }
                    return 1;
                },
                autumn_archive()));
    const auto here = ships.emplace(7U);
    EXPECT_EQ(message_of<invalid_snapshot>([&] { all.load(autumn, "game"); }),
              "snapshot 'game', byte 214, block 'fleet': object 1 can't be upgraded: it is too far away");
    EXPECT_EQ(*ships.find(here), 7U);
}

TEST(snapshot_upgrade, errors_that_are_no_fault_of_the_file_stay_what_they_are) {
    struct unknown_error {};
    const snapshot_bytes spring = ships_of_spring();
    pool<std::uint64_t> ships(fleet());
    int errors = 0;
    snapshot all;
    all.add("fleet", ships,
            upgrade<ship_of_spring, std::uint64_t>([&errors](ship_of_spring) -> std::uint64_t {
                if (errors++ == 0) {
                    throw std::bad_alloc();
                }
                throw unknown_error();
            }));
    EXPECT_THROW(all.load(spring), std::bad_alloc);
    EXPECT_THROW(all.load(spring), unknown_error);
    EXPECT_EQ(ships.size(), 0U);
}

TEST(snapshot_upgrade, is_missing_for_some_versions) {
    const snapshot_bytes winter = saved_ships<ship_of_winter>([](int i) { return ship_of_winter{i * 1.0}; });
    fleet_of_today fleet;
    EXPECT_EQ(
        fleet.refusal(winter),
        "snapshot 'game', byte 152, block 'fleet': the type of objects has 8 bytes, alignment 8, version "
        "2; here it has an archive, version 3; there is an upgrade of 4 bytes, alignment 4, version 0; "
        "there is an upgrade of 8 bytes, alignment 4, version 1; there is an upgrade of an archive, "
        "version 0");
}

TEST(snapshot_upgrade, makes_values_of_older_ones) {
    snapshot_bytes of_spring;
    snapshot_bytes of_autumn;
    {
        const ship_of_spring spring{7};
        ship_of_spring copy = spring;
        snapshot all;
        all.add("flagship", copy);
        all.save(of_spring);
        ship_of_autumn autumn(8, " of gold");
        snapshot other;
        other.add("flagship", autumn, autumn_archive());
        other.save(of_autumn);
    }
    ship_of_today flagship(9, " of today");
    snapshot all;
    all.add("flagship", flagship, today_archive(), summer_of_spring(), autumn_of_summer(), today_of_autumn());
    all.load(of_spring);
    EXPECT_EQ(*flagship.hull, " of 100");
    all.load(of_autumn);
    EXPECT_EQ(*flagship.hull, " of gold");
    EXPECT_EQ(flagship.x, 8);
    int points = 0;
    snapshot bytes_only;
    bytes_only.add("flagship", points,
                   upgrade<ship_of_spring, int>([](ship_of_spring old) { return static_cast<int>(old.x); }));
    bytes_only.load(of_spring);
    EXPECT_EQ(points, 7);
    snapshot_bytes of_points;
    bytes_only.save(of_points);
    points = 0;
    bytes_only.load(of_points);
    EXPECT_EQ(points, 7);
}

TEST(snapshot_upgrade, makes_columns_of_older_ones) {
    const pool_options options{.name = "movers", .capacity = 100, .pool_id = 922};
    snapshot_bytes bytes;
    {
        pool<columns<float, int>> movers(options);
        snapshot all;
        all.add("movers", movers, named_column("x"), named_column("hull"));
        movers.emplace(1.5F, 20);
        movers.emplace(2.5F, -1);
        all.save(bytes);
    }
    pool<columns<std::string, double>> movers(options);
    struct string_archive {
        void save(std::ostream& out, const std::string& saved) const { out << saved; }
        std::string load(std::istream& in) const { return {std::istreambuf_iterator<char>(in), {}}; }
    };
    const auto hull = upgrade<int, std::string>([](int old) { return std::to_string(old); });
    const auto x = upgrade<float, double>([](float old) { return old * 2.0; });
    {
        snapshot all;
        all.add("movers", movers, named_column("hull", string_archive(), hull), named_column("x", x));
        all.load(bytes);
        EXPECT_THAT(movers.items<std::string>(), ElementsAre("20", "-1"));
        EXPECT_THAT(movers.items<double>(), ElementsAre(3, 5));
        snapshot_bytes newer;
        all.save(newer);
        movers.clear();
        all.load(newer);
        EXPECT_THAT(movers.items<std::string>(), ElementsAre("20", "-1"));
        EXPECT_THAT(movers.items<double>(), ElementsAre(3, 5));
    }
    const auto picky = upgrade<int, std::string>([](int old) {
        if (old < 0) {
            throw std::runtime_error("it has sunk");
        }
        return std::string();
    });
    snapshot all;
    all.add("movers", movers, named_column("hull", string_archive(), picky), named_column("x", x));
    EXPECT_EQ(message_of<invalid_snapshot>([&] { all.load(bytes, "game"); }),
              "snapshot 'game', byte 247, block 'movers': object 1 of column 'hull' can't be upgraded: it "
              "has sunk");
    EXPECT_THAT(movers.items<std::string>(), ElementsAre("20", "-1"));
}

TEST(snapshot_upgrade, can_go_by_a_layout_alone) {
    turned_point old{1, 2};
    snapshot_bytes bytes;
    snapshot before;
    before.add("home", old);
    before.save(bytes);
    right_point home{};
    snapshot all;
    all.add("home", home, upgrade<turned_point, right_point>([](const turned_point& was) {
                return right_point{was.x, was.y};
            }));
    all.load(bytes);
    EXPECT_EQ(home.x, 2);
    EXPECT_EQ(home.y, 1);
}

TEST(snapshot_upgrade, works_at_places_that_stay) {
    const pool_options options{.name = "towers", .capacity = 100, .pool_id = 923};
    snapshot_bytes bytes;
    {
        stable_pool<int> towers(options);
        snapshot all;
        all.add("towers", towers);
        towers.emplace(1);
        const auto gone = towers.emplace(2);
        towers.emplace(3);
        towers.compact();
        towers.erase(gone);
        all.save(bytes);
    }
    stable_pool<double> towers(options);
    snapshot all;
    all.add("towers", towers, upgrade<int, double>([](int old) { return old / 2.0; }));
    all.load(bytes);
    std::vector<double> heights;
    towers.for_each([&heights](double each) { heights.push_back(each); });
    EXPECT_THAT(heights, ElementsAre(0.5, 1.5));
}

/// Each bit of an older payload, with the right hash.
TEST(snapshot_upgrade, takes_no_payload_for_right_that_is_not) {
    const snapshot_bytes spring = ships_of_spring();
    const snapshot_bytes autumn = ships_of_autumn();
    fleet_of_today fleet;
    snapshot_bytes today;
    fleet.all.save(today);
    std::size_t refused = 0;
    std::size_t taken = 0;
    for (const snapshot_bytes& good : {spring, autumn}) {
        const detail::snapshot_blocks blocks(good, "good");
        const detail::snapshot_block& block = blocks.all()[0];
        for (std::size_t bit = 0; bit != 8 * block.payload.size(); ++bit) {
            snapshot_bytes bytes = good;
            bytes[block.offset + bit / 8] ^= std::byte{1} << (bit % 8);
            put_hash(bytes, block.offset + (block.payload.size() + 7) / 8 * 8,
                     std::span(bytes).subspan(block.offset, block.payload.size()));
            try {
                fleet.all.load(bytes);
                ++taken;
                ASSERT_EQ(fleet.ships.size(), 2U);
                fleet.all.load(today);
            } catch (const invalid_snapshot&) {
                ++refused;
            }
            ASSERT_NO_FATAL_FAILURE(fleet.expect_as_made());
        }
    }
    EXPECT_GT(refused, 1000U);
    EXPECT_GT(taken, 0U);
}

} // namespace
} // namespace handlepool::test
