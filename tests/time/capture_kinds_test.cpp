// SPDX-License-Identifier: MIT

// Captures of pools of rows, of objects whose type is known at run time only, and of objects that stay where
// they are: what is copied, what fails half-way, what is refused, and what comes next.

#include <handlepool/columns.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/stable_pool.hpp>
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
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;

/// Counts those that live, and refuses its n-th copy.
struct counted_copy {
    explicit counted_copy(int number) : value(number) { ++living; }
    counted_copy(const counted_copy& other) : value(other.value) {
        count();
        ++living;
    }
    counted_copy(counted_copy&& other) noexcept : value(other.value) { ++living; }
    counted_copy& operator=(const counted_copy& other) {
        count();
        value = other.value;
        return *this;
    }
    ~counted_copy() { --living; }

    static void count() {
        if (left-- == 0) {
            throw std::runtime_error("no more copies");
        }
    }
    static inline int left = std::numeric_limits<int>::max();
    static inline int living = 0;
    int value;
};

/// One that can't be assigned.
struct constant_copy : counted_copy {
    using counted_copy::counted_copy;
    constant_copy(const constant_copy&) = default;
    constant_copy(constant_copy&&) noexcept = default;
    constant_copy& operator=(const constant_copy&) = delete;
    ~constant_copy() = default;
};

/// Calls `action` with the first copy failing, then with the second, until none does. Returns how many
/// failed.
int failures_of(const std::function<void()>& action, const std::function<void()>& failed) {
    for (int copies = 0;; ++copies) {
        counted_copy::left = copies;
        const std::string message = message_of<std::runtime_error>(action);
        const bool all = counted_copy::left >= 0;
        counted_copy::left = std::numeric_limits<int>::max();
        if (all) {
            return copies;
        }
        EXPECT_EQ(message, "no more copies");
        failed();
    }
}

// ---- Rows

TEST(captures_of_rows, bring_all_columns_back) {
    using pool_type = pool<columns<int, std::string, int>>;
    pool_type movers({.name = "movers", .capacity = 100});
    change_log<pool_type> log(movers);
    capture_ring<pool_type> ring(log);
    const auto a = movers.emplace(1, "a", 10);
    const auto b = movers.emplace(2, "b", 20);
    ring.capture(1);
    log.edit(a)->get<0>() = 3;
    log.edit(a)->get<1>() = std::string(40, 'c');
    log.edit(a)->get<2>() = 30;
    movers.erase(b);
    const auto c = movers.emplace(4, "d", 40);
    ring.capture(2);
    EXPECT_THAT(ring.restore(1), ElementsAre(c));
    EXPECT_THAT(movers.items<0>(), ElementsAre(1, 2));
    EXPECT_THAT(movers.items<1>(), ElementsAre("a", "b"));
    EXPECT_THAT(movers.items<2>(), ElementsAre(10, 20));
    EXPECT_TRUE(movers.contains(b));
    EXPECT_EQ(movers.emplace(5, "e", 50), c);
}

TEST(captures_of_rows, that_fail_in_one_column_leave_pool_and_ring_as_they_were) {
    using pool_type = pool<columns<counted_copy, constant_copy, std::string>>;
    {
        pool_type movers({.name = "movers", .capacity = 100});
        change_log<pool_type> log(movers);
        capture_ring<pool_type> ring(log, {.frames = 2});
        std::vector<pool_type::handle_type> handles;
        movers.emplace_n(6, std::back_inserter(handles), 1, 2, "a");
        const auto values = [&] {
            std::vector<int> all;
            for (const auto [first, second, text] : movers) {
                all.push_back(first.value);
                all.push_back(second.value);
                EXPECT_EQ(text, "a");
            }
            return all;
        };
        const std::vector<int> first = values();
        const auto play = [&](int value) {
            for (std::size_t i = 0; i != 3; ++i) {
                log.edit(handles[i])->get<0>().value = value;
                log.edit(handles[i])->get<1>().value = value + 1;
            }
        };
        EXPECT_EQ(failures_of([&] { ring.capture(1); }, [&] { EXPECT_EQ(ring.size(), 0U); }), 12);
        play(10);
        ring.capture(2);
        play(20);
        ring.capture(3);
        play(30); // from here on, versions are assigned to
        const std::vector<int> third = values();
        EXPECT_EQ(failures_of([&] { ring.capture(4); }, [&] { EXPECT_EQ(ring.newest(), 3U); }), 6);
        play(40);
        ring.capture(5);
        // After a failure it copies all.
        EXPECT_EQ(failures_of([&] { ring.restore(4); }, [&] { EXPECT_EQ(ring.newest(), 4U); }), 12);
        EXPECT_EQ(values(), third);
        EXPECT_NE(values(), first);
    }
    EXPECT_EQ(counted_copy::living, 0);
}

