// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/access_guard.hpp>
#include <handlepool/detail/base/contract.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/parts/emplace_transaction.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/detail/pool/pool_inspection.hpp>
#include <handlepool/detail/pool/spawner_refusal.hpp>
#include <handlepool/detail/pool/store_view.hpp>
#include <handlepool/detail/pool/whole_pool.hpp>
#include <handlepool/detail/threads/access_gate.hpp>
#include <handlepool/error.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// What pools do with handles and frames, whatever their objects are: the functions of pool and raw_pool, in
/// whose headers they are described, with values for handles.
///
/// @tparam T object type, or void when it is known at run time only
/// @tparam Config a pool_config
template <class T, class Config>
class pool_impl {
    static_assert(freelist<typename Config::freelist>);

    using whole_type = whole_pool<T, Config>;

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
        : whole_(*this, options, type) {}

    /// Destroys all objects, which may still use the pool.
    ~pool_impl() = default;

    pool_impl(const pool_impl&) = delete;
    pool_impl& operator=(const pool_impl&) = delete;

    static std::string validate(const pool_options& options) { return whole_type::validate(options); }

    /// Each use of the pool begins with this.
    void expect_in_use() const noexcept { whole_.expect_in_use(); }
    /// So does each that is not for other threads while one has exclusive access.
    void expect_access() const noexcept { whole_.expect_access(); }

    /// Whether the calling thread may end handles' lives. Where there are spawners, they do, or the thread
    /// that has closed the gate; a checked build reports others.
    bool may_end() noexcept {
        const bool may = whole_.parts.all_may_end() || whole_.parts.mine() != nullptr;
        if constexpr (checked) {
            expects(
                may, whole_.name,
                "an object was erased, extracted or revoked, or a handle cancelled, without a spawner of the "
                "pool: who finds it alive would depend on the scheduler");
        }
        return may;
    }

    // ---- Handles

    /// Creates an object that `construct(memory)` makes. Zero when there is no room, or no shard.
    template <class Construct>
    value_type create(Construct&& construct, caller who) {
        shard_type* const mine = whole_.parts.mine();
        return mine == nullptr ? 0 : create_in(*mine, construct, who);
    }

    /// Creates an object that `construct(memory, handle)` makes. Zero when there is no room, or no shard.
    template <class Construct>
    value_type create_with(Construct&& construct, caller who) {
        shard_type* const mine = whole_.parts.mine();
        return mine == nullptr ? 0 : create_with_in(*mine, construct, who);
    }

    /// Creates `count` objects, each made by `construct(memory)`, before it publishes any: then it calls
    /// `made(i, handle)`. False when there is no room, or no shard.
    template <class Construct, class Made>
    bool create_many(std::size_t count, Construct construct, Made made, caller who) {
        shard_type* const mine = whole_.parts.mine();
        return count == 0 || (mine != nullptr && create_many_in(*mine, count, construct, made, who));
    }
    /// Takes back an object that the caller has created, and that nobody has seen.
    void uncreate(value_type handle, caller who) noexcept { erase(handle, who); }

    /// Returns whether the pool can ever hold `count` objects at once.
    bool has_room_for(std::size_t count) const noexcept {
        return count <= whole_.parts.geometry.object_limit;
    }

    /// Throws the reason why nothing could be created.
    [[noreturn]] void throw_refusal() {
        whole_.parts.shards.mine_or_throw(whole_.gate.owner());
        if (whole_.parts.mine() == nullptr) {
            throw_no_spawner(whole_.name);
        }
        if (whole_.parts.allocator.used_up()) {
            throw_exception(pool_used_up(whole_.name, whole_.parts.geometry.slot_limit));
        }
        throw_exception(pool_exhausted(whole_.name, whole_.parts.geometry.capacity));
    }

    /// Reserves a handle. Zero when there is no room, or no shard.
    value_type reserve() noexcept {
        shard_type* const mine = whole_.parts.mine();
        return mine == nullptr ? 0 : reserve_in(*mine);
    }

    /// Creates the object of a reserved handle, which `construct(memory)` makes.
    template <class Construct>
    fulfill_outcome fulfill(value_type handle, Construct&& construct, caller who) {
        return fulfill_in(whole_.parts.mine(), handle, construct, who);
    }

