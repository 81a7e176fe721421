// SPDX-License-Identifier: MIT

// Containers and stores get what another one has, by assignment in their own memory or by an exchange, and
// stay attached to their pool.

#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_store.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace property_literals;

using crate_pool = pool<int>;
using crate = crate_pool::handle_type;

/// A value that can't be assigned, or one whose copies fail.
struct constant_value {
    const int number;
    constant_value(int of) : number(of) {}
    constant_value(const constant_value&) = default;
    constant_value& operator=(const constant_value&) = delete;
    constant_value& operator=(constant_value&& other) noexcept {
        std::destroy_at(this);
        std::construct_at(this, other);
        return *this;
    }
};
struct failing_value {
    int number = 0;
    static inline int copies_left = 1'000'000;
    failing_value(int of) : number(of) {}
    failing_value(failing_value&&) noexcept = default;
    failing_value& operator=(failing_value&&) noexcept = default;
    failing_value(const failing_value& other) : number(other.number) { count(); }
    failing_value& operator=(const failing_value& other) {
        count();
        number = other.number;
        return *this;
    }
    static void count() {
        if (copies_left-- == 0) {
            throw std::runtime_error("no copy");
        }
    }
    friend bool operator==(const failing_value& one, const failing_value& other) {
        return one.number == other.number;
    }
};
struct hash_of_failing {
    std::size_t operator()(const failing_value& value) const { return std::hash<int>()(value.number); }
};

// ---- How each kind is filled, and looks

template <class Container>
struct contents_of;

template <>
struct contents_of<handle_set<int>> {
    static handle_set<int> empty() { return {}; }
    static void add(handle_set<int>& set, crate each, int) { set.insert(each); }
    static std::string text(const handle_set<int>&) { return {}; }
};
template <class V>
struct contents_of<handle_map<int, V>> {
    static handle_map<int, V> empty() { return {}; }
    static void add(handle_map<int, V>& map, crate each, int number) { map.insert_or_assign(each, number); }
    static std::string text(const handle_map<int, V>& map) {
        std::string seen;
        map.for_each([&](crate, const V& value) { seen += std::to_string(value.number) + ' '; });
        return seen;
    }
};
template <>
struct contents_of<handle_index<int, int>> {
    static handle_index<int, int> empty() { return handle_index<int, int>(duplicate_keys::allow); }
    static void add(handle_index<int, int>& index, crate each, int number) { index.insert(each, number % 4); }
    static std::string text(const handle_index<int, int>& index) {
        std::string seen;
        for (int key = 0; key != 4; ++key) {
            for (const crate each : index.find_all(key)) {
                seen += std::to_string(key) + ':' + std::to_string(each.index()) + ' ';
            }
        }
        for (const crate each : index.handles()) {
            seen += std::to_string(*index.key_of(each)) + ' ';
        }
        return seen;
    }
};
template <>
struct contents_of<hierarchy<int>> {
    static hierarchy<int> empty() { return hierarchy<int>(orphans::become_roots); }
    static void add(hierarchy<int>& tree, crate each, int number) {
        tree.insert(each);
        if (tree.size() > 1 && number % 3 != 0) {
            tree.set_parent(each, tree.handles()[0]);
        }
    }
    static std::string text(const hierarchy<int>& tree) {
        std::string seen;
        for (const crate each : tree.handles()) {
            seen += std::to_string(tree.parent(each).index()) + ':' + std::to_string(*tree.place(each)) + ' ';
        }
        return seen;
    }
};
template <>
struct contents_of<property_store<int>> {
    static property_store<int> empty() {
        return property_store<int>({.slot_limit = 4096, .bytes = 1U << 20});
    }
    static void add(property_store<int>& store, crate each, int number) {
        store.set(each, "text"_key, std::string(static_cast<std::size_t>(number % 90), 'x'));
    }
    static std::string text(const property_store<int>& store) {
        std::string seen;
        store.for_each([&](crate each, property_view bag) {
            seen += std::to_string(each.index()) + ':' + std::to_string(bag.capacity()) + ' ' +
                    std::string(*bag.get<std::string_view>("text"_key)) + ' ';
        });
        return seen;
    }
};

