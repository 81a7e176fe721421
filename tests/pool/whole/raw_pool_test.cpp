// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/thread_executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>
#include <tests/support/tabulate.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// How a script would describe a C++ type: by functions.
template <class T>
raw_type type_of() {
    return {.size = sizeof(T),
            .alignment = alignof(T),
            .relocate = [](void* to, void* from, void*) noexcept { object_type<T>::relocate(to, from); },
            .destroy = [](void* object, void*) noexcept { object_type<T>::destroy(object); }};
}

constexpr raw_type three_bytes{.size = 3, .alignment = 1};

auto with_value(std::uint64_t value) {
    return [value](void* memory) noexcept { std::memcpy(memory, &value, sizeof(value)); };
}
std::uint64_t value_of(const void* object) {
    std::uint64_t value = 0;
    std::memcpy(&value, object, sizeof(value));
    return value;
}

TEST(raw_pool_test, objects_are_found_by_their_handles_wherever_they_live) {
    raw_pool<> pool({.name = "raw", .capacity = 10}, {.size = 8, .alignment = 8});
    const any_handle handle = pool.emplace(with_value(7));
    EXPECT_TRUE(pool.contains(handle));
    for (const char* const where : {"in the nursery", "in the dense store"}) {
        ASSERT_NE(pool.find(handle), nullptr) << where;
        EXPECT_EQ(value_of(pool.find(handle)), 7U) << where;
        EXPECT_EQ(pool.at(handle), pool.find(handle)) << where;
        EXPECT_EQ(pool.handle_of(pool.find(handle)), handle) << where;
        pool.compact();
    }
    EXPECT_EQ(pool.handle_at(0), handle);
    const std::uint64_t elsewhere = 7;
    EXPECT_EQ(pool.handle_of(&elsewhere), any_handle());
    EXPECT_TRUE(pool.erase(handle));
    EXPECT_FALSE(pool.erase(handle));
    EXPECT_EQ(pool.find(handle), nullptr);
    EXPECT_THAT([&] { pool.at(handle); }, ThrowsMessage<stale_handle>(HasSubstr("pool 'raw': handle #0")));
}

TEST(raw_pool_test, is_reachable_when_const) {
    raw_pool<> pool({.name = "raw", .capacity = 10}, three_bytes);
    const any_handle handle = pool.emplace();
    const raw_pool<>& view = pool;
    static_assert(std::is_same_v<decltype(view.find(handle)), const void*>);
    EXPECT_EQ(view.find(handle), pool.find(handle));
    EXPECT_EQ(view.handle_of(view.find(handle)), handle);
    EXPECT_EQ(view.object_type_description().size, 3U);
}

TEST(raw_pool_test, objects_of_no_function_begin_as_zero_bytes_also_where_others_were) {
    raw_pool<> pool({.name = "raw", .capacity = 4, .reuse_delay = 0}, {.size = 8, .alignment = 8});
    for (int round = 0; round != 300; ++round) { // more than the nursery has positions
        const any_handle dirty = pool.emplace(with_value(~0ULL));
        const any_handle clean = round % 2 == 0 ? pool.emplace() : pool.try_emplace();
        ASSERT_EQ(value_of(pool.find(clean)), 0U);
        pool.compact();
        ASSERT_EQ(value_of(pool.find(clean)), 0U);
        pool.erase(dirty);
        pool.erase(clean);
        pool.compact();
    }
}

TEST(raw_pool_test, memory_that_no_machine_has_is_refused_and_leaves_nothing_behind) {
    constexpr raw_type large{.size = std::size_t{1} << 40, .alignment = 64};
    EXPECT_THAT([&] { const raw_pool<> pool({.name = "raw", .capacity = 1 << 20}, large); },
                ThrowsMessage<reservation_failed>(HasSubstr("pool 'raw' memory: cannot reserve")));
}

TEST(raw_pool_test, items_lie_one_stride_behind_the_other) {
    raw_pool<> pool({.name = "raw", .capacity = 100}, {.size = 9, .alignment = 8});
    EXPECT_TRUE(pool.items().empty());
    for (std::uint64_t i = 0; i != 20; ++i) {
        pool.emplace(with_value(i));
    }
    EXPECT_TRUE(pool.items().empty()) << "newborns are not among them";
    pool.compact();
    const raw_items items = pool.items();
    ASSERT_EQ(items.size(), 20U);
    EXPECT_EQ(items.stride(), 16U);
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i != items.size(); ++i) {
        EXPECT_EQ(items[i], static_cast<const std::byte*>(items.data()) + 16 * i);
        EXPECT_EQ(pool.find(pool.handle_at(i)), items[i]);
        EXPECT_EQ(pool.handle_of(items[i]), pool.handle_at(i));
        values.push_back(value_of(items[i]));
    }
    std::ranges::sort(values);
    for (std::uint64_t i = 0; i != 20; ++i) {
        EXPECT_EQ(values[i], i);
    }
}

