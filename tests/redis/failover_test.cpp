// SPDX-License-Identifier: MIT

// The processes of examples/failover: an origin, a standby and two followers, of which some are killed or
// paused at random moments, as is Redis. Every frame that any of them shows is that of a world that nothing
// has happened to.

#include "redis_server.hpp"

#include <handlepool/redis/redis_follower.hpp>

#include <examples/failover/world.hpp>
#include <gtest/gtest.h>
#include <support/programs/started_program.hpp>
#include <tests/support/paths.hpp>
#include <tests/support/random.hpp>
#include <tests/support/scratch_directory.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace std::chrono_literals;

/// One of the processes, started as often as it has ended, and what it says.
class failover_process {
public:
    failover_process(std::vector<std::string> arguments, std::filesystem::path output)
        : command_(std::move(arguments)), output_(std::move(output)) {
        command_.insert(command_.begin(), support::paths::failover_program);
        start();
    }

    void start() {
        program_.emplace(command_, output_);
        has_spoken_ = false;
    }
    /// Then it minds signals.
    bool has_spoken() const { return has_spoken_; }
    void kill() { program_->kill(); }
    void signal(int number) { program_->signal(number); }
    bool is_running() { return program_->is_running(); }
    int wait() { return program_->wait(); }

    /// The lines that have come since the last call.
    std::vector<std::string> lines() {
        std::ifstream file(output_, std::ios::binary);
        file.seekg(static_cast<std::streamoff>(read_));
        const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        std::vector<std::string> found;
        std::size_t begin = 0;
        for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
            found.push_back(text.substr(begin, end - begin));
            begin = end + 1;
        }
        read_ += begin;
        has_spoken_ = has_spoken_ || !found.empty();
        return found;
    }
    /// A line that was cut off when the process was killed goes on with what the next one says.
    void skip_torn_line() { read_ = std::filesystem::file_size(output_); }

private:
    std::vector<std::string> command_;
    std::filesystem::path output_;
    std::size_t read_ = 0;
    bool has_spoken_ = false; // since it was started
    std::optional<support::started_program> program_;
};

/// A process that plays, from one frame to another.
struct failover_reign {
    std::size_t server = 0;
    std::uint64_t from = 0; ///< the frame that it has taken over
    std::uint64_t to = 0;   ///< the last one that it has said to be published
    std::int64_t first_time = 0;
    std::int64_t last_time = 0;
};

class failover_of_processes : public testing::Test {
protected:
    failover_of_processes()
        : redis_({"--appendonly", "yes", "--appendfsync", "always"}), log_(redis_.address(), "failover") {
        reference_.begin();
        fingerprints_.push_back(reference_.fingerprint());
        for (std::size_t i = 0; i != servers_.size(); ++i) {
            servers_[i].emplace(
                arguments({"serve", "--name", "server " + std::to_string(i), "--rate", "200"}),
                folder_.path() / ("server" + std::to_string(i)));
        }
        for (std::size_t i = 0; i != followers_.size(); ++i) {
            followers_[i].emplace(arguments({"follow"}), folder_.path() / ("follower" + std::to_string(i)));
        }
    }

    std::vector<std::string> arguments(std::vector<std::string> words) const {
        const std::vector<std::string> common{"--port", std::to_string(redis_.address().port), "--every",
                                              "1"};
        words.insert(words.end(), common.begin(), common.end());
        return words;
    }

    /// What the frame is in a world that nothing happens to.
    std::uint64_t fingerprint_of(std::uint64_t frame) {
        while (fingerprints_.size() <= frame) {
            reference_.next_frame();
            fingerprints_.push_back(reference_.fingerprint());
        }
        return fingerprints_[static_cast<std::size_t>(frame)];
    }

