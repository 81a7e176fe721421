// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <tests/support/objects_at.hpp>
#include <tests/support/random.hpp>
#include <tests/support/stop_at_every_access.hpp>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;

constexpr std::uint32_t pool_id = 3;
constexpr std::size_t size = 16;

template <class Layout>
class slot_table_test : public testing::Test {
protected:
    using table = slot_table<pool_config<Layout, default_policy>>;

    /// Puts an object at a location into the slot, as an emplace does.
    typename Layout::value_type publish(std::uint32_t index, std::uint32_t where) {
        const auto tag = slots.next_tag(slot_index{index}, fresh_tag);
        slots.publish(slot_index{index}, tag, location{where});
        return Layout::value_of(index, tag);
    }

    /// Location of the handle's object.
    std::optional<std::uint32_t> find(typename Layout::value_type handle) {
        const char* const found = slots.lookup().find(handle, test::objects_at{objects});
        return found == nullptr ? std::nullopt : std::optional(static_cast<std::uint32_t>(found - objects));
    }

    char objects[1000] = {};
    std::uint32_t fresh_tag = Layout::make_tag(pool_id, 0);
    table slots{"slots", size, 0};
};

using layouts = testing::Types<default_layout, handle_layout<16, 12, 4>, handle_layout<40, 16, 8>>;
TYPED_TEST_SUITE(slot_table_test, layouts);

TYPED_TEST(slot_table_test, a_published_handle_finds_its_location) {
    const auto first = this->publish(0, 100);
    const auto last = this->publish(size - 1, 200);
    EXPECT_EQ(this->find(first), 100U);
    EXPECT_EQ(this->find(last), 200U);
    EXPECT_TRUE(this->slots.is_alive(first));
}

TYPED_TEST(slot_table_test, a_killed_handle_finds_nothing) {
    const auto handle = this->publish(5, 100);
    EXPECT_TRUE(this->slots.kill(handle));
    EXPECT_EQ(this->find(handle), std::nullopt);
    EXPECT_FALSE(this->slots.is_alive(handle));
    EXPECT_FALSE(this->slots.kill(handle));
}

TYPED_TEST(slot_table_test, an_old_handle_neither_finds_nor_kills_the_slots_next_object) {
    const auto old = this->publish(5, 100);
    this->slots.kill(old);
    const auto young = this->publish(5, 200);
    EXPECT_NE(old, young);
    EXPECT_EQ(this->find(old), std::nullopt);
    EXPECT_FALSE(this->slots.kill(old));
    EXPECT_EQ(this->find(young), 200U);
}

TYPED_TEST(slot_table_test, a_move_changes_the_location_and_nothing_else) {
    const auto handle = this->publish(5, 100);
    this->slots.set_location(slot_index{5}, location{300});
    EXPECT_EQ(this->find(handle), 300U);
    EXPECT_EQ(raw(this->slots.location_of(slot_index{5})), 300U);
    EXPECT_EQ(this->slots.tag(slot_index{5}), TypeParam::tag_of(handle));
    EXPECT_EQ(this->slots.tag_relaxed(slot_index{5}), TypeParam::tag_of(handle));
}

TYPED_TEST(slot_table_test, each_object_of_a_slot_is_two_generations_on) {
    for (std::uint32_t generation = 1; generation < 21; generation += 2) {
        const auto handle = this->publish(5, 0);
        EXPECT_EQ(TypeParam::generation_of(TypeParam::tag_of(handle)), generation);
        EXPECT_EQ(TypeParam::pool_id_of(TypeParam::tag_of(handle)), pool_id);
        this->slots.kill(handle);
        EXPECT_EQ(TypeParam::generation_of(this->slots.tag(slot_index{5})), generation + 1);
    }
}

TYPED_TEST(slot_table_test, a_slot_that_was_never_used_starts_from_the_fresh_tag) {
    this->fresh_tag = TypeParam::make_tag(pool_id, 10);
    EXPECT_EQ(this->slots.next_tag(slot_index{7}, this->fresh_tag), TypeParam::make_tag(pool_id, 11));
    const auto handle = this->publish(7, 0);
    this->slots.kill(handle);
    this->fresh_tag = TypeParam::make_tag(pool_id, 100);
    EXPECT_EQ(this->slots.next_tag(slot_index{7}, this->fresh_tag), TypeParam::make_tag(pool_id, 13));
}

TYPED_TEST(slot_table_test, the_last_generation_dies_without_touching_the_pool_id) {
    const auto tag = TypeParam::make_tag(pool_id, TypeParam::last_generation);
    this->slots.publish(slot_index{5}, tag, location{0});
    EXPECT_TRUE(this->slots.kill(TypeParam::value_of(5, tag)));
    EXPECT_EQ(TypeParam::pool_id_of(this->slots.tag(slot_index{5})), pool_id);
    EXPECT_FALSE(TypeParam::is_alive(this->slots.tag(slot_index{5})));
}

TYPED_TEST(slot_table_test, discard_forgets_everything) {
    const auto handle = this->publish(5, 100);
    this->slots.reset();
    EXPECT_EQ(this->find(handle), std::nullopt);
    EXPECT_EQ(this->slots.tag(slot_index{5}), 0U);
    EXPECT_EQ(raw(this->slots.location_of(slot_index{5})), 0U);
}

