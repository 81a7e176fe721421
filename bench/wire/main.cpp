// SPDX-License-Identifier: MIT

// What a frame costs, and how long it takes, on its way to a follower in another process.

#include "told_world.hpp"

#include <handlepool/redis/redis_follower.hpp>
#include <handlepool/redis/redis_publisher.hpp>
#include <handlepool/zeromq/zeromq_follower.hpp>
#include <handlepool/zeromq/zeromq_publisher.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <support/files/tell.hpp>
#include <support/programs/run_program.hpp>
#include <support/programs/started_program.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace handlepool_bench;
using namespace std::chrono_literals;

struct options {
    std::size_t alive = 100'000;
    std::size_t changed = 1'000;
    std::uint64_t frames = 600;
    unsigned rate = 60;
    std::string fsync = "always";
    bool json = false;
};

/// All processes have this clock.
double microseconds_now() {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

struct percentiles {
    explicit percentiles(std::vector<double> values) {
        std::sort(values.begin(), values.end());
        median = values.at(values.size() / 2);
        percentile_99 = values.at(values.size() * 99 / 100);
    }
    double median = 0;
    double percentile_99 = 0;
};

/// When a follower in another process has had each frame.
class other_process {
public:
    /// `follow(world)` receives one message into it, and returns whether there was one.
    template <class MakeFollow>
    other_process(const options& chosen, MakeFollow make_follow) {
        int ends[2];
        if (::pipe(ends) != 0) {
            throw std::runtime_error("there is no pipe");
        }
        child_ = ::fork();
        if (child_ == 0) {
            ::close(ends[0]);
            told_world world(chosen.alive);
            auto follow = make_follow();
            for (;;) {
                if (follow(world.copy())) {
                    const double arrived[2] = {static_cast<double>(*world.copy().frame()),
                                               microseconds_now()};
                    if (::write(ends[1], arrived, sizeof arrived) != sizeof arrived) {
                        ::_exit(0); // nobody reads any more
                    }
                }
            }
        }
        ::close(ends[1]);
        read_ = ends[0];
    }
    ~other_process() {
        ::close(read_);
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
    }
    other_process(const other_process&) = delete;
    other_process& operator=(const other_process&) = delete;

    /// Waits for this frame, and returns when it was there.
    double arrival_of(std::uint64_t frame) {
        double arrived[2] = {0, 0};
        do {
            if (::read(read_, arrived, sizeof arrived) != sizeof arrived) {
                throw std::runtime_error("the follower has ended");
            }
        } while (arrived[0] < static_cast<double>(frame));
        return arrived[1];
    }

private:
    pid_t child_ = -1;
    int read_ = -1;
};

/// A server of Redis on the loopback address, with a folder of its own.
class own_redis {
public:
    explicit own_redis(const std::string& fsync)
        : folder_(std::filesystem::temp_directory_path() /
                  ("handlepool_wire_" + std::to_string(::getpid()))) {
        std::filesystem::create_directory(folder_);
        std::random_device random;
        for (int i = 0; i != 10; ++i) { // a port may be taken
            port_ = static_cast<std::uint16_t>(20'000 + random() % 20'000);
            program_.emplace(std::vector<std::string>{
                "redis-server", "--port", std::to_string(port_), "--bind", "127.0.0.1", "--dir",
                folder_.string(), "--save", "", "--appendonly", "yes", "--appendfsync", fsync});
            while (program_->is_running()) {
                if (handlepool::support::run_program({"redis-cli", "-p", std::to_string(port_), "PING"})
                        .output == "PONG\n") {
                    return;
                }
                std::this_thread::sleep_for(5ms);
            }
        }
        throw std::runtime_error("redis-server does not start");
    }
    ~own_redis() {
        program_.reset();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    own_redis(const own_redis&) = delete;
    own_redis& operator=(const own_redis&) = delete;

    handlepool::redis_address address() const { return {.port = port_}; }

private:
    std::filesystem::path folder_;
    std::uint16_t port_ = 0;
    std::optional<handlepool::support::started_program> program_;
};

/// Plays frames at the rate. `publish(delta)` hands one over, `settle(frame)` waits until it is safe.
template <class Publish, class Settle>
nlohmann::ordered_json measure(const options& chosen, told_world& world, other_process& follower,
                               Publish publish, Settle settle) {
    std::vector<double> recorded;
    std::vector<double> handed_over;
    std::vector<double> safe;
    std::vector<double> arrived;
    double bytes = 0;
    follower.arrival_of(0);
    auto next = std::chrono::steady_clock::now();
    for (std::uint64_t frame = 1; frame <= chosen.frames; ++frame) {
        world.change(chosen.changed);
        std::vector<std::byte> delta;
        const double begin = microseconds_now();
        world.record(frame, delta);
        const double end = microseconds_now();
        bytes += static_cast<double>(delta.size());
        publish(std::move(delta));
        const double published = microseconds_now();
        if (settle(frame)) {
            safe.push_back(microseconds_now() - published);
        }
        recorded.push_back(end - begin);
        handed_over.push_back(published - end);
        arrived.push_back(follower.arrival_of(frame) - end);
        next += std::chrono::microseconds(1'000'000 / chosen.rate);
        std::this_thread::sleep_until(next);
    }
    nlohmann::ordered_json results{{"bytes_a_frame", bytes / static_cast<double>(chosen.frames)}};
    const auto add = [&results](const char* name, std::vector<double> values) {
        if (!values.empty()) {
            const percentiles found(std::move(values));
            results[name] = {{"median", found.median}, {"percentile_99", found.percentile_99}};
        }
    };
    add("record_microseconds", std::move(recorded));
    add("hand_over_microseconds", std::move(handed_over));
    add("safe_after_microseconds", std::move(safe));
    add("applied_after_microseconds", std::move(arrived));
    return results;
}

nlohmann::ordered_json by_redis(const options& chosen) {
    const own_redis redis(chosen.fsync);
    other_process follower(chosen, [&redis] {
        return [log = handlepool::redis_follower(redis.address(), "wire")](
                   handlepool::replica& world) mutable { return log.follow(world, 1s); };
    });
    told_world world(chosen.alive);
    const auto lease = handlepool::redis_follower(redis.address(), "wire").try_take_over("wire", 5s);
    handlepool::redis_publisher log(redis.address(), "wire", lease.value());
    log.begin(0, world.begin(chosen.alive));
    return measure(
        chosen, world, follower, [&log](std::span<const std::byte> delta) { log.append(delta); },
        [&log](std::uint64_t frame) { return log.wait(frame, 10s); });
}

nlohmann::ordered_json by_zeromq(const options& chosen) {
    handlepool::zeromq_publisher publisher({.deltas = "tcp://127.0.0.1:*", .snapshots = "tcp://127.0.0.1:*"});
    other_process follower(chosen, [&publisher] { // which uses nothing of it but the addresses
        return [source = handlepool::zeromq_follower(publisher.endpoints())](
                   handlepool::replica& world) mutable { return source.follow(world, 1s); };
    });
    told_world world(chosen.alive);
    publisher.begin(0, world.begin(chosen.alive));
    return measure(
        chosen, world, follower, [&publisher](std::span<const std::byte> delta) { publisher.append(delta); },
        [](std::uint64_t) { return false; }); // nobody says so
}

void print(std::string_view title, const nlohmann::ordered_json& results) {
    fmt::print("{}\n  {:<46} {:.0f}\n", title, "bytes a frame", results["bytes_a_frame"].get<double>());
    const auto line = [&results](const char* text, const char* name) {
        if (results.contains(name)) {
            fmt::print("  {:<46} median {:.1f} us, 99th percentile {:.1f} us\n", text,
                       results[name]["median"].get<double>(), results[name]["percentile_99"].get<double>());
        }
    };
    line("the frame pays to record", "record_microseconds");
    line("and to hand over", "hand_over_microseconds");
    line("safe after", "safe_after_microseconds");
    line("applied by a follower after", "applied_after_microseconds");
}

} // namespace

int main(int argc, char** argv) {
    options chosen;
    CLI::App app(
        "Measures what a frame costs, and how long it takes, on its way to a follower in another process.");
    app.option_defaults()->always_capture_default();
    app.add_option("--alive", chosen.alive, "Objects of 64 bytes")->check(CLI::Range(1, 10'000'000));
    app.add_option("--changed", chosen.changed, "Of which so many change in a frame")
        ->check(CLI::Range(0, 10'000'000));
    app.add_option("--frames", chosen.frames, "Frames to play")->check(CLI::Range(1, 1'000'000));
    app.add_option("--rate", chosen.rate, "Frames a second")->check(CLI::Range(1, 100'000));
    app.add_option("--fsync", chosen.fsync, "When Redis waits for the disk")
        ->check(CLI::IsMember({"always", "everysec", "no"}));
    app.add_flag("--json", chosen.json, "Print the results as JSON");
    app.footer("Example:\n  handlepool-wire --alive 100000 --changed 1000 --fsync everysec");
    CLI11_PARSE(app, argc, argv);
    try {
        nlohmann::ordered_json all;
        all["zeromq"] = by_zeromq(chosen);
        all["redis"] = by_redis(chosen);
        if (chosen.json) {
            fmt::print("{}\n", all.dump(2));
        } else {
            print("by ZeroMQ", all["zeromq"]);
            print("by Redis", all["redis"]);
        }
        return 0;
    } catch (const std::exception& error) {
        handlepool::support::tell("{}\n", error.what());
        return 1;
    }
}
