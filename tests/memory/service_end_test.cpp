#include <handlepool/service.hpp>

#include <gtest/gtest.h>
#include <support/failing_new.hpp>

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
struct log {
    service* world = nullptr;
    std::vector<int> ended;
    std::string report;

    void note(int number) {
        ended.push_back(number);
        // Those of the pools that are still there, and no others.
        found += world->find_any_pool("first") != nullptr ? 1 : 0;
        found += world->find_any_pool("stable") != nullptr ? 10 : 0;
        found += world->find_any_pool("bytes") != nullptr ? 100 : 0;
    }
    int found = 0;
};

struct noted {
    noted(log& to, int number) : to(&to), number(number) {}
    noted(noted&& other) noexcept : to(std::exchange(other.to, nullptr)), number(other.number) {}
    noted& operator=(noted&& other) noexcept {
        std::swap(to, other.to);
        std::swap(number, other.number);
        return *this;
    }
    ~noted() {
        if (to != nullptr) {
            to->note(number);
        }
    }

    log* to;
    int number;
};

raw_type bytes_of(log& to) {
    return {.size = 8,
            .alignment = 8,
            .destroy = [](void*, void* context) noexcept { static_cast<log*>(context)->note(4); },
            .context = &to};
}

/// Pools of all kinds, one of which was removed and one is idle.
void fill(service& world, log& to) {
    const pool_options options{.capacity = 10};
    to.world = &world;
    to.ended.reserve(10);
    auto& first = world.add_pool<noted>("first", options);
    first.emplace(to, 1);
    world.compact();
    first.emplace(to, 2);
    world.add_stable_pool<noted>("stable", options).emplace(to, 3);
    static_cast<void>(world.add_raw_pool("bytes", bytes_of(to), options).emplace());
    world.add_pool<noted>("removed", options).emplace(to, 5);
    EXPECT_TRUE(world.remove_pool("removed"));
}

class service_end_test : public testing::TestWithParam<shortage> {};

TEST_P(service_end_test, needs_no_memory_but_for_a_report) {
    for (const bool reports : {false, true}) {
        const std::size_t allocations =
            with_each_allocation_failing(GetParam(), [&](memory_shortage& memory) {
                log all;
                service_options options;
                all.report.reserve(1000);
                if (reports) {
                    options.report_leaks = [&](const std::string& text) { all.report = text; };
                }
                std::optional<service> world(std::move(options));
                fill(*world, all);
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

INSTANTIATE_TEST_SUITE_P(memory, service_end_test,
                         testing::Values(shortage::of_one_allocation, shortage::from_one_allocation_on),
                         [](const testing::TestParamInfo<shortage>& tested) {
                             return tested.param == shortage::of_one_allocation ? "is_short_once"
                                                                                : "is_short_from_there_on";
                         });

} // namespace
} // namespace handlepool::test
