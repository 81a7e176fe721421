// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/compaction/extractions.hpp>
#include <handlepool/detail/compaction/sweep.hpp>
#include <handlepool/detail/parts/pool_state.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// What spawners have been asked to end, or to give another handle, until the next compaction begins: a list
/// for each, to which the task that has the spawner adds. Then all revokes take effect, and after them all
/// else, each in the order of the lists: so the outcome follows from what each has in it, and not from when
/// it came there.
///
/// ```
///   spawner 0   erase a   extract c              ─┐
///   spawner 1   erase a   revoke b ──▶ b'         ├──▶ b is b'; then a ends, c is taken, and b' ends
///   spawner 2   erase b   revoke d ──▶ d'        ─┘    d is d'
/// ```
///
/// A handle that was given for a revoked one is used in any case, so that it can't become another object's.
template <class T, class Config>
class deferred_ends {
    using parts_type = pool_state<T, Config>;
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using extractions_type = extractions<policy, value_type, typename parts_type::pointer>;
    using extraction = typename extractions_type::unannounced;

public:
    deferred_ends(parts_type& parts, extractions_type& extractions, sweep<T, Config>& sweep)
        : parts_(parts), extractions_(extractions), sweep_(sweep), lists_(parts.geometry.spawners) {}

    // ---- A spawner's list: one thread at a time. The handle is alive. Throw std::bad_alloc; then nothing
    // was added.

    void erase(std::size_t spawner, value_type handle, caller who) { add(lists_[spawner], handle, who); }
    void revoke(std::size_t spawner, value_type handle, caller who) {
        list& to = lists_[spawner];
        to.revoked.push_back({.handle = handle, .who = who});
        count(to);
    }
    /// Compaction calls `sink(object)`. Also throws what moving the sink throws.
    template <class Sink>
    void extract(std::size_t spawner, value_type handle, Sink sink, caller who) {
        list& to = lists_[spawner];
        make_room(to.extractions);
        extraction made = extractions_type::make(handle, std::move(sink));
        add(to, 0, who);
        to.extractions.push_back(std::move(made));
    }

    /// The entries of all lists. Any thread, wait-free; exact for what was added before.
    std::size_t pending() const noexcept {
        std::size_t sum = 0;
        for (const list& each : lists_) {
            sum += each.pending.load(std::memory_order::relaxed);
        }
        return sum;
    }

    // ---- Compaction, before it looks at the queues

    /// Lets all of it take effect: queues the erased objects, and leaves those that are taken to the
    /// extractions.
    void work_off() noexcept {
        for (list& each : lists_) {
            for (const revoked_one& one : each.revoked) {
                parts_.revoke(one.handle, one.who);
            }
        }
        for (std::size_t i = 0; i != lists_.size(); ++i) {
            if (list& each = lists_[i]; each.pending.load(std::memory_order::relaxed) != 0) {
                end_all(each, parts_.shard_of_spawner(i));
                each.forget();
            }
        }
    }

private:
    struct revoked_one {
        value_type handle;
        caller who;
    };

    struct alignas(cache_line) list {
        std::vector<value_type> ended; // zero for the next of the extractions
        std::vector<caller> callers;   // of each of them, if lives are recorded
        std::vector<extraction> extractions;
        std::vector<revoked_one> revoked;
        typename policy::template atomic<std::size_t> pending{0};

        void forget() noexcept {
            ended.clear();
            callers.clear();
            extractions.clear();
            revoked.clear();
            pending.store(0, std::memory_order::relaxed);
        }
    };

    // Entries whose slots are asked for together.
    static constexpr std::size_t run_size = 64;

    void add(list& to, value_type entry, caller who) {
        make_room(to.ended);
        if (parts_.lives.is_on()) {
            to.callers.push_back(who);
        }
        to.ended.push_back(entry);
        count(to);
    }
    static void count(list& of) noexcept {
        of.pending.store(of.ended.size() + of.revoked.size(), std::memory_order::relaxed);
    }
    /// So that the next push_back() needs no memory.
    template <class Element>
    static void make_room(std::vector<Element>& elements) {
        if (elements.size() == elements.capacity()) {
            elements.reserve(2 * elements.size() + 16);
        }
    }

    void end_all(list& from, shard<policy>& spawner) noexcept {
        std::size_t killed = 0;
        std::size_t extracted = 0;
        for (std::size_t first = 0; first != from.ended.size();) {
            const std::size_t end = first + least(run_size, from.ended.size() - first);
            for (std::size_t i = first; i != end; ++i) {
                parts_.table.prefetch_slot(parts_.table.slot_of(from.ended[i]));
            }
            for (; first != end; ++first) {
                const caller who = from.callers.empty() ? caller::unknown : from.callers[first];
                const value_type handle = from.ended[first];
                const bool ended = handle != 0 ? erase_now(handle, spawner, who)
                                               : extract_now(std::move(from.extractions[extracted++]), who);
                killed += ended ? 1U : 0U;
            }
        }
        detail::add(spawner.erased, killed);
    }

    bool erase_now(value_type asked, shard<policy>& spawner, caller who) noexcept {
        const value_type handle = handle_now(asked);
        if (!parts_.table.kill_alone(handle)) {
            return false;
        }
        if (!parts_.queue_removal(spawner, handle, life_event::erased, who, unlimited)) [[unlikely]] {
            sweep_.demand();
        }
        return true;
    }
    bool extract_now(extraction taken, caller who) noexcept {
        const value_type handle = handle_now(taken->handle());
        return extractions_.take(parts_.table, std::move(taken), handle,
                                 [&] { parts_.note_end(handle, life_event::extracted, who); });
    }
    /// The handle that an object has which was alive under this one when the compaction began.
    value_type handle_now(value_type asked) const noexcept {
        const auto tag = parts_.table.tag_relaxed(parts_.table.slot_of(asked));
        return tag == layout::tag_of(asked) || !layout::is_alive(tag)
                   ? asked
                   : parts_.table.handle_of(parts_.table.slot_of(asked), tag);
    }

    parts_type& parts_;
    extractions_type& extractions_;
    sweep<T, Config>& sweep_;
    std::vector<list> lists_;
};

} // namespace handlepool::detail
