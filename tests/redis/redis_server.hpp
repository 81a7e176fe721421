// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/redis/redis_address.hpp>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <support/programs/run_program.hpp>
#include <support/programs/started_program.hpp>
#include <sys/socket.h>
#include <tests/support/scratch_directory.hpp>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {

/// A port of the loopback address that nobody listens on. Somebody could, before it is used.
inline std::uint16_t free_port() {
    const int number = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const bool is_bound = ::bind(number, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                          ::getsockname(number, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    ::close(number);
    if (!is_bound) {
        throw std::runtime_error("there is no free port");
    }
    return ntohs(address.sin_port);
}

/// A server of Redis of a test's own, with a folder of its own, on the loopback address. It takes options,
/// such as {"--appendonly", "yes"}.
class redis_server {
public:
    explicit redis_server(std::vector<std::string> options = {}) : options_(std::move(options)) {
        for (int i = 0; i != 10; ++i) { // the port may have been taken since it was found
            port_ = free_port();
            if (try_start()) {
                return;
            }
        }
        throw std::runtime_error("redis-server does not start");
    }

    ~redis_server() {
        program_.reset();
        std::filesystem::remove(socket());
    }
    redis_server(const redis_server&) = delete;
    redis_server& operator=(const redis_server&) = delete;

    redis_address address() const { return {.port = port_, .timeout = std::chrono::seconds(30)}; }
    /// Of few letters, for the system takes no path of more than a hundred.
    std::string socket() const { return testing::TempDir() + "redis_" + std::to_string(port_); }

    /// Ends it at once, as a crash does.
    void kill() { program_->kill(); }
    /// Starts it again, on the same port and with the same files.
    void start() {
        if (!try_start()) {
            throw std::runtime_error("redis-server does not start again");
        }
    }
    void pause() { program_->signal(SIGSTOP); }
    void go_on() { program_->signal(SIGCONT); }

    /// What a command says, as redis-cli prints it.
    std::string command(const std::vector<std::string>& words) const {
        std::vector<std::string> all{"redis-cli", "-p", std::to_string(port_)};
        all.insert(all.end(), words.begin(), words.end());
        std::string output = support::run_program(all).output;
        output.erase(output.find_last_not_of('\n') + 1);
        return output;
    }

private:
    bool try_start() {
        std::vector<std::string> all{
            "redis-server", "--port", std::to_string(port_), "--bind", "127.0.0.1", "--dir", folder_.path(),
            "--save",       "",       "--unixsocket",        socket()};
        all.insert(all.end(), options_.begin(), options_.end());
        program_.emplace(all, folder_.path() / "output");
        while (program_->is_running()) {
            const std::string answer = command({"PING"});
            if (answer == "PONG" || answer.starts_with("NOAUTH")) {
                return true;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return false;
    }

    support::scratch_directory folder_;
    std::vector<std::string> options_;
    std::uint16_t port_ = 0;
    std::optional<support::started_program> program_;
};

} // namespace handlepool::test
