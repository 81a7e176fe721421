// SPDX-License-Identifier: MIT

// A thread stopped anywhere, for ever, blocks no other thread's operation: invariant 7. In pools of both
// placements.

#include <handlepool/pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <support/steps/step_bounds.hpp>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/stop_at_every_access.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using support::stepped_operation;

using step_policy = support::tiny_policy<2, support::step_policy>;
template <class T, class Placement>
using stepped_pool = pool<T, with_placement<Placement, with_policy<step_policy>>>;

using placements = testing::Types<dense_placement, stable_placement>;
template <class Placement>
struct pool_stopped : testing::Test {};
TYPED_TEST_SUITE(pool_stopped, placements);
template <class Placement>
struct pool_never_waits : testing::Test {};
TYPED_TEST_SUITE(pool_never_waits, placements);

using handle_type = handle<int>;

// What a thread can be stopped in.
template <class Pool>
struct operation {
    std::string name;
    std::function<void(Pool&, handle_type own, handle_type shared)> run;
    bool compacts = false;
};

template <class Pool>
const std::vector<operation<Pool>>& operations() {
    static const std::vector<operation<Pool>> all{
        {"emplace", [](Pool& pool, handle_type, handle_type) { pool.try_emplace(5); }},
        {"emplace_n",
         [](Pool& pool, handle_type, handle_type) {
             std::vector<handle_type> handles;
             pool.emplace_n(5, std::back_inserter(handles), 5);
         }},
        {"erase", [](Pool& pool, handle_type own, handle_type) { pool.erase(own); }},
        {"erase of what others erase too",
         [](Pool& pool, handle_type, handle_type shared) { pool.erase(shared); }},
        {"find", [](Pool& pool, handle_type own, handle_type) { pool.find(own); }},
        {"contains", [](Pool& pool, handle_type own, handle_type) { pool.contains(own); }},
        {"size", [](Pool& pool, handle_type, handle_type) { static_cast<void>(pool.size()); }},
        {"compact", [](Pool& pool, handle_type, handle_type) { pool.compact(); }, true},
        {"clear", [](Pool& pool, handle_type, handle_type) { pool.clear(); }},
    };
    return all;
}

template <class Body>
void expect_steps(stepped_operation what, Body body) {
    const auto& [operation, allowed, in_model] = support::bound_of(what);
    support::stepper other(allowed, body);
    EXPECT_TRUE(other.ended()) << operation << " takes more than " << allowed << " steps, if it ends";
}

// All that others may do while one is stopped. It would hang, or take more steps, if anything waited for that
// one.
template <class Placement>
void expect_others_work(stepped_pool<int, Placement>& pool, handle_type shared, bool compacting) {
    std::vector<handle_type> made;
    for (int i = 0; i < 7; ++i) {
        expect_steps(stepped_operation::emplace, [&] { made.push_back(pool.emplace(i)); });
    }
    expect_steps(stepped_operation::contains, [&] { EXPECT_TRUE(pool.contains(made[0])); });
    if (!compacting || std::is_same_v<Placement, stable_placement>) { // the frame contract
        expect_steps(stepped_operation::find, [&] { EXPECT_EQ(*pool.find(made[1]), 1); });
    }
    for (std::size_t i = 0; i < 5; ++i) {
        expect_steps(stepped_operation::erase, [&] { EXPECT_TRUE(pool.erase(made[i])); });
    }
    expect_steps(stepped_operation::erase, [&] { pool.erase(shared); });
    EXPECT_FALSE(pool.contains(shared));
    EXPECT_TRUE(pool.contains(made[5]));
    EXPECT_TRUE(pool.contains(made[6]));
}

TYPED_TEST(pool_stopped, thread_stopped_at_any_step_of_any_operation_blocks_nobody) {
    using pool_type = stepped_pool<int, TypeParam>;
    for (const operation<pool_type>& victim : operations<pool_type>()) {
        std::size_t steps = 0;
        for (bool more = true; more; ++steps) {
            SCOPED_TRACE(victim.name + ", stopped before step " + std::to_string(steps));
            pool_type pool({.name = "stepped", .capacity = 100, .reuse_delay = 0, .max_threads = 64});
            std::vector<handle_type> handles;
            pool.emplace_n(9, std::back_inserter(handles), 1);
            pool.compact();
            pool.erase(handles[0]);
            pool.emplace(2);
            {
                support::stepper stopped(steps, [&] { victim.run(pool, handles[1], handles[2]); });
                more = stopped.stopped();
                expect_others_work<TypeParam>(pool, handles[2], victim.compacts);
                if (!victim.compacts) {
                    pool.compact(); // neither is compaction held up
                    expect_others_work<TypeParam>(pool, handles[3], false);
                }
            }
            expect_consistent(pool);
            if (TestFixture::HasFailure()) {
                return;
            }
        }
        EXPECT_GT(steps, 0U) << victim.name;
    }
}

TYPED_TEST(pool_stopped, thread_stopped_in_a_constructor_holds_up_its_own_newborns_only) {
    stepped_pool<int, TypeParam> pool({.name = "stepped", .capacity = 100, .max_threads = 64});
    // The step after the constructor ran is the first that can be stopped: by then the position is taken.
    for (std::size_t steps = 0; steps < 40; ++steps) {
        support::stepper stopped(steps, [&] { pool.emplace(1); });
        const auto other = pool.emplace(2);
        pool.compact();
        EXPECT_EQ(pool.handle_of(*pool.find(other)), other);
        EXPECT_TRUE(std::ranges::any_of(pool, [&](const int& each) { return &each == pool.find(other); }));
        stopped.finish();
        pool.clear();
        expect_consistent(pool);
    }
}

