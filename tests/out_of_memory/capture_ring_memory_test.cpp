// SPDX-License-Identifier: MIT

// Captures whose allocations fail: pool and ring stay as they were, or the restore can be tried again. And a
// frame that is captured again and again needs no memory. In pools of every kind.

#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/capture_ring.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

class capture_ring_memory : public testing::TestWithParam<shortage> {};

/// Owns memory.
struct buffer {
    explicit buffer(int value) : values(20, value) {}
    buffer& operator=(int value) {
        values.assign(20, value);
        return *this;
    }
    void clear() noexcept { values.clear(); }
    std::vector<int> values;
};

// ---- Kinds of pools: how a buffer is made there, and reached

template <class Pool>
struct typed_buffers {
    using pool_type = Pool;
    static pool_type empty() { return pool_type({.name = "objects", .capacity = 100}); }
    static auto make(pool_type& pool, int value) { return pool.emplace(value); }
    static buffer& of(buffer& object) { return object; }
    static const buffer& of(const buffer& object) { return object; }
};
struct rows_of_buffers {
    using pool_type = pool<columns<int, buffer>>;
    static pool_type empty() { return pool_type({.name = "objects", .capacity = 100}); }
    static auto make(pool_type& pool, int value) { return pool.emplace(value, value); }
    template <class Row>
    static auto& of(const Row& found) {
        return found.template get<1>();
    }
};
struct raw_buffers {
    using pool_type = raw_pool<>;
    static pool_type empty() {
        return pool_type(
            {.name = "objects", .capacity = 100},
            {.size = sizeof(buffer),
             .alignment = alignof(buffer),
             .relocate =
                 [](void* to, void* from, void*) noexcept {
                     ::new (to) buffer(std::move(*static_cast<buffer*>(from)));
                     static_cast<buffer*>(from)->~buffer();
                 },
             .destroy = [](void* object, void*) noexcept { static_cast<buffer*>(object)->~buffer(); },
             .copy = [](void* to, const void* from,
                        void*) { ::new (to) buffer(*static_cast<const buffer*>(from)); }});
    }
    static auto make(pool_type& pool, int value) {
        return pool.emplace([value](void* memory) { ::new (memory) buffer(value); });
    }
    static buffer& of(void* object) { return *static_cast<buffer*>(object); }
    static const buffer& of(const void* object) { return *static_cast<const buffer*>(object); }
};

/// Calls `test.operator()<kind>()` for each kind of pool.
template <class Test>
void for_each_kind(Test test) {
    const auto run = [&]<class Kind>(const char* name) {
        const testing::ScopedTrace trace(__FILE__, __LINE__, name);
        test.template operator()<Kind>();
    };
    run.template operator()<typed_buffers<pool<buffer>>>("pool");
    run.template operator()<rows_of_buffers>("rows");
    run.template operator()<raw_buffers>("raw_pool");
    run.template operator()<typed_buffers<stable_pool<buffer>>>("stable_pool");
    run.template operator()<typed_buffers<recycling_pool<buffer>>>("recycling_pool");
}

/// A pool whose captures are taken under a shortage.
template <class Kind>
class scene {
public:
    using pool_type = typename Kind::pool_type;
    using handle_type = typename pool_type::handle_type;

    scene() {
        for (int i = 0; i != 60; ++i) {
            handles.push_back(Kind::make(objects, i));
        }
        ring.capture(1);
    }

    /// Some objects edited, some replaced, a handle reserved.
    void play(int value) {
        for (std::size_t i = 0; i != 20; ++i) {
            if (log.edit(handles[i])) {
                Kind::of(objects.at(handles[i])).values.assign(20, value);
            }
        }
        for (std::size_t i = 20; i != 30; ++i) {
            objects.erase(std::exchange(handles[i], Kind::make(objects, value)));
        }
        if (reserved) {
            objects.cancel(reserved);
        }
        reserved = objects.reserve_handle();
    }
    std::vector<std::pair<handle_type, std::vector<int>>> all() const {
        std::vector<std::pair<handle_type, std::vector<int>>> seen;
        for (const auto& [handle, each] : objects.entries()) {
            seen.emplace_back(handle, Kind::of(each).values);
        }
        return seen;
    }

