// SPDX-License-Identifier: MIT

// Violations of contracts that checked builds find.

#include <handlepool/detail/memory/poison.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace handlepool::test {
namespace {

using namespace detail;

#if HANDLEPOOL_CHECKED

using ints = pool<int>;

class pool_contract_death : public testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(pool_contract_death, destruction_under_a_guard) {
    EXPECT_DEATH(
        {
            auto pool = std::make_unique<ints>(pool_options{.name = "guarded", .capacity = 1});
            const auto guard = pool->access();
            pool.reset();
        },
        "pool 'guarded': destroyed while an access guard is held");
}

TEST_F(pool_contract_death, operation_after_destruction) {
    alignas(ints) std::byte memory[sizeof(ints)];
    auto* const pool = ::new (memory) ints(pool_options{.name = "gone", .capacity = 1});
    pool->~ints();
    EXPECT_DEATH(pool->size(), "after the pool's destruction");
    EXPECT_DEATH(pool->try_emplace(1), "after the pool's destruction");
    EXPECT_DEATH(pool->contains({}), "after the pool's destruction");
}

TEST_F(pool_contract_death, subscript_with_a_stale_handle) {
    ints pool({.name = "ints", .capacity = 1});
    const auto handle = pool.emplace(1);
    pool.erase(handle);
    EXPECT_DEATH(pool[handle], "pool 'ints': operator\\[\\] was given a stale handle");
}

#endif

#if HANDLEPOOL_ADDRESS_SANITIZER

template <class T>
class pool_poison_death : public testing::Test {
protected:
    /// Gives the chunk of the nursery back in which the newborns up to here lie.
    void fill_the_chunk() {
        for (std::size_t i = 0; i < default_policy::nursery_chunk; ++i) {
            objects.erase(objects.emplace());
            objects.compact();
        }
    }

    // So many that a chunk of the nursery has its full size, which is whole units of any object.
    pool<T> objects{{.name = "objects", .capacity = 1000}};
};

struct three_floats {
    float x = 0;
    float y = 0;
    float z = 0;
};
using object_types = testing::Types<long, three_floats, sized<15>, sized<20>, sized<24>, sized<100>>;
TYPED_TEST_SUITE(pool_poison_death, object_types);

char read(const volatile void* memory) {
    return *static_cast<const volatile char*>(memory);
}

/// Where the first whole unit of an object begins: the one before may be its neighbour's too.
const volatile void* inside(const void* object) {
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    return reinterpret_cast<const volatile void*>((address + poison_unit - 1) / poison_unit * poison_unit);
}

TYPED_TEST(pool_poison_death, pointer_kept_across_the_compaction_that_took_its_object_is_reported) {
    const auto newborn = this->objects.emplace();
    const auto* const in_nursery = inside(this->objects.find(newborn));
    EXPECT_EQ(read(in_nursery), 0);
    this->objects.compact();
    EXPECT_DEATH(read(in_nursery), "use-after-poison") << "it has moved";
    this->fill_the_chunk();
    EXPECT_DEATH(read(in_nursery), "use-after-poison");

    const auto* const erased = inside(this->objects.find(newborn));
    this->objects.erase(newborn);
    EXPECT_EQ(read(erased), 0) << "readable until the next compaction";
    this->objects.compact();
    EXPECT_DEATH(read(erased), "use-after-poison");
}

// Alone they are not seen: a neighbour may live in the same unit of 8 bytes.
template <class T>
using pool_of_small_poison_death = pool_poison_death<T>;
using small_types = testing::Types<char, short, int, float, sized<3>, sized<9>>;
TYPED_TEST_SUITE(pool_of_small_poison_death, small_types);

TYPED_TEST(pool_of_small_poison_death, pointer_into_a_part_of_the_nursery_that_was_given_back_is_reported) {
    // Not the first, which may share its unit with the end of the dense store.
    for (std::size_t i = 0; i != poison_unit; ++i) {
        this->objects.erase(this->objects.emplace());
    }
    const TypeParam* const in_nursery = this->objects.find(this->objects.emplace());
    this->fill_the_chunk();
    EXPECT_DEATH(read(in_nursery), "use-after-poison");
}

TYPED_TEST(pool_of_small_poison_death, pointer_behind_the_end_of_a_store_that_was_cut_is_reported) {
    for (std::size_t i = 0; i != 10; ++i) {
        this->objects.emplace();
    }
    this->objects.compact();
    const TypeParam* const first = this->objects.items().data();
    this->objects.clear();
    EXPECT_EQ(read(first), 0) << "readable until the next compaction";
    this->objects.compact();
    EXPECT_DEATH(read(first), "use-after-poison");
}

#endif

TEST(pool_contract, of_an_orderly_life_is_kept) {
    pool<int> pool({.name = "orderly", .capacity = 10});
    const auto handle = pool.emplace(1);
    {
        const auto guard = pool.access();
        EXPECT_EQ(pool[handle], 1);
    }
    EXPECT_EQ(pool.compact().born, 1U);
    EXPECT_EQ(pool[handle], 1);
}

} // namespace
} // namespace handlepool::test
