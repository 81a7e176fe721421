#pragma once

#include <handlepool/error.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/stats.hpp>

#include <gtest/gtest.h>
#include <support/failing_new.hpp>
#include <support/hostile_types.hpp>
#include <support/thread_team.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// Pools in a state in which what they are made of has other values than its defaults, whatever they hold.
namespace handlepool::test {

/// A number that owns memory, and is counted. Negative ones can't be made.
class tracked {
public:
    static std::int64_t alive() { return alive_.load(); }

    tracked() noexcept { ++alive_; }
    explicit tracked(int number) : text_(text_of(number)), number_(number) { ++alive_; }
    tracked(tracked&& other) noexcept : text_(std::move(other.text_)), number_(other.number_) { ++alive_; }
    tracked& operator=(tracked&& other) noexcept {
        text_ = std::move(other.text_);
        number_ = other.number_;
        return *this;
    }
    tracked& operator=(int number) {
        text_ = text_of(number);
        number_ = number;
        return *this;
    }
    ~tracked() { --alive_; }
    void clear() noexcept { text_.clear(); }

    int number() const { return number_; }
    bool is_whole() const { return text_ == text_of(number_); }

private:
    static std::string text_of(int number) {
        if (number < 0) {
            throw construction_failure();
        }
        return std::to_string(number) + " with memory of its own";
    }
    inline static std::atomic<std::int64_t> alive_{0};
    std::string text_;
    int number_ = 0;
};

/// A number whose end nobody notices: a reset drops its memory.
class untracked {
public:
    explicit untracked(int number) : number_(number) {
        if (number < 0) {
            throw construction_failure();
        }
    }

    int number() const { return number_; }
    bool is_whole() const { return true; }

private:
    int number_;
};

inline const untracked& object_in(const untracked& object) {
    return object;
}
inline const tracked& object_in(const tracked& object) {
    return object;
}
inline const tracked& object_in(const void* object) {
    return *static_cast<const tracked*>(object);
}
template <class Row>
    requires requires(const Row& row) { row.template get<0>(); }
const tracked& object_in(const Row& row) {
    return row.template get<0>();
}

/// A pool with hooks, and what they were told.
template <class Kind>
class pool_in_use {
public:
    using pool_type = typename Kind::pool_type;
    using handle_type = typename pool_type::handle_type;

    static pool_options options() {
        return {.name = "in use",
                .capacity = 3000,
                .reuse_delay = 50,
                .removal_queue_size = 100,
                .max_threads = 2,
                .remember_frames = true,
                .keep_order = Kind::keep_order};
    }

    pool_in_use() {
        told.reserve(20'000); // hooks must not throw
        Kind::make(made, options());
        if constexpr (Kind::is_watched) {
            deaths = pool().on_erase([this](auto, auto&& object) { told.push_back(-number_in(object)); });
        }
        births = pool().on_birth([this](auto, auto&& object) { told.push_back(number_in(object)); });
    }

    pool_type& pool() { return *made; }

    handle_type make_one(int number) {
        if constexpr (requires { made->emplace(tracked(number), number); }) {
            return made->emplace(tracked(number), number);
        } else if constexpr (requires { made->emplace(number); }) {
            return made->emplace(number);
        } else {
            return made->emplace([number](void* memory) { ::new (memory) tracked(number); });
        }
    }
    void fulfil(handle_type handle, int number) {
        if constexpr (requires { made->fulfil(handle, tracked(number), number); }) {
            made->fulfil(handle, tracked(number), number);
        } else if constexpr (requires { made->fulfil(handle, number); }) {
            made->fulfil(handle, number);
        } else {
            made->fulfil(handle, [number](void* memory) { ::new (memory) tracked(number); });
        }
    }
    auto find(handle_type handle) {
        const auto found = made->find(handle);
        using object = std::remove_reference_t<decltype(object_in(dereferenced(found)))>;
        return found == nullptr ? static_cast<object*>(nullptr) : &object_in(dereferenced(found));
    }

    /// Of what compactions have taken in, in its order.
    std::vector<int> numbers() {
        std::vector<int> all;
        for (const handle_type each : made->handles()) {
            const auto* const found = find(each);
            all.push_back(found == nullptr ? -1 : found->number());
        }
        return all;
    }

    /// Of all living objects, in ascending order.
    std::vector<int> living_numbers() {
        std::vector<int> all;
        for (const handle_type each : made->oldest(made->size())) {
            all.push_back(find(each)->number());
        }
        std::ranges::sort(all);
        return all;
    }

    /// Descending, at most `budget` moves; nothing where objects never move.
    std::optional<sort_stats> sort_some(std::size_t budget) {
        const auto key = [](auto&& object) { return -number_in(object); };
        if constexpr (requires { made->sort_some_by(key, budget); }) {
            return made->sort_some_by(key, budget);
        } else {
            return std::nullopt;
        }
    }

    /// For what takes an object out of the pool: of a raw pool's, nobody else ends the life.
    static int take_number(auto&& object) {
        const int number = number_in(object);
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(object)>, void*>) {
            static_cast<tracked*>(object)->~tracked();
        }
        return number;
    }
    static int number_in(const auto& object) { return object_in(object).number(); }

