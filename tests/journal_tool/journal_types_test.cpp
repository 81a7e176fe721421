// SPDX-License-Identifier: MIT

// handlepool-journal diff --program --type: members that have their names by the debug information of a
// program.

#include "run_journal_tool.hpp"
#include "typed_program/ship.hpp"

#include <handlepool/columns.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/snapshots/snapshot_file.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <tests/support/scratch_directory.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <ios>
#include <iterator>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

/// The same program, compiled in several ways, and stripped.
std::string typed_program(const std::string& kind) {
    return support::paths::typed_programs + kind;
}

struct world_of_ships {
    world_of_ships() {
        all.add("ships", ships);
        all.add("winds", winds);
        all.add("rows", rows, named_column("x"), named_column("place"));
        all.add("depth", depth);
        all.add("name=value/number", number);
        winds.try_emplace(ships.emplace(game::ship{}), game::vec<float>{1, 2});
        rows.emplace(1.0F, game::vec<std::int8_t>{3, 4});
    }

    pool<game::ship> ships{{.name = "ships", .capacity = 10}};
    handle_map<game::ship, game::vec<float>> winds;
    pool<columns<float, game::vec<std::int8_t>>> rows{{.name = "rows", .capacity = 10}};
    game::hidden depth{.depth = 5};
    std::int32_t number = 1;
    snapshot all;
    game::ship* ship = nullptr;
};

struct journal_types : testing::Test {
    journal_types() { // each save counts compactions, and a load goes back
        world.all.save(begin);
        world.all.load(begin);
        save("one");
        world.all.load(begin);
        world.ships.for_each([this](game::ship& each) { world.ship = &each; });
    }

    std::string path(const char* name) const { return (directory.path() / name).string(); }
    void save(const char* name) {
        std::vector<std::byte> bytes;
        world.all.save(bytes);
        write_snapshot_file(path(name), bytes, {.sync = false});
    }

    printed diff(std::vector<std::string> options) {
        save("other");
        options.insert(options.begin(), {"diff", path("one"), path("other")});
        return run_journal_tool(std::move(options));
    }
    printed diff(const std::string& program, std::initializer_list<const char*> types) {
        std::vector<std::string> options{"--program", program, "--most", "100"};
        for (const char* each : types) {
            options.insert(options.end(), {"--type", each});
        }
        return diff(options);
    }
    printed differs(const std::vector<std::string>& lines) const {
        std::string text = fmt::format("{} / {}: {} {}\n", path("one"), path("other"), lines.size(),
                                       lines.size() == 1 ? "difference" : "differences");
        for (const std::string& each : lines) {
            text += fmt::format("  {}\n", each);
        }
        return {1, text};
    }
    static printed refused(const std::string& why) { return {2, "", "handlepool-journal: " + why + '\n'}; }

    support::scratch_directory directory;
    world_of_ships world;
    std::vector<std::byte> begin;
};

/// Of DWARF 4 and 5, without optimization and with.
struct journal_types_of : journal_types, testing::WithParamInterface<const char*> {
    printed diff(std::initializer_list<const char*> types) {
        return journal_types::diff(typed_program(GetParam()), types);
    }
};

INSTANTIATE_TEST_SUITE_P(debug_information, journal_types_of,
                         testing::Values("dwarf4_O0", "dwarf4_O2", "dwarf5_O0", "dwarf5_O2"),
                         [](const auto& program) { return std::string(program.param); });

