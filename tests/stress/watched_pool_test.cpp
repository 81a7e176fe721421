// SPDX-License-Identifier: MIT

// The checks of the harness can fail: each kind of wrong answer is provoked, and must be counted and put into
// words.

#include "run/test_run.hpp"
#include "watched/watched_pool.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/tabulate.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::stress {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

struct watched_pool_test : testing::Test {
    const findings& finish() {
        pool.finish();
        return run.result().all;
    }

    test_run run{"test", {.threads = 2}};
    watched_pool<> pool{run, {.name = "watched", .capacity = 64, .reuse_delay = 4}};
    watched_pool<>::client_type& mine = pool.by(0);
};

TEST_F(watched_pool_test, right_answers_are_no_violation) {
    const auto handle = mine.create_numbered(7);
    mine.look_up(handle, 7);
    EXPECT_TRUE(mine.contains(handle));
    EXPECT_TRUE(mine.find(handle));
    mine.erase_living(handle);
    EXPECT_FALSE(mine.erase(handle));
    pool.end_frame();
    mine.try_stale(handle);
    mine.try_forged({});
    mine.try_forged(watched_pool<>::handle_type::from_value(~std::uint64_t{0}));
    const findings& all = finish();
    EXPECT_EQ(all.created, 1U);
    EXPECT_EQ(all.erased, 1U);
    EXPECT_EQ(all.live_lookups, 1U);
    EXPECT_EQ(all.stale_lookups, 6U) << "three of them by erase_living";
    EXPECT_EQ(all.forged_lookups, 2U);
    EXPECT_EQ(all.operations, 1U + 1 + 2 + 1 + 3 + 1 + 3 + 2);
    EXPECT_EQ(all.checked, all.operations - 2) << "all but the forged ones, which were refused";
    EXPECT_EQ(all.violations, 0U);
    EXPECT_THAT(all.messages, IsEmpty());
    EXPECT_EQ(run.result().frames, 1U);
    EXPECT_EQ(run.result().pool.created, 1U);
    EXPECT_EQ(run.result().latency(operation::emplace).count(), 1U);
}

TEST_F(watched_pool_test, another_object_is_a_content_mismatch) {
    const auto handle = mine.create_numbered(7);
    std::destroy_at(pool.get().find(handle));
    std::construct_at(pool.get().find(handle), mine.objects(), 8U);
    mine.find(handle);
    EXPECT_EQ(finish().content_mismatches, 1U);
    EXPECT_THAT(run.result().all.messages, Contains(StartsWith("the handle of object 7 found object 8")));
}

TEST_F(watched_pool_test, a_living_object_that_is_not_found_is_a_violation) {
    const auto handle = mine.create_numbered(7);
    pool.get().erase(handle); // behind the harness
    mine.look_up(handle, 7);
    const findings& all = finish();
    EXPECT_THAT(
        all.messages,
        Contains(StartsWith("find refused a handle, although its caller knew that the object was alive")));
    EXPECT_THAT(all.messages, Contains("pool 'watched': the number of living objects is 0, expected 1"));
}

TEST_F(watched_pool_test, an_erase_that_is_refused_is_a_violation) {
    const auto handle = mine.create();
    pool.get().erase(handle);
    mine.erase_living(handle);
    EXPECT_THAT(finish().messages, Contains(StartsWith("erase refused a handle, although its caller knew")));
}

TEST_F(watched_pool_test, a_stale_handle_that_is_accepted_is_a_violation) {
    mine.try_stale(mine.create_numbered(7)); // it is alive: to the check a wrong answer
    const findings& all = finish();
    EXPECT_EQ(all.stale_lookups, 3U);
    EXPECT_EQ(all.stale_accepted, 3U) << "by contains, by find and by erase";
    EXPECT_THAT(all.messages,
                Contains(AllOf(StartsWith("contains accepted a handle, although its caller knew that the "
                                          "object was erased\n  handle "),
                               HasSubstr("emplace: object 7"))));
}

