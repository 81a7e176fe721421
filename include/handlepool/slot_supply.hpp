#pragma once

#include <handlepool/freelist.hpp>
#include <handlepool/lane.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/slot_table.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace handlepool {

/// Gives slots to lanes: from the lane's claim, which meets other threads once in `claim_size` objects, from
/// slots that it gave back, and at last from the freelist.
///
/// No more slots go out than the capacity, except as many as idle lanes hold: those must not make the pool
/// look full. A retired slot is replaced by a fresh one until the slot limit is reached.
template <class Layout, class Policy, template <class> class Freelist>
class slot_supply {
public:
    slot_supply(std::string_view what_for, const pool_geometry& geometry, slot_table<Layout, Policy>& slots,
                const lane_table<Policy>& lanes)
        : geometry_(geometry),
          slots_(slots),
          lanes_(lanes),
          free_(what_for, {.index_limit = geometry.slot_limit,
                           .waiting_limit = geometry.object_limit,
                           .reuse_delay = geometry.reuse_delay}) {}

    /// Lane: takes a slot. False only when at some moment of the call no slot was left. Wait-free while the
    /// lane has one, else lock-free.
    bool take(lane<Policy>& mine, std::uint32_t& index) noexcept {
        std::uint32_t held = mine.held.load(std::memory_order::relaxed);
        if (held == 0) {
            if (take_spare(mine, index)) {
                return true;
            }
            held = refill(mine);
            if (held == 0) {
                return false;
            }
        }
        const std::uint32_t next = mine.claim_end - held;
        index = mine.claimed[next];
        slots_.prefetch_slot(mine.claimed[next + lane<Policy>::read_ahead]);
        mine.held.store(held - 1, std::memory_order::relaxed);
        return true;
    }

    /// Lane: gives back a slot that it took and did not use. Wait-free.
    void give_back(lane<Policy>& mine, std::uint32_t index) noexcept {
        slots_.set_location(index, mine.spare);
        mine.spare = index + 1;
        mine.spares.store(mine.spares.load(std::memory_order::relaxed) + 1, std::memory_order::relaxed);
    }

    /// Compaction: the slot of a destroyed object; it goes out again after publish().
    void release(std::uint32_t index) noexcept { free_.release(index); }
    /// Compaction: a slot was used up and stays out for ever.
    void retire(std::size_t count) noexcept { retired_.store(retired() + count, std::memory_order::relaxed); }
    void publish() noexcept { free_.publish(); }

    std::size_t retired() const noexcept { return retired_.load(std::memory_order::relaxed); }
    /// Will no slot ever go out again? Those that the reuse delay holds back never do without others to
    /// follow.
    bool used_up() const noexcept { return retired() + geometry_.reuse_delay >= geometry_.slot_limit; }

    /// Slots that lanes hold and don't use.
    std::size_t held() const noexcept {
        return static_cast<std::size_t>(lanes_.sum([](const lane<Policy>& one) {
            return one.held.load(std::memory_order::relaxed) + one.spares.load(std::memory_order::relaxed);
        }));
    }

    const Freelist<Policy>& list() const noexcept { return free_; }

    /// Puts all slots back, retired ones too, or retires all. Only while nobody else uses the pool, and after
    /// the lanes have forgotten theirs.
    void reset(bool retire_all) noexcept {
        free_.reset(retire_all ? geometry_.slot_limit : 0);
        retired_.store(retire_all ? geometry_.slot_limit : 0, std::memory_order::relaxed);
    }

    std::size_t bytes_reserved() const noexcept { return free_.bytes_reserved(); }
    std::size_t bytes_resident() const noexcept { return free_.bytes_resident(); }

private:
    bool take_spare(lane<Policy>& mine, std::uint32_t& index) noexcept {
        if (mine.spare == 0) {
            return false;
        }
        index = mine.spare - 1;
        mine.spare = slots_.location(index);
        mine.spares.store(mine.spares.load(std::memory_order::relaxed) - 1, std::memory_order::relaxed);
        return true;
    }

    std::uint32_t refill(lane<Policy>& mine) noexcept {
        const std::size_t share = claim_share(geometry_.capacity, lanes_.count(), Policy::claim_divisor);
        const std::size_t wanted = std::clamp<std::size_t>(share, 1, Policy::claim_size);
        // Told before the claim, whose exchange, (11) or (15), carries it: who finds the pool full because of
        // this claim finds those of its slots that nobody uses yet, too.
        mine.held.store(static_cast<std::uint32_t>(wanted - 1), std::memory_order::relaxed);
        std::size_t claimed = claim(mine, wanted, 0);
        if (claimed == 0) {
            mine.held.store(0, std::memory_order::relaxed);
        }
        while (claimed == 0) {
            const std::size_t idle = held();
            const std::size_t retired_before = retired();
            claimed = claim(mine, 1, std::min(idle, geometry_.lane_slack));
            if (claimed == 0 && held() == idle && retired() == retired_before) {
                return 0;
            }
        }
        mine.claim_end = static_cast<std::uint32_t>(claimed);
        return static_cast<std::uint32_t>(claimed);
    }

    std::size_t claim(lane<Policy>& mine, std::size_t wanted, std::size_t beyond_capacity) noexcept {
        return free_.claim(mine.claimed, wanted, geometry_.capacity + retired() + beyond_capacity);
    }

    pool_geometry geometry_;
    slot_table<Layout, Policy>& slots_;
    const lane_table<Policy>& lanes_;
    Freelist<Policy> free_;
    typename Policy::template atomic<std::size_t> retired_{0};
};

} // namespace handlepool
