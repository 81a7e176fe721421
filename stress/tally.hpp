#pragma once

#include "count_sum.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::stress {

// What one thread did and found. Each has its own: shared counters would order the threads that they count.
struct tally {
    std::uint64_t operations = 0; // creations, erasures and look-ups
    std::uint64_t checked = 0;    // of these, in the histories
    std::uint64_t created = 0;
    std::uint64_t erased = 0;
    std::uint64_t undone = 0; // objects that lived and died in an emplace that threw
    std::uint64_t live_lookups = 0;
    std::uint64_t stale_lookups = 0;
    std::uint64_t stale_accepted = 0;
    std::uint64_t forged_lookups = 0; // of handles that may never have been given out
    std::uint64_t at_neighbours = 0;  // operations there, none of them among those above
    std::uint64_t content_mismatches = 0;
    std::uint64_t violations = 0;        // of any kind, the two above included
    std::vector<std::string> messages{}; // of the first violations of each thread

    void violate(std::string message) {
        ++violations;
        if (wants_message()) {
            messages.push_back(std::move(message));
        }
    }

    bool passed() const noexcept { return violations == 0; }

    bool wants_message() const noexcept { return messages.size() < most_messages; }

    // Takes what another thread did and found, with as many of its messages as there is room for.
    tally& operator+=(const tally& other) {
        add_count(operations, other.operations);
        add_count(checked, other.checked);
        add_count(created, other.created);
        add_count(erased, other.erased);
        add_count(undone, other.undone);
        add_count(live_lookups, other.live_lookups);
        add_count(stale_lookups, other.stale_lookups);
        add_count(stale_accepted, other.stale_accepted);
        add_count(forged_lookups, other.forged_lookups);
        add_count(at_neighbours, other.at_neighbours);
        add_count(content_mismatches, other.content_mismatches);
        add_count(violations, other.violations);
        for (const std::string& message : other.messages) {
            if (wants_message()) {
                messages.push_back(message);
            }
        }
        return *this;
    }

private:
    static constexpr std::size_t most_messages = 20;
};

} // namespace handlepool::stress