TEST(captures_of_rows, that_can_not_fail_are_copied_in_place) {
    struct tag {};
    using pool_type = pool<columns<int, tag, double>>;
    pool_type movers({.name = "movers", .capacity = 100, .keep_order = true});
    change_log<pool_type> log(movers);
    capture_ring<pool_type> ring(log);
    const auto a = movers.emplace(1, 1.5);
    movers.emplace(2, 2.5);
    movers.emplace(3, 3.5);
    ring.capture(1);
    movers.erase(a);
    ring.capture(2);
    ring.restore(1);
    EXPECT_THAT(movers.items<int>(), ElementsAre(1, 2, 3));
    EXPECT_THAT(movers.items<double>(), ElementsAre(1.5, 2.5, 3.5));
}

// ---- Objects whose type is known at run time

raw_type type_of_counted(bool copies) {
    return {
        .size = sizeof(counted_copy),
        .alignment = alignof(counted_copy),
        .relocate =
            [](void* to, void* from, void*) noexcept {
                ::new (to) counted_copy(std::move(*static_cast<counted_copy*>(from)));
                static_cast<counted_copy*>(from)->~counted_copy();
            },
        .destroy = [](void* object, void*) noexcept { static_cast<counted_copy*>(object)->~counted_copy(); },
        .copy = copies ? [](void* to, const void* from,
                            void*) { ::new (to) counted_copy(*static_cast<const counted_copy*>(from)); }
                       : static_cast<void (*)(void*, const void*, void*)>(nullptr)};
}

TEST(captures_of_raw_objects, copy_them_by_their_own_function) {
    {
        raw_pool<> objects({.name = "objects", .capacity = 100}, type_of_counted(true));
        change_log<raw_pool<>> log(objects);
        capture_ring<raw_pool<>> ring(log, {.frames = 2});
        std::vector<raw_pool<>::handle_type> handles;
        for (int i = 0; i != 6; ++i) {
            handles.push_back(objects.emplace([i](void* memory) { ::new (memory) counted_copy(i); }));
        }
        const auto values = [&] {
            std::vector<int> all;
            objects.for_each([&](void* each) { all.push_back(static_cast<counted_copy*>(each)->value); });
            return all;
        };
        const auto play = [&](int value) {
            for (std::size_t i = 0; i != 3; ++i) {
                static_cast<counted_copy*>(log.edit(handles[i]))->value = value;
            }
        };
        EXPECT_EQ(failures_of([&] { ring.capture(1); }, [&] { EXPECT_EQ(ring.size(), 0U); }), 6);
        play(10);
        ring.capture(2);
        play(20);
        ring.capture(3);
        play(30);
        EXPECT_EQ(failures_of([&] { ring.capture(4); }, [&] { EXPECT_EQ(ring.newest(), 3U); }), 3);
        play(40);
        objects.erase(handles[5]);
        // After a failure it copies all.
        EXPECT_EQ(failures_of([&] { ring.restore(4); }, [&] { EXPECT_EQ(ring.newest(), 4U); }), 6);
        EXPECT_THAT(values(), ElementsAre(30, 30, 30, 3, 4, 5));
        EXPECT_TRUE(objects.contains(handles[5]));
    }
    EXPECT_EQ(counted_copy::living, 0);
}

TEST(captures_of_raw_objects, copy_bytes_where_there_is_no_function) {
    raw_pool<> objects({.name = "objects", .capacity = 100}, {.size = 3, .alignment = 1});
    change_log<raw_pool<>> log(objects, {.check_marks = false});
    capture_ring<raw_pool<>> ring(log);
    const auto text = [&](auto handle) {
        return std::string(static_cast<const char*>(objects.find(handle)), 3);
    };
    const auto a =
        objects.emplace([](void* memory) { std::string("one").copy(static_cast<char*>(memory), 3); });
    const auto b =
        objects.emplace([](void* memory) { std::string("two").copy(static_cast<char*>(memory), 3); });
    ring.capture(1);
    static_cast<char*>(log.edit(a))[0] = 'x';
    objects.erase(b);
    ring.capture(2);
    EXPECT_EQ(text(a), "xne");
    ring.restore(1);
    EXPECT_EQ(text(a), "one");
    EXPECT_EQ(text(b), "two");
}

