// SPDX-License-Identifier: MIT

// Values and keys whose ends change the container that held them.

#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/made_up.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using end_pool = pool<int>;
using end_handle = end_pool::handle_type;

/// A number that does something at its end, such as a rope that two ships hold.
struct ending {
    ending(int value, std::function<void()> last) : number(value), at_end(std::move(last)) {}
    ~ending() {
        if (at_end) {
            at_end();
        }
    }
    ending(const ending&) = delete;
    ending& operator=(const ending&) = delete;

    int number;
    std::function<void()> at_end;
};
using end_value = std::shared_ptr<ending>;
using end_map = handle_map<int, end_value>;

end_value ends(int number, std::function<void()> at_end = {}) {
    return std::make_shared<ending>(number, std::move(at_end));
}

/// The numbers of a map whose handles have their slots.
std::vector<int> numbers_in(const end_map& map) {
    std::vector<int> found;
    map.for_each([&](end_handle handle, const end_value& value) {
        EXPECT_TRUE(map.contains(handle));
        EXPECT_NE(value, nullptr) << "of " << handle.index();
        if (value != nullptr) {
            EXPECT_EQ(handle.index() % 10, static_cast<std::uint64_t>(value->number));
            found.push_back(value->number);
        }
    });
    EXPECT_EQ(found.size(), map.size());
    return found;
}

/// A map of 1, 2, 3 and 4, in which the end of 1 takes 2 out.
struct map_ends : testing::Test {
    map_ends() {
        map.try_emplace(made_up(1), ends(1, [this] { map.erase(made_up(2)); }));
        for (int i = 2; i != 5; ++i) {
            map.try_emplace(made_up(static_cast<std::uint64_t>(i)), ends(i));
        }
    }
    end_map map;
};

/// Calls `check(map, one, other)` with a map of 0, 1, 2 and 3, for all two of them, also the same twice.
template <class Check>
void with_all_two(Check check) {
    for (int one = 0; one != 4; ++one) {
        for (int other = 0; other != 4; ++other) {
            end_map map;
            for (int i = 0; i != 4; ++i) {
                map.try_emplace(made_up(static_cast<std::uint64_t>(i)), ends(i));
            }
            check(map, one, other);
        }
    }
}

std::vector<int> all_but(int one, int other) {
    std::vector<int> rest{0, 1, 2, 3};
    std::erase(rest, one);
    std::erase(rest, other);
    return rest;
}

TEST(map_ends_alone, erase_another_wherever_the_two_are) {
    with_all_two([](end_map& map, int one, int other) {
        const auto first = made_up(static_cast<std::uint64_t>(one));
        const auto second = made_up(static_cast<std::uint64_t>(other));
        bool was_there = true;
        map.at(first)->at_end = [&] { was_there = map.erase(second); };
        EXPECT_TRUE(map.erase(first));
        EXPECT_EQ(was_there, one != other);
        EXPECT_THAT(numbers_in(map), testing::UnorderedElementsAreArray(all_but(one, other)));
    });
}

TEST_F(map_ends, erase_another_in_a_compaction) {
    end_pool pool({.name = "ships", .capacity = 10});
    std::vector<end_handle> ships;
    end_map ropes;
    ropes.attach(pool);
    for (int i = 0; i != 5; ++i) {
        ships.push_back(pool.emplace(i));
    }
    for (int i = 0; i != 5; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const int number = static_cast<int>(ships[at].index());
        ropes.try_emplace(ships[at], ends(number, [&, at] { ropes.erase(ships[(at + 1) % 5]); }));
    }
    const auto still = static_cast<int>(ships[3].index());
    ropes.at(ships[2])->at_end = {};
    pool.erase(ships[0]);
    pool.compact();
    EXPECT_THAT(numbers_in(ropes), UnorderedElementsAre(still, static_cast<int>(ships[4].index())));
    pool.clear();
    pool.compact();
    EXPECT_THAT(numbers_in(ropes), IsEmpty());
}

