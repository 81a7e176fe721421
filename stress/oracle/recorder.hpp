// SPDX-License-Identifier: MIT
#pragma once

#include "oracle/clock.hpp"
#include "oracle/event.hpp"
#include "oracle/histogram.hpp"
#include "watched/findings.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::stress {

// What one thread did with the handles of one pool: its own, so that recording orders no threads.
class recorder {
public:
    // Each partition has a log, chosen by slot; only events of one slot in `sample` are kept.
    recorder(std::size_t partitions, std::size_t sample) : logs_(partitions), sample_(sample) {}

    recorder(const recorder&) = delete;
    recorder& operator=(const recorder&) = delete;

    bool keeps(std::uint64_t slot) const noexcept {
        // Multiplied, so that those kept are spread over all partitions (Knuth, multiplicative hashing).
        return sample_ == 1 || ((slot * 0x9e37'79b9'7f4a'7c15U) >> 32) % sample_ == 0;
    }

    // `what` on a handle that names `slot` took this time.
    void add(std::uint64_t slot, const event& happened) {
        latencies_[happened.what].add(static_cast<std::uint64_t>(happened.end - happened.begin));
        if (keeps(slot)) {
            logs_[slot % logs_.size()].push_back(happened);
            ++counts.checked;
        }
    }
    void add_latency(operation what, std::uint64_t nanoseconds) noexcept {
        latencies_[static_cast<std::size_t>(what)].add(nanoseconds);
    }

    const histogram& latencies(operation what) const noexcept {
        return latencies_[static_cast<std::size_t>(what)];
    }
    std::vector<event>& log(std::size_t partition) noexcept { return logs_[partition]; }
    // Events that no check has seen yet.
    std::size_t pending() const noexcept {
        std::size_t sum = 0;
        for (const std::vector<event>& each : logs_) {
            sum += each.size();
        }
        return sum;
    }

    findings counts;
    histogram reuse_distances;

private:
    std::vector<std::vector<event>> logs_;
    std::size_t sample_;
    std::array<histogram, operation_names.size()> latencies_;
};

} // namespace handlepool::stress
