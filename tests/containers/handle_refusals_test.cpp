// SPDX-License-Identifier: MIT

// What containers of handles say of those that can't be members.

#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/made_up.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace handlepool::test {
namespace {

using refused_handle = handle<int>;

template <class Action>
std::string message_of(Action action) {
    try {
        action();
    } catch (const std::invalid_argument& refused) {
        return refused.what();
    }
    return "no exception";
}

struct set_of_numbers {
    static constexpr const char* name = "handle_set";
    void add(refused_handle handle) { container.insert(handle); }
    void attach(pool<int>& to) { container.attach(to); }
    handle_set<int> container;
};
struct map_of_numbers {
    static constexpr const char* name = "handle_map";
    void add(refused_handle handle) { container.try_emplace(handle, 1); }
    void attach(pool<int>& to) { container.attach(to); }
    handle_map<int, int> container;
};
struct index_of_numbers {
    static constexpr const char* name = "handle_index";
    void add(refused_handle handle) { container.insert(handle, static_cast<int>(handle.index()) + 100); }
    void attach(pool<int>& to) {
        container.attach(to, [](int object) { return object; });
    }
    handle_index<int, int> container;
};
struct hierarchy_of_numbers {
    static constexpr const char* name = "hierarchy";
    void add(refused_handle handle) { container.insert(handle); }
    void attach(pool<int>& to) { container.attach(to); }
    hierarchy<int> container;
};

template <class Numbers>
class handle_refusals : public testing::Test {
public:
    static std::string said(const std::string& what) { return std::string(Numbers::name) + ": " + what; }

