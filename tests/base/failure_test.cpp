// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/contract.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/failure.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

namespace handlepool::test {
namespace {

using namespace detail;
using testing::ThrowsMessage;

void print(const char* message) noexcept {
    std::fprintf(stderr, "handler: %s\n", message);
}
void print_and_leave(const char* message) noexcept {
    print(message);
    std::_Exit(7);
}

TEST(failure_death_test, without_a_handler_the_message_goes_to_the_standard_error) {
    EXPECT_EXIT(end_program("it sank"), testing::KilledBySignal(SIGABRT), "^it sank\n$");
}

TEST(failure_death_test, a_handler_is_called_instead_and_may_leave) {
    const auto die = [] {
        set_failure_handler(print_and_leave);
        end_program("it sank");
    };
    EXPECT_EXIT(die(), testing::ExitedWithCode(7), "^handler: it sank\n$");
}

TEST(failure_death_test, the_program_is_aborted_when_the_handler_returns) {
    const auto die = [] {
        set_failure_handler(print);
        end_program("it sank");
    };
    EXPECT_EXIT(die(), testing::KilledBySignal(SIGABRT), "^handler: it sank\n$");
}

TEST(failure_death_test, a_violated_contract_calls_the_handler) {
    const auto die = [] {
        set_failure_handler(print_and_leave);
        contract_violated("ships", "it sank");
    };
    EXPECT_EXIT(die(), testing::ExitedWithCode(7), "^handler: handlepool: pool 'ships': it sank\n$");
}

TEST(failure_death_test, of_a_violated_contract_a_long_name_is_cut_but_never_the_message) {
    const std::string name(10'000, 'x');
    EXPECT_DEATH(contract_violated(name, "it sank"), "^handlepool: pool 'xxxxxxxxxxxxxxx.*x': it sank\n$");
}

TEST(failure, a_new_handler_returns_the_one_before) {
    EXPECT_EQ(set_failure_handler(print), nullptr);
    EXPECT_EQ(set_failure_handler(print_and_leave), print);
    EXPECT_EQ(set_failure_handler(nullptr), print_and_leave);
    EXPECT_EQ(set_failure_handler(nullptr), nullptr);
}

TEST(failure, an_error_that_is_raised_is_thrown_as_it_is) {
    EXPECT_THAT([] { throw_exception(std::out_of_range("there is none")); },
                ThrowsMessage<std::out_of_range>("there is none"));
    const std::invalid_argument kept("no such option");
    EXPECT_THAT([&] { throw_exception(kept); }, ThrowsMessage<std::invalid_argument>("no such option"));
}

TEST(failure, what_an_action_throws_is_returned) {
    EXPECT_EQ(capture_exception([] {}), nullptr);
    const std::exception_ptr thrown = capture_exception([] { throw 7; });
    ASSERT_NE(thrown, nullptr);
    EXPECT_THROW(std::rethrow_exception(thrown), int);
}

} // namespace
} // namespace handlepool::test
