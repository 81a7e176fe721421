// A frame loop over plain threads: workers create, look up and erase in parallel, and the last of them to
// finish a frame compacts. Rockets chase ships by handle, and find them gone.

#include <handlepool/pool.hpp>

#include <atomic>
#include <barrier>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

namespace {

struct ship {
    int hull = 3;
};

struct rocket {
    handlepool::handle<ship> target;
    int fuel = 5;
};

constexpr int worker_count = 2;
constexpr int frame_count = 20;

} // namespace

int main() {
    handlepool::pool<ship> ships({.name = "ships", .capacity = 10'000});
    handlepool::pool<rocket> rockets({.name = "rockets", .capacity = 50'000});
    for (int i = 0; i < 1000; ++i) {
        ships.emplace();
    }
    ships.compact();

    std::atomic<int> hits = 0;
    std::atomic<int> lost_targets = 0;
    int frame = 0;
    std::barrier end_of_frame(worker_count, [&]() noexcept {
        ships.compact();
        rockets.compact();
        std::printf("frame %2d: %4zu ships, %5zu rockets, %4d hits, %4d lost their target\n", frame,
                    ships.size(), rockets.size(), hits.exchange(0), lost_targets.exchange(0));
        ++frame;
    });

    const auto work = [&](unsigned worker) {
        std::mt19937 random(worker);
        while (frame < frame_count) {
            // Each worker takes its part of the dense stores, which nothing changes within the frame.
            const auto flying = rockets.items();
            for (std::size_t i = worker; i < flying.size(); i += worker_count) {
                rocket& each = flying[i];
                const auto self = rockets.handle_at(i);
                if (ship* const target = ships.find(each.target); target == nullptr) {
                    ++lost_targets;
                    rockets.erase(self);
                } else if (--each.fuel == 0) {
                    // Others may hit the same ship in this frame: its hull is shared, so it is counted
                    // atomically.
                    if (std::atomic_ref(target->hull).fetch_sub(1) == 1) {
                        ships.erase(each.target);
                    }
                    ++hits;
                    rockets.erase(self);
                }
            }
            const auto afloat = ships.items();
            for (int shots = 0; shots < 100 && !afloat.empty(); ++shots) {
                rockets.emplace(ships.handle_at(random() % afloat.size()));
            }
            end_of_frame.arrive_and_wait();
        }
    };

    std::vector<std::jthread> workers;
    for (unsigned worker = 0; worker < worker_count; ++worker) {
        workers.emplace_back(work, worker);
    }
}