    Numbers numbers;
};

using refusing_containers =
    testing::Types<set_of_numbers, map_of_numbers, index_of_numbers, hierarchy_of_numbers>;
TYPED_TEST_SUITE(handle_refusals, refusing_containers);

TYPED_TEST(handle_refusals, say_what_can_not_be_a_member) {
    const auto message = [&](refused_handle handle) {
        return message_of([&] { this->numbers.add(handle); });
    };
    EXPECT_EQ(message({}), this->said("the null handle can't be a member"));
    EXPECT_EQ(message(made_up(1, 2, 1)),
              this->said("a handle of generation 2, which names no object, can't be a member"));
    this->numbers.add(made_up(1, 1, 4));
    EXPECT_EQ(message(made_up(1, 1, 5)), this->said("an object of the pool with id 5 can't be a member "
                                                    "beside those of the pool with id 4"));
    EXPECT_EQ(this->numbers.container.size(), 1U);
    EXPECT_TRUE(this->numbers.container.contains(made_up(1, 1, 4)));
}

TYPED_TEST(handle_refusals, are_silent_of_what_is_known_to_be_dead) {
    pool<int> ships({.name = "ships", .capacity = 10});
    auto& container = this->numbers.container;
    this->numbers.attach(ships);
    const auto object = ships.emplace(1);
    ships.erase(object);
    this->numbers.add(object);
    EXPECT_TRUE(container.empty());
    ships.compact();
    this->numbers.add(object);
    EXPECT_TRUE(container.empty()) << "no compaction would take it out";
    container.detach();
    this->numbers.add(object);
    EXPECT_TRUE(container.contains(object)) << "detached, it doesn't know";
}

TYPED_TEST(handle_refusals, say_which_pool_can_not_be_attached) {
    pool<int> other({.name = "other", .capacity = 1});
    const std::uint32_t id = other.id() == 4 ? 5 : 4;
    this->numbers.add(made_up(1, 1, id));
    EXPECT_EQ(message_of([&] { this->numbers.attach(other); }),
              this->said("an object of the pool with id " + std::to_string(other.id()) +
                         " can't be a member beside those of the pool with id " + std::to_string(id)));
}

TYPED_TEST(handle_refusals, end_with_the_members_that_were_moved_away) {
    this->numbers.add(made_up(1, 1, 4));
    {
        const auto taken = std::move(this->numbers.container);
        EXPECT_EQ(taken.size(), 1U);
    }
    EXPECT_EQ(this->numbers.container.size(), 0U);
    this->numbers.add(made_up(1, 1, 5));
    EXPECT_TRUE(this->numbers.container.contains(made_up(1, 1, 5)));

    auto assigned = TypeParam();
    assigned.add(made_up(2, 1, 6));
    assigned.container = std::move(this->numbers.container);
    EXPECT_TRUE(assigned.container.contains(made_up(1, 1, 5)));
    this->numbers.add(made_up(3, 1, 7));
    EXPECT_TRUE(this->numbers.container.contains(made_up(3, 1, 7)));
}

TYPED_TEST(handle_refusals, end_when_an_attached_container_is_moved_away) {
    pool<int> first({.name = "first", .capacity = 1});
    pool<int> second({.name = "second", .capacity = 1});
    this->numbers.attach(first);
    const auto taken = std::move(this->numbers.container);
    EXPECT_TRUE(taken.attached());
    EXPECT_FALSE(this->numbers.container.attached());
    const auto object = second.emplace(1);
    this->numbers.add(object);
    EXPECT_TRUE(this->numbers.container.contains(object));
}

TYPED_TEST(handle_refusals, end_with_the_last_member_and_the_attachment) {
    pool<int> first({.name = "first", .capacity = 10});
    pool<int> second({.name = "second", .capacity = 10});
    const auto of_second = second.emplace(2);
    TypeParam& tested = this->numbers;
    const auto takes_others = [&](TypeParam& empty) {
        EXPECT_EQ(empty.container.size(), 0U);
        EXPECT_EQ(message_of([&] { empty.add(of_second); }), "no exception");
        EXPECT_TRUE(empty.container.contains(of_second));
        EXPECT_TRUE(empty.container.erase(of_second));
    };
    tested.attach(first);
    EXPECT_EQ(message_of([&] { tested.add(of_second); }),
              this->said("an object of the pool with id " + std::to_string(second.id()) +
                         " can't be a member beside those of the pool with id " + std::to_string(first.id())))
        << "without members, too";
    if constexpr (std::is_copy_constructible_v<decltype(tested.container)>) {
        TypeParam copy{tested.container};
        takes_others(copy);
    }
    tested.container.detach();
    takes_others(tested);
    const auto of_first = first.emplace(1);
    tested.add(of_first);
    tested.container.erase(of_first);
    takes_others(tested);
    {
        pool<int> third({.name = "third", .capacity = 10});
        tested.attach(third);
        tested.add(third.emplace(3));
    }
    takes_others(tested);
}

TYPED_TEST(handle_refusals, are_of_reserved_handles_where_nothing_tells_of_their_end) {
    pool<int> ships({.name = "ships", .capacity = 10});
    const auto reserved = ships.reserve_handle();
    const auto cancelled = ships.reserve_handle();
    const auto fulfilled = ships.reserve_handle();
    const auto why_not = [&](refused_handle handle) {
        return this->said("#" + std::to_string(handle.index()) + " generation " +
                          std::to_string(handle.generation()) +
                          " is reserved, and can't be a member of what is attached to its pool before its "
                          "object is made");
    };
    auto& container = this->numbers.container;
    for (const auto each : {reserved, cancelled, fulfilled}) {
        this->numbers.add(each);
    }
    EXPECT_EQ(container.prune(ships), 0U) << "they are to come";
    EXPECT_EQ(message_of([&] { this->numbers.attach(ships); }), why_not(reserved));
    EXPECT_FALSE(container.attached());
    EXPECT_EQ(container.size(), 3U);

    EXPECT_TRUE(ships.cancel(cancelled));
    ships.fulfill(fulfilled, 2);
    EXPECT_EQ(container.prune(ships), 1U);
    EXPECT_FALSE(container.contains(cancelled));
    ships.fulfill(reserved, 1);
    this->numbers.attach(ships);
    EXPECT_EQ(container.size(), 2U);

    const auto later = ships.reserve_handle();
    EXPECT_EQ(message_of([&] { this->numbers.add(later); }), why_not(later));
    EXPECT_EQ(container.size(), 2U);
    EXPECT_TRUE(ships.cancel(later));
    EXPECT_EQ(message_of([&] { this->numbers.add(later); }), "no exception") << "it is stale";
    EXPECT_EQ(container.size(), 2U);
    EXPECT_TRUE(ships.erase(reserved));
    ships.compact();
    EXPECT_FALSE(container.contains(reserved));
    EXPECT_TRUE(container.contains(fulfilled));

    std::string said;
    refused_handle seen;
    const auto made = ships.emplace_with([&](refused_handle self) {
        seen = self;
        said = message_of([&] { this->numbers.add(self); });
        return 3;
    });
    EXPECT_EQ(seen, made);
    EXPECT_EQ(said, why_not(made));
    EXPECT_FALSE(container.contains(made));
    ships.compact();
    if (!container.contains(made)) { // an index has it, by its birth
        this->numbers.add(made);
    }
    EXPECT_TRUE(container.contains(made));
}

TEST(handle_refusal, says_that_a_layout_does_not_use_all_bits) {
    using narrow = handle_layout<10, 12, 8>;
    using member = handle<int, narrow>;
    const auto other = member::from_value(made_up<member>(1).value() | narrow::value_type{1} << 31);
    handle_set<int, narrow> set;
    EXPECT_EQ(message_of([&] { set.insert(other); }),
              "handle_set: a handle with bits that its layout doesn't use can't be a member");
}

} // namespace
} // namespace handlepool::test
