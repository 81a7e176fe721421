// SPDX-License-Identifier: MIT
#include "machine.hpp"
#include "pool_contender.hpp"
#include "sim_policy.hpp"
#include "ticket_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace handlepool::coherence {
namespace {

using testing::IsEmpty;

struct machine_test : testing::Test {
    tally counted(const std::string& name, operation what = operation::other) {
        simulated.settle();
        const auto counts = simulated.counts(what);
        const auto found = counts.find(name);
        return found == counts.end() ? tally{} : found->second;
    }

    machine simulated{4, 1};
};

using word = sim_atomic<std::uint64_t>;
using word_array = sim_array<word>;

TEST_F(machine_test, ThreadsOneAfterTheOtherPassALineOn) {
    word_array words("words", 64, 64);
    for (std::uint32_t thread = 0; thread != 4; ++thread) {
        simulated.run(thread, thread + 1, [&](std::uint32_t) {
            for (int i = 0; i != 10; ++i) {
                words[0].fetch_add(1, std::memory_order::relaxed);
            }
        });
    }
    EXPECT_EQ(words[0].load(), 40U);
    const tally sum = counted("words");
    EXPECT_EQ(sum.accesses, 40U);
    EXPECT_EQ(sum.memory, 1U);
    EXPECT_EQ(sum.transfers, 3U);
    EXPECT_EQ(sum.invalidations, 3U);
    EXPECT_EQ(sum.upgrades, 0U);
    EXPECT_EQ(sum.false_sharing, 0U);
}

TEST_F(machine_test, FalseSharingIsFoundByName) {
    simulated.memory().name_fields(
        {.array = "pairs", .element_size = 16, .fields = {{0, "left"}, {8, "right"}}});
    word_array words("pairs", 64, 64);
    simulated.run(0, 2, [&](std::uint32_t thread) {
        for (int i = 0; i != 100; ++i) {
            words[8 + thread].store(1, std::memory_order::relaxed); // the second line
        }
    });
    simulated.settle();
    const auto found = simulated.false_sharing();
    ASSERT_EQ(found.size(), 2U);
    for (const false_sharing_found& each : found) {
        EXPECT_NE(each.wanted, each.written);
        EXPECT_EQ(each.line, "pairs, line 1");
        EXPECT_EQ(each.wanted, each.thread == 0 ? "left" : "right");
        EXPECT_EQ(each.written, each.writer == 0 ? "left" : "right");
        EXPECT_EQ(each.wanted_at, each.thread * 8);
        EXPECT_EQ(each.thread + each.writer, 1U);
        EXPECT_GT(each.transfers, 10U);
    }
    EXPECT_EQ(counted("left").false_sharing + counted("right").false_sharing,
              found[0].transfers + found[1].transfers);
}

TEST_F(machine_test, LinesOfTheirOwnAreNotShared) {
    word_array words("words", 64, 64);
    simulated.run(0, 4, [&](std::uint32_t thread) {
        for (int i = 0; i != 100; ++i) {
            words[thread * 8].fetch_add(1, std::memory_order::relaxed);
        }
    });
    const tally sum = counted("words");
    EXPECT_EQ(sum.transfers, 0U);
    EXPECT_EQ(sum.memory, 4U);
    EXPECT_THAT(simulated.false_sharing(), IsEmpty());
}

TEST_F(machine_test, CountsBelongToTheOperation) {
    word_array words("words", 8, 8);
    simulated.run(0, 1, [&](std::uint32_t) {
        words[0].store(1);
        const doing now(operation::find);
        words[0].load();
        words[0].load();
    });
    EXPECT_EQ(counted("words").accesses, 1U);
    EXPECT_EQ(counted("words", operation::find).accesses, 2U);
}

TEST_F(machine_test, ClearedCountsStartAnewWithFullCaches) {
    word_array words("words", 8, 8);
    simulated.run(0, 1, [&](std::uint32_t) { words[0].store(1); });
    simulated.clear_counts();
    simulated.run(0, 1, [&](std::uint32_t) { words[0].store(1); });
    EXPECT_EQ(counted("words").accesses, 1U);
    EXPECT_EQ(counted("words").memory, 0U);
}

TEST_F(machine_test, OutsideOfThreadsNothingIsCounted) {
    word_array words("words", 8, 8);
    words[0].store(3);
    EXPECT_EQ(words[0].load(), 3U);
    EXPECT_EQ(counted("words"), tally{});
}

TEST_F(machine_test, AnAccessOfSeveralLinesIsOneForEach) {
    sim_array<std::byte> bytes("bytes", 256, 256);
    simulated.run(0, 1, [&](std::uint32_t) { report(bytes.data() + 32, 64, access_kind::write); });
    EXPECT_EQ(counted("bytes").accesses, 2U);
    EXPECT_EQ(counted("bytes").memory, 2U);
}

TEST_F(machine_test, PlainDataIsSimulatedLikeAtomics) {
    sim_array<sim_plain<std::uint32_t>> numbers("numbers", 16, 16);
    simulated.run(0, 1, [&](std::uint32_t) {
        numbers[0] = 5;
        numbers[1] = numbers[0];
        numbers[1]++;
    });
    EXPECT_EQ(static_cast<std::uint32_t>(numbers[1]), 6U);
    EXPECT_EQ(counted("numbers").accesses, 5U); // write; read, write; read, write
}

TEST_F(machine_test, ATicketLockKeepsThreadsApart) {
    coherence::simulated<ticket_lock> lock("lock");
    int inside = 0;
    int most = 0;
    int entered = 0;
    simulated.run(0, 4, [&](std::uint32_t) {
        for (int i = 0; i != 50; ++i) {
            const std::scoped_lock guard(*lock);
            most = std::max(most, ++inside);
            simulated.turn();
            simulated.turn();
            --inside;
            ++entered;
        }
    });
    EXPECT_EQ(most, 1);
    EXPECT_EQ(entered, 200);
}

TEST_F(machine_test, AWaitingThreadIsWokenWhenItsLineIsTaken) {
    word_array words("words", 8, 8);
    bool seen = false;
    simulated.run(0, 2, [&](std::uint32_t thread) {
        if (thread == 0) {
            while (words[0].load() == 0) {
                simulated.wait_for_change(&words[0]);
            }
            seen = true;
        } else {
            for (int i = 0; i != 50; ++i) {
                simulated.turn();
            }
            words[0].store(1);
        }
    });
    EXPECT_TRUE(seen);
    EXPECT_LE(counted("words").accesses, 3U); // it has not spun
}

} // namespace
} // namespace handlepool::coherence
