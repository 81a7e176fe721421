// SPDX-License-Identifier: MIT
#pragma once

#include "inspected_pool.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::inspect_tool {

/// What is to be found out.
struct wishes {
    double seconds = 0.5;  ///< between the two looks of which the rates are; 0: only one look
    std::string pool;      ///< only this one, with ages, the oldest objects and where all were created
    std::size_t most = 10; ///< of the oldest objects, and of the places
};

/// Objects that were created in one place and live.
struct place_report {
    std::string place;
    std::uint64_t alive = 0;
    std::optional<std::int64_t> change = std::nullopt; ///< between the looks, if there were two
    std::uint32_t oldest = 0;                          ///< frames, as the next one
    std::uint32_t youngest = 0;
};

/// An object and its life so far, as describe() says it.
struct object_report {
    std::uint64_t handle = 0;
    std::optional<std::uint32_t> age;
    std::string text;
};

struct pool_report {
    std::string name;
    std::string type;
    std::string layout; ///< the bits of its handles: "32.22.10"
    std::uint32_t id = 0;
    std::uint64_t capacity = 0;
    std::uint64_t object_bytes = 0;
    bool is_stable = false;
    pool_counts counts;
    gate_view gate;
    detail::living_pool listed; ///< which pool it is
    // In a second, if there were two looks.
    std::optional<double> created_rate;
    std::optional<double> erased_rate;
    std::optional<double> frame_rate;
    std::optional<double> compaction_nanoseconds; ///< of a frame; none if none has ended
    std::optional<double> growth;                 ///< objects in a second, of many looks; see pool_growth

    // Of one pool that was asked for.
    bool is_detailed = false;
    bool knows_ages = false;
    bool knows_places = false;
    std::vector<std::uint32_t> age_quartiles; ///< of the living: the youngest, three quarters, the oldest
    std::vector<place_report> places;         ///< the most objects first
    std::size_t places_left_out = 0;
    std::vector<object_report> oldest;
};

/// A service, which has no name.
struct service_report {
    std::uint64_t number = 0; ///< how many the program had made before
    gate_view gate;
};

struct program_report {
    int process = 0;
    std::size_t copy = 0; ///< of the library, if the process has several, whose pools may have the same ids
    std::string name;
    std::vector<pool_report> pools;
    std::vector<service_report> services;
};

/// A pool at this moment, without rates and details.
pool_report report_of(const inspected_pool& pool);
/// How much is told of a pool.
struct most_told {
    std::size_t objects = 0; ///< the oldest ones
    std::size_t places = 0;  ///< those with the most living objects
};
/// Adds the ages, the oldest objects, and the places where the living were created.
void add_details(pool_report& told, const inspected_program& program, const inspected_pool& pool,
                 const most_told& most);

/// The services of a program at this moment. Throws process_unreadable.
std::vector<service_report> services_of(const inspected_program& program);

/// Looks at a program. Pools that end meanwhile are left out; there is none if none has the name that was
/// asked for. Throws process_unreadable.
program_report look(const inspected_program& program, const wishes& asked);

std::string text_of(const program_report& report);
nlohmann::ordered_json json_of(const pool_report& report);
nlohmann::ordered_json json_of(const std::vector<service_report>& services);
nlohmann::ordered_json json_of(const program_report& report);

/// What a pool says of a handle, and with_bytes the bytes of its object, if it lives. Nothing if the handle
/// can't be one of this pool's, the pool has another name than a `name` that is not empty, or it has ended.
/// Throws process_unreadable.
std::optional<nlohmann::ordered_json> told_of_handle(const inspected_program& program,
                                                     const detail::living_pool& listed, std::string_view name,
                                                     std::uint64_t handle, bool with_bytes);

/// The text format that Prometheus reads.
std::string prometheus_of(const std::vector<program_report>& reports);

} // namespace handlepool::inspect_tool
