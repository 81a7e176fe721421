// SPDX-License-Identifier: MIT

// What shrink_to_fit gives back to the system, and what stays: of pools of every placement, wherever the
// memory lies, and whoever has used it last.

#include <handlepool/columns.hpp>
#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/memory/virtual_memory.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/raw_stable_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/stats.hpp>

#include <gtest/gtest.h>
#include <tests/support/consistency.hpp>
#include <tests/support/tabulate.hpp>

#include <array>
#include <cstddef>
#include <fstream>
#include <functional>
#include <iterator>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace handlepool::test {
namespace {

std::size_t page_bytes() {
    return detail::virtual_memory::page_size();
}

/// An object of `Size` bytes, all of which are touched. It can be kept.
template <std::size_t Size>
struct sized_object {
    sized_object() noexcept { bytes.fill(7); }
    sized_object(sized_object&&) noexcept = default;
    ~sized_object() { bytes.fill(0); }

    void clear() noexcept { bytes.fill(0); }

    std::array<unsigned char, Size> bytes;
};

template <class Pool>
std::size_t bytes_of_objects(const Pool& pool) {
    return pool.stats().bytes_resident_in_objects;
}

// Kinds of pools: how one is made, and an object of `size` bytes in it.

struct recycling_kind {
    using pool_type = recycling_pool<sized_object<4096>>;
    static constexpr std::size_t size = 4096;
    static pool_type make(const pool_options& options) { return pool_type(options); }
    static auto emplace(pool_type& pool) { return pool.emplace(); }
};
template <class Pool, std::size_t Size>
struct raw_kind {
    using pool_type = Pool;
    static constexpr std::size_t size = Size;
    static pool_type make(const pool_options& options) {
        return pool_type(options, raw_type{.size = Size, .alignment = 8});
    }
    static auto emplace(pool_type& pool) {
        return pool.emplace([](void* memory) { static_cast<unsigned char*>(memory)[Size - 1] = 7; });
    }
};
struct columns_kind {
    using pool_type = pool<columns<sized_object<4096>, sized_object<512>>>;
    static constexpr std::size_t size = 4096 + 512;
    static pool_type make(const pool_options& options) { return pool_type(options); }
    static auto emplace(pool_type& pool) { return pool.emplace(sized_object<4096>(), sized_object<512>()); }
};

template <class Kind>
class pool_shrink_test : public testing::Test {
protected:
    using pool_type = typename Kind::pool_type;
    using handle_type = typename pool_type::handle_type;

    static constexpr std::size_t loaded = 10'000;
    static constexpr std::size_t kept = 10;

    std::vector<handle_type> emplace_many(std::size_t count) {
        return tabulate(count, [&](std::size_t) { return Kind::emplace(pool); });
    }
    static bool is_kept(std::size_t i) { return i % (loaded / kept) == 0; }
    void erase_most(const std::vector<handle_type>& handles) {
        for (std::size_t i = 0; i != handles.size(); ++i) {
            if (!is_kept(i)) {
                ASSERT_TRUE(pool.erase(handles[i]));
            }
        }
        pool.compact();
    }
    /// Pages that so many objects use at the most, wherever they lie.
    static std::size_t pages_of(std::size_t count) {
        return count * (Kind::size / page_bytes() + 2) * page_bytes();
    }

    /// Pages that what goes back together shares with other things, where objects don't fill whole pages.
    static std::size_t shared_pages() { return Kind::size % page_bytes() == 0 ? 0 : 8 * page_bytes(); }

