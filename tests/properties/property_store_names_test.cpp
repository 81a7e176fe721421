// SPDX-License-Identifier: MIT

// The names of paths in the file of a store: they travel with it, by choice, and whatever is wrong with them
// is refused.

#include "collisions.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/property_json.hpp>
#include <handlepool/property_store.hpp>

#include <boost/crc.hpp>
#include <gtest/gtest.h>
#include <tests/support/made_up.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/random.hpp>
#include <tests/support/scratch_directory.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::test {
namespace {

using namespace handlepool::property_literals;
using namespace std::string_literals;

using object_pool = pool<int>;
using object_handle = object_pool::handle_type;
using object_store = property_store<int>;

/// A store and what names its paths.
struct named_store {
    key_table names{};
    object_store bags{property_store_options{.slot_limit = 1000, .bytes = 100'000}};

    named_store() { bags.set_names(names); }
};

constexpr std::string_view first_sheet = R"({"name":"Anna","stats":{"health":7.0,"luck":[0.5]}})";
constexpr std::string_view second_sheet = R"({"a\nb":true,"stats":{"health":3.0}})";

void fill(named_store& store) {
    store.bags.assign(made_up(0), bag_from_json(first_sheet, "first", &store.names));
    store.bags.assign(made_up(7), bag_from_json(second_sheet, "second", &store.names));
}

std::string written(const object_store& bags, names_in_file names = names_in_file::included) {
    std::ostringstream out;
    bags.write(out, names);
    return out.str();
}

std::string file_of_two() {
    named_store store;
    fill(store);
    return written(store.bags);
}

std::span<const std::byte> bytes_in(const std::string& text) {
    return std::as_bytes(std::span(text));
}

std::string number(std::uint32_t value) {
    std::string text(sizeof value, '\0');
    std::memcpy(text.data(), &value, sizeof value);
    return text;
}

/// With another checksum, that of the bytes before it.
std::string signed_again(std::string bytes) {
    boost::crc_32_type checksum;
    checksum.process_bytes(bytes.data(), bytes.size() - 4);
    return bytes.replace(bytes.size() - 4, 4, number(checksum.checksum()));
}

/// Why the bytes are refused. They must be, and neither the bags nor their names may change.
std::string refusal_of_file(const std::string& bytes) {
    named_store store;
    store.bags.set(made_up(3), store.names.add({"kept"}), 1);
    std::string error;
    EXPECT_FALSE(store.bags.try_read(bytes_in(bytes), error, "file"));
    EXPECT_THROW(store.bags.read(bytes_in(bytes)), invalid_bag);
    EXPECT_EQ(store.bags.size(), 1U);
    EXPECT_EQ(store.names.size(), 1U);
    return error;
}

TEST(property_store_names_test, travel_with_the_file) {
    named_store loaded;
    EXPECT_EQ(loaded.bags.read(bytes_in(file_of_two())), 2U);
    EXPECT_EQ(to_json(loaded.bags.view(made_up(0)), -1), first_sheet);
    EXPECT_EQ(to_json(loaded.bags.view(made_up(7)), -1), second_sheet);
    EXPECT_EQ(loaded.names.size(), 4U) << "each once";
    EXPECT_EQ(written(loaded.bags), file_of_two());
}

TEST(property_store_names_test, are_left_out_where_nobody_asks_for_them) {
    named_store store;
    fill(store);
    const std::string without = written(store.bags, names_in_file::left_out);
    EXPECT_EQ(without.find("health"), std::string::npos);
    named_store loaded;
    EXPECT_EQ(loaded.bags.read(bytes_in(without)), 2U);
    EXPECT_EQ(loaded.names.size(), 0U);
    std::string error;
    EXPECT_FALSE(try_to_json(loaded.bags.view(made_up(7)), error));
    std::string with_none = without;
    with_none.replace(8, 4, number(2)).insert(with_none.size() - 4, number(0));
    EXPECT_EQ(written(loaded.bags), signed_again(with_none));
}

// Written before there were names in files.
TEST(property_store_names_test, files_of_the_former_format_are_read_and_written_as_before) {
    constexpr std::array<unsigned char, 56> former{
        'h',  'p',  ' ',  'b',  'a',  'g',  's',  '\n',                         //
        0x01, 0x00, 0x00, 0x00,                                                 // format
        0x20, 0x16, 0x0a, 0x00,                                                 // layout
        0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,                         // bags
        0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x40, 0x00,                         // handle
        0x01, 0xba, 0x01, 0x00, 0x00, 0x00, 0x05, 0x00,                         // the bag's header
        0x8f, 0xa4, 0xb1, 0x64, 0x00, 0x00, 0x80, 0x3f, 0x02, 0x00, 0x00, 0x00, // path, value and kind
        0x5c, 0x1f, 0xb0, 0x93,                                                 // checksum
    };
    const std::string bytes(former.begin(), former.end());
    object_store store;
    EXPECT_EQ(store.read(bytes_in(bytes)), 1U);
    EXPECT_EQ(written(store, names_in_file::left_out), bytes);
}

TEST(property_store_names_test, files_are_saved_with_them) {
    const support::scratch_directory directory;
    const std::filesystem::path file = directory.path() / "bags";
    named_store store;
    fill(store);
    store.bags.save(file, names_in_file::included);
    EXPECT_EQ(std::filesystem::file_size(file), file_of_two().size());
    named_store loaded;
    EXPECT_EQ(loaded.bags.load(file), 2U);
    EXPECT_EQ(to_json(loaded.bags.view(made_up(0)), -1), first_sheet);
    EXPECT_EQ(store.bags.try_save(file), std::error_code());
    EXPECT_EQ(std::filesystem::file_size(file), written(store.bags, names_in_file::left_out).size());
}

TEST(property_store_names_test, are_those_of_the_paths_that_a_bag_has_and_the_table_knows) {
    named_store store;
    store.names.add({"unused"});
    store.bags.set(made_up(0), "unnamed"_key, 1);
    store.bags.set(made_up(1), store.names.add({"named"}), 1);
    store.bags.set(made_up(2), store.names.add({"erased"}), 1);
    store.bags.erase(made_up(2));
    named_store loaded;
    EXPECT_EQ(loaded.bags.read(bytes_in(written(store.bags))), 2U);
    EXPECT_EQ(loaded.names.size(), 1U);
    EXPECT_EQ(name_of("named"_key, &loaded.names), "\"named\"");
}

TEST(property_store_names_test, without_a_table_there_are_none_and_none_are_kept) {
    named_store store;
    fill(store);
    object_store without;
    EXPECT_EQ(without.read(bytes_in(file_of_two())), 2U);
    EXPECT_EQ(without.names(), nullptr);
    named_store loaded;
    EXPECT_EQ(loaded.bags.read(bytes_in(written(without))), 2U);
    EXPECT_EQ(loaded.names.size(), 0U);
    EXPECT_EQ(written(loaded.bags, names_in_file::left_out), written(store.bags, names_in_file::left_out));
}

TEST(property_store_names_test, any_bytes_are_a_key) {
    named_store store;
    const std::string long_key(100'000, 'k');
    const std::array<std::string_view, 4> keys{"", std::string_view("\0", 1), "\xff\n", long_key};
    store.bags.set(made_up(0), store.names.add(keys), 1);
    named_store loaded;
    EXPECT_EQ(loaded.bags.read(bytes_in(written(store.bags))), 1U);
    const property_hash path = (*loaded.bags.view(made_up(0)).begin()).hash();
    EXPECT_EQ(loaded.names.keys_of(path), std::vector<std::string>(keys.begin(), keys.end()));
}

TEST(property_store_names_test, a_table_that_knows_another_path_of_the_hash_refuses_them) {
    named_store store;
    store.bags.set(made_up(0), store.names.add({colliding_keys[0]}), 1);
    const std::string bytes = written(store.bags);
    named_store loaded;
    loaded.names.add({colliding_keys[1]});
    loaded.bags.set(made_up(3), "kept"_key, 1);
    const std::string expected =
        "\"key 160574\" and \"key 108735\" have the same hash e34df3a2 in bags; another "
        "name for one of their keys gives another hash";
    EXPECT_EQ(message_of<path_collision>([&] { loaded.bags.read(bytes_in(bytes)); }), expected);
    EXPECT_EQ(loaded.bags.size(), 1U);
    EXPECT_TRUE(loaded.bags.view(made_up(3)).contains("kept"_key)) << "nothing has changed";
    EXPECT_EQ(loaded.names.size(), 2U);
}

TEST(property_store_names_test, are_known_also_of_bags_that_are_left_out) {
    object_pool pool({.name = "objects", .capacity = 10});
    const auto living = pool.emplace(1);
    named_store store;
    store.bags.attach(pool);
    const auto owner_now = [&](object_handle before) {
        return before == made_up(0) ? living : object_handle();
    };
    EXPECT_EQ(store.bags.read(bytes_in(file_of_two()), "file", owner_now), 1U);
    EXPECT_EQ(to_json(store.bags.view(living), -1), first_sheet);
    EXPECT_EQ(store.names.size(), 4U);
}

// ---- What is wrong with them

TEST(property_store_names_test, each_changed_byte_is_noticed) {
    const std::string bytes = file_of_two();
    for (std::size_t i = 0; i != bytes.size(); ++i) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ 0x10);
        EXPECT_NE(refusal_of_file(changed), "") << "byte " << i;
    }
}

TEST(property_store_names_test, each_cut_is_noticed_whatever_the_checksum) {
    const std::string bytes = file_of_two();
    for (std::size_t size = 4; size != bytes.size(); ++size) {
        const std::string cut = bytes.substr(0, size);
        EXPECT_NE(refusal_of_file(cut), "") << size << " bytes";
        EXPECT_NE(refusal_of_file(signed_again(cut)), "") << size << " bytes";
    }
}

/// The file of a bag with these names, or whatever they are.
std::string file_with(const std::string& names, std::initializer_list<property_path> paths) {
    object_store bags;
    for (const property_path path : paths) {
        bags.set(made_up(0), path, 1);
    }
    std::string bytes = written(bags);
    return signed_again(bytes.substr(0, bytes.size() - 8) + names + number(0));
}

/// "a name that ..., byte N of the names".
std::string refusal_of_names(const std::string& names,
                             std::initializer_list<property_path> paths = {"a"_key}) {
    const std::size_t begin = file_with("", paths).size() - 4;
    const std::string refusal = refusal_of_file(file_with(names, paths));
    const std::string expected_begin = "file, byte ";
    EXPECT_EQ(refusal.substr(0, expected_begin.size()), expected_begin);
    const std::size_t colon = refusal.find(": ");
    const std::size_t offset = std::stoul(refusal.substr(expected_begin.size(), colon));
    return std::to_string(offset - begin) + refusal.substr(colon);
}

std::string name_with(std::initializer_list<std::string_view> keys) {
    std::string name = number(static_cast<std::uint32_t>(keys.size()));
    for (const std::string_view key : keys) {
        name += number(static_cast<std::uint32_t>(key.size()));
        name += key;
    }
    return name;
}

TEST(property_store_names_test, messages_say_what_is_wrong_and_where) {
    const std::string a = name_with({"a"});
    {
        named_store sound;
        EXPECT_EQ(sound.bags.read(bytes_in(file_with(number(1) + a, {"a"_key}))), 1U);
        EXPECT_EQ(name_of("a"_key, &sound.names), "\"a\"");
    }
    EXPECT_EQ(refusal_of_names(""), "0: the number of names is cut off");
    EXPECT_EQ(refusal_of_names("\x01\x02\x03"), "0: the number of names is cut off");
    EXPECT_EQ(refusal_of_names(number(0) + "x"), "4: something comes after the last name");
    EXPECT_EQ(refusal_of_names(number(1)), "4: a name is cut off");
    EXPECT_EQ(refusal_of_names(number(2) + a), "13: a name is cut off");
    EXPECT_EQ(refusal_of_names(number(0xffff'ffff) + a), "13: a name is cut off");
    EXPECT_EQ(refusal_of_names(number(1) + number(0)), "4: a name has no keys");
    EXPECT_EQ(refusal_of_names(number(1) + number(2) + a.substr(4)), "4: a name is cut off");
    EXPECT_EQ(refusal_of_names(number(1) + number(0xffff'ffff) + a), "4: a name is cut off");
    EXPECT_EQ(refusal_of_names(number(1) + number(1) + number(2) + "a"), "4: a name is cut off");
    EXPECT_EQ(refusal_of_names(number(1) + number(1) + number(0xffff'ffff) + "a"), "4: a name is cut off");
    EXPECT_EQ(refusal_of_names(number(2) + a + a), "13: the names don't ascend");
    EXPECT_EQ(refusal_of_names(number(1) + name_with({"b"})), "4: a name is that of a path which no bag has");
    EXPECT_EQ(refusal_of_names(number(1) + name_with({"a", ""})),
              "4: a name is that of a path which no bag has");

    const std::string b = name_with({"b"});
    const bool a_is_lower = "a"_key.hash() < "b"_key.hash();
    EXPECT_EQ(refusal_of_names(number(2) + (a_is_lower ? b + a : a + b), {"a"_key, "b"_key}),
              "13: the names don't ascend");
    EXPECT_EQ(refusal_of_names(number(2) + name_with({colliding_keys[0]}) + name_with({colliding_keys[1]}),
                               {property_path(colliding_keys[0])}),
              std::to_string(4 + name_with({colliding_keys[0]}).size()) + ": two names have the same hash");
}

TEST(property_store_names_test, random_bytes_are_refused_or_work) {
    random_source random;
    const std::string bytes = file_of_two();
    const std::size_t names = bytes.find("health") - 40;
    int taken = 0;
    for (int round = 0; round != 5000; ++round) {
        std::string changed = bytes;
        changed[names + random.below(changed.size() - 4 - names)] = static_cast<char>(random.below(256));
        changed = signed_again(changed);
        named_store store;
        std::string error;
        if (store.bags.try_read(bytes_in(changed), error)) {
            ++taken;
            EXPECT_EQ(written(store.bags), changed) << "there is one way to write what was read";
        } else {
            EXPECT_EQ(store.names.size(), 0U);
        }
    }
    EXPECT_GT(taken, 10);
}

} // namespace
} // namespace handlepool::test
