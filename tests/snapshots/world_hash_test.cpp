// SPDX-License-Identifier: MIT

#include <handlepool/columns.hpp>
#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/snapshots/world_hash.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>
#include <tests/support/random.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// With padding, a pointer, and a member that doesn't count.
struct hashed_rover {
    float x = 0;
    bool is_loaded = false;
    double y = 0;
    const char* driver = nullptr;
    std::string cargo = {};
    int seen_by_camera = 0;
};
template <class Hash>
void for_each_hashed(const hashed_rover& each, Hash& hash) {
    hash(each.x);
    hash(each.is_loaded);
    hash(each.y);
    hash(each.cargo);
}

/// All of whose bytes count.
struct hashed_crate {
    std::uint32_t weight = 0;
    std::uint32_t content = 0;
};

static_assert(detail::is_content<hashed_crate> && detail::is_content<double> &&
              detail::is_content<handle<hashed_crate>>);
static_assert(detail::is_content<std::array<float, 3>> && detail::is_content<std::uint8_t[2]>);
static_assert(!detail::is_content<hashed_rover> && !detail::is_content<const char*> &&
              !detail::is_content<std::string>);
static_assert(!detail::is_content<std::string_view> && !detail::is_content<std::span<int>>);
static_assert(!detail::is_content<long double> && !detail::is_content<std::pair<char, int>>);

std::uint64_t hash_of_value(const auto& value) {
    world_hash hash;
    hash.add("it", value);
    return hash.update();
}

TEST(object_hash, is_the_same_on_each_machine) {
    detail::object_hash hash;
    hash(std::uint32_t{7});
    hash(1.5F);
    hash(std::string("abc"));
    hash(std::vector<std::string>{"d", "ef"});
    EXPECT_EQ(hash.value(), 11'212'357'293'652'844'852U);
}

