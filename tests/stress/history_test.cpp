// SPDX-License-Identifier: MIT

// The check of histories knows right from wrong, down to the order of two moments.

#include "oracle/clock.hpp"
#include "oracle/history.hpp"
#include "oracle/recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace handlepool::stress {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr handle_parts parts{.index_bits = 32, .generation_bits = 22};

constexpr std::uint64_t handle(std::uint64_t index, std::uint64_t generation) {
    return (std::uint64_t{5} << 54) | (generation << 32) | index;
}

// Two threads whose logs are written by hand. Times are exact.
struct history_test : testing::Test {
    explicit history_test(std::size_t partitions = 1) : checked(parts, partitions, 0) {
        for (int thread = 0; thread < 2; ++thread) {
            owned.push_back(std::make_unique<recorder>(partitions, 1));
            recorders.push_back(owned.back().get());
        }
    }

    void add(std::size_t thread, operation what, std::uint64_t of, time_stamp begin, time_stamp end,
             bool accepted, std::uint64_t content = 0, bool wrong = false) {
        recorders[thread]->add(parts.index(of), {.handle = of,
                                                 .begin = begin,
                                                 .end = end,
                                                 .content = content & 0xffff,
                                                 .what = static_cast<std::uint64_t>(what) & 0xff,
                                                 .accepted = accepted,
                                                 .wrong = wrong});
    }
    void created(time_stamp begin, time_stamp end, std::uint64_t of = one, std::uint64_t content = 7) {
        add(0, operation::emplace, of, begin, end, true, content);
    }
    void erased(time_stamp begin, time_stamp end, std::size_t thread = 0) {
        add(thread, operation::erase, one, begin, end, true);
    }
    void lost(time_stamp begin, time_stamp end) { add(1, operation::erase, one, begin, end, false); }
    void found(time_stamp begin, time_stamp end) { add(1, operation::find, one, begin, end, true, 7); }
    void refused(time_stamp begin, time_stamp end) { add(1, operation::contains, one, begin, end, false); }

    findings check() {
        for (std::size_t partition = 0; partition < checked.partitions(); ++partition) {
            checked.check(partition, recorders);
        }
        return checked.result();
    }
    void expect_right() { EXPECT_THAT(check().messages, IsEmpty()); }
    void expect_wrong(const std::string& invariant) {
        const findings result = check();
        EXPECT_EQ(result.violations, 1U);
        EXPECT_THAT(result.messages, ElementsAre(testing::StartsWith(invariant + "\n")));
    }

    static constexpr std::uint64_t one = handle(3, 9);

    history checked;
    std::vector<std::unique_ptr<recorder>> owned;
    std::vector<recorder*> recorders;
};

TEST_F(history_test, a_whole_life) {
    created(1, 2);
    found(3, 4);
    found(5, 8);
    erased(6, 7);
    lost(6, 9);
    refused(10, 11);
    expect_right();
}

TEST_F(history_test, what_overlaps_may_have_come_in_either_order) {
    created(10, 20);
    refused(5, 15);  // before the creation
    refused(15, 25); // began before it had returned
    found(11, 12);
    erased(30, 40);
    found(35, 45); // found it just before
    refused(31, 36);
    found(29, 32);
    expect_right();
}

TEST_F(history_test, found_after_the_erase_had_returned) {
    created(1, 2);
    erased(6, 7);
    found(8, 9);
    expect_wrong("a handle was found after its erase had returned");
    EXPECT_EQ(checked.result().stale_accepted, 1U);
}

TEST_F(history_test, refused_before_the_erase_began) {
    created(1, 2);
    refused(3, 5);
    erased(6, 7);
    expect_wrong("a handle was refused before its erase began");
}

TEST_F(history_test, refused_and_then_found) {
    created(1, 2);
    erased(3, 100);
    refused(10, 11);
    found(20, 21);
    expect_wrong("a handle was found after it had been refused");
}

