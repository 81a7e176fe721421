// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/captures/allocator_state.hpp>
#include <handlepool/detail/captures/captured_store.hpp>
#include <handlepool/detail/deltas/displaced_objects.hpp>
#include <handlepool/detail/deltas/pool_delta.hpp>
#include <handlepool/detail/deltas/pool_image.hpp>
#include <handlepool/detail/deltas/replicated_entry.hpp>
#include <handlepool/detail/objects/object_buffer.hpp>
#include <handlepool/detail/pool/pool_cut.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/detail/recorder/life_event.hpp>
#include <handlepool/detail/snapshots/pool_loader.hpp>
#include <handlepool/detail/snapshots/pool_saver.hpp>
#include <handlepool/detail/snapshots/saved_objects.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// A pool that becomes what another one was, delta by delta. Objects that are gone end as anybody would end
/// them, and a compaction closes their gaps in its own way; then whatever is elsewhere than in the origin is
/// taken out, all at once, and put where it belongs:
///
/// ```
///   before           a b c d e
///   b is gone        a e c d          by a compaction here
///   origin           a d c e f        d and e are taken out and put in, f is born
/// ```
template <class T, class Config, class Objects>
class replicated_pool final : public replicated_entry, private future_objects {
    using core_type = pool_impl<T, Config>;
    using cut_type = pool_cut<T, Config>;
    using parts_type = pool_state<T, Config>;
    using layout = typename Config::layout;
    using tag_type = typename layout::tag_type;
    using placement = typename parts_type::placement;
    using store_type = captured_store<parts_type>;
    using loader = pool_loader<T, Config>;

public:
    /// `schema` is what the objects need beside their type.
    template <class... Schema>
    replicated_pool(std::string name, core_type& core, Schema... schema)
        : replicated_entry(block_kind::pool_delta, std::move(name)),
          core_(core),
          objects_(core.type(), std::move(schema)...),
          displaced_(core.type()),
          former_(core.type()) {}

    void begin(block_reader& from) override {
        const pool_limits_of_snapshot limits = limits_of(core_);
        saved_pool pool = read_saved_pool(from, limits);
        image_ = pool_image(pool, limits);
        returned_ = std::move(pool.allocator.returned);
    }

