// SPDX-License-Identifier: MIT

// The server of the page, met by clients that mean no good.

#include "wait_for_output.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <support/files/read_file.hpp>
#include <support/programs/run_program.hpp>
#include <support/programs/started_program.hpp>
#include <sys/socket.h>
#include <tests/support/paths.hpp>
#include <tests/support/scratch_directory.hpp>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class client {
public:
    explicit client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
    client(client&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
    client& operator=(client&& other) noexcept {
        std::swap(socket_, other.socket_);
        return *this;
    }
    ~client() { ::close(socket_); }

    /// Returns whether all was taken.
    bool send(const std::string& text) const {
        for (std::size_t sent = 0; sent != text.size();) {
            const ssize_t some = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
            if (some <= 0) {
                return false;
            }
            sent += static_cast<std::size_t>(some);
        }
        return true;
    }
    /// What comes until the server closes, or has sent so much.
    std::string receive(std::size_t most = 1'000'000) const {
        std::string text;
        char some[4096];
        while (text.size() < most) {
            pollfd waiting{.fd = socket_, .events = POLLIN, .revents = 0};
            const ssize_t count =
                ::poll(&waiting, 1, 20'000) == 1 ? ::recv(socket_, some, sizeof some, 0) : 0;
            if (count <= 0) {
                break;
            }
            text.append(some, static_cast<std::size_t>(count));
        }
        return text;
    }

private:
    int socket_;
};

struct page_server : testing::Test {
    void SetUp() override {
        wait_for_output(directory.path() / "example", "\n");
        server.emplace(
            std::vector<std::string>{support::paths::inspect_program, std::to_string(example.id()), "--page"},
            directory.path() / "server");
        const auto found = wait_for_output(directory.path() / "server",
                                           "http://127.0.0.1:([0-9]+)(/[0-9a-f]{32}/) until Ctrl-C.\n");
        const std::string text = support::read_file((directory.path() / "server").string());
        EXPECT_THAT(text, MatchesRegex("The pools of handlepool_inspect_example are shown at "
                                       "http://127.0.0.1:[0-9]+/[0-9a-f]{32}/ until Ctrl-C.\n"));
        port = static_cast<std::uint16_t>(std::stoi(found[1]));
        root = found[2];
    }

    std::string get(const std::string& what, const std::string& more = "Connection: close\r\n") const {
        return "GET " + what + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n" + more +
               "\r\n";
    }
    void expect_it_answers() const {
        const client one(port);
        one.send(get(root + "state"));
        EXPECT_THAT(one.receive(), StartsWith("HTTP/1.1 200 OK\r\n"));
    }

    support::scratch_directory directory;
    support::started_program example{{support::paths::inspect_example}, directory.path() / "example"};
    std::optional<support::started_program> server;
    std::uint16_t port = 0;
    std::string root;
};

TEST_F(page_server, listens_on_this_machine_alone) {
    const int other = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1); // 127.0.0.2, whose port is free
    EXPECT_EQ(::connect(other, reinterpret_cast<const sockaddr*>(&address), sizeof address), -1);
    ::close(other);
}

TEST_F(page_server, closes_when_nothing_is_asked) {
    const client silent(port);
    const auto since = std::chrono::steady_clock::now();
    EXPECT_EQ(silent.receive(), "");
    EXPECT_LT(std::chrono::steady_clock::now() - since,
              std::chrono::seconds(19)); // and receive() waits for 20
}

