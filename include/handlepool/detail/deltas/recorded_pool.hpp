// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/contract.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/captures/allocator_capture.hpp>
#include <handlepool/detail/captures/captured_store.hpp>
#include <handlepool/detail/captures/index_journal.hpp>
#include <handlepool/detail/deltas/pool_delta.hpp>
#include <handlepool/detail/deltas/pool_image.hpp>
#include <handlepool/detail/deltas/recorded_entry.hpp>
#include <handlepool/detail/marks/bit_set.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/pool/pool_access.hpp>
#include <handlepool/detail/pool/pool_cut.hpp>
#include <handlepool/detail/snapshots/pool_saver.hpp>
#include <handlepool/detail/snapshots/saved_pool_entry.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// Finds out how a pool differs from the image of what was told of it, and tells it. It looks at those slots
/// only that can differ: of objects that the log's records name, such that can have gone out, and reserved
/// ones. When it doesn't know them, because records were lost or the pool was made another one, it looks at
/// all.
template <class Log, class T, class Config, class Objects>
class recorded_pool final : public recorded_entry {
    using core_type = pool_impl<T, Config>;
    using cut_type = pool_cut<T, Config>;
    using parts_type = pool_state<T, Config>;
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using placement = typename parts_type::placement;
    using allocator_type = allocator_capture<Config>;

public:
    static constexpr std::uint32_t version = 1; // of what its block has

    /// `schema` is what the objects need beside their type.
    template <class... Schema>
    recorded_pool(std::string name, Log& log, core_type& core, Schema... schema)
        : recorded_entry(std::move(name)),
          log_(log),
          core_(core),
          objects_(core.type(), std::move(schema)...),
          looked_at_(label(core, " changed slots"), core.geometry().slot_limit),
          ended_(label(core, " ended slots"), core.geometry().slot_limit),
          edited_(label(core, " edited slots"), core.geometry().slot_limit) {}

    void lock() override { cut_.emplace(core_); }
    bool settle() override { return cut_->settle(); }
    void begin() override {
        const cut_type& cut = *cut_;
        saved_pool pool = pool_saver<Config>::describe(cut);
        image_ = pool_image(pool, limits_of(core_));
        reserved_ = std::move(pool.reserved);
        allocator_.take(cut.parts().allocator, cut.parts().shards, nullptr, journal_);
        journal_.forget_before(allocator_.journal_begin());
        rewrites_ = cut.rewrites();
        seen_ = log_.frame();
        is_first_ = true;
    }

    void record(snapshot_writer& to) override {
        const cut_type& cut = *cut_;
        const parts_type& parts = cut.parts();
        compare(cut);
        const auto location_at = [&](std::size_t i) {
            return parts.table.location_of(slot_index{delta_.slot_of_content(i)});
        };
        objects_.prepare(parts, delta_.contents(), location_at);
        to.begin_block(block_kind::pool_delta, version, name(), bytes_of(delta_) + objects_.bytes());
        write(to, delta_);
        objects_.write(to, parts, location_at);
        to.end_block();
        const std::optional<delta_problem> problem = image_.apply(delta_); // last, for nothing is thrown then
        expects(!problem, core_.name(), problem ? problem->text.c_str() : "");
        next_rewrites_ = cut.rewrites();
        next_seen_ = log_.frame();
    }
    void commit() noexcept override {
        std::swap(allocator_, next_allocator_);
        journal_.forget_before(allocator_.journal_begin());
        reserved_.swap(next_reserved_);
        rewrites_ = next_rewrites_;
        seen_ = next_seen_;
        is_first_ = false;
    }
    void undo() noexcept override { image_.undo(); }
    void unlock() noexcept override { cut_.reset(); }

private:
    static allocation_label label(const core_type& core, const char* part) {
        return allocation_label::of_pool(core.name()).part(part);
    }
    void compare(const cut_type& cut) {
        const parts_type& parts = cut.parts();
        delta_.clear();
        next_reserved_.clear();
        delta_.widths = widths_of_layout<layout>();
        delta_.placement = placement_number(typename Config::placement{});
        delta_.id = cut.id();
        delta_.fresh_generation = layout::generation_of(parts.fresh_tag);
        delta_.turn = cut.turn();
        is_anew_ = delta_.fresh_generation != image_.fresh_generation();
        const auto records = log_.changes_since(seen_);
        const bool is_same = !is_anew_ && cut.rewrites() == rewrites_;
        compare_waiting(parts, is_same);
        look_for_changes(parts, records, is_same);
        looked_at_.for_each([&](std::size_t slot) {
            compare_slot(parts, slot_index{static_cast<std::uint32_t>(slot)}, records.has_value());
        });
    }

    /// What waits now, and did before.
    void compare_waiting(const parts_type& parts, bool is_same) {
        const allocator_state& before = allocator_.state();
        journal_.truncate(allocator_.journal_end());
        next_allocator_.take(parts.allocator, parts.shards, is_same ? &allocator_ : nullptr, journal_);
        const allocator_state& now = next_allocator_.state();
        const std::size_t waited = is_anew_ ? 0 : before.freelist.waiting;
        delta_.taken = static_cast<std::uint32_t>(
            is_same ? least<std::uint64_t>(now.freelist.claimed - before.freelist.claimed, waited) : waited);
        for (std::uint64_t i = greatest(next_allocator_.journal_begin(), allocator_.journal_end());
             i != next_allocator_.journal_end(); ++i) {
            delta_.waiting.push_back(journal_[i]);
        }
        delta_.in_service = static_cast<std::uint32_t>(now.freelist.fresh);
        delta_.retired = static_cast<std::uint32_t>(now.retired);
        delta_.returned_word = static_cast<std::uint32_t>(now.returned.empty() ? 0 : now.returned_word);
        delta_.claimed_waiting = now.freelist.claimed;
        delta_.claims = now.claims;
        delta_.claimed = now.claimed;
        if (!is_anew_) {
            std::set_difference(before.returned.begin(), before.returned.end(), now.returned.begin(),
                                now.returned.end(), std::back_inserter(delta_.reclaimed));
        }
        if (is_anew_ || is_first_) { // a load gives back what threads had claimed that are not here
            delta_.returned = now.returned;
        } else {
            std::set_difference(now.returned.begin(), now.returned.end(), before.returned.begin(),
                                before.returned.end(), std::back_inserter(delta_.returned));
        }
    }

