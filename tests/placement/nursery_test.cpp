// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/placement/nursery.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/drain_newborns.hpp>
#include <tests/support/stop_at_every_access.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using layout = default_layout;
using nursery_type = nursery<pool_config<layout, default_policy>>;
using chain_type = newborn_chain<default_policy>;
using value_type = layout::value_type;
using slots_of_newborns = std::vector<std::uint32_t>;

/// Goes through the steps of an emplace one by one.
class nursery_test : public testing::TestWithParam<std::size_t> {
protected:
    nursery_position take() {
        const auto position = newborns.take(chain);
        EXPECT_NE(position, nursery_position::none);
        return position;
    }

    value_type next_handle(std::uint32_t slot) const {
        return layout::value_of(slot, slots.next_tag(slot_index{slot}, layout::make_tag(3, 0)));
    }

    /// Records the owner, but does not publish.
    void own(nursery_position position, std::uint32_t slot) { newborns.own(position, next_handle(slot)); }
    void publish(std::uint32_t slot, nursery_position position) {
        slots.publish(slot_index{slot}, layout::tag_of(next_handle(slot)), location{raw(position)});
    }

    nursery_position emplace(std::uint32_t slot) {
        const nursery_position position = take();
        own(position, slot);
        publish(slot, position);
        return position;
    }
    void erase(std::uint32_t slot) {
        EXPECT_TRUE(slots.kill(layout::value_of(slot, slots.tag(slot_index{slot}))));
    }

    slots_of_newborns drain() {
        slots_of_newborns drained;
        test::drain_newborns(newborns, chain, slots, [&](nursery_position position) {
            drained.push_back(static_cast<std::uint32_t>(layout::index_of(newborns.owner(position))));
        });
        return drained;
    }

    slot_table<pool_config<layout, default_policy>> slots{"slots", 100, 0};
    nursery_type newborns{"nursery", 24 / GetParam(), GetParam()};
    chain_type chain;
};
INSTANTIATE_TEST_SUITE_P(chunks_of, nursery_test, testing::Values(1, 2, 3, 12));

TEST_P(nursery_test, newborns_are_drained_in_the_order_of_their_places) {
    for (const std::uint32_t slot : {5U, 2U, 9U, 1U}) {
        emplace(slot);
    }
    EXPECT_EQ(drain(), (slots_of_newborns{5, 2, 9, 1}));
    EXPECT_EQ(drain(), slots_of_newborns{});
    emplace(7);
    EXPECT_EQ(drain(), slots_of_newborns{7});
}

TEST_P(nursery_test, takes_as_many_as_it_has_positions) {
    EXPECT_EQ(newborns.positions(), 24U);
    for (int i = 0; i != 24; ++i) {
        take();
    }
    EXPECT_EQ(newborns.take(chain), nursery_position::none);
}

TEST_P(nursery_test, drain_stops_at_a_position_without_an_owner) {
    emplace(1);
    const nursery_position open = take(); // its constructor is still running
    emplace(2);
    EXPECT_EQ(drain(), slots_of_newborns{1});
    EXPECT_EQ(drain(), slots_of_newborns{});
    own(open, 3);
    publish(3, open);
    EXPECT_EQ(drain(), (slots_of_newborns{3, 2}));
}

TEST_P(nursery_test, drain_stops_at_an_object_that_is_not_yet_published) {
    emplace(1);
    const nursery_position open = take();
    own(open, 3);
    emplace(2);
    EXPECT_EQ(drain(), slots_of_newborns{1});
    publish(3, open);
    EXPECT_EQ(drain(), (slots_of_newborns{3, 2}));
}

TEST_P(nursery_test, drain_stops_at_an_object_that_is_not_yet_published_in_a_slot_that_was_used_before) {
    emplace(3);
    drain();
    erase(3);
    const nursery_position open = take();
    own(open, 3); // the slot's tag is one behind
    emplace(2);
    EXPECT_EQ(drain(), slots_of_newborns{});
    publish(3, open);
    EXPECT_EQ(drain(), (slots_of_newborns{3, 2}));
}

TEST_P(nursery_test, an_object_erased_in_the_nursery_is_drained_like_a_living_one) {
    emplace(1);
    emplace(2);
    erase(1);
    EXPECT_EQ(drain(), (slots_of_newborns{1, 2}));
}

