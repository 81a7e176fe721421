// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/pool/pool_impl.hpp>
#include <handlepool/detail/pool/spawner_round.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace handlepool::detail {

/// Which spawner it is, of which round.
template <class T, class Config>
struct spawner_origin {
    spawner_round<T, Config>& round;
    std::size_t number;
};

/// A pool as a spawner has it: the functions of pool_impl that a task may call. They create in the spawner's
/// own shard, from what was dealt out to it, and leave all that ends a handle's life to the next compaction.
/// What only looks is the pool's.
template <class T, class Config>
class spawner_core {
    using pool_type = pool_impl<T, Config>;
    using parts_type = pool_state<T, Config>;
    using layout = typename Config::layout;
    using round_type = spawner_round<T, Config>;

public:
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using pointer = typename parts_type::pointer;

    explicit spawner_core(spawner_origin<T, Config> of) noexcept
        : round_(of.round),
          number_(of.number),
          pool_(of.round.pool()),
          shard_(of.round.shard_of(of.number)) {}

    spawner_core(const spawner_core&) = delete;
    spawner_core& operator=(const spawner_core&) = delete;

    pool_type& pool() noexcept { return pool_; }
    const pool_type& pool() const noexcept { return pool_; }
    round_type& its_round() noexcept { return round_; }
    const round_type& its_round() const noexcept { return round_; }
    std::size_t number() const noexcept { return number_; }

    void expect_in_use() const noexcept { pool_.expect_in_use(); }
    void expect_access() const noexcept { pool_.expect_access(); }

    // ---- What it creates. After its end there is no room.

    template <class Construct>
    HANDLEPOOL_ALWAYS_INLINE value_type create(Construct&& construct, caller who) {
        return round_.is_open() ? pool_.create_in(shard_, construct, who) : 0;
    }
    template <class Construct>
    value_type create_with(Construct&& construct, caller who) {
        return round_.is_open() ? pool_.create_with_in(shard_, construct, who) : 0;
    }
    template <class Construct, class Made>
    bool create_many(std::size_t count, Construct construct, Made made, caller who) {
        return round_.is_open() && pool_.create_many_in(shard_, count, construct, made, who);
    }
    bool has_room_for(std::size_t count) const noexcept { return count <= round_.left_to(number_); }

    /// Takes back what it has just created, and nobody has seen.
    void uncreate(value_type handle, caller who) noexcept { pool_.erase_in(&shard_, handle, who); }

    value_type reserve() noexcept { return round_.is_open() ? pool_.reserve_in(shard_) : 0; }
    template <class Construct>
    fulfill_outcome fulfill(value_type handle, Construct&& construct, caller who) {
        round_.expect_open(number_);
        return pool_.fulfill_in(&shard_, handle, construct, who);
    }
    bool cancel(value_type handle, caller who) noexcept {
        return round_.is_open() && pool_.cancel_in(&shard_, handle, who);
    }

    [[noreturn]] void throw_refusal() {
        round_.expect_open(number_);
        pool_.throw_share_exhausted(number_);
    }
    [[noreturn]] void throw_unfulfilled(fulfill_outcome why, value_type handle) {
        if (why == fulfill_outcome::not_reserved) {
            pool_.throw_unfulfilled(why, handle);
        }
        throw_refusal();
    }

    // ---- What it leaves to the next compaction. Throw std::bad_alloc, and spawner_conflict after its end.

    /// Return whether the object is alive.
    bool erase(value_type handle, caller who) {
        round_.expect_open(number_);
        const bool is_alive = contains(handle);
        if (is_alive) {
            pool_.deferred_ends_of_spawners().erase(number_, layout::without_user(handle), who);
        }
        return is_alive;
    }
    template <class Sink>
    bool extract(value_type handle, Sink sink, caller who) {
        round_.expect_open(number_);
        const bool is_alive = contains(handle);
        if (is_alive) {
            pool_.deferred_ends_of_spawners().extract(number_, layout::without_user(handle), std::move(sink),
                                                      who);
        }
        return is_alive;
    }

    /// Returns the handle that the object will have.
    value_type revoke(value_type handle, caller who) {
        round_.expect_open(number_);
        const value_type given = pool_.handle_after(handle);
        if (given != 0) {
            pool_.deferred_ends_of_spawners().revoke(number_, layout::without_user(handle), who);
        }
        return given;
    }

    // ---- What only looks

    HANDLEPOOL_ALWAYS_INLINE caller from_here() const noexcept { return pool_.from_here(); }
    caller from_site(std::uint64_t site) const noexcept { return pool_.from_site(site); }
    recorded_life life_of(value_type handle) const { return pool_.life_of(handle); }
    bool contains(value_type handle) const noexcept { return pool_.contains(handle); }
    handle_state state(value_type handle) const noexcept { return pool_.state(handle); }
    std::size_t size() const noexcept { return pool_.size(); }
    std::size_t capacity() const noexcept { return pool_.capacity(); }
    std::uint32_t id() const noexcept { return pool_.id(); }
    const std::string& name() const noexcept { return pool_.name(); }
    std::string describe(value_type handle) const { return pool_.describe(handle); }

    pointer find(value_type handle) const noexcept { return pool_.find(handle); }
    template <class Lookup>
    Lookup lookup() const noexcept {
        return pool_.template lookup<Lookup>();
    }
    pointer at(value_type handle) const { return pool_.at(handle); }
    pointer living(value_type handle) const noexcept { return pool_.living(handle); }
    pointer place_of(value_type handle) const noexcept { return pool_.place_of(handle); }
    const object_type<T>& type() const noexcept { return pool_.type(); }
    const pool_geometry& geometry() const noexcept { return pool_.geometry(); }
    store_view<T, Config> store() const noexcept { return pool_.store(); }
    value_type handle_at(std::size_t position) const { return pool_.handle_at(position); }

private:
    using shard_type = shard<policy>;

    round_type& round_;
    const std::size_t number_;
    pool_type& pool_;
    shard_type& shard_;
};

} // namespace handlepool::detail
