// SPDX-License-Identifier: MIT

// What pools that remember frames say of objects after a restore, and of those that then get handles which it
// has undone.

#include <handlepool/pool.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace handlepool::test {
namespace {

template <class Pool>
class remembered_frames_undone : public testing::Test {
protected:
    void pass_frames(int count) {
        for (int i = 0; i != count; ++i) {
            used.compact();
        }
    }
    std::string said_of(typename Pool::handle_type handle) {
        const std::string said = used.describe(handle);
        return said.substr(said.find(": ") + 2);
    }

    Pool used{{.name = "ships", .capacity = 100, .reuse_delay = 0, .remember_frames = true}};
    change_log<Pool> log{used};
    capture_ring<Pool> ring{log, {.frames = 16}};
};

using kinds = testing::Types<pool<int>, stable_pool<int>>;
TYPED_TEST_SUITE(remembered_frames_undone, kinds);

TYPED_TEST(remembered_frames_undone, are_those_of_a_handle_s_new_object) {
    auto& pool = this->used;
    this->ring.capture(1);
    const auto undone = pool.emplace(1);
    this->pass_frames(5);
    pool.erase(undone);
    this->pass_frames(3);
    this->ring.restore(1);

    const auto again = pool.emplace(2);
    ASSERT_EQ(again, undone);
    EXPECT_EQ(this->said_of(again), "alive, created in this frame");
    pool.erase(again);
    EXPECT_EQ(this->said_of(again), "erased in this frame") << "and not when the other one was";
}

TYPED_TEST(remembered_frames_undone, are_not_those_of_the_object_before) {
    auto& pool = this->used;
    const auto former = pool.emplace(1);
    this->pass_frames(3);
    pool.erase(former);
    this->ring.capture(1);
    const auto undone = pool.emplace(2);
    ASSERT_EQ(undone.index(), former.index());
    pool.erase(undone); // before a compaction takes it in, so that it has no birth
    this->pass_frames(1);
    this->ring.restore(1);
    const auto again = pool.emplace(3);
    ASSERT_EQ(again, undone);
    EXPECT_EQ(this->said_of(again), "alive, created in this frame");
}

TYPED_TEST(remembered_frames_undone, are_no_end_of_an_object_that_was_taken_back_and_gets_another_handle) {
    auto& pool = this->used;
    const auto kept = pool.emplace(1);
    this->ring.capture(1);
    this->pass_frames(2);
    pool.erase(kept);
    this->pass_frames(4);
    this->ring.restore(1);
    this->pass_frames(2);
    const std::string said = this->said_of(kept);
    EXPECT_EQ(said, "alive, created 2 frames ago") << "when it was taken back";
    const auto renamed = pool.revoke(kept);
    EXPECT_EQ(this->said_of(renamed), said);
}

TYPED_TEST(remembered_frames_undone, of_an_object_that_is_only_put_back_go_on) {
    auto& pool = this->used;
    const auto erased = pool.emplace(1);
    const auto kept = pool.emplace(2);
    this->pass_frames(4);
    this->ring.capture(1);
    pool.erase(erased);
    this->pass_frames(1);
    EXPECT_EQ(this->said_of(kept), "alive, created 6 frames ago");
    this->ring.restore(1);
    EXPECT_EQ(this->said_of(kept), "alive, created 7 frames ago");
}

} // namespace
} // namespace handlepool::test
