// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/// Why something is refused to spawners, or for lack of one.
namespace handlepool::detail {

/// Throws std::invalid_argument, unless a pool with so many spawners can deal out its room by these weights.
HANDLEPOOL_EXPORT void expect_weights(const std::string& pool, std::size_t most_spawners,
                                      std::span<const std::uint32_t> weights);

/// Throw spawner_conflict: there are spawners already; one was used after its end; something was to be
/// created without one.
[[noreturn]] HANDLEPOOL_EXPORT void throw_spawners_live(const std::string& pool);
[[noreturn]] HANDLEPOOL_EXPORT void throw_spawner_ended(const std::string& pool, std::size_t spawner);
[[noreturn]] HANDLEPOOL_EXPORT void throw_no_spawner(const std::string& pool);

} // namespace handlepool::detail
