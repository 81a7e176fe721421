// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/parts/shard.hpp>
#include <handlepool/detail/recorder/life_recorder.hpp>
#include <handlepool/detail/slots/index_allocator.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace handlepool::detail {

/// Slots that the freelist counts as in use, and that have no object. The counters are read one after the
/// other, while other threads go on.
struct unused_slots {
    returned_totals returned; // given back unused
    std::size_t retired = 0;
    std::size_t idle = 0; // held by shards

    friend bool operator==(const unused_slots&, const unused_slots&) = default;
};

/// Gives slots to shards: from the shard's claim, which meets other threads once in `claim_size` objects,
/// then from slots that any shard gave back unused, and at last from the freelist.
///
/// No more slots go out than the capacity, except as many as idle shards hold: those must not make the pool
/// look full. A retired slot is replaced by a fresh one until the slot limit is reached.
template <class Config>
class slot_allocator {
public:
    using policy = typename Config::policy;

    slot_allocator(const allocation_label& what_for, const pool_geometry& geometry, slot_table<Config>& table,
                   const shard_table<policy>& shards, const life_recorder<policy>& lives)
        : geometry_(geometry),
          slots_(table),
          shards_(shards),
          lives_(lives),
          free_(what_for, {.index_limit = geometry.slot_limit,
                           .waiting_limit = geometry.object_limit,
                           .max_threads = geometry.max_threads,
                           .reuse_delay = geometry.reuse_delay}) {}

    /// Shard: takes a slot. None only when at some moment of the call no slot was left. Wait-free while the
    /// shard has one, else lock-free.
    slot_index take(shard<policy>& mine) noexcept {
        const slot_index taken = mine.claim.take([this](slot_index later) { prefetch(later); });
        return taken != slot_index::none ? taken : take_anew(mine);
    }

    // Like take(), while no other thread uses the pool: what was released before goes out too. Most slots
    // are claimed in place; where none of those is left, take_elsewhere_alone() takes one. Wait-free.

    bool has_claimed() const noexcept { return free_.claimed_left() != 0; }
    slot_index take_claimed() noexcept { return slot_index{free_.take_claimed()}; }

    /// Slots that were claimed while several threads used the pool come first, then freed ones, which are
    /// claimed in place, and then fresh ones.
    HANDLEPOOL_NOINLINE slot_index take_elsewhere_alone(shard<policy>& mine) noexcept {
        if (mine.claim.left() != 0) {
            return mine.claim.take_one();
        }
        publish();
        const std::size_t in_use_limit = geometry_.capacity + retired();
        if (const std::size_t count = free_.claim_in_place(policy::freelist_block, in_use_limit);
            count != 0) {
            if (list().fresh() > slots_in_cache) {
                for (std::size_t i = 0; i != count; ++i) {
                    prefetch(slot_index{free_.claimed(i)});
                }
            }
            return take_claimed();
        }
        const slot_index first = mine.claim.refill(shard_share(), [&](std::uint32_t* out, std::size_t most) {
            return free_.claim_alone(out, most, in_use_limit);
        });
        return first != slot_index::none ? first : refill(mine);
    }

    /// Shard: returns whether there are `count` slots for it. False only when at some moment of the call
    /// there were not, unless meanwhile a compaction freed just as many as others claimed. Lock-free.
    bool can_give(const shard<policy>& mine, std::size_t count) noexcept {
        if (is_spawners(mine)) {
            return count <= left_to(mine);
        }
        write_through_if_alone();
        return try_on_stable([this] { return std::pair{list().in_use(), unused()}; },
                             [&](const auto& now) {
                                 const auto& [in_use, of_them] = now;
                                 return count + in_use <= geometry_.capacity + of_them.retired +
                                                              of_them.idle + of_them.returned.waiting();
                             });
    }

    /// Shard: takes `count` slots, writes their numbers to `out`, and returns how many it took. Fewer only
    /// when at some moment of the call no more were left. Lock-free.
    std::size_t take_many(shard<policy>& mine, std::uint32_t* out, std::size_t count) noexcept {
        write_through_if_alone();
        std::size_t taken = 0;
        // Those that the shard holds come first, so that it doesn't look idle beside them.
        while (taken != count && mine.claim.left() != 0) {
            out[taken++] = raw(take(mine));
        }
        while (taken != count) {
            const std::size_t more = is_spawners(mine) ? take_dealt(mine, out + taken, count - taken)
                                                       : claim_some(out + taken, count - taken);
            if (more == 0) {
                break;
            }
            taken += more;
        }
        return taken;
    }

