// SPDX-License-Identifier: MIT
#include <handlepool/detail/memory/virtual_array.hpp>
#include <handlepool/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using testing::HasSubstr;

const std::size_t page = virtual_memory::page_size();

template <class Array>
bool is_zero(const Array& array) {
    return std::all_of(array.data(), array.data() + array.size(), [](auto element) { return element == 0; });
}

TEST(virtual_array_test, is_zero_at_first) {
    const virtual_array<std::uint32_t> array("array", 10'000, 0);
    EXPECT_EQ(array.size(), 10'000U);
    EXPECT_TRUE(is_zero(array));
}

TEST(virtual_array_test, keeps_what_is_written) {
    virtual_array<std::uint64_t> array("array", 10'000, 10'000);
    for (std::size_t i = 0; i != array.size(); ++i) {
        array[i] = i;
    }
    const auto& constant = array;
    for (std::size_t i = 0; i != array.size(); ++i) {
        ASSERT_EQ(constant[i], i);
    }
    EXPECT_EQ(constant.data() + 1, &constant[1]);
}

TEST(virtual_array_test, is_zero_again_after_discard) {
    virtual_array<std::uint32_t> array("array", 10'000, 0);
    std::fill(array.data(), array.data() + array.size(), 7U);
    array.discard();
    EXPECT_TRUE(is_zero(array));
}

TEST(virtual_array_test, a_partial_discard_touches_nothing_outside_its_range) {
    const std::size_t size = 3 * page / sizeof(std::uint32_t) + 5;
    const std::vector<std::size_t> edges{0,    1,    1022, 1023, 1024,     1025,     2047, 2048,
                                         2049, 3071, 3072, 3073, size - 2, size - 1, size};
    virtual_array<std::uint32_t> array("array", size, 0);
    for (const std::size_t first : edges) {
        for (const std::size_t last : edges) {
            if (first > last) {
                continue;
            }
            std::fill(array.data(), array.data() + size, 7U);
            array.discard(first, last);
            EXPECT_EQ(std::count(array.data() + first, array.data() + last, 0U), last - first);
            EXPECT_EQ(std::count(array.data(), array.data() + size, 7U), size - (last - first))
                << first << " to " << last;
        }
    }
}

template <class Element>
bool starts_aligned(std::size_t size, std::size_t expected) {
    virtual_array<Element> array("array", size, expected);
    array[0] = Element{};
    array[size - 1] = Element{};
    return reinterpret_cast<std::uintptr_t>(array.data()) % alignof(Element) == 0;
}

struct alignas(64) cache_line_cell {
    std::byte bytes[64];
};
struct alignas(4096) page_cell {
    std::byte bytes[4096];
};
struct alignas(65536) large_cell {
    std::byte bytes[65536];
};

TEST(virtual_array_test, is_aligned_for_its_elements) {
    EXPECT_TRUE(starts_aligned<std::uint64_t>(3, 0));
    for (const std::size_t size : {1U, 2U, 100U, 3000U}) { // the last with huge pages
        EXPECT_TRUE(starts_aligned<cache_line_cell>(size, size));
        EXPECT_TRUE(starts_aligned<page_cell>(size, size));
        EXPECT_TRUE(starts_aligned<large_cell>(size, size));
    }
}

TEST(virtual_array_test, memory_is_used_as_it_is_touched_and_not_after_discard) {
    constexpr std::size_t pages = 100;
    virtual_array<std::byte> array("array", pages * page, 0);
    EXPECT_EQ(array.memory().reserved, pages * page);
    EXPECT_EQ(array.memory().resident, 0U);
    for (std::size_t i = 0; i != pages; ++i) {
        array[i * page + i] = std::byte{1};
        ASSERT_EQ(array.memory().resident, (i + 1) * page);
    }
    array.discard(60 * page, pages * page);
    EXPECT_EQ(array.memory().resident, 60 * page);
    array.discard(10 * page, 20 * page);
    EXPECT_EQ(array.memory().resident, 50 * page);
    array.discard();
    EXPECT_EQ(array.memory().resident, 0U);
}

TEST(virtual_array_test, memory_at_the_far_end_of_a_large_range_is_counted) {
    virtual_array<std::byte> array("array", 10'000 * page, 0); // more pages than are asked for at once
    array[9'999 * page] = std::byte{1};
    array[4'096 * page] = std::byte{1};
    array[4'095 * page] = std::byte{1};
    EXPECT_EQ(array.memory().resident, 3 * page);
}

TEST(virtual_array_test, an_untouched_range_costs_nothing) {
    virtual_array<std::uint64_t> array(allocation_label("array").in_steps(), std::size_t{1} << 32,
                                       0); // 32 GiB
    for (const std::size_t touched : {array.size() - 1, array.size() / 2}) {
        ASSERT_TRUE(array.make_ready(touched, touched + 1));
    }
    array[array.size() - 1] = 7;
    EXPECT_EQ(array[array.size() - 1], 7U);
    EXPECT_EQ(array[array.size() / 2], 0U);
}

TEST(virtual_array_test, none_and_one_are_sizes_too) {
    const virtual_array<std::uint32_t> none;
    EXPECT_EQ(none.size(), 0U);
    virtual_array<std::uint32_t> empty("array", 0, 0);
    EXPECT_EQ(empty.size(), 0U);
    empty.discard();
    virtual_array<std::uint32_t> one("array", 1, 1);
    one[0] = 7;
    one.discard();
    EXPECT_EQ(one[0], 0U);
}

TEST(virtual_array_test, moving_hands_the_memory_on) {
    virtual_array<std::uint32_t> from("array", 100, 0);
    from[5] = 7;
    const auto* const data = from.data();
    virtual_array<std::uint32_t> to(std::move(from));
    EXPECT_EQ(to.data(), data);
    EXPECT_EQ(to[5], 7U);
    virtual_array<std::uint32_t> assigned("array", 10, 0);
    assigned = std::move(to);
    EXPECT_EQ(assigned.data(), data);
    EXPECT_EQ(assigned[5], 7U);
    EXPECT_EQ(assigned.size(), 100U);
}

TEST(virtual_array_test, holds_zero_atomics) {
    virtual_array<std::atomic<std::uint64_t>> array("array", 100, 0);
    EXPECT_EQ(array[99].load(), 0U);
    array[99].store(7);
    EXPECT_EQ(array[99].exchange(8), 7U);
}

template <class Element>
std::string refusal(std::size_t size) {
    try {
        const virtual_array<Element> array("pool 'ships' slots", size, 0);
    } catch (const reservation_failed& failure) {
        return failure.what();
    }
    return "(no failure)";
}

TEST(virtual_array_test, an_absurd_size_is_refused_with_its_purpose_and_its_bytes) {
    // 2^60 bytes: more than any address space, less than a size_t.
    EXPECT_THAT(refusal<std::uint64_t>(std::size_t{1} << 57),
                testing::AllOf(HasSubstr("pool 'ships' slots"),
                               HasSubstr(std::to_string(std::size_t{1} << 60)),
                               HasSubstr(std::strerror(ENOMEM))));
}

TEST(virtual_array_test, a_size_that_no_number_of_bytes_holds_is_refused) {
    constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
    for (const std::size_t size :
         {largest, largest / 2 + 1, largest / sizeof(page_cell) + 1, largest / 8 + 1}) {
        EXPECT_THAT(refusal<page_cell>(size), HasSubstr("pool 'ships' slots: cannot reserve")) << size;
        EXPECT_THAT(refusal<std::uint64_t>(size), HasSubstr("pool 'ships' slots: cannot reserve")) << size;
    }
}

TEST(virtual_array_test, a_failure_is_caught_as_bad_alloc) {
    EXPECT_THROW((virtual_array<std::uint64_t>("array", std::size_t{1} << 57, 0)), std::bad_alloc);
}

// ---- In steps: where memory comes by touch, nothing but the promises remains
// --------------------------------

TEST(virtual_array_test, in_steps_only_what_is_ready_is_used) {
    const std::size_t far = 1'000'000 * page + 17;
    virtual_array<unsigned char> array(allocation_label("array").in_steps(), 2 * far, 0);
    for (const std::size_t first : {std::size_t{0}, far, 2 * far - 300}) {
        ASSERT_TRUE(array.make_ready(first, first + 300));
        EXPECT_TRUE(
            std::all_of(array.data() + first, array.data() + first + 300, [](auto c) { return c == 0; }));
        std::fill(array.data() + first, array.data() + first + 300, std::uint8_t{1});
        ASSERT_TRUE(array.make_ready(first, first + 300)) << "again";
        EXPECT_EQ(array[first], 1) << "which changes nothing";
    }
    EXPECT_LE(array.memory().resident, 6 * page);
    array.discard(far + 10, 2 * far);
    EXPECT_EQ(array[0], 1);
    EXPECT_EQ(array[far], 1) << "the beginning of its page";
    ASSERT_TRUE(array.make_ready(far, far + 300));
    ASSERT_TRUE(array.make_ready(2 * far - 300, 2 * far));
    EXPECT_EQ(array[far + 10], 0);
    EXPECT_EQ(array[2 * far - 1], 0);
}

TEST(virtual_array_test, in_steps_pages_that_were_released_are_ready_again_when_asked_for) {
    virtual_array<unsigned char> array(allocation_label("array").in_steps(), 400 * page, 0);
    ASSERT_TRUE(array.make_ready(0, 400 * page));
    std::fill(array.data(), array.data() + array.size(), std::uint8_t{1});
    array.release(100 * page, 200 * page);
    EXPECT_LE(array.memory().resident, 300 * page);
    EXPECT_EQ(array[100 * page - 1], 1);
    EXPECT_EQ(array[200 * page], 1);
    ASSERT_TRUE(array.make_ready(0, 400 * page));
    EXPECT_EQ(std::count(array.data(), array.data() + array.size(), 0),
              static_cast<std::ptrdiff_t>(100 * page));
}

TEST(virtual_array_test, in_steps_threads_make_neighbours_ready_at_the_same_time) {
    virtual_array<std::uint32_t> array(allocation_label("array").in_steps(), 1 << 20, 0);
    constexpr std::size_t threads = 4;
    in_threads(threads, [&](std::size_t mine) { // every fourth element: all pages belong to all
        for (std::size_t i = mine; i < array.size(); i += threads) {
            ASSERT_TRUE(array.make_ready(i, i + 1));
            array[i] = static_cast<std::uint32_t>(i);
        }
    });
    for (std::size_t i = 0; i != array.size(); ++i) {
        ASSERT_EQ(array[i], i);
    }
}

} // namespace
} // namespace handlepool::test