TEST(raw_pool_test, objects_of_any_size_are_whole_and_aligned_through_compactions) {
    for (const raw_type type :
         {raw_type{.size = 1, .alignment = 1}, three_bytes, raw_type{.size = 24, .alignment = 8},
          raw_type{.size = 100, .alignment = 64}, raw_type{.size = 5000, .alignment = 4096}}) {
        SCOPED_TRACE(type.size);
        raw_pool<> pool({.name = "raw", .capacity = 300}, type);
        const auto handles = tabulate(300, [&](int i) {
            return pool.emplace([&](void* memory) { std::memset(memory, i % 251, type.size); });
        });
        pool.compact();
        for (std::size_t i = 0; i != 300; i += 3) {
            pool.erase(handles[i]);
        }
        pool.compact();
        for (std::size_t i = 0; i != 300; ++i) {
            const auto* const bytes = static_cast<const unsigned char*>(pool.find(handles[i]));
            ASSERT_EQ(bytes == nullptr, i % 3 == 0);
            if (bytes != nullptr) {
                ASSERT_EQ(std::count(bytes, bytes + type.size, i % 251),
                          static_cast<std::ptrdiff_t>(type.size));
                ASSERT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % type.alignment, 0U);
            }
        }
    }
}

TEST(raw_pool_test, each_object_is_destroyed_once_and_moved_by_the_types_own_function) {
    census counts;
    raw_pool<> pool({.name = "raw", .capacity = 100}, type_of<counted>());
    const auto handles = tabulate(std::uint64_t{50}, [&](std::uint64_t i) {
        return pool.emplace([&](void* memory) { ::new (memory) counted(counts, i); });
    });
    pool.compact();
    EXPECT_EQ(counts.alive(), 50);
    for (std::size_t i = 0; i != 20; ++i) {
        pool.erase(handles[i]);
    }
    EXPECT_EQ(counts.alive(), 50) << "until the compaction";
    EXPECT_EQ(pool.compact().moved, 20U);
    EXPECT_EQ(counts.alive(), 30);
    for (std::size_t i = 20; i != 50; ++i) {
        EXPECT_EQ(static_cast<counted*>(pool.find(handles[i]))->value(), i);
    }
    pool.reset();
    EXPECT_EQ(counts.alive(), 0);
    pool.emplace([&](void* memory) { ::new (memory) counted(counts); });
}

TEST(raw_pool_test, a_construction_that_throws_leaves_nothing_behind) {
    census counts;
    raw_pool<> pool({.name = "raw", .capacity = 10, .reuse_delay = 0}, type_of<throwing>());
    for (int round = 0; round != 1000; ++round) { // more often than the nursery has positions
        fuse now(0);
        EXPECT_THROW(pool.emplace([&](void* memory) { ::new (memory) throwing(now, counts); }),
                     construction_failure);
    }
    EXPECT_EQ(pool.size(), 0U);
    EXPECT_EQ(counts.alive(), 0);
    EXPECT_TRUE(pool.idle());
    fuse never(1000);
    for (int i = 0; i != 10; ++i) {
        pool.emplace([&](void* memory) { ::new (memory) throwing(never, counts); });
    }
    EXPECT_EQ(counts.alive(), 10);
}

TEST(raw_pool_test, a_full_pool_says_so_and_does_not_begin_to_construct) {
    raw_pool<> pool({.name = "raw", .capacity = 2, .reuse_delay = 0, .slot_limit = 2}, three_bytes);
    pool.emplace();
    pool.emplace();
    int calls = 0;
    EXPECT_EQ(pool.try_emplace([&](void*) { ++calls; }), any_handle());
    EXPECT_THAT([&] { pool.emplace([&](void*) { ++calls; }); },
                ThrowsMessage<pool_exhausted>(HasSubstr("pool 'raw' is exhausted")));
    EXPECT_EQ(calls, 0);
}

TEST(raw_pool_test, constructors_may_be_moved_only_and_use_the_pool) {
    raw_pool<> pool({.name = "raw", .capacity = 10}, {.size = 8, .alignment = 8});
    any_handle inner;
    const any_handle outer = pool.emplace([&, owned = move_only(3)](void* memory) {
        inner = pool.emplace(with_value(2));
        with_value(owned.value())(memory);
    });
    EXPECT_EQ(value_of(pool.find(inner)), 2U);
    EXPECT_EQ(value_of(pool.find(outer)), 3U);
    pool.compact();
    EXPECT_EQ(value_of(pool.find(inner)), 2U);
    EXPECT_EQ(value_of(pool.find(outer)), 3U);
}

