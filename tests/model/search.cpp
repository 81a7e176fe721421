// SPDX-License-Identifier: MIT
#include "search.hpp"

#include "model_policy.hpp"
#include "relacy.hpp"
#include "steps.hpp"

#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>

namespace handlepool::model {
namespace {

using clock = std::chrono::steady_clock;

/// What is being run; the checker makes its suites itself.
struct current_search {
    const model_entry* entry = nullptr;
    const search_options* options = nullptr;
    clock::time_point start;
    std::uint64_t executions = 0;
    bool enough = false;
};
current_search current;

/// Gives access to the count that makes the checker leave memory to malloc. Its own accounting would draw a
/// random choice for each string that is freed; the objects are watched by their variables.
struct allocation : rl::context {
    static int& count() { return rl::ctx().*(&allocation::disable_alloc_); }
};

template <int Threads>
struct suite : rl::test_suite<suite<Threads>, Threads> {
    suite() {
        allocation::count() = 1;
        own_exceptions::forget();
        all_steps.begin(0);
        model_ = current.entry->make();
    }
    ~suite() {
        model_.reset();
        allocation::count() = 0;
    }

    void before() {
        const double seconds = std::chrono::duration<double>(clock::now() - current.start).count();
        // The bounded and the full search know no limit of their own.
        if (current.executions == current.options->executions || seconds > current.options->seconds) {
            current.enough = true;
            rl::ctx().rl_until("enough", {});
        }
        ++current.executions;
        all_steps.begin(Threads);
    }
    void thread(unsigned index) {
        own_exceptions::forget();
        try {
            model_->run(index);
        } catch (const std::exception& thrown) {
            require(false, thrown.what());
        }
        all_steps.end_thread();
    }
    void after() { model_->check(); }

    std::unique_ptr<model> model_;
};

template <int Threads>
bool run_threads(rl::test_params& params, rl::ostringstream& state, bool again) {
    using test = suite<Threads>;
    current.executions = 0;
    current.enough = false;
    current.start = clock::now();
    switch (current.options->how) {
    case strategy::random:
        rl::run_test<test, rl::random_scheduler<Threads>>(params, state, again);
        break;
    case strategy::bounded:
        rl::run_test<test, rl::context_bound_scheduler<Threads>>(params, state, again);
        break;
    case strategy::exhaustive:
        rl::run_test<test, rl::full_search_scheduler<Threads>>(params, state, again);
        break;
    }
    return params.test_result == rl::test_result_success;
}

bool run(rl::test_params& params, rl::ostringstream& state, bool again) {
    switch (current.entry->threads) {
    case 2:
        return run_threads<2>(params, state, again);
    case 3:
        return run_threads<3>(params, state, again);
    default:
        throw std::logic_error("models have 2 or 3 threads");
    }
}

} // namespace

search_result search(const model_entry& which, const search_options& options) {
    current = {&which, &options, clock::now(), 0, false};
    std::ostream nowhere(nullptr);
    rl::test_params params;
    params.iteration_count = options.executions;
    params.output_stream = &nowhere;
    params.progress_stream = &nowhere;
    params.context_bound = options.preemptions;
    params.execution_depth_limit = 20000;
    switch (options.how) {
    case strategy::random:
        params.search_type = rl::random_scheduler_type;
        break;
    case strategy::bounded:
        params.search_type = rl::fair_context_bound_scheduler_type;
        break;
    case strategy::exhaustive:
        params.search_type = rl::fair_full_search_scheduler_type;
        break;
    }

    all_steps.stop(0, options.stop_before.value_or(steps::never));
    search_result result;
    rl::ostringstream state;
    const bool passed = run(params, state, false);
    result.seconds = std::chrono::duration<double>(clock::now() - current.start).count();
    result.executions = current.executions;
    result.passed = passed || current.enough;
    result.stopped = all_steps.reached();
    result.complete = passed && options.how != strategy::random;
    if (!result.passed) {
        result.failure = params.test_result == rl::test_result_user_assert_failed
                             ? last_requirement
                             : rl::test_result_str(params.test_result);
        if (options.tell_history) { // by the same execution once more
            params.collect_history = true;
            params.output_stream = &std::cout;
            params.initial_state = state.str();
            rl::ostringstream unused;
            run(params, unused, true);
        }
    }
    return result;
}

} // namespace handlepool::model
