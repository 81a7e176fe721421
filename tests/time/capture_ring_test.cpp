// SPDX-License-Identifier: MIT

// What a ring of captures keeps, gives up, refuses, and tells others.

#include <handlepool/boost_freelist.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/time/capture_ring.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

class capture_ring_test : public testing::Test {
protected:
    using pool_type = pool<int>;
    using handle_type = pool_type::handle_type;

    std::vector<int> items() const { return {pool_.items().begin(), pool_.items().end()}; }

    pool_type pool_{{.name = "numbers", .capacity = 10, .pool_id = 200}};
    change_log<pool_type> log_{pool_};
    capture_ring<pool_type> ring_{log_, {.frames = 3}};
};

TEST_F(capture_ring_test, needs_a_number_of_frames_that_can_be_kept) {
    EXPECT_EQ(message_of<std::invalid_argument>([&] { capture_ring<pool_type>(log_, {.frames = 0}); }),
              "capture_ring of pool 'numbers': frames is 0, and must be 1 to 65536");
    EXPECT_EQ(message_of<std::invalid_argument>([&] { capture_ring<pool_type>(log_, {.frames = 65'537}); }),
              "capture_ring of pool 'numbers': frames is 65537, and must be 1 to 65536");
}

TEST_F(capture_ring_test, keeps_the_latest_frames) {
    EXPECT_EQ(ring_.size(), 0U);
    EXPECT_EQ(ring_.oldest(), std::nullopt);
    EXPECT_EQ(ring_.newest(), std::nullopt);
    for (const std::uint64_t frame : {0U, 5U, 6U, 9U}) {
        ring_.capture(frame);
    }
    EXPECT_EQ(ring_.size(), 3U);
    EXPECT_THAT(ring_.oldest(), Optional(5U));
    EXPECT_THAT(ring_.newest(), Optional(9U));
    EXPECT_FALSE(ring_.contains(0));
    EXPECT_TRUE(ring_.contains(6));
    ring_.restore(5);
    EXPECT_EQ(ring_.size(), 1U);
    ring_.capture(std::numeric_limits<std::uint64_t>::max());
    EXPECT_THAT(ring_.newest(), Optional(std::numeric_limits<std::uint64_t>::max()));
}

TEST_F(capture_ring_test, refuses_frames_that_it_does_not_have) {
    EXPECT_EQ(message_of<std::out_of_range>([&] { ring_.restore(1); }),
              "capture_ring of pool 'numbers': frame 1 is not kept; none is");
    ring_.capture(4);
    ring_.capture(6);
    EXPECT_EQ(message_of<std::out_of_range>([&] { ring_.restore(5); }),
              "capture_ring of pool 'numbers': frame 5 is not kept; the oldest is 4, the newest 6");
    EXPECT_EQ(message_of<std::out_of_range>([&] { ring_.confirm(7); }),
              "capture_ring of pool 'numbers': frame 7 is not kept; the oldest is 4, the newest 6");
    EXPECT_EQ(message_of<std::invalid_argument>([&] { ring_.capture(6); }),
              "capture_ring of pool 'numbers': frame 6 can't be captured after frame 6; numbers ascend");
}

TEST_F(capture_ring_test, a_restored_pool_has_its_objects_handles_and_order) {
    const handle_type a = pool_.emplace(1);
    const handle_type b = pool_.emplace(2);
    const handle_type c = pool_.emplace(3);
    const handle_type reserved = pool_.reserve_handle();
    ring_.capture(1);
    *log_.edit(a) = 10;
    pool_.erase(b);
    const handle_type d = pool_.emplace(4);
    EXPECT_TRUE(pool_.cancel(reserved));
    const handle_type renamed = pool_.revoke(c);
    ring_.capture(2);
    const handle_type e = pool_.emplace(5); // neither captured nor compacted

    const std::vector<handle_type> undone = ring_.restore(1);
    EXPECT_THAT(items(), ElementsAre(1, 2, 3));
    EXPECT_EQ(pool_.handle_at(0), a);
    EXPECT_EQ(pool_.handle_at(1), b);
    EXPECT_EQ(pool_.handle_at(2), c);
    EXPECT_EQ(pool_.size(), 3U);
    EXPECT_EQ(pool_.state(reserved), handle_state::reserved);
    EXPECT_EQ(pool_.stats().slots_reserved, 1U);
    EXPECT_THAT(undone, testing::UnorderedElementsAre(d, renamed, e));
    for (const handle_type each : undone) {
        EXPECT_EQ(pool_.state(each), handle_state::stale);
    }
    EXPECT_EQ(pool_.emplace(4), d);
    EXPECT_TRUE(pool_.cancel(reserved));
    EXPECT_EQ(pool_.revoke(c), renamed);
    EXPECT_EQ(pool_.emplace(5), e);
}

TEST_F(capture_ring_test, what_was_not_marked_stays) {
    const handle_type a = pool_.emplace(1);
    ring_.capture(1);
    *log_.edit(a) = 2;
    ring_.capture(2);
    ring_.restore(1);
    EXPECT_EQ(pool_[a], 1);
    ring_.restore(1); // nothing to do
    EXPECT_EQ(pool_[a], 1);
}

TEST_F(capture_ring_test, knows_what_can_be_undone) {
    const handle_type a = pool_.emplace(1);
    EXPECT_FALSE(ring_.is_confirmed(a));
    ring_.capture(1);
    const handle_type b = pool_.emplace(2);
    const handle_type reserved = pool_.reserve_handle();
    ring_.capture(2);
    const handle_type c = pool_.emplace(3);
    EXPECT_TRUE(ring_.is_confirmed(a));
    EXPECT_FALSE(ring_.is_confirmed(b));
    EXPECT_FALSE(ring_.is_confirmed(reserved));
    EXPECT_FALSE(ring_.is_confirmed(c));
    EXPECT_FALSE(ring_.is_confirmed(handle_type()));
    for (const std::uint32_t id : {199U, 201U}) {
        pool_type other({.name = "other", .capacity = 10, .pool_id = id});
        EXPECT_FALSE(ring_.is_confirmed(other.emplace(1)));
    }
    ring_.confirm(2);
    EXPECT_TRUE(ring_.is_confirmed(b));
    EXPECT_TRUE(ring_.is_confirmed(reserved));
    EXPECT_FALSE(ring_.is_confirmed(c));
    EXPECT_THAT(ring_.oldest(), Optional(2U));
    EXPECT_EQ(message_of<std::out_of_range>([&] { ring_.restore(1); }),
              "capture_ring of pool 'numbers': frame 1 is not kept; the oldest is 2, the newest 2");
    // The oldest falls out of a full ring, and is confirmed by that.
    ring_.capture(3);
    ring_.capture(4);
    EXPECT_FALSE(ring_.is_confirmed(c));
    ring_.capture(5);
    EXPECT_TRUE(ring_.is_confirmed(c));
}

TEST_F(capture_ring_test, is_refused_while_the_pool_is_held) {
    const handle_type a = pool_.emplace(1);
    ring_.capture(1);
    *log_.edit(a) = 2;
    {
        const auto guard = pool_.access();
        EXPECT_THROW(ring_.restore(1), compaction_conflict);
        EXPECT_THROW(ring_.capture(2), compaction_conflict);
    }
    {
        auto alone = pool_.exclusive_access();
        EXPECT_THROW(ring_.restore(1), compaction_conflict);
        EXPECT_THROW(ring_.capture(2), compaction_conflict);
    }
    EXPECT_EQ(pool_[a], 2);
    EXPECT_THAT(ring_.newest(), Optional(1U));
    ring_.restore(1);
    EXPECT_EQ(pool_[a], 1);
}

TEST(confirmed_handles, are_all_of_before_a_reset) {
    pool<int> numbers({.name = "numbers", .capacity = 10});
    change_log log(numbers);
    capture_ring ring(log);
    ring.capture(1);
    const auto before = numbers.emplace(1); // in a slot that no capture has seen in use
    EXPECT_FALSE(ring.is_confirmed(before));
    numbers.reset();
    ring.capture(2);
    EXPECT_TRUE(ring.is_confirmed(before));
    EXPECT_FALSE(ring.is_confirmed(numbers.emplace(2)));
}

TEST_F(capture_ring_test, a_reset_pool_begins_anew) {
    pool_.emplace(1);
    ring_.capture(1);
    pool_.reset();
    const handle_type b = pool_.emplace(2);
    EXPECT_EQ(
        message_of<std::logic_error>([&] { ring_.restore(1); }),
        "capture_ring of pool 'numbers': the pool was reset after frame 1, so no frame can be restored");
    EXPECT_THAT(items(), ElementsAre(2));
    EXPECT_EQ(ring_.size(), 0U);
    ring_.capture(1);
    pool_.erase(b);
    ring_.restore(1);
    EXPECT_THAT(items(), ElementsAre(2));
    EXPECT_TRUE(pool_.contains(b));
    pool_.reset();
    ring_.capture(0); // which notices that too
    EXPECT_THAT(ring_.oldest(), Optional(0U));
    EXPECT_FALSE(ring_.contains(1));
    EXPECT_THAT(items(), IsEmpty());
}

TEST_F(capture_ring_test, a_slot_can_have_another_object_at_the_same_position) {
    pool_type small({.name = "small", .capacity = 1, .reuse_delay = 0, .slot_limit = 1});
    change_log<pool_type> log(small);
    capture_ring<pool_type> ring(log);
    const handle_type a = small.emplace(1);
    ring.capture(1);
    small.erase(a);
    small.compact();
    const handle_type b = small.emplace(2);
    EXPECT_EQ(a.index(), b.index());
    ring.capture(2);
    const handle_type c = small.revoke(b);
    ring.capture(3);
    EXPECT_THAT(ring.restore(2), ElementsAre(c));
    EXPECT_TRUE(small.contains(b));
    EXPECT_THAT(ring.restore(1), ElementsAre(b));
    EXPECT_TRUE(small.contains(a));
    EXPECT_EQ(small[a], 1);
}

TEST_F(capture_ring_test, a_cancelled_handle_is_reserved_again) {
    const handle_type reserved = pool_.reserve_handle();
    ring_.capture(1);
    pool_.cancel(reserved);
    ring_.capture(2);
    ring_.restore(2);
    EXPECT_EQ(pool_.state(reserved), handle_state::stale);
    EXPECT_THAT(ring_.restore(1), IsEmpty());
    EXPECT_EQ(pool_.state(reserved), handle_state::reserved);
    pool_.fulfill(reserved, 3);
    EXPECT_EQ(pool_[reserved], 3);
}

TEST_F(capture_ring_test, a_handle_that_is_reserved_again_is_fulfilled_in_the_next_capture) {
    const handle_type reserved = pool_.reserve_handle();
    ring_.capture(1);
    pool_.fulfill(reserved, 1);
    ring_.capture(2);
    ring_.restore(1);
    pool_.fulfill(reserved, 2);
    ring_.capture(2);
    pool_.erase(reserved);
    ring_.restore(2);
    EXPECT_THAT(pool_.find(reserved), testing::Pointee(2));
}

TEST_F(capture_ring_test, hooks_are_told_of_those_that_end_and_of_those_that_come_back) {
    std::vector<int> ended;
    std::vector<int> born;
    const handle_type a = pool_.emplace(1);
    pool_.emplace(2);
    ring_.capture(1);
    const scoped_hook deaths = pool_.on_destroy([&](handle_type, int& each) { ended.push_back(each); });
    const scoped_hook births = pool_.on_birth([&](handle_type, int& each) { born.push_back(each); });
    pool_.erase(a);
    pool_.emplace(3);
    ring_.capture(2);
    EXPECT_THAT(std::exchange(ended, {}), ElementsAre(1));
    EXPECT_THAT(std::exchange(born, {}), ElementsAre(3));
    ring_.restore(1);
    EXPECT_THAT(ended, ElementsAre(3));
    EXPECT_THAT(born, ElementsAre(1));
}

TEST_F(capture_ring_test, what_a_hook_creates_meanwhile_is_undone) {
    ring_.capture(1);
    pool_.emplace(1);
    ring_.capture(2);
    std::vector<handle_type> made;
    bool goes_on = true;
    const scoped_hook deaths = pool_.on_destroy([&](handle_type, int& each) {
        if (each < 5 || goes_on) {
            made.push_back(pool_.emplace(each + 1));
        }
    });
    EXPECT_EQ(message_of<compaction_conflict>([&] { ring_.restore(1); }),
              "capture_ring of pool 'numbers': hooks of on_destroy() create objects again and again during "
              "restore()");
    EXPECT_THAT(ring_.newest(), Optional(1U));
    goes_on = false;
    pool_.emplace(0);
    const std::vector<handle_type> undone = ring_.restore(1);
    EXPECT_THAT(items(), IsEmpty());
    EXPECT_EQ(pool_.size(), 0U);
    for (const handle_type each : made) {
        EXPECT_FALSE(pool_.contains(each));
        EXPECT_THAT(undone, testing::Contains(each));
    }
}

TEST_F(capture_ring_test, hooks_can_not_capture_or_restore) {
    ring_.capture(1);
    pool_.emplace(1);
    ring_.capture(2);
    std::vector<std::string> refusals;
    const scoped_hook deaths = pool_.on_destroy([&](handle_type, int&) {
        refusals.push_back(message_of<compaction_conflict>([&] { ring_.capture(7); }));
        refusals.push_back(message_of<compaction_conflict>([&] { ring_.restore(1); }));
    });
    ring_.restore(1);
    ASSERT_EQ(refusals.size(), 2U);
    EXPECT_EQ(refusals[0], refusals[1]);
    EXPECT_EQ(refusals[0], "handlepool: pool 'numbers': compaction was asked for while one is running");
    EXPECT_THAT(items(), IsEmpty());
}

TEST_F(capture_ring_test, the_log_has_a_record_of_a_restore) {
    const handle_type a = pool_.emplace(1);
    const handle_type b = pool_.emplace(2);
    ring_.capture(1);
    pool_.erase(a); // so b moves to position 0
    *log_.edit(b) = 20;
    ring_.capture(2);
    const std::uint64_t seen = log_.frame();
    ring_.restore(1);
    const auto records = log_.changes_since(seen);
    ASSERT_TRUE(records);
    const auto& record = records->back();
    using record_type = change_log<pool_type>::record_type;
    EXPECT_THAT(record.born, ElementsAre(record_type::placed{a, 0}));
    EXPECT_THAT(record.moved, ElementsAre(record_type::moved_object{b, 0, 1}));
    EXPECT_THAT(record.edited, ElementsAre(record_type::placed{b, 1}));
    EXPECT_THAT(log_.upload_ranges(seen), Optional(ElementsAre(position_range{0, 2})));
}

TEST_F(capture_ring_test, attached_containers_lose_what_is_undone) {
    handle_map<int, std::string> names;
    names.attach(pool_);
    ring_.capture(1);
    const handle_type a = pool_.emplace(1);
    names.try_emplace(a, "a");
    ring_.capture(2);
    ring_.restore(1);
    EXPECT_TRUE(names.empty());
}

TEST_F(capture_ring_test, a_sort_goes_on_where_it_was) {
    for (const int each : {9, 7, 5, 3, 8, 6, 4, 2}) {
        pool_.emplace(each);
    }
    pool_.compact();
    sort_some_by(pool_, [](int each) { return each; }, 3);
    ring_.capture(1);
    const std::vector<int> then = items();
    // All are equal, so it is the order that was begun in which they come.
    const auto go_on = [&](std::size_t budget) {
        sort_some_by(pool_, [](int) { return 0; }, budget);
        return items();
    };
    const std::vector<int> next = go_on(3);
    EXPECT_NE(then, next);
    EXPECT_THAT(go_on(10), ElementsAre(2, 3, 4, 5, 6, 7, 8, 9));
    ring_.capture(2);
    ring_.restore(1);
    EXPECT_EQ(items(), then);
    EXPECT_EQ(go_on(3), next);
}

TEST_F(capture_ring_test, two_rings_take_a_pool_back_one_after_the_other) {
    capture_ring<pool_type> other(log_, {.frames = 2});
    const handle_type a = pool_.emplace(1);
    ring_.capture(1);
    *log_.edit(a) = 2;
    other.capture(1);
    *log_.edit(a) = 3;
    ring_.restore(1);
    EXPECT_EQ(pool_[a], 1);
    other.restore(1);
    EXPECT_EQ(pool_[a], 2);
    ring_.restore(1);
    EXPECT_EQ(pool_[a], 1);
}

TEST_F(capture_ring_test, finds_an_object_in_a_slot_that_waited_before_another_ring_took_the_pool_back) {
    capture_ring<pool_type> other(log_);
    ring_.capture(1);
    other.capture(1);
    pool_.erase(pool_.emplace(1));
    ring_.capture(2);
    other.restore(1);
    const handle_type a = pool_.emplace(2);
    ring_.capture(3);
    pool_.erase(a);
    ring_.restore(3);
    EXPECT_THAT(items(), ElementsAre(2));
    EXPECT_THAT(pool_.find(a), testing::Pointee(2));
}

TEST_F(capture_ring_test, slots_that_came_back_unused_go_out_first_again) {
    const handle_type reserved = pool_.reserve_handle();
    pool_.emplace(1);
    pool_.cancel(reserved);
    ring_.capture(1);
    const auto make = [&] { // the claimed ones go out before it
        std::vector<handle_type> made;
        while (made.empty() || made.back().index() != reserved.index()) {
            made.push_back(pool_.emplace(2));
        }
        return made;
    };
    const std::vector<handle_type> made = make();
    ring_.restore(1);
    EXPECT_EQ(make(), made);
}

TEST(slots_that_came_back_unused, go_out_in_the_same_order_again) {
    pool<int> numbers({.name = "numbers", .capacity = 300});
    change_log log(numbers);
    capture_ring ring(log);
    std::vector<pool<int>::handle_type> reserved;
    for (int i = 0; i != 200; ++i) {
        reserved.push_back(numbers.reserve_handle());
    }
    numbers.cancel(reserved[100]);
    numbers.cancel(reserved[10]); // of another word of the bitmap, where the next search begins
    ring.capture(1);
    const auto fill = [&] {
        std::vector<pool<int>::handle_type> made;
        while (const auto each = numbers.try_emplace(2)) {
            made.push_back(each);
        }
        return made;
    };
    const std::vector<pool<int>::handle_type> made = fill();
    ring.restore(1);
    EXPECT_EQ(fill(), made);
}

TEST_F(capture_ring_test, each_log_is_told_of_what_a_restore_has_written) {
    change_log<pool_type> other(pool_);
    const handle_type a = pool_.emplace(1);
    pool_.emplace(2);
    ring_.capture(1);
    *log_.edit(a) = 10;
    EXPECT_TRUE(other.mark(a));
    ring_.capture(2);
    const std::uint64_t seen = other.frame();
    ring_.restore(1); // a checked build would end where the other log was not told
    EXPECT_THAT(other.upload_ranges(seen), Optional(ElementsAre(position_range{0, 1})));
}

TEST_F(capture_ring_test, what_hooks_of_births_do_belongs_to_the_next_frame) {
    const handle_type a = pool_.emplace(1);
    const handle_type b = pool_.emplace(2);
    const handle_type c = pool_.emplace(3);
    ring_.capture(1);
    pool_.clear();
    ring_.capture(2);
    std::vector<handle_type> told;
    handle_type renewed;
    {
        const scoped_hook births = pool_.on_birth([&](handle_type handle, int& each) {
            told.push_back(handle);
            EXPECT_EQ(pool_.find(handle), &each);
            if (handle == a) {
                *log_.edit(a) = 10;
                pool_.erase(b);
                renewed = pool_.revoke(c);
            }
        });
        ring_.restore(1);
    }
    EXPECT_THAT(told, ElementsAre(a, renewed)) << "as in a compaction";
    ring_.restore(1);
    EXPECT_THAT(items(), ElementsAre(1, 2, 3));
    EXPECT_TRUE(pool_.contains(b));
    EXPECT_TRUE(pool_.contains(c));
}

TEST_F(capture_ring_test, shows_its_memory) {
    const std::size_t before = ring_.memory().resident;
    for (int i = 0; i != 10; ++i) {
        pool_.emplace(i);
    }
    ring_.capture(1);
    EXPECT_GT(ring_.memory().resident, before);
}

TEST_F(capture_ring_test, takes_no_more_memory_with_time) {
    std::vector<handle_type> handles;
    pool_.emplace_n(9, std::back_inserter(handles), 1);
    std::uint64_t frame = 0;
    const auto play = [&](int captures) {
        for (int i = 0; i != captures; ++i) {
            for (const handle_type each : handles) {
                ++*log_.edit(each);
            }
            pool_.erase(std::exchange(handles[frame % 9], handle_type()));
            handles[frame % 9] = pool_.emplace(2);
            ring_.capture(++frame);
            if (i % 3 == 0) {
                ring_.restore(frame);
            }
            if (i % 7 == 3) { // two captures are undone
                for (const std::uint64_t next : {frame + 1, frame + 2}) {
                    for (const handle_type each : handles) {
                        ++*log_.edit(each);
                    }
                    ring_.capture(next);
                }
                ring_.restore(frame);
            }
        }
        return ring_.memory().resident;
    };
    const std::size_t then = play(20'000); // until slots are used again
    // Versions come in blocks of 16,384 integers.
    EXPECT_EQ(play(20'000), then);
}

class ring_beside_another : public testing::TestWithParam<bool> {};

TEST_P(ring_beside_another, finds_the_slots_of_a_pool_that_the_other_has_restored) {
    using pool_type = pool<int>;
    using handle_type = pool_type::handle_type;
    pool_type numbers({.name = "numbers", .capacity = 100, .reuse_delay = 0});
    change_log<pool_type> log(numbers);
    capture_ring<pool_type> ring(log);
    capture_ring<pool_type> other(log);
    std::vector<handle_type> handles;
    numbers.emplace_n(40, std::back_inserter(handles), 1);
    const auto erase = [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i != last; ++i) {
            numbers.erase(handles[i]);
        }
        numbers.compact();
    };
    other.capture(1);
    erase(0, 10);
    ring.capture(1);  // ten slots wait
    other.restore(1); // none does
    erase(26, 40);    // others do
    for (int i = 0; i != 3; ++i) {
        numbers.emplace(2);
    }
    ring.capture(2);
    if (GetParam()) { // the capture before is from before the other ring's restore
        ring.drop_newest();
        ring.capture(2);
    }
    for (int i = 0; i != 5; ++i) {
        numbers.emplace(3);
    }
    ring.capture(3);
    ring.restore(2);
    std::vector<handle_type> all;
    for (const auto& [handle, each] : numbers.entries()) {
        all.push_back(handle);
    }
    EXPECT_EQ(all.size(), 29U);
    while (const handle_type made = numbers.try_emplace(4)) {
        all.push_back(made);
    }
    EXPECT_EQ(all.size(), 100U);
    std::ranges::sort(all, {}, &handle_type::index);
    EXPECT_EQ(std::ranges::adjacent_find(all, {}, &handle_type::index), all.end());
}

INSTANTIATE_TEST_SUITE_P(drops, ring_beside_another, testing::Bool(), testing::PrintToStringParamName());

/// Refuses its n-th copy.
struct reluctant_copy {
    explicit reluctant_copy(int number) : value(number) {}
    reluctant_copy(const reluctant_copy& other) : value(other.value) { count(); }
    reluctant_copy& operator=(const reluctant_copy& other) {
        count();
        value = other.value;
        return *this;
    }
    reluctant_copy(reluctant_copy&& other) noexcept = default;
    ~reluctant_copy() = default;
    static void count() {
        if (left-- == 0) {
            throw std::runtime_error("no more copies");
        }
    }
    static inline int left = std::numeric_limits<int>::max();
    int value;
};

/// Calls `action` with the first copy failing, then with the second, until none does.
void with_each_copy_failing(const std::function<void()>& action, const std::function<void()>& failed) {
    for (int copies = 0;; ++copies) {
        reluctant_copy::left = copies;
        const std::string message = message_of<std::runtime_error>(action);
        const bool all = reluctant_copy::left >= 0;
        reluctant_copy::left = std::numeric_limits<int>::max();
        if (all) {
            break;
        }
        EXPECT_EQ(message, "no more copies");
        failed();
    }
}

TEST(capture_of_objects_that_throw, leaves_pool_and_ring_as_they_were) {
    using pool_type = pool<reluctant_copy>;
    pool_type objects({.name = "reluctant", .capacity = 100});
    change_log<pool_type> log(objects);
    capture_ring<pool_type> ring(log, {.frames = 2});
    std::vector<pool_type::handle_type> handles;
    objects.emplace_n(20, std::back_inserter(handles), 1);
    const auto values = [&] {
        std::vector<int> all;
        for (const reluctant_copy& each : objects.items()) {
            all.push_back(each.value);
        }
        return all;
    };
    int failures = 0;
    with_each_copy_failing([&] { ring.capture(1); },
                           [&] {
                               EXPECT_EQ(ring.size(), 0U);
                               ++failures;
                           });
    EXPECT_EQ(failures, 20);
    for (std::size_t i = 0; i != 10; ++i) {
        log.edit(handles[i])->value = 2;
    }
    objects.erase(handles[10]);
    const std::vector<int> first(20, 1);
    failures = 0;
    with_each_copy_failing([&] { ring.capture(2); },
                           [&] {
                               EXPECT_THAT(ring.newest(), Optional(1U));
                               ++failures;
                           });
    EXPECT_GE(failures, 11); // ten edited, and one that moved
    const std::vector<int> second = values();

    // What fails on the way back can be tried again.
    failures = 0;
    with_each_copy_failing([&] { ring.restore(1); },
                           [&] {
                               EXPECT_THAT(ring.newest(), Optional(1U));
                               ++failures;
                           });
    EXPECT_GE(failures, 11);
    EXPECT_EQ(values(), first);
    EXPECT_NE(second, first);
    for (const auto each : handles) {
        EXPECT_TRUE(objects.contains(each));
    }
}

TEST(capture_of_a_pool_used_by_many_threads, hands_out_the_slots_that_each_has_claimed) {
    pool<int> numbers({.name = "numbers", .capacity = 1'000});
    change_log<pool<int>> log(numbers);
    capture_ring<pool<int>> ring(log);
    const auto made_by_another = [&] {
        handle<int> made;
        std::thread([&] { made = numbers.emplace(1); }).join();
        return made;
    };
    numbers.emplace(1);
    made_by_another(); // has claimed more than one
    ring.capture(1);
    const handle<int> mine = numbers.emplace(2);
    const handle<int> others = made_by_another();
    ring.restore(1);
    EXPECT_EQ(made_by_another(), others);
    EXPECT_EQ(numbers.emplace(2), mine);
}

TEST(capture_of_a_pool_used_by_many_threads, takes_back_what_a_new_one_has_claimed) {
    pool<int> numbers({.name = "numbers", .capacity = 1'000, .reuse_delay = 0, .slot_limit = 1'000});
    change_log<pool<int>> log(numbers);
    capture_ring<pool<int>> ring(log);
    numbers.emplace(1);
    ring.capture(1);
    std::thread([&] { numbers.emplace(1); }).join();
    ring.restore(1);
    std::vector<handle<int>> all;
    const auto fill = [&] {
        while (const handle<int> made = numbers.try_emplace(2)) {
            all.push_back(made);
        }
    };
    fill();
    std::thread(fill).join();
    std::ranges::sort(all, {}, &handle<int>::index);
    EXPECT_EQ(all.size(), 999U);
    EXPECT_EQ(std::ranges::adjacent_find(all, {}, &handle<int>::index), all.end());
}

/// Ends another object when it ends itself.
struct owner_of_another {
    std::shared_ptr<void> guard; // ends the other one with its last copy
};

TEST(capture_of_objects_with_destructors, lets_them_use_the_pool) {
    pool<owner_of_another> objects({.name = "objects", .capacity = 10});
    change_log<pool<owner_of_another>> log(objects);
    capture_ring<pool<owner_of_another>> ring(log);
    const auto first = objects.emplace();
    const auto parent = objects.emplace();
    const auto child = objects.emplace();
    ring.capture(1);
    log.edit(parent)->guard = std::shared_ptr<void>(nullptr, [&](void*) { objects.erase(child); });
    objects.erase(first); // the child fills the hole
    ring.restore(1);      // ends the guard, when the child is back in its place
    EXPECT_TRUE(objects.contains(first));
    EXPECT_TRUE(objects.contains(parent));
    EXPECT_FALSE(objects.contains(child));
    EXPECT_EQ(objects.size(), 2U);
    objects.compact();
    EXPECT_EQ(objects.items().size(), 2U);
    EXPECT_EQ(objects.size(), 2U);
    ring.restore(1);
    EXPECT_TRUE(objects.contains(child));
    EXPECT_EQ(objects.size(), 3U);
}

// Other freelists are refused where they are named.
static_assert(capturable_freelist<fifo_freelist<default_policy>>);
static_assert(!capturable_freelist<boost_freelist<default_policy>>);

} // namespace
} // namespace handlepool::test