    std::optional<pool_type> made;
    std::vector<int> told; // of deaths below 0
    scoped_hook deaths;
    scoped_hook births;

private:
    template <class Pointer>
    static decltype(auto) dereferenced(const Pointer& found) {
        if constexpr (std::is_void_v<std::remove_pointer_t<Pointer>>) {
            return found;
        } else {
            return *found;
        }
    }
};

/// Threads beside the first: one that has a lane in such a pool, too, and one that finds none.
class helpers {
public:
    /// The calling thread has the first number, if no other one is alive.
    helpers() {
        static_cast<void>(default_policy::thread_index(default_policy::numbering()));
        for (support::thread_team* each : {&second_, &third_}) {
            each->run([](std::size_t) {
                static_cast<void>(default_policy::thread_index(default_policy::numbering()));
            });
        }
    }
    template <class Work>
    void with_lane(const Work& work) {
        second_.run([&work](std::size_t) { work(); });
    }
    template <class Work>
    void without_lane(const Work& work) {
        third_.run([&work](std::size_t) { work(); });
    }

    /// The one with a lane is number 0, the calling thread is number 1.
    template <class Work>
    void with_lane_and_caller(const Work& work) {
        second_.run_with_caller([&work](std::size_t thread) { work(thread); });
    }

private:
    support::thread_team second_{1};
    support::thread_team third_{1};
};

/// Runs it in pieces, so that compactions collect in lists what they do.
struct in_pieces {
    template <class Body>
    void for_ranges(std::size_t count, std::size_t grain, Body&& body) const {
        const std::size_t piece = std::max<std::size_t>(grain, 1);
        for (std::size_t i = 0; i < count; i += piece) {
            body(i, std::min(i + piece, count));
        }
    }
};

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
/// that have stopped in the middle, takings, reservations, hooks that were disconnected; of a thread with a
/// lane and of one without; with places where constructors have thrown, and slots that were revoked.
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
        const scoped_hook hook = pool.on_erase([](auto, auto&&) { ADD_FAILURE() << "it was disconnected"; });
    });
    make(1400);
    expect_refusal<construction_failure>([&] { in.make_one(-1); });
    others.with_lane([&] { make(100); });
    others.without_lane([&] { expect_refusal<too_many_threads>([&] { in.make_one(1); }); });
    attempt([&] { pool.compact(in_pieces()); });
    erase_last(60);
    others.with_lane([&] { erase_last(90); });
    attempt([&] { pool.compact(in_pieces()); });
    for (std::size_t i = 0; i < handles.size(); i += 50) {
        handles[i] = pool.revoke(handles[i]);
    }
    attempt([&] { in.sort_some(40); });
    // The rest is left to others.
    handle_type reserved[6];
    for (handle_type& each : reserved) {
        each = pool.try_reserve();
    }
    attempt([&] { in.fulfil(reserved[0], 31); });
    pool.cancel(reserved[1]);
    others.with_lane([&] { pool.cancel(reserved[2]); });
    others.without_lane([&] {
        pool.cancel(reserved[3]);
        erase_last(3);
    });
    make(150);
    others.with_lane([&] { make(70); });
    erase_last(300); // more than have records
    pool.compact_some(20);
    erase_last(120);
    for (int i = 0; Kind::is_watched && i != 5 && !handles.empty(); ++i) {
        attempt([&] {
            pool.take(handles.back(),
                      [&taken](auto&& object) { taken.push_back(pool_in_use<Kind>::take_number(object)); });
            handles.pop_back();
        });
    }
}

