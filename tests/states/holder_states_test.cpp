// SPDX-License-Identifier: MIT

// What holds something and can be moved: hooks, guards, pinned objects, look-ups and property bags, each of
// whose members has another value than its default.

#include "members_of.hpp"

#include <handlepool/access_guard.hpp>
#include <handlepool/key_table.hpp>
#include <handlepool/object_lookup.hpp>
#include <handlepool/pinned_object.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/property_bag.hpp>
#include <handlepool/scoped_hook.hpp>

#include <gtest/gtest.h>
#include <support/threads/thread_team.hpp>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace property_literals;

using held_pool = pool<int>;
using held_lookup = held_pool::lookup_type;

/// What is held.
struct held_world {
    held_world() {
        object = pool.emplace(7);
        pool.compact();
    }
    /// Does a guard keep compactions from running?
    bool is_held() { return !pool.try_compact().has_value(); }

    held_pool pool{{.name = "held", .capacity = 10}};
    held_pool::handle_type object;
    key_table names;
    int calls = 0;
};

/// For each kind: members that the class has, in its header; one that holds something of a world; does one
/// hold that, with each member, and can it be used; and does one hold nothing?
template <class Holder>
struct holding;

template <>
struct holding<scoped_hook> {
    static std::vector<std::string> members() { return members_of("scoped_hook.hpp", "scoped_hook"); }
    static std::vector<std::string> listed() { return {"switch_"}; }
    static scoped_hook full(held_world& in) {
        return in.pool.on_birth([&in](auto, int&) { ++in.calls; });
    }
    static void expect_full(scoped_hook& hook, held_world& in) {
        EXPECT_TRUE(hook.connected());
        const int before = in.calls;
        in.pool.erase(in.pool.emplace(1));
        in.pool.emplace(1);
        in.pool.compact();
        EXPECT_EQ(in.calls, before + 1) << "once, for the one that lives";
        erase_if(in.pool, [](int value) { return value == 1; });
        in.pool.compact();
    }
    static void expect_empty(scoped_hook& hook, held_world&) { EXPECT_FALSE(hook.connected()); }
    static void end(scoped_hook& hook) { hook.disconnect(); }
    static void expect_ended(held_world& in) {
        const int before = in.calls;
        in.pool.emplace(1);
        in.pool.compact();
        EXPECT_EQ(in.calls, before);
    }
};

template <>
struct holding<access_guard<>> {
    static std::vector<std::string> members() { return members_of("access_guard.hpp", "access_guard"); }
    static std::vector<std::string> listed() { return {"pin_"}; }
    static access_guard<> full(held_world& in) { return in.pool.access(); }
    static void expect_full(access_guard<>& guard, held_world& in) {
        EXPECT_TRUE(guard);
        EXPECT_TRUE(in.is_held());
        const auto nested = in.pool.access();
        EXPECT_TRUE(nested);
    }
    static void expect_empty(access_guard<>& guard, held_world&) {
        EXPECT_FALSE(guard);
        guard.reset();
    }
    static void end(access_guard<>& guard) { guard.reset(); }
    static void expect_ended(held_world& in) { EXPECT_FALSE(in.is_held()); }
};

template <>
struct holding<pinned_object<int>> {
    static std::vector<std::string> members() { return members_of("pinned_object.hpp", "pinned_object"); }
    static std::vector<std::string> listed() { return {"object_", "guard_"}; }
    static pinned_object<int> full(held_world& in) { return in.pool.pin(in.object); }
    static void expect_full(pinned_object<int>& pinned, held_world& in) {
        EXPECT_TRUE(pinned);
        EXPECT_EQ(pinned.get(), in.pool.find(in.object));
        EXPECT_EQ(*pinned, 7);
        EXPECT_TRUE(in.is_held());
    }
    static void expect_empty(pinned_object<int>& pinned, held_world&) {
        EXPECT_FALSE(pinned);
        EXPECT_EQ(pinned.get(), nullptr);
        pinned.reset();
    }
    static void end(pinned_object<int>& pinned) { pinned.reset(); }
    static void expect_ended(held_world& in) { EXPECT_FALSE(in.is_held()); }
};

template <>
struct holding<property_bag> {
    static std::vector<std::string> members() {
        std::vector<std::string> all = members_of("property_view.hpp", "property_reader");
        for (const std::string& own : members_of("property_bag.hpp", "property_bag")) {
            all.push_back("property_bag::" + own);
        }
        return all;
    }
    static std::vector<std::string> listed() { return {"memory_", "names_", "property_bag::memory_"}; }
    static property_bag full(held_world& in) {
        property_bag bag(in.names);
        bag.reserve(1000);
        bag.set("number"_key, 3.0F);
        bag.set("text"_key, std::string_view("a text that is long"));
        bag.set("gone"_key, std::string_view("erased"));
        bag.erase("gone"_key);
        return bag;
    }
    static void expect_full(property_bag& bag, held_world& in) {
        EXPECT_EQ(bag.names(), &in.names);
        EXPECT_EQ(bag.size(), 2U);
        EXPECT_EQ(bag.at<float>("number"_key), 3.0F);
        EXPECT_EQ(bag.at<std::string_view>("text"_key), "a text that is long");
        bag.set("more"_key, std::string_view("which is written to memory of its own"));
        property_bag copy(bag);
        copy.clear();
        EXPECT_EQ(copy.names(), &in.names);
        EXPECT_EQ(bag.at<std::string_view>("more"_key), "which is written to memory of its own");
        bag.shrink_to_fit();
        EXPECT_TRUE(bag.erase("more"_key));
        bag.reserve(bag.capacity() + 100);
    }
    static void expect_empty(property_bag& bag, held_world&) {
        EXPECT_TRUE(bag.empty());
        EXPECT_EQ(bag.names(), nullptr);
        bag.set("number"_key, 1.0F);
        EXPECT_EQ(bag.size(), 1U);
        bag.clear();
        bag.shrink_to_fit();
    }
    static void end(property_bag& bag) {
        bag.clear();
        bag.shrink_to_fit();
    }
    static void expect_ended(held_world&) {}
};