TEST_F(map_ends, erase_another_in_a_prune) {
    end_pool pool({.name = "ships", .capacity = 10});
    std::vector<end_handle> ships;
    end_map ropes;
    for (int i = 0; i != 4; ++i) {
        ships.push_back(pool.emplace(i));
    }
    for (int i = 0; i != 4; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const int number = static_cast<int>(ships[at].index());
        ropes.try_emplace(ships[at], ends(number, [&, at] { ropes.erase(ships[(at + 2) % 4]); }));
    }
    pool.erase(ships[0]);
    EXPECT_EQ(ropes.prune(pool), 1U);
    EXPECT_THAT(numbers_in(ropes),
                UnorderedElementsAre(static_cast<int>(ships[1].index()), static_cast<int>(ships[3].index())));
    pool.erase(ships[1]);
    pool.erase(ships[3]);
    ropes.prune(pool);
    EXPECT_THAT(numbers_in(ropes), IsEmpty());
}

TEST_F(map_ends, erase_another_while_some_are_erased) {
    EXPECT_EQ(erase_if(map, [](end_handle, const end_value& value) { return value->number % 2 == 1; }), 2U);
    EXPECT_THAT(numbers_in(map), ElementsAre(4));
}

TEST_F(map_ends, erase_all_while_some_are_erased) {
    map.at(made_up(4))->at_end = [&] {
        for (std::uint64_t i = 1; i != 4; ++i) {
            map.erase(made_up(i));
        }
    };
    int asked = 0;
    EXPECT_EQ(erase_if(map,
                       [&](end_handle each, const end_value&) {
                           EXPECT_TRUE(map.contains(each));
                           ++asked;
                           return true;
                       }),
              1U);
    EXPECT_EQ(asked, 1);
    EXPECT_THAT(numbers_in(map), IsEmpty());
}

TEST_F(map_ends, add_while_the_map_is_cleared) {
    map.at(made_up(3))->at_end = [&] { map.try_emplace(made_up(5), ends(5)); };
    map.clear();
    EXPECT_THAT(numbers_in(map), ElementsAre(5));
    map.clear();
    EXPECT_THAT(numbers_in(map), IsEmpty());
}

TEST_F(map_ends, find_no_other_while_the_map_is_cleared) {
    int found = 0;
    map.at(made_up(3))->at_end = [&] {
        for (std::uint64_t i = 1; i != 5; ++i) {
            found += map.contains(made_up(i)) ? 1 : 0;
        }
    };
    const std::size_t memory = map.memory();
    map.clear();
    EXPECT_EQ(found, 0);
    EXPECT_EQ(map.memory(), memory) << "as a vector's clear()";
}

TEST_F(map_ends, erase_another_when_a_value_is_assigned) {
    const auto assigned = map.insert_or_assign(made_up(1), ends(1));
    EXPECT_FALSE(assigned.inserted);
    EXPECT_EQ(assigned.value, map.find(made_up(1)));
    EXPECT_THAT(numbers_in(map), UnorderedElementsAre(1, 3, 4));
}

TEST(map_ends_alone, erase_another_or_itself_when_a_value_is_assigned_wherever_the_two_are) {
    with_all_two([](end_map& map, int one, int other) {
        const auto first = made_up(static_cast<std::uint64_t>(one));
        const auto second = made_up(static_cast<std::uint64_t>(other));
        map.at(first)->at_end = [&] { EXPECT_TRUE(map.erase(second)); };
        const auto assigned = map.insert_or_assign(first, ends(one));
        EXPECT_FALSE(assigned.inserted);
        EXPECT_EQ(assigned.value, map.find(first)) << one << " takes out " << other;
        EXPECT_EQ(assigned.value == nullptr, one == other);
        EXPECT_THAT(numbers_in(map), testing::UnorderedElementsAreArray(all_but(other, other)));
    });
}

TEST_F(map_ends, erase_another_when_a_stale_member_is_replaced) {
    map.at(made_up(4))->at_end = [&] {
        map.erase(made_up(1));
        map.erase(made_up(2));
    };
    const auto made = map.try_emplace(made_up(4, 3), ends(4));
    EXPECT_TRUE(made.inserted);
    EXPECT_EQ(made.value, map.find(made_up(4, 3)));
    EXPECT_THAT(numbers_in(map), UnorderedElementsAre(3, 4));
}

