// SPDX-License-Identifier: MIT
#include <handlepool/handle.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>
#include <tests/support/tabulate.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <type_traits>

namespace handlepool::test {
namespace {

template <class Layout>
class handle_layout_test : public testing::Test {
protected:
    using handle_type = handle<int, Layout>;

    static constexpr std::uint64_t mask(unsigned bits) { return bits == 64 ? ~0ULL : (1ULL << bits) - 1; }

    /// Values of a field that a wrong mask or shift would not leave alone.
    static std::array<std::uint64_t, 7> samples(unsigned bits) {
        const std::uint64_t all = mask(bits);
        return {0, 1, all, all - 1, all >> 1, all & 0x5555'5555'5555'5555U, all & 0xaaaa'aaaa'aaaa'aaaaU};
    }

    static handle_type make(std::uint64_t index, std::uint64_t generation, std::uint64_t pool_id) {
        return handle_type::from_value(
            Layout::value_of(index, Layout::make_tag(static_cast<std::uint32_t>(pool_id),
                                                     static_cast<std::uint32_t>(generation))));
    }
};

using layouts = testing::Types<default_layout, handle_layout<32, 20, 12>, handle_layout<32, 31, 1>,
                               handle_layout<32, 2, 30>, handle_layout<40, 16, 8>, handle_layout<61, 2, 1>,
                               handle_layout<16, 12, 4>, handle_layout<20, 8, 4>, handle_layout<1, 30, 1>,
                               handle_layout<29, 2, 1>>;
TYPED_TEST_SUITE(handle_layout_test, layouts);

TYPED_TEST(handle_layout_test, each_field_comes_back_whatever_its_neighbours_are) {
    for (const auto index : this->samples(TypeParam::index_bits)) {
        for (const auto generation : this->samples(TypeParam::generation_bits)) {
            for (const auto pool_id : this->samples(TypeParam::pool_id_bits)) {
                const auto handle = this->make(index, generation, pool_id);
                EXPECT_EQ(handle.index(), index);
                EXPECT_EQ(handle.generation(), generation);
                EXPECT_EQ(handle.pool_id(), pool_id);
                EXPECT_EQ(handle.tag(), generation | pool_id << TypeParam::generation_bits);
            }
        }
    }
}

TYPED_TEST(handle_layout_test, the_fields_lie_in_order_and_cover_all_bits) {
    const std::uint64_t index = this->make(this->mask(TypeParam::index_bits), 0, 0).value();
    const std::uint64_t generation = this->make(0, this->mask(TypeParam::generation_bits), 0).value();
    const std::uint64_t pool_id = this->make(0, 0, this->mask(TypeParam::pool_id_bits)).value();
    EXPECT_EQ(index, this->mask(TypeParam::index_bits));
    EXPECT_EQ(generation, this->mask(TypeParam::generation_bits) << TypeParam::index_bits);
    EXPECT_EQ(pool_id, this->mask(TypeParam::pool_id_bits)
                           << (TypeParam::index_bits + TypeParam::generation_bits));
    EXPECT_EQ(index | generation | pool_id, std::numeric_limits<typename TypeParam::value_type>::max());
}

TYPED_TEST(handle_layout_test, every_value_is_put_together_from_its_parts) {
    test::random_source random;
    for (int i = 0; i != 10'000; ++i) {
        const auto value = static_cast<typename TypeParam::value_type>(random.bits());
        const auto handle = decltype(this->make(0, 0, 0))::from_value(value);
        EXPECT_EQ(this->make(handle.index(), handle.generation(), handle.pool_id()).value(), value);
        EXPECT_EQ(TypeParam::value_of(handle.index(), handle.tag()), value);
    }
}

TYPED_TEST(handle_layout_test, an_index_too_large_touches_no_other_field) {
    const auto tag = TypeParam::make_tag(0, 2);
    EXPECT_EQ(TypeParam::tag_of(TypeParam::value_of(~std::uint64_t{0}, tag)), tag);
}

TYPED_TEST(handle_layout_test, erasing_the_last_generation_does_not_carry_into_the_pool_id) {
    const auto last = TypeParam::last_generation;
    EXPECT_TRUE(TypeParam::is_alive(last));
    const auto erased = TypeParam::make_tag(0, last) + 1;
    EXPECT_EQ(TypeParam::pool_id_of(erased), 0U);
    EXPECT_FALSE(TypeParam::is_alive(erased));
    // The next one that could live is the one that ~0 has.
    EXPECT_EQ(last + 2, TypeParam::generation_mask);
}

TYPED_TEST(handle_layout_test, the_null_handle_is_zero_and_not_alive) {
    const typename std::remove_cvref_t<decltype(this->make(0, 0, 0))> null;
    EXPECT_FALSE(null);
    EXPECT_EQ(null.value(), 0U);
    EXPECT_EQ(null, this->make(0, 0, 0));
    EXPECT_FALSE(TypeParam::is_alive(null.tag()));
}

TYPED_TEST(handle_layout_test, all_ones_has_a_generation_that_no_object_gets) {
    const auto ones =
        decltype(this->make(0, 0, 0))::from_value(std::numeric_limits<typename TypeParam::value_type>::max());
    EXPECT_TRUE(ones);
    EXPECT_GT(ones.generation(), TypeParam::last_generation);
    EXPECT_EQ(ones.index(), this->mask(TypeParam::index_bits));
}

TYPED_TEST(handle_layout_test, liveness_is_the_lowest_bit_of_the_generation) {
    EXPECT_TRUE(TypeParam::is_alive(TypeParam::make_tag(1, 1)));
    EXPECT_FALSE(TypeParam::is_alive(TypeParam::make_tag(1, 2)));
    EXPECT_FALSE(TypeParam::is_alive(TypeParam::make_tag(1, 0)));
}

TEST(handle_test, orders_and_compares_like_its_value) {
    test::random_source random;
    auto handles = tabulate(100, [&](int) { return handle<int>::from_value(random.below(50)); });
    std::ranges::sort(handles);
    for (std::size_t i = 1; i != handles.size(); ++i) {
        EXPECT_LE(handles[i - 1].value(), handles[i].value());
        EXPECT_EQ(handles[i - 1] == handles[i], handles[i - 1].value() == handles[i].value());
        EXPECT_EQ(handles[i - 1] < handles[i], handles[i - 1].value() < handles[i].value());
    }
}

TEST(handle_test, every_single_bit_makes_another_handle) {
    const auto original = handle<int>::from_value(0x1234'5678'9abc'def1U);
    for (unsigned bit = 0; bit != 64; ++bit) {
        const auto other = handle<int>::from_value(original.value() ^ (1ULL << bit));
        EXPECT_NE(original, other);
        EXPECT_NE(std::hash<handle<int>>{}(original), std::hash<handle<int>>{}(other));
    }
}

TEST(handle_test, equal_handles_hash_equally) {
    const auto value = 0x1234'5678'9abc'def1U;
    EXPECT_EQ(std::hash<handle<int>>{}(handle<int>::from_value(value)),
              std::hash<handle<int>>{}(handle<int>::from_value(value)));
}

// Of 4096 random buckets 63 of 100 would be used by 4096 handles.
TEST(handle_test, hash_spreads_handles_that_differ_in_one_field_over_a_table_of_a_power_of_two) {
    for (const unsigned shift : {0U, 12U, 32U, 33U, 40U}) {
        std::set<std::size_t> low;
        std::set<std::size_t> high;
        for (std::uint64_t i = 0; i != 4096; ++i) {
            const auto hash = std::hash<handle<int>>{}(handle<int>::from_value(i << shift));
            low.insert(hash % 4096);
            high.insert(hash >> 52);
        }
        EXPECT_GT(low.size(), 2400U) << "shift " << shift;
        EXPECT_GT(high.size(), 2400U) << "shift " << shift;
    }
}

TEST(any_handle_test, names_the_same_object_as_the_handle_that_it_is_made_from) {
    const auto typed = handle<int>::from_value(0x1234'5678'9abc'def1U);
    const any_handle untyped = typed;
    EXPECT_EQ(untyped.value(), typed.value());
    EXPECT_EQ(untyped.index(), typed.index());
    EXPECT_EQ(untyped.generation(), typed.generation());
    EXPECT_EQ(untyped.pool_id(), typed.pool_id());
    EXPECT_EQ(untyped.tag(), typed.tag());
    EXPECT_TRUE(untyped);
    EXPECT_FALSE(any_handle(handle<int>()));
    EXPECT_EQ(std::hash<any_handle>{}(untyped), std::hash<handle<int>>{}(typed));
}

TEST(any_handle_test, handles_of_different_types_meet_in_one_container) {
    const auto ship = handle<int>::from_value(7);
    const auto rocket = handle<long>::from_value(9);
    const std::set<any_handle> all{ship, rocket, ship};
    EXPECT_EQ(all.size(), 2U);
    EXPECT_TRUE(all.contains(rocket));
    EXPECT_LT(any_handle(ship), any_handle(rocket));
}

// What users rely on at compile time.
static_assert(std::is_nothrow_convertible_v<handle<int>, any_handle>);
static_assert(!std::is_constructible_v<handle<int>, any_handle>, "back only by a checked cast");
static_assert(!std::is_convertible_v<handle<int, handle_layout<16, 12, 4>>, any_handle>,
              "handles of different layouts don't mix");
static_assert(
    std::is_convertible_v<handle<int, handle_layout<16, 12, 4>>, handle<void, handle_layout<16, 12, 4>>>);
static_assert(std::is_trivially_copyable_v<any_handle> && sizeof(any_handle) == 8);
using small = handle_layout<16, 12, 4>;
static_assert(sizeof(handle<int>) == 8 && sizeof(handle<int, small>) == 4);
static_assert(std::is_same_v<default_layout::value_type, std::uint64_t>);
static_assert(std::is_same_v<small::value_type, std::uint32_t>);
static_assert(std::is_trivially_copyable_v<handle<int>> && std::is_standard_layout_v<handle<int>>);
static_assert(std::is_nothrow_default_constructible_v<handle<int>>);
static_assert(!std::is_convertible_v<std::uint64_t, handle<int>>,
              "bits become a handle only when that is said");
static_assert(!std::is_convertible_v<handle<int>, bool>);
static_assert(!std::is_convertible_v<handle<int>, handle<long>>, "handles of different types don't mix");
static_assert(!std::equality_comparable_with<handle<int>, handle<long>>);
static_assert(handle<int>::from_value(7).index() == 7, "handles are usable in constant expressions");
static_assert(default_layout::last_generation == (1U << 22) - 3);

} // namespace
} // namespace handlepool::test
