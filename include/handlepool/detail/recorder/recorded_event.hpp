// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/call_site.hpp>
#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/recorder/life_event.hpp>
#include <handlepool/recorded_life.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace handlepool::detail {

/// What a record says, so many frames later. Throws std::bad_alloc.
HANDLEPOOL_EXPORT recorded_event recorded(const life_record& record, std::uint32_t frames_since);

/// " in this frame", " 1 frame ago", " 3 frames ago".
HANDLEPOOL_EXPORT std::string frames_ago(std::uint32_t frames);

/// " by thread "physics", task "collisions" in explode() at ship.cpp:88", without what is empty.
HANDLEPOOL_EXPORT std::string text_of_caller(std::string_view thread, std::string_view task,
                                             std::string_view site);

/// Like call_site::name(), but asks `namer`, if there is one, and not the one that the program has chosen.
HANDLEPOOL_EXPORT std::string name_of_site(call_site site, site_namer namer);

/// The beginning of the life that came after the one with this generation. Of lives that were undone in
/// between, where a restore has left their handles stale, none counts that another life follows. If the end
/// of this life was undone, or the life after it, which a revoke had begun, nor do handles that were only
/// reserved then, and have no beginning.
template <class Recorder>
std::optional<life_record> beginning_after(const Recorder& recorder, slot_index slot,
                                           std::uint32_t generation, bool is_end_undone) {
    const auto next = recorder.beginning(slot, generation + 2);
    const bool was_undone = is_end_undone || (next && next->is_undone);
    for (std::uint32_t i = 1; i < recorder.lives_kept(); ++i) {
        const auto found = recorder.beginning(slot, generation + 2 * i);
        if (found && !found->is_undone) {
            return found;
        }
        if (!found && !was_undone) { // it may be about to be written, before those of later lives
            break;
        }
    }
    return next;
}

/// What is known of the life with this generation of a slot, whose end may wait, where `tell(record)` says
/// what a record says. Throws what that throws.
template <class Recorder, class Tell>
recorded_life recorded_life_of(const Recorder& recorder, slot_index slot, std::uint32_t generation,
                               bool end_may_wait, Tell tell) {
    recorded_life found;
    if (const auto record = recorder.beginning(slot, generation)) {
        found.beginning = tell(*record);
    }
    const auto end = recorder.end(slot, generation, end_may_wait);
    const bool is_undone = found.beginning && found.beginning->is_undone;
    const auto next = is_undone ? recorder.beginning(slot, generation + 2)
                                : beginning_after(recorder, slot, generation, end && end->is_undone);
    // What came after a restore has ended no life that this has taken back.
    const bool is_revoked = next && next->event == life_event::renamed && (!is_undone || next->is_undone);
    if (is_revoked && (!end || (end->is_undone && !next->is_undone))) {
        found.end = tell(*next);
        found.end->event = life_event::revoked;
    } else if (end) {
        found.end = tell(*end);
    }
    return found;
}

} // namespace handlepool::detail
