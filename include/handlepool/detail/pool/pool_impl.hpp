// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/access_guard.hpp>
#include <handlepool/detail/base/contract.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/compaction/compactor.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/described_pool.hpp>
#include <handlepool/detail/memory/memory_plan.hpp>
#include <handlepool/detail/objects/type_name.hpp>
#include <handlepool/detail/parts/emplace_transaction.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/detail/parts/reservations.hpp>
#include <handlepool/detail/pool/eraser.hpp>
#include <handlepool/detail/pool/pool_inspection.hpp>
#include <handlepool/detail/pool/spawner_refusal.hpp>
#include <handlepool/detail/pool/store_view.hpp>
#include <handlepool/detail/process/pool_id_holder.hpp>
#include <handlepool/detail/process/pool_listing.hpp>
#include <handlepool/detail/threads/access_gate.hpp>
#include <handlepool/error.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/stats.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

template <class T, class Config>
class exclusive_core;
template <class T, class Config>
class pool_cut;
template <class T, class Config>
class spawner_round;

/// What pools do with handles and frames, whatever their objects are: the functions of pool and raw_pool, in
/// whose headers they are described, with values for handles.
///
/// @tparam T object type, or void when it is known at run time only
/// @tparam Config a pool_config
template <class T, class Config>
class pool_impl {
    static_assert(freelist<typename Config::freelist>);

public:
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using guard_type = access_guard<policy>;
    using parts_type = pool_state<T, Config>;
    using pointer = typename parts_type::pointer;
    using shard_type = shard<policy>;

    /// An empty pool. Throws as the pools' constructors say.
    explicit pool_impl(const pool_options& options, const object_type<T>& type = {})
        : pool_impl(options, plan_geometry(options, limits_of_options), type, memory_plan()) {}

    /// Destroys all objects, which may still use the pool.
    ~pool_impl() {
        // Closed, so that a destructor that compacts or asks for a guard is refused like in a compaction.
        expects(
            gate_.try_close(), name_,
            "destroyed while an access guard is held, a compaction runs, or a thread has exclusive access");
        destroy_all(caller::unknown);
        id_.set_next_generation(next_generation());
        // Volatile, or the compiler drops the store: the lifetime ends here.
        const_cast<volatile std::uint32_t&>(in_use_) = 0;
    }

    pool_impl(const pool_impl&) = delete;
    pool_impl& operator=(const pool_impl&) = delete;

    static std::string validate(const pool_options& options) {
        std::string error;
        try_plan_geometry(options, limits_of_options, error);
        return error;
    }

    /// Each use of the pool begins with this.
    void expect_in_use() const noexcept {
        if constexpr (checked) {
            expects(in_use_ == in_use_mark, "?", "an operation was called after the pool's destruction");
        }
    }
    /// So does each that is not for other threads while one has exclusive access.
    void expect_access() const noexcept {
        expect_in_use();
        if constexpr (checked) {
            // Not atomic: who may use the pool is ordered before and after the view, and ThreadSanitizer
            // reports others.
            if (exclusive_thread_ != nobody && exclusive_thread_ != parts_.shards.thread_index()) {
                exclusive_access_violated(name_, exclusive_thread_, parts_.shards.thread_index());
            }
        }
    }

    /// Whether the calling thread may end handles' lives. Where there are spawners, they do, or the thread
    /// that has closed the gate; a checked build reports others.
    bool may_end() noexcept {
        const bool may = parts_.all_may_end() || parts_.mine() != nullptr;
        if constexpr (checked) {
            expects(
                may, name_,
                "an object was erased, extracted or revoked, or a handle cancelled, without a spawner of the "
                "pool: who finds it alive would depend on the scheduler");
        }
        return may;
    }

    // ---- Handles

    /// Creates an object that `construct(memory)` makes. Zero when there is no room, or no shard.
    template <class Construct>
    value_type create(Construct&& construct, caller who) {
        shard_type* const mine = parts_.mine();
        return mine == nullptr ? 0 : create_in(*mine, construct, who);
    }

    /// Creates an object that `construct(memory, handle)` makes. Zero when there is no room, or no shard.
    template <class Construct>
    value_type create_with(Construct&& construct, caller who) {
        shard_type* const mine = parts_.mine();
        return mine == nullptr ? 0 : create_with_in(*mine, construct, who);
    }

