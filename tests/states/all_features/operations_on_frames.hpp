// SPDX-License-Identifier: MIT
#pragma once

#include "checks.hpp"
#include "checks_of_containers.hpp"
#include "checks_of_the_log.hpp"
#include "operations_on_members.hpp"
#include "operations_on_objects.hpp"
#include "operations_on_properties.hpp"

#include <handlepool/sort.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

/// What ends a frame, and all that is done by one thread alone.
namespace handlepool::test {

/// What was true before a step in which frames end.
template <class Kind>
struct before_frame {
    explicit before_frame(game<Kind>& in) : next_id(in.truth.next_id), store(in.truth.pool.store) {
        for (const auto& [id, object] : in.truth.pool.objects) {
            if (object.ended) {
                waiting.insert(id);
            }
        }
        in.ends.clear();
        in.begins.clear();
        in.second_ends.clear();
        in.second_begins.clear();
    }

    id_type next_id;
    std::vector<id_type> store;
    std::set<id_type> waiting;
};

enum class frame_extent { whole, part, exclusive };

/// Looks at the store, notes what has come into it, and compares what hooks have seen.
template <class Kind, class Pool>
void look(game<Kind>& in, Pool& pool) {
    in.truth.pool.store = look_at_store(in, pool);
    // What hooks do may end further frames of the pool.
    const std::uint64_t now = in.frame_of_pool() - (in.is_exclusive ? 0 : 1);
    for (const id_type id : in.truth.pool.store) {
        auto& object = in.truth.pool.objects.at(id);
        if (object.taken_in_until == ~std::uint64_t{0}) {
            object.taken_in_until = now;
            object.taken_in_from = (std::min)(in.frame_of_last_look, now);
        }
        EXPECT_EQ(object.birth_was_told, !object.ended || object.birth_was_told) << "no hook saw its birth";
    }
    in.frame_of_last_look = in.frame_of_pool();
    EXPECT_TRUE(in.awaited_by_sinks.empty()) << "a sink was not called";
    if (in.second_deaths.connected()) {
        EXPECT_EQ(in.second_ends, in.ends);
    }
    if (in.second_births.connected()) {
        EXPECT_EQ(in.second_begins.size(), in.begins.size());
    }
}

/// Survivors keep their order, or their positions, as the kind promises.
template <class Kind>
void check_order(game<Kind>& in, const before_frame<Kind>& before) {
    const std::vector<id_type>& now = in.truth.pool.store;
    if constexpr (Kind::keeps_order) {
        std::vector<id_type> expected;
        for (const id_type id : before.store) {
            if (std::ranges::count(now, id) != 0) {
                expected.push_back(id);
            }
        }
        std::map<std::uint64_t, id_type> born; // in the order in which they were made
        for (const id_type id : now) {
            if (std::ranges::count(before.store, id) == 0) {
                born[in.truth.pool.objects.at(id).turn] = id;
            }
        }
        for (const auto& [turn, id] : born) {
            expected.push_back(id);
        }
        EXPECT_EQ(now, expected) << "the order is kept, and newborns come behind";
    } else if constexpr (is_dense<typename Kind::pool_type>) {
        const std::set<id_type> here(now.begin(), now.end());
        for (std::size_t i = 0; i != before.store.size() && i < now.size(); ++i) {
            EXPECT_TRUE(now[i] == before.store[i] || !here.contains(before.store[i]))
                << "only the last objects move, not that at " << i;
        }
    }
}

/// A frame has ended, which has begun so.
template <class Kind, class Pool>
void end_frame(game<Kind>& in, Pool& pool, const before_frame<Kind>& before, frame_extent extent) {
    look(in, pool);
    const auto& truth = in.truth.pool;
    if (extent != frame_extent::part) {
        const std::set<id_type> here(truth.store.begin(), truth.store.end());
        for (const auto& [id, object] : truth.objects) {
            EXPECT_FALSE(before.waiting.contains(id)) << "not destroyed: " << id;
            EXPECT_TRUE(object.ended || id >= before.next_id || here.contains(id))
                << "not in the store: " << id;
        }
    }
    if (extent != frame_extent::exclusive && !in.was_sorted) {
        check_order(in, before);
    }
}

template <class Kind>
void expect_one_frame(game<Kind>& in) {
    EXPECT_EQ(check_log(in), 1U);
}

template <class Kind>
void compact(game<Kind>& in) {
    const before_frame<Kind> before(in);
    in.tell("compact");
    compaction_stats done;
    if (in.random.one_in(2)) {
        done = in.pool->compact();
    } else {
        done = in.pool->try_compact().value();
    }
    end_frame(in, *in.pool, before, frame_extent::whole);
    EXPECT_EQ(done.removed, in.ends.size());
    EXPECT_EQ(done.size, in.truth.pool.store.size());
    EXPECT_EQ(done.waiting_removals, in.truth.pool.waiting());
    expect_one_frame(in);
}

/// Until nothing waits any more.
template <class Kind>
void settle(game<Kind>& in) {
    const bool may_act = std::exchange(in.hooks_may_act, false);
    do {
        compact(in);
    } while (in.truth.pool.waiting() != 0);
    in.hooks_may_act = may_act;
}

template <class Kind>
void compact_some(game<Kind>& in) {
    const before_frame<Kind> before(in);
    const std::size_t budget = in.random.below(40);
    in.tell("compact_some " + std::to_string(budget));
    const compaction_stats done = in.pool->compact_some(budget);
    end_frame(in, *in.pool, before, frame_extent::part);
    EXPECT_EQ(done.removed, in.ends.size());
    EXPECT_LE(in.begins.size(), budget);
    EXPECT_EQ(done.size, in.truth.pool.store.size());
    EXPECT_EQ(done.waiting_removals, in.truth.pool.waiting());
    expect_one_frame(in);
}

template <class Kind>
void drain(game<Kind>& in) {
    const before_frame<Kind> before(in);
    in.tell("drain");
    const std::size_t size = in.truth.pool.living.size();
    for (const auto& [handle, id] : std::map(in.truth.pool.living)) {
        in.truth.pool.objects.at(id).is_extracted = true;
        in.end_object(handle, life_event::drained);
    }
    EXPECT_EQ(in.pool->drain([&in](auto, auto&& object) {
        EXPECT_EQ(in.awaited_by_sinks.erase(Kind::read(object).id), 1U) << "sinks are called once";
    }),
              size);
    end_frame(in, *in.pool, before, frame_extent::whole);
    expect_one_frame(in);
}

/// Hooks and containers are told of each object; nothing is left of handles, not even reserved ones.
template <class Kind, class Pool>
void reset(game<Kind>& in, Pool& pool) {
    in.tell("reset");
    for (const auto& [handle, id] : std::map(in.truth.pool.living)) {
        in.end_object(handle, life_event::forgotten);
    }
    const bool may_act = std::exchange(in.hooks_may_act, false);
    pool.reset();
    in.hooks_may_act = may_act;
    EXPECT_EQ(in.truth.pool.objects.size(), 0U) << "hooks are called for all";
    in.truth.pool.forget_all();
    in.past.captures.clear();
    in.other.captures.clear();
    ++in.resets;
    in.is_reset_by_frame = true;
}
template <class Kind>
void reset_frame(game<Kind>& in) {
    const before_frame<Kind> before(in);
    reset(in, *in.pool);
    end_frame(in, *in.pool, before, frame_extent::whole);
    expect_one_frame(in);
}

/// Handles name the objects that they named, wherever these are.
template <class Kind, class Pool>
void sort_store(game<Kind>& in, Pool& pool) {
    if constexpr (is_dense<Pool>) {
        const std::uint64_t salt = in.random.bits();
        const auto key = [salt](auto&& object) { return (Kind::read(object).id ^ salt) % 64; };
        const std::vector<id_type> before = in.truth.pool.store;
        sort_stats done;
        if (const std::uint64_t how = in.random.below(3); how == 0) {
            in.tell("sort_by");
            done = sort_by(pool, key);
        } else if (how == 1) {
            in.tell("sort");
            done = sort(pool, [&](auto&& one, auto&& other) { return key(one) < key(other); });
        } else {
            const std::size_t budget = in.random.below(60);
            in.tell("sort_some_by " + std::to_string(budget));
            done = sort_some_by(pool, key, budget);
            EXPECT_LE(done.moved, budget);
        }
        in.was_sorted |= done.moved != 0;
        in.writes_more_positions |= in.was_sorted;
        in.truth.pool.store = look_at_store(in, pool);
        const auto order = [&](id_type one, id_type other) {
            return (one ^ salt) % 64 < (other ^ salt) % 64;
        };
        if (done.in_order) {
            EXPECT_TRUE(std::ranges::is_sorted(in.truth.pool.store, order));
        }
        EXPECT_TRUE(std::ranges::is_permutation(in.truth.pool.store, before));
    }
}

/// While a guard is held, nothing is moved or destroyed, and compactions of this thread are refused.
template <class Kind>
void hold_guard(game<Kind>& in) {
    in.tell("a guard");
    const before_frame<Kind> before(in);
    auto guard = in.pool->access();
    auto moved = std::move(guard);
    for (std::uint64_t i = 0, steps = in.random.below(6); i != steps; ++i) {
        act_on_objects(in, *in.pool);
    }
    EXPECT_THROW(in.pool->compact(), compaction_conflict);
    EXPECT_FALSE(in.pool->try_compact());
    EXPECT_FALSE(in.pool->try_exclusive_access());
    EXPECT_FALSE(in.pool->try_shrink_to_fit());
    const std::vector<id_type> store = in.truth.pool.store;
    look(in, *in.pool);
    EXPECT_EQ(in.truth.pool.store, store);
    if (const auto handle = in.any_living()) {
        EXPECT_TRUE(in.pool->visit(in.with_any_user(handle), [&](auto&& object) {
            EXPECT_EQ(Kind::read(object).id, in.truth.pool.living.at(handle));
        }));
    }
    EXPECT_EQ(check_log(in), 0U);
}

/// In a view each call takes effect at once.
template <class Kind>
void use_exclusive_access(game<Kind>& in) {
    in.tell("exclusive access");
    before_frame<Kind> before(in);
    {
        auto alone = in.pool->exclusive_access();
        look(in, alone);
        in.is_exclusive = true;
        in.writes_more_positions = true;
        const bool may_act = std::exchange(in.hooks_may_act, in.random.one_in(2));
        for (std::uint64_t i = 0, steps = in.random.below(40); i <= steps && !testing::Test::HasFailure();
             ++i) {
            switch (in.random.below(30)) {
            case 0:
                sort_store(in, alone);
                break;
            case 1:
                if (in.random.one_in(10)) {
                    reset(in, alone);
                }
                break;
            case 2:
            case 3:
                change_set(in);
                change_map(in);
                change_family(in);
                change_bags(in);
                break;
            default:
                act_on_objects(in, alone);
            }
            look(in, alone);
            EXPECT_EQ(in.truth.pool.store.size(), in.truth.pool.living.size()) << "exactly the living";
            EXPECT_EQ(in.truth.pool.objects.size(), in.truth.pool.living.size()) << "ended at once";
            check_handles(in, alone, false);
        }
        in.hooks_may_act = may_act;
        in.tell("exclusive access ends");
    }
    in.is_exclusive = false;
    end_frame(in, *in.pool, before, frame_extent::exclusive);
    expect_one_frame(in);
}

/// The second hooks are taken off, moved, or added again.
template <class Kind>
void change_hooks(game<Kind>& in) {
    in.tell("hooks");
    const before_frame<Kind> before(in);
    if (in.random.one_in(2)) {
        in.second_deaths.disconnect();
        in.second_births.disconnect();
        return;
    }
    in.connect_second_hooks();
    scoped_hook other = std::move(in.second_deaths);
    EXPECT_FALSE(in.second_deaths.connected());
    in.second_deaths = std::move(other);
    EXPECT_TRUE(in.second_deaths.connected());
}

template <class Kind>
void shrink(game<Kind>& in) {
    in.tell("shrink_to_fit");
    in.pool->shrink_to_fit();
    in.set.shrink_to_fit();
    in.map.shrink_to_fit();
    in.family.shrink_to_fit();
    in.bags.shrink_to_fit();
}

template <class Kind>
void act_on_frames(game<Kind>& in) {
    switch (in.random.below(20)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
        return compact_some(in);
    case 5:
        return in.random.one_in(6) ? drain(in) : compact(in);
    case 6:
        return in.random.one_in(6) ? reset_frame(in) : compact(in);
    case 7:
    case 8:
        return sort_store(in, *in.pool);
    case 9:
        return hold_guard(in);
    case 10:
    case 11:
        return use_exclusive_access(in);
    case 12:
        return change_hooks(in);
    case 13:
        return shrink(in);
    default:
        return compact(in);
    }
}

} // namespace handlepool::test
