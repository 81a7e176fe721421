// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/memory/poison.hpp>

#include <gtest/gtest.h>
#include <tests/support/poisoned.hpp>
#include <tests/support/random.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;

/// An array of objects of some size, which are alive or dead. Those that are alive must be open, every byte.
class herd {
public:
    static constexpr std::size_t count = 24;
    static constexpr std::size_t largest = 48;

    explicit herd(std::size_t size) : size_(size) {}
    ~herd() { unpoison(bytes_.data(), count, size_); }

    herd(const herd&) = delete;
    herd& operator=(const herd&) = delete;

    void kill(std::size_t first, std::size_t objects = 1) {
        poison(&bytes_[first * size_], objects, size_);
        std::fill_n(alive_.begin() + static_cast<std::ptrdiff_t>(first), objects, false);
    }
    void revive(std::size_t one) {
        unpoison(&bytes_[one * size_], 1, size_);
        alive_[one] = true;
    }

    bool alive(std::size_t one) const { return alive_[one]; }
    std::size_t poisoned_bytes(std::size_t one) const {
        return static_cast<std::size_t>(
            std::count_if(&bytes_[one * size_], &bytes_[one * size_] + size_,
                          [](const std::byte& byte) { return is_poisoned(&byte); }));
    }
    std::size_t poisoned_bytes_of_living() const {
        std::size_t bytes = 0;
        for (std::size_t one = 0; one != count; ++one) {
            bytes += alive_[one] ? poisoned_bytes(one) : 0;
        }
        return bytes;
    }

private:
    std::size_t size_;
    std::vector<bool> alive_ = std::vector<bool>(count, true);
    alignas(poison_unit) std::array<std::byte, count * largest> bytes_{};
};

class poison_test : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(sizes, poison_test, testing::Range(std::size_t{1}, herd::largest + 1),
                         testing::PrintToStringParamName());

TEST_P(poison_test, closes_one_object_anywhere_in_an_array_and_no_byte_of_another) {
    herd objects(GetParam());
    for (std::size_t one = 0; one != herd::count; ++one) {
        objects.kill(one);
        EXPECT_EQ(objects.poisoned_bytes_of_living(), 0U) << one;
        if (can_poison(GetParam())) {
            EXPECT_GE(objects.poisoned_bytes(one), poison_unit) << one;
        }
        objects.revive(one);
        EXPECT_EQ(objects.poisoned_bytes(one), 0U) << one;
    }
}

TEST_P(poison_test, closes_neighbours_together_but_for_what_they_share_with_others) {
    herd objects(GetParam());
    objects.kill(1, herd::count - 2);
    EXPECT_EQ(objects.poisoned_bytes_of_living(), 0U);
    std::size_t closed = 0;
    for (std::size_t one = 1; one != herd::count - 1; ++one) {
        closed += objects.poisoned_bytes(one);
    }
    if (address_sanitizer) {
        EXPECT_GT(closed + 2 * poison_unit, (herd::count - 2) * GetParam()) << "less than a unit at each end";
    }
}

TEST_P(poison_test, never_closes_a_living_object_whatever_came_before) {
    random_source random(GetParam());
    herd objects(GetParam());
    for (int step = 0; step != 300; ++step) {
        const std::size_t first = random.below(herd::count);
        if (!objects.alive(first)) {
            objects.revive(first);
        } else {
            objects.kill(first, std::min<std::size_t>(1 + random.below(4), herd::count - first));
            if (can_poison(GetParam())) {
                ASSERT_GE(objects.poisoned_bytes(first), poison_unit);
            }
        }
        ASSERT_EQ(objects.poisoned_bytes_of_living(), 0U) << "in step " << step;
    }
}

// Each thread has every third object of its own, so that all of its objects have the others' as neighbours.
TEST_P(poison_test, never_closes_a_living_object_while_other_threads_close_its_neighbours) {
    const std::size_t size = GetParam();
    alignas(poison_unit) std::array<std::byte, herd::count * herd::largest> bytes{};
    std::atomic<std::size_t> closed = 0;
    in_threads(3, [&](std::size_t thread) {
        for (std::size_t i = 0; i != 200; ++i) {
            const std::size_t one = thread + 3 * (i % (herd::count / 3));
            std::byte* const object = &bytes[one * size];
            unpoison(object, 1, size);
            for (std::size_t byte = 0; byte != size; ++byte) {
                closed += is_poisoned(object + byte) ? 1 : 0;
            }
            poison(object, 1, size);
        }
    });
    unpoison(bytes.data(), herd::count, size);
    EXPECT_EQ(closed, 0U);
}

// Units of 8 bytes: an object must hold a whole one, wherever it lies.
static_assert(can_poison(8) == address_sanitizer && can_poison(12) == address_sanitizer &&
              can_poison(14) == address_sanitizer && can_poison(15) == address_sanitizer &&
              can_poison(20) == address_sanitizer && can_poison(1000) == address_sanitizer);
static_assert(!can_poison(1) && !can_poison(4) && !can_poison(9) && !can_poison(10) && !can_poison(13));

} // namespace
} // namespace handlepool::test
