// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/memory/large_copy.hpp>
#include <handlepool/detail/pool/pool_cut.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/detail/snapshots/pool_loader.hpp>
#include <handlepool/detail/snapshots/pool_saver.hpp>
#include <handlepool/detail/snapshots/saved_objects.hpp>
#include <handlepool/detail/snapshots/saved_pool.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// A pool in a snapshot, whose objects are written and read by `Objects`.
template <class T, class Config, class Objects>
class saved_pool_entry final : public snapshot_entry, private future_objects {
    using core_type = pool_impl<T, Config>;
    using parts_type = pool_state<T, Config>;
    using cut_type = pool_cut<T, Config>;
    using layout = typename Config::layout;
    using value_type = typename layout::value_type;
    using loader = pool_loader<T, Config>;
    using placement = typename parts_type::placement;

public:
    /// `schema` is what the objects need beside their type.
    template <class... Schema>
    saved_pool_entry(std::string name, core_type& core, Schema... schema)
        : snapshot_entry(block_kind::pool, std::move(name)),
          core_(core),
          objects_(core.type(), std::move(schema)...) {}

    void save(snapshot_writer& to) override {
        const cut_type& cut = *cut_;
        pool_ = pool_saver<Config>::describe(cut, std::move(pool_));
        const auto location_at = loader::locations_of(cut.parts(), pool_);
        objects_.prepare(cut.parts(), pool_.owners.size(), location_at);
        to.begin_block(kind(), version, name(), bytes_of(pool_) + objects_.bytes());
        write(to, pool_);
        objects_.write(to, cut.parts(), location_at);
        to.end_block();
    }

    std::span<std::byte> room_for_end([[maybe_unused]] const snapshot_block& block) override {
        if constexpr (Objects::may_lie_as_in_memory && !placement::stable) {
            const std::uint32_t count = objects_in(block);
            const std::uint64_t bytes = objects_.bytes_in_memory(count);
            if (bytes < too_much_for_caches || bytes > block.payload.size() || cut_ || !has_empty_store()) {
                return {};
            }
            cut_.emplace(core_, std::try_to_lock);
            if (!cut_->is_closed()) {
                cut_.reset();
                return {};
            }
            auto& objects = cut_->parts().objects;
            if (objects.size() == 0 && objects.make_room(count) >= count) {
                objects.unpoison_objects(location{}, count);
                in_place_ = count;
                return {static_cast<std::byte*>(objects.storage(location{})),
                        static_cast<std::size_t>(bytes)};
            }
        }
        return {};
    }
    void read(block_reader& from) override { read_by(from, limits_of(core_)); }
    void read_to_merge(block_reader& from) override {
        from.require_that(Objects::mergeable, 0,
                          "objects of raw pools, and such as can't be moved, can't be merged");
        read_by(from, {.widths = widths_of_layout<layout>(),
                       .placement = std::nullopt,
                       .id = std::nullopt,
                       .last_id = layout::pool_id_mask,
                       .last_generation = layout::last_generation,
                       .slot_limit = layout::slot_count,
                       .objects = core_.geometry().capacity,
                       .places = std::uint64_t{1} << 32});
    }
    const future_objects* future() const noexcept override { return this; }
    void add_unknown(std::vector<std::string>& names) const override { objects_.add_unknown(name(), names); }
    void lock() override {
        if (cut_) {
            compact();
        } else {
            cut_.emplace(core_);
        }
    }
    bool settle() override { return cut_->settle(); }
    bool clear() override {
        const bool lived = cut_->clear();
        if (lived || !cut_type::is_idle(core_)) {
            compact();
        }
        return lived;
    }
    void make_room() override { loader::make_room(*cut_, pool_); }
    void apply() noexcept override {
        loader::rewrite(*cut_, pool_, [this](auto location_at) {
            if (are_in_place()) {
                return;
            }
            std::size_t next = 0;
            for_each_run(pool_.owners.size(), location_at, [&](location first, std::size_t length) {
                objects_.put_in(cut_->parts(), next, first, length);
                next += length;
            });
        });
    }
    void tell() noexcept override {
        cut_->end_frame();
        loader::report_births(*cut_, pool_);
    }
    void reserve(handle_renaming& renaming) override {
        renaming.add_pool(pool_.widths, pool_.id, core_.id(), pool_.owners.size(), pool_.generations.size());
        merged_.reserve(pool_.owners.size());
        for (const std::uint32_t slot : pool_.owners) {
            const auto now = core_.reserve();
            if (now == 0) {
                core_.throw_refusal();
            }
            merged_.push_back(now);
            renaming.add(slot, layout::value_of(slot, layout::make_tag(pool_.id, pool_.generations[slot])),
                         now);
        }
    }
    void merge([[maybe_unused]] const handle_mapper& map) override {
        if constexpr (Objects::mergeable) {
            const caller who = core_.from_here();
            for (std::size_t i = 0; i != merged_.size(); ++i) {
                const fulfill_outcome outcome =
                    objects_.make(i, map, [&](auto maker) { return core_.fulfill(merged_[i], maker, who); });
                if (outcome != fulfill_outcome::done) {
                    core_.throw_unfulfilled(outcome, merged_[i]);
                }
            }
        }
    }
    void undo_merge() noexcept override {
        const caller who = core_.from_here();
        for (const value_type each : merged_) {
            if (!core_.cancel(each, who)) {
                core_.erase(each, who);
            }
        }
    }
    void unlock(bool loaded) noexcept override {
        merged_ = {};
        objects_.forget(loaded);
        pool_.forget_bytes();
        give_up_places();
        cut_.reset();
    }

private:
    pool_of_handles pool() const noexcept override { return {.widths = pool_.widths, .id = pool_.id}; }
    bool include(std::uint64_t slot, std::uint32_t generation) const noexcept override {
        return lives_in(pool_, slot, generation);
    }

    /// Whether nothing is in the places of its objects, and nothing waits to come there.
    bool has_empty_store() const noexcept { return core_.size() == 0 && cut_type::is_idle(core_); }

    /// Whether the objects have come to their places already. Asked once.
    bool are_in_place() noexcept {
        if constexpr (Objects::may_lie_as_in_memory) {
            return std::exchange(in_place_, 0) != 0 && objects_.lie_as_in_memory();
        } else {
            return false;
        }
    }

    /// A compaction puts what was created to the places.
    void compact() {
        if (!cut_type::is_idle(core_)) {
            give_up_places();
        }
        cut_->compact();
    }

    /// What was copied to places is not wanted there.
    void give_up_places() noexcept {
        if (in_place_ != 0) {
            cut_->parts().objects.poison_objects(location{}, std::exchange(in_place_, 0));
        }
    }

    void read_by(block_reader& from, const pool_limits_of_snapshot& limits) {
        pool_ = read_saved_pool(from, limits, std::move(pool_));
        objects_.read(from, pool_.owners.size());
        from.require_end();
    }

    core_type& core_;
    Objects objects_;
    saved_pool pool_;                // as it was saved or read last: for its memory
    std::vector<value_type> merged_; // handles, during a merge
    std::optional<cut_type> cut_;    // during a save or a load
    std::size_t in_place_ = 0;       // places whose bytes have come, during a load
};

} // namespace handlepool::detail