TEST_F(page_server, answers_one_request_after_the_other) {
    const client one(port);
    one.send(get(root + "page.css", "") + get(root, "") + get(root + "nothing", ""));
    const std::string text = one.receive(); // what is refused is the last
    EXPECT_THAT(text, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/css"));
    EXPECT_THAT(text, HasSubstr("<title>handlepool-inspect</title>"));
    EXPECT_THAT(text, HasSubstr("HTTP/1.1 404 Not Found\r\n"));
}

TEST_F(page_server, refuses_what_is_no_request_or_too_large) {
    const std::pair<std::string, const char*> requests[] = {
        {"nonsense\r\n\r\n", "400 Bad Request"},
        {std::string(100, '\0'), "400 Bad Request"},
        {"GET / HTTP/9.9\r\n\r\n", "400 Bad Request"},
        {get(root, "Content-Length: 5\r\n") + "abcde", "400 Bad Request"},
        {get(root, "Transfer-Encoding: chunked\r\n") + "5\r\nabcde\r\n0\r\n\r\n", "400 Bad Request"},
        {get(root, "Content-Length: 99999999999999999999\r\n"), "400 Bad Request"},
        {get("/" + std::string(9000, 'a')), "431 Request Header Fields Too Large"},
        {get(root, "X: " + std::string(9000, 'a') + "\r\n"), "431 Request Header Fields Too Large"},
        {"GET " + root + " HTTP/1.1\r\n\r\n", "421 Misdirected Request"},
    };
    for (const auto& [request, status] : requests) {
        const client one(port);
        one.send(request);
        EXPECT_THAT(one.receive(200), StartsWith("HTTP/1.1 " + std::string(status))) << request.substr(0, 60);
        expect_it_answers();
    }
}

TEST_F(page_server, takes_no_more_of_a_request_than_it_may_have) {
    const client one(port);
    one.send("GET " + root + " HTTP/1.1\r\n");
    std::size_t sent = 0;
    while (sent < 200'000'000 &&
           one.send("X-" + std::to_string(sent) + ": " + std::string(1000, 'x') + "\r\n")) {
        sent += 1000;
    }
    EXPECT_LT(sent, 100'000'000U); // what fits into the system's buffers
    expect_it_answers();
}

TEST_F(page_server, lets_nobody_wait_for_those_that_say_nothing) {
    std::vector<client> silent;
    for (int i = 0; i != 60; ++i) {
        silent.emplace_back(port);
        silent.back().send(get(root).substr(0, static_cast<std::size_t>(i)));
    }
    expect_it_answers();
}

TEST_F(page_server, serves_those_that_wait_when_others_have_gone) {
    std::vector<client> many;
    for (int i = 0; i != 100; ++i) {
        many.emplace_back(port);
    }
    many.back().send(get(root + "state"));
    many.erase(many.begin(), many.begin() + 50);
    EXPECT_THAT(many.back().receive(), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(page_server, outlives_any_bytes) {
    std::mt19937 random(3);
    const std::string whole = get(root + "map?key=1", "Origin: http://127.0.0.1\r\n");
    for (int i = 0; i != 500; ++i) {
        std::string text = whole;
        for (auto changes = random() % 8; changes != 0; --changes) {
            text[random() % text.size()] = static_cast<char>(random());
        }
        text.resize(random() % (text.size() + 1));
        const client one(port);
        one.send(text);
    }
    expect_it_answers();
}

TEST_F(page_server, goes_on_when_the_program_has_ended) {
    const auto state = [this] {
        const client one(port);
        one.send(get(root + "state"));
        const std::string text = one.receive();
        return nlohmann::json::parse(text.substr(text.find("\r\n\r\n")));
    };
    EXPECT_EQ(state()["has_ended"], false);
    example.kill();
    for (int i = 0; i != 1200 && state()["has_ended"] != true; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_EQ(state()["has_ended"], true);
    EXPECT_EQ(state()["name"], "handlepool_inspect_example");
    EXPECT_EQ(state()["pools"].size(), 2U);
    EXPECT_EQ(state()["pools"][0]["is_alive"], true); // when it was last looked at
}

TEST_F(page_server, ends_with_the_program_if_that_is_asked_for) {
    support::started_program other({support::paths::inspect_program, std::to_string(example.id()), "--page",
                                    "--end-with-program", "--over", "0.1"},
                                   directory.path() / "other");
    wait_for_output(directory.path() / "other", "until Ctrl-C");
    EXPECT_TRUE(other.is_running());
    example.kill();
    EXPECT_EQ(other.wait(), 0);
}

TEST_F(page_server, ends_when_it_is_told_to) {
    const client waits(port);
    server->signal(SIGTERM);
    EXPECT_EQ(server->wait(), 0);
}

TEST_F(page_server, says_when_the_port_is_taken) {
    const support::run_result result = support::run_program(
        {support::paths::inspect_program, std::to_string(example.id()), "--page", std::to_string(port)});
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.errors, "handlepool-inspect: can't listen on port " + std::to_string(port) +
                                 " of 127.0.0.1: Address already in use\n");
}

} // namespace
} // namespace handlepool::test
