// SPDX-License-Identifier: MIT

// Captures of pools of rows, and of objects whose type is known at run time only: what is copied, what fails
// half-way, and what is refused.

#include <handlepool/columns.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/time/capture_ring.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>

#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
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

} // namespace
} // namespace handlepool::test