    void read(block_reader& from) override {
        delta_ = read_pool_delta(from);
        if (!cut_type::is_idle(core_) || !is_as_told(cut_type::parts_of(core_))) {
            throw_used_by_others(core_.name());
        }
        objects_before_ = image_.objects();
        slots_before_ = image_.in_service();
        is_anew_ = image_.fresh_generation() != delta_.fresh_generation;
        has_other_slots_ = delta_.taken != 0 || delta_.in_service != slots_before_ ||
                           delta_.claimed_waiting != image_.claimed_waiting() ||
                           delta_.retired != image_.retired() ||
                           delta_.returned_word != image_.returned_word() ||
                           delta_.claims != image_.claims() || delta_.claimed != image_.claimed() ||
                           !(delta_.gone.empty() && delta_.waiting.empty() && delta_.reclaimed.empty() &&
                             delta_.returned.empty());
        if (const auto problem = image_.apply(delta_)) {
            refuse(from, delta_, *problem);
        }
        is_applied_ = true;
        note_returned();
        objects_.read(from, delta_.contents());
        from.require_end();
    }
    const future_objects* future() const noexcept override { return this; }
    void lock() override { cut_.emplace(core_); }
    void make_room() override {
        if (is_anew_) {
            whole_ = image_.describe();
            return;
        }
        displaced_.make_room(cut_->parts(), delta_, objects_before_);
        if (core_.type().has_destructor()) {
            former_.reserve(delta_.contents());
        }
        if (has_other_slots_) {
            allocator_.freelist = {.claimed = image_.claimed_waiting(),
                                   .waiting = image_.waiting().size(),
                                   .fresh = image_.in_service()};
            allocator_.claims = image_.claims();
            allocator_.claimed = image_.claimed();
            allocator_.returned = next_returned_;
            allocator_.returned_word = image_.returned_word();
            allocator_.retired = image_.retired();
        }
        make_room_for_objects();
    }
    /// What hooks make is no part of the origin.
    void end_those_gone() override {
        if (is_anew_) {
            for (int i = 0; cut_->clear(); ++i) {
                if (i == most_rounds) {
                    throw_used_by_others(core_.name());
                }
                cut_->compact();
            }
            loader::make_room(*cut_, whole_);
        } else if (!delta_.gone.empty()) {
            end_gone();
        }
    }
    void apply() noexcept override {
        if (is_anew_) {
            loader::rewrite(*cut_, whole_, [this](auto location_at) {
                for (std::size_t i = 0; i != whole_.owners.size(); ++i) {
                    const auto born =
                        std::lower_bound(delta_.born.begin(), delta_.born.end(), whole_.owners[i]);
                    objects_.put_in(cut_->parts(), static_cast<std::size_t>(born - delta_.born.begin()),
                                    location_at(i));
                }
            });
            return;
        }
        parts_type& parts = cut_->parts();
        displaced_.move(
            parts, delta_.moved, [&](std::uint32_t slot) { return place_of(parts, slot); },
            [&](std::uint32_t slot, location where) { note_put_in(parts, slot, where); });
        put_in_born(parts);
        put_in_edited(parts);
        if constexpr (placement::stable) {
            if (!delta_.born.empty()) {
                restore_groups(parts);
            }
        } else {
            parts.objects.resize(static_cast<std::uint32_t>(image_.objects()));
        }
        write_slots(parts);
        cut_->count_objects(delta_.born.size(), 0);
        cut_->count_reserved(delta_.reserved.size(), delta_.unreserved.size());
        if (has_other_slots_) {
            allocator_.restore(parts.allocator, parts.shards,
                               [this](std::size_t i) { return image_.waiting()[i]; });
        }
        parts.order.forget();
        cut_->set_turn(image_.turn());
        cut_->count_rewrite();
    }
    void tell() noexcept override {
        cut_->end_frame();
        for (const std::uint32_t slot : delta_.born) {
            cut_->report_birth(slot_index{slot});
        }
    }
    void unlock(bool applied) noexcept override {
        objects_.forget(applied);
        destroy_former();
        if (applied) {
            returned_.swap(next_returned_);
        } else if (is_applied_) {
            image_.undo();
        }
        is_applied_ = false;
        whole_ = {};
        cut_.reset();
    }

private:
    pool_of_handles pool() const noexcept override {
        return {.widths = widths_of_layout<layout>(), .id = core_.id()};
    }
    bool include(std::uint64_t slot, std::uint32_t generation) const noexcept override {
        return image_.lives_in(slot, generation);
    }

    tag_type tag_of(std::uint32_t slot) const noexcept {
        return layout::make_tag(*image_.limits().id, image_.generation(slot));
    }
    auto handle_of(const parts_type& parts, std::uint32_t slot) const noexcept {
        return parts.table.handle_of(slot_index{slot}, tag_of(slot));
    }
    location place_of(const parts_type& parts, std::uint32_t slot) const noexcept {
        return placement::location_of(parts, image_.position(slot));
    }

    /// Whether the pool is what it was made: as far as its numbers and the slots that the delta names tell,
    /// and in a checked build each other slot.
    bool is_as_told(const parts_type& parts) const {
        const freelist_position told{.claimed = image_.claimed_waiting(),
                                     .waiting = image_.waiting().size(),
                                     .fresh = image_.in_service()};
        if (parts.promoted() != image_.objects() || parts.allocator.list().position() != told) {
            return false;
        }
        if constexpr (checked) {
            for (std::uint32_t slot = 0; slot != image_.in_service(); ++slot) {
                if (!is_as_told(parts, slot)) {
                    return false;
                }
            }
            return true;
        } else {
            for (const auto* const list : {&delta_.gone, &delta_.moved, &delta_.edited}) {
                for (const std::uint32_t slot : *list) {
                    if (slot < image_.in_service() && !is_as_told(parts, slot)) {
                        return false;
                    }
                }
            }
            return true;
        }
    }
    bool is_as_told(const parts_type& parts, std::uint32_t slot) const {
        const auto words = parts.table.words_of(slot_index{slot});
        return image_.has_object(slot)
                   ? words.tag == tag_of(slot) &&
                         placement::position_of(parts, words.where) == image_.position(slot)
                   : !layout::is_alive(words.tag) &&
                         parts.table.is_reserved(words, parts.fresh_tag) == image_.is_reserved(slot);
    }