template <class Container>
std::vector<crate> handles_in(const Container& container) {
    if constexpr (requires { container.handles(); }) {
        return {container.handles().begin(), container.handles().end()};
    } else {
        std::vector<crate> found;
        container.for_each([&](crate each, property_view) { found.push_back(each); });
        return found;
    }
}
template <class Container>
std::pair<std::vector<crate>, std::string> look_of(const Container& container) {
    return {handles_in(container), contents_of<Container>::text(container)};
}

template <class Container>
class assigned_contents : public testing::Test {
protected:
    using contents = contents_of<Container>;

    assigned_contents() {
        for (int i = 0; i != 3000; ++i) { // in three pages
            crates_.push_back(pool_.emplace(i));
        }
        pool_.compact();
    }
    /// With each so-many-th crate, but the first; so the order of members is not that in which they came.
    Container with(std::size_t first, std::size_t step) {
        Container made = contents::empty();
        for (std::size_t i = first; i < crates_.size(); i += step) {
            contents::add(made, crates_[i], static_cast<int>(i));
        }
        made.erase(crates_[first]);
        return made;
    }
    static void attach(Container& container, crate_pool& pool) {
        if constexpr (requires { container.attach(pool); }) {
            container.attach(pool);
        } else {
            container.attach(pool, [](int object) { return object % 4; });
        }
    }
    /// Still follows the pool, and is no other's.
    void expect_attached(Container& container) {
        EXPECT_TRUE(container.attached());
        const crate last = handles_in(container).back();
        pool_.erase(last);
        pool_.compact();
        EXPECT_FALSE(container.contains(last));
    }

    crate_pool pool_{{.name = "crates", .capacity = 4000}};
    std::vector<crate> crates_;
};

using contents_types =
    testing::Types<handle_set<int>, handle_map<int, failing_value>, handle_map<int, constant_value>,
                   handle_index<int, int>, hierarchy<int>, property_store<int>>;
TYPED_TEST_SUITE(assigned_contents, contents_types);

TYPED_TEST(assigned_contents, are_those_of_the_other_whatever_there_was) {
    const TypeParam few = this->with(0, 700);
    const TypeParam many = this->with(1, 3);
    const TypeParam other = this->with(2, 5);
    const TypeParam none = TestFixture::contents::empty();
    TypeParam now = TestFixture::contents::empty();
    for (const TypeParam* each : {&many, &few, &other, &none, &few, &many, &many, &none}) {
        now.assign(*each);
        EXPECT_EQ(look_of(now), look_of(*each));
        for (const crate one : this->crates_) {
            ASSERT_EQ(now.contains(one), each->contains(one));
        }
        TypeParam copy(*each);
        for (TypeParam* const both : {&now, &copy}) { // they go on alike
            for (std::size_t i = 100; i != 160; ++i) {
                TestFixture::contents::add(*both, this->crates_[i], static_cast<int>(i));
                both->erase(this->crates_[3 * i]);
            }
        }
        EXPECT_EQ(look_of(now), look_of(copy));
    }
    const TypeParam& same = now;
    const auto before = look_of(now);
    now.assign(same);
    EXPECT_EQ(look_of(now), before);
}

TYPED_TEST(assigned_contents, leave_the_attachment) {
    const TypeParam other = this->with(2, 5);
    TypeParam now = TestFixture::contents::empty();
    TestFixture::attach(now, this->pool_);
    now.assign(other);
    EXPECT_EQ(look_of(now), look_of(other));
    this->expect_attached(now);

    TypeParam second = this->with(1, 9);
    const auto of_now = look_of(now);
    const auto of_second = look_of(second);
    now.swap_contents(second);
    EXPECT_EQ(look_of(now), of_second);
    EXPECT_EQ(look_of(second), of_now);
    EXPECT_FALSE(second.attached());
    this->expect_attached(now);
    now.swap_contents(now);
    this->expect_attached(now);
}