    /// Reads what all say, and compares it.
    void look() {
        for (std::size_t i = 0; i != servers_.size(); ++i) {
            for (const std::string& line : servers_[i]->lines()) {
                hear_server(i, line);
            }
        }
        for (std::size_t i = 0; i != followers_.size(); ++i) {
            for (const std::string& line : followers_[i]->lines()) {
                if (const auto frame = frame_in(line, "followed")) {
                    EXPECT_TRUE(!followed_[i] || *followed_[i] + 1 == *frame)
                        << "follower " << i << ", after frame " << *followed_[i] << " and '" << said_[i]
                        << "': " << line;
                    followed_[i] = frame;
                } else {
                    said_[i] = line;
                }
            }
        }
        while (const auto message = log_.next(0ms)) {
            EXPECT_EQ(message->is_snapshot, !logged_) << "frame " << message->frame;
            EXPECT_TRUE(!logged_ || *logged_ + 1 == message->frame) << "frame " << message->frame;
            logged_ = message->frame;
        }
    }
    void hear_server(std::size_t server, const std::string& line) {
        static const std::regex plays(" *([0-9]+) plays from frame ([0-9]+) on, with token ([0-9]+)");
        std::smatch parts;
        if (std::regex_match(line, parts, plays)) {
            const std::uint64_t token = std::stoull(parts[3]);
            if (reigns_.size() < token) {
                reigns_.resize(token);
            }
            const std::uint64_t from = std::stoull(parts[2]);
            reigns_[token - 1] = {.server = server, .from = from, .to = from};
            tokens_[server] = token;
        } else if (const auto frame = frame_in(line, "published")) {
            failover_reign& reign = reigns_.at(tokens_[server] - 1);
            EXPECT_EQ(*frame, reign.to + 1) << line;
            reign.to = *frame;
            reign.last_time = std::stoll(line);
            if (reign.first_time == 0) {
                reign.first_time = reign.last_time;
            }
        }
    }
    /// The frame of a line, whose fingerprint is compared.
    std::optional<std::uint64_t> frame_in(const std::string& line, const std::string& what) {
        static const std::regex form(
            " *[0-9]+ ([a-z]+) frame ([0-9]+): [0-9]+ ships, fingerprint ([0-9a-f]{16})");
        std::smatch parts;
        if (!std::regex_match(line, parts, form) || parts[1] != what) {
            return std::nullopt;
        }
        const std::uint64_t frame = std::stoull(parts[2]);
        EXPECT_EQ(std::stoull(parts[3], nullptr, 16), fingerprint_of(frame)) << line;
        return frame;
    }

    std::uint64_t published() const { return reigns_.empty() ? 0 : reigns_.back().to; }

    /// Looks until it holds. Nothing takes so long.
    template <class Condition>
    [[nodiscard]] bool look_until(Condition condition) {
        const auto end = std::chrono::steady_clock::now() + 60s;
        while (std::chrono::steady_clock::now() < end) {
            look();
            if (condition()) {
                return true;
            }
            std::this_thread::sleep_for(2ms);
        }
        return false;
    }
    [[nodiscard]] bool goes_on() {
        const std::uint64_t before = published();
        return look_until([&] { return published() > before + 5; });
    }

    void kill(failover_process& process) {
        process.kill();
        look();
        process.skip_torn_line();
    }

    support::scratch_directory folder_;
    redis_server redis_;
    redis_follower log_;
    failover::world reference_;
    std::vector<std::uint64_t> fingerprints_; // of each frame
    std::array<std::optional<failover_process>, 2> servers_;
    std::array<std::optional<failover_process>, 2> followers_;
    std::array<std::uint64_t, 2> tokens_{};                // of each server's lease
    std::vector<failover_reign> reigns_;                   // by token
    std::array<std::optional<std::uint64_t>, 2> followed_; // the last frame of each follower
    std::array<std::string, 2> said_;                      // the last of its other lines
    std::optional<std::uint64_t> logged_;
};

/// As often as the environment variable HANDLEPOOL_FAILOVERS says.
std::uint64_t failovers() {
    const char* const wanted = std::getenv("HANDLEPOOL_FAILOVERS");
    return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 6;
}

class failovers_at_random : public failover_of_processes {
public:
    failover_process& origin() { return *servers_[reigns_.back().server]; }
    [[nodiscard]] bool another_plays_after(std::size_t reigns) {
        return look_until([&] { return reigns_.size() > reigns; });
    }

