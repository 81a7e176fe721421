// SPDX-License-Identifier: MIT

// Frames of stable pools in which groups of places go from shards to compaction and back: no place is given
// out twice, and there is always one while there is room for an object.

#include <handlepool/recycling_pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/recycled_object.hpp>
#include <tests/support/stop_at_every_access.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

/// Objects by their handles. Knows what each one holds, and that no two are in one place.
template <class Pool>
class known_objects {
public:
    using handle_type = typename Pool::handle_type;

    explicit known_objects(Pool& whose) : pool_(whose) {}

    /// False when the pool makes none.
    bool emplace() {
        const handle_type made = pool_.try_emplace(next_);
        return made && values_.emplace(made, next_++).second;
    }
    void erase(handle_type one) {
        EXPECT_TRUE(pool_.erase(one));
        EXPECT_EQ(values_.erase(one), 1U);
    }
    std::vector<handle_type> handles() const {
        std::vector<handle_type> all;
        for (const auto& [handle, value] : values_) {
            all.push_back(handle);
        }
        return all;
    }
    std::size_t size() const { return values_.size(); }

    void expect_all_found() const {
        std::set<const void*> places;
        for (const auto& [handle, value] : values_) {
            const auto* const found = pool_.find(handle);
            ASSERT_NE(found, nullptr);
            EXPECT_EQ(*found, value);
            EXPECT_TRUE(places.insert(found).second) << "two objects in one place";
        }
    }

private:
    Pool& pool_;
    std::map<handle_type, std::uint64_t> values_;
    std::uint64_t next_ = 1;
};

template <class Body>
void in_another_thread(Body body) {
    std::thread(body).join();
}

TEST(pool_stable_frames, after_reset_no_place_is_given_out_twice) {
    using pool_type = stable_pool<std::uint64_t, with_policy<support::tiny_policy<2>>>;
    pool_type pool({.name = "reset", .capacity = 40, .reuse_delay = 0});
    for (int round = 0; round != 3; ++round) {
        {
            // Groups that compaction owns because they are full, that it offers, and that this shard holds.
            known_objects objects(pool);
            for (int i = 0; i != 13; ++i) {
                ASSERT_TRUE(objects.emplace());
            }
            pool.compact();
            objects.erase(objects.handles()[2]);
            pool.compact();
        }
        pool.reset();

        known_objects objects(pool);
        for (int frame = 0; frame != 4; ++frame) {
            ASSERT_TRUE(objects.emplace()); // perhaps in a group of which a place is left to this thread
            pool.compact();
            objects.erase(objects.handles().front());
            pool.compact();
            in_another_thread([&] {
                for (int i = 0; i != 3; ++i) {
                    ASSERT_TRUE(objects.emplace());
                }
            });
            for (int i = 0; i != 2; ++i) {
                ASSERT_TRUE(objects.emplace());
            }
            objects.expect_all_found();
        }
        expect_consistent(pool);
        objects.expect_all_found();
    }
}

/// Calls what the test wants whenever compaction has taken groups over, before it offers any.
struct take_over_policy : support::tiny_policy<16, support::step_policy> {
    inline static std::function<void()> taken_over;

    template <class T>
    struct atomic : support::step_atomic<T> {
        using support::step_atomic<T>::step_atomic;
        T fetch_and(T value, std::memory_order order) noexcept {
            const T before = support::step_atomic<T>::fetch_and(value, order);
            if (const auto call = std::exchange(taken_over, nullptr)) {
                call();
            }
            return before;
        }
    };
};

/// A pool whose objects are spread over as many groups as can be: in each frame all groups get holes, and
/// while compaction, or what shrinks the pool, has taken the first of them over, another thread makes all the
/// objects that there is room for.
template <bool Shrinks>
struct spread_objects {
    using pool_type = stable_pool<std::uint64_t, with_policy<take_over_policy>>;
    using handle_type = pool_type::handle_type;
    static constexpr std::size_t capacity = 160;

    spread_objects() {
        while (objects.size() != capacity / 2) {
            EXPECT_TRUE(objects.emplace());
            first = first == nullptr ? pool.find(objects.handles().front()) : first;
        }
        pool.compact();
        // Fewer objects stay in each group in each frame, so that they are in more groups.
        for (const std::size_t left : {12U, 9U, 8U, 6U, 5U, 4U, 3U}) {
            make_holes(left);
            take_over_policy::taken_over = [this] { in_another_thread([this] { fill(); }); };
            take_groups_over();
            EXPECT_EQ(take_over_policy::taken_over, nullptr);
            erased = 0;
        }
        make_holes(2);
    }
    void make_holes(std::size_t left) {
        leave_in_each_group(left);
        pool.compact();
        if (!Shrinks) {
            erase_one_in_each_group();
        }
    }
    void take_groups_over() {
        if (Shrinks) {
            pool.shrink_to_fit();
        } else {
            pool.compact();
        }
    }

    std::map<std::ptrdiff_t, std::vector<handle_type>> groups() const {
        std::map<std::ptrdiff_t, std::vector<handle_type>> found;
        for (const handle_type each : objects.handles()) {
            found[(pool.find(each) - first) / static_cast<std::ptrdiff_t>(take_over_policy::nursery_chunk)]
                .push_back(each);
        }
        return found;
    }
    void leave_in_each_group(std::size_t most) {
        for (auto& [number, group] : groups()) {
            for (; group.size() > most; group.pop_back()) {
                objects.erase(group.back());
            }
        }
    }
    void erase_one_in_each_group() {
        for (auto& [number, group] : groups()) {
            objects.erase(group.front());
            ++erased;
        }
    }
    /// What is erased needs its room until the compaction is over.
    void fill() {
        while (objects.size() + erased < capacity) {
            if (!objects.emplace()) {
                ADD_FAILURE() << "no place, though there are only " << objects.size() << " objects";
                return;
            }
        }
    }
    void expect_whole() {
        objects.expect_all_found();
        expect_consistent(pool);
        EXPECT_EQ(pool.size(), objects.size());
        objects.expect_all_found();
    }

