#include <handlepool/detail/dense_store.hpp>
#include <handlepool/detail/poison.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <support/hostile_types.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace handlepool::test {

using namespace detail;

namespace {

constexpr std::uint32_t capacity = 20;
constexpr std::uint32_t behind = 8;

template <class T>
class dense_store_test : public testing::Test {
protected:
    template <class... Args>
    T* put(std::uint32_t location, Args&&... args) {
        store.unpoison_objects(location);
        return ::new (store.storage(location)) T(std::forward<Args>(args)...);
    }

    dense_store<T, default_policy> store{"store", capacity, behind, 0};
};

using types =
    testing::Types<std::uint64_t, sized<1>, sized<3>, sized<1000>, over_aligned<64>, over_aligned<4096>>;
TYPED_TEST_SUITE(dense_store_test, types);

TYPED_TEST(dense_store_test, objects_are_contiguous_and_aligned_nursery_and_all) {
    EXPECT_EQ(this->store.locations(), capacity + behind);
    EXPECT_EQ(this->store.capacity(), capacity);
    for (std::uint32_t location = 0; location != capacity + behind; ++location) {
        const auto* const object = this->put(location, TypeParam(location));
        EXPECT_EQ(object, this->store.at(0) + location);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(object) % alignof(TypeParam), 0U);
        EXPECT_EQ(this->store.location_of(object), location);
    }
}

TYPED_TEST(dense_store_test, an_object_of_elsewhere_has_no_location) {
    const auto elsewhere = std::make_unique<TypeParam>(TypeParam(1));
    EXPECT_EQ(this->store.location_of(elsewhere.get()), this->store.locations());
    EXPECT_EQ(this->store.location_of(this->store.at(0) + this->store.locations()), this->store.locations());
    EXPECT_EQ(this->store.location_of(this->store.at(0) - 1), this->store.locations());
}

TYPED_TEST(dense_store_test, owners_are_kept_for_each_position) {
    for (std::uint32_t position = 0; position != capacity; ++position) {
        EXPECT_EQ(this->store.owner(position), 0U);
        this->store.set_owner(position, position + 100);
    }
    this->store.set_owner(3, no_slot);
    EXPECT_EQ(this->store.owner(3), no_slot);
    EXPECT_EQ(this->store.owner(2), 102U);
    EXPECT_EQ(this->store.owner(capacity - 1), capacity + 99);
}

TYPED_TEST(dense_store_test, reset_forgets_size_objects_and_owners) {
    this->put(0, TypeParam(7));
    this->store.set_owner(0, 5);
    this->store.resize(1);
    this->store.reset();
    EXPECT_EQ(this->store.size(), 0U);
    EXPECT_EQ(this->store.memory().resident, 0U); // before a look at an owner makes it resident
    EXPECT_EQ(this->store.owner(0), 0U);
}

TYPED_TEST(dense_store_test, reserves_for_objects_and_owners) {
    EXPECT_GE(this->store.memory().reserved, (capacity + behind) * sizeof(TypeParam) + capacity * 4);
}

TEST(dense_store_relocate_test, moves_an_object_and_ends_the_old_one) {
    census people;
    dense_store<counted, default_policy> store("store", capacity, behind, 0);
    ::new (store.storage(25)) counted(people, 7);
    store.relocate(25, 3);
    EXPECT_EQ(store.at(3)->value(), 7U);
    EXPECT_EQ(people.alive(), 1);
    store.relocate(3, 4);
    EXPECT_EQ(store.at(4)->value(), 7U);
    store.destroy(4);
    EXPECT_EQ(people.alive(), 0);
    EXPECT_EQ(people.misused(), 0);
}

TEST(dense_store_relocate_test, moves_what_cannot_be_copied) {
    dense_store<move_only, default_policy> store("store", capacity, behind, 0);
    ::new (store.storage(25)) move_only(7);
    store.relocate(25, 0);
    EXPECT_EQ(store.at(0)->value(), 7U);
    store.destroy(0);
}

TEST(dense_store_relocate_test, copies_trivial_objects_whole) {
    dense_store<sized<1000>, default_policy> store("store", capacity, behind, 0);
    ::new (store.storage(25)) sized<1000>(7);
    store.relocate(25, 0);
    EXPECT_TRUE(store.at(0)->is_whole());
    EXPECT_EQ(store.at(0)->value(), 7U);
}

TEST(dense_store_relocate_test, a_location_can_be_used_again_and_again) {
    dense_store<std::uint64_t, default_policy> store("store", capacity, behind, 0);
    for (std::uint64_t i = 0; i != 10; ++i) {
        store.unpoison_objects(5);
        ::new (store.storage(5)) std::uint64_t(i);
        store.relocate(5, 2);
        EXPECT_EQ(*store.at(2), i);
        store.destroy(2);
    }
}

TEST(dense_store_shrink_test, keeps_the_objects_and_the_nursery_and_gives_back_the_rest) {
    constexpr std::uint32_t large = 100'000;
    dense_store<std::uint64_t, default_policy> store("store", large, 100, 0);
    for (std::uint32_t location = 0; location != large + 100; ++location) {
        ::new (store.storage(location)) std::uint64_t(location);
    }
    for (std::uint32_t position = 0; position != large; ++position) {
        store.set_owner(position, position);
    }
    const std::size_t before = store.memory().resident;
    store.resize(1001);
    store.shrink();
    EXPECT_LT(store.memory().resident, before / 20);
    for (std::uint32_t location = 0; location != 1001; ++location) {
        ASSERT_EQ(*store.at(location), location);
        ASSERT_EQ(store.owner(location), location);
    }
    for (std::uint32_t location = large; location != large + 100; ++location) {
        ASSERT_EQ(*store.at(location), location);
    }
}

TEST(dense_store_shrink_test, a_full_or_empty_store_shrinks_too) {
    for (const std::uint32_t size : {0U, 1U, capacity - 1, capacity}) {
        dense_store<std::uint64_t, default_policy> store("store", capacity, behind, 0);
        for (std::uint32_t location = 0; location != capacity + behind; ++location) {
            ::new (store.storage(location)) std::uint64_t(location);
        }
        store.resize(size);
        store.shrink();
        for (std::uint32_t location = 0; location != size; ++location) {
            EXPECT_EQ(*store.at(location), location);
        }
        for (std::uint32_t location = capacity; location != capacity + behind; ++location) {
            EXPECT_EQ(*store.at(location), location);
        }
    }
}

} // namespace
} // namespace handlepool::test
