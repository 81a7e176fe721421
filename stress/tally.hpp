#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::stress {

// What one thread did and found. Each has its own: shared counters would order the threads that they count.
struct tally {
    std::uint64_t operations = 0; // creations, erasures and look-ups
    std::uint64_t created = 0;
    std::uint64_t erased = 0;
    std::uint64_t live_lookups = 0;
    std::uint64_t stale_lookups = 0;
    std::uint64_t stale_accepted = 0;
    std::uint64_t content_mismatches = 0;
    std::uint64_t violations = 0;        // of any kind, the two above included
    std::vector<std::string> messages{}; // of the first violations of each thread

    void violate(std::string message) {
        ++violations;
        if (messages.size() < most_messages) {
            messages.push_back(std::move(message));
        }
    }

    // Takes what another thread did and found, with as many of its messages as there is room for.
    tally& operator+=(const tally& other) {
        operations += other.operations;
        created += other.created;
        erased += other.erased;
        live_lookups += other.live_lookups;
        stale_lookups += other.stale_lookups;
        stale_accepted += other.stale_accepted;
        content_mismatches += other.content_mismatches;
        violations += other.violations;
        for (const std::string& message : other.messages) {
            if (messages.size() < most_messages) {
                messages.push_back(message);
            }
        }
        return *this;
    }

private:
    static constexpr std::size_t most_messages = 20;
};

// What all of a run's workers did and found. Only when none is at work.
template <class Workers>
tally total_of(const Workers& workers) {
    tally total;
    for (const auto& worker : workers) {
        total += worker->result();
    }
    return total;
}

// The operations of total_of, for which nothing is copied.
template <class Workers>
std::uint64_t operations_of(const Workers& workers) {
    std::uint64_t operations = 0;
    for (const auto& worker : workers) {
        operations += worker->result().operations;
    }
    return operations;
}

} // namespace handlepool::stress
