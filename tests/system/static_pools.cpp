// SPDX-License-Identifier: MIT

// Pools of static storage duration, of a program that goes on after main.
// usage: static_pools statics|outlived

#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace {

using handlepool::handle;
using handlepool::pool;

void require(bool right, const char* what) {
    if (!right) {
        std::fprintf(stderr, "wrong: %s\n", what);
        std::_Exit(1);
    }
}

// Is destroyed last, since it is made first.
struct last_word {
    ~last_word() { std::puts("the last static object ends"); }
} const last;

/// Uses pools from its constructor on to its destructor.
struct user {
    explicit user(pool<int>& used) : ints(used), mine(used.emplace(7)) {}
    ~user() {
        require(ints.at(mine) == 7, "an object of a static one");
        const auto late = ints.emplace(8);
        require(ints.erase(mine) && ints.compact().removed == 1, "compaction at the end");
        require(ints.at(late) == 8, "a late object");
    }

    pool<int>& ints;
    handle<int> mine;
};

// Made before main, destroyed after it; the user after it is destroyed before it.
pool<int> before_main({.name = "before main", .capacity = 1000});
const user of_before_main(before_main);
handlepool::service world;
pool<int>& of_world = world.add<handlepool::pool<int>>("of world", {.capacity = 1000});
const user user_of_world(of_world);

thread_local const user of_a_thread(before_main);

pool<int>& made_in_a_function() {
    static pool<int> ints({.name = "in a function", .capacity = 1000});
    return ints;
}

void statics() {
    before_main.emplace(1);
    made_in_a_function().emplace(1);
    static const user late(made_in_a_function());
    require(of_a_thread.ints.contains(of_a_thread.mine), "an object of the main thread");
    std::thread([] { require(of_a_thread.ints.contains(of_a_thread.mine), "one of another"); }).join();
    std::atexit([] { require(made_in_a_function().contains(made_in_a_function().emplace(1)), "atexit"); });
}

// ---- Threads that go on while the program ends

std::atomic<bool> main_has_ended = false;
std::atomic<int> rounds_after_main = 0;

/// Gives the detached threads time to go on after main.
struct pause_at_end {
    ~pause_at_end() {
        main_has_ended = true;
        for (int i = 0; i != 6000 && rounds_after_main < 100; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        require(rounds_after_main >= 100, "the detached threads have gone on");
    }
} const pause_here;

/// Pools that are never destroyed may be used until the process is gone.
void outlived() {
    static pool<int>& forever = *new pool<int>({.name = "forever", .capacity = 1000});
    for (int thread = 0; thread != 3; ++thread) {
        std::thread([thread] {
            while (true) {
                if (const auto handle = forever.try_emplace(thread)) {
                    {
                        const auto guard = forever.access();
                        require(*forever.find(handle) == thread, "an object of a detached thread");
                    }
                    require(forever.erase(handle), "erasing it");
                }
                if (thread == 0) {
                    forever.compact();
                }
                rounds_after_main += main_has_ended ? 1 : 0;
            }
        }).detach();
    }
}

} // namespace

int main(int count, char** arguments) {
    const std::string_view scene = count == 2 ? arguments[1] : "";
    if (scene == "statics") {
        main_has_ended = true; // nobody has to go on
        rounds_after_main = 100;
        statics();
    } else if (scene == "outlived") {
        outlived();
    } else {
        std::fputs("usage: static_pools statics|outlived\n", stderr);
        return 2;
    }
}
