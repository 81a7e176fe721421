// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <tools/inspect/inspected_program.hpp>
#include <tools/inspect/pool_growth.hpp>
#include <tools/inspect/report.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::inspect_tool {

/// What was asked for is not there. The message says what.
struct not_found : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Looks at the pools of a program again and again, keeps their numbers, and answers the page's questions in
/// JSON. For one thread.
class pool_watch {
public:
    /// The programs are one process: each has a copy of the library.
    explicit pool_watch(std::vector<inspected_program> programs)
        : programs_(std::move(programs)), name_(programs_.front().name()) {}

    int process() const noexcept { return programs_.front().process(); }

    /// Looks once. When the process has ended, keeps what is known.
    void look();
    bool has_ended() const noexcept { return has_ended_; }

    /// All pools and services as they were when they were last looked at, and the numbers of the looks after
    /// this one, which are counted from 1.
    nlohmann::ordered_json state_since(std::uint64_t look) const;

    // Of a pool, by the key that it has among the pools of state_since(), as it is now; with the
    // "processor_seconds" that finding it out took. Throw not_found when it, or the process, has ended.

    /// With ages, the oldest objects, and places.
    nlohmann::ordered_json details(std::uint64_t key, const most_told& most) const;
    nlohmann::ordered_json map(std::uint64_t key, std::uint64_t first, std::size_t most) const;

    /// What each pool with its pool id says of a handle, with its object's bytes.
    nlohmann::ordered_json life(std::uint64_t handle) const;

private:
    /// A pool that lives, or lived.
    struct watched_pool {
        std::size_t program = 0;
        detail::living_pool listed;
        std::string name;
        pool_growth growth;
        nlohmann::ordered_json told; // at the last look, while names of places could be asked for
        bool is_alive = true;
    };
    using pools_by_key = std::map<std::uint64_t, watched_pool>;
    struct numbers {
        std::uint64_t key = 0;
        pool_counts counts;
    };
    struct look_at_all {
        std::uint64_t at = 0; // nanoseconds since the first one
        std::vector<numbers> pools;
    };

    void look_at(std::size_t program, std::vector<numbers>& seen);
    pools_by_key::value_type& watched(std::size_t program, const inspected_pool& pool);
    template <class Ask>
    nlohmann::ordered_json ask(std::uint64_t key, Ask question) const;

    std::vector<inspected_program> programs_;
    std::string name_; // which can't be asked for any more when it has ended
    pools_by_key pools_;
    std::map<std::pair<std::size_t, const void*>, std::uint64_t> keys_by_place_; // of the last pool there
    std::uint64_t last_key_ = 0;
    nlohmann::ordered_json services_ = nlohmann::ordered_json::array(); // as at the last look
    std::deque<look_at_all> looks_;
    std::size_t numbers_kept_ = 0; // in all looks
    std::uint64_t looks_ever_ = 0;
    std::uint64_t first_at_ = 0;
    bool has_ended_ = false;
};

} // namespace handlepool::inspect_tool