    /// Throws the reason why a handle could not be fulfilled.
    [[noreturn]] void throw_unfulfilled(fulfill_outcome why, value_type handle) {
        if (why == fulfill_outcome::not_reserved) {
            const handle_state now = state(handle);
            throw_exception(not_reserved(
                describe_unreserved(whole_.name, now == handle_state::alive, report_of(handle, now))));
        }
        throw_refusal();
    }

    bool cancel(value_type handle, caller who) noexcept {
        return may_end() && cancel_in(whole_.parts.mine(), handle, who);
    }

    handle_state state(value_type handle) const noexcept {
        return whole_.reservations.state(layout::without_user(handle));
    }

    value_type revoke(value_type handle, caller who) noexcept {
        return may_end() ? whole_.parts.revoke(handle, who) : 0;
    }

    bool erase(value_type handle, caller who) noexcept {
        if constexpr (checked) {
            static_cast<void>(may_end()); // else the eraser asks for it where that costs nothing
        }
        return whole_.eraser.erase(handle, who);
    }

    /// Asks for the slot of a handle, which will be erased. A hint.
    void prefetch(value_type handle) const noexcept {
        whole_.parts.table.prefetch_slot(whole_.parts.table.slot_of(handle));
    }

    /// `sink(object)` is called by compaction.
    template <class Sink>
    bool extract(value_type handle, Sink sink, caller who) {
        return may_end() && whole_.eraser.extract(handle, std::move(sink), who);
    }

    template <executor Executor, class Predicate>
    std::size_t erase_if(Executor& executor, Predicate predicate, caller who) {
        return whole_.eraser.erase_if(executor, predicate, who);
    }

    void clear(caller who) noexcept {
        if (may_end()) {
            whole_.eraser.clear(who);
        }
    }

    /// The function that calls this, if the pool records who calls it.
    HANDLEPOOL_ALWAYS_INLINE caller from_here() const noexcept { return whole_.parts.lives.from_here(); }
    /// The same for an address behind a call.
    caller from_site(std::uint64_t site) const noexcept { return whole_.parts.lives.from_site(site); }
    recorded_life life_of(value_type handle) const {
        return recorded_life_in(whole_.parts, layout::without_user(handle));
    }

    bool contains(value_type handle) const noexcept { return whole_.parts.table.is_alive(handle); }

    std::size_t size() const noexcept { return whole_.size(); }
    std::size_t capacity() const noexcept { return whole_.parts.geometry.capacity; }
    std::uint32_t id() const noexcept { return whole_.id.id(); }
    const std::string& name() const noexcept { return whole_.name; }

    template <class Handle>
    std::vector<Handle> oldest(std::size_t most) const {
        return find_oldest<Handle>(most, whole_.parts, whole_.compactor);
    }
    std::string describe(value_type handle) const {
        const handle_state now = state(handle);
        return describe_handle(whole_.name, now == handle_state::alive, report_of(handle, now));
    }
    pool_stats stats() const {
        return view_of(whole_.name, size(), whole_.reservations.count(), whole_.parts, whole_.compactor);
    }

    // ---- The same for a shard, which the caller may use: a thread's, or a spawner's

    template <class Construct>
    HANDLEPOOL_ALWAYS_INLINE value_type create_in(shard_type& mine, Construct& construct, caller who) {
        emplace_transaction<T, Config> taken(whole_.parts, mine);
        if (!taken.taken()) [[unlikely]] {
            return 0;
        }
        construct(taken.site());
        return taken.publish(who);
    }
    template <class Construct>
    value_type create_with_in(shard_type& mine, Construct& construct, caller who) {
        return whole_.reservations.create_with(mine, construct, who);
    }
    template <class Construct, class Made>
    bool create_many_in(shard_type& mine, std::size_t count, Construct& construct, Made& made, caller who) {
        batch_transaction<T, Config> taken(whole_.parts, mine, count);
        if (!taken.taken()) {
            return false;
        }
        taken.construct_all(construct);
        taken.publish_all(made, who);
        return true;
    }
    value_type reserve_in(shard_type& mine) noexcept { return whole_.reservations.reserve(mine); }
    template <class Construct>
    fulfill_outcome fulfill_in(shard_type* mine, value_type handle, Construct& construct, caller who) {
        return whole_.reservations.fulfill(mine, layout::without_user(handle), construct, who);
    }
    bool cancel_in(shard_type* mine, value_type handle, caller who) noexcept {
        return whole_.reservations.cancel(mine, layout::without_user(handle), who);
    }
    bool erase_in(shard_type* mine, value_type handle, caller who) noexcept {
        return whole_.eraser.erase_in(mine, handle, who);
    }