    /// Finds the slots that can differ, and those whose objects have ended or were edited.
    template <class Records>
    void look_for_changes(const parts_type& parts, const Records& records, bool is_same) {
        looked_at_.clear();
        ended_.clear();
        edited_.clear();
        if (!records || !is_same) {
            looked_at_.insert_range(0, greatest(delta_.in_service, image_.in_service()));
        } else {
            allocator_.for_each_gone(parts.allocator, journal_,
                                     [this](slot_index slot) { looked_at_.insert(raw(slot)); });
            for (const std::uint32_t slot : reserved_) {
                looked_at_.insert(slot);
            }
        }
        if (!records) {
            return;
        }
        for (const auto& record : *records) {
            for (const auto& each : record.born) {
                looked_at_.insert(each.handle.index());
            }
            for (const auto& each : record.destroyed) {
                looked_at_.insert(each.handle.index());
                ended_.insert(each.handle.index());
            }
            for (const auto& each : record.moved) {
                looked_at_.insert(each.handle.index());
            }
            for (const auto& each : record.renamed) {
                looked_at_.insert(each.after.index());
            }
            for (const auto& each : record.edited) {
                looked_at_.insert(each.handle.index());
                edited_.insert(each.handle.index());
            }
        }
    }

    void compare_slot(const parts_type& parts, slot_index which, bool has_records) {
        const std::uint32_t slot = raw(which);
        const bool was_in_service = !is_anew_ && slot < image_.in_service();
        const bool had_object = was_in_service && image_.has_object(slot);
        if (slot >= delta_.in_service) {
            if (had_object) {
                delta_.gone.push_back(slot);
            }
            if (was_in_service && image_.is_reserved(slot)) {
                delta_.unreserved.push_back(slot);
            }
            return;
        }
        const auto words = parts.table.words_of(which);
        const std::uint32_t generation =
            layout::generation_of(parts.table.tag_or_fresh(words, parts.fresh_tag));
        const bool has_object = layout::is_alive(words.tag);
        std::uint32_t expected = was_in_service ? image_.generation(slot) : delta_.fresh_generation;
        if (has_object) {
            const auto position = static_cast<std::uint32_t>(placement::position_of(parts, words.where));
            if (had_object && is_same_object(slot, generation, position, has_records)) {
                if (image_.position(slot) != position) {
                    delta_.moved.push_back(slot);
                    delta_.moved_to.push_back(position);
                }
                if (edited_.contains(slot) || !has_records) {
                    delta_.edited.push_back(slot);
                }
            } else {
                if (had_object) {
                    delta_.gone.push_back(slot);
                }
                delta_.born.push_back(slot);
                delta_.born_at.push_back(position);
                delta_.born_generations.push_back(generation);
                expected = generation;
            }
        } else if (had_object) {
            delta_.gone.push_back(slot);
            ++expected;
        }
        // A slot that comes into service is in some list, also if it is used up.
        if (generation != expected || (!was_in_service && generation > layout::last_generation)) {
            delta_.regenerated.push_back(slot);
            delta_.generations.push_back(generation);
        }
        compare_reservation(slot, was_in_service && image_.is_reserved(slot),
                            parts.table.is_reserved(words, parts.fresh_tag));
    }
    /// Whether the slot's object is the one that was told. Without records, one with the same handle is taken
    /// for the same.
    bool is_same_object(std::uint32_t slot, std::uint32_t generation, std::uint32_t position,
                        bool has_records) const {
        if (has_records) {
            return !ended_.contains(slot);
        }
        return image_.generation(slot) == generation &&
               (!placement::stable || image_.position(slot) == position);
    }
    void compare_reservation(std::uint32_t slot, bool was_reserved, bool is_reserved) {
        if (was_reserved && !is_reserved) {
            delta_.unreserved.push_back(slot);
        } else if (is_reserved && !was_reserved) {
            delta_.reserved.push_back(slot);
        }
        if (is_reserved) {
            next_reserved_.push_back(slot);
        }
    }

    Log& log_;
    core_type& core_;
    std::optional<cut_type> cut_; // during a frame's end
    Objects objects_;
    pool_image image_; // as of the last delta, like all without `next`
    allocator_type allocator_;
    index_journal journal_;
    std::vector<std::uint32_t> reserved_;
    std::uint64_t rewrites_ = 0; // of the pool, by restores and loads
    std::uint64_t seen_ = 0;     // the log's frame
    bool is_first_ = true;       // what the receiver has may be what was loaded here

    pool_delta delta_; // that is being made, like all below
    allocator_type next_allocator_;
    std::vector<std::uint32_t> next_reserved_;
    std::uint64_t next_rewrites_ = 0;
    std::uint64_t next_seen_ = 0;
    bool is_anew_ = false; // nothing is left of what was
    bit_set<policy> looked_at_;
    bit_set<policy> ended_;
    bit_set<policy> edited_;
};

} // namespace handlepool::detail
