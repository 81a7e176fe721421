// SPDX-License-Identifier: MIT

// What threads may do with one store at the same time: read any bag, and change bags of their own.

#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>

#include <gtest/gtest.h>
#include <tests/support/made_up.hpp>
#include <tests/support/scratch_directory.hpp>
#include <tests/support/threads.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace handlepool::test {
namespace {

using namespace handlepool::property_literals;

using object_pool = pool<int>;
using object_handle = object_pool::handle_type;

constexpr std::size_t threads = 4;

TEST(property_store_threads_test, threads_change_bags_of_neighbours) {
    constexpr std::uint64_t objects = 2000;
    property_store<int> store;
    in_threads(threads, [&](std::size_t thread) {
        for (std::uint64_t i = thread; i < objects; i += threads) {
            const object_handle object = made_up(i);
            for (std::uint64_t key = 0; key != 8; ++key) {
                store.set(object, property_path(std::to_string(key)), i + key);
            }
            store.set(object, "text"_key, std::string(i % 100, 'x'));
            store.erase_property(object, property_path("0"));
            if (i % 3 == 0) {
                store.erase(object);
            } else if (i % 3 == 1) {
                store.assign(object, store.view(object));
            }
        }
    });
    EXPECT_EQ(store.size(), objects - (objects + 2) / 3);
    store.for_each([](object_handle object, property_view bag) {
        EXPECT_EQ(bag.size(), 8U);
        EXPECT_EQ(bag.at<float>(property_path("5")), static_cast<float>(object.index() + 5));
        EXPECT_EQ(bag.at<std::string_view>("text"_key), std::string(object.index() % 100, 'x'));
    });
}

TEST(property_store_threads_test, threads_read_what_no_thread_changes) {
    property_store<int> store;
    for (std::uint64_t i = 0; i != 100; ++i) {
        store.set(made_up(i), "value"_key, i);
    }
    in_threads(threads, [&](std::size_t thread) {
        if (thread == 0) { // beside one that changes others
            for (std::uint64_t i = 100; i != 1000; ++i) {
                store.set(made_up(i), "value"_key, i);
            }
            return;
        }
        for (std::uint64_t i = 0; i != 100; ++i) {
            EXPECT_EQ(store.view(made_up(i)).at<float>("value"_key), static_cast<float>(i));
            EXPECT_TRUE(store.contains(made_up(i)));
            EXPECT_GE(store.size(), 100U);
        }
    });
    std::atomic<std::size_t> seen = 0;
    in_threads(threads, [&](std::size_t) {
        store.for_each([&](object_handle, property_view bag) { seen += bag.size(); });
    });
    EXPECT_EQ(seen, threads * 1000);
}

/// In each of many new stores, a thread of either pool is the first one.
void let_two_pools_come_first() {
    constexpr std::size_t rounds = 2000;
    std::vector<property_store<int>> stores;
    for (std::size_t round = 0; round != rounds; ++round) {
        stores.emplace_back(property_store_options{.slot_limit = 100, .bytes = 10'000});
    }
    std::atomic<std::size_t> refused = 0;
    // The moment is short: the threads meet at each store without sleeping, and one comes a little later,
    // each time by another few nanoseconds.
    std::atomic<std::size_t> arrived = 0;
    in_threads(2, [&](std::size_t thread) {
        for (std::size_t round = 0; round != rounds; ++round) {
            arrived.fetch_add(1);
            for (std::size_t spins = 0; arrived.load() < 2 * (round + 1); ++spins) {
                if (spins > 1000) { // the other one has no processor
                    std::this_thread::yield();
                }
            }
            for (std::size_t i = 0; thread == round % 2 && i != round / 2 % 50; ++i) {
                static_cast<void>(arrived.load());
            }
            try {
                stores[round].set(made_up(thread, 1, static_cast<std::uint32_t>(thread) + 1), "value"_key, 1);
            } catch (const std::invalid_argument&) {
                ++refused;
            }
        }
    });
    ASSERT_EQ(refused, rounds);
    for (const property_store<int>& store : stores) {
        ASSERT_EQ(store.size(), 1U);
    }
}

TEST(property_store_threads_test, of_two_pools_whose_objects_come_first_one_wins) {
    const auto begun = std::chrono::steady_clock::now();
    for (int times = 0; times != 20 && !HasFailure(); ++times) {
        let_two_pools_come_first();
        if (std::chrono::steady_clock::now() - begun > std::chrono::seconds(2)) { // a busy machine
            break;
        }
    }
}

TEST(property_store_threads_test, of_one_pool_whose_objects_come_first_all_are_taken) {
    for (int round = 0; round != 200; ++round) {
        property_store<int> store({.slot_limit = 100, .bytes = 10'000});
        in_threads(threads,
                   [&](std::size_t thread) { EXPECT_TRUE(store.set(made_up(thread), "value"_key, 1)); });
        EXPECT_EQ(store.size(), threads);
    }
}

TEST(property_store_threads_test, the_highest_slot_is_known_whoever_comes_last) {
    for (int round = 0; round != 100; ++round) {
        property_store<int> store({.slot_limit = 100'000, .bytes = 100'000});
        in_threads(threads, [&](std::size_t thread) {
            for (std::uint64_t i = 0; i != 10; ++i) {
                store.set(made_up(i * 4096 + thread * 1024), "value"_key, 1);
            }
        });
        std::size_t seen = 0;
        store.for_each([&](object_handle, property_view) { ++seen; });
        ASSERT_EQ(seen, threads * 10);
    }
}

// Whose slot has another thread's object by now.
TEST(property_store_threads_test, a_stale_handle_can_be_asked_about_at_any_time) {
    property_store<int> store;
    const object_handle stale = made_up(1);
    std::atomic<bool> done = false;
    in_threads(2, [&](std::size_t thread) {
        if (thread == 0) {
            for (std::uint32_t i = 1; i != 5000; ++i) {
                const auto now = made_up(1, 2 * i + 1);
                store.set(now, "value"_key, i);
                store.set(now, "text"_key, std::string(i % 50, 'x'));
                if (i % 2 == 0) {
                    store.erase(now);
                }
            }
            done = true;
        }
        while (!done) {
            EXPECT_FALSE(store.contains(stale));
            EXPECT_TRUE(store.view(stale).empty());
            EXPECT_FALSE(store.erase_property(stale, "value"_key));
            EXPECT_FALSE(store.erase(stale));
        }
    });
}

TEST(property_store_threads_test, a_file_comes_whole_though_several_threads_save_it) {
    const support::scratch_directory directory;
    const std::filesystem::path file = directory.path() / "bags";
    const auto store_of = [](std::uint64_t count) {
        property_store<int> store({.slot_limit = 10'000, .bytes = 1'000'000});
        for (std::uint64_t i = 0; i != count; ++i) {
            store.set(made_up(i), "value"_key, i);
        }
        return store;
    };
    const property_store<int> small = store_of(3);
    const property_store<int> large = store_of(3000);
    small.save(file);
    in_threads(3, [&](std::size_t thread) {
        for (int i = 0; i != 50; ++i) {
            if (thread == 2) {
                property_store<int> loaded({.slot_limit = 10'000, .bytes = 1'000'000});
                const std::size_t count = loaded.load(file);
                EXPECT_TRUE(count == 3 || count == 3000) << count;
            } else {
                EXPECT_EQ((thread == 0 ? small : large).try_save(file), std::error_code());
            }
        }
    });
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

// As objects themselves: guards keep what is used from ending, and what is used has not ended.
TEST(property_store_threads_test, compactions_end_bags_while_threads_give_others_to_new_objects) {
    object_pool pool({.name = "objects", .capacity = 1000, .reuse_delay = 0});
    property_store<int> store;
    store.attach(pool);
    const auto write = [&](std::size_t thread) {
        std::vector<object_handle> own;
        for (int i = 0; i != 3000; ++i) {
            const auto guard = pool.access();
            if (const object_handle made = pool.try_emplace(i)) {
                EXPECT_TRUE(store.set(made, "value"_key, i % 1000));
                EXPECT_TRUE(store.set(made, "owner"_key, thread));
                own.push_back(made);
            }
            if (own.size() > 50) {
                const object_handle oldest = own[static_cast<std::size_t>(i) % own.size()];
                EXPECT_EQ(store.view(oldest).at<float>("owner"_key), static_cast<float>(thread));
                EXPECT_TRUE(pool.erase(oldest));
                EXPECT_FALSE(store.set(oldest, "value"_key, 1)) << "it is dead";
                std::erase(own, oldest);
            }
        }
    };
    in_threads(threads - 1, write, [&] { pool.compact(); });
    pool.compact();
    EXPECT_EQ(store.size(), pool.size());
    store.for_each([&](object_handle each, property_view) { EXPECT_TRUE(pool.contains(each)); });
}

} // namespace
} // namespace handlepool::test