    pool_type pool = Kind::make({.name = "shrunk", .capacity = 2 * loaded, .reuse_delay = 0});
};

using all_kinds = testing::Types<raw_kind<raw_pool<>, 4096>, raw_kind<raw_pool<>, 24>,
                                 raw_kind<raw_stable_pool<>, 4096>, raw_kind<raw_stable_pool<>, 520>,
                                 raw_kind<raw_stable_pool<>, 24>, recycling_kind, columns_kind>;
TYPED_TEST_SUITE(pool_shrink_test, all_kinds);

TYPED_TEST(pool_shrink_test, what_most_objects_have_left_goes_wherever_it_lies) {
    const auto made = this->emplace_many(this->loaded);
    this->pool.compact();
    const std::size_t before = bytes_of_objects(this->pool);
    ASSERT_GE(before, this->loaded * TypeParam::size);
    this->erase_most(made);
    this->pool.shrink_to_fit();
    EXPECT_LE(bytes_of_objects(this->pool), this->pages_of(this->kept)) << before << " before";
    EXPECT_EQ(this->pool.size(), this->kept);
    for (std::size_t i = 0; i != made.size(); ++i) {
        EXPECT_EQ(this->pool.contains(made[i]), this->is_kept(i));
    }
}

TYPED_TEST(pool_shrink_test, all_that_frames_have_left_goes_and_what_comes_then_is_whole) {
    for (int frame = 0; frame != 3; ++frame) {
        this->emplace_many(this->loaded);
        this->pool.compact();
        this->pool.clear();
        this->pool.compact();
    }
    const std::size_t before = bytes_of_objects(this->pool);
    this->pool.shrink_to_fit();
    EXPECT_LE(bytes_of_objects(this->pool), this->shared_pages()) << before << " before";
    const auto made = this->emplace_many(this->loaded);
    this->pool.compact();
    this->pool.shrink_to_fit();
    EXPECT_EQ(this->pool.size(), made.size());
    EXPECT_GE(bytes_of_objects(this->pool), this->loaded * TypeParam::size);
}

// All that they have used; what they have claimed and not used stays theirs.
TYPED_TEST(pool_shrink_test, what_threads_have_used_that_idle_or_have_ended_goes) {
    constexpr std::size_t threads = 8;
    constexpr std::size_t objects_each = 100; // a whole group, and a part of another
    const auto load_and_shrink = [](auto& used) {
        std::latch created(threads);
        std::latch shrunk(1);
        std::vector<std::jthread> idle;
        std::vector<std::jthread> ending;
        for (std::size_t i = 0; i != threads; ++i) {
            (i % 2 == 0 ? idle : ending).emplace_back([&, idles = i % 2 == 0] {
                for (std::size_t object = 0; object != objects_each; ++object) {
                    TypeParam::emplace(used);
                }
                created.arrive_and_wait();
                if (idles) {
                    shrunk.wait();
                }
            });
        }
        ending.clear();
        used.compact();
        used.clear();
        used.compact();
        used.shrink_to_fit();
        const std::size_t left = bytes_of_objects(used);
        shrunk.count_down();
        return left;
    };
    // Too small for huge pages, in which there would be memory that nobody has touched. Of small objects the
    // threads' places share pages with what is left.
    auto small = TypeParam::make({.name = "small", .capacity = threads * objects_each, .reuse_delay = 0});
    EXPECT_LE(load_and_shrink(small), TypeParam::size % page_bytes() == 0 ? 0 : threads * this->pages_of(28));
    EXPECT_LE(load_and_shrink(this->pool), threads * (64 * TypeParam::size + 2 * page_bytes()));
}

TYPED_TEST(pool_shrink_test, is_refused_and_says_so_where_it_would_wait) {
    this->emplace_many(this->loaded);
    this->pool.clear();
    this->pool.compact();
    const std::size_t before = bytes_of_objects(this->pool);
    {
        const auto guard = this->pool.access();
        EXPECT_FALSE(this->pool.try_shrink_to_fit());
        EXPECT_EQ(bytes_of_objects(this->pool), before);
    }
    bool in_compaction = true;
    bool beside_compaction = true;
    const scoped_hook hook = this->pool.on_destroy([&](auto, auto&&) {
        in_compaction = this->pool.try_shrink_to_fit();
        std::thread([&] {
            beside_compaction = this->pool.try_shrink_to_fit();
            EXPECT_THROW(this->pool.shrink_to_fit(), compaction_conflict);
        }).join();
    });
    this->pool.erase(TypeParam::emplace(this->pool));
    this->pool.compact();
    EXPECT_FALSE(in_compaction);
    EXPECT_FALSE(beside_compaction);
    EXPECT_TRUE(this->pool.try_shrink_to_fit());
    EXPECT_LE(bytes_of_objects(this->pool), this->shared_pages());
    EXPECT_LT(bytes_of_objects(this->pool), before);
}

/// Counts what is kept, and what that owns.
struct keeps_memory {
    keeps_memory() : bytes(std::make_unique<std::array<char, 1000>>()) { ++kept; }
    ~keeps_memory() { --kept; }
    void clear() noexcept {}