    /// Which slots are given back unused now.
    void note_returned() {
        std::vector<std::uint32_t> kept;
        if (!is_anew_) {
            std::set_difference(returned_.begin(), returned_.end(), delta_.reclaimed.begin(),
                                delta_.reclaimed.end(), std::back_inserter(kept));
        }
        next_returned_.clear();
        std::set_union(kept.begin(), kept.end(), delta_.returned.begin(), delta_.returned.end(),
                       std::back_inserter(next_returned_));
    }

    void make_room_for_objects() {
        if constexpr (!memory_by_touch) {
            parts_type& parts = cut_->parts();
            bool has_room = true;
            if constexpr (placement::stable) {
                for (const std::uint32_t place : delta_.born_at) {
                    has_room = has_room && parts.objects.make_ready(placement::location_of(parts, place), 1);
                }
            } else if (objects_before_ < image_.objects()) {
                const std::size_t more = image_.objects() - objects_before_;
                has_room = parts.objects.make_room(more) >= more;
            }
            if (!has_room) {
                throw_exception(std::bad_alloc());
            }
        }
    }

    /// Ends objects, whose gaps a compaction closes.
    void end_gone() {
        parts_type& parts = cut_->parts();
        const caller who = parts.lives.from_here();
        displaced_.note_gaps(parts, delta_.gone);
        for (const std::uint32_t slot : delta_.gone) {
            cut_->erase(parts.table.handle_of(slot_index{slot}, parts.table.tag_relaxed(slot_index{slot})),
                        who, life_event::erased);
        }
        cut_->compact();
        if (parts.promoted() != objects_before_ - delta_.gone.size()) { // by hooks
            throw_used_by_others(core_.name());
        }
        displaced_.note_displaced(parts);
    }

    void put_in_born(parts_type& parts) noexcept {
        const caller who = parts.lives.from_here();
        for (std::size_t i = 0; i != delta_.born.size(); ++i) {
            const std::uint32_t slot = delta_.born[i];
            const location where = place_of(parts, slot);
            if constexpr (placement::stable) {
                if (parts.newborns.states().is_constructed(parts.objects.nursery_position_of(where))) {
                    take_out_former(parts, where); // one that is kept
                }
            }
            objects_.put_in(parts, i, where);
            parts.table.restore(slot_index{slot}, {.tag = tag_of(slot), .where = where});
            cut_->take_back_lives(slot_index{slot}, tag_of(slot)); // if the origin has gone back
            parts.lives.began(slot_index{slot}, layout::generation_of(tag_of(slot)), life_event::loaded, who);
            note_put_in(parts, slot, where);
        }
    }
    void put_in_edited(parts_type& parts) noexcept {
        const std::span edited(delta_.edited);
        for (std::size_t i = 0; i != edited.size(); ++i) {
            if (i + slots_ahead < edited.size()) {
                parts.table.prefetch_slot(slot_index{edited[i + slots_ahead]});
            }
            if (i + objects_ahead < edited.size()) {
                parts.objects.prefetch_object(parts.table.location_of(slot_index{edited[i + objects_ahead]}));
            }
            const location where = parts.table.location_of(slot_index{edited[i]});
            take_out_former(parts, where);
            objects_.put_in(parts, delta_.born.size() + i, where);
            note_rewritten(parts, where);
        }
    }
    void take_out_former(parts_type& parts, location where) noexcept {
        if (core_.type().has_destructor()) {
            parts.objects.unpoison_objects(where); // it may be kept, and not alive
            parts.objects.take_out(where, former_.next());
            former_.add();
        }
    }
    void note_put_in(parts_type& parts, std::uint32_t slot, location where) noexcept {
        if constexpr (placement::stable) {
            parts.newborns.states().note_put_in(parts.objects.nursery_position_of(where),
                                                handle_of(parts, slot));
        } else {
            parts.objects.set_owner(parts.objects.dense_position_of(where), slot_index{slot});
        }
        note_rewritten(parts, where);
    }
    static void note_rewritten(parts_type& parts, location where) noexcept {
        parts.watch.note_rewritten(
            dense_position{static_cast<std::uint32_t>(placement::position_of(parts, where))});
    }
    void destroy_former() noexcept {
        for (std::size_t i = 0; i != former_.size(); ++i) {
            store_type::template clear_object<T>(former_.at(i));
        }
        former_.clear();
    }

