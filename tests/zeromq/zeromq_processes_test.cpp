// SPDX-License-Identifier: MIT

// A publisher and its followers in processes of their own, which are killed at any moment.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <tests/support/random.hpp>
#include <tests/support/repetitions.hpp>
#include <tests/support/scratch_directory.hpp>
#include <tests/zeromq/followed_world.hpp>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

/// What a process says of a frame: in one piece, as a pipe keeps it.
struct frame_report {
    std::uint64_t process = 0; // 0: the publisher, else a follower
    std::uint64_t world = 0;
    std::uint64_t frame = 0;
    std::uint64_t hash = 0;
};

void report(int to, const frame_report& said) {
    if (::write(to, &said, sizeof said) != sizeof said) {
        ::_exit(1);
    }
}

/// Plays as fast as it can, and tells each frame before it is published.
void publish_until_killed(const zeromq_endpoints& endpoints, std::uint64_t world, int reports) {
    std::mt19937_64 engine(world);
    followed_pool objects = make_followed_pool();
    change_log<followed_pool> log(objects);
    snapshot all;
    delta_recorder recorder;
    all.add("objects", objects);
    all.add("world", world);
    recorder.add("objects", log);
    recorder.add("world", world);
    std::vector<followed_pool::handle_type> living;
    for (int i = 0; i != 500; ++i) {
        living.push_back(objects.emplace(followed_object{engine(), engine()}));
    }
    std::vector<std::byte> saved;
    all.save(saved);
    recorder.begin(0);
    report(reports, {.world = world, .frame = 0, .hash = hash_of(objects, world)});
    zeromq_publisher publisher(endpoints);
    publisher.begin(0, saved);
    for (std::uint64_t frame = 1;; ++frame) {
        for (int i = 0; i != 10; ++i) {
            auto& chosen = living[engine() % living.size()];
            if (i % 2 == 0) {
                objects.erase(std::exchange(chosen, objects.emplace(followed_object{engine(), engine()})));
            } else {
                log.edit(chosen)->value = engine();
            }
        }
        std::vector<std::byte> delta;
        recorder.append(frame, delta);
        report(reports, {.world = world, .frame = frame, .hash = hash_of(objects, world)});
        publisher.append(delta);
    }
}

void follow_until_killed(const zeromq_endpoints& endpoints, std::uint64_t process, int reports) {
    std::uint64_t world = 0;
    followed_pool objects = make_followed_pool();
    replica follower;
    follower.add("objects", objects);
    follower.add("world", world);
    zeromq_follower origin(endpoints);
    for (;;) {
        if (origin.follow(follower, long_enough)) {
            report(reports, {.process = process,
                             .world = world,
                             .frame = *follower.frame(),
                             .hash = hash_of(objects, world)});
        }
    }
}

class zeromq_processes : public testing::Test {
protected:
    static constexpr std::uint64_t publisher = 0;
    static constexpr std::uint64_t all_processes = 3;

    zeromq_processes() {
        if (::pipe(pipe_.data()) != 0) {
            ADD_FAILURE() << "no pipe";
        }
    }
    ~zeromq_processes() override {
        for (std::uint64_t process = 0; process != all_processes; ++process) {
            end(process);
        }
        ::close(pipe_[0]);
        ::close(pipe_[1]);
    }

    void start(std::uint64_t process) {
        worlds_ += process == publisher ? 1U : 0U;
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            try {
                if (process == publisher) {
                    publish_until_killed(endpoints_, worlds_, pipe_[1]);
                } else {
                    follow_until_killed(endpoints_, process, pipe_[1]);
                }
            } catch (const std::exception& error) {
                std::fprintf(stderr, "process %d: %s\n", static_cast<int>(process), error.what());
            }
            ::_exit(1);
        }
        children_[process] = child;
    }
    void end(std::uint64_t process) {
        const pid_t child = std::exchange(children_[process], 0);
        if (child > 0) {
            ::kill(child, SIGKILL);
            int status = 0;
            EXPECT_EQ(::waitpid(child, &status, 0), child);
            EXPECT_TRUE(WIFSIGNALED(status)) << "process " << process << " has ended by itself";
        }
    }

    /// Reads what is said next, and compares it with what others have said of that frame.
    void read_report() {
        ASSERT_EQ(::read(pipe_[0], &last_, sizeof last_), static_cast<ssize_t>(sizeof last_));
        if (last_.process == publisher) {
            hashes_[{last_.world, last_.frame}] = last_.hash;
            return;
        }
        // The publisher has said it before it has sent it.
        const auto found = hashes_.find({last_.world, last_.frame});
        ASSERT_NE(found, hashes_.end()) << "frame " << last_.frame << " of world " << last_.world;
        ASSERT_EQ(found->second, last_.hash) << "frame " << last_.frame << " of world " << last_.world;
        ++compared_;
    }

    /// Reads until each follower has some frames of the last world.
    void wait_for_followers() {
        std::array<int, all_processes> frames{};
        while (frames[1] < 5 || frames[2] < 5) {
            ASSERT_NO_FATAL_FAILURE(read_report());
            if (last_.process != publisher && last_.world == worlds_) {
                ++frames[last_.process];
            }
        }
    }

    const support::scratch_directory directory_;
    const zeromq_endpoints endpoints_{.deltas = "ipc://" + (directory_.path() / "deltas").string(),
                                      .snapshots = "ipc://" + (directory_.path() / "snapshots").string()};
    std::array<int, 2> pipe_{};
    std::array<pid_t, all_processes> children_{};
    std::uint64_t worlds_ = 0;
    frame_report last_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> hashes_;
    std::uint64_t compared_ = 0;
};

TEST_F(zeromq_processes, that_are_killed_are_followed_and_follow_again) {
    random_source random;
    for (std::uint64_t process = 0; process != all_processes; ++process) {
        ASSERT_NO_FATAL_FAILURE(start(process));
    }
    ASSERT_NO_FATAL_FAILURE(wait_for_followers());
    const int kills = support::repetitions(24);
    for (int i = 0; i != kills; ++i) {
        for (std::uint64_t reports = random.below(200); reports != 0; --reports) {
            ASSERT_NO_FATAL_FAILURE(read_report());
        }
        const std::uint64_t killed = i == 0 ? publisher : random.below(all_processes);
        end(killed);
        if (random.one_in(3)) { // two at a time
            const std::uint64_t other = (killed + 1) % all_processes;
            end(other);
            ASSERT_NO_FATAL_FAILURE(start(other));
        }
        ASSERT_NO_FATAL_FAILURE(start(killed));
        ASSERT_NO_FATAL_FAILURE(wait_for_followers());
    }
    EXPECT_GT(worlds_, 1u);
    EXPECT_GE(compared_, 10u * static_cast<std::uint64_t>(kills));
}

} // namespace
} // namespace handlepool::test
