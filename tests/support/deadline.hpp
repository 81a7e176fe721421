// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace handlepool::test {

/// Ends a loop that waits for what may never come: a minute after it began, which is far longer than it has
/// taken on any machine.
class deadline {
public:
    bool has_passed() const { return std::chrono::steady_clock::now() >= end_; }

private:
    std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::minutes(1);
};

} // namespace handlepool::test