TYPED_TEST(assigned_contents, are_of_the_pool_of_the_other) {
    crate_pool others({.name = "others", .capacity = 10});
    TypeParam of_others = TestFixture::contents::empty();
    TestFixture::contents::add(of_others, others.emplace(1), 1);
    const crate another = others.emplace(2);
    TypeParam now = this->with(0, 700);
    TypeParam fresh = TestFixture::contents::empty();
    for (TypeParam* const each : {&now, &fresh}) {
        each->assign(of_others);
        EXPECT_THROW(TestFixture::contents::add(*each, this->crates_[5], 5), std::invalid_argument);
        EXPECT_EQ(look_of(*each), look_of(of_others));
        TestFixture::contents::add(*each, another, 2);
        EXPECT_TRUE(each->contains(another));
    }
}

TEST(assigned_values, that_fail_leave_the_container_empty) {
    handle_map<int, failing_value> map;
    handle_index<int, failing_value, default_layout, hash_of_failing> index;
    crate_pool pool({.name = "crates", .capacity = 100});
    for (int i = 0; i != 10; ++i) {
        const crate made = pool.emplace(i);
        map.try_emplace(made, i);
        index.insert(made, i);
    }
    for (int copies = 0; copies != 10; ++copies) {
        handle_map<int, failing_value> other_map;
        handle_index<int, failing_value, default_layout, hash_of_failing> other_index;
        for (int i = 0; i != 5; ++i) {
            other_map.try_emplace(pool.emplace(i), i);
            other_index.insert(pool.emplace(i), i);
        }
        failing_value::copies_left = copies;
        EXPECT_THROW(other_map.assign(map), std::runtime_error);
        failing_value::copies_left = copies;
        EXPECT_THROW(other_index.assign(index), std::runtime_error);
        failing_value::copies_left = 1'000'000;
        EXPECT_TRUE(other_map.empty());
        EXPECT_TRUE(other_map.values().empty());
        EXPECT_TRUE(other_index.empty());
        EXPECT_FALSE(other_index.find(failing_value(3)));
        other_map.assign(map);
        other_index.assign(index);
        EXPECT_EQ(look_of(other_map), look_of(map));
        EXPECT_EQ(other_index.find(failing_value(3)), index.find(failing_value(3)));
        EXPECT_EQ(handles_in(other_index), handles_in(index));
        pool.clear();
        pool.compact();
    }
}

TEST(assigned_bags, find_room_where_other_sizes_are_in_the_way) {
    // A store of two kinds of bags, of which either fills it.
    const property_store_options options{.slot_limit = 4096, .bytes = 1U << 18};
    const std::string large(3000, 'x');
    crate_pool pool({.name = "crates", .capacity = 4000});
    std::vector<crate> crates;
    for (int i = 0; i != 3000; ++i) {
        crates.push_back(pool.emplace(i));
    }
    property_store<int> small(options);
    property_store<int> wide(options);
    for (const crate each : crates) {
        small.try_set(each, "number"_key, 1.0F);
        wide.try_set(each, "text"_key, large);
    }
    EXPECT_GT(small.size(), 1000U);
    EXPECT_GT(wide.size(), 30U);
    property_store<int> now(small);
    EXPECT_EQ(look_of(property_store<int>(wide)), look_of(wide));
    now.assign(wide);
    EXPECT_EQ(look_of(now), look_of(wide));
    now.assign(small);
    EXPECT_EQ(now.size(), small.size());
    key_table names;
    small.set_names(names);
    const property_store<int> larger({.slot_limit = 8192, .bytes = 1U << 19});
    now.assign(larger);
    EXPECT_TRUE(now.empty());
    EXPECT_EQ(now.memory().reserved, larger.memory().reserved) << "options go along";
    now.assign(small);
    EXPECT_EQ(now.names(), &names);
    EXPECT_EQ(now.memory().reserved, small.memory().reserved);
}

} // namespace
} // namespace handlepool::test
