// SPDX-License-Identifier: MIT
#pragma once

#include "optional_parts.hpp"

#include <handlepool/executor_ref.hpp>
#include <handlepool/timeline.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace handlepool::stress {

// What runs the loops of compactions.
enum class executor_kind : std::uint8_t { in_line, threads, tbb };

inline constexpr std::array<std::string_view, 3> executor_names{"inline", "threads", "tbb"};

constexpr std::string_view name_of(executor_kind kind) noexcept {
    return executor_names[static_cast<std::size_t>(kind)];
}

// Where the watched pool keeps its objects: see placements.hpp, here and in the library.
enum class placement_kind : std::uint8_t { dense, stable, columns };

inline constexpr std::array<std::string_view, 3> placement_names{"dense", "stable", "columns"};
inline constexpr std::array placements{placement_kind::dense, placement_kind::stable,
                                       placement_kind::columns};

constexpr std::string_view name_of(placement_kind kind) noexcept {
    return placement_names[static_cast<std::size_t>(kind)];
}

// The service in which a run's pool stands.
struct service_setting {
    executor_kind executor = has_tbb ? executor_kind::tbb : executor_kind::threads;
    placement_kind placement = placement_kind::dense;
    std::size_t pools = 3;       // the watched one, and its neighbours
    timeline* records = nullptr; // what happens goes there too
};

// The executor of a run, for one compaction at a time, by any thread. With up to this number of threads,
// where it has threads: a few a processor at most.
std::shared_ptr<const executor_ref> make_executor(const service_setting& setting, std::size_t threads);

} // namespace handlepool::stress
