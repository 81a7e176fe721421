// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/exclusive/exclusive_clear.hpp>
#include <handlepool/detail/exclusive/exclusive_objects.hpp>
#include <handlepool/detail/exclusive/exclusive_session.hpp>
#include <handlepool/detail/exclusive/exclusive_store.hpp>
#include <handlepool/detail/objects/object_addresses.hpp>
#include <handlepool/detail/parts/emplace_transaction.hpp>
#include <handlepool/detail/pool/pool_impl.hpp>
#include <handlepool/detail/slots/slot_lookup.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// A pool as the one thread has it that has closed its gate: the functions of pool_impl, which create and
/// erase at once, by plain loads and stores. The structures are those of the pool, between two of whose
/// compactions all of this happens.
///
/// Three kinds of code may run in the middle of such a step: an object's constructor, its destructor, and
/// hooks. What they create and erase themselves goes the way that it always goes, to the nursery and into the
/// queues; and when the step is complete, a compaction takes that in. All else that is rare goes that way,
/// too. With keep_order the compaction comes later, when somebody looks at the store.
///
///     create, erase ──┬─ a plain step ─────────────▶ the store ◀── a compaction
///                     │                                                 ▲
///                     └─ within a step, or rare ───▶ nursery, queue ────┘
template <class T, class Config>
class exclusive_core {
    using pool_type = pool_impl<T, Config>;
    using parts_type = pool_state<T, Config>;
    using layout = typename Config::layout;
    using tag_type = typename layout::tag_type;
    using store_type = exclusive_store<T, Config>;
    using session_type = exclusive_session<T, Config>;
    using calling_step = typename session_type::calling_step;
    using settled_step = typename session_type::settled_step;
    using ending_step = typename session_type::ending_step;
    using whole_step = typename session_type::whole_step;

public:
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using pointer = typename parts_type::pointer;

    /// The calling thread has a shard, and has closed the pool's gate, which opens when this ends.
    explicit exclusive_core(pool_type& pool) noexcept
        : pool_(pool), parts_(pool.whole().parts), session_(pool) {}
    ~exclusive_core() = default;

    exclusive_core(const exclusive_core&) = delete;
    exclusive_core& operator=(const exclusive_core&) = delete;

    pool_type& pool() noexcept { return pool_; }
    const pool_type& pool() const noexcept { return pool_; }

    void expect_in_use() const noexcept { pool_.expect_in_use(); }
    void expect_access() const noexcept { pool_.expect_access(); }

    // ---- Objects that come

    // Inlined, and what the constructor is given is passed to no other function: it stays in registers then,
    // and a loop stores little beside the object. See DESIGN.md.
    template <class Construct>
    HANDLEPOOL_ALWAYS_INLINE value_type create(Construct&& construct, caller who) {
        if (session_.queues_newborns()) [[unlikely]] {
            const settled_step whole(session_);
            auto queued = begin_queued();
            if (!queued.taken()) {
                return 0;
            }
            const calling_step now(session_);
            construct(queued.site());
            return publish_queued(queued, who);
        }
        const slot_index slot = take_slot();
        if (slot == slot_index::none) [[unlikely]] {
            return 0;
        }
        exclusive_object<T, Config> object(session_, slot);
        if (!object.taken()) [[unlikely]] {
            return 0;
        }
        object.construct(construct);
        const value_type handle = publish(slot, object.release());
        if (!session_.is_usual_birth()) [[unlikely]] {
            finish_birth(handle, who);
        }
        return handle;
    }

    template <class Construct>
    value_type create_with(Construct&& construct, caller who) {
        return create_the_usual_way([&](pool_type& pool) { return pool.create_with(construct, who); });
    }

    template <class Construct, class Made>
    bool create_many(std::size_t count, Construct construct, Made made, caller who) {
        if (count == 0) {
            return true;
        }
        session_.destroy_queued();
        if constexpr (store_type::adds_many) {
            if (!session_.queues_newborns() && !session_.watches_births()) {
                return create_many_at_once(count, construct, made, who);
            }
        }
        return create_the_usual_way(
            [&](pool_type& pool) { return pool.create_many(count, construct, made, who); });
    }

