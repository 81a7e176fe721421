// SPDX-License-Identifier: MIT

// Coroutines that keep handles while they are suspended, and look the objects up again, under a guard, each
// time they are resumed. Captains sail ships from harbour to harbour, pirates sink them, and both go on in
// any thread, while the compactions of a frame move the ships that are left.

#include "require.hpp"
#include "run_program.hpp"

#include <handlepool/pool.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio.hpp>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <random>
#include <utility>

namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

struct options {
    unsigned threads = 4;
    unsigned captains = 200;
    unsigned voyages = 20;
};

struct ship {
    std::uint64_t number; // of the voyage
    int harbours = 0;
};
using ship_handle = handlepool::handle<ship>;

/// Goes on in any thread, when others have had their turn.
awaitable<void> next_turn() {
    co_await asio::post(co_await asio::this_coro::executor, use_awaitable);
}

class sea {
public:
    sea(asio::thread_pool& threads, const options& chosen)
        : threads_(threads), chosen_(chosen), captains_at_work_(chosen.captains) {}

    /// Returns when all voyages are over.
    void run() {
        for (std::uint64_t captain = 0; captain != chosen_.captains; ++captain) {
            start(sail(captain * chosen_.voyages));
        }
        start(board(1));
        start(board(2));
        start(end_frames());
        threads_.join();
    }

    void report() const {
        const handlepool::pool_stats stats = ships_.stats();
        fmt::print("{} voyages: {} ended at home, {} in the hands of pirates\n"
                   "{} shots came too late, and {} ships were moved in {} frames\n",
                   stats.created, arrived_.load(), sunk_.load(), missed_.load(), moved_, stats.compactions);

        using examples::require;
        require(stats.created == std::uint64_t{chosen_.captains} * chosen_.voyages, "some never set sail");
        require(arrived_ + lost_ == stats.created, "{} captains don't know where they are",
                stats.created - arrived_ - lost_);
        require(lost_ == sunk_, "{} ships were sunk, and {} are missed", sunk_.load(), lost_.load());
        require(stats.destroyed == stats.created, "{} ships are left", stats.alive);
        require(strangers_ == 0, "{} handles led to other ships", strangers_.load());
    }

private:
    void start(awaitable<void> work) {
        asio::co_spawn(threads_, std::move(work), [](std::exception_ptr escaped) {
            if (escaped) {
                std::rethrow_exception(escaped); // and so ends the program
            }
        });
    }

    awaitable<void> sail(std::uint64_t first) {
        for (std::uint64_t voyage = first; voyage != first + chosen_.voyages; ++voyage) {
            ship_handle own = ships_.try_emplace(voyage);
            while (!own) { // no room until the next compaction
                co_await next_turn();
                own = ships_.try_emplace(voyage);
            }
            // Wrong: `ship& here = ships_.at(own)` before the loop, and its use after a co_await.
            for (int harbours = 0; harbours != 10; ++harbours) {
                co_await next_turn();
                const auto found = ships_.pin(own); // the ship and a guard, until the end of the block
                if (!found) {
                    break;
                }
                strangers_ += found->number == voyage && found->harbours == harbours ? 0U : 1U;
                ++found->harbours;
            }
            ++(ships_.erase(own) ? arrived_ : lost_); // a pirate may have been faster, even now
        }
        --captains_at_work_;
    }

    awaitable<void> board(unsigned seed) {
        std::minstd_rand random(seed);
        while (captains_at_work_ != 0) {
            const ship_handle target = choose(random());
            co_await next_turn();
            if (target) {
                ++(ships_.erase(target) ? sunk_ : missed_);
            }
        }
    }

    /// Null when there is nothing to choose from.
    ship_handle choose(std::size_t number) {
        const auto guard = ships_.access(); // holds off compactions
        const std::size_t count = ships_.items().size();
        return count == 0 ? ship_handle() : ships_.handle_at(number % count);
    }

    awaitable<void> end_frames() {
        asio::steady_timer timer(threads_);
        while (captains_at_work_ != 0) {
            timer.expires_after(std::chrono::milliseconds(1));
            co_await timer.async_wait(use_awaitable);
            moved_ += ships_.compact().moved;
        }
        ships_.compact();
    }

    asio::thread_pool& threads_;
    options chosen_;
    handlepool::pool<ship> ships_{{.name = "ships", .capacity = std::size_t{chosen_.captains} * 2}};
    std::size_t moved_ = 0;
    std::atomic<std::uint64_t> captains_at_work_;
    std::atomic<std::uint64_t> arrived_ = 0;
    std::atomic<std::uint64_t> lost_ = 0;
    std::atomic<std::uint64_t> sunk_ = 0;
    std::atomic<std::uint64_t> missed_ = 0;
    std::atomic<std::uint64_t> strangers_ = 0;
};

} // namespace

int main(int argc, char** argv) {
    options chosen;
    CLI::App app("Coroutines that share a pool, by handles, with the compactions of a frame");
    app.option_defaults()->always_capture_default();
    app.add_option("--threads", chosen.threads, "Threads that run them")->check(CLI::Range(1, 64));
    app.add_option("--captains", chosen.captains, "Coroutines that sail a ship each")
        ->check(CLI::Range(1, 100'000));
    app.add_option("--voyages", chosen.voyages, "Voyages of each, one after the other")
        ->check(CLI::Range(1, 1'000'000));
    app.footer("Example:\n  coroutines --threads 2 --captains 1000 --voyages 10");
    return examples::run_program(app, argc, argv, [&] {
        asio::thread_pool threads(chosen.threads);
        sea high_sea(threads, chosen);
        high_sea.run();
        high_sea.report();
    });
}
