// SPDX-License-Identifier: MIT

// Frames on a thread pool of Boost.Asio, by way of an executor: the main thread hands out the parts of the
// simulation, and then those of the compaction.

#include "frame_world.hpp"

#include <handlepool/executor.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <cstddef>
#include <latch>

/// Runs loops on the threads of a pool and on the calling one, which must be none of the pool's: that would
/// wait for work that may wait for it.
class asio_executor {
public:
    explicit asio_executor(std::size_t threads) : threads_(threads), pool_(threads) {}

    template <class Body>
    void for_ranges(std::size_t count, std::size_t grain, Body&& body) noexcept {
        const std::size_t parts =
            std::clamp<std::size_t>(count / std::max<std::size_t>(grain, 1), 1, threads_ + 1);
        const auto run = [&](std::size_t part) { body(count * part / parts, count * (part + 1) / parts); };
        std::latch others(static_cast<std::ptrdiff_t>(parts - 1));
        for (std::size_t part = 1; part != parts; ++part) {
            boost::asio::post(pool_, [&, part] {
                run(part);
                others.count_down();
            });
        }
        run(0);
        others.wait();
    }

private:
    std::size_t threads_;
    boost::asio::thread_pool pool_;
};

static_assert(handlepool::executor<asio_executor>);

int main() {
    frame_world world;
    asio_executor executor(1);

    for (int frame = 0; frame != frame_world::frames; ++frame) {
        executor.for_ranges(world.rockets.items().size(), 64,
                            [&](std::size_t first, std::size_t last) { world.fly(first, last); });
        world.launch(200, static_cast<unsigned>(frame));
        world.pools.compact(executor);
        world.render(frame);
    }
}
