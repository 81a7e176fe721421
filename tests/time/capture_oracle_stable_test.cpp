// SPDX-License-Identifier: MIT

// Captures of pools whose objects stay where they are, against pictures that were made the slow way.

#include "capture_oracle_suite.hpp"

#include <handlepool/recycling_pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace handlepool::test {
namespace {

/// One that is cleared and assigned again, for pools that keep dead objects.
struct recycled_thing {
    explicit recycled_thing(std::uint64_t number) : id(number) {}
    recycled_thing& operator=(std::uint64_t number) {
        id = number;
        return *this;
    }
    void clear() noexcept {
        id = 0;
        value.clear();
    }
    void change(std::uint64_t by) { value += std::string(30 + by % 20, 'x'); }
    auto contents() const { return std::pair(id, value); }
    std::uint64_t id;
    std::string value;
};

/// The same of one that can't be copied.
struct unique_recycled_thing : unique_thing {
    using unique_thing::unique_thing;
    unique_recycled_thing& operator=(std::uint64_t number) {
        id = std::make_unique<std::uint64_t>(number);
        return *this;
    }
    void clear() noexcept { id.reset(); }
};

template <class Traits>
using stable = with_placement<stable_placement, Traits>;
template <class Traits>
using recycling = with_placement<recycling_placement, Traits>;

using captured_stable_pools = testing::Types<
    captured_case<typed_objects<plain_thing>, stable<default_traits>, false, 0, 8>,
    captured_case<typed_objects<owning_thing>, stable<with_policy<captured_blocks>>, false, 3, 1>,
    captured_case<typed_objects<unique_thing>, stable<with_policy<captured_blocks>>, false, 0, 8>,
    captured_case<typed_objects<unique_thing>, stable<with_policy<captured_blocks, few_generations>>, false,
                  2, 1>,
    captured_case<typed_objects<unique_recycled_thing>, recycling<with_policy<captured_blocks>>, false, 0, 8>,
    captured_case<typed_objects<recycled_thing>, recycling<with_policy<captured_blocks>>, false, 0, 8>,
    captured_case<typed_objects<recycled_thing>, recycling<with_policy<captured_blocks, few_generations>>,
                  false, 2, 64>>;
INSTANTIATE_TYPED_TEST_SUITE_P(stable, capture_oracle, captured_stable_pools);

} // namespace
} // namespace handlepool::test