template <class Holder>
class holder_states : public testing::Test {
public:
    held_world in;
};

using holders = testing::Types<scoped_hook, access_guard<>, pinned_object<int>, property_bag>;
TYPED_TEST_SUITE(holder_states, holders);

TYPED_TEST(holder_states, list_each_member) {
    using kind = holding<TypeParam>;
    EXPECT_EQ(kind::listed(), kind::members())
        << "does a full one have another value of it than its default?";
}

TYPED_TEST(holder_states, move_each_member) {
    using kind = holding<TypeParam>;
    TypeParam empty;
    kind::expect_empty(empty, this->in);
    std::optional<TypeParam> one(kind::full(this->in));
    kind::expect_full(*one, this->in);
    TypeParam moved(std::move(*one));
    kind::expect_full(moved, this->in);
    kind::expect_empty(*one, this->in);
    *one = std::move(moved);
    kind::expect_full(*one, this->in);
    kind::expect_empty(moved, this->in);
    TypeParam& same = *one;
    *one = std::move(same);
    kind::expect_full(*one, this->in);
    TypeParam last;
    std::swap(*one, last);
    kind::expect_full(last, this->in);
    kind::expect_empty(*one, this->in);
    one.reset();
    kind::expect_full(last, this->in);
    kind::end(last);
    kind::expect_ended(this->in);
}

TYPED_TEST(holder_states, move_over_what_is_full) {
    using kind = holding<TypeParam>;
    held_world before;
    TypeParam one = kind::full(before);
    TypeParam next = kind::full(this->in);
    one = std::move(next);
    kind::expect_ended(before);
    kind::expect_empty(next, this->in);
    kind::expect_full(one, this->in);
    one = TypeParam();
    kind::expect_ended(this->in);
    kind::expect_empty(one, this->in);
}

TYPED_TEST(holder_states, exchange_what_is_full) {
    using kind = holding<TypeParam>;
    held_world others;
    TypeParam one = kind::full(this->in);
    TypeParam other = kind::full(others);
    using std::swap;
    swap(one, other);
    kind::expect_full(one, others);
    kind::expect_full(other, this->in);
    kind::end(one);
    kind::expect_ended(others);
    kind::expect_full(other, this->in);
}

TYPED_TEST(holder_states, come_from_another_thread) {
    using kind = holding<TypeParam>;
    TypeParam handed;
    held_world others;
    TypeParam of_others = kind::full(others);
    support::thread_team team(1);
    team.run([&](std::size_t) { handed = kind::full(this->in); });
    kind::expect_full(handed, this->in);
    team.run([&](std::size_t) {
        kind::expect_full(of_others, others);
        kind::end(of_others);
    });
    kind::expect_ended(others);
    team.run([&](std::size_t) {
        const TypeParam ended = std::move(handed);
        static_cast<void>(ended);
    });
    kind::expect_ended(this->in);
    kind::expect_empty(handed, this->in);
}

TYPED_TEST(holder_states, are_made_or_not_where_memory_is_short) {
    using kind = holding<TypeParam>;
    held_world others;
    TypeParam one = kind::full(this->in);
    with_each_allocation_failing(shortage::of_one_allocation, [&](memory_shortage& when) {
        bool done = true;
        when.begin();
        try {
            TypeParam next = kind::full(others);
            one = std::move(next);
        } catch (const std::bad_alloc&) {
            done = false;
        }
        when.end();
        EXPECT_EQ(done, !when.came());
        if (done) {
            kind::expect_ended(this->in);
            kind::expect_full(one, others);
        } else {
            kind::expect_ended(others);
            kind::expect_full(one, this->in);
        }
    });
}

TEST(bags, copy_each_member) {
    held_world in;
    const property_bag full = holding<property_bag>::full(in);
    property_bag copy(full);
    property_bag assigned(in.names);
    assigned.set("other"_key, std::string_view("what is assigned to"));
    assigned = full;
    for (property_bag* each : {&copy, &assigned}) {
        EXPECT_EQ(*each, full);
        holding<property_bag>::expect_full(*each, in);
        const property_bag& same = *each;
        *each = same;
        holding<property_bag>::expect_full(*each, in);
        each->clear();
        EXPECT_EQ(each->names(), &in.names);
    }
    EXPECT_EQ(full.size(), 2U);
}

// It serves as long as its pool, whatever that has been through, and its copies serve as it does.
TEST(lookups, are_copied_with_each_member) {
    EXPECT_EQ(members_of("object_lookup.hpp", "object_lookup"),
              (std::vector<std::string>{"slots_", "objects_"}));
    held_world in;
    held_world others;
    held_lookup one = in.pool.lookup();
    held_lookup other = others.pool.lookup();
    std::swap(one, other);
    others.pool.reset();
    others.object = others.pool.emplace(9);
    EXPECT_EQ(*one.find(others.object), 9);
    others.pool.compact();
    others.pool.shrink_to_fit();
    EXPECT_EQ(*one.find(others.object), 9);
    EXPECT_EQ(one.find(in.object), nullptr);
    EXPECT_EQ(*other.find(in.object), 7);
    one = other;
    EXPECT_EQ(*one.find(in.object), 7);
    EXPECT_EQ(one.find(others.object), nullptr);
}

} // namespace
} // namespace handlepool::test