TEST_P(journal_types_of, names_members_of_each_kind) {
    game::ship& ship = *world.ship;
    ship.number = 7;
    ship.position.y = 1.5F;
    ship.slots[3] = -2;
    ship.map[1][2] = 9;
    ship.speeds[1] = 0.25;
    ship.corners[1].y = -3;
    ship.now = game::order::attack;
    ship.shown = game::red;
    ship.is_armed = true;
    ship.letter = u'A';
    ship.leader = std::bit_cast<const game::ship*>(std::uintptr_t{0x10ab});
    ship.shield = 31;
    ship.heat = -32;
    ship.is_lit = true;
    ship.cargo = 2047;
    ship.drive.thrust = 2;
    ship.drive.burns = true;
    ship.box.weight = 65535;
    ship.target = std::bit_cast<handle<game::ship>>(std::uint64_t{0x1'0000'0003});
    ship.any.bytes[2] = 1;
    ship.any.bytes[3] = 2;
    ship.port.size = -1;
    reinterpret_cast<std::byte*>(&ship.wide)[3] = std::byte{5};
    ship.picture[4998] = 0xab;
    ship.picture[4999] = 0xcd;
    const std::string object = "ships #0 generation 1, ";
    EXPECT_EQ(diff({"ships=game::ship"}), differs({object + ".number: 0 / 7",
                                                   object + ".position.y: 0 / 1.5",
                                                   object + ".slots[3]: 0 / -2",
                                                   object + ".map[1][2]: 0 / 9",
                                                   object + ".speeds[1]: 0 / 0.25",
                                                   object + ".corners[1].y: 0 / -3",
                                                   object + ".now: 0 (wait) / 100 (attack)",
                                                   object + ".shown: 0 (green) / 200 (red)",
                                                   object + ".is_armed: false / true",
                                                   object + ".letter: 0 / 65",
                                                   object + ".leader: 0x0 / 0x10ab",
                                                   object + ".shield: 0 / 31",
                                                   object + ".heat: 0 / -32",
                                                   object + ".is_lit: false / true",
                                                   object + ".cargo: 0 / 2047",
                                                   object + ".drive.thrust: 0 / 2",
                                                   object + ".drive.burns: false / true",
                                                   object + ".box.weight: 0 / 65535",
                                                   object + ".target: 0 / 4294967299",
                                                   object + ".any, bytes 2 to 3: 00 00 / 01 02",
                                                   object + ".port.size: 0 / -1",
                                                   object + ".wide, byte 3: 00 / 05",
                                                   object + ".picture, bytes 4998 to 4999: 00 00 / ab cd"}));
}

TEST_P(journal_types_of, compares_no_padding) {
    reinterpret_cast<std::byte*>(&world.ship->drive)[sizeof(game::engine) - 1] = std::byte{1};
    EXPECT_EQ(diff({"ships=game::ship"}),
              (printed{0, path("one") + " and " + path("other") + " are the same\n"}));
}

TEST_P(journal_types_of, names_members_of_values_and_columns) {
    world.winds.for_each([](auto, game::vec<float>& wind) { wind.y = 3; });
    world.rows.for_each([](float, game::vec<std::int8_t>& place) { place.x = -1; });
    world.depth.depth = 6;
    EXPECT_EQ(diff({"winds=game::vec< float >", "rows/place=game::vec<signed char>", "depth=game::hidden"}),
              differs({"winds #0 generation 1, .y: 2 / 3", "rows #0 generation 1, column 'place' .x: 3 / -1",
                       "depth, .depth: 5 / 6"}));
}

TEST_P(journal_types_of, refuses_a_type_of_another_size_or_of_none) {
    const std::string program = typed_program(GetParam());
    world.depth.depth = 6;
    EXPECT_EQ(diff({"depth=game::vec<float>"}),
              refused("'depth' has 4 bytes, and type 'game::vec<float>' of program '" + program +
                      "' has 8: it is another type, or the program another version"));
    const std::string none = "the debug information of program '" + program + "' defines no type '";
    EXPECT_EQ(diff({"depth=ship"}), refused(none + "ship'; there is 'game::ship'"));
    EXPECT_EQ(diff({"depth=game::vec"}),
              refused(none + "game::vec'; there is 'game::vec<float>', 'game::vec<signed char>'"));
    for (const std::string type : {"game::shop", "game", "game::only_declared"}) {
        EXPECT_EQ(diff({("depth=" + type).c_str()}),
                  refused(none + type + "'; it is named with its namespaces, as game::ship"));
    }
}