TEST(captures_of_raw_objects, are_refused_for_types_that_can_not_be_copied) {
    raw_pool<> objects({.name = "objects", .capacity = 100}, type_of_counted(false));
    change_log<raw_pool<>> log(objects);
    EXPECT_EQ(
        message_of<std::invalid_argument>([&] { capture_ring<raw_pool<>> ring(log); }),
        "capture_ring of pool 'objects': objects are captured by copies, and their raw_type has a function "
        "that destroys, but none that copies");
    raw_type type = type_of_counted(false);
    type.destroy = nullptr;
    raw_pool<> others({.name = "others", .capacity = 100}, type);
    change_log<raw_pool<>> other_log(others);
    EXPECT_EQ(
        message_of<std::invalid_argument>([&] { capture_ring<raw_pool<>> ring(other_log); }),
        "capture_ring of pool 'others': objects are captured by copies, and their raw_type has a function "
        "that relocates, but none that copies");
}

// ---- Objects that stay where they are

struct groups_of_four : default_policy {
    static constexpr std::size_t claim_size = 4;
    static constexpr std::size_t nursery_chunk = 4;
    static constexpr std::size_t claim_groups = 2;
};

class captures_of_stable_pools : public testing::Test {
protected:
    using pool_type = stable_pool<int, with_policy<groups_of_four>>;
    using handle_type = pool_type::handle_type;

    std::vector<int> items() const {
        std::vector<int> all;
        for (const int each : pool_) {
            all.push_back(each);
        }
        return all;
    }
    /// Makes objects, and tells where they are.
    std::vector<const int*> made(int count) {
        std::vector<const int*> places;
        for (int i = 0; i != count; ++i) {
            places.push_back(pool_.find(pool_.emplace(100 + i)));
        }
        return places;
    }

    pool_type pool_{{.name = "numbers", .capacity = 200}};
    change_log<pool_type> log_{pool_};
    capture_ring<pool_type> ring_{log_, {.frames = 3}};
};