TEST_F(watched_pool_test, an_object_that_the_harness_did_not_make_is_a_violation) {
    const auto handle = pool.get().emplace(mine.objects(), 9U);
    mine.try_forged(handle);
    const findings& all = finish();
    EXPECT_THAT(all.messages,
                Contains(StartsWith("a handle that was never given out was accepted by contains")));
    EXPECT_THAT(all.messages, Contains(HasSubstr("the number of living objects is 1, expected 0")));
    EXPECT_THAT(all.messages,
                Contains(HasSubstr("the number created, by the pool's count is 1, expected 0")));
}

TEST_F(watched_pool_test, a_second_destruction_is_counted) {
    const auto handle = mine.create();
    std::destroy_at(pool.get().find(handle));
    EXPECT_THAT(
        finish().messages,
        AllOf(Contains(HasSubstr("the number of destructions is 1, expected 0")),
              Contains(HasSubstr("the number of destructions of no living object is 1, expected 0"))));
}

TEST_F(watched_pool_test, an_object_with_another_content_is_torn) {
    const auto handle = mine.create_numbered(7);
    pool.end_frame();
    // Half of another object, as a move that lost a race would leave it.
    tracked_object& object = *pool.get().find(handle);
    const tracked_object other(mine.objects(), 8);
    std::memcpy(reinterpret_cast<std::byte*>(&object) + sizeof(tracked_object) / 2,
                reinterpret_cast<const std::byte*>(&other) + sizeof(tracked_object) / 2,
                sizeof(tracked_object) / 4);
    mine.look_up(handle, 7);
    pool.check_quiescent();
    run.check_histories();
    const findings& all = finish();
    EXPECT_GE(all.content_mismatches, 2U);
    EXPECT_THAT(all.messages, Contains(StartsWith("the handle of object 7 found object")));
    EXPECT_THAT(all.messages, Contains(StartsWith("the object at position 0, handle")));
}

TEST(watched_pool, what_a_sample_leaves_out_is_still_checked_by_its_callers) {
    test_run run("test", {.threads = 1, .sample = 1'000'000});
    watched_pool<> pool(run, {.name = "sampled", .capacity = 64});
    auto& mine = pool.by(0);
    mine.create(); // slot 0 is always in the sample
    const auto handle = mine.create_numbered(7);
    mine.look_up(handle, 8);
    mine.try_stale(handle);
    pool.finish();
    const findings& all = run.result().all;
    EXPECT_EQ(all.checked, 1U);
    EXPECT_EQ(all.content_mismatches, 1U);
    EXPECT_EQ(all.stale_accepted, 3U);
    EXPECT_THAT(all.messages, Contains(HasSubstr("of object 8 found object 7")));
    EXPECT_THAT(all.messages, Contains(StartsWith("contains accepted handle")));
}

TEST(watched_pool, a_reuse_that_is_too_early_is_a_violation) {
    test_run run("test", {.threads = 1});
    watched_pool<> pool(run, {.name = "reused", .capacity = 8, .reuse_delay = 2});
    auto& mine = pool.by(0);
    for (int i = 0; i < 100; ++i) {
        mine.erase_living(mine.create());
        pool.end_frame();
    }
    pool.finish();
    EXPECT_EQ(run.result().all.violations, 0U) << to_text(run.result());
    EXPECT_GE(run.result().reuse_distances.smallest(), 2U);
    EXPECT_GT(run.result().reuse_distances.count(), 50U);
}

TEST(watched_pool, one_that_is_left_by_an_exception_tells_what_it_found) {
    test_run run("test", {.threads = 1});
    {
        watched_pool<> pool(run, {.name = "left", .capacity = 8});
        pool.by(0).try_stale(pool.by(0).create());
        run.check_histories();
    }
    EXPECT_EQ(run.result().all.stale_accepted, 3U);
    EXPECT_EQ(run.result().all.created, 1U);
}

