// SPDX-License-Identifier: MIT

// What a follower makes of a server that answers what no Redis would.

#include "redis_server.hpp"

#include <handlepool/redis/redis_follower.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

/// Answers the first commands of one connection, whatever they are, and ends it, or says no more.
class false_server {
public:
    explicit false_server(std::vector<std::string> answers, bool is_silent_then = false)
        : is_silent_then_(is_silent_then) {
        listening_ = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(listening_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(listening_, 1), 0);
        EXPECT_EQ(::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this, answers = std::move(answers)] { serve(answers); });
    }
    ~false_server() {
        thread_.join();
        ::close(listening_);
    }
    false_server(const false_server&) = delete;
    false_server& operator=(const false_server&) = delete;

    redis_address address() const { return {.port = port_, .timeout = std::chrono::seconds(30)}; }
    std::string name() const { return "redis at 127.0.0.1:" + std::to_string(port_) + ": "; }

private:
    void serve(const std::vector<std::string>& answers) {
        const int connection = ::accept(listening_, nullptr, nullptr);
        for (const std::string& answer : answers) {
            std::array<char, 65536> command;
            if (::recv(connection, command.data(), command.size(), 0) <= 0) {
                break;
            }
            for (std::size_t sent = 0; sent < answer.size();) {
                const ssize_t count =
                    ::send(connection, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
                if (count <= 0) {
                    break;
                }
                sent += static_cast<std::size_t>(count);
            }
        }
        if (!is_silent_then_) {
            ::shutdown(connection, SHUT_WR);
        }
        std::array<char, 4096> rest; // or what was sent could be lost
        while (::recv(connection, rest.data(), rest.size(), 0) > 0) {
        }
        ::close(connection);
    }

    bool is_silent_then_;
    int listening_ = -1;
    std::uint16_t port_ = 0;
    std::thread thread_;
};

std::string problem_after(const std::vector<std::string>& answers, std::size_t messages = 0) {
    false_server server(answers);
    redis_follower log(server.address(), "a game", {.most_snapshot_bytes = 1'000, .most_delta_bytes = 1'000});
    for (std::size_t i = 0; i != messages; ++i) {
        EXPECT_TRUE(log.next(std::chrono::milliseconds(1))) << log.problem();
    }
    EXPECT_FALSE(log.next(std::chrono::milliseconds(1)));
    std::string problem = log.problem();
    if (problem.starts_with(server.name())) {
        problem.erase(0, server.name().size());
    }
    return problem;
}

std::string bulk(std::string_view text) {
    return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}
std::string list_of(const std::vector<std::string>& elements) {
    std::string text = "*" + std::to_string(elements.size()) + "\r\n";
    for (const std::string& each : elements) {
        text += each;
    }
    return text;
}
std::string snapshot_of(std::string_view bytes, std::string_view frame = "7",
                        std::string_view history = "00000000000000ab") {
    return list_of({bulk("a key"), bulk(bytes), bulk(frame), bulk(history)});
}
std::string entry_of(std::string_view id, std::string_view history, std::string_view delta) {
    return list_of({list_of(
        {bulk("{a game}:frames"), list_of({list_of({bulk(id), list_of({bulk("history"), bulk(history),
                                                                       bulk("delta"), bulk(delta)})})})})});
}

