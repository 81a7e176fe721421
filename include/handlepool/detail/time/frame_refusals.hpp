// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// What a change_log, a capture_ring and a world refuse in the same words. Each message begins with its
/// `owner`: "world", or "change_log of pool 'ships'".
namespace handlepool::detail {

/// Frames can be kept, but not so many: throws std::invalid_argument.
[[noreturn]] HANDLEPOOL_EXPORT void throw_not_so_many(std::string_view owner, std::size_t frames,
                                                      std::size_t most);

/// A frame was asked for that is yet to come: throws std::out_of_range.
[[noreturn]] HANDLEPOOL_EXPORT void throw_not_ended(std::string_view owner, std::uint64_t frame,
                                                    std::uint64_t last);

/// A frame is captured under a number that is not larger than the newest one: throws std::invalid_argument.
[[noreturn]] HANDLEPOOL_EXPORT void throw_not_ascending(std::string_view owner, std::uint64_t frame,
                                                        std::uint64_t newest);

/// A frame is asked for that was not captured, or not kept; nothing is kept without an oldest one: throws
/// std::out_of_range.
[[noreturn]] HANDLEPOOL_EXPORT void throw_not_kept(std::string_view owner, std::uint64_t frame,
                                                   std::optional<std::uint64_t> oldest,
                                                   std::optional<std::uint64_t> newest);

/// The pool was reset after its newest capture: throws std::logic_error.
[[noreturn]] HANDLEPOOL_EXPORT void throw_was_reset(std::string_view owner, std::uint64_t newest);

/// Hooks create objects whenever those are erased that a restore undoes: throws compaction_conflict.
[[noreturn]] HANDLEPOOL_EXPORT void throw_never_undone(std::string_view owner);

} // namespace handlepool::detail
