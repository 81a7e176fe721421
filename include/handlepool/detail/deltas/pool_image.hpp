// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/deltas/pool_delta.hpp>
#include <handlepool/detail/snapshots/saved_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace handlepool::detail {

/// A saved_pool to which deltas are applied one after the other, in time that follows what they change: the
/// origin knows by one what it has told, and each receiver what it was told.
///
/// ```
///   role of a slot     object ◀──┐ born                  each slot has one; a delta takes slots out of
///                      reserved  ├──▶ none yet ──▶ ...   the lists that they are in, and puts each of them
///                      waiting ──┘ taken                 into another one: what is in none is retired
/// ```
class HANDLEPOOL_EXPORT pool_image {
public:
    pool_image() = default;
    /// Of a pool that read_saved_pool() has verified, or that there is. Throws std::bad_alloc.
    pool_image(const saved_pool& pool, const pool_limits_of_snapshot& limits);

    /// As a snapshot has it. Linear in slots, and sorts the objects of a stable pool. Throws std::bad_alloc.
    saved_pool describe() const;

    /// The pool becomes what it was after that, if the delta fits: each slot ends in one list, with a
    /// generation that fits there, and each object has a place of its own. Else it stays as it was, as it
    /// does when this throws std::bad_alloc.
    std::optional<delta_problem> apply(const pool_delta& delta);
    /// Takes back what the last apply() did, which has found nothing wrong. Once.
    void undo() noexcept;

    const pool_limits_of_snapshot& limits() const noexcept { return limits_; }
    std::uint32_t fresh_generation() const noexcept { return state_.numbers.fresh_generation; }
    std::uint32_t in_service() const noexcept { return static_cast<std::uint32_t>(state_.all_slots.size()); }
    std::size_t objects() const noexcept { return state_.numbers.objects; }

    std::uint64_t turn() const noexcept { return state_.numbers.turn; }
    std::size_t retired() const noexcept { return state_.numbers.retired; }
    std::size_t returned_word() const noexcept { return state_.numbers.returned_word; }
    std::uint64_t claimed_waiting() const noexcept { return state_.numbers.claimed_waiting; }
    /// The slots that wait, in the order in which they go out.
    std::span<const std::uint32_t> waiting() const noexcept {
        return std::span(state_.waiting).subspan(state_.numbers.first_waiting);
    }
    /// What threads have claimed, as in an allocator_state.
    const std::vector<std::uint32_t>& claims() const noexcept { return state_.claims; }
    const std::vector<std::uint32_t>& claimed() const noexcept { return state_.claimed; }
    /// Which of 64 positions from 64 * `word` on have an object.
    std::uint64_t objects_in(std::uint32_t word) const noexcept {
        const auto found = state_.occupied.find(word);
        return found != state_.occupied.end() ? found->second : 0;
    }

    /// Returns whether a slot has an object of this generation.
    bool lives_in(std::uint64_t slot, std::uint32_t generation) const noexcept {
        return slot < in_service() && has_object(static_cast<std::uint32_t>(slot)) &&
               state_.all_slots[slot].generation == generation;
    }

    // Of a slot in service.
    bool has_object(std::uint32_t slot) const noexcept { return is(slot, slot_role::object); }
    bool is_reserved(std::uint32_t slot) const noexcept { return is(slot, slot_role::reserved); }
    std::uint32_t generation(std::uint32_t slot) const noexcept { return state_.all_slots[slot].generation; }
    std::uint32_t position(std::uint32_t slot) const noexcept { return state_.all_slots[slot].position; }

private:
    enum class slot_role : std::uint8_t { none_yet, object, reserved, waiting, claimed, returned, retired };
    struct slot_state {
        std::uint32_t generation = 0;
        std::uint32_t position = 0; // of its object
        slot_role role = slot_role::none_yet;
    };
    /// Which positions have an object, 64 in a word; those without any may be missing.
    using position_words = std::unordered_map<std::uint32_t, std::uint64_t>;

    struct number_state {
        std::uint32_t fresh_generation = 0;
        std::uint64_t turn = 0;
        std::uint64_t claimed_waiting = 0;
        std::size_t retired = 0;
        std::size_t returned_word = 0;
        std::size_t objects = 0;
        std::size_t first_waiting = 0; // those before have gone
    };
    struct state {
        number_state numbers;
        std::vector<slot_state> all_slots; // in service
        std::vector<std::uint32_t> waiting;
        std::vector<std::uint32_t> claims;
        std::vector<std::uint32_t> claimed;
        position_words occupied;
    };
    struct former_slot {
        std::uint32_t slot;
        slot_state was;
    };
    class change;

    bool is(std::uint32_t slot, slot_role role) const noexcept { return state_.all_slots[slot].role == role; }
    bool is_occupied(std::uint32_t position) const noexcept;
    void vacate(std::uint32_t position) noexcept;
    void forget_gone() noexcept;

    pool_limits_of_snapshot limits_;
    state state_;

    // What undo() needs.
    std::vector<former_slot> former_; // in the order in which they were changed
    std::size_t former_in_service_ = 0;
    std::size_t former_waiting_ = 0;
    number_state former_numbers_;
    std::vector<std::uint32_t> former_claims_;
    std::vector<std::uint32_t> former_claimed_;
    std::optional<state> former_state_; // if nothing of it is left
};

} // namespace handlepool::detail
