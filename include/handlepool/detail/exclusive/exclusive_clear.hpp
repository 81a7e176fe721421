// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/exclusive/exclusive_session.hpp>
#include <handlepool/detail/exclusive/exclusive_store.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/detail/recorder/life_event.hpp>

#include <cstddef>

namespace handlepool::detail {

/// Ends all objects of the store at once, under exclusive access: no handle resolves any more when the first
/// destructor runs, and slots are freed when the last one has.
template <class T, class Config>
class exclusive_clear {
    using session_type = exclusive_session<T, Config>;
    using store_type = exclusive_store<T, Config>;
    using parts_type = pool_state<T, Config>;
    using layout = typename Config::layout;
    using tag_type = typename layout::tag_type;
    using value_type = typename layout::value_type;

public:
    exclusive_clear(session_type& session, caller who) noexcept
        : session_(session), parts_(session.parts()), who_(who) {}

    void run() noexcept {
        const bool is_watched = session_.watches_removals() || session_.records_lives();
        if (is_watched || parts_.ends_objects()) {
            bool last_generation = false;
            store_type::for_each_run(parts_, [&](std::size_t count, auto slot_at) {
                last_generation |= parts_.table.kill_alone(count, slot_at);
            });
            end_objects(is_watched);
            store_type::for_each_run(
                parts_, [&](std::size_t count, auto slot_at) { release(count, slot_at, last_generation); });
        } else {
            store_type::for_each_run(parts_, [&](std::size_t count, auto slot_at) {
                release(count, slot_at, parts_.table.kill_alone(count, slot_at));
            });
        }
        store_type::remove_all(parts_);
        session_.settle_step();
    }

private:
    /// Their handles resolve no more.
    void end_objects(bool is_watched) noexcept {
        const typename session_type::ending_step now(session_, parts_.promoted());
        store_type::for_each(parts_, [this, is_watched](location where, slot_index slot) {
            if (is_watched) {
                const tag_type tag = parts_.table.last_object(parts_.table.tag_relaxed(slot));
                const value_type handle = parts_.table.handle_of(slot, tag);
                parts_.lives.ended(slot, layout::generation_of(tag), life_event::cleared, who_);
                session_.whole().compactor.report_removal(handle, where);
                parts_.end_object(handle, where);
            } else {
                parts_.newborns.end_object(parts_.objects, where);
            }
        });
    }

    /// Frees the slots of dead objects, or withdraws those that have used up their generations, of which
    /// there may be some if one of the objects had the last generation.
    template <class SlotAt>
    void release(std::size_t count, SlotAt slot_at, bool last_generation) noexcept {
        if (!last_generation) [[likely]] {
            parts_.allocator.release_many(count, slot_at);
            return;
        }
        for (std::size_t i = 0; i != count; ++i) {
            const slot_index slot = slot_at(i);
            session_.release(slot, parts_.table.last_object(parts_.table.tag_relaxed(slot)));
        }
    }

    session_type& session_;
    parts_type& parts_;
    const caller who_;
};

} // namespace handlepool::detail