TEST_F(captures_of_stable_pools, each_object_stands_where_it_was) {
    std::vector<handle_type> handles;
    std::vector<const int*> places;
    for (int i = 0; i != 10; ++i) {
        handles.push_back(pool_.emplace(i));
        places.push_back(pool_.find(handles.back()));
    }
    ring_.capture(1);
    pool_.erase(handles[2]);
    pool_.erase(handles[7]);
    *log_.edit(handles[4]) = 40;
    pool_.compact();
    std::vector<handle_type> others;
    pool_.emplace_n(5, std::back_inserter(others), 50); // in their places, too
    ring_.capture(2);
    ring_.restore(1);
    EXPECT_THAT(items(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
    for (std::size_t i = 0; i != handles.size(); ++i) {
        EXPECT_EQ(pool_.find(handles[i]), places[i]);
        EXPECT_EQ(pool_.handle_of(*places[i]), handles[i]);
    }
    for (const handle_type each : others) {
        EXPECT_FALSE(pool_.contains(each));
    }
}

TEST_F(captures_of_stable_pools, the_next_objects_get_the_same_places) {
    std::vector<handle_type> handles;
    pool_.emplace_n(30, std::back_inserter(handles), 1);
    pool_.compact();
    for (const std::size_t hole : {1U, 2U, 9U, 14U, 22U}) {
        pool_.erase(handles[hole]);
    }
    ring_.capture(1);
    const std::vector<const int*> first = made(20);
    std::vector<const int*> of_another;
    const auto make_elsewhere = [&] { std::thread([&] { of_another = made(7); }).join(); };
    make_elsewhere();
    const std::vector<const int*> first_of_another = of_another;
    ring_.capture(2);
    pool_.erase(handles[5]);
    ring_.capture(3);
    const std::vector<const int*> then = made(9);
    ring_.restore(1);
    EXPECT_EQ(made(20), first);
    make_elsewhere();
    EXPECT_EQ(of_another, first_of_another);
    ring_.capture(2);
    pool_.erase(handles[5]);
    ring_.capture(3);
    EXPECT_EQ(made(9), then);
}

TEST_F(captures_of_stable_pools, a_thread_takes_the_place_next_in_the_group_that_it_had) {
    pool_.emplace(1);
    ring_.capture(1); // three places of a group, and slots, are left to this thread
    const std::vector<const int*> first = made(3);
    ring_.capture(2);
    std::thread([&] { made(2); }).join(); // has a shard for the first time
    ring_.restore(1);
    EXPECT_EQ(made(3), first);
    std::vector<const int*> all(first);
    std::thread([&] {
        const std::vector<const int*> others = made(30);
        all.insert(all.end(), others.begin(), others.end());
    }).join();
    const std::vector<const int*> mine = made(30);
    all.insert(all.end(), mine.begin(), mine.end());
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end()); // none was given twice
    EXPECT_EQ(pool_.size(), 64U);
    pool_.compact();
    EXPECT_EQ(items().size(), 64U);
}

TEST_F(captures_of_stable_pools, a_group_is_whose_it_was_though_its_objects_are_the_same) {
    std::vector<handle_type> handles;
    pool_.emplace_n(8, std::back_inserter(handles), 1);
    pool_.compact();
    pool_.erase(handles[1]);
    ring_.capture(1); // the first group has a hole, and is offered
    pool_.erase(pool_.emplace(2));
    ring_.capture(2); // the same hole, and this thread has the group
    const std::vector<const int*> first = made(2);
    ring_.restore(2);
    EXPECT_EQ(made(2), first);
}

/// Objects in a hundred groups of 64, in each of which, from some group on, the first one has ended.
struct holes_in_groups {
    explicit holes_in_groups(std::size_t first_group) {
        numbers.emplace_n(6'400, std::back_inserter(handles), 1);
        numbers.compact();
        for (std::size_t i = 64 * first_group; i < handles.size(); i += 64) {
            numbers.erase(handles[i]);
        }
        numbers.compact();
    }

    stable_pool<int> numbers{{.name = "numbers", .capacity = 100'000}};
    change_log<stable_pool<int>> log{numbers};
    capture_ring<stable_pool<int>> ring{log};
    std::vector<handle<int>> handles;
};

TEST(captures_of_stable_objects, keep_the_groups_that_a_thread_has_claimed_in_advance) {
    holes_in_groups setup(0);
    stable_pool<int>& numbers = setup.numbers;
    capture_ring<stable_pool<int>>& ring = setup.ring;
    for (int frame = 1; frame != 9;
         ++frame) { // each object takes the hole of a group, of which four are claimed
        numbers.emplace(2);
        numbers.emplace(2);
        ring.capture(static_cast<std::uint64_t>(frame));
        const auto play = [&] {
            std::vector<const int*> places;
            for (int i = 0; i != 7; ++i) {
                places.push_back(numbers.find(numbers.emplace(3)));
            }
            return places;
        };
        const std::vector<const int*> first = play();
        ring.restore(static_cast<std::uint64_t>(frame));
        EXPECT_EQ(play(), first);
        ring.restore(static_cast<std::uint64_t>(frame));
    }
}

TEST_F(captures_of_stable_pools, exclusive_access_goes_on_as_it_did) {
    std::vector<handle_type> handles;
    pool_.emplace_n(20, std::back_inserter(handles), 1);
    ring_.capture(1);
    const auto play = [&] {
        std::vector<const int*> places;
        auto alone = pool_.exclusive_access();
        alone.erase(handles[3]);
        alone.erase(handles[12]);
        for (int i = 0; i != 8; ++i) {
            places.push_back(alone.find(alone.emplace(i)));
        }
        return places;
    };
    const std::vector<const int*> first = play();
    const std::vector<int> then = items();
    ring_.restore(1);
    EXPECT_EQ(play(), first);
    EXPECT_EQ(items(), then);
}

TEST_F(captures_of_stable_pools, a_pool_of_which_memory_was_given_back_is_what_it_was) {
    std::vector<handle_type> handles;
    pool_.emplace_n(150, std::back_inserter(handles), 7);
    ring_.capture(1);
    const std::vector<int> then = items();
    for (const handle_type each : handles) {
        pool_.erase(each);
    }
    pool_.compact();
    pool_.shrink_to_fit();
    ring_.restore(1);
    EXPECT_EQ(items(), then);
    EXPECT_EQ(pool_.size(), 150U);
}

TEST(captures_of_stable_objects, leave_no_memory_to_objects_that_are_undone) {
    stable_pool<int> numbers({.name = "numbers", .capacity = 1'000'000});
    change_log<stable_pool<int>> log(numbers, {.check_marks = false});
    capture_ring<stable_pool<int>> ring(log);
    numbers.emplace(1);
    ring.capture(1);
    std::vector<handle<int>> handles;
    numbers.emplace_n(999'999, std::back_inserter(handles), 2);
    ring.restore(1);
    EXPECT_LT(numbers.stats().bytes_resident_in_objects, 1'000'000U);
    EXPECT_EQ(numbers.size(), 1U);
}

TEST(captures_of_stable_objects, leave_pool_and_ring_as_they_were_when_a_copy_fails) {
    {
        using pool_type = stable_pool<counted_copy, with_policy<groups_of_four>>;
        pool_type objects({.name = "objects", .capacity = 100});
        change_log<pool_type> log(objects);
        capture_ring<pool_type> ring(log, {.frames = 2});
        std::vector<pool_type::handle_type> handles;
        objects.emplace_n(8, std::back_inserter(handles), 1);
        const auto values = [&] {
            std::vector<int> all;
            for (const counted_copy& each : objects) {
                all.push_back(each.value);
            }
            return all;
        };
        EXPECT_EQ(failures_of([&] { ring.capture(1); }, [&] { EXPECT_EQ(ring.size(), 0U); }), 8);
        log.edit(handles[0])->value = 2;
        objects.erase(handles[1]);
        const auto made = objects.emplace(3);
        EXPECT_EQ(failures_of([&] { ring.capture(2); }, [&] { EXPECT_EQ(ring.newest(), 1U); }), 2);
        EXPECT_EQ(failures_of([&] { ring.restore(1); }, [&] { EXPECT_EQ(ring.newest(), 1U); }), 8);
        EXPECT_EQ(values(), std::vector<int>(8, 1));
        EXPECT_EQ(objects.emplace(3), made);
    }
    EXPECT_EQ(counted_copy::living, 0);
}

// ---- Objects that are kept when they have ended

/// Counts its clears beside what counted_copy counts.
struct cleared_copy : counted_copy {
    using counted_copy::counted_copy;
    cleared_copy() : counted_copy(0) {}
    cleared_copy(const cleared_copy&) = default;
    cleared_copy(cleared_copy&&) noexcept = default;
    cleared_copy& operator=(const cleared_copy&) = default;
    cleared_copy& operator=(int number) {
        value = number;
        return *this;
    }
    ~cleared_copy() = default;
    void clear() noexcept {
        ++clears;
        value = 0;
    }
    static inline int clears = 0;
};

class captures_of_recycling_pools : public testing::Test {
protected:
    using pool_type = recycling_pool<cleared_copy, with_policy<groups_of_four>>;
    using handle_type = pool_type::handle_type;

    pool_type pool_{{.name = "objects", .capacity = 100}};
    change_log<pool_type> log_{pool_};
    capture_ring<pool_type> ring_{log_, {.frames = 3}};
};

TEST_F(captures_of_recycling_pools, an_object_that_comes_back_replaces_the_one_that_was_kept) {
    const handle_type a = pool_.emplace(1);
    const handle_type b = pool_.emplace(2);
    const cleared_copy* const place = pool_.find(b);
    ring_.capture(1);
    pool_.erase(b);
    ring_.capture(2); // b is cleared, and kept
    const int before = counted_copy::living;
    ring_.restore(1);
    EXPECT_EQ(counted_copy::living, before);
    EXPECT_EQ(pool_.find(b), place);
    EXPECT_EQ(pool_[a].value, 1);
    EXPECT_EQ(pool_[b].value, 2);
    pool_.erase(b);
    pool_.compact();
    handle_type next = pool_.emplace();
    while (pool_.find(next) != place) {
        pool_.compact();
        next = pool_.emplace();
    }
    EXPECT_EQ(pool_[next].value, 0); // cleared again
}

TEST_F(captures_of_recycling_pools, what_is_replaced_is_cleared_before_it_is_destroyed) {
    const handle_type a = pool_.emplace(1);
    ring_.capture(1);
    log_.edit(a)->value = 2;
    ring_.capture(2);
    const int clears = cleared_copy::clears;
    const int living = counted_copy::living;
    ring_.restore(1);
    EXPECT_EQ(cleared_copy::clears, clears + 1);
    EXPECT_EQ(counted_copy::living, living);
    EXPECT_EQ(pool_[a].value, 1);
}

TEST_F(captures_of_recycling_pools, what_is_undone_is_kept_where_its_group_was_in_use) {
    pool_.emplace(1);
    ring_.capture(1); // three places of its group are left
    std::vector<handle_type> handles;
    pool_.emplace_n(60, std::back_inserter(handles), 2);
    ring_.capture(2);
    ring_.restore(1);
    EXPECT_EQ(counted_copy::living, 1 + 3 + 61); // the object, those kept in its group, and versions
    EXPECT_EQ(pool_.size(), 1U);
    ring_.restore(1);
    EXPECT_EQ(counted_copy::living, 1 + 3 + 61);
}

TEST(captures_of_kept_objects, end_with_ring_and_pool) {
    EXPECT_EQ(counted_copy::living, 0);
}

// Of two rings each has a course of events, in which one handle had objects at two places.
TEST(stable_pools_of_two_courses, end_the_object_that_another_course_has_at_another_place) {
    counted_copy::living = 0;
    {
        stable_pool<counted_copy> objects({.name = "objects", .capacity = 10, .reuse_delay = 0});
        change_log<stable_pool<counted_copy>> log(objects);
        capture_ring<stable_pool<counted_copy>> one(log);
        {
            capture_ring<stable_pool<counted_copy>> other(log);
            one.capture(1);
            const auto first = objects.emplace(1);
            other.capture(1);
            one.restore(1);
            const auto again = objects.reserve_handle();
            EXPECT_EQ(again, first);
            objects.erase(objects.emplace(2)); // takes the place that the first one had
            objects.fulfill(again, 3);
            other.restore(1);
            EXPECT_EQ(objects[first].value, 1);
            EXPECT_EQ(objects.size(), 1U);
        }
        one.restore(1);
        EXPECT_EQ(objects.size(), 0U);
        EXPECT_EQ(counted_copy::living, 0);
    }
    EXPECT_EQ(counted_copy::living, 0);
}
TEST(stable_pools_of_two_courses, tell_a_log_of_a_handle_that_another_course_has_at_another_place) {
    stable_pool<int> numbers({.name = "numbers", .capacity = 10});
    change_log<stable_pool<int>> log(numbers);
    capture_ring<stable_pool<int>> one(log);
    capture_ring<stable_pool<int>> other(log);
    const auto first = numbers.reserve_handle();
    const auto second = numbers.reserve_handle();
    other.capture(1);
    numbers.fulfill(first, 1);
    numbers.fulfill(second, 2);
    one.capture(1);
    const auto known = [&] {
        std::vector<std::pair<handle<int>, std::size_t>> all;
        log.for_each_known([&](handle<int> each, std::size_t position) { all.emplace_back(each, position); });
        return all;
    };
    const auto then = known();
    other.restore(1);
    numbers.fulfill(second, 20);
    numbers.compact();
    EXPECT_NE(log.position_of(second), then[1].second);
    one.restore(1);
    EXPECT_EQ(known(), then);
    EXPECT_EQ(numbers[first], 1);
    EXPECT_EQ(numbers[second], 2);
    numbers.clear();
    one.capture(2);
    one.restore(1);
    EXPECT_TRUE(numbers.contains(first));
    EXPECT_TRUE(numbers.contains(second));
}

TEST(captures_of_stable_objects, keep_how_many_groups_a_thread_claims_next) {
    holes_in_groups setup(1);
    stable_pool<int>& numbers = setup.numbers;
    capture_ring<stable_pool<int>>& ring = setup.ring;
    const std::vector<handle<int>>& handles = setup.handles;
    for (std::uint64_t frame = 1; frame != 8; ++frame) {
        numbers.emplace(2);
        ring.capture(frame);
        const auto play = [&] {
            std::vector<const int*> places;
            for (std::size_t i = 1; i != 4; ++i) {
                places.push_back(numbers.find(numbers.emplace(3)));
                numbers.erase(handles[i + 3 * static_cast<std::size_t>(frame)]); // of group 0
                numbers.compact();
                places.push_back(numbers.find(numbers.emplace(3)));
            }
            return places;
        };
        const std::vector<const int*> first = play();
        ring.restore(frame);
        EXPECT_EQ(play(), first) << frame;
        ring.restore(frame);
    }
}

} // namespace
} // namespace handlepool::test
