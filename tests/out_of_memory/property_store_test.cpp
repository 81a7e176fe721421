// SPDX-License-Identifier: MIT

// What a store takes of the system's memory, and what it does when there is none.

#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>
#include <tests/support/made_up.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

namespace handlepool::test {
namespace {

using namespace handlepool::property_literals;

using object_pool = pool<int>;
using object_handle = object_pool::handle_type;
using object_store = property_store<int>;

/// Calls `round()` with another allocation failing each time; after a failure `expect_unchanged()`. Returns
/// how many allocations there are.
template <class Round, class Unchanged>
std::size_t allocations_of(Round round, Unchanged expect_unchanged) {
    return with_each_allocation_failing(shortage::of_one_allocation, [&](memory_shortage& memory) {
        if (memory.hits(round)) {
            expect_unchanged();
        }
    });
}

constexpr std::size_t many = 100'000;

TEST(property_store_without_memory, a_hundred_thousand_bags_need_no_allocation) {
    object_store store;
    EXPECT_EQ(allocations_of(
                  [&] {
                      for (std::uint64_t i = 0; i != many; ++i) {
                          store.set(made_up(i), "value"_key, i);
                      }
                  },
                  [] {}),
              0U);
    EXPECT_EQ(store.size(), many);
    EXPECT_LE(store.memory().resident, 40 * many);
}

TEST(property_store_without_memory, nor_do_bags_that_grow_shrink_and_end) {
    object_store store;
    const std::string text(50'000, 'x');
    EXPECT_EQ(allocations_of(
                  [&] {
                      for (std::uint64_t i = 0; i != 1000; ++i) {
                          const object_handle object = made_up(i);
                          store.set(object, "value"_key, i);
                          for (const std::size_t size : {10U, 1'000U, 50'000U, 100U}) {
                              store.set(object, "text"_key, std::string_view(text).substr(0, size));
                          }
                          store.erase_property(object, "text"_key);
                          store.merge(object, store.view(made_up(0)));
                          store.assign(made_up(i + 1), store.view(object));
                          store.erase(object);
                      }
                      store.clear();
                  },
                  [] {}),
              0U);
    EXPECT_LE(store.memory().resident, 1'000'000U) << "what one bag leaves, the next one takes";
}

// Four mebibytes, and what is ready ahead of them in a huge page.
TEST(property_store_without_memory, shrunk_it_has_nothing_ready) {
    constexpr std::size_t count = 170'000;
    object_store store;
    for (std::uint64_t i = 0; i != count; ++i) {
        store.set(made_up(i), "value"_key, i);
    }
    store.shrink_to_fit();
    EXPECT_LE(store.memory().resident, 32 * count + 65'536) << "24 bytes, and 8 for the slot";
}

/// Address space of mappings with this flag of /proc/self/smaps.
std::size_t bytes_with(std::string_view flag) {
    std::ifstream mappings("/proc/self/smaps");
    std::size_t sum = 0;
    std::size_t kibibytes = 0;
    for (std::string line; std::getline(mappings, line);) {
        if (line.starts_with("Size:")) {
            kibibytes = std::stoul(line.substr(5));
        } else if (line.starts_with("VmFlags:") && line.find(flag) != std::string::npos) {
            sum += kibibytes * 1024;
        }
    }
    return sum;
}

TEST(property_store_without_memory, begins_with_small_pages_even_where_the_system_prefers_huge_ones) {
    if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) {
        GTEST_SKIP() << "this system has no huge pages";
    }
    constexpr std::size_t mebibyte = std::size_t{1} << 20;
    const std::size_t small_before = bytes_with(" nh");
    const std::size_t huge_before = bytes_with(" hg");
    const object_store large({.bytes = 1024 * mebibyte});
    EXPECT_EQ(bytes_with(" nh") - small_before, 6 * mebibyte) << "of blocks and of slots";
    EXPECT_EQ(bytes_with(" hg") - huge_before, 1020 * mebibyte) << "the other blocks";
    const object_store small({.slot_limit = 8192, .bytes = mebibyte});
    EXPECT_EQ(bytes_with(" nh") - small_before, 7 * mebibyte + 65'536) << "all of it";
    EXPECT_EQ(bytes_with(" hg") - huge_before, 1020 * mebibyte);
}

TEST(property_store_without_memory, is_made_with_few_allocations_or_not) {
    EXPECT_LE(allocations_of([] { const object_store store; }, [] {}), 4U);
}

TEST(property_store_without_memory, a_path_that_cannot_be_named_is_not_set) {
    key_table names;
    object_store store;
    store.set_names(names);
    EXPECT_EQ(
        allocations_of([&] { store.set(made_up(1), "value"_key, 1); }, [&] { EXPECT_TRUE(store.empty()); }),
        1U)
        << "the table's entry";
}

TEST(property_store_without_memory, is_attached_or_not) {
    object_pool pool({.name = "objects", .capacity = 10});
    const auto object = pool.emplace(1);
    object_store store;
    store.set(object, "value"_key, 1);
    pool.erase(object);
    EXPECT_GE(allocations_of([&] { store.attach(pool); },
                             [&] {
                                 EXPECT_FALSE(store.attached());
                                 EXPECT_TRUE(store.contains(object));
                             }),
              2U);
    EXPECT_TRUE(store.attached());
    EXPECT_TRUE(store.empty());
}

TEST(property_store_without_memory, moves_together_or_stays) {
    object_store store;
    for (std::uint64_t i = 0; i != 100; ++i) {
        store.set(made_up(i), "value"_key, i);
    }
    EXPECT_GE(allocations_of([&] { store.shrink_to_fit(); }, [&] { EXPECT_EQ(store.size(), 100U); }), 3U);
    store.for_each([](object_handle each, property_view bag) {
        EXPECT_EQ(bag.at<float>("value"_key), static_cast<float>(each.index()));
    });
}

TEST(property_store_without_memory, is_written_and_read_whole_or_not) {
    object_store store;
    for (std::uint64_t i = 0; i != 10; ++i) {
        store.set(made_up(i), "text"_key, std::string(i * 10, 'x'));
    }
    std::string bytes;
    EXPECT_GE(allocations_of(
                  [&] {
                      std::ostringstream out;
                      store.write(out);
                      if (!out) { // which has caught what its buffer threw
                          throw std::bad_alloc();
                      }
                      bytes = out.str();
                  },
                  [] {}),
              2U);
    object_store other;
    other.set(made_up(77), "kept"_key, 1);
    EXPECT_GE(allocations_of([&] { other.read(std::as_bytes(std::span(bytes))); },
                             [&] {
                                 EXPECT_EQ(other.size(), 1U);
                                 EXPECT_TRUE(other.contains(made_up(77)));
                             }),
              3U);
    EXPECT_EQ(other.size(), 10U);
}

TEST(property_store_without_memory, is_written_and_read_with_its_names_or_not) {
    key_table names;
    object_store store;
    store.set_names(names);
    for (std::uint64_t i = 0; i != 10; ++i) {
        store.set(made_up(i), names.add({"a name of more than 15 characters", std::to_string(i)}), i);
    }
    std::string bytes;
    EXPECT_GE(allocations_of(
                  [&] {
                      std::ostringstream out;
                      store.write(out, names_in_file::included);
                      if (!out) { // which has caught what its buffer threw
                          throw std::bad_alloc();
                      }
                      bytes = out.str();
                  },
                  [] {}),
              20U);
    key_table other_names;
    object_store other;
    other.set_names(other_names);
    other.set(made_up(77), "kept"_key, 1);
    EXPECT_GE(allocations_of([&] { other.read(std::as_bytes(std::span(bytes))); },
                             [&] {
                                 EXPECT_EQ(other.size(), 1U);
                                 EXPECT_TRUE(other.contains(made_up(77)));
                                 EXPECT_EQ(other_names.size(), 1U);
                             }),
              20U);
    EXPECT_EQ(other.size(), 10U);
    EXPECT_EQ(other_names.size(), 11U);
    EXPECT_EQ(describe(other.view(made_up(9))), "\"a name of more than 15 characters\" / \"9\": 9\n");
}

} // namespace
} // namespace handlepool::test