TEST_P(nursery_test, drain_skips_buried_objects) {
    const nursery_position first = emplace(1);
    emplace(2);
    const nursery_position last = emplace(3);
    newborns.mark_gone(first);
    newborns.mark_gone(last);
    EXPECT_EQ(drain(), slots_of_newborns{2});
    emplace(4);
    EXPECT_EQ(drain(), slots_of_newborns{4});
}

TEST_P(nursery_test, the_last_position_is_used_again_when_it_is_given_back) {
    emplace(1);
    const nursery_position position = take();
    newborns.give_back(chain, position);
    EXPECT_EQ(drain(), slots_of_newborns{1});
    EXPECT_EQ(take(), position);
}

TEST_P(nursery_test, a_middle_position_that_is_given_back_is_skipped) {
    emplace(1);
    const nursery_position outer = take();
    emplace(2); // by the constructor at `outer`, which then throws
    newborns.give_back(chain, outer);
    EXPECT_EQ(drain(), (slots_of_newborns{1, 2}));
    emplace(3);
    EXPECT_EQ(drain(), slots_of_newborns{3});
}

TEST_P(nursery_test, a_vacated_position_is_used_again_before_another_chunk_is_taken) {
    const nursery_position outer = take();
    emplace(1); // by the constructor at `outer`, which then throws
    newborns.give_back(chain, outer);
    std::vector<std::uint32_t> rest;
    for (std::uint32_t slot = 2; chain.positions.put != chain.positions.put_end; ++slot) {
        rest.push_back(slot);
        emplace(slot);
    }
    EXPECT_EQ(emplace(50), outer);
    EXPECT_NE(emplace(51), outer);
    slots_of_newborns expected{50, 1};
    expected.insert(expected.end(), rest.begin(), rest.end());
    expected.push_back(51);
    EXPECT_EQ(drain(), expected);
}

TEST_P(nursery_test, a_vacated_position_that_was_passed_is_not_used_again) {
    const nursery_position outer = take();
    emplace(1);
    newborns.give_back(chain, outer);
    EXPECT_EQ(drain(), slots_of_newborns{1});
    newborns.recycle([](nursery_position) {});
    for (std::uint32_t slot = 2; slot != 14; ++slot) {
        emplace(slot);
    }
    EXPECT_EQ(drain().size(), 12U);
}

TEST_P(nursery_test, all_vacated_positions_are_used_again_whatever_their_number) {
    for (int round = 0; round != 3; ++round) {
        std::vector<nursery_position> outer;
        while (outer.size() != 11) {
            outer.push_back(take());
        }
        emplace(20);
        for (; !outer.empty(); outer.pop_back()) {
            newborns.give_back(chain, outer.back());
        }
        for (std::uint32_t slot = 0; slot != 11; ++slot) {
            emplace(slot); // 24 positions in all
        }
        EXPECT_EQ(drain().size(), 12U);
        newborns.recycle([](nursery_position) {});
        for (std::uint32_t slot = 0; slot != 11; ++slot) {
            erase(slot);
        }
        erase(20);
    }
}

TEST_P(nursery_test, a_batch_goes_behind_what_the_shard_has_taken) {
    emplace(1);
    newborn_batch batch;
    ASSERT_TRUE(newborns.take(chain, 5, batch));
    EXPECT_EQ(drain(), slots_of_newborns{1});
    newborns.append(chain, 5, batch);
    for (std::uint32_t i = 0; i != 5; ++i) {
        own(newborns.position(batch, i), 10 + i);
        publish(10 + i, newborns.position(batch, i));
    }
    emplace(2);
    EXPECT_EQ(drain(), (slots_of_newborns{10, 11, 12, 13, 14, 2}));
}

TEST_P(nursery_test, a_batch_that_is_given_back_leaves_nothing_behind) {
    emplace(1);
    for (int round = 0; round != 10; ++round) {
        newborn_batch batch;
        ASSERT_TRUE(newborns.take(chain, 11, batch));
        newborns.give_back(chain, batch);
    }
    chain_type other;
    other.shard = 1;
    newborn_batch batch;
    EXPECT_TRUE(newborns.take(other, 12, batch)); // another shard has the chunks at once
    newborns.give_back(other, batch);
    newborn_batch too_many;
    EXPECT_FALSE(newborns.take(chain, 25, too_many));
    emplace(2);
    EXPECT_EQ(drain(), (slots_of_newborns{1, 2}));
}

