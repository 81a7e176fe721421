// SPDX-License-Identifier: MIT

// What a program's hooks find in the containers that are attached to a pool, whatever was there first.

#include <handlepool/columns.hpp>
#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;

/// What is on screen for each object, by all kinds of containers.
template <class Pool>
struct companions {
    using handle_type = typename Pool::handle_type;
    using element_type = typename handle_type::element_type;
    using layout = typename Pool::layout;

    void attach(Pool& pool) {
        visible.attach(pool);
        sprites.attach(pool);
        names.attach(pool, [](auto&& object) { return key_of(object); });
        scene.attach(pool);
    }
    void add(handle_type object, int sprite) {
        visible.insert(object);
        sprites.try_emplace(object, sprite);
        names.insert(object, sprite);
        scene.insert(object);
    }
    /// How many of the four have the object.
    int count(handle_type object) const {
        return (visible.contains(object) ? 1 : 0) + (sprites.find(object) != nullptr ? 1 : 0) +
               (names.contains(object) ? 1 : 0) + (scene.contains(object) ? 1 : 0);
    }

    static int key_of(int object) { return object; }
    static int key_of(void* object) { return *static_cast<int*>(object); }
    static int key_of(const auto& row) { return row.template get<0>(); }

    handle_set<element_type, layout> visible;
    handle_map<element_type, int, layout> sprites;
    handle_index<element_type, int, layout> names;
    hierarchy<element_type, layout> scene;
};

template <class Pool>
typename Pool::handle_type made_in(Pool& pool, int value) {
    if constexpr (requires { pool.emplace(value); }) {
        return pool.emplace(value);
    } else {
        return pool.emplace([value](void* memory) { *static_cast<int*>(memory) = value; });
    }
}

template <class Pool>
class hooks_and_containers : public testing::Test {
public:
    static std::optional<Pool>& make(std::optional<Pool>& pool) {
        if constexpr (std::is_constructible_v<Pool, pool_options>) {
            pool.emplace(pool_options{.name = "objects", .capacity = 100});
        } else {
            pool.emplace(pool_options{.name = "objects", .capacity = 100},
                         raw_type{.size = sizeof(int), .alignment = alignof(int)});
        }
        return pool;
    }
};

using pools_with_hooks = testing::Types<pool<int>, stable_pool<int>, pool<columns<int, char>>, raw_pool<>>;
TYPED_TEST_SUITE(hooks_and_containers, pools_with_hooks);

TYPED_TEST(hooks_and_containers, hooks_find_what_ends_with_the_object) {
    for (const bool attached_first : {false, true}) {
        std::vector<int> found;
        companions<TypeParam> at;
        std::optional<TypeParam> made;
        TypeParam& pool = *this->make(made);
        if (attached_first) {
            at.attach(pool);
        }
        scoped_hook deaths = pool.on_destroy([&](auto handle, auto&&) { found.push_back(at.count(handle)); });
        std::vector<int> after;
        const scoped_hook late = pool.on_destroy(
            [&](auto handle, auto&&) { after.push_back(at.count(handle)); }, hook_order::late);
        if (!attached_first) {
            at.attach(pool);
        }
        std::vector<typename TypeParam::handle_type> all;
        for (int i = 0; i != 5; ++i) {
            all.push_back(made_in(pool, i));
            at.add(all.back(), i);
        }
        pool.erase(all[0]);
        pool.compact();
        pool.erase(all[1]);
        pool.compact();
        EXPECT_THAT(found, ElementsAre(4, 4));
        EXPECT_THAT(after, attached_first ? ElementsAre(0, 0) : ElementsAre(4, 4)) << "in their order";
        pool.clear();
        pool.compact();
        EXPECT_THAT(found, ElementsAre(4, 4, 4, 4, 4));
        all.push_back(made_in(pool, 9));
        at.add(all.back(), 9);
        made.reset();
        EXPECT_EQ(found.size(), 6U) << "at the pool's end";
        EXPECT_EQ(found.back(), 4);
        EXPECT_EQ(at.sprites.size(), 0U);
    }
}

/// Ends all objects of the pool. `sink(object)` gets those that are taken out of it; returns whether it does.
enum class way_out { extracts, drains, resets };
template <class Pool, class Sink>
bool leave(Pool& pool, way_out way, const std::vector<typename Pool::handle_type>& all, Sink sink) {
    switch (way) {
    case way_out::extracts:
        for (const auto each : all) {
            pool.extract(each, [sink, each](auto&&) { sink(each); });
        }
        pool.compact();
        return true;
    case way_out::drains:
        pool.drain([&](auto handle, auto&&) { sink(handle); });
        return true;
    default:
        pool.reset();
        return false;
    }
}

