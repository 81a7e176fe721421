// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/frame_message.hpp>
#include <handlepool/snapshots/replay.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/time/change_log.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace handlepool::test {

struct published_ship {
    std::uint64_t number = 0;
    std::uint64_t hull = 0;
};

/// A small world whose frames are published. One that goes on from another's frame has the same objects.
class published_game {
public:
    explicit published_game(std::uint64_t frame = 0) : frame_(frame) {
        all_.add("ships", ships_);
        all_.add("frame", frame_);
        changes_.add("ships", log_);
        changes_.add("frame", frame_);
    }

    /// A snapshot of this frame, from which deltas go on.
    std::vector<std::byte> begin() {
        std::vector<std::byte> bytes;
        all_.save(bytes);
        changes_.begin(frame_);
        return bytes;
    }
    void load(const std::vector<std::byte>& snapshot) { all_.load(snapshot); }

    /// The delta of the next frame.
    std::vector<std::byte> next() {
        ++frame_;
        const auto made = ships_.emplace(published_ship{frame_, 0});
        if (auto* const last = log_.edit(last_)) {
            ++last->hull;
        }
        if (frame_ % 3 == 0) {
            ships_.erase(last_);
        }
        last_ = made;
        std::vector<std::byte> delta;
        changes_.append(frame_, delta);
        return delta;
    }
    /// Makes later deltas larger.
    void grow(std::size_t ships) {
        for (std::size_t i = 0; i != ships; ++i) {
            ships_.emplace(published_ship{i, i});
        }
    }

    std::uint64_t frame() const { return frame_; }

private:
    pool<published_ship> ships_{{.name = "ships", .capacity = 200'000}};
    change_log<pool<published_ship>> log_{ships_};
    std::uint64_t frame_;
    handle<published_ship> last_;
    snapshot all_;
    delta_recorder changes_;
};

/// What comes of messages, without pools: so the origin may live in the same process.
class followed_game {
public:
    void receive(const frame_message& message) {
        if (message.is_snapshot) {
            world_ = std::make_unique<replay>(message.bytes, message.frame);
            ++snapshots_;
        } else {
            world_->apply(message.bytes);
            ++deltas_;
        }
    }
    std::vector<std::byte> bytes() const {
        std::vector<std::byte> bytes;
        world_->save(bytes);
        return bytes;
    }
    std::uint64_t frame() const { return world_->frame(); }
    std::uint64_t snapshots() const { return snapshots_; }
    std::uint64_t deltas() const { return deltas_; }

private:
    std::unique_ptr<replay> world_;
    std::uint64_t snapshots_ = 0;
    std::uint64_t deltas_ = 0;
};

} // namespace handlepool::test
