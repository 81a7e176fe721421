// SPDX-License-Identifier: MIT

// Threads of a C++ program at the C interface, while frames compact: whose handles resolve, and to what.

#include <handlepool/handlepool.h>

#include <gtest/gtest.h>
#include <tests/support/threads.hpp>

#include <atomic>
#include <cstdint>
#include <latch>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace handlepool::test {
namespace {

/// Of which the second half mirrors the first: a look-up that returned something else would show.
struct pair {
    std::uint64_t value;
    std::uint64_t inverse;
};

std::atomic<std::uint64_t> destroyed{0};
std::atomic<std::uint64_t> relocated{0};

void destroy(void* object, void*) {
    const pair& one = *static_cast<const pair*>(object);
    EXPECT_EQ(one.value, ~one.inverse);
    destroyed.fetch_add(1, std::memory_order::relaxed);
}

void relocate(void* to, void* from, void*) {
    *static_cast<pair*>(to) = *static_cast<const pair*>(from);
    relocated.fetch_add(1, std::memory_order::relaxed);
}

struct service_deleter {
    void operator()(handlepool_service* service) const {
        EXPECT_EQ(handlepool_service_destroy(service), HANDLEPOOL_OK) << handlepool_last_error();
    }
};
using service_owner = std::unique_ptr<handlepool_service, service_deleter>;

service_owner make_service() {
    handlepool_service* service = nullptr;
    EXPECT_EQ(handlepool_service_create(nullptr, &service), HANDLEPOOL_OK) << handlepool_last_error();
    return service_owner(service);
}

class c_threads_test : public testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        destroyed = 0;
        relocated = 0;
        handlepool_description description{};
        description.name = "pairs";
        description.size = sizeof(pair);
        description.capacity = 20'000;
        description.destroy = destroy;
        description.relocate = GetParam() ? relocate : nullptr;
        ASSERT_EQ(handlepool_service_add_pool(service_.get(), &description, &pool_), HANDLEPOOL_OK)
            << handlepool_last_error();
    }

    /// In one of three ways.
    handlepool_handle make(std::uint64_t value) {
        const pair made{value, ~value};
        handlepool_handle handle = HANDLEPOOL_NULL;
        if (value % 3 == 0) {
            EXPECT_EQ(handlepool_insert(pool_, &made, &handle), HANDLEPOOL_OK) << handlepool_last_error();
        } else if (value % 3 == 1) {
            handlepool_newborn newborn{};
            EXPECT_EQ(handlepool_emplace(pool_, &newborn), HANDLEPOOL_OK) << handlepool_last_error();
            *static_cast<pair*>(newborn.memory) = made;
            EXPECT_EQ(handlepool_publish(pool_, &newborn), HANDLEPOOL_OK) << handlepool_last_error();
            handle = newborn.handle;
        } else {
            const auto construct = [](void* memory, handlepool_handle, void* user) {
                *static_cast<pair*>(memory) = *static_cast<const pair*>(user);
                return true;
            };
            pair source = made;
            EXPECT_EQ(handlepool_emplace_with(pool_, construct, &source, &handle), HANDLEPOOL_OK)
                << handlepool_last_error();
        }
        return handle;
    }

    /// Creates, looks up under guards and erases, `rounds` times; returns how many objects it has left.
    std::size_t work(std::uint64_t thread, int rounds) {
        std::mt19937_64 random(thread);
        struct known {
            handlepool_handle handle;
            std::uint64_t value;
        };
        std::vector<known> mine;
        for (int round = 0; round != rounds; ++round) {
            const std::uint64_t value = thread << 32 | static_cast<std::uint64_t>(round);
            mine.push_back({make(value), value});
            const known& one = mine[random() % mine.size()];
            handlepool_guard guard{};
            EXPECT_EQ(handlepool_service_begin_access(service_.get(), &guard), HANDLEPOOL_OK);
            const auto* const found =
                static_cast<const pair*>(handlepool_service_find(service_.get(), one.handle));
            if (found == nullptr || found->value != one.value || found->inverse != ~one.value) {
                ADD_FAILURE() << "handle " << one.handle << " does not resolve to its object";
            }
            handlepool_end_access(&guard);
            if (mine.size() > 1000 || random() % 2 == 0) {
                const std::size_t which = random() % mine.size();
                EXPECT_TRUE(handlepool_erase(pool_, mine[which].handle));
                EXPECT_FALSE(handlepool_service_erase(service_.get(), mine[which].handle));
                EXPECT_EQ(handlepool_find(pool_, mine[which].handle), nullptr);
                mine[which] = mine.back();
                mine.pop_back();
            }
        }
        return mine.size();
    }

    const service_owner service_ = make_service();
    handlepool_pool* pool_ = nullptr;
};