TEST_F(map_ends, erase_itself_when_it_is_replaced) {
    map.at(made_up(4))->at_end = [&] { map.erase(made_up(4, 3)); };
    EXPECT_EQ(map.try_emplace(made_up(4, 3), ends(4)).value, nullptr);
    EXPECT_THAT(numbers_in(map), UnorderedElementsAre(1, 2, 3));
}

TEST_F(map_ends, erase_what_is_assigned_to_the_map) {
    end_map other;
    other.try_emplace(made_up(2), ends(2));
    other.try_emplace(made_up(7), ends(7));
    other.try_emplace(made_up(8), ends(8));
    end_map copied = other;
    map = std::move(other);
    EXPECT_THAT(numbers_in(map), UnorderedElementsAre(7, 8));
    map.try_emplace(made_up(1), ends(1, [&] { map.erase(made_up(8)); }));
    map = copied;
    EXPECT_THAT(numbers_in(map), UnorderedElementsAre(2, 7));
}

TEST(map_ends_alone, erase_each_other_when_the_map_ends) {
    int ended = 0;
    {
        end_map map;
        for (int i = 0; i != 100; ++i) {
            const auto number = static_cast<std::uint64_t>(i);
            map.try_emplace(made_up(number), ends(i % 10, [&, number] {
                                ++ended;
                                map.erase(made_up((number + 1) % 100));
                                map.erase(made_up((number + 50) % 100));
                            }));
        }
        map.at(made_up(20))->at_end = [&] { // once more, by a value that comes meanwhile
            map.try_emplace(made_up(200), ends(0, [&] { ended += map.erase(made_up(201)) ? 0 : 1; }));
        };
    }
    EXPECT_EQ(ended, 100);
}

TEST_F(map_ends, predicates_and_visitors_change_the_map) {
    EXPECT_EQ(erase_if(map,
                       [&](end_handle each, const end_value&) {
                           map.erase(made_up(each.index() - 1));
                           return each == made_up(3);
                       }),
              0U)
        << "the others went before they were asked";
    EXPECT_THAT(numbers_in(map), ElementsAre(4));

    map.try_emplace(made_up(5), ends(5));
    map.try_emplace(made_up(6), ends(6));
    int calls = 0;
    map.for_each([&](end_handle, const end_value&) {
        ++calls;
        map.erase(made_up(5));
        map.erase(made_up(6));
    });
    EXPECT_EQ(calls, 1);
    EXPECT_THAT(numbers_in(map), ElementsAre(4));
}

/// Makes members of the map while it is made itself.
struct makes_others {
    makes_others(handle_map<int, makes_others>* map, std::uint64_t index) : number(index) {
        if (index < 20) {
            map->try_emplace(made_up(index + 1), map, index + 1);
        }
    }
    std::uint64_t number;
};

TEST(map_ends_alone, values_are_made_before_the_map_changes) {
    handle_map<int, makes_others> map;
    EXPECT_TRUE(map.try_emplace(made_up(1), &map, std::uint64_t{1}).inserted);
    EXPECT_EQ(map.size(), 20U);
    map.for_each(
        [](end_handle handle, const makes_others& value) { EXPECT_EQ(handle.index(), value.number); });
}

/// Whose making does something else.
struct made_by {
    explicit made_by(const std::function<void()>& action) { action(); }
};

TEST(map_ends_alone, a_handle_is_refused_once_its_value_has_brought_objects_of_another_pool) {
    const auto other = made_up(7, 1, 2);
    handle_map<int, made_by> map;
    map.try_emplace(made_up(2), [] {});
    std::string said;
    const auto change = [&] {
        map.clear();
        map.try_emplace(other, [] {});
    };
    const auto add = [&](auto action) {
        try {
            action();
        } catch (const std::invalid_argument& refused) {
            said = refused.what();
        }
        EXPECT_EQ(std::exchange(said, {}), "handle_map: an object of the pool with id 1 can't be a member "
                                           "beside those of the pool with id 2");
        EXPECT_THAT(map.handles(), ElementsAre(other));
        map.clear();
    };
    add([&] { map.try_emplace(made_up(1), change); });
    add([&] { map.insert_or_assign(made_up(1), std::function<void()>(change)); });
}