    void kill_origin() {
        const std::size_t before = reigns_.size();
        failover_process& killed = origin();
        kill(killed);
        ASSERT_TRUE(another_plays_after(before));
        killed.start();
    }
    /// It is woken when it has lost the lease.
    void pause_origin() {
        const std::size_t before = reigns_.size();
        failover_process& paused = origin();
        paused.signal(SIGSTOP);
        ASSERT_TRUE(another_plays_after(before));
        ASSERT_TRUE(goes_on());
        paused.signal(SIGCONT);
    }
    void end_origin() {
        const std::size_t before = reigns_.size();
        failover_process& ended = origin();
        ended.signal(SIGTERM);
        ASSERT_EQ(ended.wait(), 0);
        ASSERT_TRUE(another_plays_after(before));
        ended.start();
    }
    void kill_redis() {
        redis_.kill();
        redis_.start();
    }
    void kill_follower() {
        const auto i = static_cast<std::size_t>(random_.below(followers_.size()));
        kill(*followers_[i]);
        followed_[i].reset();
        followers_[i]->start();
    }

    /// It misses no frame, however often the log was taken over meanwhile.
    void pause_follower() {
        failover_process& paused = *followers_[static_cast<std::size_t>(random_.below(followers_.size()))];
        paused.signal(SIGSTOP);
        end_origin();
        ASSERT_FALSE(HasFatalFailure());
        ASSERT_TRUE(goes_on());
        end_origin();
        ASSERT_FALSE(HasFatalFailure());
        ASSERT_TRUE(goes_on());
        paused.signal(SIGCONT);
    }

    random_source random_;
};

TEST_F(failovers_at_random, lose_no_frame_and_give_no_other_handle) {
    using run = failovers_at_random;
    const std::array<std::pair<const char*, void (run::*)()>, 9> faults{{
        {"the origin is killed", &run::kill_origin}, // more often
        {"the origin is killed", &run::kill_origin},
        {"the origin is killed", &run::kill_origin},
        {"the origin is paused", &run::pause_origin},
        {"the origin is paused", &run::pause_origin},
        {"the origin gives the log up", &run::end_origin},
        {"redis is killed", &run::kill_redis},
        {"a follower is killed", &run::kill_follower},
        {"a follower is paused", &run::pause_follower},
    }};
    for (std::uint64_t i = 0; i != failovers(); ++i) {
        ASSERT_TRUE(goes_on()) << "round " << i;
        std::this_thread::sleep_for(
            std::chrono::microseconds(random_.below(20'000))); // any moment of a frame
        const auto& [name, happens] = faults[static_cast<std::size_t>(random_.below(faults.size()))];
        SCOPED_TRACE("round " + std::to_string(i) + ": " + name);
        (this->*happens)();
        ASSERT_FALSE(HasFatalFailure());
        for (auto& each : servers_) {
            ASSERT_TRUE(each->is_running());
        }
        for (auto& each : followers_) {
            ASSERT_TRUE(each->is_running());
        }
    }
    ASSERT_TRUE(goes_on());
    ASSERT_TRUE(look_until([&] { return servers_[0]->has_spoken() && servers_[1]->has_spoken(); }));
    for (auto& each : servers_) {
        each->signal(SIGTERM);
    }
    for (auto& each : servers_) {
        EXPECT_EQ(each->wait(), 0);
    }
    look();
    const std::uint64_t last = logged_.value();
    EXPECT_TRUE(look_until([&] { return followed_[0] == last && followed_[1] == last; }));
    for (auto& each : followers_) {
        each->signal(SIGTERM);
        EXPECT_EQ(each->wait(), 0);
    }

    // Who takes over has every frame that the one before has said to be published.
    std::vector<std::int64_t> times;
    for (std::size_t i = 1; i < reigns_.size(); ++i) {
        EXPECT_LE(reigns_[i - 1].to, reigns_[i].from) << "token " << i + 1;
        if (reigns_[i - 1].last_time != 0 && reigns_[i].first_time != 0) {
            times.push_back(reigns_[i].first_time - reigns_[i - 1].last_time);
        }
    }
    EXPECT_LE(reigns_.back().to, last);
    std::sort(times.begin(), times.end());
    if (!times.empty()) {
        std::cout << last << " frames, " << times.size()
                  << " times taken over; from the last frame of one to the first of the next "
                  << times[times.size() / 2] / 1000 << " ms, at most " << times.back() / 1000 << " ms\n";
    }
}

} // namespace
} // namespace handlepool::test
