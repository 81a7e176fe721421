// SPDX-License-Identifier: MIT

// A service beside threads that are stopped anywhere, also while they hold its mutex.

#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>

#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/stop_at_every_access.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

/// A thread can be stopped before it locks, with the mutex locked, and behind that.
class step_mutex {
public:
    void lock() {
        support::stepper::step();
        mutex_.lock();
        support::stepper::step();
    }
    bool try_lock() {
        support::stepper::step();
        const bool refused = (refusals & 1U) != 0;
        refusals >>= 1U;
        const bool locked = !refused && mutex_.try_lock();
        support::stepper::step();
        return locked;
    }
    void unlock() {
        mutex_.unlock();
        support::stepper::step();
    }

    /// Which of the next tries fail, from the lowest bit on. Only while one thread is at work.
    inline static unsigned refusals = 0;

private:
    std::mutex mutex_;
};

struct stepped_policy : support::tiny_policy<2, support::step_policy> {
    using mutex = step_mutex;
};

using layout = handle_layout<40, 20, 4>;
using stepped_service = basic_service<layout, stepped_policy>;
using stepped_pool = pool<int, with_layout<layout, with_policy<stepped_policy>>>;
using handle_type = stepped_service::handle_type;

const pool_options small{.capacity = 20, .reuse_delay = 0, .max_threads = 64};

/// Two pools with something to do, and a removed one.
struct busy_service {
    stepped_service world{{.max_threads = 64}};
    stepped_pool& first = world.add<stepped_pool>("first", small);
    stepped_pool& second = world.add<stepped_pool>("second", small);
    handle_type one = first.emplace(1);
    handle_type two = second.emplace(2);
    handle_type three = second.emplace(3);
    handle_type removed = world.add<stepped_pool>("removed", small).emplace(4);
    bool removes = world.remove_pool("removed");
};

constexpr std::size_t far_more_than_any = 5000;
constexpr std::chrono::seconds patience(20); // for a wait that makes no accesses

/// The call ends within a bounded number of its accesses, although `stopped` does not go on. A call that
/// waits is let go, and told.
template <class Call>
void expect_no_wait(const char* name, support::stepper& stopped, Call call) {
    support::stepper caller(far_more_than_any, call, patience);
    EXPECT_TRUE(caller.ended()) << name << " waits";
    if (!caller.ended()) {
        stopped.release();
    }
}

TEST(service_never_waits, beside_a_thread_stopped_in_anything_that_a_service_does) {
    const std::vector<std::pair<std::string, std::function<void(busy_service&)>>> victims{
        {"add", [](busy_service& at) { at.world.add<stepped_pool>("new", small).emplace(1); }},
        {"remove_pool", [](busy_service& at) { at.world.remove_pool("first"); }},
        {"find_pool", [](busy_service& at) { at.world.find_any_pool("first"); }},
        {"stats", [](busy_service& at) { static_cast<void>(at.world.stats()); }},
        {"leaks", [](busy_service& at) { static_cast<void>(at.world.leaks()); }},
        {"access",
         [](busy_service& at) {
             const auto guard = at.world.access();
             static_cast<void>(at.world.frames()); // somewhere to stop with the guard held
         }},
        {"access of a pool",
         [](busy_service& at) {
             const auto guard = at.first.access();
             static_cast<void>(at.world.frames());
         }},
        {"compact", [](busy_service& at) { at.world.compact(); }},
        {"try_compact", [](busy_service& at) { at.world.try_compact(); }},
        {"compact of a pool", [](busy_service& at) { at.first.compact(); }},
        {"emplace", [](busy_service& at) { at.first.emplace(5); }},
        {"erase", [](busy_service& at) { at.world.erase(at.one); }},
    };
    for (const auto& [name, victim] : victims) {
        std::size_t compacted = 0;
        std::size_t guarded = 0;
        std::size_t access = 0;
        for (bool more = true; more; ++access) {
            SCOPED_TRACE(name + ", stopped before access " + std::to_string(access));
            busy_service at;
            support::stepper stopped(access, [&] { victim(at); }, patience);
            more = stopped.stopped();
            expect_no_wait("try_access", stopped, [&] { guarded += at.world.try_access() ? 1U : 0U; });
            expect_no_wait("contains", stopped, [&] { EXPECT_TRUE(at.world.contains(at.two)); });
            expect_no_wait("find", stopped, [&] { EXPECT_NE(at.world.find<int>(at.two), nullptr); });
            expect_no_wait("route", stopped, [&] { EXPECT_EQ(at.world.route(at.removed), nullptr); });
            expect_no_wait("erase", stopped, [&] { EXPECT_TRUE(at.world.erase(at.three)); });
            expect_no_wait("try_emplace", stopped, [&] { EXPECT_TRUE(at.second.try_emplace(6)); });
            expect_no_wait("frames", stopped, [&] { static_cast<void>(at.world.frames()); });
            for (int frame = 0; frame != 2; ++frame) {
                expect_no_wait("try_compact", stopped,
                               [&] { compacted += at.world.try_compact() ? 1U : 0U; });
            }
            if (testing::Test::HasFailure()) {
                return;
            }
        }
        EXPECT_GT(access, 1U) << name;
        EXPECT_GT(compacted, 0U) << name;
        EXPECT_GT(guarded, 0U) << name;
    }
}

