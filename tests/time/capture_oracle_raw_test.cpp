// SPDX-License-Identifier: MIT

// Captures of pools whose objects' type is known at run time only, against pictures that were made the slow
// way.

#include "capture_oracle_suite.hpp"

#include <handlepool/raw_pool.hpp>
#include <handlepool/raw_stable_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

/// Objects whose type is known at run time: bytes, or with functions of their own.
template <class Object>
struct raw_objects {
    template <class Traits>
    using pool_type = raw_pool<Traits>;
    template <class Traits>
    static pool_type<Traits> empty(const pool_options& options) {
        raw_type type{.size = sizeof(Object), .alignment = alignof(Object)};
        if constexpr (!std::is_trivially_copyable_v<Object>) {
            type.relocate = [](void* to, void* from, void*) noexcept {
                ::new (to) Object(std::move(*static_cast<Object*>(from)));
                static_cast<Object*>(from)->~Object();
            };
            type.destroy = [](void* object, void*) noexcept { static_cast<Object*>(object)->~Object(); };
            type.copy = [](void* to, const void* from, void*) {
                ::new (to) Object(*static_cast<const Object*>(from));
            };
        }
        return pool_type<Traits>(options, type);
    }

    static auto maker(std::uint64_t id) {
        return [id](void* memory) { ::new (memory) Object(id); };
    }
    template <class Pool>
    static auto make(Pool& pool, std::uint64_t id) {
        return pool.try_emplace(maker(id));
    }
    template <class Pool>
    static void make_several(Pool& pool, std::size_t count, std::uint64_t& id,
                             std::vector<typename Pool::handle_type>& made) {
        for (; count != 0; --count) {
            made.push_back(make(pool, id++));
        }
    }
    template <class Pool>
    static bool fulfill(Pool& pool, typename Pool::handle_type handle, std::uint64_t id) {
        return pool.try_fulfill(handle, maker(id));
    }
    template <class Pool, class Body>
    static void fail_to_make(Pool& pool, Body body) {
        pool.try_emplace_with([&](void*, auto handle) {
            body(handle);
            throw no_object();
        });
    }
    static void change(void* object, std::uint64_t by) { static_cast<Object*>(object)->change(by); }
    static constexpr bool copies = true;
    static void end(void* object) { static_cast<Object*>(object)->~Object(); }
    static auto contents(const void* object) { return static_cast<const Object*>(object)->contents(); }
    static const void* address(const void* object) { return object; }
    static std::uint64_t key(const void* object) { return static_cast<const Object*>(object)->id; }
};

using captured_raw_pools = testing::Types<
    captured_case<raw_objects<plain_thing>, with_policy<captured_blocks>, false, 0, 8>,
    captured_case<raw_objects<owning_thing>, with_policy<captured_blocks>, true, 0, 8>,
    captured_case<raw_objects<owning_thing>, with_placement<stable_placement, with_policy<captured_blocks>>,
                  false, 0, 64>>;
INSTANTIATE_TYPED_TEST_SUITE_P(raw, capture_oracle, captured_raw_pools);

} // namespace
} // namespace handlepool::test