    /// Creates `count` objects, each made by `construct(memory)`, before it publishes any: then it calls
    /// `made(i, handle)`. False when there is no room, or no shard.
    template <class Construct, class Made>
    bool create_many(std::size_t count, Construct construct, Made made, caller who) {
        shard_type* const mine = parts_.mine();
        return count == 0 || (mine != nullptr && create_many_in(*mine, count, construct, made, who));
    }
    /// Takes back an object that the caller has created, and that nobody has seen.
    void uncreate(value_type handle, caller who) noexcept { erase(handle, who); }

    /// Returns whether the pool can ever hold `count` objects at once.
    bool has_room_for(std::size_t count) const noexcept { return count <= parts_.geometry.object_limit; }

    /// Throws the reason why nothing could be created.
    [[noreturn]] void throw_refusal() {
        parts_.shards.mine_or_throw(gate_.owner());
        if (parts_.mine() == nullptr) {
            throw_no_spawner(name_);
        }
        if (parts_.allocator.used_up()) {
            throw_exception(pool_used_up(name_, parts_.geometry.slot_limit));
        }
        throw_exception(pool_exhausted(name_, parts_.geometry.capacity));
    }

    /// Reserves a handle. Zero when there is no room, or no shard.
    value_type reserve() noexcept {
        shard_type* const mine = parts_.mine();
        return mine == nullptr ? 0 : reserve_in(*mine);
    }

    /// Creates the object of a reserved handle, which `construct(memory)` makes.
    template <class Construct>
    fulfill_outcome fulfill(value_type handle, Construct&& construct, caller who) {
        return fulfill_in(parts_.mine(), handle, construct, who);
    }

    /// Throws the reason why a handle could not be fulfilled.
    [[noreturn]] void throw_unfulfilled(fulfill_outcome why, value_type handle) {
        if (why == fulfill_outcome::not_reserved) {
            const handle_state now = state(handle);
            throw_exception(
                not_reserved(describe_unreserved(name_, now == handle_state::alive, report_of(handle, now))));
        }
        throw_refusal();
    }

    bool cancel(value_type handle, caller who) noexcept {
        return may_end() && cancel_in(parts_.mine(), handle, who);
    }

    handle_state state(value_type handle) const noexcept {
        return reservations_.state(layout::without_user(handle));
    }

    value_type revoke(value_type handle, caller who) noexcept {
        return may_end() ? parts_.revoke(handle, who) : 0;
    }

    bool erase(value_type handle, caller who) noexcept {
        if constexpr (checked) {
            static_cast<void>(may_end()); // else the eraser asks for it where that costs nothing
        }
        return eraser_.erase(handle, who);
    }

    // No part of the caller: where g++ knows how short a range is, it warns of what is never reached.
    template <class Handle, class Range>
    HANDLEPOOL_NOINLINE std::size_t erase_each(Range& handles, caller who) {
        std::size_t erased = 0;
        if constexpr (std::contiguous_iterator<decltype(std::ranges::begin(handles))> &&
                      requires { std::ranges::size(handles); }) {
            const auto first = std::ranges::begin(handles);
            const auto count = static_cast<std::ptrdiff_t>(std::ranges::size(handles));
            for (std::ptrdiff_t i = 0; i != count; ++i) {
                // An erase is an exchange, which no later one overtakes: without this each would wait for its
                // slot.
                if (i + slots_ahead < count) {
                    parts_.table.prefetch_slot(parts_.table.slot_of(Handle(first[i + slots_ahead]).value()));
                }
                erased += erase(Handle(first[i]).value(), who) ? 1U : 0U;
            }
        } else {
            for (const Handle each : handles) {
                erased += erase(each.value(), who) ? 1U : 0U;
            }
        }
        return erased;
    }

    /// `sink(object)` is called by compaction.
    template <class Sink>
    bool extract(value_type handle, Sink sink, caller who) {
        return may_end() && eraser_.extract(handle, std::move(sink), who);
    }

    template <executor Executor, class Predicate>
    std::size_t erase_if(Executor& executor, Predicate predicate, caller who) {
        return eraser_.erase_if(executor, predicate, who);
    }

    void clear(caller who) noexcept {
        if (may_end()) {
            eraser_.clear(who);
        }
    }

    /// The function that calls this, if the pool records who calls it.
    HANDLEPOOL_ALWAYS_INLINE caller from_here() const noexcept { return parts_.lives.from_here(); }
    /// The same for an address behind a call.
    caller from_address(std::uint64_t address) const noexcept { return parts_.lives.from_address(address); }
    recorded_life life_of(value_type handle) const {
        return recorded_life_in(parts_, layout::without_user(handle));
    }

