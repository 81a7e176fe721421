// SPDX-License-Identifier: MIT

// The connection table of a TCP server: sessions in a stable pool, which pending operations and timers know
// by handle alone. Whichever finds out first that a session is over erases it; the others find their handle
// stale, whatever the pool holds in that place by then. Clients in the same program put it under load: one
// half of their connections falls silent, until the server has had enough of it.

#include "require.hpp"
#include "run_program.hpp"
#include "tcp_server/tcp_clients.hpp"

#include <handlepool/stable_pool.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio.hpp>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct options {
    unsigned threads = 4;
    unsigned connections = 100;
    unsigned capacity = 1000;
    unsigned idle = 200;
};

// It can't be moved, so it lives in a stable pool. Its parts are used by at most one handler at a time: that
// of the socket, or that of the timer. Its end, in a compaction, closes the socket and cancels both.
struct session {
    explicit session(tcp::socket accepted) : socket(std::move(accepted)), timer(socket.get_executor()) {}

    tcp::socket socket;
    std::string unsent;
    asio::steady_timer timer;
    std::atomic<steady_clock::time_point> last_active = steady_clock::now();
};
using session_handle = handlepool::handle<session>;

/// Sends back what it receives, in the threads of `io`.
class server {
public:
    server(asio::thread_pool& io, std::size_t capacity, milliseconds idle)
        : io_(io), sessions_({.name = "sessions", .capacity = capacity}), idle_(idle) {
        asio::post(acceptor_.get_executor(), [this] { accept(), end_frame(); });
    }

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    /// Accepts no more, and goes on until all sessions are over. Any thread.
    void close() {
        asio::post(acceptor_.get_executor(), [this] { acceptor_.close(); });
    }

    handlepool::pool_stats stats() const { return sessions_.stats(); }

    // How sessions ended, and how many operations came too late for that.
    std::atomic<std::uint64_t> left = 0;
    std::atomic<std::uint64_t> expired = 0;
    std::atomic<std::uint64_t> stale = 0;
    std::atomic<std::uint64_t> refused = 0;

private:
    void accept() {
        acceptor_.async_accept(io_, [this](error_code error, tcp::socket accepted) {
            if (!error) {
                add(std::move(accepted));
            }
            if (acceptor_.is_open()) {
                accept();
            }
        });
    }

    void add(tcp::socket accepted) {
        accepted.non_blocking(true);
        const session_handle made = sessions_.try_emplace(std::move(accepted));
        if (auto one = sessions_.pin(made)) {
            watch(made, *one);
            wait(made, *one);
        } else {
            ++refused; // the table is full, and the socket closes here
        }
    }

    /// When the socket is ready. There are no pointers in what waits, and no buffers either.
    void wait(session_handle self, session& one) {
        const auto what = one.unsent.empty() ? tcp::socket::wait_read : tcp::socket::wait_write;
        one.socket.async_wait(what, [this, self](error_code) {
            // The guard holds off the compaction, so the session stays until the end of this handler.
            if (auto found = sessions_.pin(self)) {
                serve(self, *found);
            } else {
                ++stale;
            }
        });
    }

    void serve(session_handle self, session& one) {
        error_code error;
        if (one.unsent.empty()) {
            std::array<char, 4096> received;
            one.unsent.assign(received.data(), one.socket.read_some(asio::buffer(received), error));
        }
        if (!error) {
            one.last_active = steady_clock::now();
            one.unsent.erase(0, one.socket.write_some(asio::buffer(one.unsent), error));
        }
        if (!error || error == asio::error::would_block) {
            wait(self, one);
        } else {
            ++(sessions_.erase(self) ? left : stale);
        }
    }

    void watch(session_handle self, session& one) {
        one.timer.expires_at(one.last_active.load() + idle_);
        one.timer.async_wait([this, self](error_code) {
            const auto found = sessions_.pin(self);
            if (!found) {
                ++stale;
            } else if (steady_clock::now() - found->last_active.load() < idle_) {
                watch(self, *found);
            } else {
                ++(sessions_.erase(self) ? expired : stale);
            }
        });
    }

    /// A compaction ends the erased sessions, every few milliseconds.
    void end_frame() {
        const bool last = !acceptor_.is_open() && sessions_.empty();
        sessions_.compact();
        if (!last) {
            frame_.expires_after(milliseconds(5));
            frame_.async_wait([this](error_code) { end_frame(); });
        }
    }

    asio::thread_pool& io_;
    handlepool::stable_pool<session> sessions_;
    milliseconds idle_;
    // Both in one strand: frames know whether sessions may still come.
    tcp::acceptor acceptor_{asio::make_strand(io_), {asio::ip::address_v4::loopback(), 0}};
    asio::steady_timer frame_{acceptor_.get_executor()};
};

void run(const options& chosen) {
    asio::thread_pool io(chosen.threads);
    server table(io, chosen.capacity, milliseconds(chosen.idle));
    tcp_clients clients(table.port(), chosen.connections);
    clients.wait();
    table.close();
    io.join(); // when all sessions are over
    const auto [connections, silent, answered] = clients.get();

    const handlepool::pool_stats stats = table.stats();
    fmt::print("{} sessions came: {} left, {} expired, and {} were refused\n"
               "{} operations and timers found their handle stale, in {} frames\n",
               stats.created, table.left.load(), table.expired.load(), table.refused.load(),
               table.stale.load(), stats.compactions);

    using examples::require;
    require(stats.created + table.refused == connections, "there were {} connections", connections);
    require(stats.created == table.left + table.expired, "some sessions ended twice, or never");
    require(stats.created == stats.destroyed && stats.alive == 0, "{} sessions are left", stats.alive);
    require(stats.created == table.stale, "a session has two handlers, of which one must come too late");
    require(table.expired + table.refused >= silent, "{} connections were silent", silent);
    require(answered != 0, "none of {} connections was answered", connections);
}

} // namespace

int main(int argc, char** argv) {
    options chosen;
    CLI::App app("A server that keeps the sessions of its clients in a stable pool");
    app.option_defaults()->always_capture_default();
    app.add_option("--threads", chosen.threads, "Threads of the server")->check(CLI::Range(1, 64));
    app.add_option("--connections", chosen.connections, "Connections that each of four clients has")
        ->check(CLI::Range(1, 100'000));
    app.add_option("--capacity", chosen.capacity, "Sessions that the server has room for")
        ->check(CLI::Range(1, 1'000'000));
    app.add_option("--idle", chosen.idle, "Milliseconds after which a silent session expires")
        ->check(CLI::Range(1, 60'000));
    app.footer("Example:\n  tcp_server --threads 2 --connections 200 --idle 100");
    return examples::run_program(app, argc, argv, [&] { run(chosen); });
}