    pool_type pool{{.name = "spread", .capacity = capacity, .reuse_delay = 0, .max_threads = 3}};
    known_objects<pool_type> objects{pool};
    const std::uint64_t* first = nullptr; // the first place
    std::size_t erased = 0;
};

template <class Scene>
class pool_groups_taken_over : public testing::Test {};
using scenes_of_groups = testing::Types<spread_objects<false>, spread_objects<true>>;
TYPED_TEST_SUITE(pool_groups_taken_over, scenes_of_groups);

TYPED_TEST(pool_groups_taken_over, leave_a_place_for_each_object_that_there_is_room_for) {
    stop_at_every_access<TypeParam>([](TypeParam& at) { at.take_groups_over(); },
                                    [](TypeParam& at) { at.fill(); },
                                    [](TypeParam& at) { at.expect_whole(); });
}

/// Objects of a page each, so that one that loses its memory is seen.
struct page_of_numbers {
    explicit page_of_numbers(std::uint64_t value) { numbers.fill(value); }
    friend bool operator==(const page_of_numbers& object, std::uint64_t value) {
        return object.numbers.front() == value && object.numbers.back() == value;
    }

    alignas(4096) std::array<std::uint64_t, 512> numbers;
};

/// Groups of two: full ones, those with holes, and the one that the other thread's shard holds.
template <template <class, class> class Pool>
struct holes_beside_objects {
    using pool_type = Pool<page_of_numbers, with_policy<support::tiny_policy<2, support::step_policy>>>;

    holes_beside_objects() {
        for (int i = 0; i != 7; ++i) {
            EXPECT_TRUE(objects.emplace());
        }
        pool.compact();
        const auto made = objects.handles();
        for (const std::size_t gone : {0U, 2U, 3U, 4U}) {
            objects.erase(made[gone]);
        }
        pool.compact();
    }
    void emplace_some() {
        for (int i = 0; i != 5; ++i) {
            EXPECT_TRUE(objects.emplace());
        }
    }
    void expect_whole() {
        objects.expect_all_found();
        expect_consistent(pool);
        objects.expect_all_found();
    }

    pool_type pool{{.name = "pages", .capacity = 20, .reuse_delay = 0, .max_threads = 3}};
    known_objects<pool_type> objects{pool};
};
template <class Scene>
class pool_shrink_stopped : public testing::Test {};
using shrunk_scenes = testing::Types<holes_beside_objects<pool>, holes_beside_objects<stable_pool>>;
TYPED_TEST_SUITE(pool_shrink_stopped, shrunk_scenes);

TYPED_TEST(pool_shrink_stopped, takes_no_memory_from_objects_that_are_made_meanwhile) {
    stop_at_every_access<TypeParam>([](TypeParam& at) { at.pool.shrink_to_fit(); },
                                    [](TypeParam& at) { at.emplace_some(); },
                                    [](TypeParam& at) { at.expect_whole(); });
}

TYPED_TEST(pool_shrink_stopped, takes_no_memory_from_objects_that_are_being_made) {
    stop_at_every_access<TypeParam>([](TypeParam& at) { at.emplace_some(); },
                                    [](TypeParam& at) { at.pool.shrink_to_fit(); },
                                    [](TypeParam& at) { at.expect_whole(); });
}

/// A pool that keeps objects in some places, and a batch of others that fails at its last one.
struct failing_batch {
    using pool_type =
        recycling_pool<recycled_object, with_policy<support::tiny_policy<2, support::step_policy>>>;

    failing_batch() {
        std::vector<pool_type::handle_type> made;
        pool.emplace_n(5, std::back_inserter(made), 1U);
        pool.compact();
        for (const std::size_t gone : {0U, 1U, 2U}) {
            EXPECT_TRUE(pool.erase(made[gone]));
        }
        pool.compact();
    }
    void fail() {
        seen.fail_at(5);
        std::vector<pool_type::handle_type> made;
        EXPECT_THROW(pool.emplace_n(6, std::back_inserter(made), 2U), construction_failure);
    }
    void expect_each_destroyed_once() {
        seen.fail_never();
        expect_consistent(pool);
        EXPECT_EQ(pool.size(), 2U);
        pool.shrink_to_fit();
        EXPECT_LE(seen.constructed() - seen.destroyed(), 2 + 1) << "another shard may keep one";
        while (pool.try_emplace(3U)) { // in every place, kept or not
        }
    }

    recycled_object::counts seen;
    pool_type pool{{.name = "failing", .capacity = 20, .reuse_delay = 0, .max_threads = 3}};
};

TEST(pool_recycling_stopped, what_a_batch_gives_back_while_the_pool_shrinks_is_destroyed_once) {
    stop_at_every_access<failing_batch>([](failing_batch& at) { at.pool.shrink_to_fit(); },
                                        [](failing_batch& at) { at.fail(); },
                                        [](failing_batch& at) { at.expect_each_destroyed_once(); });
}

TEST(pool_recycling_stopped, a_batch_that_fails_while_the_pool_shrinks_loses_no_object) {
    stop_at_every_access<failing_batch>([](failing_batch& at) { at.fail(); },
                                        [](failing_batch& at) { at.pool.shrink_to_fit(); },
                                        [](failing_batch& at) { at.expect_each_destroyed_once(); });
}

} // namespace
} // namespace handlepool::test