TEST_P(nursery_test, a_batch_whose_constructors_have_taken_positions_of_their_own) {
    for (const bool fails : {false, true}) {
        newborn_batch batch;
        ASSERT_TRUE(newborns.take(chain, 4, batch));
        emplace(1);
        if (fails) {
            newborns.give_back(chain, batch);
        } else {
            newborns.append(chain, 4, batch);
            for (std::uint32_t i = 0; i != 4; ++i) {
                own(newborns.position(batch, i), 10 + i);
                publish(10 + i, newborns.position(batch, i));
            }
        }
        emplace(2);
        auto drained = drain();
        std::ranges::sort(drained);
        EXPECT_EQ(drained, fails ? (slots_of_newborns{1, 2}) : (slots_of_newborns{1, 2, 10, 11, 12, 13}));
        newborns.recycle([](nursery_position) {});
        for (const std::uint32_t slot : drained) {
            erase(slot);
        }
    }
}

TEST_P(nursery_test, nested_constructors_that_all_throw_leave_nothing_behind) {
    for (int round = 0; round != 5; ++round) {
        std::vector<nursery_position> nested;
        for (int depth = 0; depth != 4; ++depth) {
            nested.push_back(take());
        }
        for (; !nested.empty(); nested.pop_back()) {
            newborns.give_back(chain, nested.back());
        }
        emplace(static_cast<std::uint32_t>(round));
        EXPECT_EQ(drain(), slots_of_newborns{static_cast<std::uint32_t>(round)});
        newborns.recycle([](nursery_position) {});
    }
}

TEST_P(nursery_test, drained_positions_come_back_empty) {
    for (int round = 0; round != 10; ++round) {
        for (std::uint32_t slot = 0; slot != 5; ++slot) {
            emplace(slot);
        }
        EXPECT_EQ(drain().size(), 5U);
        newborns.recycle([&](nursery_position first) {
            for (std::uint32_t i = 0; i != newborns.chunk_size(); ++i) {
                EXPECT_EQ(newborns.owner(nursery_position{raw(first) + i}), 0U);
            }
        });
        for (std::uint32_t slot = 0; slot != 5; ++slot) {
            erase(slot);
        }
    }
}

TEST_P(nursery_test, recycled_positions_do_not_pass_for_newborns) {
    nursery_position first{};
    // One chunk more than the first one of the largest size.
    for (std::uint32_t slot = 0; slot != 13; ++slot) {
        const nursery_position position = emplace(slot);
        first = slot == 0 ? position : first;
    }
    EXPECT_EQ(drain().size(), 13U);
    newborns.recycle([](nursery_position) {});
    chain_type other;
    std::vector<nursery_position> taken;
    for (auto position = newborns.take(other); position != nursery_position::none;
         position = newborns.take(other)) {
        taken.push_back(position);
    }
    EXPECT_NE(std::ranges::find(taken, first), taken.end());
    bool found = false;
    test::drain_newborns(newborns, other, slots, [&](nursery_position) { found = true; });
    EXPECT_FALSE(found);
}

/// Stands for the memory of the objects: what trim() and shrink() give back of it.
struct given_back {
    static location location_of(nursery_position position) { return location{raw(position)}; }
    nursery_position end_of_huge_page(nursery_position at) const {
        return nursery_position{(raw(at) + huge_page - 1) / huge_page * huge_page};
    }
    void discard(location first, location last) {
        for (std::uint32_t i = raw(first); i != raw(last); ++i) {
            positions.insert(i);
        }
    }

    std::set<std::uint32_t> positions;
    std::uint32_t huge_page = 1; // positions
};

class nursery_memory_test : public testing::TestWithParam<std::size_t> {
protected:
    using policy = support::tiny_policy<1>; // no chunk keeps its memory for nothing

