// SPDX-License-Identifier: MIT
#pragma once

#include "../require.hpp"

#include <boost/asio.hpp>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <string>
#include <vector>

/// Four threads with connections to a server on this machine that sends back what it receives. Each opens all
/// of its connections, speaks on all of them, closes every other one, and waits until the server closes the
/// rest.
class tcp_clients {
    using tcp = boost::asio::ip::tcp;

public:
    /// How many connections there were, how many of them fell silent, and how many were answered: those that
    /// the server closed before are not.
    struct outcome {
        std::size_t connections = 0;
        std::size_t silent = 0;
        std::size_t answered = 0;
    };

    tcp_clients(std::uint16_t port, std::size_t connections_of_each) {
        for (std::future<outcome>& each : clients_) {
            each = std::async(std::launch::async, talk, port, connections_of_each);
        }
    }

    /// Until all connections are closed.
    void wait() const {
        for (const std::future<outcome>& each : clients_) {
            each.wait();
        }
    }

    /// Once. Throws std::logic_error if a wrong answer came, boost::system::system_error if the server can't
    /// be reached.
    outcome get() {
        outcome sum;
        for (std::future<outcome>& each : clients_) {
            const outcome one = each.get();
            sum.connections += one.connections;
            sum.silent += one.silent;
            sum.answered += one.answered;
        }
        return sum;
    }

private:
    static outcome talk(std::uint16_t port, std::size_t connections) {
        boost::asio::io_context io;
        std::vector<tcp::socket> sockets;
        for (std::size_t i = 0; i != connections; ++i) {
            sockets.emplace_back(io).connect({boost::asio::ip::address_v4::loopback(), port});
        }
        outcome done{.connections = connections, .silent = connections / 2};
        for (std::size_t i = 0; i != connections; ++i) {
            const std::string sent = fmt::format("this is number {}", i);
            std::string received(sent.size(), '\0');
            boost::system::error_code error;
            boost::asio::write(sockets[i], boost::asio::buffer(sent), error);
            boost::asio::read(sockets[i], boost::asio::buffer(received), error);
            examples::require(error || received == sent, "sent '{}', received '{}'", sent, received);
            done.answered += error ? 0 : 1;
        }
        for (std::size_t i = 0; i < connections; i += 2) {
            sockets[i].close();
        }
        for (std::size_t i = 1; i < connections; i += 2) {
            char any = 0;
            boost::system::error_code error;
            const std::size_t count = sockets[i].read_some(boost::asio::buffer(&any, 1), error);
            examples::require(count == 0, "the server sent something unasked");
        }
        return done;
    }

    std::array<std::future<outcome>, 4> clients_;
};
