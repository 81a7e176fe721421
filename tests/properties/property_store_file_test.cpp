// SPDX-License-Identifier: MIT

// A store in a file: what was written is read, and whatever else is refused.

#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>

#include <boost/crc.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/made_up.hpp>
#include <tests/support/random.hpp>
#include <tests/support/scratch_directory.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#if !defined(_WIN32)
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#endif

namespace handlepool::test {
namespace {

using namespace handlepool::property_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

using object_pool = pool<int>;
using object_handle = object_pool::handle_type;
using object_store = property_store<int>;

object_store three_bags() {
    object_store store;
    store.set(made_up(0), "name"_key, "first");
    store.set(made_up(7, 5), "numbers"_key, {1.0F, 2.0F, 3.0F});
    store.set(made_up(7, 5), "value"_key, 4);
    store.set(made_up(9), "flag"_key, true);
    return store;
}

template <class Store>
std::string bytes_of(const Store& store) {
    std::ostringstream out;
    store.write(out);
    return out.str();
}

std::span<const std::byte> as_bytes(const std::string& bytes) {
    return std::as_bytes(std::span(bytes));
}

void expect_same(const object_store& one, const object_store& other) {
    EXPECT_EQ(one.size(), other.size());
    one.for_each([&](object_handle each, property_view bag) {
        EXPECT_TRUE(other.contains(each));
        EXPECT_EQ(other.view(each), bag);
    });
}

/// The checksum that belongs to these bytes.
void sign(std::string& bytes) {
    boost::crc_32_type checksum;
    checksum.process_bytes(bytes.data(), bytes.size() - 4);
    const std::uint32_t value = checksum.checksum();
    std::memcpy(bytes.data() + bytes.size() - 4, &value, sizeof value);
}

/// Why the bytes are refused. They must be, and nothing may change.
template <class Store = object_store>
std::string refusal(const std::string& bytes) {
    Store store;
    store.set(made_up<typename Store::handle_type>(3), "kept"_key, 1);
    std::string error;
    EXPECT_FALSE(store.try_read(as_bytes(bytes), error, "file"));
    EXPECT_THAT(error, StartsWith("file, byte "));
    EXPECT_THROW(store.read(as_bytes(bytes)), invalid_bag);
    EXPECT_EQ(store.size(), 1U);
    return error;
}

TEST(property_store_file_test, what_was_written_is_read) {
    const object_store store = three_bags();
    const std::string bytes = bytes_of(store);
    object_store other;
    other.set(made_up(100), "replaced"_key, 1);
    EXPECT_EQ(other.read(as_bytes(bytes)), 3U);
    expect_same(store, other);
    EXPECT_EQ(bytes_of(other), bytes);
    EXPECT_TRUE(other.set(made_up(9), "flag"_key, false)) << "and goes on";
    EXPECT_EQ(object_store().read(as_bytes(bytes_of(object_store()))), 0U);
}

TEST(property_store_file_test, is_read_at_any_address) {
    const std::string bytes = "x" + bytes_of(three_bags());
    object_store store;
    EXPECT_EQ(store.read(as_bytes(bytes).subspan(1)), 3U);
}

TEST(property_store_file_test, nothing_that_was_erased_is_in_it) {
    object_store store = three_bags();
    store.set(made_up(0), "secret"_key, "hidden text");
    store.erase_property(made_up(0), "secret"_key);
    store.set(made_up(1), "secret"_key, "hidden text");
    store.erase(made_up(1));
    EXPECT_EQ(bytes_of(store), bytes_of(three_bags()));
}

TEST(property_store_file_test, files_are_saved_and_loaded) {
    const support::scratch_directory directory;
    const std::filesystem::path file = directory.path() / "bags";
    const object_store store = three_bags();
    store.save(file);
    EXPECT_EQ(std::filesystem::file_size(file), bytes_of(store).size());
    object_store other;
    EXPECT_EQ(other.load(file), 3U);
    expect_same(store, other);
    std::string error;
    EXPECT_EQ(other.try_load(file, error), 3U);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1)
        << "nothing beside it";
}

TEST(property_store_file_test, files_that_cannot_be_used_are_named) {
    const support::scratch_directory directory;
    const std::filesystem::path missing = directory.path() / "missing" / "bags";
    const std::string name = missing.string();
    object_store store = three_bags();
    EXPECT_THAT([&] { store.save(missing); }, ThrowsMessage<std::system_error>(HasSubstr(name)));
    EXPECT_EQ(store.try_save(missing), std::errc::no_such_file_or_directory);
    EXPECT_THAT([&] { store.load(missing); }, ThrowsMessage<std::system_error>(HasSubstr(name)));
    std::string error;
    EXPECT_FALSE(store.try_load(missing, error));
    EXPECT_THAT(error, HasSubstr(name));
    const std::filesystem::path text = directory.path() / "text";
    std::ofstream(text) << "this is a text of some length, but not the file of a store";
    EXPECT_THAT([&] { store.load(text); },
                ThrowsMessage<invalid_bag>(AllOf(HasSubstr("text, byte 0"), HasSubstr("not the file"))));
    EXPECT_FALSE(store.try_load(text, error));
    EXPECT_THAT(error, HasSubstr("text, byte 0"));
    EXPECT_EQ(store.size(), 3U);
}

TEST(property_store_file_test, an_attached_store_leaves_out_the_dead) {
    object_pool pool({.name = "objects", .capacity = 10});
    const auto living = pool.emplace(1);
    const auto dead = pool.emplace(2);
    object_store store;
    store.attach(pool);
    store.set(living, "value"_key, 1);
    store.set(dead, "value"_key, 2);
    const std::string bytes = bytes_of(store);
    pool.erase(dead);
    pool.compact();
    EXPECT_EQ(store.read(as_bytes(bytes)), 1U);
    EXPECT_TRUE(store.contains(living));
    pool.erase(living);
    pool.compact();
    EXPECT_TRUE(store.empty()) << "still attached";
    EXPECT_THROW(store.read(as_bytes(bytes_of(three_bags()))), std::invalid_argument) << "of another pool";
}

TEST(property_store_file_test, owners_may_have_other_handles_now) {
    const std::string bytes = bytes_of(three_bags());
    const std::map<object_handle, object_handle> now{{made_up(0), made_up(50, 3, 2)},
                                                     {made_up(9), made_up(2, 1, 2)}};
    const auto owner_now = [&](object_handle before) {
        const auto found = now.find(before);
        return found != now.end() ? found->second : object_handle();
    };
    object_store store;
    EXPECT_EQ(store.read(as_bytes(bytes), "file", owner_now), 2U);
    EXPECT_EQ(store.view(made_up(50, 3, 2)).at<std::string_view>("name"_key), "first");
    EXPECT_TRUE(store.view(made_up(2, 1, 2)).at<bool>("flag"_key));
    EXPECT_EQ(store.size(), 2U);
    const auto all_one = [](object_handle) { return made_up(1); };
    EXPECT_THAT([&] { store.read(as_bytes(bytes), "file", all_one); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("slot of #1")));
    const auto never_one = [](object_handle) { return made_up(1, 2); };
    EXPECT_THROW(store.read(as_bytes(bytes), "file", never_one), std::invalid_argument);
    const auto throws = [](object_handle) -> object_handle { throw std::runtime_error("asked"); };
    EXPECT_THROW(store.read(as_bytes(bytes), "file", throws), std::runtime_error);
    EXPECT_EQ(store.size(), 2U);
}

TEST(property_store_file_test, an_attached_store_asks_for_the_owners_of_now) {
    object_pool pool({.name = "objects", .capacity = 10});
    const auto living = pool.emplace(1);
    const auto dead = pool.emplace(2);
    pool.erase(dead);
    key_table names;
    object_store store;
    store.set_names(names);
    store.attach(pool);
    const auto owner_now = [&](object_handle before) { return before == made_up(9) ? living : dead; };
    EXPECT_EQ(store.read(as_bytes(bytes_of(three_bags())), "file", owner_now), 1U);
    EXPECT_TRUE(store.view(living).at<bool>("flag"_key));
    EXPECT_EQ(store.view(living).names(), &names);
    EXPECT_TRUE(store.attached());
    pool.erase(living);
    pool.compact();
    EXPECT_TRUE(store.empty());
}

TEST(property_store_file_test, one_slot_has_one_bag) {
    for (const std::uint64_t first : {0U, 9U}) { // in either order
        const auto owner_now = [&](object_handle before) {
            return before.index() == 7 ? object_handle() : made_up(5, before.index() == first ? 1 : 3);
        };
        object_store store;
        EXPECT_THROW(store.read(as_bytes(bytes_of(three_bags())), "file", owner_now), std::invalid_argument);
    }
}

#if !defined(_WIN32) // which has no limits of files, and other permissions
TEST(property_store_file_test, a_file_that_cannot_be_written_leaves_the_former_one) {
    const support::scratch_directory directory;
    const std::filesystem::path file = directory.path() / "bags";
    three_bags().save(file);
    object_store larger = three_bags();
    larger.set(made_up(1), "text"_key, std::string(10'000, 'x'));
    {
        const support::file_size_limit limit(1000);
        EXPECT_EQ(larger.try_save(file), std::errc::file_too_large);
    }
    EXPECT_EQ(object_store().load(file), 3U);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(property_store_file_test, a_file_keeps_its_permissions_and_its_place) {
    const support::scratch_directory directory;
    const std::filesystem::path file = directory.path() / "bags";
    const std::filesystem::path link = directory.path() / "link";
    object_store().save(file);
    using std::filesystem::perms;
    std::filesystem::permissions(file, perms::owner_read | perms::owner_write);
    std::filesystem::create_symlink("bags", link);
    three_bags().save(link);
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(std::filesystem::status(file).permissions(), perms::owner_read | perms::owner_write);
    EXPECT_EQ(object_store().load(file), 3U);
}

TEST(property_store_file_test, a_link_to_a_file_that_does_not_exist_yet_stays_one) {
    const support::scratch_directory directory;
    const std::filesystem::path link = directory.path() / "link";
    std::filesystem::create_symlink("bags", link);
    three_bags().save(link);
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(object_store().load(directory.path() / "bags"), 3U);
}

// For root one of its own: what takes a device for a file would replace that of the system.
TEST(property_store_file_test, a_device_is_written_to_as_it_is) {
    const support::scratch_directory directory;
    std::filesystem::path full = "/dev/full";
    if (geteuid() == 0) {
        full = directory.path() / "full";
        if (mknod(full.c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0 || !std::ofstream(full)) {
            GTEST_SKIP() << "this root can't make a device";
        }
    }
    EXPECT_EQ(three_bags().try_save(full), std::errc::no_space_on_device);
    EXPECT_TRUE(std::filesystem::is_character_file(full));
}
#endif

TEST(property_store_file_test, each_changed_byte_is_noticed) {
    const std::string bytes = bytes_of(three_bags());
    for (std::size_t i = 0; i != bytes.size(); ++i) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ 0x10);
        EXPECT_FALSE(refusal(changed).empty()) << "byte " << i;
    }
}

TEST(property_store_file_test, each_cut_is_noticed) {
    const std::string bytes = bytes_of(three_bags());
    for (std::size_t size = 0; size != bytes.size(); ++size) {
        std::string cut = bytes.substr(0, size);
        EXPECT_FALSE(refusal(cut).empty()) << size << " bytes";
        if (size >= 4) {
            sign(cut);
            EXPECT_FALSE(refusal(cut).empty()) << size << " bytes";
        }
    }
    EXPECT_THAT(refusal(bytes + "more"), HasSubstr("checksum"));
}

TEST(property_store_file_test, a_checksum_alone_makes_no_store) {
    const std::string bytes = bytes_of(three_bags());
    const auto changed = [&bytes](std::size_t offset, std::uint64_t value, std::size_t size) {
        std::string with = bytes;
        std::memcpy(with.data() + offset, &value, size);
        sign(with);
        return with;
    };
    EXPECT_THAT(refusal(changed(0, 'x', 1)), HasSubstr("not the file of a store"));
    EXPECT_THAT(refusal(changed(8, 0x0100'0000, 4)), HasSubstr("version"));
    EXPECT_THAT(refusal(changed(16, 2, 8)), HasSubstr("after the last bag"));
    EXPECT_THAT(refusal(changed(16, 4, 8)), HasSubstr("missing"));
    EXPECT_THAT(refusal(changed(24, 0, 8)), HasSubstr("byte 24: no object"));
    EXPECT_THAT(refusal(changed(24, made_up(0, 2).value(), 8)), HasSubstr("no object"));
    EXPECT_THAT(refusal(changed(24, made_up(0, 1, 9).value(), 8)), HasSubstr("of one pool"));
    EXPECT_THAT(refusal(changed(24, made_up(0, default_layout::generation_mask).value(), 8)),
                HasSubstr("no object"));
    EXPECT_THAT(refusal(changed(24, made_up(7, 5).value(), 8)), HasSubstr("ascend"));
    EXPECT_THAT(refusal(changed(32 + 6, 0xffff, 2)), HasSubstr("cut off"));
    EXPECT_THAT(refusal(changed(32 + 6, 0, 2)), HasSubstr("byte 32"));
    EXPECT_THAT(refusal(changed(32 + 6, 8, 2)), HasSubstr("byte 44: a content lies outside"));
    EXPECT_THAT(refusal(changed(32 + 4, 0, 2)), HasSubstr("lies outside"));
}

template <class Layout>
std::string bytes_of_one(std::uint64_t index = 1) {
    property_store<int, Layout> store;
    store.set(made_up<handle<int, Layout>>(index), "a"_key, 1);
    return bytes_of(store);
}

TEST(property_store_file_test, handles_of_another_layout_are_refused) {
    EXPECT_THAT(refusal(bytes_of_one<handle_layout<32, 20, 10>>()), HasSubstr("layout"));
    EXPECT_THAT(refusal(bytes_of_one<handle_layout<32, 22, 9>>()), HasSubstr("layout"));
    EXPECT_THAT(refusal(bytes_of_one<handle_layout<31, 22, 10>>()), HasSubstr("layout"));
    using with_user_bits = handle_layout<20, 20, 10, 14>;
    EXPECT_THAT((refusal<property_store<int, handle_layout<20, 20, 10, 0>>>(bytes_of_one<with_user_bits>())),
                HasSubstr("layout"));
}

TEST(property_store_file_test, bits_that_no_handle_has_are_refused) {
    using narrow = handle_layout<16, 12, 4>;            // of 32 bits
    using with_user_bits = handle_layout<16, 12, 4, 8>; // of 40
    const auto with_bit = [](std::string bytes, unsigned bit) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.data() + 24, sizeof value);
        value |= std::uint64_t{1} << bit;
        std::memcpy(bytes.data() + 24, &value, sizeof value);
        sign(bytes);
        return bytes;
    };
    EXPECT_THAT((refusal<property_store<int, narrow>>(with_bit(bytes_of_one<narrow>(), 35))),
                HasSubstr("no object"));
    for (const unsigned bit : {33U, 50U}) {
        EXPECT_THAT(
            (refusal<property_store<int, with_user_bits>>(with_bit(bytes_of_one<with_user_bits>(), bit))),
            HasSubstr("no object"));
    }
}

TEST(property_store_file_test, bags_with_unused_bytes_are_refused) {
    std::string bytes = bytes_of_one<default_layout>(); // one bag of 20 bytes, which becomes one of 24
    bytes[32 + 6] = 6;
    bytes.insert(32 + 20, 4, '\0');
    sign(bytes);
    EXPECT_THAT(refusal(bytes), HasSubstr("unused"));
}

TEST(property_store_file_test, random_bytes_are_refused_or_work) {
    random_source random;
    const std::string bytes = bytes_of(three_bags());
    int taken = 0;
    for (int round = 0; round != 20'000; ++round) {
        std::string changed = bytes;
        for (std::uint64_t i = random.below(3); i != 3; ++i) {
            changed[24 + random.below(changed.size() - 28)] = static_cast<char>(random.below(256));
        }
        sign(changed);
        object_store store({.slot_limit = 1000, .bytes = 100'000});
        std::string error;
        try {
            if (store.try_read(as_bytes(changed), error)) {
                ++taken;
                store.for_each([&](object_handle each, property_view bag) {
                    EXPECT_EQ(property_bag::from_bytes(bag.bytes()), store.view(each));
                });
                EXPECT_EQ(bytes_of(store), changed) << "there is one way to write what was read";
            }
        } catch (const std::length_error&) { // a slot beyond those of the store
        }
    }
    EXPECT_GT(taken, 100);
}

} // namespace
} // namespace handlepool::test
