// SPDX-License-Identifier: MIT
#include <handlepool/pool_limits.hpp>
#include <handlepool/service_stats.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>
#include <tests/support/message_of.hpp>

#include <stdexcept>
#include <string>

// Limits that are read, and statistics that are written, while memory runs out: an exception comes out, and
// never a call of std::terminate.
namespace handlepool::test {
namespace {

class service_texts_test : public testing::TestWithParam<shortage> {
protected:
    /// `call` must throw std::bad_alloc when an allocation fails, and do the same as ever when none does.
    template <class Call>
    void expect_bad_alloc(Call call) {
        const std::string expected = call();
        const std::size_t allocations =
            with_each_allocation_failing(GetParam(), [&](memory_shortage& memory) {
                std::string made;
                const bool refused = memory.hits([&] { made = call(); });
                EXPECT_EQ(made, refused ? "" : expected);
            });
        EXPECT_GT(allocations, 3U);
    }
};

TEST_P(service_texts_test, statistics) {
    pool_stats one;
    one.name = "a name of more characters than a string has room for";
    const service_stats stats{.frames = 7, .pools = {one, one}};
    expect_bad_alloc([&] { return to_json(stats); });
}

TEST_P(service_texts_test, limits) {
    const std::string text = R"({"pools": {"ships of more characters than a string has room for":
        {"capacity": 10000, "reuse_delay": "automatic", "remember_frames": true}, "rockets": {}}})";
    expect_bad_alloc([&] {
        std::string read;
        for (const auto& [name, limits] : parse_pool_limits(text, "limits")) {
            read += limits.source;
        }
        return read;
    });
}

TEST_P(service_texts_test, limits_that_are_refused) {
    for (const std::string text :
         {R"({"pools": {"ships": {"capacity": [1, [2, {"a": 3}]]}}})",
          R"({"pools": {"ships": {"capacity": "many and many more than there can be"}}})",
          R"({"pools": {"ships": {"capacity": 7}, "ships": {}}})", R"({"pools": {"ships")"}) {
        expect_bad_alloc(
            [&] { return message_of<std::invalid_argument>([&] { parse_pool_limits(text, "limits"); }); });
    }
}

INSTANTIATE_TEST_SUITE_P(memory, service_texts_test, both_shortages, name_of_shortage);

} // namespace
} // namespace handlepool::test
