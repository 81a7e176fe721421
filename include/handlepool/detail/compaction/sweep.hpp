// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/compaction/extractions.hpp>
#include <handlepool/detail/compaction/reaper.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/detail/queues/budget.hpp>
#include <handlepool/detail/slots/slot_table.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// The search for objects that were erased without a record, in all slots that were in service when it began.
/// With a budget it takes several compactions.
template <class T, class Config>
class sweep {
    using parts_type = pool_state<T, Config>;
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;

public:
    using extractions_type = extractions<policy, value_type, typename parts_type::pointer>;

    sweep(parts_type& parts, reaper<T, Config>& reaper, extractions_type& extractions) noexcept
        : parts_(parts), reaper_(reaper), extractions_(extractions) {}

    /// Any thread, wait-free: has compaction look for what was erased before this call.
    void demand() noexcept {
        // (28) release: pairs with (29), for the erase before it. A read-modify-write, so that all demands
        // between the beginnings of two sweeps form one release sequence: a plain store would hide those
        // before it.
        demands_.fetch_add(1, std::memory_order::release);
    }

    /// Returns whether something is left to be done. Any thread, wait-free; exact for what happened before.
    bool is_due() const noexcept {
        return demands_.load(std::memory_order::relaxed) != 0 || goes_on_.load(std::memory_order::relaxed);
    }

    /// Takes the demands, before the queues are looked at, so that a later one is kept. With a budget they
    /// wait for the end of the sweep before: it might never come to the last slots. Returns whether there is
    /// a sweep to go on with.
    bool begin(std::size_t budget) noexcept {
        bool goes_on = goes_on_.load(std::memory_order::relaxed);
        // (29) acquire: pairs with (28)
        if ((!goes_on || budget == unlimited) && demands_.exchange(0, std::memory_order::acquire) != 0) {
            next_ = 0;
            end_ = parts_.slots_in_service();
            goes_on = true;
            goes_on_.store(true, std::memory_order::relaxed);
            add(begun_, 1);
        }
        return goes_on;
    }

    /// Goes on until it has found `most` objects or looked at some more slots, `piece` slots at a time: lists
    /// what it finds for the reaper, delivers extractions by `deliver(extraction)`, and calls `reap()`, which
    /// returns how many objects it has destroyed. Returns how many all are. After all records: what is found
    /// has none, or one that comes later and then finds nothing.
    template <class Deliver, class Reap>
    std::size_t go_on(std::size_t piece, std::size_t most, Deliver deliver, Reap reap) {
        std::size_t next = next_;
        const std::size_t left = end_ - next;
        const std::size_t looks = greatest(most, fewest_objects);
        const std::size_t end = next + (looks < left / slots_an_object ? looks * slots_an_object : left);
        std::size_t destroyed = 0;
        while (next != end && destroyed < most) {
            const std::size_t last = next + least(piece, end - next);
            next = find(next, last, most - destroyed);
            extractions_.collect(deliver); // after the search: see extractions
            leave_out_extractions();
            destroyed += reap();
        }
        next_ = next;
        goes_on_.store(next != end_, std::memory_order::relaxed);
        return destroyed;
    }

    std::uint64_t begun() const noexcept { return begun_.load(std::memory_order::relaxed); }

    /// Forgets demands and a sweep that goes on. Only while nobody else uses the pool.
    void reset() noexcept {
        demands_.store(0, std::memory_order::relaxed);
        goes_on_.store(false, std::memory_order::relaxed);
    }

private:
    template <class Value>
    using plain = typename policy::template plain<Value>;

    /// Looks at the slots from `first` to before `last`, until it has found `most` objects; returns the slot
    /// after those it has looked at.
    std::size_t find(std::size_t first, std::size_t last, std::size_t most) {
        // Locals, or (4) would have them read again for each slot.
        const parts_type& parts = parts_;
        auto& reaper = reaper_;
        auto& list = reaper.list();
        std::size_t found = 0;
        std::size_t next = first;
        for (; next != last && found != most; ++next) {
            if (next + owners_ahead < last) {
                reaper.prefetch_owner(parts.table.location_of(slot_at(next + owners_ahead)));
            }
            const slot_index slot = slot_at(next);
            const auto tag = parts.table.tag(slot); // (4)
            if (tag == 0 || layout::is_alive(tag)) {
                continue;
            }
            const auto last_tag = parts.table.last_object(tag);
            // What has no end yet has its record still to come, or a demand.
            if (reaper.remains_of(slot, last_tag) != location::nowhere &&
                parts.lives.has_end(slot, layout::generation_of(last_tag))) {
                list[found++] = parts.table.handle_of(slot, last_tag);
            }
        }
        reaper.listed(found);
        return next;
    }

    void leave_out_extractions() noexcept {
        if (!extractions_.empty() &&
            reaper_.leave_out([this](value_type found) { return extractions_.may_be_taking(found); })) {
            demand(); // some may turn out to have been erased
        }
    }

    static slot_index slot_at(std::size_t index) noexcept {
        return slot_index{static_cast<std::uint32_t>(index)};
    }

    // Looking at a slot takes so much less time than burying an object; and a sweep looks at as many slots as
    // for so many objects, however small the budget.
    static constexpr std::size_t slots_an_object = 8;
    static constexpr std::size_t fewest_objects = 1024;
    // How many slots ahead of the one that is looked at the owner of its place is asked for.
    static constexpr std::size_t owners_ahead = 16;

    parts_type& parts_;
    reaper<T, Config>& reaper_;
    extractions_type& extractions_;
    // The slots that it has still to look at.
    plain<std::size_t> next_{0};
    plain<std::size_t> end_{0};
    typename policy::template atomic<bool> goes_on_{false};
    typename policy::template atomic<std::uint64_t> begun_{0};
    alignas(cache_line) typename policy::template atomic<std::uint64_t> demands_{0};
};

} // namespace handlepool::detail
