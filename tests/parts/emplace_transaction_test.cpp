// SPDX-License-Identifier: MIT
#include <handlepool/detail/parts/emplace_transaction.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/parts_rig.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;

template <class Policy>
class emplace_transaction_test : public testing::Test {
protected:
    using rig_type = parts_rig<Policy>;
    using config = typename rig_type::config;
    using handles = std::vector<std::uint64_t>;

    ~emplace_transaction_test() override {
        for (const auto handle : made) {
            parts.destroy(handle);
        }
    }

    auto construct(std::uint64_t value) {
        return [this, value](void* memory) { ::new (memory) counted(parts.people, value); };
    }

    /// Slots that are neither taken by an object nor lost.
    std::size_t slots_left() {
        return parts.allocator.held() + parts.allocator.waiting() +
               (parts.geometry.capacity - parts.allocator.list().in_use());
    }

    std::uint64_t created() { return parts.mine().created.load(); }

    rig_type parts{10};
    handles made;
};

using policies = testing::Types<default_policy, support::tiny_policy<1>, support::tiny_policy<2>>;
TYPED_TEST_SUITE(emplace_transaction_test, policies);

TYPED_TEST(emplace_transaction_test, what_is_published_can_be_found) {
    emplace_transaction<counted, typename TestFixture::config> one(this->parts, this->parts.mine());
    ASSERT_TRUE(one.taken());
    this->construct(7)(one.site());
    EXPECT_EQ(this->created(), 0U);
    const auto handle = one.publish(caller::unknown);
    this->made.push_back(handle);
    EXPECT_EQ(this->created(), 1U);
    EXPECT_EQ(this->parts.value(handle), 7U);
    EXPECT_FALSE(one.taken()) << "it is the object's now";
}

TYPED_TEST(emplace_transaction_test, what_is_not_published_is_given_back) {
    for (int round = 0; round != 100; ++round) {
        const emplace_transaction<counted, typename TestFixture::config> one(this->parts, this->parts.mine());
        ASSERT_TRUE(one.taken()) << "round " << round;
    }
    EXPECT_EQ(this->slots_left(), 10U);
    EXPECT_EQ(this->created(), 0U);
}

TYPED_TEST(emplace_transaction_test, without_a_slot_nothing_is_taken) {
    std::size_t room = 0;
    while (true) {
        emplace_transaction<counted, typename TestFixture::config> one(this->parts, this->parts.mine());
        if (!one.taken()) {
            break;
        }
        this->construct(room++)(one.site());
        this->made.push_back(one.publish(caller::unknown));
    }
    EXPECT_GE(room, 10U);
    EXPECT_EQ(this->created(), room);
}

TYPED_TEST(emplace_transaction_test, a_batch_is_published_in_the_order_of_its_construction) {
    batch_transaction<counted, typename TestFixture::config> batch(this->parts, this->parts.mine(), 10);
    ASSERT_TRUE(batch.taken());
    std::uint64_t next = 0;
    batch.construct_all([&](void* memory) { this->construct(next++)(memory); });
    EXPECT_EQ(this->created(), 0U);
    batch.publish_all(
        [this](std::size_t i, auto handle) {
            EXPECT_EQ(i, this->made.size());
            this->made.push_back(handle);
        },
        caller::unknown);
    ASSERT_EQ(this->made.size(), 10U);
    for (std::uint64_t i = 0; i != 10; ++i) {
        EXPECT_EQ(this->parts.value(this->made[i]), i);
    }
    EXPECT_EQ(this->created(), 10U);
}

TYPED_TEST(emplace_transaction_test, a_batch_that_is_too_large_takes_nothing) {
    {
        const batch_transaction<counted, typename TestFixture::config> batch(this->parts, this->parts.mine(),
                                                                             1000);
        EXPECT_FALSE(batch.taken());
    }
    EXPECT_EQ(this->slots_left(), 10U);
}

TYPED_TEST(emplace_transaction_test,
           a_batch_whose_constructor_throws_destroys_what_was_made_and_gives_all_back) {
    for (std::uint64_t throwing = 0; throwing != 10; ++throwing) {
        std::uint64_t next = 0;
        try {
            batch_transaction<counted, typename TestFixture::config> batch(this->parts, this->parts.mine(),
                                                                           10);
            ASSERT_TRUE(batch.taken());
            batch.construct_all([&](void* memory) {
                if (next == throwing) {
                    throw std::runtime_error("thrown by a constructor");
                }
                this->construct(next++)(memory);
            });
            FAIL();
        } catch (const std::runtime_error&) {
        }
        EXPECT_EQ(this->parts.people.born(), this->parts.people.died());
        EXPECT_EQ(this->slots_left(), 10U);
    }
    EXPECT_EQ(this->created(), 0U);
}

} // namespace
} // namespace handlepool::test