    /// A shard makes objects in the slots from `first` on. Returns the chunks in which they are.
    std::set<std::uint32_t> create(newborn_chain<policy>& shard, std::uint32_t objects,
                                   std::uint32_t first = 0) {
        std::set<std::uint32_t> chunks;
        for (std::uint32_t slot = first; slot != first + objects; ++slot) {
            const auto position = newborns.take(shard);
            EXPECT_NE(position, nursery_position::none);
            EXPECT_EQ(newborns.owner(position), 0U);
            const auto tag = slots.next_tag(slot_index{slot}, layout::make_tag(3, 0));
            newborns.own(position, layout::value_of(slot, tag));
            slots.publish(slot_index{slot}, tag, location{raw(position)});
            chunks.insert(raw(position) / chunk_size);
        }
        return chunks;
    }
    /// All objects of the shards leave the nursery, and then end.
    void end_frame(const std::vector<newborn_chain<policy>*>& shards, std::uint32_t objects) {
        std::uint32_t drained = 0;
        for (newborn_chain<policy>* shard : shards) {
            test::drain_newborns(newborns, *shard, slots, [&](nursery_position) { ++drained; });
        }
        ASSERT_EQ(drained, objects);
        newborns.recycle([](nursery_position) {});
        memory.positions.clear();
        newborns.trim(memory);
        for (std::uint32_t i = 0; i != objects; ++i) {
            ASSERT_TRUE(slots.kill(layout::value_of(i, slots.tag(slot_index{i}))));
        }
    }
    /// A frame in which a shard makes so many objects, all of which leave the nursery.
    std::set<std::uint32_t> frame(newborn_chain<policy>& shard, std::uint32_t objects) {
        std::set<std::uint32_t> chunks = create(shard, objects);
        end_frame({&shard}, objects);
        return chunks;
    }