    void uncreate(value_type handle, caller who) noexcept { erase(handle, who); }

    bool has_room_for(std::size_t count) const noexcept { return pool_.has_room_for(count); }
    [[noreturn]] void throw_refusal() { pool_.throw_refusal(); }

    value_type reserve() noexcept { return session_.shared().reserve(); }
    template <class Construct>
    fulfill_outcome fulfill(value_type handle, Construct&& construct, caller who) {
        return create_the_usual_way([&](pool_type& pool) { return pool.fulfill(handle, construct, who); });
    }
    [[noreturn]] void throw_unfulfilled(fulfill_outcome why, value_type handle) {
        pool_.throw_unfulfilled(why, handle);
    }
    bool cancel(value_type handle, caller who) noexcept { return pool_.cancel(handle, who); }
    value_type revoke(value_type handle, caller who) noexcept { return pool_.revoke(handle, who); }

    // ---- Objects that go

    HANDLEPOOL_ALWAYS_INLINE bool erase(value_type handle, caller who) noexcept {
        if (session_.erases_specially()) [[unlikely]] {
            return erase_specially(handle, who);
        }
        return erase_at_once(handle, who, [](location) {}, [] {});
    }

    template <class Sink>
    bool extract(value_type handle, Sink sink, caller who) {
        const bool taken = pool_.extract(handle, std::move(sink), who);
        session_.settle_queued();
        return taken;
    }

    template <executor Executor, class Predicate>
    std::size_t erase_if(Executor& executor, Predicate predicate, caller who) {
        if (session_.is_within_step()) {
            return pool_.erase_if(executor, predicate, who);
        }
        return while_closed([&](auto&) { return pool_.erase_if(executor, predicate, who); });
    }

    void clear(caller who) noexcept {
        session_.settle_queued();
        if (session_.queues_removals()) {
            pool_.clear(who);
            session_.settle_queued();
        } else {
            exclusive_clear<T, Config>(session_, who).run();
        }
    }

    template <class Sink>
    std::size_t drain(Sink sink, caller who) {
        return while_closed([&](auto&) { return session_.whole().eraser.drain(sink, who); });
    }

    void reset(caller who) {
        while_closed([&](auto&) { session_.whole().reset(who); });
    }

    // ---- Handles and objects

    /// The function that calls this, if the pool records who calls it.
    HANDLEPOOL_ALWAYS_INLINE caller from_here() const noexcept {
        return session_.records_lives() ? parts_.lives.from_here() : caller::unknown;
    }
    caller from_site(std::uint64_t site) const noexcept { return pool_.from_site(site); }
    recorded_life life_of(value_type handle) const { return pool_.life_of(handle); }

    bool contains(value_type handle) const noexcept { return slots_.is_alive_alone(handle); }
    handle_state state(value_type handle) const noexcept { return pool_.state(handle); }
    std::size_t size() const noexcept {
        session_.write_counts();
        return pool_.size();
    }
    std::size_t capacity() const noexcept { return pool_.capacity(); }
    std::uint32_t id() const noexcept { return pool_.id(); }
    const std::string& name() const noexcept { return pool_.name(); }

    template <class Handle>
    std::vector<Handle> oldest(std::size_t most) const {
        return pool_.template oldest<Handle>(most);
    }
    std::string describe(value_type handle) const { return pool_.describe(handle); }
    pool_stats stats() const {
        session_.write_counts();
        parts_.allocator.write_through();
        return pool_.stats();
    }

    pointer find(value_type handle) const noexcept { return slots_.find_alone(handle, places_); }
    template <class Lookup>
    Lookup lookup() const noexcept {
        return pool_.template lookup<Lookup>();
    }
    pointer at(value_type handle) const { return pool_.at(handle); }
    pointer living(value_type handle) const noexcept { return pool_.living(handle); }
    pointer place_of(value_type handle) const noexcept { return pool_.place_of(handle); }
    const object_type<T>& type() const noexcept { return pool_.type(); }