    bool contains(value_type handle) const noexcept { return parts_.table.is_alive(handle); }

    std::size_t size() const noexcept { return count_alive(parts_); }
    std::size_t capacity() const noexcept { return parts_.geometry.capacity; }
    std::uint32_t id() const noexcept { return id_.id(); }
    const std::string& name() const noexcept { return name_; }

    template <class Handle>
    std::vector<Handle> oldest(std::size_t most) const {
        return find_oldest<Handle>(most, parts_, compactor_);
    }
    std::string describe(value_type handle) const {
        const handle_state now = state(handle);
        return describe_handle(name_, now == handle_state::alive, report_of(handle, now));
    }
    pool_stats stats() const { return view_of(name_, size(), reservations_.count(), parts_, compactor_); }

    // ---- The same for a shard, which the caller may use: a thread's, or a spawner's

    template <class Construct>
    HANDLEPOOL_ALWAYS_INLINE value_type create_in(shard_type& mine, Construct& construct, caller who) {
        emplace_transaction<T, Config> taken(parts_, mine);
        if (!taken.taken()) [[unlikely]] {
            return 0;
        }
        construct(taken.site());
        return taken.publish(who);
    }
    template <class Construct>
    value_type create_with_in(shard_type& mine, Construct& construct, caller who) {
        return reservations_.create_with(mine, construct, who);
    }
    template <class Construct, class Made>
    bool create_many_in(shard_type& mine, std::size_t count, Construct& construct, Made& made, caller who) {
        batch_transaction<T, Config> taken(parts_, mine, count);
        if (!taken.taken()) {
            return false;
        }
        taken.construct_all(construct);
        taken.publish_all(made, who);
        return true;
    }
    value_type reserve_in(shard_type& mine) noexcept { return reservations_.reserve(mine); }
    template <class Construct>
    fulfill_outcome fulfill_in(shard_type* mine, value_type handle, Construct& construct, caller who) {
        return reservations_.fulfill(mine, layout::without_user(handle), construct, who);
    }
    bool cancel_in(shard_type* mine, value_type handle, caller who) noexcept {
        return reservations_.cancel(mine, layout::without_user(handle), who);
    }
    bool erase_in(shard_type* mine, value_type handle, caller who) noexcept {
        return eraser_.erase_in(mine, handle, who);
    }

    // ---- Spawners, see spawner_round

    /// Deals out what there is room for. While a guard of the calling thread lives. Throws spawner_conflict
    /// and std::bad_alloc.
    void open_spawners(std::span<const std::uint32_t> weights) {
        if (has_spawners_.exchange(true, std::memory_order::relaxed)) {
            throw_spawners_live(name_);
        }
        const auto thrown = capture_exception([&] {
            parts_.newborns.open_deal(weights);
            parts_.allocator.open_deal(weights);
        });
        if (thrown) {
            parts_.newborns.close_deal();
            has_spawners_.store(false, std::memory_order::relaxed);
            std::rethrow_exception(thrown);
        }
    }
    /// Takes back what `count` spawners have not used, before that guard ends.
    void close_spawners(std::size_t count) noexcept {
        for (std::size_t i = 0; i != count; ++i) {
            parts_.allocator.take_back(parts_.shard_of_spawner(i));
        }
        parts_.allocator.close_deal();
        parts_.newborns.close_deal();
        has_spawners_.store(false, std::memory_order::relaxed);
    }
    deferred_ends<T, Config>& deferred_ends_of_spawners() noexcept { return compactor_.deferred(); }
    /// What revoke() would return.
    value_type handle_after(value_type handle) const noexcept {
        return contains(handle) ? parts_.table.handle_after(handle) : 0;
    }
    [[noreturn]] void throw_share_exhausted(std::size_t spawner) {
        if (parts_.allocator.used_up()) {
            throw_exception(pool_used_up(name_, parts_.geometry.slot_limit));
        }
        throw_exception(spawner_exhausted(name_, spawner));
    }

    // ---- Objects

    pointer find(value_type handle) const noexcept {
        return parts_.table.find(handle, parts_.objects.places());
    }
    template <class Lookup>
    Lookup lookup() const noexcept {
        return Lookup(parts_.table.lookup(), parts_.objects.places());
    }