    std::uint32_t chunk_size = static_cast<std::uint32_t>(GetParam());
    slot_table<pool_config<layout, policy>> slots{"slots", 20'000, 0};
    nursery<pool_config<layout, policy>> newborns{"nursery", 300, GetParam()};
    newborn_chain<policy> chain;
    given_back memory;
};
INSTANTIATE_TEST_SUITE_P(chunks_of, nursery_memory_test, testing::Values(1, 3, 64));

TEST_P(nursery_memory_test, frames_use_the_same_chunks_again) {
    for (int i = 0; i != 20; ++i) {
        frame(chain, 5 * chunk_size);
    }
    EXPECT_LE(newborns.positions_in_service(), 7 * chunk_size);
}

TEST_P(nursery_memory_test, one_large_frame_leaves_nothing_behind) {
    for (int i = 0; i != 10; ++i) {
        frame(chain, 4 * chunk_size);
    }
    frame(chain, 200 * chunk_size);
    EXPECT_GE(memory.positions.size(), 180 * chunk_size);
    for (int i = 0; i != 10; ++i) {
        frame(chain, 4 * chunk_size);
        EXPECT_LE(memory.positions.size(), 5 * chunk_size) << "a small frame does not pay for a large one";
    }
}

TEST_P(nursery_memory_test, shards_use_their_own_chunks_again) {
    newborn_chain<policy> other;
    other.shard = 1;
    const std::uint32_t objects = 4 * chunk_size;
    std::set<std::uint32_t> mine;
    std::set<std::uint32_t> others;
    for (int i = 0; i != 20; ++i) {
        const bool first = i % 2 == 0; // whoever comes first
        const auto create_mine = [&] { return create(chain, objects, 0); };
        const std::set<std::uint32_t> before = first ? create_mine() : std::set<std::uint32_t>();
        const std::set<std::uint32_t> theirs = create(other, objects, objects);
        const std::set<std::uint32_t> now = first ? before : create_mine();
        if (i >= 10) { // at first, nobody has had enough
            mine.insert(now.begin(), now.end());
            others.insert(theirs.begin(), theirs.end());
        }
        end_frame({&chain, &other}, 2 * objects);
    }
    EXPECT_LE(mine.size(), 6U); // the last one of a frame comes back with the next one
    EXPECT_LE(others.size(), 6U);
    for (const std::uint32_t chunk : mine) {
        EXPECT_FALSE(others.contains(chunk));
    }
    EXPECT_LE(newborns.positions_in_service(), 12 * chunk_size);
}

TEST_P(nursery_memory_test, shards_use_no_chunks_again_that_frames_do_not_need) {
    frame(chain, 200 * chunk_size);
    for (int i = 0; i != 100; ++i) {
        frame(chain, 2 * chunk_size);
    }
    EXPECT_LE(*frame(chain, 2 * chunk_size).rbegin(), 8U);
    EXPECT_EQ(memory.positions.size(), 0U);
}

TEST_P(nursery_memory_test, the_rest_of_a_huge_page_goes_back_with_it) {
    memory.huge_page = 128 * chunk_size;
    frame(chain, 200 * chunk_size);
    EXPECT_EQ(newborns.positions_in_service(), 256 * chunk_size);
    EXPECT_TRUE(memory.positions.contains(256 * chunk_size - 1));
    EXPECT_GE(memory.positions.size(), 240 * chunk_size);
    frame(chain, 255 * chunk_size); // shards take them before others
    EXPECT_EQ(newborns.positions_in_service(), 256 * chunk_size);
    frame(chain, 257 * chunk_size); // there are no more than 300 chunks
    EXPECT_EQ(newborns.positions_in_service(), 300 * chunk_size);
    newborns.reset();
    chain.reset();
    frame(chain, 2 * chunk_size);
    EXPECT_EQ(newborns.positions_in_service(), 128 * chunk_size);
}

TEST_P(nursery_memory_test, what_large_frames_need_again_and_again_stays) {
    frame(chain, 200 * chunk_size);
    for (int i = 0; i != 20; ++i) {
        frame(chain, 200 * chunk_size);
        EXPECT_TRUE(memory.positions.empty());
        frame(chain, chunk_size);
        EXPECT_TRUE(memory.positions.empty());
    }
}

TEST_P(nursery_memory_test, what_shards_hold_stays_with_them) {
    newborn_chain<policy> other;
    other.shard = 1;
    frame(chain, 100 * chunk_size);
    std::set<std::uint32_t> held;
    for (std::uint32_t i = 0; i != 20 * chunk_size; ++i) {
        held.insert(raw(newborns.take(other))); // not published
    }
    for (int i = 0; i != 10; ++i) {
        frame(chain, 150 * chunk_size);
        newborns.shrink(memory);
        for (const std::uint32_t position : held) {
            ASSERT_FALSE(memory.positions.contains(position));
        }
    }
}

TEST_P(nursery_memory_test, shrink_gives_back_what_no_shard_holds) {
    frame(chain, 200 * chunk_size);
    frame(chain, 200 * chunk_size);
    memory.positions.clear();
    newborns.shrink(memory);
    EXPECT_GE(memory.positions.size(), 198 * chunk_size);
    memory.positions.clear();
    newborns.shrink(memory);
    EXPECT_TRUE(memory.positions.empty());
    frame(chain, 299 * chunk_size - 1); // all of them are there
}

TEST_P(nursery_test, after_reset_it_is_empty) {
    emplace(1);
    emplace(2);
    newborns.reset();
    chain.reset();
    EXPECT_EQ(drain(), slots_of_newborns{});
    for (int i = 0; i != 12; ++i) {
        EXPECT_EQ(newborns.owner(take()), 0U);
    }
}

/// A position that a constructor left behind, in a full chunk: its shard wants it again, and compaction wants
/// to pass it.
struct vacated_position {
    using policy = support::step_policy;

    vacated_position() {
        position = take();
        fill(1, take());
        newborns.give_back(chain, position);
    }
    nursery_position take() {
        const auto taken = newborns.take(chain);
        EXPECT_NE(taken, nursery_position::none);
        return taken;
    }
    void fill(std::uint32_t slot, nursery_position at) {
        const auto tag = slots.next_tag(slot_index{slot}, layout::make_tag(3, 0));
        newborns.own(at, layout::value_of(slot, tag));
        slots.publish(slot_index{slot}, tag, location{raw(at)});
    }
    void drain() {
        test::drain_newborns(newborns, chain, slots, [&](nursery_position at) {
            drained.push_back(static_cast<std::uint32_t>(layout::index_of(newborns.owner(at))));
        });
    }
    void expect_both_drained_once() {
        drain();
        std::ranges::sort(drained);
        EXPECT_EQ(drained, (slots_of_newborns{1, 2}));
    }

