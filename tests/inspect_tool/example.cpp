// SPDX-License-Identifier: MIT

// A program to be inspected: makes pools, leaks in one place, erases in another, holds guards of a pool and
// of a service in two others, and waits for its end. With the argument `busy` it goes on leaking, and a
// compaction waits for the guard; with `strange` it has a pool with a name of strange bytes.

#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/stable_pool.hpp>

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>

namespace game {

struct station {
    int cargo = 0;
};
struct spark {
    float heat = 0;
};

using stations = handlepool::pool<station>;

handlepool::handle<station> found(stations& all, int cargo) {
    return all.emplace(station{cargo});
}

void leak(stations& all) {
    for (int i = 0; i != 5; ++i) {
        all.emplace();
        all.compact();
    }
}

void explode(stations& all, handlepool::handle<station> which) {
    all.erase(which);
}

/// Never returns.
void serve(handlepool::service& all) {
    const auto guard = all.access();
    pause();
}

std::atomic<bool> is_drawing{false};

/// Never returns. Tells the handle that is kept and the one that is lost.
void draw(const stations& all, handlepool::handle<station> kept, handlepool::handle<station> lost) {
    const auto guard = all.access();
    is_drawing = true;
    is_drawing.notify_all();
    std::printf("%#llx %#llx\n", static_cast<unsigned long long>(kept.value()),
                static_cast<unsigned long long>(lost.value()));
    std::fflush(stdout);
    pause();
}

struct rock {
    int size = 0;
};

handlepool::handle<rock> split(handlepool::pool<rock>& all) {
    return all.emplace(rock{1});
}
void forget(handlepool::pool<rock>& all) {
    all.emplace(rock{2});
}

/// Never returns. Of the rocks of a frame one is forgotten, and one is written.
void run_frames() {
    handlepool::pool<rock> rocks({.name = "rocks", .capacity = 100'000, .record_lives = 2, .pool_id = 7});
    const auto kept = split(rocks);
    for (;;) {
        const auto brief = split(rocks);
        forget(rocks);
        rocks.compact();
        rocks.erase(brief);
        {
            const auto guard = rocks.access();
            ++rocks[kept].size;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

} // namespace game

int main(int count, char** arguments) {
#ifdef PR_SET_PTRACER
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); // where a program may only be read by those that started it
#endif
    pthread_setname_np(pthread_self(), "logic");
    game::stations stations({.name = "stations", .capacity = 100, .record_lives = 4, .pool_id = 5});
    handlepool::stable_pool<game::spark> sparks({.name = "sparks", .capacity = 40, .pool_id = 6});
    const auto kept = game::found(stations, 7);
    const auto lost = game::found(stations, 8);
    sparks.emplace();
    game::leak(stations);
    game::explode(stations, lost);
    stations.compact();
    sparks.compact();
    std::optional<handlepool::pool<game::rock>> strange;
    if (count == 2 && std::strcmp(arguments[1], "strange") == 0) {
        strange.emplace(handlepool::pool_options{.name = "a\n\x1b[2J\"\\\xff", .capacity = 10});
    }
    handlepool::service service;
    std::jthread server([&] {
        pthread_setname_np(pthread_self(), "network");
        game::serve(service);
    });
    while (!service.has_guards()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::jthread renderer([&] {
        pthread_setname_np(pthread_self(), "render");
        game::draw(stations, kept, lost);
    });
    if (count == 2 && std::strcmp(arguments[1], "busy") == 0) {
        std::jthread compactor([&] {
            pthread_setname_np(pthread_self(), "frames");
            game::is_drawing.wait(false);
            stations.compact();
        });
        game::run_frames();
    }
    renderer.join();
}
