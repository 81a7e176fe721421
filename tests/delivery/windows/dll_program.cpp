// SPDX-License-Identifier: MIT
#include <handlepool/error.hpp>
#include <handlepool/pool.hpp>

#include <cstddef>
#include <cstdio>
#include <thread>

// A program that uses the library as a DLL: its objects, its errors, and numbers of threads that come back.
namespace {

struct ship {
    double position[8];
    int hull;
};

constexpr std::size_t max_threads = 8;

bool is_right(bool right, const char* what) {
    std::printf("%s: %s\n", right ? "right" : "wrong", what);
    return right;
}

} // namespace

int main() {
    handlepool::pool<ship> ships({.name = "ships", .capacity = 100'000, .max_threads = max_threads});
    // More threads than have numbers at the same time.
    for (std::size_t thread = 0; thread != 20 * max_threads; ++thread) {
        std::thread([&] {
            for (int i = 0; i != 10; ++i) {
                ships.emplace();
            }
        }).join();
    }
    ships.compact();
    bool right = is_right(ships.items().size() == 200 * max_threads, "each thread has made ten ships");
    try {
        ships.at(handlepool::handle<ship>{});
        right = is_right(false, "a null handle is refused");
    } catch (const handlepool::stale_handle&) {
        right = is_right(true, "a null handle is refused") && right;
    }
    ships.reset();
    ships.shrink_to_fit();
    right = is_right(ships.size() == 0 && ships.contains(ships.emplace()), "a pool that was reset works") &&
            right;
    return right ? 0 : 1;
}