TYPED_TEST(hooks_and_containers, hooks_find_what_leaves_with_the_object_whatever_the_way) {
    for (const bool attached_first : {false, true}) {
        for (const way_out way : {way_out::extracts, way_out::drains, way_out::resets}) {
            std::vector<int> found;
            std::vector<int> sunk;
            companions<TypeParam> at;
            std::optional<TypeParam> made;
            TypeParam& pool = *this->make(made);
            if (attached_first) {
                at.attach(pool);
            }
            const scoped_hook deaths =
                pool.on_destroy([&](auto handle, auto&&) { found.push_back(at.count(handle)); });
            if (!attached_first) {
                at.attach(pool);
            }
            std::vector<typename TypeParam::handle_type> all;
            for (int i = 0; i != 3; ++i) {
                all.push_back(made_in(pool, i));
                at.add(all.back(), i);
            }
            pool.compact();
            all.push_back(made_in(pool, 3)); // a newborn
            at.add(all.back(), 3);
            const bool sinks = leave(pool, way, all, [&](auto handle) { sunk.push_back(at.count(handle)); });
            EXPECT_THAT(found, ElementsAre(4, 4, 4, 4));
            EXPECT_EQ(sunk.size(), sinks ? 4U : 0U);
            EXPECT_EQ(pool.size(), 0U);
            EXPECT_EQ(at.visible.size() + at.sprites.size() + at.names.size() + at.scene.size(), 0U);
        }
    }
}

TYPED_TEST(hooks_and_containers, the_end_of_a_pool_is_seen_by_hooks_before_it_and_not_by_those_behind_it) {
    int seen_before = 0;
    int seen_behind = 0;
    {
        scoped_hook before;
        std::optional<TypeParam> made;
        TypeParam& pool = *this->make(made);
        before = pool.on_destroy([&](auto, auto&&) { ++seen_before; });
        const scoped_hook behind = pool.on_destroy([&](auto, auto&&) { ++seen_behind; });
        const auto first = made_in(pool, 0);
        made_in(pool, 1);
        pool.erase(first);
        pool.compact();
        made_in(pool, 2);
        made_in(pool, 3);
        EXPECT_EQ(seen_before, 1);
        EXPECT_EQ(seen_behind, 1);
    }
    EXPECT_EQ(seen_before, 4);
    EXPECT_EQ(seen_behind, 1);
}

/// A container that ends before others of its scope do, after which its memory is filled with anything.
template <class Container>
class short_lived {
public:
    short_lived() : container_(::new(static_cast<void*>(memory_.data())) Container) {}
    ~short_lived() { end(); }
    short_lived(const short_lived&) = delete;
    short_lived& operator=(const short_lived&) = delete;

    Container& operator*() { return *container_; }
    void end() {
        if (container_ != nullptr) {
            std::destroy_at(std::exchange(container_, nullptr));
            memory_.fill(std::byte{0xff});
        }
    }

private:
    alignas(Container) std::array<std::byte, sizeof(Container)> memory_{};
    Container* container_;
};

template <class Container>
class containers_ended_by_hooks : public testing::Test {};
using kinds_of_containers =
    testing::Types<handle_set<int>, handle_map<int, int>, handle_index<int, int>, hierarchy<int>>;
TYPED_TEST_SUITE(containers_ended_by_hooks, kinds_of_containers);

// A compaction tells containers ahead of time which objects end: 1,000 are more than it looks at together.
TYPED_TEST(containers_ended_by_hooks, hear_of_no_object_afterwards) {
    pool<int> objects({.name = "objects", .capacity = 1'000});
    short_lived<TypeParam> burning;
    if constexpr (std::is_same_v<TypeParam, handle_index<int, int>>) {
        (*burning).attach(objects, [](int each) { return each; });
    } else {
        (*burning).attach(objects);
    }
    int ended = 0;
    const scoped_hook deaths = objects.on_destroy([&](handle<int>, int&) {
        burning.end();
        ++ended;
    });
    for (int i = 0; i != 1'000; ++i) {
        objects.emplace(i);
    }
    objects.compact();
    objects.clear();
    objects.compact();
    EXPECT_EQ(ended, 1'000);
}

// The hierarchy erases children with their parents: a hook saves one before.
TEST(hooks_of_parents, save_children) {
    pool<std::string> units({.name = "units", .capacity = 10});
    hierarchy<std::string> army(orphans::are_erased);
    army.attach(units);
    const scoped_hook deaths = units.on_destroy([&](handle<std::string> dead, std::string&) {
        const auto below = army.children(dead);
        const auto saved = std::ranges::find_if(below, [&](auto each) {
            const std::string* const unit = units.find(each);
            return unit != nullptr && *unit == "captain";
        });
        if (saved != below.end()) {
            army.clear_parent(*saved);
        }
    });
    const auto general = units.emplace("general");
    const auto soldier = units.emplace("soldier");
    const auto captain = units.emplace("captain");
    army.set_parent(soldier, general);
    army.set_parent(captain, general);
    units.erase(general);
    units.compact();
    EXPECT_TRUE(units.contains(captain));
    EXPECT_FALSE(units.contains(soldier));
    EXPECT_THAT(army.handles(), ElementsAre(captain));
    units.compact();
    EXPECT_EQ(units.size(), 1U);
}

} // namespace
} // namespace handlepool::test
