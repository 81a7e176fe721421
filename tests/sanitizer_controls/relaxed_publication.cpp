// SPDX-License-Identifier: MIT

// Planted: all stores of a pool's atomics are relaxed, so an object is published before it is complete.
// Correct: the pool as it ships. The handle is passed on without any order in both: the tag carries it.
#include "fault.hpp"

#include <handlepool/policy.hpp>
#include <handlepool/pool.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>

namespace {

struct ship {
    int hull;
};

template <class T>
struct relaxed_atomic : std::atomic<T> {
    using std::atomic<T>::atomic;
    void store(T value, std::memory_order) noexcept {
        std::atomic<T>::store(value, std::memory_order::relaxed);
    }
};

struct relaxed_policy : handlepool::default_policy {
    template <class T>
    using atomic = relaxed_atomic<T>;
};

template <class Policy>
int hull_seen_by_another_thread() {
    using ship_pool = handlepool::pool<ship, handlepool::with_policy<Policy>>;
    ship_pool ships({.name = "ships", .capacity = 10});
    std::atomic<std::uint64_t> passed{0};
    int seen = 0;
    std::thread reader([&] {
        std::uint64_t value = 0;
        while (value == 0) {
            value = passed.load(std::memory_order::relaxed);
        }
        while (seen == 0) {
            const ship* const found = ships.find(ship_pool::handle_type::from_value(value));
            seen = found == nullptr ? 0 : found->hull;
        }
    });
    passed.store(ships.emplace(100).value(), std::memory_order::relaxed);
    reader.join();
    return seen;
}

} // namespace

int main(int argc, char** argv) {
    const bool planted = handlepool::control::is_planted(argc, argv);
    std::printf("hull %d\n", planted ? hull_seen_by_another_thread<relaxed_policy>()
                                     : hull_seen_by_another_thread<handlepool::default_policy>());
}