TEST(map_ends_alone, an_object_that_ends_while_its_value_is_made_gets_none) {
    end_pool pool({.name = "ships", .capacity = 10});
    handle_map<int, made_by> map;
    map.attach(pool);
    const auto end_of = [&](end_handle ship) {
        return std::function<void()>([&pool, ship] {
            pool.erase(ship);
            pool.compact();
        });
    };
    auto ship = pool.emplace(1);
    auto made = map.try_emplace(ship, end_of(ship));
    EXPECT_EQ(made.value, nullptr);
    EXPECT_FALSE(made.inserted);
    ship = pool.emplace(2);
    made = map.insert_or_assign(ship, end_of(ship));
    EXPECT_EQ(made.value, nullptr);
    EXPECT_FALSE(made.inserted);
    ship = pool.emplace(3);
    EXPECT_TRUE(map.try_emplace(ship, [] {}).inserted);
    made = map.insert_or_assign(ship, end_of(ship)); // as a member
    EXPECT_EQ(made.value, nullptr);
    EXPECT_FALSE(made.inserted);
    EXPECT_THAT(map.handles(), IsEmpty());
}

TEST(map_ends_alone, a_member_that_is_made_while_its_value_is_made_keeps_its_own_or_is_assigned_to) {
    handle_map<int, std::shared_ptr<int>> map;
    struct maker {
        handle_map<int, std::shared_ptr<int>>* map;
        operator std::shared_ptr<int>() const {
            map->try_emplace(made_up(1), std::make_shared<int>(1));
            return std::make_shared<int>(2);
        }
    };
    auto made = map.try_emplace(made_up(1), maker{&map});
    EXPECT_FALSE(made.inserted);
    EXPECT_EQ(**made.value, 1);
    map.clear();
    made = map.insert_or_assign(made_up(1), maker{&map});
    EXPECT_FALSE(made.inserted);
    EXPECT_EQ(**made.value, 2);
    EXPECT_EQ(map.size(), 1U);
}

TEST(set_ends, predicates_change_the_set) {
    handle_set<int> set;
    for (std::uint64_t i = 1; i != 5; ++i) {
        set.insert(made_up(i));
    }
    EXPECT_EQ(erase_if(set,
                       [&](end_handle each) {
                           EXPECT_TRUE(set.contains(each));
                           set.erase(made_up(1));
                           set.erase(made_up(2));
                           set.insert(made_up(5));
                           return each == made_up(4);
                       }),
              1U);
    EXPECT_THAT(set.handles(), UnorderedElementsAre(made_up(3), made_up(5)));
}

struct end_key {
    int number;
    end_value end = {};

    friend bool operator==(const end_key& one, const end_key& other) { return one.number == other.number; }
};
struct hash_of_key {
    std::size_t operator()(const end_key& key) const { return static_cast<std::size_t>(key.number); }
};
using end_index = handle_index<int, end_key, default_layout, hash_of_key>;

/// An index of 1, 2, 3 and 4, in which the end of the key 1 takes the key of the second.
struct key_ends : testing::Test {
    key_ends() {
        index.emplace();
        index->insert(made_up(1), {1, ends(1, [this] { index->erase(made_up(2)); })});
        for (int i = 2; i != 5; ++i) {
            index->insert(made_up(static_cast<std::uint64_t>(i)), {i});
        }
    }
    std::vector<int> keys() const {
        std::vector<int> found;
        for (const end_handle each : index->handles()) {
            const end_key* const key = index->key_of(each);
            EXPECT_EQ(index->find(*key), each);
            found.push_back(key->number);
        }
        return found;
    }
    void at_end_of(std::uint64_t which, std::function<void()> action) {
        index->key_of(made_up(which))->end->at_end = std::move(action);
    }
    std::optional<end_index> index;
};

TEST_F(key_ends, take_another_key) {
    EXPECT_TRUE(index->erase(made_up(1)));
    EXPECT_THAT(keys(), UnorderedElementsAre(3, 4));
}

