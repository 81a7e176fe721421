// SPDX-License-Identifier: MIT
#pragma once

#include "operations_on_values.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

/// What is done to objects and handles, by the pool or by a view for one thread.
namespace handlepool::test {

/// A refusal needs a reason: there is room for as many as the capacity says.
template <class Kind>
void expect_full(game<Kind>& in, std::size_t asked) {
    const auto& truth = in.truth.pool;
    EXPECT_GT(truth.living.size() + truth.waiting() + truth.reserved.size() + asked, in.pool->capacity());
}

/// The pool has returned this handle for an object that the model has begun.
template <class Kind>
void take_made(game<Kind>& in, id_type id, typename game<Kind>::handle_type made) {
    if (made) {
        in.name_object(id, made);
        in.tell("made " + std::to_string(id) + " as " + in.name(made));
    } else {
        in.give_up_object(id);
        expect_full(in, 1);
    }
}

template <class Kind, class Pool>
void create(game<Kind>& in, Pool& pool) {
    const content what = in.begin_object();
    take_made(in, what.id, Kind::from(what, [&](auto&&... from) { return pool.try_emplace(from...); }));
}

template <class Kind, class Pool>
void create_with_handle(game<Kind>& in, Pool& pool) {
    using handle_type = typename game<Kind>::handle_type;
    const content what = in.begin_object();
    handle_type told;
    const handle_type made = Kind::try_make_with(pool, [&](handle_type handle) {
        told = handle;
        EXPECT_EQ(pool.state(handle), handle_state::reserved);
        return what;
    });
    EXPECT_EQ(made, told);
    take_made(in, what.id, made);
}

template <class Kind, class Pool>
void create_many(game<Kind>& in, Pool& pool) {
    using handle_type = typename game<Kind>::handle_type;
    const std::size_t count = in.random.one_in(6) ? in.random.below(120) : in.random.below(8);
    std::vector<id_type> ids;
    std::vector<handle_type> made;
    // The contents are known to the model only when their objects are made: a batch may be refused.
    const auto next = [&] {
        const content what = in.begin_object();
        ids.push_back(what.id);
        return what;
    };
    const bool done = Kind::try_make_many(pool, count, std::back_inserter(made), next);
    in.tell("made " + std::to_string(made.size()) + " of " + std::to_string(count));
    for (std::size_t i = 0; i != ids.size(); ++i) {
        if (i < made.size()) {
            in.name_object(ids[i], made[i]);
        } else {
            in.give_up_object(ids[i]);
        }
    }
    if (!done) {
        expect_full(in, count - made.size());
    }
}

/// insert_range(), where there is one.
template <class Kind, class Pool>
void create_range(game<Kind>& in, Pool& pool) {
    if constexpr (requires { pool.insert(creature(content())); }) {
        using handle_type = typename game<Kind>::handle_type;
        std::vector<content> range(in.random.below(10));
        for (content& each : range) {
            each = in.begin_object();
        }
        std::vector<handle_type> made;
        const bool done = bool(pool.try_insert_range(range, std::back_inserter(made)));
        EXPECT_EQ(made.size(), done ? range.size() : 0U);
        for (std::size_t i = 0; i != range.size(); ++i) {
            if (done) {
                in.name_object(range[i].id, made[i]);
            } else {
                in.give_up_object(range[i].id);
            }
        }
        if (!done) {
            expect_full(in, range.size());
        }
    } else {
        create(in, pool);
    }
}

/// Constructors that throw leave nothing, but a stale handle where one was told.
template <class Kind, class Pool>
void fail_to_create(game<Kind>& in, Pool& pool) {
    using handle_type = typename game<Kind>::handle_type;
    in.tell("a constructor throws");
    const auto reserved = in.truth.pool.reserved;
    try {
        switch (in.random.below(3)) {
        case 0:
            EXPECT_FALSE(Kind::from(unmakeable, [&](auto&&... from) { return pool.try_emplace(from...); }));
            break;
        case 1:
            EXPECT_FALSE(Kind::try_make_with(pool, [&](handle_type handle) {
                EXPECT_TRUE(in.truth.ever.insert(handle).second);
                in.truth.pool.last_of_slot[handle.index()] = handle;
                return unmakeable;
            }));
            break;
        default:
            if (reserved.empty()) {
                return;
            }
            EXPECT_FALSE(Kind::from(unmakeable, [&](auto&&... from) {
                return pool.try_fulfill(in.with_any_user(*reserved.begin()), from...);
            }));
        }
        expect_full(in, 1);
    } catch (const construction_refused&) {
        return;
    }
}

template <class Kind, class Pool>
void reserve(game<Kind>& in, Pool& pool) {
    if (const auto made = pool.try_reserve_handle()) {
        in.tell("reserved " + in.name(made));
        EXPECT_TRUE(in.truth.ever.insert(made).second) << "a handle was given twice";
        EXPECT_EQ(made.user(), 0U);
        in.truth.pool.reserve(made);
    } else {
        expect_full(in, 1);
    }
}

template <class Kind, class Pool>
void fulfill_or_cancel(game<Kind>& in, Pool& pool) {
    if (in.truth.pool.reserved.empty()) {
        return;
    }
    const auto handle = *in.truth.pool.reserved.begin();
    if (in.random.one_in(3)) {
        in.tell("cancel " + in.name(handle));
        EXPECT_TRUE(pool.cancel(in.with_any_user(handle)));
        EXPECT_FALSE(pool.cancel(in.with_any_user(handle)));
        in.truth.pool.cancel(handle, in.frame_of_pool());
        return;
    }
    const content what = in.begin_object();
    in.tell("fulfill " + in.name(handle));
    if (Kind::from(what,
                   [&](auto&&... from) { return pool.try_fulfill(in.with_any_user(handle), from...); })) {
        in.name_object(what.id, handle);
        EXPECT_FALSE(pool.cancel(in.with_any_user(handle)));
    } else {
        in.give_up_object(what.id);
        expect_full(in, 0);
    }
}

template <class Kind, class Pool>
void erase(game<Kind>& in, Pool& pool) {
    const auto handle = in.any_handle();
    in.tell("erase " + in.name(handle));
    const bool alive = in.truth.pool.living.contains(handle);
    if (alive) {
        in.end_object(handle, life_event::erased);
    }
    EXPECT_EQ(pool.erase(in.with_any_user(handle)), alive);
    EXPECT_FALSE(pool.erase(in.with_any_user(handle)));
}

template <class Kind, class Pool>
void erase_those_that(game<Kind>& in, Pool& pool) {
    const std::uint64_t divisor = 2 + in.random.below(9);
    in.tell("erase_if modulo " + std::to_string(divisor));
    std::size_t expected = 0;
    for (const auto& [handle, id] : std::map(in.truth.pool.living)) {
        if (id % divisor == 0) {
            in.end_object(handle, life_event::erased);
            ++expected;
        }
    }
    const auto before = in.truth.pool.living.size() + expected;
    // What hooks make meanwhile, under exclusive access, may be found too: they don't act here.
    const bool may_act = std::exchange(in.hooks_may_act, in.hooks_may_act && !in.is_exclusive);
    std::size_t asked = 0;
    const std::size_t erased = erase_if(pool, [&](auto&& object) {
        ++asked;
        return Kind::read(object).id % divisor == 0;
    });
    in.hooks_may_act = may_act;
    if (!in.is_exclusive) { // there, the hierarchy may end some of them before their turn comes
        EXPECT_EQ(erased, expected);
        EXPECT_EQ(asked, before);
    }
}

template <class Kind, class Pool>
void extract(game<Kind>& in, Pool& pool) {
    const auto handle = in.any_handle();
    in.tell("extract " + in.name(handle));
    const auto found = in.truth.pool.living.find(handle);
    const bool alive = found != in.truth.pool.living.end();
    if (alive) {
        in.truth.pool.objects.at(found->second).is_extracted = true;
        in.end_object(handle, life_event::extracted);
    }
    EXPECT_EQ(pool.extract(in.with_any_user(handle),
                           [&in](auto&& object) {
                               EXPECT_EQ(in.awaited_by_sinks.erase(Kind::read(object).id), 1U)
                                   << "sinks are called once, after the hooks";
                           }),
              alive);
}

template <class Kind, class Pool>
void revoke(game<Kind>& in, Pool& pool) {
    in.revoke_object(pool, in.any_handle());
}

template <class Kind, class Pool>
void clear(game<Kind>& in, Pool& pool) {
    in.tell("clear");
    for (const auto& [handle, id] : std::map(in.truth.pool.living)) {
        in.end_object(handle, life_event::cleared);
    }
    const bool may_act = std::exchange(in.hooks_may_act, in.hooks_may_act && !in.is_exclusive);
    pool.clear();
    in.hooks_may_act = may_act;
}

template <class Kind, class Pool>
void act_on_objects(game<Kind>& in, Pool& pool) {
    switch (in.random.below(26)) {
    case 0:
    case 1:
    case 2:
    case 3:
        return create(in, pool);
    case 4:
        return create_with_handle(in, pool);
    case 5:
    case 6:
        return create_many(in, pool);
    case 7:
        return create_range(in, pool);
    case 8:
        return fail_to_create(in, pool);
    case 9:
        return reserve(in, pool);
    case 10:
    case 11:
        return fulfill_or_cancel(in, pool);
    case 12:
    case 13:
    case 14:
    case 15:
        return erase(in, pool);
    case 16:
        return in.random.one_in(3) ? erase_those_that(in, pool) : erase(in, pool);
    case 17:
        return extract(in, pool);
    case 18:
    case 19:
        return revoke(in, pool);
    case 20:
        return in.random.one_in(8) ? clear(in, pool) : erase(in, pool);
    default:
        return change_values(in, pool);
    }
}

} // namespace handlepool::test
