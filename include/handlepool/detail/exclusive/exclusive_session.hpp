// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/exclusive/exclusive_store.hpp>
#include <handlepool/detail/pool/pool_impl.hpp>
#include <handlepool/detail/pool/whole_pool.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/stats.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace handlepool::detail {

/// A pool while one thread has it alone: what makes a step special, what waits for a compaction meanwhile,
/// and how many objects plain steps have created and erased. Each call of the view is a *step*:
///
/// ```
///   plain          creates or erases at once, calls nobody, and counts nothing
///   calling_step   runs the user's code; whatever that creates and erases is queued
///   ending_step    a calling one, within which objects of the store end
///   settled_step   takes in, when it ends, what was queued
///   whole_step     concerns the whole pool, for which all counts are written first
/// ```
template <class T, class Config>
class exclusive_session {
    using pool_type = pool_impl<T, Config>;
    using whole_type = whole_pool<T, Config>;
    using parts_type = pool_state<T, Config>;
    using store_type = exclusive_store<T, Config>;
    using shard_type = shard<typename Config::policy>;
    using layout = typename Config::layout;
    using tag_type = typename layout::tag_type;

public:
    /// The calling thread has a shard, and has closed the pool's gate, which opens when this ends.
    explicit exclusive_session(pool_type& pool) noexcept
        : pool_(pool), parts_(pool.whole().parts), mine_(*parts_.mine()) {
        look();
        const whole_step compacted(*this);
    }
    ~exclusive_session() {
        settle_queued();
        write_counts();
        if (parts_.promoted() == 0) {
            parts_.order.forget();
        }
        store_type::end(parts_, false);
        whole().set_exclusive(false);
        whole().end_frame();
        whole().gate.open();
    }

    exclusive_session(const exclusive_session&) = delete;
    exclusive_session& operator=(const exclusive_session&) = delete;

    pool_type& pool() const noexcept { return pool_; }
    whole_type& whole() const noexcept { return pool_.whole(); }
    parts_type& parts() const noexcept { return parts_; }
    shard_type& mine() const noexcept { return mine_; }

    /// The pool, made ready for a function that creates objects in the nursery, as threads that share it do.
    pool_type& shared() noexcept {
        destroy_queued();
        if ((special_ & within_whole) == 0) {
            store_type::end(parts_, is_within_step());
        }
        return pool_;
    }

    // ---- What makes a step special

    /// The user's code runs, which another step has called.
    bool is_within_step() const noexcept { return (special_ & within_step) != 0; }
    /// Objects that are created wait for a compaction: within a step, and while there is an order in which
    /// they come.
    bool queues_newborns() const noexcept { return (special_ & (within_step | orders_newborns)) != 0; }
    /// Objects that are erased do: within a step, and where holes are closed together to keep the order.
    bool queues_removals() const noexcept { return (special_ & (within_step | keeps_order)) != 0; }
    /// Somebody is to be told of each object that comes, or goes: hooks, a log, the history.
    bool watches_births() const noexcept { return watches_births_; }
    bool watches_removals() const noexcept { return (special_ & watches_ends) != 0; }
    bool records_lives() const noexcept { return (special_ & records) != 0; }
    /// Whether any of these concerns an erase.
    bool erases_specially() const noexcept {
        return (special_ & (within_step | keeps_order | watches_ends | records)) != 0;
    }

    /// When no object is left, the order that was begun has ended: new objects need not wait for it.
    void forget_empty_order() noexcept {
        if (parts_.promoted() == 0 && !is_within_step()) {
            parts_.order.forget();
            special_ &= ~orders_newborns;
        }
    }

    // ---- Steps

    class calling_step {
    public:
        explicit calling_step(const exclusive_session& session) noexcept
            : session_(session), before_(session.special_) {
            session_.special_ = before_ | within_step;
        }
        ~calling_step() { session_.special_ = before_; }

        calling_step(const calling_step&) = delete;
        calling_step& operator=(const calling_step&) = delete;

    private:
        const exclusive_session& session_;
        const std::uint32_t before_;
    };

    class settled_step {
    public:
        explicit settled_step(exclusive_session& session) noexcept : session_(session) {}
        ~settled_step() { session_.settle_step(); }

        settled_step(const settled_step&) = delete;
        settled_step& operator=(const settled_step&) = delete;

    private:
        exclusive_session& session_;
    };

    /// So many objects of the store end, which count as erased.
    class ending_step {
    public:
        ending_step(exclusive_session& session, std::size_t objects) noexcept
            : session_(session), step_(session) {
            session.ending_ = objects;
        }
        ~ending_step() { session_.ending_ = 0; }

        ending_step(const ending_step&) = delete;
        ending_step& operator=(const ending_step&) = delete;