// One after the other, whatever pieces they are gathered in.
TEST(object_hash, tells_lists_and_long_content_apart) {
    const std::vector<std::vector<std::string>> lists = {{},
                                                         {""},
                                                         {"ab"},
                                                         {"a", "b"},
                                                         {"", "ab"},
                                                         {"ab", ""},
                                                         {std::string(500, 'x')},
                                                         {std::string(501, 'x')}};
    std::vector<std::uint64_t> hashes;
    for (const auto& each : lists) {
        hashes.push_back(hash_of_value(each));
        EXPECT_EQ(hash_of_value(each), hashes.back());
    }
    std::ranges::sort(hashes);
    EXPECT_TRUE(std::ranges::adjacent_find(hashes) == hashes.end());
    for (const std::size_t at : {0U, 239U, 240U, 241U, 479U, 480U, 999U}) {
        std::string text(1'000, '.');
        const std::uint64_t before = hash_of_value(text);
        text[at] = '!';
        EXPECT_NE(hash_of_value(text), before) << at;
    }
}

/// Without padding, and with a pointer that doesn't count.
struct hashed_skin {
    const char* texture = nullptr;
    std::uint64_t number = 0;
};
template <class Hash>
void for_each_hashed(const hashed_skin& each, Hash& hash) {
    hash(each.number);
}
struct hashed_wardrobe {
    hashed_skin skins[2];
    std::array<hashed_skin, 1> hat;
    std::array<std::uint32_t, 0> none;
};
template <class Hash>
void for_each_hashed(const hashed_wardrobe& each, Hash& hash) {
    hash(each.skins);
    hash(each.hat);
    hash(each.none);
}

TEST(object_hash, asks_the_function_beside_the_type_in_arrays_too) {
    const auto expect_same = [](const auto& one, const auto& other, const auto& third) {
        EXPECT_EQ(hash_of_value(one), hash_of_value(other));
        EXPECT_NE(hash_of_value(one), hash_of_value(third));
    };
    const hashed_skin one{"blue.png", 7};
    const hashed_skin other{"red.png", 7};
    const hashed_skin third{"blue.png", 8};
    expect_same(one, other, third);
    expect_same(std::array{one, one}, std::array{other, one}, std::array{one, third});
    expect_same(std::array{std::array{one}}, std::array{std::array{other}}, std::array{std::array{third}});
    expect_same(std::vector{one}, std::vector{other}, std::vector{third});
    expect_same(std::vector{std::array{one}}, std::vector{std::array{other}}, std::vector{std::array{third}});
    expect_same(hashed_wardrobe{{one, one}, {one}, {}}, hashed_wardrobe{{other, one}, {other}, {}},
                hashed_wardrobe{{one, third}, {one}, {}});
    expect_same(hashed_wardrobe{{one, one}, {one}, {}}, hashed_wardrobe{{one, other}, {one}, {}},
                hashed_wardrobe{{one, one}, {third}, {}});
    static_assert(!detail::is_content<std::array<int, 0>>); // which has a byte that nobody writes
}

TEST(world_hash, is_of_the_order_in_which_objects_got_equal_keys) {
    pool<hashed_crate> crates({.capacity = 100});
    const auto one = crates.emplace(1U, 1U);
    const auto other = crates.emplace(2U, 2U);
    crates.compact();
    const auto index_of = [&](auto first, auto last) {
        handle_index<hashed_crate, int> index(duplicate_keys::allow);
        index.insert(one, 1);
        index.insert(other, 2);
        index.rekey(first, 7);
        index.rekey(last, 7);
        return index;
    };
    EXPECT_EQ(hash_of_value(index_of(one, other)), hash_of_value(index_of(one, other)));
    EXPECT_NE(hash_of_value(index_of(one, other)), hash_of_value(index_of(other, one)));
}

TEST(world_hash, is_of_members_that_count) {
    pool<hashed_rover> rovers({.capacity = 100});
    change_log log(rovers);
    world_hash hash;
    hash.add("rovers", log);
    const auto it = rovers.emplace();
    rovers.compact();
    const std::uint64_t before = hash.update();
    log.edit(it)->seen_by_camera = 9;
    log.edit(it)->driver = "Ada";
    rovers.compact();
    EXPECT_EQ(hash.update(), before);
    std::vector<std::uint64_t> others = {before};
    const std::vector<std::function<void(hashed_rover&)>> edits = {
        [](hashed_rover& each) { each.x = -0.0F; }, [](hashed_rover& each) { each.is_loaded = true; },
        [](hashed_rover& each) { each.y = 3; }, [](hashed_rover& each) { each.cargo = "ice"; }};
    for (const auto& edit : edits) {
        edit(*log.edit(it));
        rovers.compact();
        others.push_back(hash.update());
        EXPECT_EQ(hash.value(), others.back());
    }
    std::ranges::sort(others);
    EXPECT_TRUE(std::ranges::adjacent_find(others) == others.end());
}

TEST(world_hash, is_of_positions_and_handles) {
    pool<hashed_crate> crates({.capacity = 100});
    change_log log(crates);
    world_hash hash;
    hash.add("crates", log);
    const auto first = crates.emplace(1U, 2U);
    const auto last = crates.emplace(3U, 4U);
    crates.compact();
    std::vector<std::uint64_t> seen = {hash.update()};
    const auto expect_another = [&] {
        crates.compact();
        seen.push_back(hash.update());
    };
    std::swap(*log.edit(first), *log.edit(last));
    expect_another();
    sort(crates,
         [](const hashed_crate& one, const hashed_crate& other) { return one.weight < other.weight; });
    expect_another(); // the first content at the first position again, with another handle
    const auto renamed = crates.revoke(first);
    expect_another();
    crates.erase(renamed);
    expect_another();
    crates.emplace(1U, 2U);
    expect_another();
    std::ranges::sort(seen);
    EXPECT_TRUE(std::ranges::adjacent_find(seen) == seen.end());
}

TEST(world_hash, of_a_pool_costs_what_has_changed) {
    pool<hashed_crate> crates({.capacity = 1'000});
    change_log log(crates);
    world_hash hash;
    std::size_t looks = 0;
    hash.add("crates", log, [&looks](const hashed_crate& each, auto& of) {
        ++looks;
        of(each.weight);
    });
    std::vector<handle<hashed_crate>> all;
    for (std::uint32_t i = 0; i != 500; ++i) {
        all.push_back(crates.emplace(i, i));
    }
    crates.compact();
    hash.update();
    EXPECT_EQ(looks, 500U);
    log.edit(all[17])->weight = 1;
    log.edit(all[400])->weight = 1;
    crates.compact();
    hash.update();
    EXPECT_EQ(looks, 502U);
    crates.compact();
    hash.update();
    EXPECT_EQ(looks, 502U);
}

TEST(world_hash, finds_the_object_in_which_two_worlds_differ) {
    pool<hashed_crate> crates({.capacity = 1'000});
    const int score = 7;
    change_log log(crates);
    world_hash hash;
    hash.add("score", score);
    hash.add("crates", log);
    for (std::uint32_t i = 0; i != 200; ++i) {
        crates.emplace(i, 0U);
    }
    crates.compact();
    const std::uint64_t value = hash.update();
    const auto parts = hash.parts();
    const auto blocks = hash.blocks("crates");
    const std::vector<std::uint64_t> objects(hash.objects("crates", 2).begin(),
                                             hash.objects("crates", 2).end());
    EXPECT_EQ(hash.objects("crates", 3).size(), 8U);
    log.edit(log.told_at(150))->content = 9;
    crates.compact();
    EXPECT_NE(hash.update(), value);
    EXPECT_EQ(hash.parts()[0], parts[0]);
    EXPECT_EQ(hash.parts()[1].name, "crates");
    EXPECT_NE(hash.parts()[1], parts[1]);
    ASSERT_EQ(hash.blocks("crates").size(), 4U);
    for (std::size_t i = 0; i != 4; ++i) {
        EXPECT_EQ(hash.blocks("crates")[i] == blocks[i], i != 2) << i;
    }
    ASSERT_EQ(objects.size(), 64U);
    for (std::size_t i = 0; i != 64; ++i) {
        EXPECT_EQ(hash.objects("crates", 2)[i] == objects[i], 128 + i != 150) << i;
    }
}

/// The hash of a world that goes on, against one that looks at all of it.
template <class Pool>
void expect_as_if_looked_at_all(const change_log<Pool>& log, world_hash& going_on) {
    world_hash anew;
    anew.add("pool", log);
    ASSERT_EQ(going_on.update(), anew.update());
    ASSERT_EQ(going_on.blocks("pool"), anew.blocks("pool"));
}

/// Makes, finds and changes objects of each kind.
template <class Pool>
struct hashed_kind {
    static auto emplace(Pool& pool, std::uint32_t number) { return pool.emplace(number, number); }
    static void change(typename Pool::pointer object, std::uint32_t number) { object->content = number; }
    static void sort_all(Pool& pool) {
        if constexpr (requires { pool.handle_at(0); }) { // others are not sorted
            sort(pool, [](const hashed_crate& one, const hashed_crate& other) {
                return one.content < other.content;
            });
        }
    }
    static auto make(std::size_t frames) {
        return std::make_unique<Pool>(pool_options{.capacity = 300, .reuse_delay = frames % 2});
    }
};
using hashed_rows = pool<columns<std::uint32_t, float>>;
template <>
struct hashed_kind<hashed_rows> {
    static auto emplace(hashed_rows& pool, std::uint32_t number) {
        return pool.emplace(number, static_cast<float>(number));
    }
    static void change(hashed_rows::pointer row, std::uint32_t number) { row->get<0>() = number; }
    static void sort_all(hashed_rows& pool) {
        sort(pool, [](const auto& one, const auto& other) {
            return one.template get<0>() < other.template get<0>();
        });
    }
    static auto make(std::size_t) { return std::make_unique<hashed_rows>(pool_options{.capacity = 300}); }
};
template <>
struct hashed_kind<raw_pool<>> {
    static auto emplace(raw_pool<>& pool, std::uint32_t number) {
        return pool.emplace([number](void* memory) { change(memory, number); });
    }
    static void change(void* memory, std::uint32_t number) {
        std::fill_n(static_cast<std::uint32_t*>(memory), 3, number);
    }
    static void sort_all(raw_pool<>&) {}
    static auto make(std::size_t) {
        return std::make_unique<raw_pool<>>(pool_options{.capacity = 300},
                                            raw_type{.size = 12, .alignment = 4});
    }
};

template <class Pool>
class world_hash_oracle : public testing::Test {};
using hashed_pools = testing::Types<pool<hashed_crate>, stable_pool<hashed_crate>, hashed_rows, raw_pool<>>;
TYPED_TEST_SUITE(world_hash_oracle, hashed_pools);

TYPED_TEST(world_hash_oracle, goes_on_as_if_it_looked_at_all) {
    using traits = hashed_kind<TypeParam>;
    for (std::uint64_t seed = 0; seed != 20; ++seed) {
        random_source random(seed);
        const auto pool = traits::make(seed);
        change_log log(*pool, {.frames = 1 + seed % 4});
        world_hash hash;
        hash.add("pool", log);
        std::vector<typename TypeParam::handle_type> handles;
        for (int frame = 0; frame != 60; ++frame) {
            for (std::size_t i = random.below(30); i != 0; --i) {
                if (const auto born =
                        pool->size() < 250
                            ? traits::emplace(*pool, static_cast<std::uint32_t>(random.below(9)))
                            : typename TypeParam::handle_type()) {
                    handles.push_back(born);
                }
            }
            for (std::size_t i = random.below(20); i != 0 && !handles.empty(); --i) {
                auto& one = handles[random.below(handles.size())];
                switch (random.below(4)) {
                case 0:
                    pool->erase(one);
                    break;
                case 1:
                    if (const auto renamed = pool->revoke(one)) {
                        one = renamed;
                    }
                    break;
                default:
                    if (const auto object = log.edit(one)) {
                        traits::change(object, static_cast<std::uint32_t>(random.below(1'000)));
                    }
                }
            }
            switch (random.below(12)) {
            case 0:
                traits::sort_all(*pool);
                break;
            case 1:
                pool->clear();
                break;
            case 2:
                pool->reset();
                handles.clear();
                break;
            case 3:
                pool->compact_some(5);
                break;
            case 4:
                pool->compact();
                pool->shrink_to_fit();
                break;
            default:
                break;
            }
            pool->compact();
            if (random.below(3) != 0) {
                ASSERT_NO_FATAL_FAILURE(expect_as_if_looked_at_all(log, hash)) << seed << ' ' << frame;
            }
        }
    }
}

TEST(world_hash, follows_a_restore) {
    pool<hashed_crate> crates({.capacity = 100});
    change_log log(crates);
    capture_ring ring(log);
    world_hash hash;
    hash.add("pool", log);
    const auto first = crates.emplace(1U, 1U);
    crates.emplace(2U, 2U);
    ring.capture(1);
    const std::uint64_t captured = hash.update();
    log.edit(first)->content = 8;
    crates.emplace(3U, 3U);
    ring.capture(2);
    EXPECT_NE(hash.update(), captured);
    ring.restore(1);
    EXPECT_EQ(hash.update(), captured);
    expect_as_if_looked_at_all(log, hash);
}

TEST(world_hash, is_of_containers) {
    pool<hashed_crate> crates({.capacity = 100});
    std::vector<handle<hashed_crate>> all;
    for (std::uint32_t i = 0; i != 6; ++i) {
        all.push_back(crates.emplace(i, i));
    }
    crates.compact();
    handle_set<hashed_crate> set;
    handle_map<hashed_crate, std::string> map;
    handle_index<hashed_crate, std::string> index;
    hierarchy<hashed_crate> tree;
    property_store<hashed_crate> store;
    world_hash hash;
    hash.add("set", set);
    hash.add("map", map);
    hash.add("index", index);
    hash.add("tree", tree);
    hash.add("store", store);
    std::vector<std::uint64_t> seen = {hash.update()};
    EXPECT_EQ(hash.update(), seen.back());
    const std::vector<std::function<void()>> changes = {
        [&] { set.insert(all[0]); },
        [&] { set.insert(all[1]); },
        [&] { map.try_emplace(all[0], "a"); },
        [&] { map.find(all[0])->append("b"); },
        [&] { index.insert(all[0], "a"); },
        [&] { index.insert(all[1], "b"); },
        [&] { tree.insert(all[0]); },
        [&] { tree.set_parent(all[1], all[0]); },
        [&] { tree.set_parent(all[2], all[0]); },
        [&] { tree.set_parent(all[2], all[1]); },
        [&] { tree.clear_parent(all[2]); },
        [&] { store.set(all[0], property_path("hull"), 3); },
        [&] { store.set(all[0], property_path("hull"), true); },
        [&] { store.set(all[0], property_path("name"), "Argo"); },
        [&] { store.set(all[0], property_path("name"), "Argos"); },
        [&] { store.set(all[1], property_path("hull"), 3); },
    };
    std::vector<std::uint64_t> parts = {0, 0, 0, 0, 0};
    for (std::size_t i = 0; i != changes.size(); ++i) {
        changes[i]();
        seen.push_back(hash.update());
        std::size_t changed = 0;
        for (std::size_t part = 0; part != parts.size(); ++part) {
            const std::uint64_t before = std::exchange(parts[part], hash.parts()[part].value);
            changed += before != parts[part] ? 1U : 0U;
        }
        EXPECT_EQ(changed, i == 0 ? 5U : 1U) << i;
    }
    store.clear();
    EXPECT_EQ(hash.update(), seen[seen.size() - 6]); // before it had anything
    std::ranges::sort(seen);
    EXPECT_TRUE(std::ranges::adjacent_find(seen) == seen.end());
}

TEST(world_hash, of_a_value_is_what_the_function_says) {
    const hashed_rover one{.x = 1, .cargo = "ice"};
    world_hash by_members;
    by_members.add("it", one, [](const hashed_rover& each, auto& hash) { hash(each.cargo); });
    hashed_rover other = one;
    other.x = 2;
    world_hash of_other;
    of_other.add("it", other, [](const hashed_rover& each, auto& hash) { hash(each.cargo); });
    EXPECT_EQ(by_members.update(), of_other.update());
    EXPECT_NE(hash_of_value(one), hash_of_value(other));
    world_hash other_name;
    other_name.add("that", one, [](const hashed_rover& each, auto& hash) { hash(each.cargo); });
    EXPECT_NE(by_members.value(), other_name.update());
}

TEST(world_hash, goes_on_after_a_function_that_throws) {
    pool<hashed_crate> crates({.capacity = 100});
    change_log log(crates);
    world_hash hash;
    int left = 1'000;
    const auto members = [&left](const hashed_crate& each, auto& of) {
        if (left-- == 0) {
            throw std::runtime_error("no more");
        }
        of(each.weight);
    };
    hash.add("crates", log, members);
    const auto first = crates.emplace(1U, 1U);
    for (std::uint32_t i = 0; i != 20; ++i) {
        crates.emplace(i, i);
    }
    crates.compact();
    const std::uint64_t before = hash.update();
    for (int fails = 0; fails != 10; ++fails) {
        log.edit(first)->weight += 1;
        for (std::uint32_t i = 0; i != 10; ++i) {
            crates.emplace(i, i);
            crates.erase(crates.handle_at(1 + i));
        }
        crates.compact();
        left = fails;
        const std::uint64_t value = hash.value();
        EXPECT_THROW(hash.update(), std::runtime_error);
        EXPECT_EQ(hash.value(), value);
        left = 1'000;
        world_hash anew;
        anew.add("crates", log, members);
        EXPECT_EQ(hash.update(), anew.update());
    }
    EXPECT_NE(hash.value(), before);
}

TEST(world_hash, of_a_pool_that_has_ended_stays) {
    std::optional<pool<hashed_crate>> crates(pool_options{.capacity = 10});
    change_log log(*crates);
    world_hash hash;
    hash.add("crates", log);
    crates->emplace(1U, 1U);
    crates->compact();
    const std::uint64_t last = hash.update();
    crates.reset();
    EXPECT_EQ(hash.update(), last);
    EXPECT_EQ(hash.blocks("crates").size(), 1U);
}

TEST(world_hash, refuses_names_and_blocks_that_are_not_there) {
    pool<hashed_crate> crates({.capacity = 100});
    change_log log(crates);
    const int score = 0;
    world_hash hash;
    EXPECT_EQ(hash.update(), 0U);
    EXPECT_THAT(hash.parts(), IsEmpty());
    hash.add("score", score);
    hash.add("crates", log);
    hash.update();
    EXPECT_THAT(hash.blocks("crates"), IsEmpty());
    EXPECT_EQ(message_of<std::invalid_argument>([&] { hash.add("score", log); }),
              "world_hash, 'score': something has been added under this name already");
    EXPECT_EQ(message_of<std::invalid_argument>([&] { hash.add("", score); }),
              "world_hash, '': the name has 0 bytes; 1 to 255 are allowed");
    EXPECT_EQ(message_of<std::invalid_argument>([&] { hash.blocks("score"); }),
              "world_hash: no pool was added as 'score'");
    EXPECT_EQ(message_of<std::invalid_argument>([&] { hash.objects("", 0); }),
              "world_hash: no pool was added as ''");
    EXPECT_EQ(message_of<std::out_of_range>([&] { hash.objects("crates", 0); }),
              "world_hash, 'crates': there is no block 0; there are 0");
    EXPECT_EQ(hash.parts().size(), 2U);
}

TEST(world_hash, is_of_the_objects_that_an_index_has_refused) {
    pool<hashed_crate> crates({.capacity = 100});
    handle_index<hashed_crate, int> index;
    index.attach(crates, [](const hashed_crate&) { return 1; });
    crates.emplace(1U, 1U);
    crates.emplace(2U, 2U);
    crates.compact();
    EXPECT_EQ(index.refused().size(), 1U);
    const auto before = hash_of_value(index);
    index.clear_refused();
    EXPECT_NE(hash_of_value(index), before);
}

} // namespace
} // namespace handlepool::test
