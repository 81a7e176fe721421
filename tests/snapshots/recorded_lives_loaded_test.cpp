// SPDX-License-Identifier: MIT

// What pools say of lives that a snapshot, a merge or another process has begun.

#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/replica.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/time/capture_ring.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

constexpr unsigned loaded_id = 947;

std::string told_of(const std::optional<recorded_event>& event) {
    return event ? std::string(to_string(event->event)) + " in " + event->site.name() : "nothing";
}

template <class Pool>
class recorded_lives_loaded : public testing::Test {
protected:
    static pool_options options() {
        return {.name = "ships", .capacity = 100, .reuse_delay = 0, .record_lives = 2, .pool_id = loaded_id};
    }

    static std::string beginning_of(const Pool& pool, typename Pool::handle_type handle) {
        return told_of(pool.life_of(handle).beginning);
    }
    static std::string end_of(const Pool& pool, typename Pool::handle_type handle) {
        return told_of(pool.life_of(handle).end);
    }
};

using loaded_kinds = testing::Types<pool<std::uint64_t>, stable_pool<std::uint64_t>>;
TYPED_TEST_SUITE(recorded_lives_loaded, loaded_kinds);

TYPED_TEST(recorded_lives_loaded, are_told_by_who_has_loaded_them) {
    TypeParam pool(this->options());
    snapshot saved;
    saved.add("ships", pool);
    const auto kept = pool.emplace(1U);
    std::vector<std::byte> bytes;
    saved.save(bytes);
    const auto later = pool.emplace(2U);
    {
        const scoped_site here("eraser");
        pool.erase(kept);
    }
    {
        const scoped_site here("loader");
        saved.load(bytes);
    }
    EXPECT_EQ(this->beginning_of(pool, kept), "loaded in loader");
    EXPECT_EQ(this->end_of(pool, kept), "nothing") << "of another world";
    EXPECT_EQ(this->beginning_of(pool, later), "nothing");

    {
        const scoped_site here("merger");
        saved.merge(bytes);
        pool.compact();
    }
    std::size_t merged = 0;
    for (const auto handle : pool.handles()) {
        merged += this->beginning_of(pool, handle) == "created in merger" ? 1U : 0U;
    }
    EXPECT_EQ(merged, 1U);
}

TYPED_TEST(recorded_lives_loaded, have_no_end_in_frames_of_the_world_before) {
    pool_options options = this->options();
    options.remember_frames = true;
    TypeParam pool(options);
    snapshot saved;
    saved.add("ships", pool);
    const auto kept = pool.emplace(1U);
    std::vector<std::byte> bytes;
    saved.save(bytes);
    pool.erase(kept);
    pool.compact();
    saved.load(bytes);
    pool.compact();
    pool.compact();
    const auto renamed = pool.revoke(kept);
    EXPECT_EQ(pool.oldest(2), std::vector{renamed});
    const auto younger = pool.emplace(2U);
    pool.compact();
    EXPECT_EQ(pool.oldest(2), (std::vector{renamed, younger}));
}

TYPED_TEST(recorded_lives_loaded, of_a_replica_are_told_by_who_applies) {
    std::vector<std::byte> whole;
    std::vector<std::byte> delta;
    typename TypeParam::handle_type kept, erased, born, revoked, renewed;
    {
        TypeParam origin(this->options());
        change_log<TypeParam> log(origin);
        delta_recorder recorder;
        recorder.add("ships", log);
        snapshot saved;
        saved.add("ships", origin);
        kept = origin.emplace(1U);
        erased = origin.emplace(2U);
        revoked = origin.emplace(3U);
        saved.save(whole);
        recorder.begin(1);
        origin.erase(erased);
        born = origin.emplace(4U);
        renewed = origin.revoke(revoked);
        origin.compact();
        recorder.append(2, delta);
    }
    TypeParam pool(this->options());
    replica follower;
    follower.add("ships", pool);
    {
        const scoped_site here("loader");
        follower.load(whole, 1);
    }
    {
        const scoped_site here("applier");
        follower.apply(delta);
    }
    EXPECT_EQ(this->beginning_of(pool, kept), "loaded in loader");
    EXPECT_EQ(this->end_of(pool, kept), "nothing");
    EXPECT_EQ(this->end_of(pool, erased), "erased in applier");
    EXPECT_EQ(this->beginning_of(pool, born), "loaded in applier");
    EXPECT_EQ(this->end_of(pool, revoked), "revoked in applier");
    EXPECT_EQ(this->beginning_of(pool, renewed), "given this handle in applier");
}

// In as many lives as are recorded of a slot, so that what a course of events has left would be found.
TYPED_TEST(recorded_lives_loaded, of_a_replica_have_no_end_that_its_origin_has_taken_back) {
    std::vector<std::byte> whole;
    std::vector<std::vector<std::byte>> deltas;
    std::vector<typename TypeParam::handle_type> alive;
    {
        TypeParam origin(this->options());
        change_log<TypeParam> log(origin);
        capture_ring<TypeParam> ring(log, {.frames = 16});
        delta_recorder recorder;
        recorder.add("ships", log);
        snapshot saved;
        saved.add("ships", origin);
        alive = {origin.emplace(1U), origin.emplace(2U)};
        saved.save(whole);
        recorder.begin(1);
        ring.capture(1);
        const auto tell = [&] {
            origin.compact();
            recorder.append(deltas.size() + 2, deltas.emplace_back());
        };
        std::vector<typename TypeParam::handle_type> undone = alive;
        for (int life = 0; life != 3; ++life) {
            for (const auto handle : undone) {
                origin.erase(handle);
            }
            tell();
            undone = {origin.emplace(3U), origin.emplace(4U), origin.emplace(5U)};
            tell();
        }
        origin.erase(undone.front()); // so that one of those that come back finds no other in its slot
        tell();
        ring.restore(1);
        tell();
    }
    pool_options options = this->options();
    options.record_lives = 4;
    TypeParam pool(options);
    replica follower;
    follower.add("ships", pool);
    follower.load(whole, 1);
    for (const std::vector<std::byte>& each : deltas) {
        follower.apply(each);
    }
    // The origin has failed, and the pool goes on by itself.
    alive.push_back(pool.emplace(6U));
    ASSERT_EQ(alive.back().index(), 2U) << "a slot that was taken out of service, too";
    for (auto handle : alive) {
        for (int life = 0; life != 4; ++life) {
            EXPECT_NE(this->beginning_of(pool, handle), "nothing");
            const auto end = pool.life_of(handle).end;
            EXPECT_TRUE(!end || end->is_undone) << pool.describe(handle);
            handle = pool.revoke(handle);
        }
    }
}

} // namespace
} // namespace handlepool::test
