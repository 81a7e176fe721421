// SPDX-License-Identifier: MIT
#pragma once

#include "../require.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/replica.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/time/change_log.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

namespace failover {

struct ship {
    std::uint64_t number; // unlike all others'
    std::int32_t x = 0;
    std::int32_t y = 0;
    handlepool::handle<ship> leader = {}; // whom it follows, also when that is gone
    std::uint64_t number_of_leader = 0;
};

/// Ships that come, move and go. From the same frame on it goes the same way in every process: the same
/// objects, with the same handles, in the same order.
class world {
public:
    world() {
        game_.add("ships", ships_);
        game_.add("now", now_);
        changes_.add("ships", log_);
        changes_.add("now", now_);
        copy_.add("ships", ships_);
        copy_.add("now", now_);
    }

    std::uint64_t frame() const { return now_.frame; }
    std::size_t size() const { return ships_.size(); }

    /// What a follower's log receives into.
    handlepool::replica& copy() { return copy_; }

    /// From here on it goes by itself. Returns a snapshot of the frame from which the first delta leads on.
    std::vector<std::byte> begin() {
        copy_.take_over();
        std::vector<std::byte> snapshot;
        game_.save(snapshot);
        changes_.begin(now_.frame);
        return snapshot;
    }

    /// Plays a frame, and returns its delta.
    std::vector<std::byte> next_frame() {
        ++now_.frame;
        const auto flown = ships_.items();
        for (std::size_t i = 0; i != flown.size() / 10; ++i) {
            move(ships_.handle_of(flown[below(flown.size())]));
        }
        for (std::size_t i = 0; i != ships_of_a_frame; ++i) {
            if (flown.size() >= most_ships) {
                ships_.erase(
                    ships_.handle_of(flown[below(flown.size())])); // perhaps one that is erased already
            }
            launch(flown.empty() ? nullptr : &flown[below(flown.size())]);
        }
        std::vector<std::byte> delta;
        changes_.append(now_.frame, delta); // ends the frame of the pool
        return delta;
    }

    /// A number for all that there is: two worlds with the same number have the same objects, with the same
    /// handles, in the same order.
    std::uint64_t fingerprint() const {
        std::uint64_t sum = now_.frame;
        const auto add = [&sum](std::uint64_t number) {
            sum = (sum ^ number) * 0x9e37'79b9'7f4a'7c15;
            sum ^= sum >> 29;
        };
        for (const auto each : ships_.entries()) {
            add(each.handle.value());
            add(each.object.number);
            add(static_cast<std::uint32_t>(each.object.x));
            add(static_cast<std::uint32_t>(each.object.y));
            add(each.object.leader.value());
        }
        return sum;
    }

    /// Throws unless each handle that was ever seen here leads to the ship that it was given to, or nowhere
    /// since that is gone.
    void check() {
        std::size_t alive = 0;
        for (const auto each : ships_.entries()) {
            const auto [seen, is_new] = seen_.try_emplace(each.handle.value(), each.object.number);
            examples::require(seen->second == each.object.number, "frame {}: a handle leads to another ship",
                              frame());
        }
        for (const auto& [value, number] : seen_) {
            const ship* const found = ships_.find(handlepool::handle<ship>::from_value(value));
            examples::require(found == nullptr || found->number == number,
                              "frame {}: a stale handle leads to a ship", frame());
            alive += found != nullptr ? 1 : 0;
        }
        examples::require(alive == ships_.size(), "frame {}: of {} ships, {} are found", frame(),
                          ships_.size(), alive);
        for (const ship& each : ships_.items()) {
            const ship* const leader = ships_.find(each.leader);
            examples::require(leader == nullptr || leader->number == each.number_of_leader,
                              "frame {}: a ship follows another one than it did", frame());
        }
    }

private:
    static constexpr std::size_t ships_of_a_frame = 4;
    static constexpr std::size_t most_ships = 400;

    struct state {
        std::uint64_t frame = 0;
        std::uint64_t launched = 0;
        std::minstd_rand random; // the standard says which numbers it gives
    };

    std::size_t below(std::size_t end) { return now_.random() % end; }

    void move(handlepool::handle<ship> moved) {
        if (ship* const one = log_.edit(moved)) {
            one->x += static_cast<std::int32_t>(below(21)) - 10;
            one->y += static_cast<std::int32_t>(below(21)) - 10;
        }
    }
    void launch(const ship* leader) {
        ship launched{.number = ++now_.launched};
        if (leader != nullptr) {
            launched.leader = ships_.handle_of(*leader);
            launched.number_of_leader = leader->number;
        }
        ships_.emplace(launched);
    }

    handlepool::pool<ship> ships_{
        {.name = "ships", .capacity = 10'000, .pool_id = 1}}; // the same id everywhere
    handlepool::change_log<handlepool::pool<ship>> log_{ships_};
    state now_;
    handlepool::snapshot game_;
    handlepool::delta_recorder changes_;
    handlepool::replica copy_;
    std::unordered_map<std::uint64_t, std::uint64_t> seen_; // numbers of ships by values of handles
};

} // namespace failover