    pointer at(value_type handle) const {
        const pointer found = find(handle);
        if (found == nullptr) {
            throw_exception(stale_handle(describe_refusal(name_, report_of(handle, state(handle)))));
        }
        return found;
    }

    /// The handle is known to be alive.
    pointer living(value_type handle) const noexcept {
        if constexpr (checked) {
            expects(contains(handle), name_, "operator[] was given a stale handle");
        }
        return parts_.objects.at(parts_.table.location_of(parts_.table.slot_of(handle)));
    }

    /// The place of an object that the calling thread has made since the last compaction.
    pointer place_of(value_type handle) const noexcept {
        return parts_.objects.at(parts_.table.location_of(parts_.table.slot_of(handle)));
    }

    const object_type<T>& type() const noexcept { return parts_.objects.type(); }
    const pool_geometry& geometry() const noexcept { return parts_.geometry; }

    store_view<T, Config> store() const noexcept { return store_view<T, Config>(parts_); }

    value_type handle_at(std::size_t position) const {
        const std::size_t size = store().dense_size();
        if (position >= size) {
            throw_exception(std::out_of_range(quoted_pool(name_) + ": there is no position " +
                                              std::to_string(position) + "; the dense store has " +
                                              std::to_string(size)));
        }
        return store().owner_at(position);
    }

    /// If the pool records lives, also who made the guard.
    guard_type access(caller who) const { return gate_.access(static_cast<std::uint64_t>(who)); }
    guard_type try_access(caller who) const noexcept {
        return gate_.try_access(static_cast<std::uint64_t>(who));
    }

    // ---- Frames

    template <executor Executor>
    compaction_stats compact(Executor& executor, std::size_t budget = unlimited) {
        const compaction_attempt attempt = compact_inside(nullptr, executor, budget);
        gate_.throw_refused(attempt.refusal);
        return attempt.done;
    }

    /// Like compact(), as a part of what another gate keeps guards from: while it waits for guards of this
    /// pool, those of `parent` may pass. Returns the refusal instead of throwing it.
    template <executor Executor>
    compaction_attempt compact_inside(parent_gate* parent, Executor& executor, std::size_t budget) {
        const auto closed = gate_.lock(parent);
        return {.refusal = closed.refusal(),
                .done = closed ? compact_alone(executor, budget) : compaction_stats()};
    }

    template <executor Executor>
    std::optional<compaction_stats> try_compact(Executor& executor) {
        const auto closed = gate_.try_lock();
        return closed ? std::optional(compact_alone(executor, unlimited)) : std::nullopt;
    }

    /// Returns what `body(parts)` returns, which is called while no compaction runs and no guard is held.
    /// Throws compaction_conflict, and what `body` throws.
    template <class Body>
    auto while_closed(Body body) {
        const auto closed = gate_.lock_or_throw();
        return body(parts_);
    }

    bool has_guards() const noexcept { return gate_.pinned(); }
    bool is_compacting() const noexcept { return gate_.running(); }
    /// Whoever follows the pool over time is told of each frame, so it is never idle then.
    bool idle() const noexcept { return compactor_.idle() && !compactor_.is_followed(); }
    std::size_t waiting() const noexcept {
        return compactor_.waiting_removals() + compactor_.waiting_newborns();
    }
    /// Instead of a compaction, when the pool is idle: counts the frame.
    void skip_frame() noexcept { compactor_.skip(); }

    // ---- The whole pool

    /// `hook(handle, object)`, with a value and a pointer.
    template <class Hook>
    scoped_hook add_destroy_hook(Hook hook, hook_order order) {
        return while_closed([&](auto&) { return compactor_.add_destroy_hook(std::move(hook), order); });
    }
    template <class Hook>
    scoped_hook add_birth_hook(Hook hook) {
        return while_closed([&](auto&) { return compactor_.add_birth_hook(std::move(hook)); });
    }

    /// Takes all objects that are alive when it begins, by `sink(handle, object)`.
    template <class Sink>
    std::size_t drain(Sink sink, caller who) {
        return while_closed([&](auto&) {
            compactor_.deferred().work_off();
            const std::size_t taken = eraser_.drain(sink, who);
            end_frame();
            return taken;
        });
    }

    void reset(caller who) {
        const auto closed = gate_.lock_or_throw();
        reset_alone(who);
        end_frame();
    }