// ---- Pools that are removed meanwhile: each is destroyed once, and nobody looks at it then

/// A second thread removes a pool, and waits for that if the first one is stopped with the mutex taken.
struct service_with_a_remover : busy_service {
    void remove_second() {
        remover.emplace(
            support::stepper::never, [this] { world.remove_pool("second"); }, std::chrono::milliseconds(50));
    }
    std::optional<support::stepper> remover;
};

TEST(service_stopped, views_keep_the_pools_that_they_look_at) {
    const std::vector<std::function<void(service_with_a_remover&)>> views{
        [](service_with_a_remover& at) { static_cast<void>(at.world.stats()); },
        [](service_with_a_remover& at) { static_cast<void>(at.world.leaks()); },
    };
    for (const auto& view : views) {
        stop_at_every_access<service_with_a_remover>(
            view,
            [](service_with_a_remover& at) {
                at.remove_second();
                for (int frame = 0; frame != 3; ++frame) {
                    at.world.try_compact();
                }
            },
            [](service_with_a_remover& at) {
                at.remover->finish();
                at.world.compact();
                EXPECT_FALSE(at.world.contains(at.two));
                EXPECT_EQ(at.world.size(), 1U);
            });
    }
}

// A compaction that finds the mutex taken leaves out what it protects; what it takes must fit together.
TEST(service_stopped, try_compact_may_find_the_mutex_taken_at_any_time) {
    for (unsigned taken = 0; taken != 1U << 7; ++taken) {
        SCOPED_TRACE("taken at the tries " + std::to_string(taken));
        busy_service at;
        at.world.compact(); // so that it has its list of the pools
        at.world.remove_pool("first");
        at.second.emplace(5);
        const handle_type four = at.world.add<stepped_pool>("new", small).emplace(6);
        step_mutex::refusals = taken;
        EXPECT_TRUE(at.world.try_compact());
        EXPECT_TRUE(at.world.try_compact());
        step_mutex::refusals = 0;
        EXPECT_TRUE(at.world.contains(at.two) && at.world.contains(four));
        EXPECT_FALSE(at.world.contains(at.one));
        EXPECT_EQ(at.world.compact().skipped, 0U);
        EXPECT_EQ(at.world.compact().pools, 0U);
    }
}

/// A compaction moves an object that somebody pins.
struct service_with_a_hole : busy_service {
    service_with_a_hole() {
        world.compact();
        world.erase(two);
    }
    pinned_object<int, stepped_policy> pinned{};
};

TEST(service_stopped, what_is_pinned_is_where_its_object_is) {
    stop_at_every_access<service_with_a_hole>(
        [](service_with_a_hole& at) { at.pinned = at.world.pin<int>(at.three); },
        [](service_with_a_hole& at) { at.world.try_compact(); },
        [](service_with_a_hole& at) {
            ASSERT_TRUE(at.pinned);
            EXPECT_EQ(&*at.pinned, at.world.find<int>(at.three));
            EXPECT_EQ(*at.pinned, 3);
        });
}

} // namespace
} // namespace handlepool::test
