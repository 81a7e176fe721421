// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/compaction/exclusive_store.hpp>
#include <handlepool/detail/objects/object_addresses.hpp>
#include <handlepool/detail/parts/emplace_transaction.hpp>
#include <handlepool/detail/parts/taken_slot.hpp>
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
/// queues; and when the step is complete, a compaction takes that in. So does all else that is rare:
///
///     create, erase ──┬─ a plain step ──────▶ the store ◀── a compaction
///                     │                                          ▲
///                     └─ within a step, or ─▶ nursery, queue ────┘ when the step ends, or with
///                        a rare one                                keep_order the store is looked at
template <class T, class Config>
class exclusive_core {
    using pool_type = pool_impl<T, Config>;
    using parts_type = pool_state<T, Config>;
    using layout = typename Config::layout;
    using tag_type = typename layout::tag_type;
    using store_type = exclusive_store<T, Config>;

public:
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using pointer = typename parts_type::pointer;

    /// The calling thread has a shard, and has closed the pool's gate, which opens when this ends.
    explicit exclusive_core(pool_type& pool) noexcept
        : pool_(pool), parts_(pool.parts_), mine_(*pool.parts_.mine()) {
        look();
        const whole_step compacted(*this);
    }
    ~exclusive_core() {
        settle_queued();
        write_counts();
        if (parts_.promoted() == 0) {
            parts_.order.forget();
        }
        store_type::end(parts_, false);
        set_exclusive(false);
        pool_.end_frame();
        pool_.open();
    }

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
        if ((special_ & queue_newborns) != 0) [[unlikely]] {
            const settled_step whole(*this);
            auto queued = begin_queued();
            if (!queued.taken()) {
                return 0;
            }
            const calling_step now(*this);
            construct(queued.site());
            return publish_queued(queued, who);
        }
        const slot_index slot = take_slot();
        if (slot == slot_index::none) [[unlikely]] {
            return 0;
        }
        new_object object(*this, slot);
        if (!object.taken()) [[unlikely]] {
            return 0;
        }
        object.construct(construct);
        const value_type handle = publish(slot, object.release());
        if (mine_.created.load(std::memory_order::relaxed) + mine_.erased.load(std::memory_order::relaxed) !=
            usual_count_) [[unlikely]] {
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
        destroy_queued();
        if constexpr (store_type::adds_many) {
            if ((special_ & queue_newborns) == 0 && !watches_births_) {
                return create_many_at_once(count, construct, made, who);
            }
        }
        return create_the_usual_way(
            [&](pool_type& pool) { return pool.create_many(count, construct, made, who); });
    }

    void uncreate(value_type handle, caller who) noexcept { erase(handle, who); }

    bool has_room_for(std::size_t count) const noexcept { return pool_.has_room_for(count); }
    [[noreturn]] void throw_refusal() { pool_.throw_refusal(); }

