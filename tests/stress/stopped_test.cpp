// SPDX-License-Identifier: MIT

// A matrix of stopped threads that finds nothing proves nothing: pools that block must fail it.

#include "results/report.hpp"
#include "run/scenarios.hpp"
#include "run/test_run.hpp"
#include "scenarios/stopped.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

namespace handlepool::stress {
namespace {

using std::chrono_literals::operator""ms;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;

// A pool of nothing but handles, behind a lock.
template <class Lock>
class locked_pool : public stoppable {
public:
    std::uint64_t emplace(role) override {
        const std::scoped_lock lock(lock_);
        return *handles_.insert(++last_).first;
    }
    std::size_t emplace_n(role, std::size_t count) override {
        const std::scoped_lock lock(lock_);
        for (std::size_t i = 0; i < count; ++i) {
            handles_.insert(++last_);
        }
        return count;
    }
    bool erase(role, std::uint64_t handle) override {
        const std::scoped_lock lock(lock_);
        return handles_.erase(handle) != 0;
    }
    bool contains(role, std::uint64_t handle) override {
        const std::scoped_lock lock(lock_);
        return handles_.contains(handle);
    }
    bool find(role run, std::uint64_t handle) override { return contains(run, handle); }
    bool locate(std::uint64_t handle) override { return contains(role::victim, handle); }
    bool find_guarded(role run, std::uint64_t handle) override { return contains(run, handle); }
    std::size_t size() override {
        const std::scoped_lock lock(lock_);
        return handles_.size();
    }
    void stats() override { size(); }
    void clear() override {
        const std::scoped_lock lock(lock_);
        handles_.clear();
    }
    void compact() override { size(); }
    bool try_compact() override {
        compact();
        return true;
    }
    void finish() override {}

private:
    Lock lock_;
    std::set<std::uint64_t> handles_;
    std::uint64_t last_ = 0;
};

// The positive control.
class spinlock {
public:
    void lock() noexcept {
        while (held_.exchange(1, std::memory_order::acquire) != 0) {
        }
    }
    void unlock() noexcept { held_.store(0, std::memory_order::release); }

private:
    support::step_atomic<std::uint32_t> held_{0};
};

// Waits for other threads without taking steps.
class sleeping_lock {
public:
    void lock() {
        mutex_.lock();
        word_.load();
    }
    void unlock() {
        word_.store(0);
        mutex_.unlock();
    }

private:
    std::mutex mutex_;
    support::step_atomic<std::uint32_t> word_{0};
};

// Waits for nobody: threads of a case take turns, so that the pool is none the worse for it.
template <std::size_t Steps>
class no_lock {
public:
    void lock() noexcept {
        for (std::size_t i = 0; i < Steps; ++i) {
            word_.load();
        }
    }
    void unlock() noexcept { word_.load(); }

private:
    support::step_atomic<std::uint32_t> word_{0};
};

class full_pool final : public locked_pool<no_lock<1>> {
public:
    std::uint64_t emplace(role run) override {
        return run == role::newcomer ? throw std::runtime_error("there is no room")
                                     : locked_pool::emplace(run);
    }
};

class forgetful_pool final : public locked_pool<no_lock<1>> {
public:
    bool try_compact() override {
        clear();
        return true;
    }
};

struct outcome {
    report result;
    std::uint64_t cases;
};

// One pass of the matrix.
template <class Pool>
outcome run_matrix(std::chrono::milliseconds patience = std::chrono::seconds(20)) {
    test_run run("stopped", {.threads = 1});
    step_counts allowed = allowed_steps;
    allowed[static_cast<std::size_t>(stepped_operation::contains)] = 2; // the lock's own
    stopped_matrix matrix(run, allowed, patience);
    matrix.run(
        {.made_before = 1},
        [](const stopped_setting&, std::size_t, bool) { return std::make_unique<Pool>(); }, true);
    matrix.add_facts();
    return {run.result(), matrix.cases()};
}

TEST(stopped, pool_behind_a_spinlock_fails) {
    const auto [result, cases] = run_matrix<locked_pool<spinlock>>();
    // Each operation can be stopped before it has the lock, and when it has.
    EXPECT_GE(cases, 20U);
    EXPECT_EQ(result.all.violations, cases / 2);
    EXPECT_THAT(result.all.messages, Each(HasSubstr("emplace of the veteran took more than 60 steps")));
    EXPECT_THAT(result.all.messages, Each(HasSubstr("was stopped before its step 1")));
}

TEST(stopped, the_same_pool_without_the_lock_passes) {
    const auto [result, cases] = run_matrix<locked_pool<no_lock<1>>>();
    EXPECT_GE(cases, 20U);
    EXPECT_TRUE(result.passed()) << to_text(result);
}

TEST(stopped, pool_that_blocks_without_taking_steps_fails_and_is_given_up) {
    const auto [result, cases] = run_matrix<locked_pool<sleeping_lock>>(300ms);
    EXPECT_EQ(cases, 1U);
    EXPECT_EQ(result.all.violations, 1U);
    EXPECT_THAT(result.all.messages,
                Each(HasSubstr("emplace of the veteran did not end within 0.3 seconds")));
}

TEST(stopped, pool_that_takes_too_many_steps_fails) {
    const auto [result, cases] =
        run_matrix<locked_pool<no_lock<support::bound_of(stepped_operation::emplace).accesses>>>();
    EXPECT_EQ(result.all.violations, cases + 12) << "also when nobody is stopped, once for each operation";
    EXPECT_THAT(
        result.all.messages,
        Each(HasSubstr("emplace of the veteran took more than 60 steps (61 when all were let go on)")));
}

TEST(stopped, wrong_answers_and_exceptions_fail) {
    const report full = run_matrix<full_pool>().result;
    EXPECT_FALSE(full.passed());
    EXPECT_THAT(full.all.messages, Each(HasSubstr("the newcomer caught: there is no room wh")));
    const report forgetful = run_matrix<forgetful_pool>().result;
    EXPECT_FALSE(forgetful.passed());
    EXPECT_THAT(forgetful.all.messages,
                Contains(HasSubstr("the veteran: an object that was not erased is gone")));
}

std::string fact(const report& of, std::string_view name) {
    for (const auto& [each, value] : of.facts) {
        if (each == name) {
            return value;
        }
    }
    ADD_FAILURE() << "there is no fact " << name;
    return "0";
}

struct stopped_pool : testing::TestWithParam<placement_kind> {};

TEST_P(stopped_pool, passes_within_the_published_bounds) {
    test_run run("stopped", {.threads = 2, .seconds = 0.001, .service = {.placement = GetParam()}});
    run_stopped(run);
    const report& result = run.result();
    EXPECT_TRUE(result.passed()) << to_text(result);
    EXPECT_GE(std::stoul(fact(result, "times all cases")), 3U) << "whatever time there is";
    EXPECT_GE(std::stoul(fact(result, "cases")), 1000U);
    EXPECT_GT(result.all.checked, 10'000U);
    for (std::size_t what = 0; what < support::step_bounds.size(); ++what) {
        const std::string name = std::string(support::step_bounds[what].operation) + ", most steps";
        const std::string steps = fact(result, name);
        EXPECT_GT(std::stoul(steps), 0U) << name;
        EXPECT_LE(std::stoul(steps), allowed_steps[what]) << name;
        EXPECT_THAT(steps, HasSubstr(", at most " + std::to_string(allowed_steps[what]) + " allowed"));
    }
}

INSTANTIATE_TEST_SUITE_P(, stopped_pool, testing::ValuesIn(placements),
                         [](const auto& of) { return std::string(name_of(of.param)); });

} // namespace
} // namespace handlepool::stress
