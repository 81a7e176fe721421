#include <handlepool/executor.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace handlepool {
namespace {

TEST(inline_executor_test, calls_the_body_once_for_all_items) {
    std::vector<std::pair<std::size_t, std::size_t>> calls;
    inline_executor{}.for_ranges(
        100, 10, [&](std::size_t first, std::size_t last) { calls.emplace_back(first, last); });
    EXPECT_EQ(calls, (std::vector<std::pair<std::size_t, std::size_t>>{{0, 100}}));
}

TEST(inline_executor_test, does_not_call_the_body_for_no_items) {
    int calls = 0;
    inline_executor{}.for_ranges(0, 10, [&](std::size_t, std::size_t) { ++calls; });
    EXPECT_EQ(calls, 0);
}

struct no_executor {};
struct wrong_arguments {
    template <class Body>
    void for_ranges(Body&& body);
};
static_assert(executor<inline_executor> && executor<const inline_executor>);
static_assert(!executor<no_executor> && !executor<wrong_arguments>);

} // namespace
} // namespace handlepool
