// SPDX-License-Identifier: MIT
#include "array_contender.hpp"
#include "churn.hpp"
#include "pool_contender.hpp"
#include "queue_contender.hpp"
#include "results.hpp"
#include "spawner_contender.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::coherence {
namespace {

churn_options small(std::size_t threads) {
    return {.threads = threads, .alive = 2'560, .warm_up = 2, .frames = 2};
}

template <class Contender>
struct contender : testing::Test {};
using contenders = testing::Types<pool_contender, spawner_contender, queue_contender, array_contender>;
TYPED_TEST_SUITE(contender, contenders);

// What the churn itself requires: that each erase finds its object, and each find too.
TYPED_TEST(contender, DoesWhatIsAskedOfIt) {
    for (const victims erased : {victims::own, victims::random}) {
        churn_options options = small(7);
        options.erased = erased;
        const churn_result result = churn<TypeParam>(options).run();
        EXPECT_EQ(result.of(operation::emplace).times, 512U);
        EXPECT_EQ(result.of(operation::erase).times, 512U);
        EXPECT_EQ(result.of(operation::find).times, 512U);
    }
}

TYPED_TEST(contender, OneThreadSharesNothing) {
    churn_options options = small(1);
    options.compacts = compactor::first;
    const churn_result result = churn<TypeParam>(options).run();
    for (const operation_counts& each : result.operations) {
        EXPECT_EQ(each.all().transfers, 0U);
        EXPECT_EQ(each.all().upgrades, 0U);
        EXPECT_EQ(each.all().false_sharing, 0U);
    }
    EXPECT_GT(result.of(operation::emplace).all().accesses, 512U);
}

TYPED_TEST(contender, GivesTheSameFiguresForASeed) {
    const auto figures = [](std::uint64_t seed) {
        churn_options options = small(4);
        options.seed = seed;
        results all;
        all.add(churn<TypeParam>(options).run());
        return all.json().at("runs").at(0).at("operations").dump();
    };
    const std::string first = figures(1);
    EXPECT_EQ(first, figures(1));
    EXPECT_NE(first, figures(2));
}

TEST(pool_contender, FindsItsObjectsAndCountsThem) {
    machine simulated(3, 1);
    pool_contender pool(2'560);
    std::vector<std::vector<pool_contender::handle_type>> made(3);
    simulated.run(0, 3, [&](std::uint32_t thread) {
        for (std::uint64_t i = 0; i != 300; ++i) {
            made[thread].push_back(pool.emplace(thread * 1000 + i));
        }
    });
    simulated.run(0, 1, [&](std::uint32_t) { pool.end_frame(); });
    EXPECT_EQ(pool.size(), 900U);
    for (std::uint64_t thread = 0; thread != 3; ++thread) {
        for (std::uint64_t i = 0; i != 300; ++i) {
            EXPECT_EQ(pool.find(made[thread][i]), thread * 1000 + i);
        }
    }
    simulated.run(0, 3, [&](std::uint32_t thread) {
        for (const auto each : made[(thread + 1) % 3]) {
            EXPECT_TRUE(pool.erase(each));
        }
    });
    simulated.run(0, 1, [&](std::uint32_t) { pool.end_frame(); });
    EXPECT_EQ(pool.size(), 0U);
    EXPECT_FALSE(pool.find(made[0][0]).has_value());
}

TEST(pool_contender, NamesTheArraysOfAnEmplace) {
    churn_options options = small(4);
    options.warm_up = 10; // until freed slots are used again
    const churn_result result = churn<pool_contender>(options).run();
    const auto& arrays = result.of(operation::emplace).by_array;
    for (const char* const name :
         {"slot tags", "slot locations", "objects", "nursery owners", "shards: newborns",
          "slot freelist entries", "counters of slot freelist"}) {
        EXPECT_TRUE(arrays.contains(name)) << name;
    }
    EXPECT_GT(arrays.at("objects").upgrades, 0U);
    EXPECT_EQ(arrays.at("objects").transfers, 0U) << "a thread takes its own chunks again";
    for (const operation_counts& each : result.operations) {
        for (const auto& [name, sum] : each.by_array) {
            EXPECT_EQ(name.find("pool '"), std::string::npos) << name << " has no name for people";
        }
    }
}

TEST(results, JudgeTwoThreadsAgainst64) {
    results all;
    EXPECT_TRUE(all.rows().empty());
    for (const std::size_t threads : {std::size_t{2}, std::size_t{64}}) {
        churn_result made;
        made.options = small(threads);
        made.contender = pool_contender::name;
        made.operations[static_cast<std::size_t>(operation::emplace)] = {
            .times = 10, .by_array = {{"slots", {.transfers = threads == 2 ? 10U : 11U}}}};
        made.operations[static_cast<std::size_t>(operation::erase)] = {
            .times = 10, .by_array = {{"slots", {.transfers = threads == 2 ? 10U : 25U}}}};
        all.add(made);
    }
    ASSERT_EQ(all.rows().size(), 1U);
    EXPECT_DOUBLE_EQ(all.rows()[0].measured, 1.8);
    EXPECT_FALSE(all.rows()[0].reached());
    EXPECT_NE(all.tables().find("MISSED"), std::string::npos);
}

} // namespace
} // namespace handlepool::coherence