TEST_F(journal_types, leaves_layouts_and_other_parts_as_they_are) {
    world.number = 2;
    world.ship->number = 7;
    EXPECT_EQ(diff(typed_program("dwarf5_O0"), {"name=value/number=game::hidden", "depth=game::hidden"}),
              differs({"ships #0 generation 1, byte 0: 00 / 07", "name=value/number, value: 1 / 2"}));
}

TEST_F(journal_types, refuses_options_that_are_wrong) {
    const std::string program = typed_program("dwarf5_O0");
    const std::string help = "\nRun with --help for more information.\n";
    EXPECT_EQ(diff(std::vector<std::string>{"--program", program}),
              (printed{2, "", "--program requires --type" + help}));
    EXPECT_EQ(diff(std::vector<std::string>{"--type", "ships=game::ship"}),
              (printed{2, "", "--type requires --program" + help}));
    for (const std::string wrong : {"ships", "=game::ship", "ships="}) {
        EXPECT_EQ(
            diff(program, {wrong.c_str()}),
            refused("--type '" + wrong +
                    "' must be PART=TYPE, as ships=game::ship, or PART/COLUMN=TYPE for a column of rows"));
    }
    EXPECT_EQ(diff(program, {"ships=game::ship", "ships=game::engine"}),
              refused("--type says twice what 'ships' is"));
    for (const std::string place : {"shipz", "shipsyard", "rowsx/place"}) {
        EXPECT_EQ(diff(program, {(place + "=game::ship").c_str()}),
                  refused("--type names '" + place +
                          "', and there is no such part; there are 'ships', 'winds', 'rows', 'depth', "
                          "'name=value/number'"));
    }
}

TEST_F(journal_types, refuses_programs_that_can_not_be_read) {
    const auto diff_by = [this](const std::string& program) { return diff(program, {"ships=game::ship"}); };
    EXPECT_EQ(diff_by(path("missing")),
              refused("program '" + path("missing") + "' can't be read: No such file or directory"));
    const std::string folder = directory.path().string();
    EXPECT_EQ(diff_by(folder), refused("program '" + folder + "' can't be read: Is a directory"));
    EXPECT_EQ(diff_by(path("one")), refused("'" + path("one") + "' is no program: it is not an ELF file"));
    const auto without = [](const std::string& program) {
        return refused("program '" + program +
                       "' has no debug information that can be read: it must be compiled with -g, and not be "
                       "stripped; or --program names the file that has what was stripped off");
    };
    EXPECT_EQ(diff_by(typed_program("stripped")), without(typed_program("stripped")));
    std::ofstream(path("begun"), std::ios::binary) << "\177ELF";
    EXPECT_EQ(diff_by(path("begun")), without(path("begun")));
}

TEST_F(journal_types, says_what_is_to_be_installed) {
    std::ofstream(path("libdw.so.1"), std::ios::binary) << "no library";
    save("other");
    const support::run_result result = support::run_program(
        {"env", "LD_LIBRARY_PATH=" + directory.path().string(), support::paths::journal_program, "diff",
         path("one"), path("other"), "--program", typed_program("dwarf5_O0"), "--type", "ships=game::ship"});
    EXPECT_EQ((printed{result.status, result.output, result.errors}),
              refused("--program needs elfutils' libdw, which can't be loaded: install libdw1 (Debian) or "
                      "elfutils-libs (Fedora)"));
}

/// Programs of which bytes are wrong end with an answer or a refusal, not with a signal.
TEST_F(journal_types, survives_debug_information_that_is_damaged) {
    std::ifstream in(typed_program("dwarf5_O0"), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    for (std::size_t i = 1; i != 40; ++i) {
        std::string damaged = whole;
        const std::size_t step = 97 + 10 * i;
        for (std::size_t at = 64 + i; at < damaged.size(); at += step) {
            damaged[at] = static_cast<char>(damaged[at] + static_cast<char>(i));
        }
        std::ofstream(path("damaged"), std::ios::binary) << damaged;
        const printed result = diff(path("damaged"), {"ships=game::ship"});
        EXPECT_TRUE(result.status >= 0 && result.status <= 2) << i << '\n' << result;
    }
}

} // namespace
} // namespace handlepool::test
