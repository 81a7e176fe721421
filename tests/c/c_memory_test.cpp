// SPDX-License-Identifier: MIT

// Functions of C that memory is too short for: they say so, and have changed nothing.

#include <handlepool/handlepool.h>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <array>
#include <functional>
#include <string>

namespace handlepool::test {
namespace {

std::string stats_of(const handlepool_service* service) {
    char* const text = handlepool_service_stats(service);
    EXPECT_NE(text, nullptr) << handlepool_last_error();
    std::string copy = text == nullptr ? "" : text;
    handlepool_free_text(text);
    return copy;
}

class c_without_memory : public testing::TestWithParam<shortage> {
protected:
    static constexpr std::size_t capacity = 10;

    c_without_memory() {
        const handlepool_service_description of_service{};
        EXPECT_EQ(handlepool_service_create(&of_service, &service), HANDLEPOOL_OK);
        ships_description.name = "ships";
        ships_description.size = 64;
        ships_description.capacity = capacity;
        EXPECT_EQ(handlepool_service_add_pool(service, &ships_description, &ships), HANDLEPOOL_OK);
        // A thread takes what it needs when it first creates an object.
        handlepool_handle handle = HANDLEPOOL_NULL;
        EXPECT_EQ(handlepool_insert(ships, nullptr, &handle), HANDLEPOOL_OK);
        EXPECT_TRUE(handlepool_erase(ships, handle));
        EXPECT_EQ(handlepool_service_compact(service, nullptr), HANDLEPOOL_OK);
    }
    ~c_without_memory() override { EXPECT_EQ(handlepool_service_destroy(service), HANDLEPOOL_OK); }

    /// Lets each allocation of a call fail, and requires that nothing has changed then. Returns how many
    /// there are.
    std::size_t fail_each_allocation_of(const std::function<handlepool_error()>& call) {
        return with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
            const std::string before = stats_of(service);
            when.begin();
            const handlepool_error error = call();
            when.end();
            if (when.came()) {
                EXPECT_EQ(error, HANDLEPOOL_ERROR_OUT_OF_MEMORY) << handlepool_last_error();
                EXPECT_EQ(stats_of(service), before);
            } else {
                EXPECT_EQ(error, HANDLEPOOL_OK) << handlepool_last_error();
            }
        });
    }

    handlepool_service* service = nullptr;
    handlepool_description ships_description{};
    handlepool_pool* ships = nullptr;
};

TEST_P(c_without_memory, a_newborn_takes_no_slot) {
    std::array<handlepool_newborn, capacity> newborns{};
    for (handlepool_newborn& each : newborns) { // there is room for all
        EXPECT_EQ(fail_each_allocation_of([&] { return handlepool_emplace(ships, &each); }), 1U);
    }
    handlepool_newborn another{};
    EXPECT_EQ(handlepool_emplace(ships, &another), HANDLEPOOL_ERROR_EXHAUSTED);
    for (handlepool_newborn& each : newborns) {
        EXPECT_EQ(handlepool_publish(ships, &each), HANDLEPOOL_OK) << handlepool_last_error();
    }
    EXPECT_EQ(handlepool_pool_size(ships), capacity);
}

TEST_P(c_without_memory, a_service_gets_no_pool) {
    handlepool_description description = ships_description;
    description.name = "rockets";
    handlepool_pool* rockets = nullptr;
    EXPECT_GT(fail_each_allocation_of([&] {
                  EXPECT_EQ(handlepool_service_pool(service, "rockets"), nullptr);
                  return handlepool_service_add_pool(service, &description, &rockets);
              }),
              0U);
    EXPECT_EQ(handlepool_service_pool(service, "rockets"), rockets);
}

TEST_P(c_without_memory, a_compaction_destroys_all_or_nothing) {
    for (std::size_t i = 0; i != capacity; ++i) {
        handlepool_handle handle = HANDLEPOOL_NULL;
        ASSERT_EQ(handlepool_insert(ships, nullptr, &handle), HANDLEPOOL_OK);
        if (i % 2 == 0) {
            EXPECT_TRUE(handlepool_erase(ships, handle));
        }
    }
    fail_each_allocation_of([&] { return handlepool_compact(ships, nullptr); });
    EXPECT_EQ(handlepool_pool_size(ships), capacity / 2);
}

INSTANTIATE_TEST_SUITE_P(shortages, c_without_memory,
                         testing::Values(shortage::of_one_allocation, shortage::from_one_allocation_on));

} // namespace
} // namespace handlepool::test
