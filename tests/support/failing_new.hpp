// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <new>
#include <string>

/// A global operator new that fails when a test wants it to. It stands in failing_new.cpp: for programs of
/// their own, all of whose allocations it makes.
namespace handlepool::test {

/// Does memory come back after the allocation that fails?
enum class shortage { of_one_allocation, from_one_allocation_on };

/// Both, for tests that have one for their parameter, and their names there.
inline const auto both_shortages =
    testing::Values(shortage::of_one_allocation, shortage::from_one_allocation_on);
inline std::string name_of_shortage(const testing::TestParamInfo<shortage>& tested) {
    return tested.param == shortage::of_one_allocation ? "comes_back" : "stays_short";
}

/// From begin() to end() the allocations of all threads are counted, and the one with that number fails. One
/// at a time.
class memory_shortage {
public:
    memory_shortage(shortage kind, std::size_t allocation) : kind_(kind), allocation_(allocation) {}

    void begin() const noexcept;
    /// Memory is there again. The failures so far count.
    void end() noexcept;

    /// Has an allocation failed?
    bool came() const noexcept { return came_; }

    /// Calls `action` from begin() to end(). Returns whether it threw std::bad_alloc.
    template <class Action>
    bool interrupts(const Action& action) {
        bool thrown = false;
        begin();
        try {
            action();
        } catch (const std::bad_alloc&) {
            thrown = true;
        }
        end();
        return thrown;
    }
    /// The same, and expects that if an allocation fails, and only then.
    template <class Action>
    bool hits(const Action& action) {
        const bool thrown = interrupts(action);
        EXPECT_EQ(thrown, came());
        return thrown;
    }

private:
    shortage kind_;
    std::size_t allocation_;
    bool came_ = false;
};

/// Calls `round(shortage)`, which begins and ends the shortage, until each of its allocations has failed: the
/// first in the first round, and so on. Returns how many there are.
template <class Round>
std::size_t with_each_allocation_failing(shortage kind, Round round) {
    for (std::size_t allocation = 0;; ++allocation) {
        memory_shortage when(kind, allocation);
        round(when);
        if (!when.came()) {
            return allocation;
        }
    }
}

/// Expects that `action` needs no memory.
template <class Action>
void expect_no_allocation(const Action& action) {
    EXPECT_FALSE(memory_shortage(shortage::from_one_allocation_on, 0).hits(action));
}

} // namespace handlepool::test
