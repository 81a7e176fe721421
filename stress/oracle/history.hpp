// SPDX-License-Identifier: MIT
#pragma once

#include "oracle/clock.hpp"
#include "oracle/event.hpp"
#include "oracle/recorder.hpp"
#include "watched/findings.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::stress {

// Which bits of a handle are what.
struct handle_parts {
    unsigned index_bits = 0;
    unsigned generation_bits = 0;

    std::uint64_t index(std::uint64_t handle) const noexcept {
        return handle & ((std::uint64_t{1} << index_bits) - 1);
    }
    std::uint32_t generation(std::uint64_t handle) const noexcept {
        return static_cast<std::uint32_t>((handle >> index_bits) &
                                          ((std::uint64_t{1} << generation_bits) - 1));
    }
    std::uint64_t pool_id(std::uint64_t handle) const noexcept {
        return handle >> (index_bits + generation_bits);
    }
};

// Checks the histories of one pool's handles, exactly: is there an order of a handle's operations, each at
// some moment between its begin and its end, that a single thread could have seen? A handle is created once;
// it may be erased once, in [e0, e1]; with s the begins of what found it, and r the ends of what did not
// although it began after the creation had returned, such an order exists just if
//
//     max(e0, max s) < min(e1, min r)
//
// and nothing found it before its creation began. All of this can be summed up event by event, in any order,
// so that histories of any length take no more memory than their handles. Linear in the events.
//
// Slots are divided among partitions, which are checked independently. The handles that died long ago are
// forgotten but for the latest generation of each slot: whatever accepts one of those is wrong at any time.
class history {
public:
    history(handle_parts parts, std::size_t partitions, time_stamp clock_tolerance);

    std::size_t partitions() const noexcept { return partitions_.size(); }

    // Checks what all recorders have in their logs of this partition, and empties those. Partitions may be
    // checked by different threads at once; nobody may be recording.
    void check(std::size_t partition, const std::vector<recorder*>& recorders);

    // What is wrong so far. Only while nobody checks.
    findings result() const;

private:
    static constexpr time_stamp never = std::numeric_limits<time_stamp>::max();
    static constexpr time_stamp always = std::numeric_limits<time_stamp>::min();

    // A handle's history, summed up.
    struct life {
        time_stamp created_begin = never;
        time_stamp created_end = never;
        time_stamp erased_begin = never;
        time_stamp erased_end = never;
        time_stamp latest_found_begin = always;
        time_stamp earliest_found_end = never;
        time_stamp earliest_refused_end = never;
        std::uint64_t content = 0;
        std::uint64_t found = 0;
        std::uint64_t refused = 0;
        std::uint32_t creator = 0;
        std::uint32_t eraser = 0;
        std::uint32_t wins = 0;
        bool touched = false;  // by what is being checked
        bool reported = false; // once is enough
    };

    // Events of one thread that were checked, kept for the messages.
    struct past_events {
        std::size_t thread;
        std::vector<event> events;
    };

    struct alignas(64) partition_state {
        boost::unordered_flat_map<std::uint64_t, life> lives;
        std::vector<std::uint64_t> touched;
        std::deque<std::uint64_t> dead;          // that `lives` still has, oldest first
        std::vector<std::uint32_t> dead_through; // generation, by index / partitions
        std::deque<past_events> past;
        std::size_t past_count = 0;
        std::vector<std::pair<std::uint64_t, std::string>> wrong; // handles and invariants, not yet reported
        findings found;
    };

    void take_creation(partition_state& mine, std::size_t thread, const event& happened);
    void take_use(partition_state& mine, std::size_t thread, const event& happened);
    void judge(partition_state& mine);
    void judge(partition_state& mine, std::uint64_t handle, life& of);
    void remember(partition_state& mine, std::size_t thread, std::vector<event>& log);
    void forget_old_dead(partition_state& mine);
    bool died_long_ago(const partition_state& mine, std::uint64_t handle) const;
    static void violate(partition_state& mine, std::uint64_t handle, std::string invariant);
    void report_violations(partition_state& mine) const;
    std::string history_text(const partition_state& mine, std::uint64_t handle) const;

    handle_parts parts_;
    time_stamp tolerance_;
    std::vector<partition_state> partitions_;
};

} // namespace handlepool::stress
