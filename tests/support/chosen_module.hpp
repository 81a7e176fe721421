// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/threads/thread_index.hpp>
#include <handlepool/policy.hpp>

#include <cstdint>

namespace handlepool::test {

/// Lets a test say by which module's code it calls: each has a numbering of its own, and this thread's number
/// is the same in both.
struct chosen_module : default_policy {
    inline static std::uint64_t chosen = 1;
    static std::uint64_t numbering() noexcept { return chosen; }
    static std::uint32_t thread_index(std::uint64_t numbering) noexcept {
        return numbering == chosen ? 0 : detail::foreign_thread_index;
    }
};

} // namespace handlepool::test
