// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>

#include <cstddef>
#include <functional>
#include <string>

namespace handlepool::test {

/// Runs `body` once for each of its accesses, stopped before that one while `meanwhile` happens; `check`
/// comes after the end. `scene` is made anew each time.
template <class Scene>
void stop_at_every_access(const std::function<void(Scene&)>& body,
                          const std::function<void(Scene&)>& meanwhile,
                          const std::function<void(Scene&)>& check) {
    std::size_t access = 0;
    for (bool stopped = true; stopped; ++access) {
        SCOPED_TRACE("stopped before access " + std::to_string(access));
        Scene scene;
        support::stepper victim(access, [&] { body(scene); });
        stopped = victim.stopped();
        meanwhile(scene);
        victim.finish();
        check(scene);
        if (testing::Test::HasFailure()) {
            return;
        }
    }
    EXPECT_GT(access, 1U) << "the body makes no accesses that could be stopped";
}

} // namespace handlepool::test