// ---- A pool whose objects never move

template <class Placement>
struct placed_pool {
    test_run run{"test", {.threads = 2}};
    watched_pool<Placement> pool{run, {.name = "placed", .capacity = 10'000, .reuse_delay = 4}};
    typename watched_pool<Placement>::client_type& mine = pool.by(0);

    // The same object, made elsewhere and moved to where it is.
    void bring_from_elsewhere(typename watched_pool<Placement>::handle_type object, std::uint64_t number) {
        tracked_object elsewhere(mine.objects(), number);
        tracked_object& here = *pool.get().find(object);
        {
            const tracked_object gone(std::move(here));
        }
        std::destroy_at(&here);
        std::construct_at(&here, std::move(elsewhere));
    }
};

TEST(watched_stable_pool, right_answers_are_no_violation) {
    placed_pool<stable_placement> at;
    for (const std::size_t count : {100U, 6000U}) { // the larger number is checked by all threads
        const auto made = test::tabulate(count, [&](std::uint64_t) { return at.mine.create(); });
        at.pool.end_frame();
        for (std::size_t i = 0; i < count; i += 3) {
            at.mine.erase_living(made[i]);
        }
        at.pool.end_frame();
        EXPECT_TRUE(at.mine.find(made[1]));
    }
    at.pool.finish();
    EXPECT_TRUE(at.run.result().passed()) << to_text(at.run.result());
    EXPECT_EQ(at.run.result().pool.alive, 66U + 4000U);
}

TEST(watched_stable_pool, an_object_that_is_found_where_it_was_not_made_is_a_violation) {
    placed_pool<stable_placement> at;
    const auto handle = at.mine.create_numbered(7);
    const void* const here = at.pool.get().find(handle);
    at.bring_from_elsewhere(handle, 7);
    const void* const elsewhere = at.pool.get().find(handle)->birthplace();
    EXPECT_NE(here, elsewhere);
    at.mine.look_up(handle, 7);
    EXPECT_THAT(at.mine.counts().messages,
                ElementsAre(fmt::format("the object of handle {} was made at {}, and is at {}", handle,
                                        elsewhere, here)));
    EXPECT_EQ(at.mine.counts().content_mismatches, 0U);
}

TEST(watched_stable_pool, an_object_that_nobody_looks_for_must_be_where_it_was_made_too) {
    for (const std::uint64_t others : {1U, 6000U}) {
        placed_pool<stable_placement> at;
        for (std::uint64_t i = 0; i < others; ++i) {
            at.mine.create();
        }
        const auto handle = at.mine.create_numbered(1 << 20);
        at.bring_from_elsewhere(handle, 1 << 20);
        at.pool.end_frame();
        at.pool.finish();
        EXPECT_THAT(at.run.result().all.messages,
                    Contains(AllOf(StartsWith("the object of handle"), HasSubstr("was made at 0x"))));
    }
}

TEST(watched_stable_pool, an_object_that_a_loop_does_not_visit_is_a_violation) {
    placed_pool<stable_placement> at;
    at.mine.create();
    at.pool.check_quiescent(); // before the compaction that lets loops visit it
    at.pool.finish();
    EXPECT_THAT(at.run.result().all.messages,
                Contains("pool 'placed': the number of objects that a loop visits is 0, expected 1"));
}

// ---- A pool of rows

TEST(watched_columns, right_answers_are_no_violation) {
    for (const std::size_t count : {100U, 6000U}) { // the larger number is checked by all threads
        placed_pool<columns_placement> at;
        std::vector<watched_pool<columns_placement>::handle_type> made;
        at.mine.create_several(count / 2, made);
        while (made.size() < count) {
            made.push_back(made.size() % 2 == 0 ? at.mine.create() : at.mine.try_create());
        }
        at.pool.end_frame();
        for (std::size_t i = 0; i < count; i += 3) {
            at.mine.erase_living(made[i]);
        }
        at.pool.end_frame();
        EXPECT_TRUE(at.mine.find(made[1]));
        at.pool.finish();
        EXPECT_TRUE(at.run.result().passed()) << to_text(at.run.result());
        EXPECT_EQ(at.run.result().pool.alive, 2 * count / 3);
    }
}

TEST(watched_columns, a_row_of_elements_that_do_not_belong_together_is_a_violation) {
    placed_pool<columns_placement> at;
    const auto found = at.mine.create_numbered(1);
    at.pool.get().find(found)->get<1>() = 2;
    at.mine.look_up(found, 1);
    at.pool.finish();
    EXPECT_GT(at.run.result().all.content_mismatches, 0U);

    placed_pool<columns_placement> unseen;
    unseen.mine.create_numbered(1);
    const auto torn = unseen.mine.create_numbered(2);
    unseen.pool.end_frame();
    unseen.pool.get().find(torn)->get<std::uint64_t>() = 1;
    unseen.pool.end_frame();
    unseen.pool.finish();
    EXPECT_THAT(unseen.run.result().all.messages,
                Contains(fmt::format("the object at position 1, handle {}, is torn", torn)));
}

TEST(watched_columns, an_object_that_is_not_at_its_row_is_a_violation) {
    placed_pool<columns_placement> at;
    const auto one = at.mine.create_numbered(1);
    const auto other = at.mine.create_numbered(2);
    at.pool.end_frame();
    auto rows = at.pool.get().mutable_items<tracked_object>();
    tracked_object first(std::move(rows[0]));
    std::destroy_at(&rows[0]);
    std::construct_at(&rows[0], std::move(rows[1]));
    std::destroy_at(&rows[1]);
    std::construct_at(&rows[1], std::move(first));
    at.mine.look_up(one, 1);
    at.mine.look_up(other, 2);
    at.pool.finish();
    EXPECT_GE(at.run.result().all.content_mismatches, 2U);
}

TEST(watched_pool, objects_of_a_dense_pool_move) {
    placed_pool<dense_placement> at;
    const auto first = at.mine.create_numbered(1);
    const auto last = at.mine.create_numbered(2);
    at.pool.end_frame();
    const void* const before = at.pool.get().find(last);
    at.mine.erase_living(first);
    at.pool.end_frame();
    EXPECT_NE(at.pool.get().find(last), before);
    at.mine.look_up(last, 2);
    at.pool.finish();
    EXPECT_TRUE(at.run.result().passed()) << to_text(at.run.result());
}

// ---- A pool that is wrong, in the ways that matter under contention

// Compares and exchanges in two steps, as one who takes no atomics for it.
template <class T>
class torn_atomic : public std::atomic<T> {
public:
    using std::atomic<T>::atomic;
    bool compare_exchange_strong(T& expected, T value, std::memory_order, std::memory_order) noexcept {
        const T found = this->load();
        if (found != expected) {
            expected = found;
            return false;
        }
        std::this_thread::yield();
        this->store(value);
        return true;
    }
};

struct torn_policy : default_policy {
    template <class T>
    using atomic = torn_atomic<T>;
};

TEST(watched_pool, finds_two_winners_of_one_erase) {
    test_run run("test", {.threads = 2, .seed = 1});
    watched_pool<dense_placement, torn_policy> pool(run,
                                                    {.name = "torn", .capacity = 100'000, .reuse_delay = 0});
    const auto victims = test::tabulate(20'000, [&](int) { return pool.by_main().create(); });
    run.together([&](std::size_t thread) {
        for (const auto handle : victims) {
            pool.by(thread).erase(handle);
        }
    });
    run.check_histories();
    // No compaction: such a pool might do anything.
    findings found;
    found += pool.histories().result();
    EXPECT_GT(found.violations, 0U);
    EXPECT_THAT(found.messages,
                Contains(AllOf(StartsWith("2 erases of one handle were won"), HasSubstr("thread 0 erase: "),
                               HasSubstr("thread 1 erase: "))));
}

// Says once that it has exchanged a tag, and has not.
template <class T>
class forgetful_atomic : public std::atomic<T> {
public:
    using std::atomic<T>::atomic;
    bool compare_exchange_strong(T& expected, T value, std::memory_order success,
                                 std::memory_order failure) noexcept {
        if (sizeof(T) == sizeof(default_layout::tag_type) && forgets_.exchange(false)) {
            return this->load() == expected;
        }
        return std::atomic<T>::compare_exchange_strong(expected, value, success, failure);
    }

private:
    inline static std::atomic<bool> forgets_ = true;
};

struct forgetful_policy : default_policy {
    template <class T>
    using atomic = forgetful_atomic<T>;
};

TEST(watched_pool, finds_a_look_up_that_comes_too_late) {
    test_run run("test", {.threads = 1});
    watched_pool<dense_placement, forgetful_policy> pool(run, {.name = "forgetful", .capacity = 100});
    const auto handle = pool.by(0).create();
    EXPECT_TRUE(pool.by(0).erase(handle));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(pool.by(0).contains(handle)) << "the pool is not as wrong as it should be";
    run.check_histories();
    EXPECT_EQ(pool.histories().result().stale_accepted, 1U);
    EXPECT_THAT(pool.histories().result().messages,
                ElementsAre(StartsWith("a handle was found after its erase had returned")));
}

TEST(tracked_object_test, is_recognized_by_its_number_alone) {
    lifetime_counts objects;
    for (std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 52) - 2}) {
        EXPECT_TRUE(tracked_object(objects, number).is(number));
        EXPECT_FALSE(tracked_object(objects, number).is(number + 1));
        EXPECT_EQ(tracked_object(objects, number).number(), number);
    }
    EXPECT_EQ(objects.deaths(), 9U);
    tracked_object first(objects, 1);
    const tracked_object second(std::move(first));
    EXPECT_TRUE(second.is(1));
    EXPECT_EQ(objects.misuses(), 0U);
    const tracked_object third(std::move(first)); // there is nothing left in it
    EXPECT_EQ(objects.misuses(), 1U);
}

TEST(tally_test, sums_add_up_and_messages_are_bounded) {
    findings one{.operations = 1,
                 .checked = 9,
                 .created = 2,
                 .erased = 3,
                 .undone = 10,
                 .live_lookups = 4,
                 .stale_lookups = 5,
                 .stale_accepted = 6,
                 .stale_explained = 12,
                 .forged_lookups = 11,
                 .content_mismatches = 7,
                 .violations = 8};
    one.messages = {"first"};
    findings sum = one;
    sum += one;
    EXPECT_EQ(sum.operations, 2U);
    EXPECT_EQ(sum.checked, 18U);
    EXPECT_EQ(sum.created, 4U);
    EXPECT_EQ(sum.erased, 6U);
    EXPECT_EQ(sum.undone, 20U);
    EXPECT_EQ(sum.live_lookups, 8U);
    EXPECT_EQ(sum.stale_lookups, 10U);
    EXPECT_EQ(sum.stale_accepted, 12U);
    EXPECT_EQ(sum.stale_explained, 24U);
    EXPECT_EQ(sum.forged_lookups, 22U);
    EXPECT_EQ(sum.content_mismatches, 14U);
    EXPECT_EQ(sum.violations, 16U);
    EXPECT_THAT(sum.messages, ElementsAre("first", "first"));
    for (int i = 0; i < 100; ++i) {
        sum.violate("again");
    }
    EXPECT_EQ(sum.violations, 116U);
    EXPECT_EQ(sum.messages.size(), 20U);
    sum += one;
    EXPECT_EQ(sum.messages.size(), 20U);
}

} // namespace
} // namespace handlepool::stress
