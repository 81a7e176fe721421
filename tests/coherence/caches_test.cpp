// SPDX-License-Identifier: MIT
#include "caches.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace handlepool::coherence {
namespace {

struct recorder final : cache_observer {
    void lost(line_number line, std::uint32_t thread) override { losses.emplace_back(line, thread); }
    void shared_falsely(const false_transfer& found) override { false_ones.push_back(found); }

    std::vector<std::pair<line_number, std::uint32_t>> losses;
    std::vector<false_transfer> false_ones;
};

struct caches_test : testing::Test {
    access_outcome read(std::uint32_t thread, std::size_t offset = 0, line_number line = 7) {
        return simulated.access(thread, line, offset, 4, access_kind::read);
    }
    access_outcome write(std::uint32_t thread, std::size_t offset = 0, line_number line = 7) {
        return simulated.access(thread, line, offset, 4, access_kind::write);
    }

    recorder observed;
    caches simulated{4, observed};
};

void expect_hit(const access_outcome& outcome) {
    EXPECT_FALSE(outcome.transfer);
    EXPECT_FALSE(outcome.upgrade);
    EXPECT_FALSE(outcome.memory);
    EXPECT_EQ(outcome.invalidated, 0U);
}

TEST_F(caches_test, TheFirstAccessGoesToMemory) {
    EXPECT_TRUE(read(0).memory);
    EXPECT_TRUE(write(0, 0, 8).memory);
    EXPECT_TRUE(simulated.holds(0, 7));
    EXPECT_FALSE(simulated.holds(1, 7));
}

TEST_F(caches_test, AnExclusiveLineIsWrittenWithoutAskingAnybody) {
    read(0);
    expect_hit(write(0));
    expect_hit(read(0));
}

TEST_F(caches_test, ReadersShareALine) {
    read(0);
    const access_outcome second = read(1);
    EXPECT_TRUE(second.transfer);
    EXPECT_FALSE(second.memory);
    EXPECT_EQ(second.invalidated, 0U);
    expect_hit(read(0));
    expect_hit(read(1));
    EXPECT_TRUE(observed.losses.empty());
}

TEST_F(caches_test, AWriteToASharedLineIsAnUpgradeAndInvalidatesTheOtherCopies) {
    read(0);
    read(1);
    read(2);
    const access_outcome written = write(1);
    EXPECT_TRUE(written.upgrade);
    EXPECT_FALSE(written.transfer);
    EXPECT_EQ(written.invalidated, 2U);
    EXPECT_EQ(observed.losses, (std::vector<std::pair<line_number, std::uint32_t>>{{7, 0}, {7, 2}}));
    EXPECT_FALSE(simulated.holds(0, 7));
    expect_hit(write(1));
}

TEST_F(caches_test, AWriteOfALineThatIsElsewhereIsATransferAndNoUpgrade) {
    write(0);
    const access_outcome written = write(1);
    EXPECT_TRUE(written.transfer);
    EXPECT_FALSE(written.upgrade);
    EXPECT_EQ(written.invalidated, 1U);
}

TEST_F(caches_test, AModifiedLineIsSharedWhenAnotherThreadReads) {
    write(0);
    EXPECT_TRUE(read(1).transfer);
    expect_hit(read(0));
    EXPECT_TRUE(write(0).upgrade); // it is no longer the only copy
}

TEST_F(caches_test, ThePingPongOfACounterIsCountedExactly) {
    int transfers = 0;
    int invalidated = 0;
    for (std::uint32_t i = 0; i != 100; ++i) {
        const access_outcome outcome = write(i % 2);
        transfers += outcome.transfer ? 1 : 0;
        invalidated += static_cast<int>(outcome.invalidated);
    }
    EXPECT_EQ(transfers, 99);
    EXPECT_EQ(invalidated, 99);
    simulated.settle();
    EXPECT_TRUE(observed.false_ones.empty()); // each wants what the other one wrote
}

TEST_F(caches_test, LinesDontDisturbEachOther) {
    write(0, 0, 7);
    write(1, 0, 8);
    expect_hit(write(0, 0, 7));
    expect_hit(write(1, 0, 8));
}

TEST_F(caches_test, TwoWordsOfALineAreSharedFalsely) {
    write(0, 0);
    write(1, 8);
    write(0, 0);
    write(1, 8);
    simulated.settle();
    ASSERT_EQ(observed.false_ones.size(), 2U); // the first transfer to each is not counted
    const false_transfer& first = observed.false_ones[0];
    EXPECT_EQ(first.line, 7U);
    EXPECT_EQ(first.thread, 0U);
    EXPECT_EQ(first.word, 0U);
    EXPECT_EQ(first.writer, 1U);
    EXPECT_EQ(first.written_word, 2U);
}

TEST_F(caches_test, ATransferWhoseNewsIsReadLaterIsTrueSharing) {
    write(0, 0);
    write(1, 8);
    read(0, 0);
    read(0, 8);
    write(1, 8);
    simulated.settle();
    EXPECT_TRUE(observed.false_ones.empty());
}

TEST_F(caches_test, WhatWasNotUsedBeforeTheCopyIsLostIsFalseSharing) {
    write(0, 0);
    write(1, 8);
    read(0, 0);
    write(1, 8); // now it is lost, and known
    ASSERT_EQ(observed.false_ones.size(), 1U);
    EXPECT_EQ(observed.false_ones[0].thread, 0U);
    EXPECT_EQ(observed.false_ones[0].writer, 1U);
}

TEST_F(caches_test, PurposesComeBack) {
    simulated.access(0, 7, 0, 4, access_kind::write, 11);
    simulated.access(1, 7, 8, 4, access_kind::write, 12);
    simulated.access(0, 7, 0, 4, access_kind::read, 13);
    simulated.settle();
    ASSERT_EQ(observed.false_ones.size(), 1U);
    EXPECT_EQ(observed.false_ones[0].purpose, 13U);
    EXPECT_EQ(observed.false_ones[0].writer_purpose, 12U);
}

TEST(caches_limits, NumbersOfThreadsAreChecked) {
    recorder observed;
    EXPECT_THROW(caches(0, observed), std::invalid_argument);
    EXPECT_THROW(caches(most_threads + 1, observed), std::invalid_argument);
    EXPECT_NO_THROW(caches(most_threads, observed));
}

} // namespace
} // namespace handlepool::coherence
