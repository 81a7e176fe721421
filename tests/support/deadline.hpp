// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace handlepool::test {

/// Ends loops that go on until something is seen, where it never comes: a minute later than that it came on
/// any machine.
class deadline {
public:
    bool has_passed() const { return std::chrono::steady_clock::now() >= end_; }

private:
    std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::minutes(1);
};

} // namespace handlepool::test