TEST_F(key_ends, take_another_key_when_their_object_gets_another) {
    EXPECT_TRUE(index->rekey(made_up(1), {7}));
    EXPECT_THAT(keys(), UnorderedElementsAre(7, 3, 4));
}

TEST_F(key_ends, take_keys_when_a_stale_handle_loses_its_key) {
    at_end_of(1, [&] {
        index->erase(made_up(1, 3));
        index->erase(made_up(2));
    });
    EXPECT_TRUE(index->insert(made_up(1, 3), {7}));
    EXPECT_THAT(keys(), UnorderedElementsAre(3, 4));
}

TEST_F(key_ends, give_a_key_when_a_stale_handle_loses_its_key) {
    at_end_of(1, [&] { index->insert(made_up(1, 5), {5}); });
    EXPECT_TRUE(index->insert(made_up(1, 3), {7}));
    EXPECT_THAT(keys(), UnorderedElementsAre(2, 3, 4, 5));
}

TEST_F(key_ends, find_and_give_keys_while_the_index_is_cleared) {
    int found = 0;
    at_end_of(1, [&] {
        for (int i = 1; i != 5; ++i) {
            found += index->find({i}) ? 1 : 0;
        }
        index->insert(made_up(5), {5});
    });
    index->clear();
    EXPECT_EQ(found, 0);
    EXPECT_THAT(keys(), ElementsAre(5));
}

TEST_F(key_ends, clear_an_index_that_is_being_cleared) {
    at_end_of(1, [&] {
        index->insert(made_up(5), {5});
        index->clear();
        EXPECT_EQ(index->size(), 0U);
        EXPECT_FALSE(index->find({5}));
        EXPECT_TRUE(index->find_all({5}).empty());
        index->insert(made_up(6), {6});
    });
    index->clear();
    EXPECT_THAT(keys(), ElementsAre(6));
    index->clear();
    EXPECT_TRUE(index->insert(made_up(1), {1}));
    EXPECT_THAT(keys(), ElementsAre(1));
}

TEST_F(key_ends, take_keys_when_the_index_ends_or_is_replaced) {
    end_index other;
    other.insert(made_up(2), {2});
    other.insert(made_up(6), {6, ends(6, [this] { index->erase(made_up(8)); })});
    other.insert(made_up(8), {8});
    *index = std::move(other);
    EXPECT_THAT(keys(), UnorderedElementsAre(6, 8));
    index.reset();
}

TEST_F(key_ends, take_keys_when_the_index_becomes_a_copy) {
    index->clear();
    index.emplace();
    end_index other;
    other.insert(made_up(2), {2});
    other.insert(made_up(9), {9});
    *index = other;
    EXPECT_THAT(keys(), UnorderedElementsAre(2, 9));
    other.insert(made_up(5), {5, ends(5, [this] { index->erase(made_up(9)); })});
    *index = other;
    EXPECT_THAT(keys(), UnorderedElementsAre(2, 5, 9));
    other.erase(made_up(5));
    *index = other; // the last of the keys 5
    EXPECT_THAT(keys(), UnorderedElementsAre(2));
}

TEST_F(key_ends, take_another_key_in_a_compaction_and_in_a_prune) {
    end_pool pool({.name = "ships", .capacity = 10});
    index->clear();
    index.emplace();
    std::vector<end_handle> ships;
    for (int i = 0; i != 4; ++i) {
        ships.push_back(pool.emplace(i));
    }
    for (int i = 0; i != 4; ++i) {
        const auto at = static_cast<std::size_t>(i);
        index->insert(ships[at], {i, ends(i, [&, at] { index->erase(ships[(at + 2) % 4]); })});
    }
    pool.erase(ships[0]);
    EXPECT_EQ(index->prune(pool), 1U);
    EXPECT_THAT(keys(), UnorderedElementsAre(1, 3));
    index->attach(pool, [](int object) { return end_key{object}; });
    pool.erase(ships[3]);
    pool.compact();
    EXPECT_THAT(keys(), UnorderedElementsAre(1, 2)) << "those that lost their keys are born";
}

} // namespace
} // namespace handlepool::test