    value_type reserve() noexcept { return shared().reserve(); }
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
        if ((special_ & (queue_removals | watches_removals | records_lives)) != 0) [[unlikely]] {
            return erase_specially(handle, who);
        }
        return erase_at_once(handle, who, [](location) {}, [] {});
    }

    template <class Handle, class Range>
    std::size_t erase_each(Range& handles, caller who) {
        std::size_t erased = 0;
        for (const Handle each : handles) {
            erased += erase(each.value(), who) ? 1U : 0U;
        }
        return erased;
    }

    template <class Sink>
    bool extract(value_type handle, Sink sink, caller who) {
        const bool taken = pool_.extract(handle, std::move(sink), who);
        settle_queued();
        return taken;
    }

    template <executor Executor, class Predicate>
    std::size_t erase_if(Executor& executor, Predicate predicate, caller who) {
        if ((special_ & within_step) != 0) {
            return pool_.erase_if(executor, predicate, who);
        }
        return while_closed([&](auto&) { return pool_.erase_if(executor, predicate, who); });
    }

    void clear(caller who) noexcept {
        settle_queued();
        if ((special_ & queue_removals) != 0) {
            pool_.clear(who);
            settle_queued();
        } else {
            clear_store(who);
        }
    }

    template <class Sink>
    std::size_t drain(Sink sink, caller who) {
        return while_closed([&](auto&) { return pool_.eraser_.drain(sink, who); });
    }

    void reset(caller who) {
        while_closed([&](auto&) { pool_.reset_alone(who); });
    }

    // ---- Handles and objects

    /// The function that calls this, if the pool records who calls it.
    HANDLEPOOL_ALWAYS_INLINE caller from_here() const noexcept {
        return (special_ & records_lives) != 0 ? parts_.lives.from_here() : caller::unknown;
    }
    caller from_address(std::uint64_t address) const noexcept { return pool_.from_address(address); }
    recorded_life life_of(value_type handle) const { return pool_.life_of(handle); }

    bool contains(value_type handle) const noexcept { return slots_.is_alive_alone(handle); }
    handle_state state(value_type handle) const noexcept { return pool_.state(handle); }
    std::size_t size() const noexcept {
        write_counts();
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
        write_counts();
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
        settle_queued();
        return pool_.store();
    }
    value_type handle_at(std::size_t position) const {
        settle_queued();
        return pool_.handle_at(position);
    }

    // ---- Frames, and the whole pool

    /// Returns what `body(parts)` returns, which works on the compacted pool. Throws what that throws, and
    /// compaction_conflict within a step.
    template <class Body>
    auto while_closed(Body body) {
        if ((special_ & within_step) != 0) {
            pool_.gate_.throw_refused(gate_refusal::within_step);
        }
        settle_queued();
        const whole_step now(*this);
        return body(parts_);
    }

    template <executor Executor>
    compaction_stats compact(Executor& executor, std::size_t budget = unlimited) {
        return while_closed([&](auto&) { return pool_.compact_alone(executor, budget); });
    }
    template <executor Executor>
    std::optional<compaction_stats> try_compact(Executor& executor) {
        return (special_ & within_step) != 0 ? std::nullopt : std::optional(compact(executor));
    }
    bool idle() const noexcept { return !is_queued(); }

    template <class Hook>
    scoped_hook add_destroy_hook(Hook hook, hook_order order) {
        return while_closed([&](auto&) { return pool_.compactor_.add_destroy_hook(std::move(hook), order); });
    }
    template <class Hook>
    scoped_hook add_birth_hook(Hook hook) {
        return while_closed([&](auto&) { return pool_.compactor_.add_birth_hook(std::move(hook)); });
    }

    void shrink_to_fit() {
        while_closed([&](auto&) { pool_.shrink_alone(); });
    }
    bool try_shrink_to_fit() noexcept {
        if ((special_ & within_step) != 0) {
            return false;
        }
        shrink_to_fit();
        return true;
    }