    store_view<T, Config> store() const noexcept {
        session_.settle_queued();
        return pool_.store();
    }
    value_type handle_at(std::size_t position) const {
        session_.settle_queued();
        return pool_.handle_at(position);
    }

    // ---- Frames, and the whole pool

    /// Returns what `body(parts)` returns, which works on the compacted pool. Throws what that throws, and
    /// compaction_conflict within a step.
    template <class Body>
    auto while_closed(Body body) {
        if (session_.is_within_step()) {
            session_.whole().gate.throw_refused(gate_refusal::within_step);
        }
        session_.settle_queued();
        const whole_step now(session_);
        return body(parts_);
    }

    template <executor Executor>
    compaction_stats compact(Executor& executor, std::size_t budget = unlimited) {
        return while_closed([&](auto&) { return session_.whole().compact(executor, budget); });
    }
    template <executor Executor>
    std::optional<compaction_stats> try_compact(Executor& executor) {
        return session_.is_within_step() ? std::nullopt : std::optional(compact(executor));
    }
    bool idle() const noexcept { return !session_.is_queued(); }

    template <class Hook>
    scoped_hook add_destroy_hook(Hook hook, hook_order order) {
        return while_closed([&](auto&) { return compactor().add_destroy_hook(std::move(hook), order); });
    }
    template <class Hook>
    scoped_hook add_birth_hook(Hook hook) {
        return while_closed([&](auto&) { return compactor().add_birth_hook(std::move(hook)); });
    }

    void shrink_to_fit() {
        while_closed([&](auto&) { session_.whole().shrink(); });
    }
    bool try_shrink_to_fit() noexcept {
        if (session_.is_within_step()) {
            return false;
        }
        shrink_to_fit();
        return true;
    }

private:
    // How many objects ahead of the one that is published its slot is asked for.
    static constexpr std::size_t slots_ahead = 16;

    auto& compactor() const noexcept { return session_.whole().compactor; }

    /// A slot for the next object, or none.
    HANDLEPOOL_ALWAYS_INLINE slot_index take_slot() noexcept {
        return parts_.allocator.has_claimed() ? parts_.allocator.take_claimed() : take_slot_elsewhere();
    }
    HANDLEPOOL_NOINLINE slot_index take_slot_elsewhere() noexcept {
        const slot_index slot = parts_.allocator.take_elsewhere_alone(session_.mine());
        return slot == slot_index::none && session_.destroy_queued() ? take_slot_elsewhere() : slot;
    }

    /// The object that was made at this place is the slot's. Returns its handle.
    HANDLEPOOL_ALWAYS_INLINE value_type publish(slot_index slot, location where) noexcept {
        parts_type& parts = parts_;
        const tag_type tag = parts.table.next_tag(slot, parts.fresh_tag);
        const value_type handle = parts.table.handle_of(slot, tag);
        store_type::add(parts, where, slot, handle);
        parts.table.publish(slot, tag, where);
        return handle;
    }

    template <class Construct, class Made>
    bool create_many_at_once(std::size_t count, Construct& construct, Made& made, caller who) {
        const settled_step whole(session_);
        taken_slots<T, Config> taken(parts_, count);
        if (!parts_.allocator.can_give(session_.mine(), count) || !taken.take(session_.mine())) {
            return false;
        }
        const location first = exclusive_batch<T, Config>(session_, count).construct(construct);
        const std::uint32_t* const slot = taken.release();
        for (std::size_t i = 0; i != count; ++i) {
            if (i + slots_ahead < count) {
                parts_.table.prefetch_slot(slot_index{slot[i + slots_ahead]});
            }
            const value_type handle = publish(slot_index{slot[i]}, further(first, i));
            note_beginning(handle, who);
            made(i, handle);
        }
        return true;
    }

