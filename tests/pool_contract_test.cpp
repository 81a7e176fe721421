// Violations of contracts that checked builds find.

#include <handlepool/pool.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace handlepool::test {
namespace {

#if HANDLEPOOL_CHECKED

using numbers = pool<int>;

class pool_contract_death : public testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(pool_contract_death, destruction_under_a_guard) {
    EXPECT_DEATH(
        {
            auto pool = std::make_unique<numbers>(pool_options{.name = "guarded", .capacity = 1});
            const auto guard = pool->access();
            pool.reset();
        },
        "pool 'guarded': destroyed while an access guard is held");
}

TEST_F(pool_contract_death, operation_after_destruction) {
    alignas(numbers) std::byte memory[sizeof(numbers)];
    auto* const pool = ::new (memory) numbers(pool_options{.name = "gone", .capacity = 1});
    pool->~numbers();
    EXPECT_DEATH(pool->size(), "after the pool's destruction");
    EXPECT_DEATH(pool->try_emplace(1), "after the pool's destruction");
    EXPECT_DEATH(pool->contains({}), "after the pool's destruction");
}

TEST_F(pool_contract_death, subscript_with_a_stale_handle) {
    numbers pool({.name = "numbers", .capacity = 1});
    const auto handle = pool.emplace(1);
    pool.erase(handle);
    EXPECT_DEATH(pool[handle], "pool 'numbers': operator\\[\\] was given a stale handle");
}

#endif

#if HANDLEPOOL_ADDRESS_SANITIZER

struct object {
    long value = 0;
};

TEST(pool_poison_death, pointer_kept_across_the_compaction_that_took_its_object_is_reported) {
    pool<object> pool({.name = "objects", .capacity = 10});
    const auto newborn = pool.emplace();
    const volatile object* const in_nursery = pool.find(newborn);
    EXPECT_EQ(in_nursery->value, 0);
    for (std::size_t i = 0; i < default_policy::nursery_chunk;
         ++i) { // the newborn's chunk is given back when it is full
        pool.erase(pool.emplace());
        pool.compact();
    }
    EXPECT_DEATH(static_cast<void>(in_nursery->value), "use-after-poison");

    const volatile object* const erased = pool.find(newborn);
    pool.erase(newborn);
    EXPECT_EQ(erased->value, 0) << "readable until the next compaction";
    pool.compact();
    EXPECT_DEATH(static_cast<void>(erased->value), "use-after-poison");
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