    /// From here on, calls `hook(notes, parts)` when a frame has ended, before others use the pool again; and
    /// `begin(parts)` now.
    template <class Hook, class Begin>
    scoped_hook add_frame_hook(Hook hook, Begin begin) {
        return while_closed([&](parts_type& parts) {
            parts.watch.turn_on(allocation_label::of_pool(name_).part(" watch"), parts.geometry.slot_limit,
                                parts_type::placement::most_positions(parts));
            compactor_.set_followed(true);
            scoped_hook added = frames_.add(std::move(hook), hook_order::early);
            begin(parts);
            return added;
        });
    }

    /// From here on, slots may have floors: whatever handle ends, the next one of its slot is above the
    /// floor. Throws like add_destroy_hook(), and reservation_failed.
    void make_floors() {
        while_closed([&](parts_type& parts) {
            if (!floors_.connected()) {
                parts.table.make_floors(allocation_label::of_pool(name_).part(" floors of slots"));
                floors_ = compactor_.add_destroy_hook(
                    [&table = parts.table](value_type handle, pointer) {
                        table.lift_to_floor(table.slot_of(handle));
                    },
                    hook_order::late);
            }
        });
    }

    /// For exclusive_core, which opens the gate again: closes it like compact(), or unless that would take
    /// longer, in nanoseconds; within none, like try_compact().
    /// The first one also throws too_many_threads and foreign_module, like access().
    void close_for_exclusive() {
        parts_.shards.mine_or_throw(gate_.owner());
        gate_.close_or_throw(gate_use::exclusive_access);
    }
    bool try_close_for_exclusive(std::uint64_t patience = 0) noexcept {
        return parts_.shards.mine() != nullptr && gate_.close_within(patience, gate_use::exclusive_access);
    }

    /// After either of them.
    void open() noexcept { gate_.open(); }

    /// The core with the structures: see exclusive_core.
    pool_impl& pool() noexcept { return *this; }
    const pool_impl& pool() const noexcept { return *this; }

    void shrink_to_fit() { gate_.throw_refused(shrink_inside(nullptr)); }

    /// Like shrink_to_fit(), as a part of what another gate keeps guards from: see compact_inside().
    gate_refusal shrink_inside(parent_gate* parent) noexcept {
        const auto closed = gate_.lock(parent);
        if (closed) {
            shrink_alone();
        }
        return closed.refusal();
    }

    bool try_shrink_to_fit() noexcept {
        const auto closed = gate_.try_lock();
        if (closed) {
            shrink_alone();
        }
        return bool(closed);
    }

private:
    friend class exclusive_core<T, Config>;
    friend class pool_cut<T, Config>;
    friend class spawner_round<T, Config>;

    using placement = placement_parts<Config>;
    using tag_type = typename layout::tag_type;

    pool_impl(const pool_options& options, const pool_geometry& geometry, const object_type<T>& type,
              memory_plan&& plan)
        : name_(options.name),
          id_(pool_ids_of_layout(layout::index_bits, layout::generation_bits, layout::pool_id_bits),
              options.pool_id, name_),
          parts_(allocation_label::of_pool(name_, &plan), geometry,
                 layout::make_tag(id_.id(), id_.first_generation()), type),
          reservations_(parts_),
          compactor_(allocation_label::of_pool(name_, &plan).part(" compaction"), parts_, name_),
          gate_(parts_.shards, quoted_pool(name_)) {
        parts_.gate = &gate_;
        memory_ = plan.reserve(allocation_label::of_pool(name_).part(" memory"));
        parts_.objects.placed();
        described_pool& description = listing_.description();
        parts_.describe(description, columns_.data());
        compactor_.describe(description);
        description.gate = gate_.described();
        if constexpr (!std::is_void_v<T>) {
            description.type = described_text::of(type_name<T>());
        }
        description.memory = memory_.data();
        description.memory_size = memory_.size();
        listing_.list();
    }

    /// The gate is closed.
    template <executor Executor>
    compaction_stats compact_alone(Executor& executor, std::size_t budget) {
        if constexpr (phase_listener<Executor>) {
            executor.begin_compaction(name_);
            const compaction_stats stats = compactor_.run(executor, budget);
            end_frame();
            executor.end_compaction(stats);
            return stats;
        } else {
            const compaction_stats stats = compactor_.run(executor, budget);
            end_frame();
            return stats;
        }
    }

