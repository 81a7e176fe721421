#include "support/hostile_types.hpp"

#include <handlepool/config.hpp>
#include <handlepool/poison.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace handlepool {
namespace {

using namespace test;

bool is_poisoned([[maybe_unused]] const void* address) {
#if HANDLEPOOL_ADDRESS_SANITIZER
    return __asan_address_is_poisoned(address) != 0;
#else
    return false;
#endif
}

template <class T>
class poison_test : public testing::Test {
protected:
    ~poison_test() override { unpoison(objects.get(), 4, sizeof(T)); }

    std::unique_ptr<T[]> objects = std::make_unique<T[]>(4);
};

using types =
    testing::Types<std::uint64_t, sized<1>, sized<3>, sized<8>, sized<12>, sized<1000>, over_aligned<64>>;
TYPED_TEST_SUITE(poison_test, types);

TYPED_TEST(poison_test, closes_and_opens_one_object_in_sanitized_builds_and_does_nothing_in_others) {
    poison(&this->objects[1], 1, sizeof(TypeParam));
    EXPECT_EQ(is_poisoned(&this->objects[1]), can_poison(sizeof(TypeParam)));
    EXPECT_FALSE(is_poisoned(&this->objects[0]));
    EXPECT_FALSE(is_poisoned(&this->objects[2]));
    unpoison(&this->objects[1], 1, sizeof(TypeParam));
    EXPECT_FALSE(is_poisoned(&this->objects[1]));
}

TYPED_TEST(poison_test, closes_and_opens_several_objects) {
    poison(&this->objects[1], 2, sizeof(TypeParam));
    EXPECT_FALSE(is_poisoned(&this->objects[0]));
    EXPECT_EQ(is_poisoned(&this->objects[1]), can_poison(sizeof(TypeParam)));
    EXPECT_EQ(is_poisoned(&this->objects[2]), can_poison(sizeof(TypeParam)));
    EXPECT_FALSE(is_poisoned(&this->objects[3]));
    unpoison(&this->objects[2], 1, sizeof(TypeParam));
    EXPECT_EQ(is_poisoned(&this->objects[1]), can_poison(sizeof(TypeParam)));
    EXPECT_FALSE(is_poisoned(&this->objects[2]));
}

// A shadow byte covers eight: a smaller object can't be closed without its neighbour.
static_assert(can_poison(8) == address_sanitizer && can_poison(1000) == address_sanitizer);
static_assert(!can_poison(1) && !can_poison(3) && !can_poison(12));

} // namespace
} // namespace handlepool
