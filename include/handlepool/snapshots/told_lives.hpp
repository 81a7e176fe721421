// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/recorded_life.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool {

/// The beginning or the end of a life, as a delta tells it: see recorded_event. The texts may have any bytes.
struct told_event {
    life_event event = life_event::none; ///< how; `none` if nobody knows that any more
    std::uint32_t frames_ago = 0;        ///< 0 for since the delta before, or else frames of the pool
    std::string_view thread;             ///< its name
    std::string_view task;               ///< of scoped_task, or empty
    std::string_view site;               ///< from where: "explode() at ship.cpp:88"
    bool is_undone = false;              ///< has a restore taken it back?

    /// "erased by thread "physics" in explode() at ship.cpp:88". Throws std::bad_alloc.
    HANDLEPOOL_EXPORT std::string to_string() const;

    friend bool operator==(const told_event&, const told_event&) = default; ///< Compare as a whole.
};

/// A life that a delta tells of: one that goes on has no end.
struct told_life {
    std::uint64_t handle = 0;            ///< its value, without user bits
    std::uint64_t index = 0;             ///< the handle's,
    std::uint32_t generation = 0;        ///< and this one, too
    std::optional<told_event> beginning; ///< nothing if it is not known any more
    std::optional<told_event> end;       ///< nothing while it goes on

    friend bool operator==(const told_life&, const told_life&) = default; ///< Compare as a whole.
};

/// What a delta tells of the lives of a pool.
struct told_lives {
    std::string_view part;         ///< the name that was given to delta_recorder::add_lives()
    std::string_view pool{};       ///< that of the pool
    std::uint64_t handle_mask = 0; ///< bits of a handle that are no user bits
    std::uint32_t pool_id = 0;     ///< of all handles
    /// The pool records too few lives of a slot, or there was no memory to note all.
    bool some_are_missing = false;
    std::vector<told_life> lives{}; ///< as they were found
};

/// Reads whose lives have begun and ended, by whom and from where, in a delta of a recorder to which
/// add_lives() has added pools; nothing if it tells of none. Texts lie in the delta's bytes.
///
///     handlepool::journal_reader journal("100.journal");
///     while (journal.next()) {
///         for (const auto& pool : handlepool::read_lives(journal.parts().front().bytes)) {
///             for (const auto& life : pool.lives) ... // life.end->to_string()
///         }
///     }
///
/// Any thread; linear in the delta. Throws invalid_snapshot for bytes that are no delta, with `origin` in the
/// message, such as the name of a file; and std::bad_alloc.
HANDLEPOOL_EXPORT std::vector<told_lives> read_lives(std::span<const std::byte> delta,
                                                     std::string_view origin = "in memory");
/// Texts would lie in bytes that end before they are read.
std::vector<told_lives> read_lives(const std::vector<std::byte>&& delta,
                                   std::string_view origin = "in memory") = delete;

} // namespace handlepool
