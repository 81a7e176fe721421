// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/memory/poison.hpp>
#include <handlepool/detail/objects/object_store.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace handlepool::test {
namespace {

using namespace detail;

constexpr std::uint32_t capacity = 20;
constexpr std::uint32_t behind = 8;

template <class Store>
memory_use memory_of(const Store& store) {
    return store.memory_of_objects() + store.memory_of_owners();
}

template <class T>
class object_store_test : public testing::Test {
protected:
    template <class... Args>
    T* put(std::uint32_t place, Args&&... args) {
        store.unpoison_objects(location{place});
        return ::new (store.storage(location{place})) T(std::forward<Args>(args)...);
    }

    object_store<T, default_policy> store{"store", capacity, behind, 0};
};

using types =
    testing::Types<std::uint64_t, sized<1>, sized<3>, sized<1000>, over_aligned<64>, over_aligned<4096>>;
TYPED_TEST_SUITE(object_store_test, types);

TYPED_TEST(object_store_test, objects_are_contiguous_and_aligned_nursery_and_all) {
    EXPECT_EQ(this->store.locations(), capacity + behind);
    EXPECT_EQ(this->store.capacity(), capacity);
    for (std::uint32_t place = 0; place != capacity + behind; ++place) {
        const auto* const object = this->put(place, TypeParam(place));
        EXPECT_EQ(object, this->store.at(location{0}) + place);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(object) % alignof(TypeParam), 0U);
        EXPECT_EQ(this->store.location_of(object), location{place});
    }
}

TYPED_TEST(object_store_test, an_object_can_be_taken_out_and_put_in_elsewhere) {
    if constexpr (sizeof(TypeParam) < 4096) {
        this->put(3, TypeParam(7));
        alignas(TypeParam) std::byte outside[sizeof(TypeParam)];
        this->store.take_out(location{3}, outside);
        this->store.put_in(outside, location{5});
        if constexpr (std::is_same_v<TypeParam, std::uint64_t>) {
            EXPECT_EQ(*this->store.at(location{5}), 7U);
        } else if constexpr (requires(TypeParam object) { object.is_whole(); }) {
            EXPECT_TRUE(this->store.at(location{5})->is_whole());
            EXPECT_EQ(this->store.at(location{5})->value(), 7);
        }
    }
}

TYPED_TEST(object_store_test, a_location_is_a_position_of_the_dense_store_or_of_the_nursery) {
    for (std::uint32_t place = 0; place != capacity; ++place) {
        const location where = this->store.location_of(dense_position{place});
        EXPECT_EQ(where, location{place});
        EXPECT_TRUE(this->store.is_dense(where));
        EXPECT_EQ(this->store.dense_position_of(where), dense_position{place});
    }
    for (std::uint32_t place = 0; place != behind; ++place) {
        const location where = this->store.location_of(nursery_position{place});
        EXPECT_EQ(where, location{capacity + place});
        EXPECT_FALSE(this->store.is_dense(where));
        EXPECT_EQ(this->store.nursery_position_of(where), nursery_position{place});
    }
}

TYPED_TEST(object_store_test, an_object_of_elsewhere_has_no_location) {
    const auto elsewhere = std::make_unique<TypeParam>(TypeParam(1));
    auto* const first = this->store.at(location{0});
    EXPECT_EQ(this->store.location_of(elsewhere.get()), location::nowhere);
    EXPECT_EQ(this->store.location_of(first + this->store.locations()), location::nowhere);
    EXPECT_EQ(this->store.location_of(first - 1), location::nowhere);
}

TYPED_TEST(object_store_test, owners_are_kept_for_each_position) {
    for (std::uint32_t position = 0; position != capacity; ++position) {
        EXPECT_EQ(this->store.owner(dense_position{position}), slot_index{0});
        this->store.set_owner(dense_position{position}, slot_index{position + 100});
    }
    this->store.set_owner(dense_position{3}, slot_index::none);
    EXPECT_EQ(this->store.owner(dense_position{3}), slot_index::none);
    EXPECT_EQ(this->store.owner(dense_position{2}), slot_index{102});
    EXPECT_EQ(this->store.owner(dense_position{capacity - 1}), slot_index{capacity + 99});
}

