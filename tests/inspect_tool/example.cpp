// SPDX-License-Identifier: MIT

// A program to be inspected: makes pools, leaks in one place, erases in another, holds a guard in a third,
// and waits for its end.

#include <handlepool/pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
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

} // namespace game

int main() {
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
    std::jthread renderer([&] {
        pthread_setname_np(pthread_self(), "render");
        const auto guard = stations.access();
        std::printf("%#llx %#llx\n", static_cast<unsigned long long>(kept.value()),
                    static_cast<unsigned long long>(lost.value()));
        std::fflush(stdout);
        pause();
    });
    renderer.join();
}