    pool_type objects = Kind::empty();
    change_log<pool_type> log{objects, {.frames = 4, .check_marks = false}};
    capture_ring<pool_type> ring{log, {.frames = 4}};
    std::vector<handle_type> handles;
    handle_type reserved;
};

TEST_P(capture_ring_memory, a_capture_that_fails_leaves_pool_and_ring_as_they_were) {
    for_each_kind([]<class Kind>() {
        const std::size_t allocations =
            with_each_allocation_failing(GetParam(), [](memory_shortage& short_of) {
                scene<Kind> now;
                const auto first = now.all();
                now.play(100);
                now.objects.compact();
                const auto second = now.all();
                // Of the pool's own allocations none throws; a lost frame of the log is none for the ring.
                const bool failed = short_of.interrupts([&] { now.ring.capture(2); });
                EXPECT_EQ(now.all(), second);
                EXPECT_EQ(now.ring.newest(), failed ? 1U : 2U);
                if (failed) {
                    now.ring.capture(2);
                }
                now.play(200);
                now.ring.restore(2);
                EXPECT_EQ(now.all(), second);
                now.ring.restore(1);
                EXPECT_EQ(now.all(), first);
            });
        EXPECT_GT(allocations, 10U);
    });
}

TEST_P(capture_ring_memory, a_restore_that_fails_can_be_tried_again) {
    for_each_kind([]<class Kind>() {
        const std::size_t allocations =
            with_each_allocation_failing(GetParam(), [](memory_shortage& short_of) {
                scene<Kind> now;
                const auto first = now.all();
                const auto handles = now.handles;
                now.play(100);
                now.ring.capture(2);
                now.play(200);
                const bool failed = short_of.interrupts([&] { now.ring.restore(1); });
                EXPECT_EQ(now.ring.newest(), 1U);
                if (failed) {
                    now.ring.restore(1);
                }
                EXPECT_EQ(now.all(), first);
                now.handles = handles;
                now.reserved = {};
                now.play(100);
                now.ring.capture(2); // also after a restore that failed
                const auto second = now.all();
                now.play(300);
                now.ring.restore(2);
                EXPECT_EQ(now.all(), second);
            });
        EXPECT_GT(allocations, 10U);
    });
}

TEST_P(capture_ring_memory, a_ring_that_can_not_be_made_leaves_the_log_as_it_was) {
    pool<int> numbers({.name = "numbers", .capacity = 100});
    change_log<pool<int>> log(numbers);
    const handle<int> one = numbers.emplace(1);
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& short_of) {
        std::optional<capture_ring<pool<int>>> ring;
        short_of.hits([&] { ring.emplace(log); });
        numbers.compact();
    });
    EXPECT_GT(allocations, 0U);
    EXPECT_EQ(numbers[one], 1);
}

INSTANTIATE_TEST_SUITE_P(shortages, capture_ring_memory, both_shortages, name_of_shortage);

TEST(captures_of_objects_that_own_memory, need_none_after_some_frames) {
    for_each_kind([]<class Kind>() {
        if constexpr (!std::is_same_v<Kind, raw_buffers>) { // whose copies are made anew
            scene<Kind> now;
            std::uint64_t frame = 1;
            const auto edit = [&](int value) {
                for (std::size_t i = 0; i != 20; ++i) {
                    now.log.mark(now.handles[i]);
                    Kind::of(now.objects.at(now.handles[i])).values.assign(20, value);
                }
            };
            for (int i = 0; i != 20; ++i) {
                edit(i);
                now.ring.capture(++frame);
            }
            edit(100);
            expect_no_allocation([&] { now.ring.capture(++frame); });
            edit(101);
            expect_no_allocation([&] { now.ring.capture(++frame); });
        }
    });
}

} // namespace
} // namespace handlepool::test
