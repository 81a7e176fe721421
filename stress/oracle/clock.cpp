// SPDX-License-Identifier: MIT
#include "oracle/clock.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace handlepool::stress {

time_stamp measure_clock_skew() {
    constexpr int exchanges = 2000;
    std::atomic<time_stamp> there = 0; // 0: under way
    std::atomic<time_stamp> back = 0;
    const auto receive = [](std::atomic<time_stamp>& from) {
        while (true) {
            if (const time_stamp sent = from.exchange(0)) {
                return sent - now();
            }
            std::this_thread::yield();
        }
    };
    time_stamp skew = 0;
    time_stamp other_skew = 0;
    {
        const std::jthread other([&] {
            for (int i = 0; i < exchanges; ++i) {
                other_skew = std::max(other_skew, receive(there));
                back.store(now());
            }
        });
        for (int i = 0; i < exchanges; ++i) {
            there.store(now());
            skew = std::max(skew, receive(back));
        }
    }
    return std::max(skew, other_skew);
}

} // namespace handlepool::stress
