// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/contract.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/compaction/compactor.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/described_pool.hpp>
#include <handlepool/detail/memory/memory_plan.hpp>
#include <handlepool/detail/objects/type_name.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/detail/parts/reservations.hpp>
#include <handlepool/detail/pool/eraser.hpp>
#include <handlepool/detail/process/pool_id_holder.hpp>
#include <handlepool/detail/process/pool_listing.hpp>
#include <handlepool/detail/threads/access_gate.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/stats.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace handlepool::detail {

template <class T, class Config>
class pool_impl;

/// All that a pool is made of, and what is done to the whole of it: it is made, compacted, shrunk, reset and
/// ended. What is done with one handle or object is pool_impl's.
///
/// ```
///   any thread ──▶ reservations, eraser ──▶ parts ◀── compactor ◀── compact(), reset(), shrink()
///                                                                      while the gate is closed
/// ```
template <class T, class Config>
class whole_pool {
public:
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using parts_type = pool_state<T, Config>;
    using pointer = typename parts_type::pointer;
    using shard_type = shard<policy>;

    /// An empty pool; debuggers find it as `core`. Throws as the pools' constructors say.
    whole_pool(pool_impl<T, Config>& core, const pool_options& options, const object_type<T>& type)
        : whole_pool(core, options, plan_geometry(options, limits_of_options), type, memory_plan()) {}

    /// Destroys all objects, which may still use the pool.
    ~whole_pool() {
        // Closed, so that a destructor that compacts or asks for a guard is refused like in a compaction.
        expects(
            gate.try_close(), name,
            "destroyed while an access guard is held, a compaction runs, or a thread has exclusive access");
        destroy_all(caller::unknown);
        id.set_next_generation(next_generation());
        // Volatile, or the compiler drops the store: the lifetime ends here.
        const_cast<volatile std::uint32_t&>(in_use_) = 0;
    }

    whole_pool(const whole_pool&) = delete;
    whole_pool& operator=(const whole_pool&) = delete;

    static std::string validate(const pool_options& options) {
        std::string error;
        try_plan_geometry(options, limits_of_options, error);
        return error;
    }

    // ---- Who may use it

    void expect_in_use() const noexcept {
        if constexpr (checked) {
            expects(in_use_ == in_use_mark, "?", "an operation was called after the pool's destruction");
        }
    }
    void expect_access() const noexcept {
        expect_in_use();
        if constexpr (checked) {
            // Not atomic: who may use the pool is ordered before and after the view, and ThreadSanitizer
            // reports others.
            if (exclusive_thread_ != nobody && exclusive_thread_ != parts.shards.thread_index()) {
                exclusive_access_violated(name, exclusive_thread_, parts.shards.thread_index());
            }
        }
    }
    /// From here on, only the calling thread; or any thread again.
    void set_exclusive(bool exclusive) noexcept {
        parts.allocator.set_alone(exclusive);
        if constexpr (checked) {
            exclusive_thread_ = exclusive ? parts.shards.thread_index() : nobody;
        }
    }

    std::size_t size() const noexcept { return count_alive(parts); }

    // ---- While the gate is closed

    template <executor Executor>
    compaction_stats compact(Executor& executor, std::size_t budget) {
        if constexpr (phase_listener<Executor>) {
            executor.begin_compaction(name);
            const compaction_stats stats = compactor.run(executor, budget);
            end_frame();
            executor.end_compaction(stats);
            return stats;
        } else {
            const compaction_stats stats = compactor.run(executor, budget);
            end_frame();
            return stats;
        }
    }

    /// From here on, calls `hook(notes, parts)` when a frame has ended, before others use the pool again; and
    /// `begin(parts)` now.
    template <class Hook, class Begin>
    scoped_hook add_frame_hook(Hook hook, Begin begin) {
        parts.watch.turn_on(allocation_label::of_pool(name).part(" watch"), parts.geometry.slot_limit,
                            parts_type::placement::most_positions(parts));
        compactor.set_followed(true);
        scoped_hook added = frames_.add(std::move(hook), hook_order::early);
        begin(parts);
        return added;
    }

    /// Tells those who follow the pool over time that a frame has ended.
    void end_frame() noexcept {
        if (!parts.watch.is_on()) {
            return;
        }
        frames_.prune();
        if (frames_.empty()) {
            parts.watch.turn_off();
            compactor.set_followed(false);
            return;
        }
        parts.watch.end_frame([this](const frame_notes<policy>& notes) { frames_.call(notes, parts); });
    }

    /// From here on, slots may have floors: whatever handle ends, the next one of its slot is above the
    /// floor. Throws reservation_failed and std::bad_alloc.
    void make_floors() {
        if (!floors_.connected()) {
            parts.table.make_floors(allocation_label::of_pool(name).part(" floors of slots"));
            floors_ = compactor.add_destroy_hook(
                [&table = parts.table](value_type handle, pointer) {
                    table.lift_to_floor(table.slot_of(handle));
                },
                hook_order::late);
        }
    }

