// SPDX-License-Identifier: MIT
#pragma once

#include "redis_server.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {

/// A network between a client and a server, in which a command comes late, or its answer is lost.
class relay {
public:
    explicit relay(std::uint16_t server) : server_(server) {
        listening_ = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address = address_of(0);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(listening_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(listening_, 16), 0);
        EXPECT_EQ(::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { run(); });
    }
    ~relay() {
        {
            const std::lock_guard lock(mutex_);
            is_stopped_ = true;
        }
        thread_.join();
        ::close(listening_);
    }
    relay(const relay&) = delete;
    relay& operator=(const relay&) = delete;

    /// Its client soon thinks that an answer does not come.
    redis_address address() const { return {.port = port_, .timeout = std::chrono::milliseconds(200)}; }

    /// The next command with this word stays here, with all behind it on the same connection.
    void keep(std::string_view word) { want(word, fate::kept); }
    /// The next command with this word is done, and its connection breaks before the answer has come.
    void lose_answer_to(std::string_view word) { want(word, fate::unanswered); }
    /// Waits until a command was kept, or its answer lost.
    void wait_until_done() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return word_.empty(); });
    }
    /// The server gets what was kept. Returns when it has done that.
    void let_go() {
        std::unique_lock lock(mutex_);
        lets_go_ = true;
        changed_.wait(lock, [this] { return !lets_go_; });
    }

private:
    enum class fate { passed_on, kept, unanswered };
    struct connection {
        int client = -1;
        int server = -1;
        fate what = fate::passed_on;
        std::string kept{};
    };

    static sockaddr_in address_of(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        return address;
    }
    static void send_all(int to, std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) {
                return; // whose other end is gone
            }
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    /// What has come; nothing at the end.
    static std::string received(int from) {
        std::array<char, 65536> bytes;
        const ssize_t size = ::recv(from, bytes.data(), bytes.size(), 0);
        return {bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
    }
    static void close_all(connection& each) {
        ::close(each.client);
        ::close(each.server);
        each.client = -1;
    }

    void want(std::string_view word, fate what) {
        const std::lock_guard lock(mutex_);
        word_ = word;
        wanted_ = what;
    }

    void run() {
        std::vector<connection> connections;
        for (;;) {
            {
                const std::lock_guard lock(mutex_);
                if (is_stopped_) {
                    break;
                }
                if (lets_go_) {
                    for (connection& each : connections) {
                        if (each.what == fate::kept) {
                            deliver(each);
                        }
                    }
                    lets_go_ = false;
                    changed_.notify_all();
                }
            }
            std::erase_if(connections, [](const connection& each) { return each.client < 0; });
            step(connections);
        }
        for (connection& each : connections) {
            close_all(each);
        }
    }
    void step(std::vector<connection>& connections) {
        std::vector<pollfd> polled{{.fd = listening_, .events = POLLIN, .revents = 0}};
        for (const connection& each : connections) {
            const bool is_kept = each.what == fate::kept;
            polled.push_back({.fd = is_kept ? -1 : each.client, .events = POLLIN, .revents = 0});
            polled.push_back({.fd = is_kept ? -1 : each.server, .events = POLLIN, .revents = 0});
        }
        ::poll(polled.data(), polled.size(), 5); // then it looks whether it is to stop
        for (std::size_t i = 0; i != connections.size(); ++i) {
            connection& each = connections[i];
            if (polled[2 * i + 1].revents != 0) {
                pass_command(each);
            }
            if (each.client >= 0 && polled[2 * i + 2].revents != 0) {
                pass_answer(each);
            }
        }
        if (polled[0].revents != 0) {
            const int client = ::accept(listening_, nullptr, nullptr);
            const int server = ::socket(AF_INET, SOCK_STREAM, 0);
            const sockaddr_in address = address_of(server_);
            EXPECT_EQ(::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
            connections.push_back({.client = client, .server = server});
        }
    }
    void pass_command(connection& each) {
        std::string bytes = received(each.client);
        if (bytes.empty()) {
            close_all(each);
            return;
        }
        {
            const std::lock_guard lock(mutex_);
            if (!word_.empty() && bytes.find(word_) != std::string::npos) {
                each.what = wanted_;
                if (each.what == fate::kept) {
                    each.kept = std::move(bytes);
                    is_done();
                    return;
                }
            }
        }
        send_all(each.server, bytes);
    }
    void pass_answer(connection& each) {
        const std::string bytes = received(each.server);
        if (!bytes.empty() && each.what == fate::passed_on) {
            send_all(each.client, bytes);
            return;
        }
        if (each.what == fate::unanswered) {
            const std::lock_guard lock(mutex_);
            is_done();
        }
        close_all(each);
    }
    void is_done() {
        word_.clear();
        changed_.notify_all();
    }
    /// The client has gone long ago.
    static void deliver(connection& each) {
        while (true) {
            const std::string more = received(each.client);
            if (more.empty()) {
                break;
            }
            each.kept += more;
        }
        send_all(each.server, each.kept);
        ::shutdown(each.server, SHUT_WR);
        while (!received(each.server).empty()) {
        }
        close_all(each);
    }

    std::uint16_t server_;
    int listening_ = -1;
    std::uint16_t port_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string word_; // empty: none is wanted
    fate wanted_ = fate::kept;
    bool lets_go_ = false;
    bool is_stopped_ = false;
    std::thread thread_;
};

} // namespace handlepool::test
