// SPDX-License-Identifier: MIT
#pragma once

#include "pool_in_use.hpp"

#include <handlepool/error.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <set>
#include <utility>
#include <vector>

/// Pools in a state in which what they are made of has other values than its defaults, whatever they hold.
namespace handlepool::test {

/// A step that memory may be too short for: what then has happened of it stays so.
template <class Step>
void attempt(const Step& step) {
    try {
        step();
    } catch (const std::bad_alloc&) { // the others go on
        return;
    }
}

template <class Refusal, class Step>
void expect_refusal(const Step& step) {
    attempt([&] {
        try {
            step();
            ADD_FAILURE() << "it was not refused";
        } catch (const Refusal&) {
            return;
        }
    });
}

/// Leaves work of every kind undone: newborns, removals with a record and without one, a sweep and a sort
/// that have stopped in the middle, extractions, reservations, hooks that were disconnected; of a thread with
/// a shard and of one without; with places where constructors have thrown, and slots that were revoked.
template <class Kind>
void bring_off_defaults(pool_in_use<Kind>& in, helpers& others, std::vector<int>& taken) {
    using handle_type = typename pool_in_use<Kind>::handle_type;
    auto& pool = in.pool();
    std::vector<handle_type> handles;
    attempt([&] { handles.reserve(3000); });
    const auto make = [&](int count) {
        for (int i = 0; i != count; ++i) {
            attempt([&] { handles.push_back(in.make_one(static_cast<int>(handles.size() * 7 % 1000))); });
        }
    };
    const auto erase_last = [&](std::size_t count) {
        for (std::size_t i = 0; i != count && !handles.empty(); ++i) {
            pool.erase(handles.back());
            handles.pop_back();
        }
    };
    attempt([&] {
        const scoped_hook hook =
            pool.on_destroy([](auto, auto&&) { ADD_FAILURE() << "it was disconnected"; });
    });
    // It has noted what is sorted and revoked later when the next frame ends.
    attempt([&] { const change_log log(pool, {.check_marks = false}); });
    make(1400);
    expect_refusal<construction_failure>([&] { in.make_one(-1); });
    others.with_shard([&] { make(100); });
    others.without_shard([&] { expect_refusal<too_many_threads>([&] { in.make_one(1); }); });
    attempt([&] { pool.compact(in_pieces()); });
    erase_last(60);
    others.with_shard([&] { erase_last(90); });
    attempt([&] { pool.compact(in_pieces()); });
    for (std::size_t i = 0; i < handles.size(); i += 50) {
        handles[i] = pool.revoke(handles[i]);
    }
    attempt([&] { in.sort_some(40); });
    // The rest is left to others.
    handle_type reserved[6];
    for (handle_type& each : reserved) {
        each = pool.try_reserve_handle();
    }
    attempt([&] { in.fulfill(reserved[0], 31); });
    pool.cancel(reserved[1]);
    others.with_shard([&] { pool.cancel(reserved[2]); });
    others.without_shard([&] {
        pool.cancel(reserved[3]);
        erase_last(3);
    });
    make(150);
    others.with_shard([&] { make(70); });
    expect_refusal<construction_failure>([&] { in.fail_after_another(); });
    erase_last(300); // more than have records
    pool.compact_some(20);
    erase_last(120);
    for (int i = 0; Kind::is_watched && i != 5 && !handles.empty(); ++i) {
        attempt([&] {
            pool.extract(handles.back(), [&taken](auto&& object) {
                taken.push_back(pool_in_use<Kind>::take_number(object));
            });
            handles.pop_back();
        });
    }
}

/// Creates and erases in two threads, one of which compacts besides, and finds no place and no handle twice.
template <class Kind>
void expect_to_serve_two_threads(pool_in_use<Kind>& in, helpers& others) {
    using handle_type = typename pool_in_use<Kind>::handle_type;
    auto& pool = in.pool();
    const std::size_t before = pool.size();
    std::vector<std::pair<handle_type, int>> made[2];
    others.with_shard_and_caller([&](std::size_t thread) {
        for (int i = 0; i != 600; ++i) {
            const int number = static_cast<int>(thread) * 1000 + i;
            made[thread].emplace_back(in.make_one(number), number);
            if (i % 3 == 2) {
                // Of those that came last, too, which share a chunk with the next.
                const auto from_end = static_cast<std::size_t>(i) * 31 % made[thread].size();
                const auto erased = made[thread].end() - static_cast<std::ptrdiff_t>(1 + from_end);
                EXPECT_TRUE(pool.erase(erased->first));
                made[thread].erase(erased);
            }
            if (thread == 1 && i % 40 == 0) {
                pool.compact();
            }
        }
    });
    std::set<const void*> places;
    std::set<std::uint64_t> handles;
    for (const bool compacted : {false, true}) {
        for (const auto& each : made) {
            for (const auto& [handle, number] : each) {
                const auto* const found = in.find(handle);
                ASSERT_NE(found, nullptr);
                EXPECT_EQ(found->number(), number);
                EXPECT_TRUE(found->is_whole());
                EXPECT_TRUE(places.insert(found).second) << "a place twice";
                EXPECT_TRUE(handles.insert(handle.value()).second) << "a handle twice";
            }
        }
        EXPECT_EQ(pool.size(), before + handles.size());
        if (!compacted) {
            pool.compact();
            places.clear();
            handles.clear();
        }
    }
    for (const auto& each : made) {
        for (const auto& [handle, number] : each) {
            EXPECT_TRUE(pool.erase(handle));
        }
    }
    pool.compact();
    EXPECT_EQ(pool.size(), before);
}

} // namespace handlepool::test