TYPED_TEST(object_store_test, reset_forgets_size_objects_and_owners) {
    this->put(0, TypeParam(7));
    this->store.set_owner(dense_position{0}, slot_index{5});
    this->store.resize(1);
    this->store.reset();
    EXPECT_EQ(this->store.size(), 0U);
    EXPECT_EQ(memory_of(this->store).resident, 0U); // before a look at an owner makes it resident
    EXPECT_EQ(this->store.owner(dense_position{0}), slot_index{0});
}

TYPED_TEST(object_store_test, reserves_for_objects_and_owners) {
    EXPECT_GE(memory_of(this->store).reserved, (capacity + behind) * sizeof(TypeParam) + capacity * 4);
}

TEST(object_store_relocate_test, moves_an_object_and_ends_the_old_one) {
    census people;
    object_store<counted, default_policy> store("store", capacity, behind, 0);
    ::new (store.storage(location{25})) counted(people, 7);
    store.relocate(location{25}, location{3});
    EXPECT_EQ(store.at(location{3})->value(), 7U);
    EXPECT_EQ(people.alive(), 1);
    store.relocate(location{3}, location{4});
    EXPECT_EQ(store.at(location{4})->value(), 7U);
    store.destroy(location{4});
}

TEST(object_store_relocate_test, moves_what_cannot_be_copied) {
    object_store<move_only, default_policy> store("store", capacity, behind, 0);
    ::new (store.storage(location{25})) move_only(7);
    store.relocate(location{25}, location{0});
    EXPECT_EQ(store.at(location{0})->value(), 7U);
    store.destroy(location{0});
}

TEST(object_store_relocate_test, copies_trivial_objects_whole) {
    object_store<sized<1000>, default_policy> store("store", capacity, behind, 0);
    ::new (store.storage(location{25})) sized<1000>(7);
    store.relocate(location{25}, location{0});
    EXPECT_TRUE(store.at(location{0})->is_whole());
    EXPECT_EQ(store.at(location{0})->value(), 7U);
}

TEST(object_store_relocate_test, a_location_can_be_used_again_and_again) {
    object_store<std::uint64_t, default_policy> store("store", capacity, behind, 0);
    for (std::uint64_t i = 0; i != 10; ++i) {
        store.unpoison_objects(location{5});
        ::new (store.storage(location{5})) std::uint64_t(i);
        store.relocate(location{5}, location{2});
        EXPECT_EQ(*store.at(location{2}), i);
        store.destroy(location{2});
    }
}

TEST(object_store_shrink_test, keeps_the_objects_and_the_nursery_and_gives_back_the_rest) {
    constexpr std::uint32_t large = 100'000;
    object_store<std::uint64_t, default_policy> store("store", large, 100, 0);
    for (std::uint32_t place = 0; place != large + 100; ++place) {
        ::new (store.storage(location{place})) std::uint64_t(place);
    }
    for (std::uint32_t position = 0; position != large; ++position) {
        store.set_owner(dense_position{position}, slot_index{position});
    }
    const std::size_t before = memory_of(store).resident;
    store.resize(1001);
    store.shrink();
    EXPECT_LT(memory_of(store).resident, before / 20);
    for (std::uint32_t place = 0; place != 1001; ++place) {
        ASSERT_EQ(*store.at(location{place}), place);
        ASSERT_EQ(store.owner(dense_position{place}), slot_index{place});
    }
    for (std::uint32_t place = large; place != large + 100; ++place) {
        ASSERT_EQ(*store.at(location{place}), place);
    }
}

TEST(object_store_shrink_test, a_full_or_empty_store_shrinks_too) {
    for (const std::uint32_t size : {0U, 1U, capacity - 1, capacity}) {
        object_store<std::uint64_t, default_policy> store("store", capacity, behind, 0);
        for (std::uint32_t place = 0; place != capacity + behind; ++place) {
            ::new (store.storage(location{place})) std::uint64_t(place);
        }
        store.resize(size);
        store.shrink();
        for (std::uint32_t place = 0; place != size; ++place) {
            EXPECT_EQ(*store.at(location{place}), place);
        }
        for (std::uint32_t place = capacity; place != capacity + behind; ++place) {
            EXPECT_EQ(*store.at(location{place}), place);
        }
    }
}

} // namespace
} // namespace handlepool::test