// A handle is complete when others can learn of it, by clear() before its maker has returned.
TYPED_TEST(pool_stopped, object_of_a_thread_stopped_in_emplace_may_be_erased_and_is_buried_once) {
    struct scene {
        census counts;
        stepped_pool<counted, TypeParam> pool{{.name = "stepped", .capacity = 100, .max_threads = 64}};
    };
    stop_at_every_access<scene>([](scene& at) { at.pool.emplace(std::ref(at.counts)); },
                                [](scene& at) {
                                    at.pool.clear();
                                    at.pool.emplace(std::ref(at.counts));
                                    EXPECT_GE(at.pool.size(), 1U) << "rather too large than too small";
                                    at.pool.compact();
                                },
                                [](scene& at) {
                                    at.pool.clear();
                                    expect_consistent(at.pool);
                                    EXPECT_EQ(at.pool.size(), 0U);
                                    EXPECT_EQ(at.counts.alive(), 0);
                                });
}

// A sweep looks through what shards' queues lead to, so a batch must be there before anybody can erase a part
// of it.
TYPED_TEST(pool_stopped, object_of_a_thread_stopped_in_emplace_n_may_be_erased_without_a_record) {
    struct scene {
        using pool_type = stepped_pool<counted, TypeParam>;
        ~scene() {
            objects.reset();
            EXPECT_EQ(counts.alive(), 0);
        }
        census counts;
        pool_type objects{{.name = "stepped", .capacity = 100, .removal_queue_size = 1, .max_threads = 64}};
    };
    stop_at_every_access<scene>(
        [](scene& at) {
            std::vector<handle<counted>> handles;
            at.objects.emplace_n(7, std::back_inserter(handles), std::ref(at.counts));
        },
        [](scene& at) {
            at.objects.clear(); // queues one removal, and leaves the others to a sweep
            at.objects.compact();
        },
        [](scene& at) {
            expect_consistent(at.objects);
            EXPECT_EQ(at.counts.alive(), static_cast<std::int64_t>(at.objects.size()));
            at.objects.clear();
            expect_consistent(at.objects);
            EXPECT_EQ(at.counts.alive(), 0);
        });
}

// ---- What is said never to wait, beside a thread that is stopped in anything, or holds a guard

constexpr std::size_t far_more_than_any = 2000;

/// The call ends within a bounded number of its accesses, although `stopped` does not go on. A call that
/// waits is let go, and told.
template <class Call>
void expect_no_wait(const char* name, support::stepper& stopped, Call call) {
    support::stepper caller(far_more_than_any, call);
    EXPECT_TRUE(caller.ended()) << name << " waits";
    if (!caller.ended()) {
        stopped.release();
    }
}

template <class Placement>
struct busy_pool {
    busy_pool() {
        pool.emplace_n(9, std::back_inserter(handles), 1);
        pool.compact();
        pool.erase(handles[0]);
        pool.emplace(2);
    }
    stepped_pool<int, Placement> pool{
        {.name = "stepped", .capacity = 100, .reuse_delay = 0, .max_threads = 64}};
    std::vector<handle_type> handles;
};

TYPED_TEST(pool_never_waits, beside_a_thread_stopped_in_anything_that_a_pool_does) {
    using scene = busy_pool<TypeParam>;
    const std::vector<std::pair<std::string, std::function<void(scene&)>>> victims{
        {"access",
         [](scene& at) {
             const auto guard = at.pool.access();
             static_cast<void>(at.pool.size()); // somewhere to stop with the guard held
         }},
        {"try_access", [](scene& at) { const auto guard = at.pool.try_access(); }},
        {"compact", [](scene& at) { at.pool.compact(); }},
        {"try_compact", [](scene& at) { at.pool.try_compact(); }},
        {"emplace", [](scene& at) { at.pool.emplace(3); }},
        {"emplace_n",
         [](scene& at) {
             std::vector<handle_type> handles;
             at.pool.emplace_n(5, std::back_inserter(handles), 5);
         }},
        {"erase", [](scene& at) { at.pool.erase(at.handles[1]); }},
        {"stats", [](scene& at) { static_cast<void>(at.pool.stats()); }},
        {"shrink_to_fit", [](scene& at) { at.pool.shrink_to_fit(); }},
        {"on_destroy", [](scene& at) { at.pool.on_destroy([](handle_type, int&) {}).release(); }},
    };
    for (const auto& [name, victim] : victims) {
        std::size_t compacted = 0;
        std::size_t guarded = 0;
        std::size_t access = 0;
        for (bool more = true; more; ++access) {
            SCOPED_TRACE(name + ", stopped before access " + std::to_string(access));
            scene at;
            support::stepper stopped(access, [&] { victim(at); });
            more = stopped.stopped();
            expect_no_wait("try_access", stopped, [&] { guarded += at.pool.try_access() ? 1U : 0U; });
            expect_no_wait("try_emplace", stopped, [&] { EXPECT_TRUE(at.pool.try_emplace(4)); });
            expect_no_wait("find", stopped, [&] { EXPECT_NE(at.pool.find(at.handles[2]), nullptr); });
            expect_no_wait("contains", stopped, [&] { EXPECT_TRUE(at.pool.contains(at.handles[3])); });
            expect_no_wait("erase", stopped, [&] { EXPECT_TRUE(at.pool.erase(at.handles[4])); });
            expect_no_wait("try_compact", stopped, [&] { compacted += at.pool.try_compact() ? 1U : 0U; });
            if (TestFixture::HasFailure()) {
                return;
            }
        }
        EXPECT_GT(access, 1U) << name;
        EXPECT_GT(compacted, 0U) << name;
        EXPECT_GT(guarded, 0U) << name;
    }
}

} // namespace
} // namespace handlepool::test