    // ---- For spawners, see spawner_core

    deferred_ends<T, Config>& deferred_ends_of_spawners() noexcept { return whole_.compactor.deferred(); }
    /// What revoke() would return.
    value_type handle_after(value_type handle) const noexcept {
        return contains(handle) ? whole_.parts.table.handle_after(handle) : 0;
    }
    [[noreturn]] void throw_share_exhausted(std::size_t spawner) {
        if (whole_.parts.allocator.used_up()) {
            throw_exception(pool_used_up(whole_.name, whole_.parts.geometry.slot_limit));
        }
        throw_exception(spawner_exhausted(whole_.name, spawner));
    }

    // ---- Objects

    pointer find(value_type handle) const noexcept {
        return whole_.parts.table.lookup().find(handle, whole_.parts.objects.places());
    }
    template <class Lookup>
    Lookup lookup() const noexcept {
        return Lookup(whole_.parts.table.lookup(), whole_.parts.objects.places());
    }

    pointer at(value_type handle) const {
        const pointer found = find(handle);
        if (found == nullptr) {
            throw_exception(stale_handle(describe_refusal(whole_.name, report_of(handle, state(handle)))));
        }
        return found;
    }

    /// The handle is known to be alive.
    pointer living(value_type handle) const noexcept {
        if constexpr (checked) {
            expects(contains(handle), whole_.name, "operator[] was given a stale handle");
        }
        return whole_.parts.objects.at(whole_.parts.table.location_of(whole_.parts.table.slot_of(handle)));
    }

    /// The place of an object that the calling thread has made since the last compaction.
    pointer place_of(value_type handle) const noexcept {
        return whole_.parts.objects.at(whole_.parts.table.location_of(whole_.parts.table.slot_of(handle)));
    }

    const object_type<T>& type() const noexcept { return whole_.parts.objects.type(); }
    const pool_geometry& geometry() const noexcept { return whole_.parts.geometry; }

    store_view<T, Config> store() const noexcept { return store_view<T, Config>(whole_.parts); }

    value_type handle_at(std::size_t position) const {
        const std::size_t size = store().dense_size();
        if (position >= size) {
            throw_exception(std::out_of_range(quoted_pool(whole_.name) + ": there is no position " +
                                              std::to_string(position) + "; the dense store has " +
                                              std::to_string(size)));
        }
        return store().owner_at(position);
    }

    /// If the pool records lives, also who made the guard.
    guard_type access(caller who) const { return whole_.gate.access(static_cast<std::uint64_t>(who)); }
    guard_type try_access(caller who) const noexcept {
        return whole_.gate.try_access(static_cast<std::uint64_t>(who));
    }

    // ---- Frames

    template <executor Executor>
    compaction_stats compact(Executor& executor, std::size_t budget = unlimited) {
        const compaction_attempt attempt = compact_inside(nullptr, executor, budget);
        whole_.gate.throw_refused(attempt.refusal);
        return attempt.done;
    }

    /// Like compact(), as a part of what another gate keeps guards from: while it waits for guards of this
    /// pool, those of `parent` may pass. Returns the refusal instead of throwing it.
    template <executor Executor>
    compaction_attempt compact_inside(parent_gate* parent, Executor& executor, std::size_t budget) {
        const auto closed = whole_.gate.lock(parent);
        return {.refusal = closed.refusal(),
                .done = closed ? whole_.compact(executor, budget) : compaction_stats()};
    }

    template <executor Executor>
    std::optional<compaction_stats> try_compact(Executor& executor) {
        const auto closed = whole_.gate.try_lock();
        return closed ? std::optional(whole_.compact(executor, unlimited)) : std::nullopt;
    }