    inline static int kept = 0;
    std::unique_ptr<std::array<char, 1000>> bytes;
};

TEST(recycling_pool_shrink, nothing_is_kept_in_the_group_that_a_shard_holds_either) {
    recycling_pool<keeps_memory> objects({.name = "kept", .capacity = 1000, .reuse_delay = 0});
    auto made = tabulate(100, [&](int) { return objects.emplace(); });
    objects.compact();
    for (std::size_t i = 0; i != made.size(); ++i) {
        ASSERT_TRUE(i == 70 || objects.erase(made[i]));
    }
    objects.compact();
    EXPECT_EQ(keeps_memory::kept, 100);
    objects.shrink_to_fit();
    EXPECT_EQ(keeps_memory::kept, 1);
    made.clear();
    for (int i = 0; i != 100; ++i) {
        made.push_back(objects.emplace()); // some in places of the same group
    }
    EXPECT_EQ(keeps_memory::kept, 101);
    expect_consistent(objects);
    objects.clear();
    objects.compact();
    objects.shrink_to_fit();
    EXPECT_EQ(keeps_memory::kept, 0);
}

/// The last of some whose constructor throws.
template <std::size_t Size>
struct sized_object_that_fails : sized_object<Size> {
    explicit sized_object_that_fails(std::size_t& left) {
        if (--left == 0) {
            throw std::runtime_error("no more");
        }
    }
};

/// A batch of `count` that fails at its last object, in a pool of any placement.
template <class Pool>
void fail_and_shrink(std::size_t count) {
    using object = typename Pool::value_type;
    Pool pool({.name = "failed", .capacity = 10'000, .reuse_delay = 0});
    std::vector<handle<object>> made;
    std::size_t left = count;
    EXPECT_THROW(pool.emplace_n(count, std::back_inserter(made), std::ref(left)), std::runtime_error);
    EXPECT_GE(bytes_of_objects(pool), (count - 1) * sizeof(object));
    pool.shrink_to_fit();
    EXPECT_EQ(bytes_of_objects(pool), 0U) << "of a batch of " << count;
}

TEST(pool_shrink_after_failure, a_batch_leaves_nothing_whatever_its_size) {
    for (const std::size_t count : {2U, 63U, 64U, 65U, 1000U}) {
        fail_and_shrink<pool<sized_object_that_fails<65'536>>>(count);
        fail_and_shrink<stable_pool<sized_object_that_fails<65'536>>>(count);
    }
}

/// Of the whole process, AddressSanitizer's included; 0 where the system doesn't say so here.
std::size_t resident_pages_of_process() {
    std::ifstream file("/proc/self/statm");
    std::size_t reserved = 0;
    std::size_t resident = 0;
    file >> reserved >> resident;
    return resident;
}

TEST(address_space_of_a_large_pool, costs_nothing_at_its_end) {
    using page = std::array<std::byte, 4096>;
    constexpr std::size_t few = 4096;
    const std::size_t before = resident_pages_of_process();
    {
        pool<page> pages({.name = "pages", .capacity = 1'000'000});
        pages.emplace();
        pages.compact();
        pages.shrink_to_fit();
        EXPECT_LE(resident_pages_of_process(), before + few);
        pages.reset();
        EXPECT_LE(resident_pages_of_process(), before + few);
    }
    EXPECT_LE(resident_pages_of_process(), before + few);
}

} // namespace
} // namespace handlepool::test
