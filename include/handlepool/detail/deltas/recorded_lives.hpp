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
              [this](const auto& notes, const parts_type& parts) {
                  notes.revoked.for_each([&](std::size_t slot) {
                      note_living(parts, slot_index{static_cast<std::uint32_t>(slot)});
                  });
                  if (notes.reset) {
                      note_reset(parts);
                  }
              },
              [](const parts_type&) {})) {}

    /// Those who live now: whoever reads from here on knows of each life how it began.
    void begin() override {
        writer_.begin();
        const parts_type& parts = cut_type::parts_of(core_);
        for (std::uint32_t slot = 0, end = static_cast<std::uint32_t>(parts.allocator.list().fresh());
             slot != end; ++slot) {
            note_living(parts, slot_index{slot});
        }
    }
    void record(snapshot_writer& to) override {
        writer_.write(to, name(),
                      {.name = core_.name(), .widths = widths_of_layout<layout>(), .id = core_.id()});
    }
    void commit() noexcept override { writer_.commit(); }

private:
    void note_living(const parts_type& parts, slot_index slot) noexcept {
        if (const auto tag = parts.table.tag_relaxed(slot); layout::is_alive(tag)) {
            note_begun(parts.table.handle_of(slot, tag));
        }
    }
    void note_begun(value_type handle) noexcept {
        const parts_type& parts = cut_type::parts_of(core_);
        note(parts, handle, {});
    }
    void note_ended(value_type handle) noexcept {
        const parts_type& parts = cut_type::parts_of(core_);
        const auto end = parts.lives.end(parts.table.slot_of(handle), generation_of(handle), false);
        note(parts, handle, end ? noted(parts, *end) : noted_event{.event = life_event::forgotten});
    }
    /// Who has ended all that has no end of its own: it is recorded when all have ended.
    void note_reset(const parts_type& parts) noexcept {
        const std::uint32_t generation = layout::generation_of(parts.fresh_tag);
        if (const auto reset = parts.lives.last_reset(generation)) {
            writer_.note_reset(noted(parts, *reset));
        }
    }

    /// And the lives of the handles that the object had before, as far as they are known.
    void note(const parts_type& parts, value_type handle, const noted_event& end) noexcept {
        const slot_index slot = parts.table.slot_of(handle);
        auto tag = layout::tag_of(handle);
        noted_life life{.handle = handle, .end = end};
        for (auto beginning = parts.lives.beginning(slot, layout::generation_of(tag)); beginning;
             beginning = parts.lives.beginning(slot, layout::generation_of(tag))) {
            life.beginning = noted(parts, *beginning);
            writer_.note(life);
            if (beginning->event != life_event::renamed) {
                return;
            }
            tag = static_cast<typename layout::tag_type>(tag - 2);
            life = {.handle = parts.table.handle_of(slot, tag), .end = life.beginning};
            life.end.event = life_event::revoked;
        }
        life.beginning = {};
        writer_.note(life);
    }

    static std::uint32_t generation_of(value_type handle) noexcept {
        return layout::generation_of(layout::tag_of(handle));
    }
    static noted_event noted(const parts_type& parts, const life_record& record) noexcept {
        return {.event = record.event,
                .is_undone = record.is_undone,
                .frames_ago = parts.lives.frames_since(record),
                .who = record.who};
    }

    core_type& core_;
    lives_writer writer_;
    scoped_hook ends_;
    scoped_hook births_;
    scoped_hook frames_;
};

} // namespace handlepool::detail
