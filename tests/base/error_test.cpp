// SPDX-License-Identifier: MIT
#include <handlepool/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace handlepool::test {
namespace {

using namespace detail;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(error_test, pool_exhausted_names_pool_and_capacity) {
    EXPECT_THAT(
        pool_exhausted("ships", 1000).what(),
        AllOf(StartsWith("pool 'ships' is exhausted"), HasSubstr("1000 objects"), HasSubstr("compaction")));
}

TEST(error_test, pool_used_up_names_pool_and_slot_limit) {
    EXPECT_THAT(pool_used_up("ships", 4000).what(),
                AllOf(StartsWith("pool 'ships' is used up"), HasSubstr("4000 slots"), HasSubstr("slot_limit"),
                      HasSubstr("generations")));
}

TEST(error_test, reservation_failed_names_purpose_bytes_and_reason) {
    EXPECT_EQ(reservation_failed("pool 'ships' slots", 8192, ENOMEM).what(),
              std::string("pool 'ships' slots: cannot reserve 8192 bytes of address space: ") +
                  std::strerror(ENOMEM));
}

TEST(error_test, too_many_threads_names_pool_and_limit) {
    EXPECT_THAT(too_many_threads("pool 'ships'", 16).what(),
                AllOf(StartsWith("pool 'ships'"), HasSubstr("max_threads = 16")));
}

TEST(error_test, a_long_name_is_cut_but_never_the_reason) {
    const std::string name(1000, 'x');
    EXPECT_THAT(pool_exhausted(name, 18'446'744'073'709'551'615U).what(),
                EndsWith("with the next compaction)"));
    EXPECT_THAT(pool_used_up(name, 18'446'744'073'709'551'615U).what(), EndsWith("generations have run out"));
    EXPECT_THAT(
        reservation_failed(name, 18'446'744'073'709'551'615U, ENOMEM).what(),
        EndsWith(std::string("18446744073709551615 bytes of address space: ") + std::strerror(ENOMEM)));
    EXPECT_THAT(pool_exhausted(name, 1).what(), HasSubstr("xxxxxxxxxxxxxxxx"));
}

TEST(error_test, an_empty_name_and_percent_signs_are_printed_as_they_are) {
    EXPECT_THAT(pool_exhausted("", 1).what(), StartsWith("pool '' is exhausted"));
    EXPECT_THAT(pool_exhausted("100%s%n", 1).what(), StartsWith("pool '100%s%n' is exhausted"));
}

TEST(error_test, a_copied_error_keeps_its_message) {
    const pool_used_up original("ships", 4000);
    const pool_used_up copy(original);
    EXPECT_STREQ(copy.what(), original.what());
}

TEST(error_test, exhaustion_and_failed_reservations_are_caught_as_bad_alloc) {
    EXPECT_THROW(throw pool_exhausted("ships", 1), std::bad_alloc);
    EXPECT_THROW(throw pool_used_up("ships", 1), pool_exhausted);
    EXPECT_THROW(throw reservation_failed("slots", 1, ENOMEM), std::bad_alloc);
    EXPECT_THROW(throw stale_handle("stale"), std::out_of_range);
    EXPECT_THROW(throw compaction_conflict("conflict"), std::logic_error);
}

TEST(fixed_message_test, keeps_what_fits_and_cuts_the_rest) {
    EXPECT_STREQ(fixed_message("text").c_str(), "text");
    EXPECT_STREQ(fixed_message("").c_str(), "");
    EXPECT_EQ(std::string(fixed_message(std::string(255, 'x')).c_str()), std::string(255, 'x'));
    EXPECT_EQ(std::string(fixed_message(std::string(10'000, 'x')).c_str()), std::string(255, 'x'));
}

TEST(quoted_pool_test, quotes_the_name) {
    EXPECT_EQ(quoted_pool("ships"), "pool 'ships'");
    EXPECT_EQ(quoted_pool(""), "pool ''");
}

// What is thrown when memory is short must not need memory.
static_assert(std::is_nothrow_copy_constructible_v<pool_exhausted> &&
              std::is_nothrow_copy_constructible_v<pool_used_up> &&
              std::is_nothrow_copy_constructible_v<reservation_failed>);
static_assert(std::is_nothrow_constructible_v<pool_exhausted, std::string_view, std::size_t> &&
              std::is_nothrow_constructible_v<reservation_failed, std::string_view, std::size_t, int>);

} // namespace
} // namespace handlepool::test
