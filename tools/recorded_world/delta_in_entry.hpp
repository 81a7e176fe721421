// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/snapshots/journal_reader.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace handlepool::recorded_worlds {

/// A journal that can't be replayed; the message says why.
class not_replayed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The delta in an entry: the only part, or that of the name, if one is given.
inline std::span<const std::byte> delta_in_entry(const journal_reader& reader, const std::string& part,
                                                 const std::string& file) {
    const std::span<const journal_part> parts = reader.parts();
    if (part.empty()) {
        if (parts.size() == 1) {
            return parts.front().bytes;
        }
        throw not_replayed(
            fmt::format("journal '{}', frame {}: the entry has {} parts; --part says which one "
                        "is the delta",
                        file, reader.frame(), parts.size()));
    }
    const auto found = std::ranges::find(parts, std::string_view(part), &journal_part::name);
    if (found == parts.end()) {
        throw not_replayed(
            fmt::format("journal '{}', frame {}: the entry has no part '{}'", file, reader.frame(), part));
    }
    return found->bytes;
}

} // namespace handlepool::recorded_worlds
