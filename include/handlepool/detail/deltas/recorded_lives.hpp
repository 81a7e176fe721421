// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/call_site.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/deltas/lives_writer.hpp>
#include <handlepool/detail/deltas/recorded_entry.hpp>
#include <handlepool/detail/pool/pool_cut.hpp>
#include <handlepool/detail/recorder/life_event.hpp>
#include <handlepool/detail/time/record_bytes.hpp>
#include <handlepool/scoped_hook.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace handlepool::detail {

/// Tells whose lives have begun and ended in a pool, and what is known of that. It hears of them from the
/// pool's hooks, while the records are there that the next lives of the slots will take the place of:
///
/// ```
///   born        ─▶ its beginning
///   destroyed   ─▶ beginning and end, also of what no frame has seen ─▶ noted ─▶ block of the next delta
///   revoked     ─▶ the end of the old handle's life, and the beginning of the new one's
/// ```
template <class T, class Config>
class recorded_lives final : public recorded_entry {
    using core_type = pool_impl<T, Config>;
    using cut_type = pool_cut<T, Config>;
    using parts_type = pool_state<T, Config>;
    using layout = typename Config::layout;
    using value_type = typename layout::value_type;

public:
    /// The pool records lives. Throws what its hooks throw.
    recorded_lives(std::string name, core_type& core, site_namer namer)
        : recorded_entry(std::move(name)),
          core_(core),
          writer_(namer),
          ends_(core.add_destroy_hook([this](value_type handle, auto) { note_ended(handle); },
                                      hook_order::early)),
          births_(core.add_birth_hook([this](value_type handle, auto) { note_begun(handle); })),
          frames_(core.add_frame_hook(
              [this](const auto& notes, const parts_type&) {
                  notes.revoked.for_each(
                      [&](std::size_t slot) { note_revoked(slot_index{static_cast<std::uint32_t>(slot)}); });
              },
              [](const parts_type&) {})) {}

    /// Those who live now: whoever reads from here on knows of each life how it began.
    void begin() override {
        writer_.begin();
        const auto in_service = static_cast<std::uint32_t>(parts().allocator.list().fresh());
        for (std::uint32_t i = 0; i != in_service; ++i) {
            const slot_index slot{i};
            if (const auto tag = parts().table.tag_relaxed(slot); layout::is_alive(tag)) {
                note_begun(parts().table.handle_of(slot, tag));
            }
        }
    }
    void record(snapshot_writer& to) override {
        writer_.write(to, name(),
                      {.name = core_.name(), .widths = widths_of_layout<layout>(), .id = core_.id()});
    }
    void commit() noexcept override { writer_.commit(); }

private:
    const parts_type& parts() const noexcept { return cut_type::parts_of(core_); }

    /// A life that goes on.
    void note_begun(value_type handle) noexcept {
        writer_.note({.handle = handle, .beginning = beginning_of(handle)});
    }
    void note_ended(value_type handle) noexcept {
        const auto end = parts().lives.end(parts().table.slot_of(handle), generation_of(handle), false);
        writer_.note(
            {.handle = handle, .beginning = beginning_of(handle), .end = end ? noted(*end) : noted_event()});
    }
    /// The slot's object has another handle than before, or had one, if it has ended meanwhile; perhaps
    /// several, of which the last ones are known.
    void note_revoked(slot_index slot) noexcept {
        const auto now = parts().table.tag_relaxed(slot);
        auto tag = parts().table.last_object(now);
        if (layout::is_alive(now)) {
            note_begun(parts().table.handle_of(slot, tag));
        }
        noted_event later = beginning_of(parts().table.handle_of(slot, tag));
        const std::uint32_t frames_ago = later.frames_ago; // what happened earlier was told
        while (later.event == life_event::renamed && later.frames_ago == frames_ago) {
            tag = static_cast<decltype(tag)>(tag - 2);
            const value_type handle = parts().table.handle_of(slot, tag);
            const noted_event beginning = beginning_of(handle);
            later.event = life_event::revoked;
            writer_.note({.handle = handle, .beginning = beginning, .end = later});
            later = beginning;
        }
    }

    noted_event beginning_of(value_type handle) const noexcept {
        const auto found = parts().lives.beginning(parts().table.slot_of(handle), generation_of(handle));
        return found ? noted(*found) : noted_event();
    }
    static std::uint32_t generation_of(value_type handle) noexcept {
        return layout::generation_of(layout::tag_of(handle));
    }
    noted_event noted(const life_record& record) const noexcept {
        return {.event = record.event,
                .is_undone = record.is_undone,
                .frames_ago = parts().lives.frames_since(record),
                .who = record.who};
    }

    core_type& core_;
    lives_writer writer_;
    scoped_hook ends_;
    scoped_hook births_;
    scoped_hook frames_;
};

} // namespace handlepool::detail