TEST_F(history_test, refused_and_nobody_erased_it) {
    created(1, 2);
    refused(3, 4);
    expect_wrong("a handle was refused, and nobody had erased it");
}

TEST_F(history_test, all_lose) {
    created(1, 2);
    lost(3, 4);
    expect_wrong("a handle was refused, and nobody had erased it");
}

TEST_F(history_test, two_win) {
    created(1, 2);
    erased(3, 6, 0);
    erased(4, 5, 1);
    expect_wrong("2 erases of one handle were won");
}

TEST_F(history_test, found_before_it_was_given_out) {
    created(10, 12);
    found(5, 6);
    expect_wrong("a handle was accepted before it was given out");
}

TEST_F(history_test, given_out_twice) {
    created(1, 2);
    created(3, 4);
    expect_wrong("a handle was given out twice");
}

TEST_F(history_test, never_given_out) {
    refused(1, 2); // any value may be asked for
    found(1, 2);
    expect_wrong("a handle that was never given out was accepted by find");
}

TEST_F(history_test, another_object) {
    created(1, 2);
    add(1, operation::find, one, 3, 4, true, 8);
    expect_wrong("the handle of object 7 found object 8, or a torn one");
    EXPECT_EQ(checked.result().content_mismatches, 1U);
}

TEST_F(history_test, what_the_caller_knew_better) {
    created(1, 2);
    erased(3, 4);
    add(0, operation::contains, one, 4, 4, true, 0, true); // no clock is fine enough
    expect_wrong("contains accepted a handle, although its caller knew that the object was erased");
    EXPECT_EQ(checked.result().stale_accepted, 1U);
}

TEST_F(history_test, goes_on_from_check_to_check) {
    created(1, 2);
    expect_right();
    found(3, 4);
    expect_right();
    erased(5, 6);
    expect_right();
    refused(7, 8);
    expect_right();
    found(9, 10);
    expect_wrong("a handle was found after its erase had returned");
}

TEST_F(history_test, one_violation_of_a_handle_is_enough) {
    created(1, 2);
    erased(3, 4);
    found(5, 6);
    check();
    found(7, 8);
    EXPECT_EQ(check().violations, 1U);
}

TEST_F(history_test, the_clock_has_a_tolerance) {
    history tolerant(parts, 1, 100);
    created(1000, 1010);
    erased(2000, 2010);
    found(2100, 2150);
    tolerant.check(0, recorders);
    EXPECT_EQ(tolerant.result().violations, 0U);
    found(2111, 2150);
    tolerant.check(0, recorders);
    EXPECT_EQ(tolerant.result().violations, 1U);
}

TEST_F(history_test, tells_the_whole_story) {
    created(1000, 1010);
    add(1, operation::find, one, 1020, 1030, true, 7);
    expect_right();
    erased(1040, 1050);
    found(1060, 1070);
    EXPECT_THAT(check().messages,
                ElementsAre(AllOf(
                    HasSubstr("pool id 5, generation 9, index 3; accepted by 2 look-ups"),
                    HasSubstr("\n    +0            to +10           ns  thread 0 emplace: object 7\n"
                              "    +20           to +30           ns  thread 1 find: accepted, object 7\n"
                              "    +40           to +50           ns  thread 0 erase: won\n"
                              "    +60           to +70           ns  thread 1 find: accepted, object 7"))));
}

// Also what was wrong itself, and what came in the same check.
TEST_F(history_test, tells_what_was_wrong) {
    created(1, 2);
    add(0, operation::emplace, one, 5, 6, true, 8);
    add(1, operation::find, one, 3, 4, true, 9);
    const findings result = check();
    ASSERT_EQ(result.messages.size(), 2U);
    for (const std::string& message : result.messages) {
        EXPECT_THAT(message,
                    AllOf(HasSubstr("thread 0 emplace: object 7"), HasSubstr("emplace: accepted, object 8"),
                          HasSubstr("thread 1 find: accepted, object 9")));
    }
    found(10, 11);
    add(1, operation::contains, handle(50, 1), 3, 4, true);
    EXPECT_THAT(check().messages.back(), HasSubstr("thread 1 contains: accepted"));
}