/// Does all that a pool can do, and tells what came of it. What depends on generations, on time, or on what
/// was before, is left out.
template <class Kind>
std::vector<std::string> account_of(pool_in_use<Kind>& in, helpers& others) {
    using handle_type = typename pool_in_use<Kind>::handle_type;
    auto& pool = in.pool();
    // How many slots a thread claims at once depends on the number of lanes, and which comes first on the
    // frame.
    others.with_lane([&] { static_cast<void>(pool.try_access()); });
    if (pool.stats().compactions % 2 != 0) {
        pool.skip_frame();
    }
    const pool_stats before = pool.stats();
    std::vector<std::string> told;
    const auto tell = [&](const std::string& what, const auto&... numbers) {
        told.push_back(what);
        ((told.back() += " " + std::to_string(numbers)), ...);
    };
    const auto tell_all = [&](const std::string& what, const auto& numbers) {
        tell(what);
        for (const auto each : numbers) {
            told.back() += " " + std::to_string(each);
        }
    };
    const auto tell_stats = [&] {
        const pool_stats now = pool.stats();
        tell("stats", now.alive, now.dense, now.newborn, now.waiting_removals, now.created - before.created,
             now.destroyed - before.destroyed, now.slots_in_service, now.slots_free, now.slots_claimed,
             now.slots_reserved, now.slots_retired, now.sweeps - before.sweeps,
             now.compactions - before.compactions, pool.size(), pool.idle() ? 1 : 0);
        EXPECT_GE(now.smallest_reuse_distance, pool.reuse_guarantee());
        in.told.clear();
    };
    const auto tell_compaction = [&](const compaction_stats& done) {
        tell("compaction", done.removed, done.born, done.moved, done.retired, done.swept, done.size,
             done.waiting_removals, done.waiting_newborns);
        tell_all("hooks", in.told);
        tell_all("objects", in.numbers());
        tell_stats();
    };
    std::vector<handle_type> handles;
    int next = 0;
    const auto make = [&](std::size_t count) {
        tell("made");
        for (std::size_t i = 0; i != count; ++i) {
            handles.push_back(in.make_one(next++ * 7 % 1000));
            told.back() += " " + std::to_string(handles.back().index());
        }
    };
    const auto erase_every = [&](std::size_t step) {
        std::vector<handle_type> kept;
        for (std::size_t i = 0; i != handles.size(); ++i) {
            if (i % step == 0) {
                pool.erase(handles[i]);
            } else {
                kept.push_back(handles[i]);
            }
        }
        handles = kept;
    };

    const auto tell_ages = [&] {
        tell("oldest");
        for (const handle_type each : pool.oldest(10)) {
            told.back() += " " + std::to_string(each.index());
        }
        for (std::size_t i = 0; i < handles.size(); i += 10) {
            const std::string description = pool.describe(handles[i]);
            told.push_back(description.substr(description.rfind(':')));
        }
    };

    tell_stats();
    make(150);
    tell_ages();
    others.with_lane([&] { make(80); });
    tell_compaction(pool.compact());
    erase_every(3);
    others.with_lane([&] { erase_every(4); });
    tell_compaction(pool.compact_some(20));
    if (const auto sorted = in.sort_some(20)) {
        tell("sorted", sorted->moved, sorted->size, sorted->in_order ? 1 : 0);
        tell_all("objects", in.numbers());
    }
    make(30);
    const handle_type reserved[] = {pool.reserve(), pool.reserve(), pool.reserve()};
    tell_stats();
    in.fulfil(reserved[0], 900);
    pool.cancel(reserved[1]);
    others.without_lane([&] {
        pool.cancel(reserved[2]);
        pool.erase(handles.back());
    });
    handles.pop_back();
    for (const handle_type each : reserved) {
        tell("reserved", each.index(), static_cast<int>(pool.state(each)));
    }
    std::vector<int> taken;
    for (int i = 0; i != 3; ++i) {
        pool.take(handles.back(),
                  [&taken](auto&& object) { taken.push_back(pool_in_use<Kind>::take_number(object)); });
        handles.pop_back();
    }
    tell_compaction(pool.compact(in_pieces()));
    tell_all("taken", taken);
    for (int i = 0; i != 5; ++i) {
        erase_every(5);
        make(20);
        tell_compaction(pool.compact_some(15));
    }
    for (int i = 0; i != 3; ++i) {
        erase_every(2);
        make(100);
        others.with_lane([&] { make(50); });
        tell_compaction(pool.compact());
    }
    tell_ages();
    for (const handle_type each : handles) {
        const auto* const found = in.find(each);
        tell("found", found == nullptr ? -1 : found->number(), found != nullptr && found->is_whole() ? 1 : 0);
    }
    pool.clear();
    make(10);
    tell_compaction(pool.compact());
    tell("drained", pool.drain([](auto, auto&& object) { pool_in_use<Kind>::take_number(object); }));
    tell_compaction(pool.compact());
    return told;
}

/// Whatever becomes of it, it does as one that is new.
template <class Kind>
void expect_account(pool_in_use<Kind>& in, helpers& others, const std::vector<std::string>& as_new) {
    in.told.clear();
    const std::vector<std::string> told = account_of(in, others);
    ASSERT_EQ(told.size(), as_new.size());
    for (std::size_t i = 0; i != told.size(); ++i) {
        ASSERT_EQ(told[i], as_new[i]) << "line " << i << ", after " << (i == 0 ? "all" : told[i - 1]);
    }
}

/// Creates and erases in two threads, one of which compacts besides, and finds no place and no handle twice.
template <class Kind>
void expect_to_serve_two_threads(pool_in_use<Kind>& in, helpers& others) {
    using handle_type = typename pool_in_use<Kind>::handle_type;
    auto& pool = in.pool();
    const std::size_t before = pool.size();
    std::vector<std::pair<handle_type, int>> made[2];
    others.with_lane_and_caller([&](std::size_t thread) {
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