    /// Any thread: gives back a slot that was taken and not used, to whoever wants it next. Wait-free.
    void give_back(slot_index slot) noexcept { free_.give_back(raw(slot)); }

    /// Compaction: frees the slot of a destroyed object; it goes out again after publish().
    void release(slot_index slot) noexcept { free_.release(raw(slot)); }
    /// The same for several; `slot_at(i)` is one of them.
    template <class SlotAt>
    void release_many(std::size_t count, SlotAt slot_at) noexcept {
        free_.release_many(count, [slot_at](std::size_t i) { return raw(slot_at(i)); });
    }
    /// Any thread: withdraws `count` slots for good, which were used up. Wait-free.
    void retire(std::size_t count) noexcept {
        if (count != 0) { // rarely: the exchange is dear
            retired_.fetch_add(count, std::memory_order::relaxed);
        }
    }
    void publish() noexcept { free_.publish(); }

    /// Whether one thread uses the pool alone: then slots go out again without a publish(). It says so
    /// itself.
    void set_alone(bool alone) noexcept {
        write_through();
        alone_ = alone;
    }
    /// By the thread that is alone: lets the counters, and others, see what was released and taken.
    void write_through() noexcept {
        publish();
        free_.end_claim();
    }

    // ---- Spawners, among which the slots are dealt out

    /// To as many spawners as there are weights. While nobody else uses the allocator. Throws std::bad_alloc.
    void open_deal(std::span<const std::uint32_t> weights) {
        // Those that are claimed for what a compaction calls don't make the pool look full.
        free_.open_deal(weights, geometry_.capacity + retired() + least(held(), geometry_.shard_slack));
    }
    /// How many slots a spawner may still take.
    std::size_t left_to(const shard<policy>& spawner) const noexcept {
        return free_.is_dealt() ? spawner.claim.left() + free_.left_of_dealt(number_of(spawner)) : 0;
    }
    /// Those of a spawner that it has not used are taken from it. Before close_deal().
    void take_back(shard<policy>& spawner) noexcept {
        free_.put_back_dealt(number_of(spawner), spawner.claim.left());
        spawner.claim.reset();
    }
    void close_deal() noexcept { free_.close_deal(); }

    /// Compaction: slots ever released.
    std::uint64_t released() const noexcept { return free_.released(); }

    std::size_t retired() const noexcept { return retired_.load(std::memory_order::relaxed); }
    /// Returns whether all slots are retired except those that the reuse delay holds back. These can't go
    /// out, because no others will be freed after them.
    bool used_up() const noexcept { return retired() + geometry_.reuse_delay >= geometry_.slot_limit; }

    /// Slots that shards hold and don't use.
    std::size_t held() const noexcept {
        return static_cast<std::size_t>(
            shards_.sum([](const shard<policy>& one) { return one.claim.left(); }));
    }
    /// Slots that wait for their next object, freed or given back unused.
    std::size_t waiting() const noexcept { return free_.list().waiting() + free_.returned().waiting(); }

    const typename Config::freelist& list() const noexcept { return free_.list(); }

    /// The first shards, which can hold slots between two frames.
    std::size_t claiming_shards() const noexcept { return geometry_.spawners == 0 ? shards_.count() : 1; }

    /// For captures, while nobody else uses the pool.
    index_allocator<policy, typename Config::freelist>& indices() noexcept { return free_; }
    const index_allocator<policy, typename Config::freelist>& indices() const noexcept { return free_; }
    void set_retired(std::size_t count) noexcept { retired_.store(count, std::memory_order::relaxed); }

    /// Puts all slots back, retired ones too, or retires all. Only while nobody else uses the pool, and after
    /// the shards have forgotten theirs.
    void reset(bool retire_all) noexcept {
        free_.reset(retire_all ? geometry_.slot_limit : 0);
        retired_.store(retire_all ? geometry_.slot_limit : 0, std::memory_order::relaxed);
    }

