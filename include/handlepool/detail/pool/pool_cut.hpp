// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/pool/pool_impl.hpp>
#include <handlepool/error.hpp>
#include <handlepool/executor.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace handlepool::detail {

/// A pool as it stands between two frames, for who puts it down and takes it up again: its gate is closed
/// while this lives, and all that was created and erased is in the store. Nobody else may use the pool.
///
/// ```
///                        the gate is closed
///  ──▶ compaction ──▶ the state of a frame ──▶ what restores another one ──▶ end_frame() ──▶
/// ```
template <class T, class Config>
class pool_cut {
    using pool_type = pool_impl<T, Config>;
    using shard_type = shard<typename Config::policy>;

public:
    using parts_type = pool_state<T, Config>;
    using layout = typename Config::layout;
    using value_type = typename layout::value_type;

    /// Throws compaction_conflict, too_many_threads and foreign_module.
    explicit pool_cut(pool_type& pool)
        : pool_(pool),
          mine_(pool.whole().parts.shards.mine_or_throw(pool.whole().gate.owner())),
          closed_(pool.whole().gate.lock_or_throw()) {
        compact();
    }

    /// Closes the gate alone, and ends no frame: compact() is still to be called. Not if that would wait or
    /// is refused, as is_closed() says. Throws too_many_threads and foreign_module.
    pool_cut(pool_type& pool, std::try_to_lock_t)
        : pool_(pool),
          mine_(pool.whole().parts.shards.mine_or_throw(pool.whole().gate.owner())),
          closed_(pool.whole().gate.try_lock()) {}
    bool is_closed() const noexcept { return bool(closed_); }

    pool_cut(const pool_cut&) = delete;
    pool_cut& operator=(const pool_cut&) = delete;

    /// Another one when the pool was reset.
    static typename layout::tag_type fresh_tag_of(const pool_type& pool) noexcept {
        return pool.whole().parts.fresh_tag;
    }
    /// What the pool is made of, for a look while nobody uses it.
    static const parts_type& parts_of(const pool_type& pool) noexcept { return pool.whole().parts; }
    /// Returns whether nothing was created or erased since the last compaction.
    static bool is_idle(const pool_type& pool) noexcept { return pool.whole().compactor.idle(); }

    std::uint32_t id() const noexcept { return pool_.id(); }

    parts_type& parts() noexcept { return pool_.whole().parts; }
    const parts_type& parts() const noexcept { return pool_.whole().parts; }
    std::size_t reserved() const noexcept { return pool_.whole().reservations.count(); }

    /// Ends the life of an object, which compact() destroys.
    void erase(value_type handle, caller who, life_event event) noexcept {
        pool_.whole().eraser.erase(handle, who, event);
    }

    /// Ends the lives of all objects. Returns whether there were any.
    bool clear() noexcept {
        const bool any = pool_.size() != 0;
        if (any) { // else it would look at all slots
            pool_.clear(parts().lives.from_here());
        }
        return any;
    }

    /// Ends a frame with nothing left to be done, which is none of those in which shards take turns: else
    /// compactions with a budget would depend on whether somebody has looked. Throws compaction_conflict if
    /// something is left again and again.
    void compact() {
        inline_executor executor;
        const std::uint64_t turn = this->turn();
        bool idle = false;
        for (int i = 0; i != most_compactions && !idle; ++i) { // hooks may have created and erased
            pool_.whole().compactor.run(executor);
            idle = pool_.whole().compactor.idle();
        }
        set_turn(turn);
        pool_.whole().end_frame();
        if (!idle) {
            throw_exception(compaction_conflict(
                quoted_pool(pool_.name()) + ": captured or restored while others create or erase objects"));
        }
    }

    /// The same if anything was created or erased since. Returns whether there was anything.
    bool settle() {
        const bool waits = !is_idle(pool_);
        if (waits) {
            compact();
        }
        return waits;
    }

    /// How often a pool_cut has made another pool of it.
    std::uint64_t rewrites() const noexcept { return pool_.whole().rewrites; }
    void count_rewrite() noexcept { ++pool_.whole().rewrites; }

    /// Tells those who follow the pool that it has become another one.
    void end_frame() noexcept { pool_.whole().end_frame(); }

    /// Counts what came into the pool, and what left it, without being created or erased.
    void count_objects(std::size_t came, std::size_t left) noexcept {
        add(mine_.created, came);
        add(mine_.erased, left);
        pool_.whole().compactor.account_for(left, came);
    }
    void count_reserved(std::size_t came, std::size_t left) noexcept {
        add(mine_.reserved, came);
        add(mine_.closed, left);
    }

    /// What is remembered of a slot that has this tag again is undone from there on.
    void take_back_lives(slot_index slot, typename layout::tag_type tag) noexcept {
        parts().lives.take_back(slot, layout::generation_of(tag));
        pool_.whole().compactor.history().take_back(slot, tag);
    }
    /// What is remembered of all slots was another pool's.
    void forget_lives() noexcept {
        parts().lives.reset();
        pool_.whole().compactor.history().reset();
    }

    /// Which shard comes first in the next compaction with a budget.
    std::uint64_t turn() const noexcept { return pool_.whole().compactor.turn(); }
    void set_turn(std::uint64_t turn) noexcept { pool_.whole().compactor.set_turn(turn); }

    /// Returns whether anybody is to be told of objects that came: hooks, or the history.
    bool watches_births() noexcept { return pool_.whole().compactor.watches_births(); }
    /// Tells the hooks and the history of the object that came into a slot, unless a hook has ended it:
    /// another hook may have given it another handle.
    void report_birth(slot_index slot) {
        const auto tag = parts().table.tag_relaxed(slot);
        if (layout::is_alive(tag)) {
            pool_.whole().compactor.report_birth(parts().table.handle_of(slot, tag),
                                                 parts().objects.at(parts().table.location_of(slot)));
        }
    }

private:
    static constexpr int most_compactions = 16;

    pool_type& pool_;
    shard_type& mine_;
    decltype(pool_.whole().gate.lock_or_throw()) closed_;
};

} // namespace handlepool::detail