    /// Those that were born are in places which a group may offer, or a shard have: compaction gets all
    /// groups.
    void restore_groups(parts_type& parts) const noexcept {
        constexpr std::size_t size = placement::places::group_size;
        static_assert(64 % size == 0, "a word of an image has the places of groups");
        constexpr std::uint64_t all = ~std::uint64_t{0} >> (64 - size);
        const std::size_t groups = greatest<std::size_t>(
            parts.newborns.groups(),
            *std::max_element(delta_.born_at.begin(), delta_.born_at.end()) / size + std::size_t{1});
        auto& states = parts.newborns.states();
        states.take_from_all(parts.shards);
        states.offer_all(parts.objects, groups, [&](std::size_t group) {
            const std::size_t first = group * size;
            return image_.objects_in(static_cast<std::uint32_t>(first / 64)) >> first % 64 & all;
        });
    }

    void write_slots(parts_type& parts) noexcept {
        for (const auto* const list :
             {&delta_.gone, &delta_.unreserved, &delta_.reserved, &delta_.regenerated}) {
            for (const std::uint32_t slot : *list) {
                if (slot < image_.in_service()) {
                    write_slot(parts, slot);
                }
            }
        }
        for (std::uint32_t slot = image_.in_service(); slot < slots_before_; ++slot) {
            parts.table.restore(slot_index{slot}, {.tag = {}, .where = location::nowhere});
            cut_->take_back_lives(slot_index{slot}, {});
        }
    }
    void write_slot(parts_type& parts, std::uint32_t slot) noexcept {
        const slot_index which{slot};
        const tag_type tag = tag_of(slot);
        cut_->take_back_lives(which, tag); // if the origin has gone back
        if (image_.has_object(slot)) {
            if (parts.table.tag_relaxed(which) != tag) {
                const location where = parts.table.location_of(which);
                parts.table.restore(which, {.tag = tag, .where = where});
                parts.lives.renamed(which, layout::generation_of(tag), parts.lives.from_here());
                parts.watch.note_revoked(which);
                if constexpr (placement::stable) {
                    parts.newborns.states().note_put_in(parts.objects.nursery_position_of(where),
                                                        handle_of(parts, slot));
                }
            }
        } else if (image_.is_reserved(slot)) {
            parts.table.restore(which, {.tag = tag, .where = parts.table.reservation(tag + 1)});
        } else {
            const bool is_fresh = image_.generation(slot) == image_.fresh_generation();
            parts.table.restore(which, {.tag = is_fresh ? tag_type{} : tag, .where = location::nowhere});
        }
    }

    static constexpr int most_rounds = 16;
    // How many edited objects ahead of the one that is replaced its slot, or its memory, is asked for.
    static constexpr std::size_t slots_ahead = 16;
    static constexpr std::size_t objects_ahead = 8;

    core_type& core_;
    Objects objects_;
    pool_image image_;                    // what was told so far
    std::vector<std::uint32_t> returned_; // the slots given back unused in it

    // Of the delta that is applied.
    pool_delta delta_;
    bool is_applied_ = false; // to the image
    bool is_anew_ = false;    // nothing is left of what was
    bool has_other_slots_ = false;
    std::size_t objects_before_ = 0;
    std::uint32_t slots_before_ = 0;
    std::vector<std::uint32_t> next_returned_;
    allocator_state allocator_;
    saved_pool whole_; // if nothing is left of what was
    displaced_objects<T, Config> displaced_;
    object_buffer<T> former_; // what has ended by being replaced
    std::optional<cut_type> cut_;
};

} // namespace handlepool::detail
