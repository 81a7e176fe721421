// SPDX-License-Identifier: MIT
#pragma once

#include "run/test_run.hpp"

#include <support/steps/step_bounds.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

// The matrix of the scenario `stopped`, for any pool whose atomics are step_atomics.
namespace handlepool::stress {

using support::step_counts;
using support::stepped_operation;

// What the others may take while a thread is stopped.
inline constexpr step_counts allowed_steps = [] {
    step_counts allowed{};
    for (std::size_t what = 0; what < allowed.size(); ++what) {
        allowed[what] = support::step_bounds[what].accesses;
    }
    return allowed;
}();

// The threads of a case. The veteran has used the pool before another is stopped, the newcomer has not.
enum class role : std::uint8_t { victim, veteran, newcomer };
inline constexpr std::array<std::string_view, 3> role_names{"victim", "veteran", "newcomer"};

constexpr std::string_view name_of(role who) noexcept {
    return role_names[static_cast<std::size_t>(who)];
}

// A pool in which threads can be stopped, as the matrix sees it. The caller says which of the threads it is;
// handles are their values.
class stoppable {
public:
    virtual ~stoppable() = default;

    virtual std::uint64_t emplace(role by) = 0;                    // throws when there is no room
    virtual std::size_t emplace_n(role by, std::size_t count) = 0; // returns how many handles there are
    virtual bool erase(role by, std::uint64_t handle) = 0;
    virtual bool contains(role by, std::uint64_t handle) = 0;
    virtual bool find(role by, std::uint64_t handle) = 0;         // and looks at the object
    virtual bool locate(std::uint64_t handle) = 0;                // find, and does not
    virtual bool find_guarded(role by, std::uint64_t handle) = 0; // under access guards, one in the other
    virtual std::size_t size() = 0;
    virtual void stats() = 0;
    virtual void clear() = 0;
    virtual void compact() = 0;
    virtual bool try_compact() = 0;

    // After all, while no thread is at work: reports what is wrong.
    virtual void finish() = 0;
};

// The state of a pool in which a thread is stopped.
enum class slots : std::uint8_t { fresh, recycled, nearly_full };
struct stopped_setting {
    std::size_t batch = 2; // of slots that are claimed at once, and so on: 1, 2 or 4
    slots from = slots::recycled;
    std::size_t objects = 9;     // that live in the dense store
    std::size_t made_before = 0; // objects by the victim: that decides what is left of its claims

    std::string text() const;
};

// Makes the pool of a case. It has room for `room` objects, and for no more if slots are to be nearly full.
// The histories of what an unrecorded operation does are not kept.
using stoppable_maker = std::function<std::unique_ptr<stoppable>(const stopped_setting& setting,
                                                                 std::size_t room, bool recorded)>;

// Stops a thread before each step of each operation in turn, and has others work meanwhile.
class stopped_matrix {
public:
    // What makes no steps and does not end is given up after so long.
    explicit stopped_matrix(test_run& run, const step_counts& allowed = allowed_steps,
                            std::chrono::milliseconds patience = std::chrono::seconds(20))
        : run_(run), allowed_(allowed), patience_(patience) {}

    // All cases of a setting, or as many as there is time for.
    void run(const stopped_setting& setting, const stoppable_maker& make, bool all);
    // Adds to the report what was found.
    void add_facts() const;

    std::uint64_t cases() const noexcept { return cases_; }
    std::uint64_t passes() const noexcept { return passes_; } // settings that all cases were run of
    std::size_t steps(stepped_operation what) const noexcept {
        return steps_[static_cast<std::size_t>(what)];
    }

private:
    friend class stopped_case;

    test_run& run_;
    step_counts allowed_;
    std::chrono::milliseconds patience_;
    step_counts steps_{}; // most of each
    std::uint64_t cases_ = 0;
    std::uint64_t passes_ = 0;
    bool given_up_ = false; // something hung
};

} // namespace handlepool::stress