    /// Returns what `body(parts)` returns, which is called while no compaction runs and no guard is held.
    /// Throws compaction_conflict, and what `body` throws.
    template <class Body>
    auto while_closed(Body body) {
        const auto closed = whole_.gate.lock_or_throw();
        return body(whole_.parts);
    }

    bool has_guards() const noexcept { return whole_.gate.pinned(); }
    bool is_compacting() const noexcept { return whole_.gate.running(); }
    /// Whoever follows the pool over time is told of each frame, so it is never idle then.
    bool idle() const noexcept { return whole_.compactor.idle() && !whole_.compactor.is_followed(); }
    std::size_t waiting() const noexcept {
        return whole_.compactor.waiting_removals() + whole_.compactor.waiting_newborns();
    }
    /// Instead of a compaction, when the pool is idle: counts the frame.
    void skip_frame() noexcept { whole_.compactor.skip(); }

    // ---- The whole pool

    /// `hook(handle, object)`, with a value and a pointer.
    template <class Hook>
    scoped_hook add_destroy_hook(Hook hook, hook_order order) {
        return while_closed([&](auto&) { return whole_.compactor.add_destroy_hook(std::move(hook), order); });
    }
    template <class Hook>
    scoped_hook add_birth_hook(Hook hook) {
        return while_closed([&](auto&) { return whole_.compactor.add_birth_hook(std::move(hook)); });
    }

    /// Takes all objects that are alive when it begins, by `sink(handle, object)`.
    template <class Sink>
    std::size_t drain(Sink sink, caller who) {
        return while_closed([&](auto&) {
            whole_.compactor.deferred().work_off();
            const std::size_t taken = whole_.eraser.drain(sink, who);
            whole_.end_frame();
            return taken;
        });
    }

    void reset(caller who) {
        const auto closed = whole_.gate.lock_or_throw();
        whole_.reset(who);
        whole_.end_frame();
    }

    /// See whole_pool.
    template <class Hook, class Begin>
    scoped_hook add_frame_hook(Hook hook, Begin begin) {
        return while_closed([&](auto&) { return whole_.add_frame_hook(std::move(hook), begin); });
    }
    /// See whole_pool. Also throws like add_destroy_hook().
    void make_floors() {
        while_closed([&](auto&) { whole_.make_floors(); });
    }

    /// For exclusive_session, which opens the gate again: closes it like compact(), or unless that would take
    /// longer, in nanoseconds; within none, like try_compact().
    /// The first one also throws too_many_threads and foreign_module, like access().
    void close_for_exclusive() {
        whole_.parts.shards.mine_or_throw(whole_.gate.owner());
        whole_.gate.close_or_throw(gate_use::exclusive_access);
    }
    bool try_close_for_exclusive(std::uint64_t patience = 0) noexcept {
        return whole_.parts.shards.mine() != nullptr &&
               whole_.gate.close_within(patience, gate_use::exclusive_access);
    }

    /// The core with the structures: see exclusive_core.
    pool_impl& pool() noexcept { return *this; }
    const pool_impl& pool() const noexcept { return *this; }
    /// For those who do their work on the structures themselves.
    whole_type& whole() noexcept { return whole_; }
    const whole_type& whole() const noexcept { return whole_; }

    void shrink_to_fit() { whole_.gate.throw_refused(shrink_inside(nullptr)); }

    /// Like shrink_to_fit(), as a part of what another gate keeps guards from: see compact_inside().
    gate_refusal shrink_inside(parent_gate* parent) noexcept {
        const auto closed = whole_.gate.lock(parent);
        if (closed) {
            whole_.shrink();
        }
        return closed.refusal();
    }

    bool try_shrink_to_fit() noexcept {
        const auto closed = whole_.gate.try_lock();
        if (closed) {
            whole_.shrink();
        }
        return bool(closed);
    }

private:
    handle_report report_of(value_type handle, handle_state now) const {
        return examine(layout::without_user(handle), now, whole_.parts, whole_.compactor);
    }

    whole_type whole_;
};

} // namespace handlepool::detail