TEST_P(c_threads_test, handles_resolve_to_their_objects_or_to_nothing_while_frames_compact) {
    constexpr std::size_t threads = 3;
    constexpr int rounds = 4000;
    std::atomic<std::size_t> left{0};
    const auto use = [&](std::size_t thread) { left += work(thread + 1, rounds); };
    in_threads(threads, use, [&] {
        handlepool_compaction done{};
        ASSERT_EQ(handlepool_service_compact(service_.get(), &done), HANDLEPOOL_OK)
            << handlepool_last_error();
        const handlepool_items items = handlepool_items_of(pool_);
        for (std::size_t i = 0; i != items.count; ++i) {
            const pair& each =
                *reinterpret_cast<const pair*>(static_cast<const char*>(items.first) + i * items.stride);
            ASSERT_EQ(each.value, ~each.inverse);
        }
    });
    ASSERT_EQ(handlepool_service_compact(service_.get(), nullptr), HANDLEPOOL_OK);
    EXPECT_EQ(handlepool_pool_size(pool_), left);
    EXPECT_EQ(handlepool_items_of(pool_).count, left);
    EXPECT_EQ(destroyed, threads * rounds - left);
    EXPECT_EQ(relocated != 0, GetParam());
}

TEST_P(c_threads_test, of_racing_erases_one_returns_true) {
    for (std::uint64_t round = 0; round != 200; ++round) {
        const handlepool_handle handle = make(round);
        std::atomic<int> erased{0};
        std::latch start(2);
        const auto race = [&] {
            start.arrive_and_wait();
            erased += handlepool_erase(pool_, handle) ? 1 : 0;
        };
        {
            const std::jthread other(race);
            race();
        }
        ASSERT_EQ(erased, 1);
    }
    EXPECT_EQ(handlepool_service_compact(service_.get(), nullptr), HANDLEPOOL_OK);
    EXPECT_EQ(destroyed, 200U);
}

TEST_P(c_threads_test, a_newborn_is_published_by_another_thread) {
    for (std::uint64_t round = 0; round != 200; ++round) {
        handlepool_newborn newborn{};
        ASSERT_EQ(handlepool_emplace(pool_, &newborn), HANDLEPOOL_OK) << handlepool_last_error();
        *static_cast<pair*>(newborn.memory) = {round, ~round};
        std::jthread([&] { ASSERT_EQ(handlepool_publish(pool_, &newborn), HANDLEPOOL_OK); }).join();
        ASSERT_EQ(newborn.memory, nullptr);
        ASSERT_EQ(static_cast<const pair*>(handlepool_find(pool_, newborn.handle))->value, round);
    }
}

TEST_P(c_threads_test, each_thread_has_its_own_last_error) {
    handlepool_clear(nullptr);
    EXPECT_STREQ(handlepool_last_error(), "handlepool_clear: pool is NULL");
    std::jthread([] {
        EXPECT_STREQ(handlepool_last_error(), "");
        handlepool_reset(nullptr);
        EXPECT_STREQ(handlepool_last_error(), "handlepool_reset: pool is NULL");
    }).join();
    EXPECT_STREQ(handlepool_last_error(), "handlepool_clear: pool is NULL");
}

INSTANTIATE_TEST_SUITE_P(types, c_threads_test, testing::Bool(), [](const auto& one) {
    return std::string(one.param ? "with_a_relocate_function" : "whose_bytes_are_copied");
});

} // namespace
} // namespace handlepool::test