TYPED_TEST(slot_table_test, refuses_forged_values) {
    using value_type = typename TypeParam::value_type;
    const auto live = this->publish(5, 100);
    const auto dead = this->publish(6, 101);
    this->slots.kill(dead);
    const auto tag_of_live = TypeParam::tag_of(live);

    const std::vector<value_type> forged{
        0,
        static_cast<value_type>(~value_type{0}),
        TypeParam::value_of(size, tag_of_live),                      // just past the table
        TypeParam::value_of(~std::uint64_t{0}, tag_of_live),         // far past it
        TypeParam::value_of(7, TypeParam::make_tag(pool_id, 1)),     // a slot that was never used
        TypeParam::value_of(7, this->fresh_tag),                     //
        TypeParam::value_of(7, 0),                                   // its tag, exactly
        TypeParam::value_of(6, TypeParam::tag_of(dead) + 1),         // the tag of a free slot, exactly
        TypeParam::value_of(6, TypeParam::tag_of(dead) + 2),         // the next generation of a free slot
        TypeParam::value_of(5, tag_of_live + 1),                     // of a living one
        TypeParam::value_of(5, tag_of_live + 2),                     //
        TypeParam::value_of(5, tag_of_live - 1),                     //
        TypeParam::value_of(5, TypeParam::make_tag(pool_id + 1, 1)), // another pool's
    };
    for (const auto value : forged) {
        EXPECT_FALSE(this->slots.is_alive(value)) << std::hex << value;
        EXPECT_EQ(this->find(value), std::nullopt) << std::hex << value;
        EXPECT_FALSE(this->slots.kill(value)) << std::hex << value;
    }
    EXPECT_EQ(this->find(live), 100U);
}

// One place less than it has, so that a look past the end finds what the test has put there.
struct cut_off_policy : default_policy {
    template <class T>
    struct array : virtual_array<T> {
        using virtual_array<T>::virtual_array;

        std::size_t size() const noexcept { return virtual_array<T>::size() - 1; }
    };
};

TEST(slot_table_bound_test, a_slot_past_the_end_names_nothing_whatever_stands_there) {
    char object = 0;
    slot_table<pool_config<default_layout, cut_off_policy>> slots("slots", size + 1, 0);
    const auto tag = default_layout::make_tag(pool_id, 1);
    slots.publish(slot_index{size - 1}, tag, location{0});
    slots.publish(slot_index{size}, tag, location{0});
    EXPECT_TRUE(slots.is_alive(default_layout::value_of(size - 1, tag)));
    const auto past_the_end = default_layout::value_of(size, tag);
    EXPECT_EQ(slots.lookup().find(past_the_end, test::objects_at{&object}), nullptr);
    EXPECT_FALSE(slots.is_alive(past_the_end));
    EXPECT_FALSE(slots.kill(past_the_end));
    EXPECT_EQ(slots.tag(slot_index{size}), tag);
}

TYPED_TEST(slot_table_test, refuses_every_one_bit_flip_of_a_live_handle) {
    using value_type = typename TypeParam::value_type;
    std::vector<value_type> handles;
    for (std::uint32_t index = 0; index != size; ++index) {
        handles.push_back(this->publish(index, index));
        if (index % 2 == 0) { // so that neighbours differ in their generation too
            this->slots.kill(handles[index]);
            handles[index] = this->publish(index, index);
        }
    }
    for (const auto handle : handles) {
        for (unsigned bit = 0; bit != sizeof(value_type) * 8; ++bit) {
            const auto flipped = static_cast<value_type>(handle ^ (value_type{1} << bit));
            // A flip within the index may name another living object: then it must be exactly that.
            const auto index = TypeParam::index_of(flipped);
            const bool exact = index < size && handles[index] == flipped;
            EXPECT_EQ(this->slots.is_alive(flipped), exact);
            EXPECT_EQ(this->find(flipped).has_value(), exact);
            if (!exact) {
                EXPECT_FALSE(this->slots.kill(flipped));
            }
        }
    }
    for (const auto handle : handles) {
        EXPECT_TRUE(this->slots.is_alive(handle));
    }
}

TYPED_TEST(slot_table_test, refuses_random_values) {
    using value_type = typename TypeParam::value_type;
    test::random_source random;
    const auto live = this->publish(5, 100);
    for (int i = 0; i != 200'000; ++i) {
        // Half of them keep a good index, so that the tag is what they fail by.
        auto value = static_cast<value_type>(random.bits());
        if (i % 2 == 0) {
            value = TypeParam::value_of(random.below(size), TypeParam::tag_of(value));
        }
        if (value != live) {
            ASSERT_FALSE(this->find(value).has_value()) << std::hex << value;
            ASSERT_FALSE(this->slots.kill(value)) << std::hex << value;
        }
    }
    EXPECT_TRUE(this->slots.is_alive(live));
}

