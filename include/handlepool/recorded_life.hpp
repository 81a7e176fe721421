// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/call_site.hpp>
#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/recorder/life_event.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace handlepool {

/// How a life began or ended: see pool_options::record_lives.
using detail::life_event;

/// "created", "erased", "cleared", and so on.
HANDLEPOOL_EXPORT std::string_view to_string(life_event event) noexcept;

/// The beginning or the end of a handle's life.
struct recorded_event {
    life_event event = life_event::none; ///< how
    std::uint32_t frames_ago = 0;        ///< modulo 2^27
    call_site site;                      ///< from where
    std::string thread;                  ///< its name, when it first used a recording pool
    std::string task;                    ///< of scoped_task, or empty
    bool is_undone = false;              ///< has a restore taken it back?

    /// "erased 3 frames ago by thread "physics" in explode() at ship.cpp:88". Throws std::bad_alloc.
    HANDLEPOOL_EXPORT std::string to_string() const;
};

/// What a pool knows of a handle's life. One that is not known is empty: it was not recorded, or so many
/// later lives of the slot were that it is forgotten.
struct recorded_life {
    std::optional<recorded_event> beginning; ///< how it began
    std::optional<recorded_event> end;       ///< how it ended, also if a restore has taken that back
};

} // namespace handlepool
