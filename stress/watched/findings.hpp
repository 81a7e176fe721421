// SPDX-License-Identifier: MIT
#pragma once

#include "results/numbers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::stress {

// What one thread did and found. Each has its own: shared counters would order the threads that they count.
struct findings {
    std::uint64_t operations = 0; // creations, erasures and look-ups
    std::uint64_t checked = 0;    // of these, in the histories
    std::uint64_t created = 0;
    std::uint64_t erased = 0;
    std::uint64_t undone = 0; // objects that lived and died in an emplace that threw
    std::uint64_t live_lookups = 0;
    std::uint64_t stale_lookups = 0;
    std::uint64_t stale_accepted = 0;
    std::uint64_t stale_explained = 0; // handles of which the pool was asked who has erased the object
    std::uint64_t forged_lookups = 0;  // of handles that may never have been given out
    std::uint64_t at_neighbours = 0;   // operations there, none of them among those above
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

    // With no false accept in n tries, their rate is below 3/n with a probability of 95 % (the rule of
    // three). With some, or without tries, nothing is known.
    std::optional<double> accepted_bound_95() const {
        if (stale_lookups == 0 || stale_accepted != 0) {
            return std::nullopt;
        }
        return std::min(1.0, 3.0 / static_cast<double>(stale_lookups));
    }

    // Takes what another thread did and found, with as many of its messages as there is room for.
    findings& operator+=(const findings& other) {
        for (const auto count :
             {&findings::operations, &findings::checked, &findings::created, &findings::erased,
              &findings::undone, &findings::live_lookups, &findings::stale_lookups, &findings::stale_accepted,
              &findings::stale_explained, &findings::forged_lookups, &findings::at_neighbours,
              &findings::content_mismatches, &findings::violations}) {
            add_count(this->*count, other.*count);
        }
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
