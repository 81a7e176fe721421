// SPDX-License-Identifier: MIT

// A publisher in a program whose memory ends for a while. Small pieces are still there, because ZeroMQ ends
// the program without them.

#include <gtest/gtest.h>
#include <tests/zeromq/followed_world.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <optional>
#include <thread>

namespace handlepool::test {
namespace {

constexpr std::size_t large_piece = 100'000;

enum class large_pieces { are_there, are_for_one_thread, are_for_nobody };
std::atomic<large_pieces> large_memory = large_pieces::are_there;
std::atomic<int> large_failures = 0;
thread_local bool has_large_memory = false; // where they are for one thread

void* large_or_small(std::size_t size) noexcept {
    const large_pieces now = large_memory.load();
    if (size >= large_piece && (now == large_pieces::are_for_nobody ||
                                (now == large_pieces::are_for_one_thread && !has_large_memory))) {
        large_failures.fetch_add(1);
        return nullptr;
    }
    return std::malloc(size);
}

} // namespace
} // namespace handlepool::test

void* operator new(std::size_t size) {
    void* const made = handlepool::test::large_or_small(size);
    if (made == nullptr) {
        throw std::bad_alloc();
    }
    return made;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { // as ZeroMQ calls it
    return handlepool::test::large_or_small(size);
}
void operator delete(void* pointer) noexcept {
    std::free(pointer);
}
void operator delete(void* pointer, std::size_t) noexcept {
    std::free(pointer);
}

namespace handlepool::test {
namespace {

class zeromq_without_memory : public testing::Test {
protected:
    zeromq_without_memory() {
        has_large_memory = true;
        publisher_.emplace(free_endpoints());
        publisher_->begin(0, origin_.begin());
    }
    ~zeromq_without_memory() override { large_memory = large_pieces::are_there; }

    /// Until the publisher's thread has asked for large pieces twice more, in vain.
    static void wait_for_failures() {
        for (const int before = large_failures; large_failures < before + 2;) {
            std::this_thread::yield();
        }
    }

    origin_world origin_{{.is_large = true}};
    std::optional<zeromq_publisher> publisher_;
};

TEST_F(zeromq_without_memory, a_delta_that_there_is_no_room_for_is_appended_later) {
    following_replay world(publisher_->endpoints());
    world.follow(origin_);
    const auto& delta = origin_.play();
    large_memory = large_pieces::are_for_nobody;
    EXPECT_THROW(publisher_->append(delta), std::bad_alloc);
    large_memory = large_pieces::are_there;
    EXPECT_EQ(publisher_->frame(), 0U);
    publisher_->append(delta);
    world.follow(origin_);
    EXPECT_EQ(world.snapshots(), 1);
}

TEST_F(zeromq_without_memory, its_thread_goes_on_with_the_frames_later) {
    following_replay world(publisher_->endpoints());
    world.follow(origin_);
    large_memory = large_pieces::are_for_one_thread;
    publisher_->append(origin_.play());
    wait_for_failures();
    publisher_->append(origin_.play());
    large_memory = large_pieces::are_there;
    world.follow(origin_);
    publisher_->append(origin_.play());
    world.follow(origin_);
    EXPECT_EQ(world.snapshots(), 1);
    EXPECT_EQ(world.follower().malformed_messages(), 0U);
}

TEST_F(zeromq_without_memory, who_comes_late_gets_a_snapshot_later) {
    using std::chrono_literals::operator""ms;
    large_memory = large_pieces::are_for_one_thread;
    following_replay world(publisher_->endpoints(), {.patience = 200ms});
    const int before = large_failures;
    while (large_failures < before + 2) {
        EXPECT_FALSE(world.follower().next(1ms).has_value());
    }
    large_memory = large_pieces::are_there;
    world.follow(origin_);
    publisher_->append(origin_.play());
    world.follow(origin_);
}

TEST_F(zeromq_without_memory, it_ends_without_the_frames_that_wait_for_memory) {
    large_memory = large_pieces::are_for_one_thread;
    publisher_->append(origin_.play());
    publisher_.reset();
}

} // namespace
} // namespace handlepool::test