TYPED_TEST(slot_table_test, of_all_threads_that_kill_one_handle_exactly_one_wins) {
    constexpr int threads = 4;
    constexpr int rounds = 2000;
    auto handle = this->publish(5, 0);
    std::atomic<int> winners{0};
    int wrong = 0;
    std::barrier start(threads);
    std::barrier end(threads, [&]() noexcept {
        wrong += winners.exchange(0) != 1 ? 1 : 0;
        handle = this->publish(5, 0);
    });
    std::vector<std::jthread> killers;
    for (int thread = 0; thread != threads; ++thread) {
        killers.emplace_back([&] {
            for (int round = 0; round != rounds; ++round) {
                start.arrive_and_wait();
                if (this->slots.kill(handle)) {
                    ++winners;
                }
                end.arrive_and_wait();
            }
        });
    }
    killers.clear();
    EXPECT_EQ(wrong, 0);
}

// A test of the tag and a store after it would let both win.
TEST(slot_table_step_test, a_killer_stopped_at_any_access_wins_only_if_no_other_does) {
    struct scene {
        slot_table<pool_config<default_layout, support::step_policy>> slots{"slots", size, 0};
        std::uint64_t handle = default_layout::value_of(5, default_layout::make_tag(pool_id, 1));
        int winners = 0;

        scene() { slots.publish(slot_index{5}, default_layout::tag_of(handle), location{0}); }
    };
    test::stop_at_every_access<scene>([](scene& at) { at.winners += at.slots.kill(at.handle) ? 1 : 0; },
                                      [](scene& at) { at.winners += at.slots.kill(at.handle) ? 1 : 0; },
                                      [](scene& at) { EXPECT_EQ(at.winners, 1); });
}

// Objects are plain, and nothing but the tag orders them: ThreadSanitizer reports a look that does not.
class slot_table_order_test : public testing::Test {
protected:
    static constexpr std::uint32_t count = 1000;
    static constexpr auto tag = default_layout::make_tag(pool_id, 1);

    /// Makes objects in a thread of its own, while `take(index, handle)` waits for each and returns its
    /// location.
    template <class Take>
    void expect_complete_objects(Take take) {
        const std::jthread maker([this] {
            for (std::uint32_t index = 0; index != count; ++index) {
                objects[index] = index + 1;
                slots.publish(slot_index{index}, tag, location{index});
            }
        });
        for (std::uint32_t index = 0; index != count; ++index) {
            ASSERT_EQ(objects[take(index, default_layout::value_of(index, tag))], index + 1);
        }
    }

    static void await(auto condition) {
        while (!condition()) {
            std::this_thread::yield();
        }
    }

    slot_table<pool_config<default_layout, default_policy>> slots{"slots", count, 0};
    std::vector<std::uint32_t> objects = std::vector<std::uint32_t>(count);
};

TEST_F(slot_table_order_test, who_finds_an_object_sees_it_complete) {
    expect_complete_objects([this](std::uint32_t, std::uint64_t handle) {
        std::uint32_t* found = nullptr;
        await([&] {
            return (found = slots.lookup().find(handle, test::objects_at{objects.data()})) != nullptr;
        });
        return static_cast<std::size_t>(found - objects.data());
    });
}

TEST_F(slot_table_order_test, who_knows_that_an_object_lives_sees_it_complete) {
    expect_complete_objects([this](std::uint32_t index, std::uint64_t handle) {
        await([&] { return slots.is_alive(handle); });
        return raw(slots.location_of(slot_index{index}));
    });
}

TEST_F(slot_table_order_test, who_kills_an_object_sees_it_complete) {
    expect_complete_objects([this](std::uint32_t index, std::uint64_t handle) {
        await([&] { return slots.kill(handle); });
        return raw(slots.location_of(slot_index{index}));
    });
}

TEST_F(slot_table_order_test, who_reads_a_tag_sees_the_object_complete) {
    expect_complete_objects([this](std::uint32_t index, std::uint64_t) {
        await([&] { return slots.tag(slot_index{index}) == tag; });
        return raw(slots.location_of(slot_index{index}));
    });
}

// A sweep learns of an object from the tag that its eraser left, not from its maker's.
TEST_F(slot_table_order_test, who_reads_the_tag_of_a_dead_object_sees_it_complete) {
    const std::jthread eraser([this] {
        for (std::uint32_t index = 0; index != count; ++index) {
            await([&] { return slots.kill(default_layout::value_of(index, tag)); });
        }
    });
    expect_complete_objects([this](std::uint32_t index, std::uint64_t) {
        await([&] { return slots.tag(slot_index{index}) == tag + 1; });
        return raw(slots.location_of(slot_index{index}));
    });
}

TEST(slot_table_memory_test, slots_that_were_never_used_cost_no_memory) {
    slot_table<pool_config<default_layout, default_policy>> slots("slots", std::size_t{1} << 32, 0);
    EXPECT_EQ(slots.size(), std::size_t{1} << 32);
    EXPECT_EQ(slots.memory().reserved, std::size_t{8} << 32);
    EXPECT_FALSE(slots.is_alive(default_layout::value_of((std::size_t{1} << 32) - 1, 1)));
    EXPECT_EQ(slots.tag(slot_index{12345}), 0U);
}

} // namespace
} // namespace handlepool::test