    /// Tells those who follow the pool over time that a frame has ended. The gate is closed.
    void end_frame() noexcept {
        if (!parts_.watch.is_on()) {
            return;
        }
        frames_.prune();
        if (frames_.empty()) {
            parts_.watch.turn_off();
            compactor_.set_followed(false);
            return;
        }
        parts_.watch.end_frame([this](const frame_notes<policy>& notes) { frames_.call(notes, parts_); });
    }

    /// The gate is closed.
    void reset_alone(caller who) {
        auto* const keeper = std::exchange(parts_.keeper, nullptr); // nothing comes back
        destroy_all(who);
        parts_.keeper = keeper;
        if (keeper != nullptr) {
            keeper->miss_all();
        }
        const std::uint32_t generation = next_generation();
        const bool used_up = generation + 1 > layout::last_generation;
        parts_.fresh_tag = layout::make_tag(id(), generation);

        const std::uint64_t created = parts_.created();
        compactor_.account_for(static_cast<std::size_t>(created - compactor_.destroyed()),
                               static_cast<std::size_t>(created - compactor_.left_nursery()));
        parts_.reset(used_up);
        parts_.lives.forgot_all(generation, who);
        reservations_.reset();
        compactor_.reset();
        parts_.watch.note_reset();
    }

    /// The gate is closed.
    void shrink_alone() noexcept {
        parts_.order.forget();
        parts_.objects.shrink();
        parts_.newborns.shrink(parts_.objects);
        const shard_type* const mine = parts_.mine();
        for (std::size_t i = 0, last = parts_.shards.count(); i < last; ++i) {
            const shard_type& one = parts_.shards[i];
            parts_.newborns.shrink_held(parts_.objects, one.newborns, &one == mine);
        }
        compactor_.shrink();
    }

    handle_report report_of(value_type handle, handle_state now) const {
        return examine(layout::without_user(handle), now, parts_, compactor_);
    }

    /// Above all generations that were handed out, for an object or in advance.
    std::uint32_t next_generation() const noexcept {
        std::uint32_t highest =
            layout::generation_of(greatest<tag_type>(parts_.fresh_tag, parts_.table.highest_floor()));
        parts_.for_each_slot([&](slot_index slot, tag_type tag) {
            highest =
                greatest<std::uint32_t>(highest, layout::generation_of(reservations_.unused_tag(slot, tag)));
        });
        return (highest + 1) & ~1U;
    }

    void destroy_all(caller who) noexcept {
        const auto& extractions = compactor_.extractions_of_threads();
        compactor_.deferred().work_off(); // before all others end, so that sinks get their objects
        if (parts_.ends_objects() || compactor_.watches_ends() || !extractions.empty()) {
            inline_executor executor;
            // Again as long as destructors make new objects.
            do {
                eraser_.clear(who, life_event::forgotten);
                compactor_.run(executor);
            } while (size() != 0 || parts_.promoted() != 0 || !extractions.empty());
        }
        parts_.newborns.destroy_kept(parts_.objects);
    }

    static constexpr geometry_limits limits_of_options{.index_count = std::uint64_t{1} << layout::index_bits,
                                                       .nursery_chunk = policy::nursery_chunk,
                                                       .removal_chunk = policy::removal_chunk,
                                                       .stable = placement::stable};
    // How far ahead of the handle that is erased its slot is asked for.
    static constexpr std::ptrdiff_t slots_ahead = 16;
    static constexpr std::uint32_t in_use_mark = 0x6c6f6f70;
    static constexpr std::uint32_t nobody = 0xffff'ffff;

    std::string name_;
    pool_id_holder id_;
    virtual_memory memory_; // of all arrays below
    pool_state<T, Config> parts_;
    reservations<T, Config> reservations_;
    compactor<T, Config> compactor_;
    eraser<T, Config> eraser_{parts_, compactor_};
    hook_list<policy, const frame_notes<policy>&, const parts_type&> frames_;
    mutable access_gate<shard_type> gate_; // as a mutex would be
    std::array<described_column, parts_type::column_count> columns_;
    pool_listing listing_{pool_listing::of<layout>(*this, id_.id(), name_.c_str())};
    std::uint64_t rewrites_ = 0; // see pool_cut
    typename policy::template atomic<bool> has_spawners_{false};
    scoped_hook floors_; // lifts tags to them
    std::uint32_t in_use_ = in_use_mark;
    // In a checked build, the index of the thread that has exclusive access.
    std::uint32_t exclusive_thread_ = nobody;
};

} // namespace handlepool::detail