TEST_F(history_test, tells_both_winners_that_began_at_the_same_moment) {
    created(1, 2);
    erased(3, 4, 0);
    erased(3, 4, 1);
    EXPECT_THAT(check().messages,
                ElementsAre(AllOf(HasSubstr("thread 0 erase: "), HasSubstr("thread 1 erase: "))));
}

TEST_F(history_test, shows_the_end_of_a_long_story) {
    created(1, 2);
    for (int i = 0; i < 1000; ++i) {
        found(10 + i, 11 + i);
    }
    erased(2000, 2001);
    found(2100, 2101);
    EXPECT_THAT(check().messages,
                ElementsAre(AllOf(HasSubstr("thread 0 emplace: object 7\n    ... 963 more\n"),
                                  HasSubstr("thread 0 erase: won\n"), HasSubstr("+2099"))));
}

// So many that the first of them are forgotten, but for the generation of their slots.
TEST_F(history_test, remembers_that_a_handle_died_long_ago) {
    const std::uint64_t lives = 300'000;
    for (std::uint64_t i = 0; i < lives; ++i) {
        const auto time = static_cast<time_stamp>(10 * i);
        const std::uint64_t of = handle(i % 100, 2 * (i / 100) + 1);
        created(time, time + 1, of, 7);
        add(0, operation::erase, of, time + 2, time + 3, true);
        if (i % 1000 == 999) {
            expect_right();
        }
    }
    add(1, operation::contains, handle(5, 1), 1, 2, false);
    expect_right();
    add(1, operation::contains, handle(5, 1), 1, 2, true);
    const findings result = check();
    EXPECT_EQ(result.violations, 1U);
    EXPECT_EQ(result.stale_accepted, 1U);
    EXPECT_THAT(result.messages,
                ElementsAre(HasSubstr("a handle whose erase was long ago was accepted by contains")));
    created(1, 2, handle(5, 1));
    EXPECT_THAT(check().messages.back(), HasSubstr("given out twice"));
}

struct partitioned_history_test : history_test {
    partitioned_history_test() : history_test(3) {}
};

TEST_F(partitioned_history_test, finds_the_same) {
    for (std::uint64_t index = 0; index < 10; ++index) {
        created(1, 2, handle(index, 1));
        add(0, operation::erase, handle(index, 1), 3, 4, true);
        add(1, operation::contains, handle(index, 1), 5, 6, index == 4);
    }
    EXPECT_THAT(check().messages, ElementsAre(HasSubstr("index 4;")));
}

TEST(recorder_test, keeps_a_sample_of_the_slots) {
    recorder sampled(2, 10);
    std::size_t kept = 0;
    for (std::uint64_t slot = 0; slot < 10'000; ++slot) {
        kept += sampled.keeps(slot) ? 1U : 0U;
        sampled.add(slot, {.handle = slot,
                           .begin = 10,
                           .end = 15,
                           .content = 0,
                           .what = static_cast<std::uint64_t>(operation::find) & 0xff,
                           .accepted = true,
                           .wrong = false});
    }
    EXPECT_NEAR(static_cast<double>(kept), 1000, 200);
    EXPECT_EQ(sampled.pending(), kept);
    EXPECT_EQ(sampled.counts.checked, kept);
    EXPECT_EQ(sampled.latencies(operation::find).count(), 10'000U) << "all are timed";
    EXPECT_EQ(sampled.latencies(operation::find).largest(), 5U);
}

TEST(clock_test, runs_forward_and_is_nearly_the_same_everywhere) {
    const time_stamp first = now();
    const time_stamp second = now();
    EXPECT_LE(first, second);
    const time_stamp skew = measure_clock_skew();
    EXPECT_GE(skew, 0);
    EXPECT_LT(skew, 1'000'000) << "histories can't be checked with such clocks";
}

} // namespace
} // namespace handlepool::stress