    private:
        exclusive_session& session_;
        const calling_step step_;
    };

    /// An executor's threads may use the pool. When it ends, nothing waits for a compaction.
    class whole_step {
    public:
        explicit whole_step(const exclusive_session& session) noexcept : session_(session) {
            session_.write_counts();
            store_type::end(session_.parts_, false);
            session_.special_ |= within_step | within_whole;
            session_.whole().set_exclusive(false);
        }
        ~whole_step() {
            auto& compactor = session_.whole().compactor;
            inline_executor executor;
            for (bool worked = true; worked && !compactor.idle();) {
                const compaction_stats done = compactor.run(executor);
                worked = done.removed + done.born != 0;
            }
            session_.whole().set_exclusive(true);
            session_.look();
        }

        whole_step(const whole_step&) = delete;
        whole_step& operator=(const whole_step&) = delete;

    private:
        const exclusive_session& session_;
    };

    // ---- What waits for a compaction

    /// Returns whether something waits: this thread has counted it then, as in a pool that several threads
    /// use, while plain steps are counted by write_counts().
    bool is_queued() const noexcept {
        return mine_.created.load(std::memory_order::relaxed) != created_seen_ ||
               mine_.erased.load(std::memory_order::relaxed) != erased_seen_;
    }
    /// Takes in all that waits; but within a step, the end of that step does so.
    void settle_queued() const noexcept {
        if (is_queued() && !is_within_step()) [[unlikely]] {
            const whole_step now(*this);
        }
    }
    /// Takes in what the user's code has left that this step has called.
    HANDLEPOOL_NOINLINE void settle_step() noexcept {
        const bool is_born = mine_.created.load(std::memory_order::relaxed) != created_seen_;
        // Where order is kept, it waits until somebody looks; but who is to hear of births hears at once.
        if ((special_ & keeps_order) == 0 || (watches_births_ && is_born)) {
            settle_queued();
        }
    }
    /// Destroys what was erased and waits, so that there is room. Returns whether anything was.
    bool destroy_queued() noexcept {
        const bool waits = mine_.erased.load(std::memory_order::relaxed) != erased_seen_;
        if (waits) {
            settle_queued();
        }
        return waits && !is_within_step();
    }

    // ---- Slots and counts

    /// Frees the slot of an object that had this tag, or withdraws it.
    void release(slot_index slot, tag_type tag) noexcept {
        if (layout::generation_of(tag) == layout::last_generation) [[unlikely]] {
            parts_.allocator.retire(1);
            ++retired_;
        } else {
            parts_.allocator.release(slot);
        }
    }

    /// Whether after a plain birth nothing is left to be done: nothing waits, and nobody is to be told.
    bool is_usual_birth() const noexcept {
        return mine_.created.load(std::memory_order::relaxed) +
                   mine_.erased.load(std::memory_order::relaxed) ==
               usual_count_;
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
        whole().compactor.account_for(erased, created);
    }

private:
    // In one word: so a plain step asks once.
    static constexpr std::uint32_t within_step = 1;
    static constexpr std::uint32_t within_whole = 2; // in one that concerns the whole pool
    static constexpr std::uint32_t orders_newborns = 4;
    static constexpr std::uint32_t keeps_order = 8;
    static constexpr std::uint32_t watches_ends = 16;
    static constexpr std::uint32_t records = 32;

    static constexpr std::uint64_t never = ~std::uint64_t{0}; // a count that is none

    /// Objects that plain steps have erased, from some number on: each frees its slot or withdraws it. It
    /// would cost an erase a tenth of its time to count them.
    std::uint64_t removed() const noexcept { return parts_.allocator.released() + retired_ + ending_; }

    void expect_usual_count() const noexcept {
        usual_count_ = watches_births_ || records_lives() ? never : created_seen_ + erased_seen_;
    }

    /// Remembers the state of the pool that plain steps begin from.
    void look() const noexcept {
        special_ = (parts_.order.size() != 0 ? orders_newborns : 0) |
                   (parts_.geometry.keep_order ? keeps_order : 0) |
                   (whole().compactor.watches_removals() ? watches_ends : 0) |
                   (parts_.lives.is_on() ? records : 0);
        watches_births_ = whole().compactor.watches_births();
        created_seen_ = mine_.created.load(std::memory_order::relaxed);
        erased_seen_ = mine_.erased.load(std::memory_order::relaxed);
        expect_usual_count();
        size_seen_ = parts_.promoted();
        removed_seen_ = removed();
    }

    pool_type& pool_;
    parts_type& parts_;
    shard_type& mine_;
    // Mutable: to look at a pool may take in what waits.
    mutable std::uint32_t special_ = 0;
    mutable bool watches_births_ = false;
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
