// SPDX-License-Identifier: MIT
#include "oracle/clock.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace handlepool::stress {

time_stamp measure_clock_skew() {
    constexpr int exchanges = 2000;
    // Where others keep the processors, each takes milliseconds.
    constexpr time_stamp longest = 100'000'000;
    constexpr time_stamp under_way = 0;
    constexpr time_stamp last = -1;
    std::atomic<time_stamp> there = under_way;
    std::atomic<time_stamp> back = under_way;
    const auto receive = [](std::atomic<time_stamp>& from) {
        while (true) {
            if (const time_stamp sent = from.exchange(under_way)) {
                return sent;
            }
            std::this_thread::yield();
        }
    };
    time_stamp skew = 0;
    time_stamp other_skew = 0;
    {
        const std::jthread other([&] {
            for (time_stamp sent = receive(there); sent != last; sent = receive(there)) {
                other_skew = std::max(other_skew, sent - now());
                back.store(now());
            }
        });
        const time_stamp end = now() + longest;
        int i = 0;
        do {
            there.store(now());
            const time_stamp sent = receive(back);
            skew = std::max(skew, sent - now());
        } while (++i != exchanges && now() < end);
        there.store(last);
    }
    return std::max(skew, other_skew);
}

} // namespace handlepool::stress
