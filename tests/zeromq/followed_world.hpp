// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/snapshots/content_hash.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/replica.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/time/change_log.hpp>
#include <handlepool/zeromq/zeromq_follower.hpp>
#include <handlepool/zeromq/zeromq_publisher.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

// A world that is published, and one that follows it.
namespace handlepool::test {

/// Long enough for any machine: only what fails waits for it.
inline constexpr auto long_enough = std::chrono::minutes(1);

/// On ports that nobody else has.
inline zeromq_endpoints free_endpoints() {
    return {.deltas = "tcp://127.0.0.1:*", .snapshots = "tcp://127.0.0.1:*"};
}

struct followed_object {
    std::uint64_t id = 0;
    std::uint64_t value = 0;
};
using followed_pool = pool<followed_object>;

inline followed_pool make_followed_pool() {
    return followed_pool({.name = "followed", .capacity = 10'000, .slot_limit = 1'000'000, .pool_id = 9});
}

/// Of handles and objects, in their order, and of a number that comes with them.
inline std::uint64_t hash_of(const followed_pool& objects, std::uint64_t world) {
    std::vector<std::uint64_t> all{world};
    for (const auto& [handle, object] : objects.entries()) {
        all.insert(all.end(), {handle.value(), object.id, object.value});
    }
    return detail::content_hash_of(std::as_bytes(std::span(all)));
}

inline std::uint64_t hash_of(const replay& past) {
    std::vector<std::byte> bytes;
    past.save(bytes);
    return detail::content_hash_of(bytes);
}

/// What a world was from its first frame on. Its pool is no more, so that a follower in the same process can
/// have one with the same id.
class origin_world {
public:
    struct life {
        std::uint64_t world = 1; ///< a number that no other one has
        std::uint64_t first_frame = 0;
        std::size_t frames = 100;
        std::size_t calls = 20; ///< in each of them
        bool is_large = false;  ///< with a value of a quarter megabyte, which each delta has, too
    };

    explicit origin_world(const life& wanted) : frame_(wanted.first_frame) {
        std::uint64_t world = wanted.world;
        std::mt19937_64 engine(world);
        followed_pool objects = make_followed_pool();
        change_log<followed_pool> log(objects);
        snapshot all;
        delta_recorder recorder;
        all.add("objects", objects);
        all.add("world", world);
        recorder.add("objects", log);
        recorder.add("world", world);
        const auto ballast = std::make_unique<std::array<std::byte, 1 << 18>>();
        if (wanted.is_large) {
            all.add("ballast", *ballast);
            recorder.add("ballast", *ballast);
        }

        std::vector<followed_pool::handle_type> living;
        const auto play = [&] {
            const std::uint64_t kind = engine() % 4;
            if (kind < 2 || living.empty()) {
                living.push_back(objects.emplace(followed_object{engine(), engine()}));
                return;
            }
            auto& chosen = living[engine() % living.size()];
            if (kind == 2) {
                objects.erase(std::exchange(chosen, living.back()));
                living.pop_back();
            } else {
                log.edit(chosen)->value = engine();
            }
        };
        all.save(snapshot_);
        recorder.begin(frame_);
        replay past(snapshot_, frame_);
        hashes_[frame_] = {hash_of(objects, world), hash_of(past)};
        for (std::size_t i = 0; i != wanted.frames; ++i) {
            for (std::size_t j = 0; j != wanted.calls; ++j) {
                play();
            }
            recorder.append(frame_ + i + 1, deltas_.emplace_back());
            past.apply(deltas_.back());
            hashes_[past.frame()] = {hash_of(objects, world), hash_of(past)};
        }
    }

    const std::vector<std::byte>& begin() const { return snapshot_; }
    /// The next delta.
    const std::vector<std::byte>& play() {
        ++frame_;
        return deltas_[next_++];
    }
    /// The frame of the last one.
    std::uint64_t frame() const { return frame_; }

    struct hashes {
        std::uint64_t of_objects = 0;
        std::uint64_t of_replay = 0;
    };
    /// Of the end of a frame.
    hashes at(std::uint64_t frame) const {
        const auto found = hashes_.find(frame);
        return found == hashes_.end() ? hashes() : found->second;
    }

private:
    std::vector<std::byte> snapshot_;
    std::vector<std::vector<std::byte>> deltas_;
    std::size_t next_ = 0;
    std::uint64_t frame_;
    std::map<std::uint64_t, hashes> hashes_;
};

/// Follows in a pool.
class following_world {
public:
    explicit following_world(const zeromq_endpoints& endpoints, const zeromq_follower_options& options = {})
        : follower_(endpoints, options) {
        replica_.add("objects", objects_);
        replica_.add("world", world_);
    }

    /// Follows until it has the last frame of the origin, as that was then.
    void follow(const origin_world& origin) {
        const std::uint64_t frame = origin.frame();
        do {
            ASSERT_TRUE(follower_.follow(replica_, long_enough)) << follower_.problem();
        } while (replica_.frame() != frame || hash() != origin.at(frame).of_objects);
    }

    std::uint64_t hash() const { return hash_of(objects_, world_); }
    zeromq_follower& follower() { return follower_; }
    handlepool::replica& replica() { return replica_; }

private:
    std::uint64_t world_ = 0;
    followed_pool objects_ = make_followed_pool();
    handlepool::replica replica_;
    zeromq_follower follower_;
};

/// Follows without a pool, so there can be several.
class following_replay {
public:
    explicit following_replay(const zeromq_endpoints& endpoints, const zeromq_follower_options& options = {})
        : follower_(endpoints, options) {}

    void follow(const origin_world& origin) {
        const std::uint64_t frame = origin.frame();
        do {
            const auto message = follower_.next(long_enough);
            ASSERT_TRUE(message.has_value()) << follower_.problem();
            if (message->is_snapshot) {
                ++snapshots_;
                past_.emplace(message->bytes, message->frame);
            } else {
                past_->apply(message->bytes);
            }
            ASSERT_EQ(past_->frame(), message->frame);
        } while (past_->frame() != frame || hash_of(*past_) != origin.at(frame).of_replay);
    }

    int snapshots() const { return snapshots_; }
    zeromq_follower& follower() { return follower_; }

private:
    std::optional<replay> past_;
    int snapshots_ = 0;
    zeromq_follower follower_;
};

} // namespace handlepool::test
