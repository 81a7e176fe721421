// SPDX-License-Identifier: MIT
#pragma once

#include "sessions.hpp"

#include <handlepool/pool.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace request_server {

// For how long does housekeeping keep requests waiting? Each contender keeps house in its own way.

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using waiting = std::chrono::duration<double, std::milli>;

/// The longest compaction, while which no request gets a guard, when `count` of 100,000 sessions end at once.
inline waiting longest_compaction(std::size_t count, std::size_t budget, std::chrono::nanoseconds farewell,
                                  bool ends_later) {
    handlepool::pool<session> table({.name = "sessions", .capacity = 100'000});
    farewells ending;
    const handlepool::scoped_hook ends = table.on_destroy([&](session_handle, session& over) {
        if (ends_later) {
            ending.add(std::move(over.connection));
        }
    });
    std::vector<session_handle> all(table.capacity());
    table.emplace_n(all.size(), all.begin(),
                    [&](std::size_t) { return session{.connection = std::make_unique<backend>(farewell)}; });
    table.compact();
    for (std::size_t i = 0; i != count; ++i) {
        table.erase(all[i * (all.size() / count)]);
    }
    waiting longest{};
    while (!table.idle()) {
        longest = std::max<waiting>(longest, table.compact_some(budget).duration);
        ending.end_all();
    }
    for (session& each : table.mutable_items()) { // the others end in no time
        each.connection->farewell = {};
    }
    return longest;
}

/// The longest wait for a guard while another request holds one for 200 ms, such as for an answer of a
/// database, and the housekeeper wants to compact.
template <class Compact>
waiting longest_wait(const Compact& compact) {
    handlepool::pool<session> table({.name = "sessions", .capacity = 1000});
    const session_handle one = table.emplace();
    std::atomic<bool> held = false;
    std::atomic<bool> ended = false;
    std::jthread slow([&] {
        const auto session = table.pin(one);
        held = true;
        held.notify_one();
        std::this_thread::sleep_for(milliseconds(200));
        ended = true;
    });
    held.wait(false);
    std::jthread housekeeper([&] { compact(table); });
    waiting longest{};
    while (!ended) {
        const steady_clock::time_point begin = steady_clock::now();
        const auto session = table.pin(one);
        longest = std::max<waiting>(longest, steady_clock::now() - begin);
    }
    return longest;
}

/// Contenders are compared with the first of their group.
struct contender {
    std::string_view name;
    std::function<waiting()> measure;
};

inline void compare(std::string_view title, unsigned rounds, const std::vector<contender>& group) {
    std::vector<waiting> quietest(group.size(), waiting::max()); // what else the machine does only adds
    for (unsigned round = 0; round != rounds; ++round) {         // they take turns
        for (std::size_t i = 0; i != group.size(); ++i) {
            quietest[i] = std::min(quietest[i], group[i].measure());
        }
    }
    fmt::print("{}\n", title);
    for (std::size_t i = 0; i != group.size(); ++i) {
        fmt::print("    {:44} {:9.3f} ms {:8.4f} x\n", group[i].name, quietest[i].count(),
                   quietest[i] / quietest[0]);
    }
}

inline void measure_latencies(unsigned rounds) {
    constexpr std::size_t whole = std::numeric_limits<std::size_t>::max();
    constexpr microseconds slow{10};
    compare("20,000 of 100,000 sessions end at once: the longest compaction", rounds,
            {{"compact()", [] { return longest_compaction(20'000, whole, {}, true); }},
             {"compact_some(5000)", [] { return longest_compaction(20'000, 5000, {}, true); }},
             {"compact_some(500)", [] { return longest_compaction(20'000, 500, {}, true); }}});
    compare("1,000 sessions end, whose destructor takes 10 us: the longest compaction", rounds,
            {{"compact_some(500)", [=] { return longest_compaction(1000, 500, slow, false); }},
             {"the same, and a hook takes out what is slow",
              [=] { return longest_compaction(1000, 500, slow, true); }}});
    compare("a request holds a guard for 200 ms: the longest wait of another", rounds,
            {{"compact()", [] { return longest_wait([](auto& table) { table.compact(); }); }},
             {"try_compact()", [] { return longest_wait([](auto& table) { table.try_compact(); }); }}});
}

} // namespace request_server
