#pragma once

#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

namespace handlepool::test {

/// Runs `body(0)` to `body(count - 1)`, each in a thread of its own, which all start at the same moment.
template <class Body>
void in_threads(std::size_t count, Body body) {
    std::barrier start(static_cast<std::ptrdiff_t>(count));
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < count; ++thread) {
        threads.emplace_back([&, thread] {
            start.arrive_and_wait();
            body(thread);
        });
    }
}

} // namespace handlepool::test
