// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/call_site.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/deltas/lives_writer.hpp>
#include <handlepool/detail/deltas/recorded_entry.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
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
///   born, or revoked and alive ─▶ its beginning     ┐ before that, what the slot had since it was told of:
///   destroyed                  ─▶ beginning and end ┘ handles that were revoked          ─▶ lives_writer
/// ```
///
/// Of each slot it is known up to which generation it was told: one that is odd is that of a life that had
/// begun, and had not ended.
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
          told_(allocation_label::of_pool(core.name()).part(" told lives"), core.geometry().slot_limit, 0),
          ends_(core.add_destroy_hook([this](value_type handle, auto) { note_ended(handle); },
                                      hook_order::early)),
          births_(core.add_birth_hook([this](value_type handle, auto) { note_begun(handle); })),
          frames_(core.add_frame_hook(
              [this](const auto& notes, const parts_type&) {
                  notes.revoked.for_each(
                      [&](std::size_t slot) { note_living(slot_index{static_cast<std::uint32_t>(slot)}); });
              },
              [](const parts_type&) {})) {}

    /// Those who live now: whoever reads from here on knows of each life how it began.
    void begin() override {
        writer_.commit(lives().frame()); // forgets what was noted before
        first_ = layout::generation_of(parts().fresh_tag);
        has_begun_ = true;
        const auto in_service = static_cast<std::uint32_t>(parts().allocator.list().fresh());
        for (std::uint32_t slot = 0; slot != in_service; ++slot) {
            told_[slot] = layout::generation_of(parts().table.tag_relaxed(slot_index{slot})) & ~1U;
            note_living(slot_index{slot});
        }
    }
    void record(snapshot_writer& to) override {
        writer_.write(to, name(),
                      {.name = core_.name(), .widths = widths_of_layout<layout>(), .id = core_.id()},
                      lives().frame());
    }
    void commit() noexcept override { writer_.commit(lives().frame()); }

private:
    const parts_type& parts() const noexcept { return cut_type::parts_of(core_); }
    const auto& lives() const noexcept { return parts().lives; }

    void note_living(slot_index slot) noexcept {
        if (const auto tag = parts().table.tag_relaxed(slot); layout::is_alive(tag)) {
            note_begun(parts().table.handle_of(slot, tag));
        }
    }
    /// A life that goes on. If it has no record, a thread is just writing that of a revoke, of which the next
    /// frame is told; or a restore has brought it back.
    void note_begun(value_type handle) noexcept {
        const slot_index slot = parts().table.slot_of(handle);
        const std::uint32_t generation = layout::generation_of(layout::tag_of(handle));
        const std::uint32_t told = told_[raw(slot)];
        if (has_begun_ && told != generation &&
            (generation < told || beginning_of(slot, generation).is_there)) {
            note(slot, generation, {});
            told_[raw(slot)] = generation;
        }
    }
    void note_ended(value_type handle) noexcept {
        const slot_index slot = parts().table.slot_of(handle);
        const std::uint32_t generation = layout::generation_of(layout::tag_of(handle));
        if (has_begun_) {
            note(slot, generation, end_of(slot, generation));
            told_[raw(slot)] = generation + 1;
        }
    }

    void note(slot_index slot, std::uint32_t generation, const noted_event& end) noexcept {
        const noted_event beginning = beginning_of(slot, generation);
        note_earlier(slot, generation, beginning);
        writer_.note({.handle = handle_of(slot, generation), .beginning = beginning, .end = end});
    }
    /// Lives that came between the last one that was told of the slot and that of this generation, which
    /// began so; and that one, if it had not ended. The latest ones first, as each tells how the one before
    /// has ended.
    void note_earlier(slot_index slot, std::uint32_t generation, noted_event later) noexcept {
        const std::uint32_t told = told_[raw(slot)];
        const bool goes_on = told % 2 != 0 && told >= first_;
        const std::uint32_t first = greatest(told, first_) | 1U;
        while (generation > first) {
            const bool is_revoke = later.event == life_event::renamed;
            std::uint32_t before = lives().last_beginning(slot, first, generation);
            if (is_revoke && is_forgotten(slot, generation - 2)) {
                before = generation - 2;
            } else if (before == 0 && goes_on) {
                before = first;
            }
            if (before == 0) {
                return;
            }
            noted_event end = end_of(slot, before);
            if (end.is_unknown() && is_revoke) {
                end = later;
                end.event = life_event::revoked;
            }
            later = beginning_of(slot, before);
            if (is_revoke && later.is_unknown() && before > first) {
                writer_.miss(); // revokes before it are not known any more
            }
            writer_.note({.handle = handle_of(slot, before), .beginning = later, .end = end});
            generation = before;
        }
    }

    /// The life with this generation, from which a revoke can have led to the next one, has left no record.
    bool is_forgotten(slot_index slot, std::uint32_t generation) const noexcept {
        const bool is_above_floor = generation + 1 > layout::generation_of(parts().table.floor(slot));
        return is_above_floor && lives().is_overwritten(slot, generation);
    }
    noted_event beginning_of(slot_index slot, std::uint32_t generation) const noexcept {
        const auto found = lives().beginning(slot, generation);
        return found ? noted(*found) : noted_event();
    }
    /// Of one that has ended: perhaps nobody knows how.
    noted_event end_of(slot_index slot, std::uint32_t generation) const noexcept {
        const auto found = lives().end(slot, generation, false);
        return found && !found->is_undone ? noted(*found) : noted_event{.is_there = true};
    }
    static noted_event noted(const life_record& record) noexcept {
        return {.is_there = true,
                .event = record.event,
                .is_undone = record.is_undone,
                .frame = record.frame,
                .who = record.who};
    }
    value_type handle_of(slot_index slot, std::uint32_t generation) const noexcept {
        return parts().table.handle_of(slot,
                                       layout::make_tag(layout::pool_id_of(parts().fresh_tag),
                                                        static_cast<typename layout::tag_type>(generation)));
    }

    core_type& core_;
    lives_writer writer_;
    typename Config::policy::template array<std::uint32_t> told_; // a generation for each slot
    std::uint32_t first_ = 0;                                     // what was below it lived before begin()
    bool has_begun_ = false;
    scoped_hook ends_;
    scoped_hook births_;
    scoped_hook frames_;
};

} // namespace handlepool::detail
