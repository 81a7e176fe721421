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

/// Objects are captured by copies, and those of a raw_type with a function that destroys, or relocates, have
/// none: throws std::invalid_argument.
[[noreturn]] HANDLEPOOL_EXPORT void throw_no_copies(std::string_view owner, bool destroys);

/// Objects that can't be copied are kept by another ring: throws std::logic_error.
[[noreturn]] HANDLEPOOL_EXPORT void throw_kept_by_another(std::string_view owner);

/// A frame has an object that can't be copied and is not there to come back: throws std::logic_error.
[[noreturn]] HANDLEPOOL_EXPORT void throw_lost_object(std::string_view owner, std::uint64_t frame,
                                                      std::uint64_t index, std::uint32_t generation);

/// Handles given out since a frame can't stay stale, for lack of a generation: throws std::overflow_error.
[[noreturn]] HANDLEPOOL_EXPORT void throw_used_up(std::string_view owner, std::uint64_t frame,
                                                  std::uint32_t slot);

/// Hooks create objects whenever those are erased that a restore undoes: throws compaction_conflict.
[[noreturn]] HANDLEPOOL_EXPORT void throw_never_undone(std::string_view owner);

} // namespace handlepool::detail
