// SPDX-License-Identifier: MIT
#include <handlepool/detail/objects/object_type.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>
#include <tests/support/message_of.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// ---- Types that are known when the program is compiled

static_assert(object_type<std::uint32_t>::stride() == 4 && object_type<std::uint32_t>::alignment() == 4);
static_assert(object_type<over_aligned<64>>::stride() == 64 &&
              object_type<over_aligned<64>>::alignment() == 64);
static_assert(!object_type<int>::has_destructor() && object_type<counted>::has_destructor());

/// Memory for one object.
template <class T>
struct place {
    alignas(T) std::array<std::byte, sizeof(T)> bytes;

    T& object() { return *std::launder(reinterpret_cast<T*>(bytes.data())); }
};

TEST(object_type_test, relocate_moves_an_object_and_ends_its_life_where_it_was) {
    census counts;
    place<counted> from;
    place<counted> to;
    ::new (from.bytes.data()) counted(counts, 7);
    object_type<counted>::relocate(to.bytes.data(), from.bytes.data());
    EXPECT_EQ(counts.born(), 2);
    EXPECT_EQ(counts.alive(), 1);
    EXPECT_EQ(to.object().value(), 7U);
    object_type<counted>::destroy(to.bytes.data());
}

TEST(object_type_test, relocate_moves_what_can_only_be_moved) {
    place<move_only> from;
    place<move_only> to;
    ::new (from.bytes.data()) move_only(7);
    object_type<move_only>::relocate(to.bytes.data(), from.bytes.data());
    EXPECT_EQ(to.object().value(), 7U);
    object_type<move_only>::destroy(to.bytes.data());
}

TEST(object_type_test, relocate_copies_trivial_objects_whole) {
    place<sized<1000>> from;
    place<sized<1000>> to;
    ::new (from.bytes.data()) sized<1000>(9);
    object_type<sized<1000>>::relocate(to.bytes.data(), from.bytes.data());
    EXPECT_EQ(to.object().value(), 9);
    EXPECT_TRUE(to.object().is_whole());
}

// ---- Types that are known at run time

TEST(run_time_type_test, stride_is_the_size_rounded_up_to_the_alignment) {
    const auto stride = [](std::size_t size, std::size_t alignment) {
        return object_type<void>({.size = size, .alignment = alignment}).stride();
    };
    EXPECT_EQ(stride(1, 1), 1U);
    EXPECT_EQ(stride(7, 1), 7U);
    EXPECT_EQ(stride(1, 8), 8U);
    EXPECT_EQ(stride(8, 8), 8U);
    EXPECT_EQ(stride(9, 8), 16U);
    EXPECT_EQ(stride(24, 16), 32U);
    EXPECT_EQ(stride(1, 4096), 4096U);
    // The largest that are allowed: no overflow.
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 2;
    EXPECT_EQ(stride(most, std::size_t{1} << 20), most + 1);
}

TEST(run_time_type_test, without_functions_bytes_are_copied_and_nothing_is_destroyed) {
    const object_type<void> type({.size = 3, .alignment = 1});
    EXPECT_FALSE(type.has_destructor());
    std::array<char, 4> from{'a', 'b', 'c', 'd'};
    std::array<char, 4> to{'-', '-', '-', '-'};
    type.relocate(to.data(), from.data());
    EXPECT_EQ(std::string(to.data(), 4), "abc-") << "and not a byte more";
    type.destroy(to.data());
    EXPECT_EQ(std::string(to.data(), 4), "abc-");
}

TEST(run_time_type_test, functions_get_their_objects_and_the_context) {
    struct call {
        void* to;
        void* from;
        bool operator==(const call&) const = default;
    };
    std::vector<call> calls;
    const object_type<void> type({.size = 8,
                                  .alignment = 8,
                                  .relocate =
                                      [](void* to, void* from, void* context) noexcept {
                                          static_cast<std::vector<call>*>(context)->push_back({to, from});
                                      },
                                  .destroy =
                                      [](void* object, void* context) noexcept {
                                          static_cast<std::vector<call>*>(context)->push_back(
                                              {nullptr, object});
                                      },
                                  .context = &calls});
    EXPECT_TRUE(type.has_destructor());
    std::uint64_t one = 1;
    std::uint64_t other = 2;
    type.relocate(&one, &other);
    type.destroy(&one);
    EXPECT_EQ(calls, (std::vector<call>{{&one, &other}, {nullptr, &one}}));
    EXPECT_EQ(one, 1U) << "only the type's own functions touch the object";
}

/// The message of the refusal, or nothing.
std::string refusal(const raw_type& type) {
    return message_of<std::invalid_argument>([&] { checked_raw_type(type, "scripted"); });
}

TEST(run_time_type_test, types_that_can_be_are_returned_as_they_are) {
    for (const std::size_t alignment : {1U, 2U, 64U, 4096U, 1U << 20}) {
        const raw_type type{.size = 1, .alignment = alignment};
        EXPECT_EQ(&checked_raw_type(type, "scripted"), &type);
    }
    EXPECT_EQ(refusal({.size = std::numeric_limits<std::size_t>::max() / 2}), "");
}

TEST(run_time_type_test, sizes_that_can_not_be_are_refused_with_the_pool_and_what_is_allowed) {
    EXPECT_EQ(refusal({.size = 0}), "pool 'scripted': size of the type is 0, and must be from 1 to " +
                                        std::to_string(std::numeric_limits<std::size_t>::max() / 2));
    for (const std::size_t size :
         {std::numeric_limits<std::size_t>::max() / 2 + 1, std::numeric_limits<std::size_t>::max()}) {
        EXPECT_THAT(refusal({.size = size}), AllOf(StartsWith("pool 'scripted': size of the type is"),
                                                   HasSubstr(std::to_string(size))));
    }
}

TEST(run_time_type_test, alignments_that_can_not_be_are_refused_with_the_pool_and_what_is_allowed) {
    EXPECT_EQ(refusal({.size = 8, .alignment = 24}),
              "pool 'scripted': alignment of the type is 24, and must be a power of two up to 1048576");
    for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{6}, std::size_t{1} << 21,
                                        std::numeric_limits<std::size_t>::max()}) {
        EXPECT_THAT(refusal({.size = 8, .alignment = alignment}),
                    AllOf(StartsWith("pool 'scripted': alignment of the type is"),
                          HasSubstr(std::to_string(alignment))));
    }
}

} // namespace
} // namespace handlepool::test
