// SPDX-License-Identifier: MIT
#pragma once

#include "report.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace handlepool::inspect_tool {

/// Whether a pool has had more and more objects, of what several looks have seen. Objects that come and go
/// leave minima that stay, those of a leak rise from quarter to quarter of the looks:
///
///     alive |                   .'    |  .   .    .   .
///           |       .   .'.   .'      | ' . ' .  ' . '
///           |  .  .' '.'   '.'        |'   '   ''   '
///           +----------------------   +----------------- time
class pool_growth {
public:
    /// Adds what a look has seen, at a time in seconds after that of the one before.
    void add(double seconds, std::uint64_t alive);
    /// How many more objects there are each second; 0 if it is no growth that goes on; nothing before there
    /// were twenty looks in at least two seconds. Linear in the looks.
    std::optional<double> per_second() const;
    /// Adds the numbers of a look, and tells the pool's growth.
    void tell(pool_report& pool);

private:
    struct look {
        double seconds = 0;
        std::uint64_t alive = 0;
    };
    std::span<const look> quarter(std::size_t number) const;

    std::vector<look> looks_; ///< of a minute, or longer for twenty of them
};

/// The growth of all pools that are looked at.
class growth_of_pools {
public:
    /// Takes the numbers of a look at all of them, and tells the growth of each. Pools that are not among
    /// them are forgotten.
    void tell(std::vector<program_report>& reports);

private:
    struct known_pool {
        detail::living_pool listed;
        pool_growth growth;
    };
    using place = std::tuple<int, std::size_t, const void*>; // process, copy of the library, address

    std::map<place, known_pool> known_;
};

} // namespace handlepool::inspect_tool
