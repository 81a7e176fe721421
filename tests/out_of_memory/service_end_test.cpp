// SPDX-License-Identifier: MIT
#include <handlepool/raw_pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// A service that ends while memory runs out: all of its objects end, in the order of ever, and may still ask
// it.
namespace handlepool::test {
namespace {

/// What the ends of objects have seen; it has room for that before they end.
struct service_end_log {
    service* world = nullptr;
    std::vector<int> ended;
    std::string report;
    int found = 0;

    void note(int number) {
        ended.push_back(number);
        // Those of the pools that are still there, and no others.
        found += world->find_any_pool("first") != nullptr ? 1 : 0;
        found += world->find_any_pool("stable") != nullptr ? 10 : 0;
        found += world->find_any_pool("bytes") != nullptr ? 100 : 0;
    }
};

struct object_with_noted_end {
    object_with_noted_end(service_end_log& log, int which) : to(&log), number(which) {}
    object_with_noted_end(object_with_noted_end&& other) noexcept
        : to(std::exchange(other.to, nullptr)), number(other.number) {}
    object_with_noted_end& operator=(object_with_noted_end&& other) noexcept {
        std::swap(to, other.to);
        std::swap(number, other.number);
        return *this;
    }
    ~object_with_noted_end() {
        if (to != nullptr) {
            to->note(number);
        }
    }

    service_end_log* to;
    int number;
};

raw_type bytes_of(service_end_log& to) {
    return {.size = 8,
            .alignment = 8,
            .destroy = [](void*, void* context) noexcept { static_cast<service_end_log*>(context)->note(4); },
            .context = &to};
}

/// Pools of several kinds, each with objects, and one of them removed.
void fill_with_pools(service& world, service_end_log& to) {
    const pool_options options{.capacity = 10};
    to.world = &world;
    to.ended.reserve(10);
    auto& first = world.add<pool<object_with_noted_end>>("first", options);
    first.emplace(to, 1);
    world.compact();
    first.emplace(to, 2);
    world.add<stable_pool<object_with_noted_end>>("stable", options).emplace(to, 3);
    static_cast<void>(world.add<raw_pool<>>("bytes", options, bytes_of(to)).emplace());
    world.add<pool<object_with_noted_end>>("removed", options).emplace(to, 5);
    EXPECT_TRUE(world.remove_pool("removed"));
}

class service_end_test : public testing::TestWithParam<shortage> {};

TEST_P(service_end_test, needs_no_memory_but_for_a_report) {
    for (const bool reports : {false, true}) {
        const std::size_t allocations =
            with_each_allocation_failing(GetParam(), [&](memory_shortage& memory) {
                service_end_log all;
                service_options options;
                all.report.reserve(1000);
                if (reports) {
                    options.report_leaks = [&](const std::string& text) { all.report = text; };
                }
                std::optional<service> world(std::move(options));
                fill_with_pools(*world, all);
                memory.begin();
                world.reset();
                memory.end();
                EXPECT_EQ(all.ended, (std::vector{5, 4, 3, 1, 2}));
                EXPECT_EQ(all.found, 111 + 11 + 1);
                EXPECT_EQ(all.report.empty(), !reports || memory.came());
            });
        EXPECT_EQ(allocations == 0, !reports) << allocations;
    }
}

INSTANTIATE_TEST_SUITE_P(memory, service_end_test, both_shortages, name_of_shortage);

} // namespace
} // namespace handlepool::test
