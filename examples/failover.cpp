// SPDX-License-Identifier: MIT

// A world that no end of a process ends. One server plays it, and appends what each frame has changed to a
// log in Redis. Another one stands by: it follows the log, and when the first has not been heard of for a
// moment, goes on from the last frame, with the same handles. Followers look on. Each of them checks in every
// frame that each handle that it has ever seen leads to its own ship, or nowhere.

#include "failover/options.hpp"
#include "failover/world.hpp"

#include <handlepool/redis/redis_follower.hpp>
#include <handlepool/redis/redis_publisher.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace failover;
using namespace std::chrono_literals;

volatile std::sig_atomic_t is_to_end = 0;

/// All processes of a machine have this clock.
long long microseconds_now() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void say(std::string_view text) {
    fmt::print("{:>16} {}\n", microseconds_now(), text);
    std::fflush(stdout); // whoever reads it has the line as soon as it is said
}

void say_frame(const options& chosen, std::string_view what, world& game) {
    if (game.frame() % chosen.every == 0) {
        say(fmt::format("{} frame {}: {} ships, fingerprint {:016x}", what, game.frame(), game.size(),
                        game.fingerprint()));
    }
}

/// Says what is wrong with the log, once for each time that it is.
class spoken_problem {
public:
    void hear(const std::string& problem) {
        if (problem != last_ && !problem.empty()) {
            say(problem);
        }
        last_ = problem;
    }

private:
    std::string last_;
};

/// Follows until the log can be taken over, or the program is to end.
std::optional<handlepool::redis_lease> stand_by(const options& chosen, world& game) {
    handlepool::redis_follower log(chosen.redis, chosen.log);
    spoken_problem problem;
    std::optional<handlepool::redis_lease> lease;
    while (!lease && is_to_end == 0) {
        if (log.follow(game.copy(), 5ms)) {
            game.check();
            continue; // until there is no more
        }
        problem.hear(log.problem());
        lease = log.try_take_over(chosen.name, std::chrono::milliseconds(chosen.lease));
    }
    return lease;
}

/// Plays frames until another server has the log, or the program is to end.
void play(const options& chosen, world& game, const handlepool::redis_lease& lease) {
    // The world is small: a server that starts again has more to do with many deltas than with a snapshot.
    handlepool::redis_publisher log(chosen.redis, chosen.log, lease, {.snapshot_every = 100});
    log.begin(game.frame(), game.begin());
    say(fmt::format("plays from frame {} on, with token {}", game.frame(), lease.token));
    spoken_problem problem;
    auto next = std::chrono::steady_clock::now();
    while (is_to_end == 0) {
        log.append(game.next_frame());
        game.check();
        // Nobody outside hears of a frame that a standby could not know.
        while (is_to_end == 0 && !log.wait(game.frame(), 100ms)) {
            problem.hear(log.problem());
        }
        say_frame(chosen, "published", game);
        next = std::max(next + std::chrono::microseconds(1'000'000 / chosen.rate),
                        std::chrono::steady_clock::now());
        std::this_thread::sleep_until(next);
    }
    say(log.release(1s) ? "has given the log up" : "has left the log");
}

void serve(const options& chosen) {
    world game;
    while (is_to_end == 0) {
        say("stands by");
        if (const auto lease = stand_by(chosen, game)) {
            try {
                play(chosen, game, *lease);
            } catch (const handlepool::lease_lost& error) {
                say(error.what()); // it stands by again, from a snapshot
            }
        }
    }
}

void follow(const options& chosen) {
    world game;
    handlepool::redis_follower log(chosen.redis, chosen.log);
    spoken_problem problem;
    while (is_to_end == 0) {
        if (log.follow(game.copy(), 100ms)) {
            game.check();
            say_frame(chosen, "followed", game);
        } else {
            problem.hear(log.problem());
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    for (const int signal : {SIGINT, SIGTERM}) {
        std::signal(signal, [](int) { is_to_end = 1; });
    }
    return run_with_options(argc, argv,
                            "A world with a standby that takes over, and followers, by a log in Redis.",
                            serve, follow);
}