TEST(raw_pool_test, hooks_see_each_object_before_its_end) {
    std::vector<std::pair<any_handle, std::uint64_t>> seen; // outlives the pool, whose end calls the hook too
    raw_pool<> pool({.name = "raw", .capacity = 10}, {.size = 8, .alignment = 8});
    pool.on_destroy([&](any_handle handle, void* object) { seen.emplace_back(handle, value_of(object)); })
        .release();
    const any_handle one = pool.emplace(with_value(1));
    pool.emplace(with_value(2));
    pool.compact();
    pool.erase(one);
    EXPECT_TRUE(seen.empty());
    pool.compact();
    EXPECT_EQ(seen, (std::vector<std::pair<any_handle, std::uint64_t>>{{one, 1}}));
}

TEST(raw_pool_test, types_and_options_that_can_not_be_are_refused) {
    EXPECT_THAT([] { raw_pool<>({.name = "raw", .capacity = 10}, {.size = 0}); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("pool 'raw': size of the type is 0")));
    EXPECT_THAT([] { raw_pool<>({.name = "raw", .capacity = 10}, {.size = 8, .alignment = 12}); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("pool 'raw': alignment of the type is 12")));
    EXPECT_THAT([] { raw_pool<>({.name = "raw"}, three_bytes); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("pool 'raw': capacity = 0")));
}

TEST(raw_pool_test, objects_that_no_address_space_holds_are_refused) {
    for (const std::size_t size : {std::size_t{1} << 45, std::size_t{1} << 62}) { // the second overflows
        EXPECT_THROW(raw_pool<>({.name = "raw", .capacity = 1000}, {.size = size}), reservation_failed)
            << size;
    }
}

TEST(raw_pool_test, typed_handles_of_a_pool_are_stale_in_it) {
    raw_pool<> raw({.name = "raw", .capacity = 10}, three_bytes);
    pool<int> ints({.name = "ints", .capacity = 10});
    raw.emplace();
    const handle<int> foreign = ints.emplace(7);
    EXPECT_FALSE(raw.contains(foreign));
    EXPECT_FALSE(raw.erase(foreign));
    EXPECT_EQ(raw.find(foreign), nullptr);
    EXPECT_EQ(raw.size(), 1U);
}

TEST(raw_pool_test, threads_create_look_up_and_erase_while_it_is_compacted) {
    census counts;
    raw_pool<> pool({.name = "raw", .capacity = 10'000}, type_of<counted>());
    std::atomic<int> wrong = 0;
    thread_executor executor(2);
    const auto work = [&](std::size_t) {
        std::vector<any_handle> mine;
        for (std::uint64_t i = 0; i != 3000; ++i) {
            mine.push_back(pool.emplace([&](void* memory) { ::new (memory) counted(counts, i); }));
            {
                const auto guard = pool.access();
                wrong += static_cast<counted*>(pool.find(mine.back()))->value() == i ? 0 : 1;
            }
            if (mine.size() > 500) {
                wrong += pool.erase(mine[i % mine.size()]) ? 0 : 1;
                mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(i % mine.size()));
            }
        }
    };
    in_threads(3, work, [&] { pool.compact(executor); });
    EXPECT_EQ(wrong, 0);
    pool.compact();
    EXPECT_EQ(pool.size(), 1500U);
    EXPECT_EQ(counts.alive(), 1500);
}

// AddressSanitizer must not take the living for dead, whatever their neighbours do: see poison.hpp.
TEST(raw_pool_test, objects_of_any_size_stay_whole_while_others_come_and_go_around_them) {
    for (const std::size_t size : {1U, 2U, 3U, 4U, 5U, 7U, 9U, 12U, 13U, 20U, 31U}) {
        raw_pool<> pool({.name = "raw", .capacity = 10'000}, {.size = size, .alignment = 1});
        std::atomic<int> wrong = 0;
        thread_executor executor(2);
        const auto work = [&](std::size_t thread) {
            const int content = static_cast<int>(thread) + 1;
            std::vector<any_handle> mine;
            const auto is_whole = [&](any_handle handle) {
                const auto* const bytes = static_cast<const unsigned char*>(pool.find(handle));
                return std::count(bytes, bytes + size, static_cast<unsigned char>(content)) ==
                       static_cast<std::ptrdiff_t>(size);
            };
            for (std::size_t i = 0; i != 1500; ++i) {
                mine.push_back(
                    pool.emplace([&](void* memory) noexcept { std::memset(memory, content, size); }));
                if (i % 3 == 0) {
                    const auto guard = pool.access();
                    wrong += !pool.contains(mine[i / 2]) || is_whole(mine[i / 2]) ? 0 : 1;
                    pool.erase(mine[i * 5 % mine.size()]);
                }
            }
        };
        in_threads(2, work, [&] { pool.compact(executor); });
        pool.compact();
        for (std::size_t i = 0; i != pool.items().size(); ++i) {
            const auto* const bytes = static_cast<const unsigned char*>(pool.items()[i]);
            wrong += std::count(bytes, bytes + size, bytes[0]) == static_cast<std::ptrdiff_t>(size) ? 0 : 1;
        }
        EXPECT_EQ(wrong, 0) << "objects of " << size << " bytes";
    }
}

} // namespace
} // namespace handlepool::test