    /// Erases a living object of the store. Calls `before(place)` when no handle resolves any more, before it
    /// ends, and `after()` when it has left the store, before others come that its destructor has created.
    template <class Before, class After>
    HANDLEPOOL_ALWAYS_INLINE bool erase_at_once(value_type handle, caller who, Before before,
                                                After after) noexcept {
        if (!slots_.is_alive_alone(handle)) {
            return false;
        }
        parts_type& parts = parts_;
        const slot_index slot = parts.table.slot_of(handle);
        const location where = parts.table.location_of(slot);
        if (!store_type::has(parts, where)) [[unlikely]] {
            return erase_queued(handle, who);
        }
        const tag_type tag = layout::tag_of(handle);
        parts.table.kill_alone(slot, tag);
        before(where);
        end_object(handle, where);
        store_type::remove(parts, where);
        after();
        session_.release(slot, tag);
        if (parts.ends_objects()) {
            session_.settle_step();
        }
        return true;
    }
    HANDLEPOOL_NOINLINE bool erase_specially(value_type handle, caller who) noexcept {
        if (session_.queues_removals()) {
            return erase_queued(handle, who);
        }
        const auto note = [this, handle, who](location) { note_end(handle, life_event::erased, who); };
        if (!session_.watches_removals()) {
            return erase_at_once(handle, who, note, [] {});
        }
        const bool erased = erase_at_once(
            handle, who,
            [this, handle, note](location where) {
                note(where);
                const ending_step now(session_, 1);
                compactor().report_removal(layout::without_user(handle), where);
            },
            [this] { note_positions(); });
        session_.settle_step();
        return erased;
    }
    /// The store has become smaller, of which somebody may be told.
    void note_positions() noexcept { parts_.watch.note_positions(parts_type::placement::positions(parts_)); }

    /// Ends an object of the store, which counts as erased already.
    void end_object(value_type handle, location where) noexcept {
        if (parts_.ends_objects()) {
            const ending_step now(session_, 1);
            parts_.end_object(handle, where);
        } else {
            parts_.objects.poison_objects(where);
        }
    }

    void note_beginning(value_type handle, caller who) noexcept {
        parts_.lives.began(parts_.table.slot_of(handle), layout::generation_of(layout::tag_of(handle)),
                           life_event::created, who);
    }
    void note_end(value_type handle, life_event event, caller who) noexcept {
        parts_.lives.ended(parts_.table.slot_of(handle), layout::generation_of(layout::tag_of(handle)), event,
                           who);
    }

    // ---- What goes the way that it goes in a pool that several threads use

    HANDLEPOOL_NOINLINE emplace_transaction<T, Config> begin_queued() noexcept(memory_by_touch) {
        session_.forget_empty_order();
        session_.shared();
        return emplace_transaction<T, Config>(parts_, session_.mine());
    }
    HANDLEPOOL_NOINLINE value_type publish_queued(emplace_transaction<T, Config>& made, caller who) noexcept {
        return made.publish(who);
    }
    /// Returns `create(pool)`, which runs constructors.
    template <class Create>
    auto create_the_usual_way(Create create) {
        const settled_step whole(session_);
        pool_type& pool = session_.shared();
        const calling_step now(session_);
        return create(pool);
    }
    HANDLEPOOL_NOINLINE bool erase_queued(value_type handle, caller who) noexcept {
        const bool erased = pool_.erase(handle, who);
        session_.settle_step();
        return erased;
    }

    // noexcept, as the compaction is that calls hooks otherwise: g++ needs a quarter less for a creation.
    HANDLEPOOL_NOINLINE void finish_birth(value_type handle, caller who) noexcept {
        note_beginning(handle, who);
        if (session_.watches_births()) {
            const calling_step now(session_);
            compactor().report_birth(handle, place_of(handle));
        }
        if (session_.is_queued()) {
            session_.settle_step();
        }
    }

    pool_type& pool_;
    parts_type& parts_;
    // Copies, which never change.
    const slot_lookup<Config> slots_{parts_.table.lookup()};
    const object_addresses<T> places_{parts_.objects.places()};
    // Last, so that all is there for hooks and destructors that use the view when it begins or ends.
    session_type session_;
};

} // namespace handlepool::detail
