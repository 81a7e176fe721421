// SPDX-License-Identifier: MIT

// A server without frames: several threads open, use and close sessions, which other threads may be using,
// and a housekeeper compacts behind them. More clients come than there is room for; then sessions are
// replaced at random; then nearly all leave, and their memory goes back to the system. With --measure, it
// shows for how long a request may have to wait, in several ways to keep house.

#include "request_server/latencies.hpp"
#include "request_server/sessions.hpp"
#include "require.hpp"
#include "run_program.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

namespace {

using namespace request_server;

struct options {
    unsigned threads = 4;
    std::size_t capacity = 10'000;
    std::size_t requests = 50'000;
    unsigned measure = 0;
};

/// Clients, who hold nothing but handles. Any thread may use the session of any client, or replace it.
class clients {
public:
    clients(sessions& server, std::size_t count) : server_(server), tokens_(count) {}

    void log_in(std::size_t client) {
        if (const session_handle made = server_.open()) {
            ++opened;
            closed += server_.close(tokens_[client].exchange(made)); // another thread may have been faster
        } else {
            ++refused;
        }
    }
    /// False if it was not logged in. Keeps its handle, which is stale now.
    bool log_out(std::size_t client) {
        const bool was = server_.close(tokens_[client].load());
        closed += was;
        return was;
    }
    void ask(std::size_t client) { ++(server_.serve(tokens_[client].load()) ? served : stale); }
    std::size_t count() const { return tokens_.size(); }

    std::atomic<std::uint64_t> opened = 0;
    std::atomic<std::uint64_t> refused = 0;
    std::atomic<std::uint64_t> served = 0;
    std::atomic<std::uint64_t> stale = 0;
    std::atomic<std::uint64_t> closed = 0;

private:
    sessions& server_;
    std::vector<std::atomic<session_handle>> tokens_;
};

/// Calls `work(thread)` in each thread.
template <class Work>
void in_threads(unsigned threads, const Work& work) {
    std::vector<std::jthread> all;
    for (unsigned i = 0; i != threads; ++i) {
        all.emplace_back(work, i);
    }
}

/// Returns how many sessions there were.
std::uint64_t run(const options& chosen) {
    using examples::require;
    sessions server(chosen.capacity, {});
    clients crowd(server, 2 * chosen.capacity);
    const auto each_of = [&](unsigned thread, const auto& visit) {
        for (std::size_t i = thread; i < crowd.count(); i += chosen.threads) {
            visit(i);
        }
    };

    // The rush: twice as many as there is room for. Nobody waits, some are refused.
    in_threads(chosen.threads,
               [&](unsigned thread) { each_of(thread, [&](std::size_t i) { crowd.log_in(i); }); });
    require(crowd.refused != 0, "{} sessions in a table for {}", crowd.opened.load(), chosen.capacity);
    require(!server.has_room_soon(), "some were refused, though there was room");
    while (server.stats().newborn != 0) { // the housekeeper takes them in
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const handlepool::pool_stats peak = server.stats();

    // The day: requests, and every tenth time a client goes, whose session others may be using, or comes
    // back.
    in_threads(chosen.threads, [&](unsigned thread) {
        std::mt19937 random(thread);
        for (std::size_t i = 0; i != chosen.requests; ++i) {
            const std::size_t client = random() % crowd.count();
            if (random() % 10 != 0) {
                crowd.ask(client);
            } else if (!crowd.log_out(client)) {
                crowd.log_in(client);
            }
        }
    });

    // The night: one in fifty stays. The housekeeper sees it, and gives three quarters of the memory back.
    in_threads(chosen.threads, [&](unsigned thread) {
        each_of(thread, [&](std::size_t i) {
            if (i % 50 != 0) {
                crowd.log_out(i);
            }
        });
    });
    handlepool::pool_stats night = server.stats();
    while (night.bytes_resident_in_objects > peak.bytes_resident_in_objects / 4) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        night = server.stats();
    }
    for (std::size_t i = 0; i != crowd.count(); ++i) {
        crowd.log_out(i);
    }
    while (server.stats().destroyed != crowd.opened) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

    fmt::print("{} sessions were opened, {} refused; {} requests were served, {} came too late\n"
               "objects and their places took {} KiB at the peak, and {} KiB at night\n",
               crowd.opened.load(), crowd.refused.load(), crowd.served.load(), crowd.stale.load(),
               peak.bytes_resident_in_objects / 1024, night.bytes_resident_in_objects / 1024);
    require(crowd.opened == crowd.closed, "{} were opened, {} closed", crowd.opened.load(),
            crowd.closed.load());
    require(crowd.served == server.served(), "{} requests were served, sessions know of {}",
            crowd.served.load(), server.served());
    const handlepool::pool_stats end = server.stats();
    require(end.created == crowd.opened && end.destroyed == end.created && end.alive == 0,
            "{} sessions are left", end.alive);
    return crowd.opened;
}

void run_and_count(const options& chosen) {
    if (chosen.measure != 0) {
        measure_latencies(chosen.measure);
        return;
    }
    const std::uint64_t opened = run(chosen);
    examples::require(backend::ended == opened, "{} of {} connections have ended", backend::ended.load(),
                      opened);
}

} // namespace

int main(int argc, char** argv) {
    options chosen;
    CLI::App app("A server whose sessions come and go without frames");
    app.option_defaults()->always_capture_default();
    app.add_option("--threads", chosen.threads, "Threads of the server")->check(CLI::Range(1, 64));
    app.add_option("--capacity", chosen.capacity, "Sessions that the server has room for")
        ->check(CLI::Range(10'000, 10'000'000));
    app.add_option("--requests", chosen.requests, "Requests of each thread")
        ->check(CLI::Range(1, 100'000'000));
    app.add_option("--measure", chosen.measure,
                   "Only measures waiting times, in so many rounds, of which the quietest counts")
        ->check(CLI::Range(1, 1000));
    app.footer("Example:\n  request_server --threads 8 --requests 1000000\n  request_server --measure 15");
    return examples::run_program(app, argc, argv, [&] { run_and_count(chosen); });
}
