// SPDX-License-Identifier: MIT
#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <iterator>
#include <thread>
#include <vector>

// Handlers of signals that look handles up, while the thread that they interrupt is anywhere in a function of
// the same pool.
namespace handlepool::test {
namespace {

using namespace std::chrono_literals;

/// While it lives, SIGUSR1 calls `call` in the thread that gets it.
class signal_handler {
public:
    explicit signal_handler(void (*call)(int)) {
        struct sigaction action{};
        action.sa_handler = call;
        action.sa_flags = SA_RESTART;
        EXPECT_EQ(sigaction(SIGUSR1, &action, &before_), 0);
    }
    ~signal_handler() { sigaction(SIGUSR1, &before_, nullptr); }

    signal_handler(const signal_handler&) = delete;
    signal_handler& operator=(const signal_handler&) = delete;

private:
    struct sigaction before_{};
};

// For the handlers, which have no other way to get at them.
service* world = nullptr;
pool<std::uint64_t>* numbers = nullptr;
handle<std::uint64_t> living;
handle<std::uint64_t> dead;
std::atomic<bool> compacting = false;
std::atomic<int> handled = 0;
std::atomic<int> wrong = 0;

void look_handles_up(int) {
    const bool moving = compacting.load();
    bool right = numbers->contains(living) && !numbers->contains(dead) && world->contains(living) &&
                 !world->contains(dead) && !numbers->contains(handle<std::uint64_t>());
    right = right && numbers->find(dead) == nullptr && world->find<std::uint64_t>(dead) == nullptr;
    const std::uint64_t* const found = numbers->find(living);
    right = right && found != nullptr && world->find<std::uint64_t>(living) == found;
    // A compaction may be moving the object: the frame contract holds for handlers too.
    right = right && (moving || (*found == 7 && (*numbers)[living] == 7));
    right = right && world->handle_cast<std::uint64_t>(living) == living && numbers->capacity() == 1000 &&
            numbers->name() == "numbers" && numbers->id() == living.pool_id() && numbers->size() <= 1100 &&
            !numbers->empty();
    numbers->idle();
    world->frames();
    wrong += right ? 0 : 1;
    ++handled;
}

class signal_test : public testing::Test {
protected:
    signal_test() {
        world = &owner;
        numbers = &owner.add<pool<std::uint64_t>>("numbers", {.capacity = 1000});
        living = numbers->emplace(7U);
        dead = numbers->emplace(8U);
        numbers->erase(dead);
        handled = 0;
        wrong = 0;
    }

    /// Sends the calling thread signals while it calls `work`, until enough were handled.
    static void work_under_signals(const std::function<void()>& work) {
        const pthread_t worker = pthread_self();
        std::atomic<bool> done = false;
        std::jthread sender([&] {
            while (!done) {
                pthread_kill(worker, SIGUSR1);
                std::this_thread::sleep_for(20us);
            }
        });
        const auto end = std::chrono::steady_clock::now() + 10s;
        while (handled < 1500 && std::chrono::steady_clock::now() < end) {
            for (int i = 0; i != 20; ++i) {
                work();
            }
            usleep(1); // where ThreadSanitizer delivers what came meanwhile
        }
        done = true;
    }

    static void compact() {
        compacting = true;
        numbers->compact();
        compacting = false;
    }

    service owner;
};

TEST_F(signal_test, a_handler_looks_handles_up_in_a_thread_that_creates_erases_and_compacts) {
    const signal_handler handler(look_handles_up);
    std::vector<handle<std::uint64_t>> handles;
    work_under_signals([&] {
        handles.clear();
        numbers->emplace_n(20, std::back_inserter(handles), 9U);
        numbers->erase(handles);
        compact();
    });
    EXPECT_GT(handled, 100);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(numbers->size(), 1U);
}

TEST_F(signal_test, a_handler_looks_handles_up_in_a_thread_that_only_compacts) {
    const signal_handler handler(look_handles_up);
    std::atomic<bool> done = false;
    std::jthread other([&] {
        while (!done) {
            numbers->erase(numbers->try_emplace(9U));
        }
    });
    work_under_signals(compact);
    done = true;
    EXPECT_GT(handled, 100);
    EXPECT_EQ(wrong, 0);
}

TEST_F(signal_test, a_handler_is_the_first_use_of_a_pool_in_its_thread) {
    const signal_handler handler(look_handles_up);
    for (int i = 0; i != 100; ++i) {
        std::thread([] { pthread_kill(pthread_self(), SIGUSR1); }).join();
    }
    EXPECT_EQ(handled, 100);
    EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace handlepool::test
