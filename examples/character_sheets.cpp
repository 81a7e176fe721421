// SPDX-License-Identifier: MIT

// Character sheets of a game: values of objects, in one buffer each. Read from JSON, changed while playing,
// merged with what another player has changed meanwhile, saved, and loaded again.
//
//     character_sheets [FILE]    saves to FILE too, and loads it

#include <handlepool/pool.hpp>
#include <handlepool/property_json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <ios>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace handlepool::property_literals;
using handlepool::property_bag;

struct character {
    property_bag sheet;
};

constexpr std::string_view anna = R"({
    "name": "Anna",
    "stats": {"health": 10, "luck": [0.5, 0.25]},
    "awake": true
})";

// Hashed by the compiler.
constexpr auto name = "name"_key;
constexpr auto health = "stats"_key / "health";
constexpr auto mana = "stats"_key / "mana";
constexpr auto luck = "stats"_key / "luck";

void hit(character& target, float damage) {
    const float left = target.sheet.value_or(health, 0.0F) - damage;
    target.sheet.set(health, std::max(left, 0.0F));
    if (left <= 0) {
        target.sheet.set("awake"_key, false);
    }
}

void save(const std::string& file, const property_bag& sheet) {
    const std::span bytes = sheet.bytes();
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    out.flush();
    if (!out) {
        throw std::runtime_error(fmt::format("{} cannot be written", file));
    }
}

/// Throws handlepool::invalid_bag, which names the file, if it is not a sheet.
property_bag load(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> bytes(std::istreambuf_iterator<char>(in), {});
    return property_bag::from_bytes(std::as_bytes(std::span(bytes)), file);
}

} // namespace

int main(int count, char** arguments) try {
    handlepool::key_table keys; // so that paths have names in texts
    keys.add({"stats", "mana"});

    handlepool::pool<character> characters({.name = "characters", .capacity = 1000});
    const auto player = characters.insert({handlepool::bag_from_json(anna, "anna", &keys)});
    const auto shadow = characters.insert({characters.at(player).sheet}); // a sheet of its own

    // Two players change their copies of one sheet, and exchange the differences.
    const property_bag before = characters.at(player).sheet;
    hit(characters.at(player), 3);
    property_bag& other = characters.at(shadow).sheet;
    other.set(name, "Anna the Brave");
    other.set(mana, 5);
    other.erase(luck);
    const property_bag change = handlepool::diff(before, other);
    fmt::print("the change has {} bytes:\n{}", change.bytes().size(), describe(change));

    property_bag& sheet = characters.at(player).sheet;
    sheet.merge(change);
    fmt::print("merged:\n{}\n", handlepool::to_json(sheet));

    // The buffer is what is saved.
    sheet.shrink_to_fit();
    property_bag loaded = property_bag::from_bytes(sheet.bytes());
    if (count > 1) {
        save(arguments[1], sheet);
        loaded = load(arguments[1]);
    }
    fmt::print("{} with {} of health, in {} bytes, is {}\n", loaded.at<std::string_view>(name),
               loaded.at<float>(health), loaded.capacity(), loaded == sheet ? "as before" : "another");
    return loaded == sheet ? 0 : 1;
} catch (const std::exception& error) {
    fmt::print(stderr, "character_sheets: {}\n", error.what());
    return 2;
}