TEST(false_redis_server, gets_no_memory_for_what_it_claims) {
    EXPECT_EQ(problem_after({"*1000000000\r\n"}), "an answer that can't be: Out of memory");
    EXPECT_EQ(problem_after({"*65\r\n"}), "an answer that can't be: Out of memory");
    EXPECT_EQ(problem_after({"*60\r\n*4\r\n*1\r\n"}), "an answer that can't be: Out of memory");
    EXPECT_EQ(problem_after({"$1000000000\r\nabc"}), "the server has closed the connection");
    EXPECT_EQ(problem_after({"$1000000000\r\n" + std::string(300'000, 'x')}),
              "an answer of more than 0 bytes");
    EXPECT_EQ(problem_after({"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"}),
              "an answer that can't be: No support for nested multi bulk replies with depth > 7");
    EXPECT_EQ(problem_after({"what?\r\n"}),
              "an answer that can't be: Protocol error, got \"w\" as reply type byte");
    for (const std::string answer : {",1.5\r\n", "#t\r\n"}) { // of which only some versions of hiredis know
        EXPECT_THAT(problem_after({answer}),
                    testing::AnyOf("an answer that can't be: Out of memory",
                                   "an answer that can't be: Protocol error, got \"" + answer.substr(0, 1) +
                                       "\" as reply type byte"));
    }
    EXPECT_EQ(problem_after({"-ERR \x1b[2Jno\r\n"}), "ERR \xef\xbf\xbd[2Jno");
}

TEST(false_redis_server, is_told_from_a_log) {
    const std::string log = "redis, '{a game}:log': ";
    EXPECT_EQ(problem_after({bulk("x")}), log + "no list of 4 values");
    EXPECT_EQ(problem_after({list_of({bulk("x")})}), log + "no list of 4 values");
    EXPECT_EQ(problem_after({":4\r\n"}), log + "no list of 4 values");
    EXPECT_EQ(problem_after({snapshot_of("many")}), log + "no size, frame and history of a snapshot");
    EXPECT_EQ(problem_after({snapshot_of("5", "-1")}), log + "no size, frame and history of a snapshot");
    EXPECT_EQ(problem_after({snapshot_of("5", "7", "x")}), log + "no size, frame and history of a snapshot");
    EXPECT_EQ(problem_after({snapshot_of("1001")}),
              "the log a game: the snapshot of frame 7 has 1001 bytes; 1000 are allowed");
    // A snapshot may be gone, or have more than was said.
    const std::string gone = "the log a game: the snapshot of frame 7 is not there";
    EXPECT_EQ(problem_after({snapshot_of("5"), bulk("")}), gone);
    EXPECT_EQ(problem_after({snapshot_of("5"), bulk("123"), bulk("")}), gone);
    EXPECT_EQ(problem_after({snapshot_of("5"), bulk("123456")}), gone);

    const std::vector<std::string> joined{snapshot_of("5"), bulk("12345")};
    const auto after = [&joined](const std::string& answer) {
        auto answers = joined;
        answers.push_back(answer);
        return problem_after(answers, 1);
    };
    EXPECT_EQ(after(bulk("x")), log + "no entry of a stream");
    EXPECT_EQ(after(list_of({})), log + "no entry of a stream");
    EXPECT_EQ(after(list_of({list_of({bulk("{a game}:frames"), list_of({})})})),
              log + "no entry of a stream");
    EXPECT_EQ(after(list_of({list_of(
                  {bulk("s"), list_of({list_of({bulk("8-0"), list_of({bulk("a"), bulk("b")})})})})})),
              log + "no history and delta in an entry");
    EXPECT_EQ(after(entry_of("eight-0", "ab", "d")), log + "no frame and history of an entry");
    EXPECT_EQ(after(entry_of("8-0", "z", "d")), log + "no frame and history of an entry");
    EXPECT_EQ(after(entry_of("8-0", "ab", std::string(1'001, 'd'))),
              log + "the delta of frame 8 has 1001 bytes; 1000 are allowed");
    EXPECT_EQ(after("*-1\r\n"), "the server has closed the connection"); // then it asks where the log ends
}

TEST(false_redis_server, is_quoted_without_what_a_terminal_obeys) {
    false_server server({snapshot_of("1001")});
    redis_follower log(server.address(), "a\x1b[2J\ngame", {.most_snapshot_bytes = 1'000});
    EXPECT_FALSE(log.next(std::chrono::milliseconds(1)));
    EXPECT_EQ(log.problem(), "the log a\xef\xbf\xbd[2J\xef\xbf\xbdgame: the snapshot of frame 7 has 1001 "
                             "bytes; 1000 are allowed");
}

/// Interrupts a thread again and again, as profilers do.
class interruptions {
public:
    explicit interruptions(std::thread& of) {
        struct sigaction handled{};
        handled.sa_handler = [](int) {};
        EXPECT_EQ(::sigaction(SIGUSR1, &handled, &before_), 0);
        thread_ = std::thread([this, id = of.native_handle()] {
            while (!is_ended_) {
                ::pthread_kill(id, SIGUSR1);
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });
    }
    ~interruptions() {
        is_ended_ = true;
        thread_.join();
        ::sigaction(SIGUSR1, &before_, nullptr);
    }
    interruptions(const interruptions&) = delete;
    interruptions& operator=(const interruptions&) = delete;

private:
    struct sigaction before_{};
    std::atomic<bool> is_ended_ = false;
    std::thread thread_;
};

TEST(false_redis_server, is_not_waited_for_longer_when_signals_come) {
    false_server server({}, true);
    redis_address address = server.address();
    address.timeout = std::chrono::milliseconds(50);
    redis_follower log(address, "a game");
    std::string problem;
    std::atomic<bool> is_over = false;
    std::thread reader([&] {
        log.next(std::chrono::milliseconds(1));
        problem = log.problem();
        is_over = true;
    });
    {
        const interruptions signals(reader);
        const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (!is_over && std::chrono::steady_clock::now() < late) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        EXPECT_TRUE(is_over);
    }
    reader.join();
    EXPECT_EQ(problem, server.name() + "no answer in time");
}

} // namespace
} // namespace handlepool::test
