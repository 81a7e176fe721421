// SPDX-License-Identifier: MIT

// Captures of pools of objects and of rows against pictures that were made the slow way.

#include "capture_oracle_suite.hpp"

#include <handlepool/columns.hpp>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace handlepool::test {
namespace {

/// Rows of elements that can be assigned, one that can't, and an empty one.
struct rows {
    struct label {
        explicit label(std::uint64_t number) : text(20 + number % 20, 'a') {}
        std::string text;
    };
    struct nothing {};
    using row_type = columns<std::uint64_t, owning_thing, label, nothing>;

    template <class Traits>
    using pool_type = pool<row_type, Traits>;
    template <class Traits>
    static pool_type<Traits> empty(const pool_options& options) {
        return pool_type<Traits>(options);
    }

    template <class Pool>
    static auto make(Pool& pool, std::uint64_t id) {
        return pool.try_emplace(id, id, id);
    }
    template <class Pool>
    static void make_several(Pool& pool, std::size_t count, std::uint64_t& id,
                             std::vector<typename Pool::handle_type>& made) {
        pool.try_emplace_n(count, std::back_inserter(made), [&id](std::size_t) {
            ++id;
            return std::tuple(id, id, id);
        });
    }
    template <class Pool>
    static bool fulfill(Pool& pool, typename Pool::handle_type handle, std::uint64_t id) {
        return pool.try_fulfill(handle, id, id, id);
    }
    template <class Pool, class Body>
    static void fail_to_make(Pool& pool, Body body) {
        pool.try_emplace_with([&](auto handle) -> std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> {
            body(handle);
            throw no_object();
        });
    }
    static constexpr bool copies = true;
    template <class Row>
    static void end(const Row&) {}
    template <class Pointer>
    static void change(const Pointer& found, std::uint64_t by) {
        found->template get<0>() += by;
        found->template get<1>().change(by);
    }
    template <class Row>
    static auto contents(const Row& seen) {
        return std::tuple(seen.template get<0>(), seen.template get<1>().contents(),
                          seen.template get<2>().text);
    }
    template <class Row>
    static const void* address(const Row& seen) {
        return &seen.template get<1>();
    }
    template <class Row>
    static std::uint64_t key(const Row& seen) {
        return seen.template get<1>().id;
    }
};

using captured_dense_pools = testing::Types<
    captured_case<typed_objects<plain_thing>, default_traits, false, 0, 8>,
    captured_case<typed_objects<plain_thing>, with_policy<captured_blocks>, false, 0, 1>,
    captured_case<typed_objects<owning_thing>, with_policy<captured_blocks>, true, 3, 64>,
    captured_case<typed_objects<owning_thing>, with_policy<captured_blocks, few_generations>, false, 2, 64>,
    captured_case<typed_objects<unique_thing>, with_policy<captured_blocks>, false, 0, 8>,
    captured_case<typed_objects<unique_thing>, with_policy<captured_blocks, few_generations>, true, 2, 64>,
    captured_case<rows, with_policy<captured_blocks>, false, 0, 8>,
    captured_case<rows, with_policy<captured_blocks>, true, 2, 64>>;
INSTANTIATE_TYPED_TEST_SUITE_P(dense, capture_oracle, captured_dense_pools);

} // namespace
} // namespace handlepool::test