private:
    // What makes a step special, in one word: so a plain one asks once.
    static constexpr std::uint32_t within_step = 1;  // the user's code runs, called by another step, of which
    static constexpr std::uint32_t within_whole = 2; // this concerns the whole pool
    static constexpr std::uint32_t orders_newborns = 4;   // an order has begun, in which they come
    static constexpr std::uint32_t keeps_order = 8;       // the option: holes are closed together
    static constexpr std::uint32_t watches_removals = 16; // a hook, a log, or the history
    static constexpr std::uint32_t records_lives = 32;    // the option
    static constexpr std::uint32_t queue_newborns = within_step | orders_newborns;
    static constexpr std::uint32_t queue_removals = within_step | keeps_order;

    static constexpr std::uint64_t never = ~std::uint64_t{0}; // a count that is none

    // How many objects ahead of the one that is published its slot is asked for.
    static constexpr std::size_t slots_ahead = 16;

    /// A step that calls the user's code.
    class calling_step {
    public:
        explicit calling_step(const exclusive_core& core) noexcept : core_(core), before_(core.special_) {
            core_.special_ = before_ | within_step;
        }
        ~calling_step() { core_.special_ = before_; }

        calling_step(const calling_step&) = delete;
        calling_step& operator=(const calling_step&) = delete;

    private:
        const exclusive_core& core_;
        const std::uint32_t before_;
    };

    /// Takes in, when it ends, what the user's code has left that was called meanwhile.
    class settled_step {
    public:
        explicit settled_step(exclusive_core& core) noexcept : core_(core) {}
        ~settled_step() { core_.settle_step(); }

        settled_step(const settled_step&) = delete;
        settled_step& operator=(const settled_step&) = delete;

    private:
        exclusive_core& core_;
    };

    /// One in which so many objects of the store end, which count as erased.
    class ending_step {
    public:
        ending_step(exclusive_core& core, std::size_t objects) noexcept : core_(core), step_(core) {
            core.ending_ = objects;
        }
        ~ending_step() { core_.ending_ = 0; }

        ending_step(const ending_step&) = delete;
        ending_step& operator=(const ending_step&) = delete;

    private:
        exclusive_core& core_;
        const calling_step step_;
    };

    /// A step that concerns the whole pool, whose counters are right from its begin on, and which an
    /// executor's threads may use. When it ends, nothing waits for a compaction.
    class whole_step {
    public:
        explicit whole_step(const exclusive_core& core) noexcept : core_(core) {
            core_.write_counts();
            store_type::end(core_.parts_, false);
            core_.special_ |= within_step | within_whole;
            core_.set_exclusive(false);
        }
        ~whole_step() {
            inline_executor executor;
            for (bool worked = true; worked && !core_.pool_.compactor_.idle();) {
                const compaction_stats done = core_.pool_.compactor_.run(executor);
                worked = done.removed + done.born != 0;
            }
            core_.set_exclusive(true);
            core_.look();
        }

        whole_step(const whole_step&) = delete;
        whole_step& operator=(const whole_step&) = delete;

    private:
        const exclusive_core& core_;
    };

    /// An object that is made for a slot. Gives slot and place back where that fails.
    class new_object {
    public:
        HANDLEPOOL_ALWAYS_INLINE new_object(exclusive_core& core, slot_index slot) noexcept(memory_by_touch)
            : core_(core), slot_(core.parts_, slot), where_(store_type::take(core.parts_)) {}
        ~new_object() {
            if (where_ != location::nowhere) {
                core_.parts_.objects.poison_objects(where_);
                store_type::give_back(core_.parts_, where_);
                core_.settle_step();
            }
        }

        new_object(const new_object&) = delete;
        new_object& operator=(const new_object&) = delete;

        /// False when there is no place.
        bool taken() const noexcept { return store_type::always_has_places || where_ != location::nowhere; }

        template <class Construct>
        HANDLEPOOL_ALWAYS_INLINE void construct(Construct& construct) {
            parts_type& parts = core_.parts_;
            parts.objects.unpoison_objects(where_);
            const calling_step now(core_);
            construct(parts.newborns.memory_at(parts.objects, where_));
        }
        location release() noexcept {
            slot_.release();
            return std::exchange(where_, location::nowhere);
        }

    private:
        exclusive_core& core_;
        taken_slot<T, Config> slot_;
        location where_;
    };

    /// Objects that are made at neighbouring places: all, or none.
    class new_objects {
    public:
        new_objects(exclusive_core& core, std::size_t count) noexcept(memory_by_touch)
            : core_(core), count_(count), first_(store_type::take_many(core.parts_, count)), step_(core) {}
        ~new_objects() {
            if (made_ != count_) {
                core_.parts_.objects.poison_objects(further(first_, made_));
                for (; made_ != 0; --made_) {
                    core_.parts_.newborns.end_object(core_.parts_.objects, further(first_, made_ - 1));
                }
            }
        }

        new_objects(const new_objects&) = delete;
        new_objects& operator=(const new_objects&) = delete;

        /// Returns the first place.
        template <class Construct>
        location construct(Construct& construct) {
            parts_type& parts = core_.parts_;
            for (std::size_t i = 0; i != count_; ++i) {
                const location where = further(first_, i);
                parts.objects.unpoison_objects(where);
                construct(parts.newborns.memory_at(parts.objects, where));
                made_ = i + 1;
            }
            return first_;
        }

    private:
        exclusive_core& core_;
        const std::size_t count_;
        const location first_;
        const calling_step step_;
        std::size_t made_ = 0;
    };

    static location further(location first, std::size_t places) noexcept {
        return location{raw(first) + static_cast<std::uint32_t>(places)};
    }

    /// A slot for the next object, or none.
    HANDLEPOOL_ALWAYS_INLINE slot_index take_slot() noexcept {
        return parts_.allocator.has_claimed() ? parts_.allocator.take_claimed() : take_slot_elsewhere();
    }
    HANDLEPOOL_NOINLINE slot_index take_slot_elsewhere() noexcept {
        const slot_index slot = parts_.allocator.take_elsewhere_alone(mine_);
        return slot == slot_index::none && destroy_queued() ? take_slot_elsewhere() : slot;
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
        const settled_step whole(*this);
        taken_slots<T, Config> taken(parts_, count);
        if (!parts_.allocator.can_give(mine_, count) || !taken.take(mine_)) {
            return false;
        }
        const location first = new_objects(*this, count).construct(construct);
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
        release(parts, slot, tag);
        if (parts.ends_objects()) {
            settle_step();
        }
        return true;
    }
    HANDLEPOOL_NOINLINE bool erase_specially(value_type handle, caller who) noexcept {
        if ((special_ & queue_removals) != 0) {
            return erase_queued(handle, who);
        }
        const auto note = [this, handle, who](location) { note_end(handle, life_event::erased, who); };
        if ((special_ & watches_removals) == 0) {
            return erase_at_once(handle, who, note, [] {});
        }
        const bool erased = erase_at_once(
            handle, who,
            [this, handle, note](location where) {
                note(where);
                const ending_step now(*this, 1);
                pool_.compactor_.report_removal(layout::without_user(handle), where);
            },
            [this] { note_positions(); });
        settle_step();
        return erased;
    }
    /// The store has become smaller, of which somebody may be told.
    void note_positions() noexcept { parts_.watch.note_positions(parts_type::placement::positions(parts_)); }

    /// Ends an object of the store, which counts as erased already.
    void end_object(value_type handle, location where) noexcept {
        if (parts_.ends_objects()) {
            const ending_step now(*this, 1);
            parts_.end_object(handle, where);
        } else {
            parts_.objects.poison_objects(where);
        }
    }

    /// Frees the slot of an object that had this tag, or withdraws it.
    void release(parts_type& parts, slot_index slot, tag_type tag) noexcept {
        if (layout::generation_of(tag) == layout::last_generation) [[unlikely]] {
            parts.allocator.retire(1);
            ++retired_;
        } else {
            parts.allocator.release(slot);
        }
    }

    /// release() of the slots of dead objects, one of which may have had the last generation.
    template <class SlotAt>
    void release_run(std::size_t count, SlotAt slot_at, bool last_generation) noexcept {
        if (!last_generation) [[likely]] {
            parts_.allocator.release_many(count, slot_at);
            return;
        }
        for (std::size_t i = 0; i != count; ++i) {
            const slot_index slot = slot_at(i);
            release(parts_, slot, parts_.table.last_object(parts_.table.tag_relaxed(slot)));
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

    /// Their handles resolve no more.
    void end_all_objects(bool is_watched, caller who) noexcept {
        const ending_step now(*this, parts_.promoted());
        store_type::for_each(parts_, [this, is_watched, who](location where, slot_index slot) {
            if (is_watched) {
                const tag_type tag = parts_.table.last_object(parts_.table.tag_relaxed(slot));
                const value_type handle = parts_.table.handle_of(slot, tag);
                note_end(handle, life_event::cleared, who);
                pool_.compactor_.report_removal(handle, where);
                parts_.end_object(handle, where);
            } else {
                parts_.newborns.end_object(parts_.objects, where);
            }
        });
    }

    /// No handle resolves when the first object ends.
    void clear_store(caller who) noexcept {
        const bool is_watched = (special_ & (watches_removals | records_lives)) != 0;
        if (is_watched || parts_.ends_objects()) {
            bool last_generation = false;
            store_type::for_each_run(parts_, [&](std::size_t count, auto slot_at) {
                last_generation |= parts_.table.kill_alone(count, slot_at);
            });
            end_all_objects(is_watched, who);
            store_type::for_each_run(parts_, [&](std::size_t count, auto slot_at) {
                release_run(count, slot_at, last_generation);
            });
        } else {
            store_type::for_each_run(parts_, [&](std::size_t count, auto slot_at) {
                release_run(count, slot_at, parts_.table.kill_alone(count, slot_at));
            });
        }
        store_type::remove_all(parts_);
        settle_step();
    }

    // ---- What goes the way that it goes in a pool that several threads use

    HANDLEPOOL_NOINLINE emplace_transaction<T, Config> begin_queued() noexcept(memory_by_touch) {
        if (parts_.promoted() == 0 && (special_ & within_step) == 0) { // the end of all that were in an order
            parts_.order.forget();
            special_ &= ~orders_newborns;
        }
        shared();
        return emplace_transaction<T, Config>(parts_, mine_);
    }
    HANDLEPOOL_NOINLINE value_type publish_queued(emplace_transaction<T, Config>& made, caller who) noexcept {
        return made.publish(who);
    }
    /// Returns `create(pool)`, which runs constructors.
    template <class Create>
    auto create_the_usual_way(Create create) {
        const settled_step whole(*this);
        pool_type& pool = shared();
        const calling_step now(*this);
        return create(pool);
    }
    HANDLEPOOL_NOINLINE bool erase_queued(value_type handle, caller who) noexcept {
        const bool erased = pool_.erase(handle, who);
        settle_step();
        return erased;
    }

    /// The pool, for what creates something in it.
    pool_type& shared() noexcept {
        destroy_queued();
        if ((special_ & within_whole) == 0) {
            store_type::end(parts_, (special_ & within_step) != 0);
        }
        return pool_;
    }

    /// Takes in what the user's code has left that this step has called.
    HANDLEPOOL_NOINLINE void settle_step() noexcept {
        const bool is_born = mine_.created.load(std::memory_order::relaxed) != created_seen_;
        // Where order is kept, it waits until somebody looks; but who is to hear of births hears at once.
        if ((special_ & keeps_order) == 0 || (watches_births_ && is_born)) {
            settle_queued();
        }
    }
    // noexcept, as the compaction is that calls hooks otherwise: g++ needs a quarter less for a creation.
    HANDLEPOOL_NOINLINE void finish_birth(value_type handle, caller who) noexcept {
        note_beginning(handle, who);
        if (watches_births_) {
            const calling_step now(*this);
            pool_.compactor_.report_birth(handle, place_of(handle));
        }
        if (is_queued()) {
            settle_step();
        }
    }
    /// Takes in all that waits for a compaction; but within a step, the end of that step does so.
    void settle_queued() const noexcept {
        if (is_queued() && (special_ & within_step) == 0) [[unlikely]] {
            const whole_step now(*this);
        }
    }
    /// Destroys what was erased and waits, so that there is room. Returns whether anything was.
    bool destroy_queued() noexcept {
        const bool waits = mine_.erased.load(std::memory_order::relaxed) != erased_seen_;
        if (waits) {
            settle_queued();
        }
        return waits && (special_ & within_step) == 0;
    }
    /// Returns whether something waits: this thread has counted it then, as in a pool that several threads
    /// use, while plain steps are counted by write_counts().
    bool is_queued() const noexcept {
        return mine_.created.load(std::memory_order::relaxed) != created_seen_ ||
               mine_.erased.load(std::memory_order::relaxed) != erased_seen_;
    }

    /// Says whether this thread alone uses the pool.
    void set_exclusive(bool exclusive) const noexcept {
        parts_.allocator.set_alone(exclusive);
        if constexpr (checked) {
            pool_.exclusive_thread_ = exclusive ? parts_.shards.thread_index() : pool_type::nobody;
        }
    }

    /// Counts what plain steps have created and erased, in the counters of the thread and of the compactor.
    /// Exact also while an object ends.
    void write_counts() const noexcept {
        if ((special_ & within_whole) != 0) {
            return;
        }
        const std::uint64_t size = parts_.promoted() - ending_;
        const std::uint64_t removed = this->removed();
        const std::uint64_t erased = removed - std::exchange(removed_seen_, removed);
        const std::uint64_t created = size + erased - std::exchange(size_seen_, size);
        add(mine_.created, created);
        add(mine_.erased, erased);
        created_seen_ += created;
        erased_seen_ += erased;
        expect_usual_count();
        pool_.compactor_.account_for(erased, created);
    }

    /// Objects that plain steps have erased, from some number on: each frees its slot or withdraws it. It
    /// would cost an erase a tenth of its time to count them.
    std::uint64_t removed() const noexcept { return parts_.allocator.released() + retired_ + ending_; }

    void expect_usual_count() const noexcept {
        usual_count_ =
            watches_births_ || (special_ & records_lives) != 0 ? never : created_seen_ + erased_seen_;
    }

    /// Remembers the state of the pool that plain steps begin from.
    void look() const noexcept {
        special_ = (parts_.order.size() != 0 ? orders_newborns : 0) |
                   (parts_.geometry.keep_order ? keeps_order : 0) |
                   (pool_.compactor_.watches_removals() ? watches_removals : 0) |
                   (parts_.lives.is_on() ? records_lives : 0);
        watches_births_ = pool_.compactor_.watches_births();
        created_seen_ = mine_.created.load(std::memory_order::relaxed);
        erased_seen_ = mine_.erased.load(std::memory_order::relaxed);
        expect_usual_count();
        size_seen_ = parts_.promoted();
        removed_seen_ = removed();
    }

    pool_type& pool_;
    parts_type& parts_;
    shard<policy>& mine_;
    // Copies, which never change.
    const slot_lookup<Config> slots_{parts_.table.lookup()};
    const object_addresses<T> places_{parts_.objects.places()};
    // Mutable: to look at a pool may take in what waits.
    mutable std::uint32_t special_ = 0;
    mutable bool watches_births_ = false; // a hook, or the history
    // What this thread has counted together when nothing waits; never, if births are watched.
    mutable std::uint64_t usual_count_ = 0;
    std::uint64_t retired_ = 0; // slots that plain steps have withdrawn
    std::size_t ending_ = 0;    // objects of the store whose destructors are to end
    mutable std::uint64_t removed_seen_ = 0;
    mutable std::uint64_t size_seen_ = 0;
    mutable std::uint64_t created_seen_ = 0;
    mutable std::uint64_t erased_seen_ = 0;
};

} // namespace handlepool::detail