    /// Forgets all objects and handles; end_frame() is still to be called.
    void reset(caller who) {
        auto* const keeper = std::exchange(parts.keeper, nullptr); // nothing comes back
        destroy_all(who);
        parts.keeper = keeper;
        if (keeper != nullptr) {
            keeper->miss_all();
        }
        const std::uint32_t generation = next_generation();
        const bool used_up = generation + 1 > layout::last_generation;
        parts.fresh_tag = layout::make_tag(id.id(), generation);

        const std::uint64_t created = parts.created();
        compactor.account_for(static_cast<std::size_t>(created - compactor.destroyed()),
                              static_cast<std::size_t>(created - compactor.left_nursery()));
        parts.reset(used_up);
        parts.lives.forgot_all(generation, who);
        reservations.reset();
        compactor.reset();
        parts.watch.note_reset();
    }

    /// Gives back memory.
    void shrink() noexcept {
        parts.order.forget();
        parts.objects.shrink();
        parts.newborns.shrink(parts.objects);
        const shard_type* const mine = parts.mine();
        for (std::size_t i = 0, last = parts.shards.count(); i < last; ++i) {
            const shard_type& one = parts.shards[i];
            parts.newborns.shrink_held(parts.objects, one.newborns, &one == mine);
        }
        compactor.shrink();
    }

private:
    using placement = placement_parts<Config>;
    using tag_type = typename layout::tag_type;

    static constexpr geometry_limits limits_of_options{.index_count = std::uint64_t{1} << layout::index_bits,
                                                       .nursery_chunk = policy::nursery_chunk,
                                                       .removal_chunk = policy::removal_chunk,
                                                       .stable = placement::stable};
    static constexpr std::uint32_t in_use_mark = 0x6c6f6f70;
    static constexpr std::uint32_t nobody = 0xffff'ffff;

    whole_pool(pool_impl<T, Config>& core, const pool_options& options, const pool_geometry& geometry,
               const object_type<T>& type, memory_plan&& plan)
        : name(options.name),
          id(pool_ids_of_layout(layout::index_bits, layout::generation_bits, layout::pool_id_bits),
             options.pool_id, name),
          parts(allocation_label::of_pool(name, &plan), geometry,
                layout::make_tag(id.id(), id.first_generation()), type),
          reservations(parts),
          compactor(allocation_label::of_pool(name, &plan).part(" compaction"), parts, name),
          gate(parts.shards, quoted_pool(name)),
          listing_(pool_listing::of<layout>(core, id.id(), name.c_str())) {
        parts.gate = &gate;
        memory = plan.reserve(allocation_label::of_pool(name).part(" memory"));
        parts.objects.placed();
        described_pool& description = listing_.description();
        parts.describe(description, columns_.data());
        compactor.describe(description);
        description.gate = gate.described();
        if constexpr (!std::is_void_v<T>) {
            description.type = described_text::of(type_name<T>());
        }
        description.memory = memory.data();
        description.memory_size = memory.size();
        listing_.list();
    }

    /// Above all generations that were handed out, for an object or in advance.
    std::uint32_t next_generation() const noexcept {
        std::uint32_t highest =
            layout::generation_of(greatest<tag_type>(parts.fresh_tag, parts.table.highest_floor()));
        parts.for_each_slot([&](slot_index slot, tag_type tag) {
            highest =
                greatest<std::uint32_t>(highest, layout::generation_of(reservations.unused_tag(slot, tag)));
        });
        return (highest + 1) & ~1U;
    }

    void destroy_all(caller who) noexcept {
        const auto& extractions = compactor.extractions_of_threads();
        compactor.deferred().work_off(); // before all others end, so that sinks get their objects
        if (parts.ends_objects() || compactor.watches_ends() || !extractions.empty()) {
            inline_executor executor;
            // Again as long as destructors make new objects.
            do {
                eraser.clear(who, life_event::forgotten);
                compactor.run(executor);
            } while (size() != 0 || parts.promoted() != 0 || !extractions.empty());
        }
        parts.newborns.destroy_kept(parts.objects);
    }

public:
    std::string name;
    pool_id_holder id;
    virtual_memory memory; // of all arrays below
    parts_type parts;
    detail::reservations<T, Config> reservations;
    detail::compactor<T, Config> compactor;
    detail::eraser<T, Config> eraser{parts, compactor};
    mutable access_gate<shard_type> gate; // as a mutex would be

    std::uint64_t rewrites = 0; ///< how often a pool_cut has made another pool of it
    typename policy::template atomic<bool> has_spawners{false};

private:
    hook_list<policy, const frame_notes<policy>&, const parts_type&> frames_;
    std::array<described_column, parts_type::column_count> columns_;
    pool_listing listing_;
    scoped_hook floors_; // lifts tags to them
    std::uint32_t in_use_ = in_use_mark;
    // In a checked build, the index of the thread that has exclusive access.
    std::uint32_t exclusive_thread_ = nobody;
};

} // namespace handlepool::detail