    memory_use memory() const noexcept { return memory_of(free_); }

private:
    /// Asks for what the owner of a slot will write. A hint.
    void prefetch(slot_index slot) const noexcept {
        slots_.prefetch_slot(slot);
        lives_.prefetch(slot);
    }

    HANDLEPOOL_NOINLINE slot_index take_anew(shard<policy>& mine) noexcept {
        const slot_index first = refill(mine);
        for (const std::uint32_t soon : mine.claim.first_unused()) { // which no earlier take() has asked for
            prefetch(slot_index{soon});
        }
        return first;
    }

    slot_index refill(shard<policy>& mine) noexcept {
        if (is_spawners(mine)) {
            return mine.claim.refill(policy::claim_size, [&](std::uint32_t* out, std::size_t most) {
                return take_dealt(mine, out, most);
            });
        }
        write_through_if_alone();
        const slot_index first = mine.claim.refill(
            shard_share(), [this](std::uint32_t* out, std::size_t most) { return claim(out, most, 0); });
        return first != slot_index::none ? first
                                         : mine.claim.refill(1, [this](std::uint32_t* out, std::size_t) {
                                               return claim_beyond_capacity(out);
                                           });
    }

    /// The shards of spawners come after the first one, before those of threads. That first one has no
    /// number: 0 - 1 is beyond all spawners.
    bool is_spawners(const shard<policy>& one) const noexcept { return number_of(one) < geometry_.spawners; }
    static std::uint32_t number_of(const shard<policy>& spawner) noexcept {
        return spawner.newborns.shard - 1U;
    }
    std::size_t take_dealt(const shard<policy>& spawner, std::uint32_t* out, std::size_t wanted) noexcept {
        return free_.is_dealt() ? free_.take_dealt(number_of(spawner), out, wanted) : 0;
    }

    void write_through_if_alone() noexcept {
        if (alone_) {
            write_through();
        }
    }

    /// Slots that a shard claims at once.
    std::size_t shard_share() const noexcept {
        const std::size_t share = claim_share(geometry_.capacity, claiming_shards(), policy::claim_divisor);
        return least<std::size_t>(greatest<std::size_t>(share, 1), policy::claim_size);
    }

    std::size_t claim_some(std::uint32_t* out, std::size_t wanted) noexcept {
        const std::size_t some = claim(out, wanted, 0);
        return some != 0 ? some : claim_beyond_capacity(out);
    }

    /// Takes one slot beyond the capacity, as long as idle shards hold at least as many unused. Returns how
    /// many it took.
    std::size_t claim_beyond_capacity(std::uint32_t* out) noexcept {
        return try_on_stable(
            [this] { return unused(); },
            [&](const unused_slots& now) { return claim(out, 1, least(now.idle, geometry_.shard_slack)); });
    }

    unused_slots unused() const noexcept {
        // The sum comes last, also after `in_use`, because it takes its time: a shard that claims meanwhile
        // may be missing in it, and then the counters before it have changed.
        return {.returned = free_.returned(), .retired = retired(), .idle = held()};
    }

    /// Returns what `attempt(look())` returns as soon as that is a success. A failure counts only if look()
    /// still returns the same afterwards: then there was a moment at which nothing was left. Lock-free: what
    /// changes it is the progress of another thread.
    template <class Look, class Attempt>
    static auto try_on_stable(Look look, Attempt attempt) noexcept {
        auto before = look();
        while (true) {
            const auto got = attempt(before);
            if (got) {
                return got;
            }
            const auto now = look();
            if (now == before) {
                return got;
            }
            before = now;
        }
    }

    std::size_t claim(std::uint32_t* out, std::size_t wanted, std::size_t beyond_capacity) noexcept {
        return free_.claim(out, wanted, geometry_.capacity + retired() + beyond_capacity);
    }

    // As many are probably in the cache, and prefetching costs more than it gains.
    static constexpr std::size_t slots_in_cache = 65536;

    pool_geometry geometry_;
    slot_table<Config>& slots_;
    const shard_table<policy>& shards_;
    const life_recorder<policy>& lives_;
    index_allocator<policy, typename Config::freelist> free_;
    typename policy::template atomic<std::size_t> retired_{0};
    bool alone_ = false;
};

} // namespace handlepool::detail
