// SPDX-License-Identifier: MIT

// Bits of a handle that belong to the program.

#include <handlepool/fmt.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/threads.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace handlepool::test {
namespace {

using testing::HasSubstr;

template <class Layout>
class handle_user_bits : public testing::Test {
protected:
    /// Some values of the user's bits, the first and the last among them.
    static std::vector<std::uint64_t> samples() {
        const std::uint64_t most = Layout::user_mask;
        return {0, 1, most, most - 1, most >> 1, most & 0x5555'5555'5555'5555U};
    }
};

// As wide as the word, narrower than it, a single bit; also all that is left beside the narrowest handle.
using layouts =
    testing::Types<handle_layout<24, 20, 9, 11>, handle_layout<32, 16, 8, 8>, handle_layout<32, 20, 11, 1>,
                   handle_layout<16, 8, 4, 4>, handle_layout<16, 8, 4, 2>, handle_layout<20, 8, 3, 1>,
                   handle_layout<20, 22, 10, 3>, handle_layout<2, 8, 2, 52>, handle_layout<1, 10, 1, 52>>;
TYPED_TEST_SUITE(handle_user_bits, layouts);

TYPED_TEST(handle_user_bits, lie_above_the_pool_id_and_touch_no_other_field) {
    using layout = TypeParam;
    using handle_type = handle<int, TypeParam>;
    for (const std::uint64_t index : {std::uint64_t{0}, std::uint64_t{layout::index_mask}}) {
        for (const std::uint32_t generation : {0U, 1U, std::uint32_t{layout::generation_mask}}) {
            for (const std::uint32_t pool_id : {0U, std::uint32_t{layout::pool_id_mask}}) {
                const auto plain =
                    handle_type::from_value(layout::value_of(index, layout::make_tag(pool_id, generation)));
                EXPECT_EQ(plain.user(), 0U);
                for (const std::uint64_t bits : this->samples()) {
                    const auto marked = plain.with_user(bits);
                    EXPECT_EQ(marked.user(), bits);
                    EXPECT_EQ(marked.index(), index);
                    EXPECT_EQ(marked.generation(), generation);
                    EXPECT_EQ(marked.pool_id(), pool_id);
                    EXPECT_EQ(marked.tag(), plain.tag());
                    EXPECT_EQ(marked.without_user(), plain);
                    EXPECT_EQ(marked.with_user(0), plain);
                    EXPECT_EQ(marked == plain, bits == 0) << "all bits are compared";
                    EXPECT_EQ(static_cast<bool>(marked), static_cast<bool>(plain));
                    EXPECT_EQ(marked.value() >> (layout::bits - layout::user_bits), bits);
                    EXPECT_TRUE(layout::fits(marked.value()));
                    const handle<void, layout> untyped = marked;
                    EXPECT_EQ(untyped.user(), bits);
                }
            }
        }
    }
}

TYPED_TEST(handle_user_bits, alone_make_no_handle) {
    using handle_type = handle<int, TypeParam>;
    const auto null = handle_type().with_user(1);
    EXPECT_FALSE(null);
    EXPECT_NE(null.value(), 0U);
    EXPECT_FALSE(null.without_user());
    pool<int, with_layout<TypeParam>> pool({.name = "ships", .capacity = 1, .reuse_delay = 0});
    EXPECT_FALSE(pool.contains(null));
    EXPECT_FALSE(pool.erase(null));
    EXPECT_FALSE(pool.revoke(null));
    EXPECT_FALSE(pool.cancel(null));
    EXPECT_EQ(pool.state(null), handle_state::stale);
    EXPECT_EQ(pool.describe(null), "ships null");
    EXPECT_THAT([&] { pool.at(null); }, testing::ThrowsMessage<stale_handle>(HasSubstr("the null handle")));
}

TYPED_TEST(handle_user_bits, are_ignored_by_all_functions_of_a_pool) {
    for (const std::uint64_t bits : this->samples()) {
        pool<int, with_layout<TypeParam>> pool({.name = "ships", .capacity = 2, .reuse_delay = 0});
        const auto plain = pool.emplace(7);
        ASSERT_TRUE(plain);
        EXPECT_EQ(plain.user(), 0U) << "the pool leaves them alone";
        const auto marked = plain.with_user(bits);
        EXPECT_TRUE(pool.contains(marked));
        EXPECT_EQ(pool.find(marked), pool.find(plain));
        EXPECT_EQ(pool.at(marked), 7);
        EXPECT_EQ(pool[marked], 7);
        EXPECT_EQ(pool.state(marked), handle_state::alive);
        EXPECT_EQ(pool.describe(marked), pool.describe(plain));
        EXPECT_EQ(pool.handle_of(pool.at(marked)), plain) << "nor does it remember them";
        std::vector<handle<int, TypeParam>> died;
        pool.on_destroy([&](auto which, int&) { died.push_back(which); }).release();
        const auto next = pool.revoke(marked);
        ASSERT_TRUE(next);
        EXPECT_EQ(next.user(), 0U);
        EXPECT_FALSE(pool.contains(marked));
        EXPECT_TRUE(pool.erase(next.with_user(bits)));
        EXPECT_FALSE(pool.erase(next));
        EXPECT_THAT(pool.describe(next.with_user(bits)), HasSubstr("erased"));
        pool.compact();
        EXPECT_THAT(died, testing::ElementsAre(next));

        const auto reserved = pool.reserve_handle();
        ASSERT_TRUE(reserved);
        EXPECT_EQ(reserved.user(), 0U);
        EXPECT_EQ(pool.state(reserved.with_user(bits)), handle_state::reserved);
        EXPECT_TRUE(pool.try_fulfill(reserved.with_user(bits), 8));
        EXPECT_EQ(pool.at(reserved), 8);
        pool.compact();
        EXPECT_EQ(pool.handle_at(0), reserved);
        EXPECT_EQ(pool.state(reserved.with_user(bits)), handle_state::alive);
        const std::array marks{reserved.with_user(bits)};
        EXPECT_EQ(pool.erase(marks), 1U);
        expect_consistent(pool);
    }
}

TYPED_TEST(handle_user_bits, are_ignored_where_a_handle_is_on_its_way_or_cancelled) {
    pool<int, with_layout<TypeParam>> pool({.name = "ships", .capacity = 1, .reuse_delay = 0});
    const auto reserved = pool.reserve_handle();
    EXPECT_TRUE(pool.cancel(reserved.with_user(1)));
    EXPECT_FALSE(pool.cancel(reserved));
    EXPECT_THAT(pool.describe(reserved.with_user(1)), HasSubstr("reserved and cancelled"));
}

TYPED_TEST(handle_user_bits, are_all_the_bits_that_a_pool_ignores) {
    using value_type = typename TypeParam::value_type;
    using handle_type = handle<int, TypeParam>;
    pool<int, with_layout<TypeParam>> pool({.name = "ships", .capacity = 1, .reuse_delay = 0});
    const auto alive = pool.emplace(7);
    for (unsigned bit = 0; bit != 8 * sizeof(value_type); ++bit) {
        const auto other =
            handle_type::from_value(alive.value() ^ static_cast<value_type>(value_type{1} << bit));
        const bool user = bit >= TypeParam::naming_bits && bit < TypeParam::bits;
        EXPECT_EQ(pool.contains(other), user) << bit;
        EXPECT_EQ(pool.find(other) != nullptr, user) << bit;
        EXPECT_EQ(pool.describe(other).find("its layout leaves out") != std::string::npos,
                  bit >= TypeParam::bits);
    }
}

TYPED_TEST(handle_user_bits, do_not_reach_hooks_or_sinks) {
    using handle_type = handle<int, TypeParam>;
    pool<int, with_layout<TypeParam>> pool({.name = "ships", .capacity = 1, .reuse_delay = 0});
    std::vector<handle_type> born;
    std::vector<handle_type> ended;
    std::vector<handle_type> drained;
    const scoped_hook births = pool.on_birth([&](handle_type which, int&) { born.push_back(which); });
    const scoped_hook ends = pool.on_destroy([&](handle_type which, int&) { ended.push_back(which); });
    const std::function<void(handle_type)> each_end[] = {
        [&](handle_type marked) { pool.erase(marked); },
        [&](handle_type marked) { pool.erase(std::array{marked}); },
        [&](handle_type marked) { pool.extract(marked, [](int&&) {}); },
        [&](handle_type) { pool.drain([&](handle_type which, int&&) { drained.push_back(which); }); },
        [&](handle_type) { pool.clear(); },
    };
    std::vector<handle_type> promoted;
    std::vector<handle_type> all;
    for (const bool newborn : {false, true}) {
        for (const auto& end : each_end) {
            all.push_back(pool.reserve_handle());
            const handle_type marked = all.back().with_user(TypeParam::user_mask);
            pool.fulfill(marked, 7);
            if (!newborn) {
                pool.compact();
                promoted.push_back(all.back());
            }
            end(marked);
            pool.compact();
        }
    }
    EXPECT_EQ(born, promoted);
    EXPECT_EQ(ended, all);
    EXPECT_THAT(drained, testing::ElementsAre(all[3], all[8]));
}

// Removals are recorded, sweeps look for what was not; both in small batches and by several threads.
TYPED_TEST(handle_user_bits, do_not_reach_what_the_pool_records) {
    constexpr std::size_t count = TypeParam::index_bits < 6 ? 1 : 60;
    for (const std::size_t queue : {std::size_t{1}, pool_options::automatic}) {
        pool<int, with_layout<TypeParam, with_policy<support::tiny_policy<2>>>> pool(
            {.name = "ships",
             .capacity = count,
             .reuse_delay = 0,
             .removal_queue_size = queue,
             .max_threads = 8});
        std::vector<handle<int, TypeParam>> handles;
        pool.emplace_n(count, std::back_inserter(handles), 7);
        for (auto& each : handles) {
            each = each.with_user(TypeParam::user_mask);
        }
        in_threads(3, [&](std::size_t thread) {
            for (std::size_t i = thread; i < handles.size(); i += 3) {
                EXPECT_TRUE(pool.erase(handles[i]));
            }
        });
        expect_consistent(pool);
        EXPECT_EQ(pool.size(), 0U);
    }
}

TEST(user_bits, are_none_unless_the_layout_gives_some) {
    static_assert(default_layout::user_bits == 0 && default_layout::user_mask == 0);
    static_assert(default_layout::bits == default_layout::naming_bits);
    const auto handle = handlepool::handle<int>::from_value(~std::uint64_t{0});
    EXPECT_EQ(handle.user(), 0U);
    EXPECT_EQ(handle.without_user(), handle);
}

template <class Handle>
concept takes_user_bits = requires(Handle handle) { handle.with_user(0); };
static_assert(!takes_user_bits<handle<int>> && takes_user_bits<handle<int, handle_layout<24, 20, 9, 11>>>);

using marked_layout = handle_layout<24, 20, 9, 11>;
static_assert(sizeof(handle<int, marked_layout>) == 8 &&
              sizeof(handle<int, handle_layout<16, 8, 4, 4>>) == 4);
static_assert(handle<int, marked_layout>::from_value(7).with_user(2047).user() == 2047);
static_assert(std::is_same_v<handle_layout<16, 8, 4, 4>::value_type, std::uint32_t>);
static_assert(std::is_same_v<handle_layout<16, 8, 4, 5>::value_type, std::uint64_t>,
              "user bits may widen the word");
static_assert(!std::is_convertible_v<handle<int, marked_layout>, handle<int, script_layout>>,
              "handles of different layouts don't mix");

TEST(user_bits, distinguish_handles_in_tables) {
    const auto plain = handle<int, marked_layout>::from_value(7);
    std::unordered_map<handle<int, marked_layout>, int> table{{plain, 1}, {plain.with_user(1), 2}};
    EXPECT_EQ(table.size(), 2U);
    EXPECT_EQ(table.at(plain), 1);
    std::map<handle<int, marked_layout>, int> sorted{{plain, 1}, {plain.with_user(1), 2}};
    EXPECT_EQ(sorted.size(), 2U);
}

TEST(user_bits, are_printed_when_there_are_any) {
    const auto plain =
        handle<int, marked_layout>::from_value(marked_layout::value_of(1021, marked_layout::make_tag(3, 7)));
    EXPECT_EQ(fmt::format("{}", plain), "#1021 generation 7 pool 3");
    EXPECT_EQ(fmt::format("{}", plain.with_user(5)), "#1021 generation 7 pool 3 user 5");
    EXPECT_EQ(fmt::format("{}", decltype(plain)().with_user(5)), "null user 5");
}

// In every other build the bits that don't fit are dropped.
TEST(user_bits_death_test, that_do_not_fit_end_a_checked_program) {
    if constexpr (HANDLEPOOL_CHECKED != 0) {
        EXPECT_DEATH((handle<int, marked_layout>().with_user(2048)), "with_user was given more bits");
    } else {
        EXPECT_EQ((handle<int, marked_layout>::from_value(7).with_user(2048 + 3)),
                  (handle<int, marked_layout>::from_value(7).with_user(3)));
    }
}

// What names the object is the same in both, so a pool of the one must not resolve handles of the other.
TEST(user_bits, share_the_pool_ids_of_the_layout_without_them) {
    pool<int, with_layout<handle_layout<21, 19, 9>>> without({.name = "without", .capacity = 1});
    pool<int, with_layout<handle_layout<21, 19, 9, 15>>> with({.name = "with", .capacity = 1});
    EXPECT_NE(without.id(), with.id());
    EXPECT_THROW((pool<int, with_layout<handle_layout<21, 19, 9, 3>>>(
                     {.name = "third", .capacity = 1, .pool_id = with.id()})),
                 std::invalid_argument);
}

} // namespace
} // namespace handlepool::test
