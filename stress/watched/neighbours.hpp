// SPDX-License-Identifier: MIT
#pragma once

#include "findings.hpp"
#include "tracked_object.hpp"

#include <handlepool/fmt.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::stress {

// The other pools of a watched pool's service. Its handles are foreign to them, and theirs to it.
template <class Layout>
struct neighbours {
    using pool_type = pool<tracked_object, with_layout<Layout>>;

    lifetime_counts objects;
    std::vector<pool_type*> pools;
};

// One thread's use of the neighbours, between its own operations: with handles that it alone has, so that it
// knows every answer. All go through the service.
template <class Layout>
class neighbour_user {
public:
    using handle_type = typename basic_service<Layout>::handle_type;

    neighbour_user(basic_service<Layout>& world, neighbours<Layout>& others, std::uint64_t first_number)
        : service_(world), others_(others), next_number_(first_number) {}

    // Creates an object in one of the pools, if there is room until the next compaction, and erases the one
    // that it made some calls before.
    void visit(findings& counts) {
        if (others_.pools.empty()) {
            return;
        }
        seat& one = seats_[calls_++ % seats_.size()];
        leave(one, counts);
        auto& pool = *others_.pools[calls_ % others_.pools.size()];
        one = {pool.try_emplace(others_.objects, next_number_), next_number_};
        if (one.handle) {
            ++next_number_;
            ++created_;
            counts.at_neighbours += 2;
            // Liveness alone: a compaction may be running.
            if (!service_.contains(one.handle)) {
                counts.violate(
                    fmt::format("neighbour: handle {} of a living object was refused", one.handle));
            }
        }
    }

    // Erases all that is left.
    void leave_all(findings& counts) {
        for (seat& one : seats_) {
            leave(one, counts);
        }
    }

    std::uint64_t created() const noexcept { return created_; }

private:
    struct seat {
        handle_type handle;
        std::uint64_t number = 0;
    };

    void leave(seat& one, findings& counts) {
        if (!one.handle) {
            return;
        }
        counts.at_neighbours += 3;
        if (!service_.erase(one.handle)) {
            counts.violate(
                fmt::format("neighbour: the erase of handle {}, of a living object, was lost", one.handle));
        }
        if (service_.contains(one.handle) || service_.erase(one.handle)) {
            counts.violate(fmt::format("neighbour: handle {} was accepted after its erase", one.handle));
        }
        one = {};
    }

    basic_service<Layout>& service_;
    neighbours<Layout>& others_;
    std::uint64_t next_number_;
    std::uint64_t created_ = 0;
    std::uint64_t calls_ = 0;
    std::array<seat, 16> seats_{};
};

} // namespace handlepool::stress