    slot_table<pool_config<layout, policy>> slots{"slots", 10, 0};
    nursery<pool_config<layout, policy>> newborns{"nursery", 4, 2};
    newborn_chain<policy> chain;
    nursery_position position{};
    slots_of_newborns drained;
};

TEST(nursery_step_test, a_vacated_position_that_its_shard_takes_is_not_passed) {
    test::stop_at_every_access<vacated_position>([](vacated_position& at) { at.fill(2, at.take()); },
                                                 [](vacated_position& at) { at.drain(); },
                                                 [](vacated_position& at) { at.expect_both_drained_once(); });
}

TEST(nursery_step_test, a_vacated_position_that_compaction_passes_is_not_taken) {
    test::stop_at_every_access<vacated_position>([](vacated_position& at) { at.drain(); },
                                                 [](vacated_position& at) { at.fill(2, at.take()); },
                                                 [](vacated_position& at) { at.expect_both_drained_once(); });
}

// The chain leads from chunk 1 to 0 and then to 2: behind the last position of chunk 1 stands, by its number,
// the first of chunk 2, but in the chain a newborn lies between them.
TEST(nursery_chunk_order_test, a_position_given_back_hides_no_newborn_behind_it) {
    slot_table<pool_config<layout, default_policy>> slots("slots", 10, 0);
    nursery_type newborns("nursery", 5, 1);
    const auto take = [&](chain_type& shard) {
        const auto position = newborns.take(shard);
        EXPECT_NE(position, nursery_position::none);
        return position;
    };
    const auto fill = [&](nursery_position position, std::uint32_t slot) {
        const auto tag = slots.next_tag(slot_index{slot}, layout::make_tag(3, 0));
        newborns.own(position, layout::value_of(slot, tag));
        slots.publish(slot_index{slot}, tag, location{raw(position)});
    };
    const auto drain = [&](chain_type& shard) {
        slots_of_newborns drained;
        test::drain_newborns(newborns, shard, slots, [&](nursery_position position) {
            drained.push_back(static_cast<std::uint32_t>(layout::index_of(newborns.owner(position))));
        });
        newborns.recycle([](nursery_position) {});
        return drained;
    };

    // Others free the chunks 1, 0 and 2, and a shard takes them in this order.
    chain_type one;
    one.shard = 1;
    chain_type other;
    other.shard = 2;
    ASSERT_EQ(take(other), nursery_position{0});
    ASSERT_EQ(take(one), nursery_position{1});
    ASSERT_EQ(take(one), nursery_position{2});
    ASSERT_EQ(take(one), nursery_position{3});
    ASSERT_EQ(take(other), nursery_position{4});
    chain_type shard;
    fill(nursery_position{1}, 1);
    drain(one);
    const nursery_position outer = take(shard);
    fill(nursery_position{0}, 2);
    drain(other);
    const nursery_position survivor = take(shard);
    fill(nursery_position{2}, 3);
    drain(one);
    const nursery_position inner = take(shard);
    ASSERT_EQ((std::vector{raw(outer), raw(survivor), raw(inner)}), (std::vector<std::uint32_t>{1, 0, 2}));
    fill(survivor, 5);
    newborns.give_back(shard, inner); // its constructor throws, and so does the one that called it
    newborns.give_back(shard, outer);
    EXPECT_EQ(drain(shard), slots_of_newborns{5});
}

// Memory that a throwing constructor has written goes round through compaction to another shard: plain, so
// that ThreadSanitizer reports it when nothing orders the two writers.
TEST(nursery_order_test, what_a_throwing_constructor_wrote_happens_before_the_next_use_of_its_memory) {
    slot_table<pool_config<layout, default_policy>> slots("slots", 10, 0);
    nursery_type newborns("nursery", 2, 1);
    std::vector<int> memory(newborns.positions());
    chain_type shard;
    std::jthread maker([&] {
        const nursery_position outer = newborns.take(shard);
        newborns.take(shard); // by the constructor at `outer`, which then throws
        memory[raw(outer)] = 1;
        newborns.give_back(shard, outer);
    });
    for (bool recycled = false; !recycled; std::this_thread::yield()) {
        test::drain_newborns(newborns, shard, slots, [](nursery_position) {});
        newborns.recycle([&](nursery_position) { recycled = true; });
    }
    chain_type other;
    const auto position = newborns.take(other);
    ASSERT_EQ(position, nursery_position{0});
    memory[raw(position)] = 2;
}

} // namespace
} // namespace handlepool::test
