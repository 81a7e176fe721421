// SPDX-License-Identifier: MIT
#include "../shared/refusal_text.hpp"

#include <handlepool/detail/deltas/pool_image.hpp>
#include <handlepool/detail/time/record_bytes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace handlepool::detail {

namespace {

using slot_list = std::vector<std::uint32_t>;

constexpr std::uint64_t mask_of(std::uint32_t position) noexcept {
    return std::uint64_t{1} << position % 64;
}

} // namespace

// ---- To and from a snapshot

pool_image::pool_image(const saved_pool& pool, const pool_limits_of_snapshot& limits) : limits_(limits) {
    state_.numbers = {.fresh_generation = pool.fresh_generation,
                      .turn = pool.turn,
                      .claimed_waiting = pool.allocator.freelist.claimed,
                      .retired = pool.allocator.retired,
                      .returned_word = pool.allocator.returned_word,
                      .objects = pool.owners.size()};
    state_.all_slots.reserve(pool.generations.size());
    for (const std::uint32_t generation : pool.generations) {
        state_.all_slots.push_back(
            {.generation = generation, .role = slot_role::retired}); // unless it is named
    }
    const auto give = [this](std::span<const std::uint32_t> slots, slot_role role) {
        for (const std::uint32_t slot : slots) {
            state_.all_slots[slot].role = role;
        }
    };
    give(pool.owners.all(), slot_role::object);
    give(pool.reserved, slot_role::reserved);
    give(pool.waiting, slot_role::waiting);
    give(pool.allocator.claimed, slot_role::claimed);
    give(pool.allocator.returned, slot_role::returned);
    for (std::size_t i = 0; i != pool.owners.size(); ++i) {
        const std::uint32_t position = pool.places.empty() ? static_cast<std::uint32_t>(i) : pool.places[i];
        state_.all_slots[pool.owners[i]].position = position;
        state_.occupied[position / 64] |= mask_of(position);
    }
    state_.waiting = pool.waiting;
    state_.claims = pool.allocator.claims;
    state_.claimed = pool.allocator.claimed;
}

saved_pool pool_image::describe() const {
    const number_state& numbers = state_.numbers;
    saved_pool pool;
    pool.widths = limits_.widths;
    pool.placement = *limits_.placement;
    pool.id = *limits_.id;
    pool.fresh_generation = numbers.fresh_generation;
    pool.turn = numbers.turn;
    std::vector<std::uint32_t>& generations = pool.generations.own();
    std::vector<std::uint32_t>& owners = pool.owners.own();
    generations.reserve(state_.all_slots.size());
    owners.reserve(numbers.objects);
    for (std::uint32_t slot = 0; slot != in_service(); ++slot) {
        generations.push_back(generation(slot));
        if (has_object(slot)) {
            owners.push_back(slot);
        } else if (is_reserved(slot)) {
            pool.reserved.push_back(slot);
        } else if (is(slot, slot_role::returned)) {
            pool.allocator.returned.push_back(slot);
        }
    }
    std::sort(owners.begin(), owners.end(),
              [this](std::uint32_t one, std::uint32_t other) { return position(one) < position(other); });
    if (*limits_.placement != 0) {
        std::vector<std::uint32_t>& places = pool.places.own();
        places.reserve(numbers.objects);
        for (const std::uint32_t slot : owners) {
            places.push_back(position(slot));
        }
    }
    pool.waiting.assign(state_.waiting.begin() + static_cast<std::ptrdiff_t>(numbers.first_waiting),
                        state_.waiting.end());
    pool.allocator.claims = state_.claims;
    pool.allocator.claimed = state_.claimed;
    pool.allocator.retired = numbers.retired;
    pool.allocator.returned_word = numbers.returned_word;
    pool.allocator.freelist = {
        .claimed = numbers.claimed_waiting, .waiting = pool.waiting.size(), .fresh = generations.size()};
    return pool;
}

// ---- A delta

bool pool_image::is_occupied(std::uint32_t position) const noexcept {
    return (objects_in(position / 64) & mask_of(position)) != 0;
}

void pool_image::vacate(std::uint32_t position) noexcept {
    state_.occupied.find(position / 64)->second &= ~mask_of(position);
}

/// A delta that is being applied: one step after the other, until one finds something wrong. Then, and when
/// there is no memory, all steps are taken back.
class pool_image::change {
public:
    change(pool_image& image, const pool_delta& delta) noexcept : image_(image), delta_(delta) {}
    ~change() {
        if (has_begun_ && !is_complete_) {
            image_.undo();
        }
    }
    change(const change&) = delete;
    change& operator=(const change&) = delete;

    std::optional<delta_problem> apply() {
        is_complete_ = fits() && begin() && take_out() && resize() && put_in() && is_whole();
        return std::move(problem_);
    }

private:
    state& now() noexcept { return image_.state_; }
    slot_state& at(std::uint32_t slot) noexcept { return now().all_slots[slot]; }

    // Of all that is wrong, the first is told. Each returns whether it holds.

    bool refuse(std::string text, const slot_list* list = nullptr, std::size_t number = 0) {
        problem_ = delta_problem{.list = list, .number = number, .text = std::move(text)};
        return false;
    }
    bool is_equal(std::string_view what, std::uint64_t there, std::uint64_t here) {
        return there == here || refuse(std::string(what) + " is " + std::to_string(there) +
                                       "; before it was " + std::to_string(here));
    }
    bool is_at_most(std::string_view what, std::uint64_t there, std::uint64_t most) {
        return there <= most || refuse(std::to_string(there) + " " + std::string(what) + "; allowed are " +
                                       std::to_string(most) + " at most");
    }

    bool fits() {
        const pool_limits_of_snapshot& limits = image_.limits_;
        const std::uint64_t dead = std::uint64_t{limits.last_generation} + 1;
        return (delta_.widths == limits.widths || refuse(problem_of_widths(delta_.widths, limits.widths))) &&
               is_equal("the placement's number", delta_.placement, *limits.placement) &&
               is_equal("the pool id", delta_.id, *limits.id) &&
               ((!lives(delta_.fresh_generation) && delta_.fresh_generation <= dead) ||
                refuse("fresh slots have generation " + std::to_string(delta_.fresh_generation) +
                       "; allowed are even ones to " + std::to_string(dead))) &&
               (*limits.placement == 0 || delta_.moved.empty() ||
                refuse("objects of this placement stay where they are", &delta_.moved)) &&
               is_at_most("slots are in service", delta_.in_service, limits.slot_limit) &&
               is_at_most("is the word where a search of returned slots begins", delta_.returned_word,
                          delta_.in_service / 64) &&
               is_at_most("threads have claimed slots", delta_.claims.size(), 0xffff) && has_all_claims();
    }
    bool has_all_claims() {
        std::uint64_t claimed = 0;
        for (const std::uint32_t each : delta_.claims) {
            claimed += each;
        }
        return claimed == delta_.claimed.size() ||
               refuse(std::to_string(claimed) + " slots are claimed by threads, and " +
                      std::to_string(delta_.claimed.size()) + " are listed");
    }

    /// Notes what can be taken back.
    bool begin() {
        image_.former_claims_ = now().claims;
        image_.former_claimed_ = now().claimed;
        image_.former_.clear();
        image_.former_state_.reset();
        if (delta_.fresh_generation != now().numbers.fresh_generation) {
            image_.former_state_ = std::exchange(now(), state());
        } else {
            image_.forget_gone();
        }
        image_.former_in_service_ = now().all_slots.size();
        image_.former_waiting_ = now().waiting.size();
        image_.former_numbers_ = now().numbers;
        has_begun_ = true;
        if (!is_at_most("slots wait no more", delta_.taken,
                        now().waiting.size() - now().numbers.first_waiting)) {
            return false;
        }
        std::size_t changes = delta_.taken + now().claimed.size() + 2 * delta_.moved.size();
        for (const slot_list* const list :
             {&delta_.gone, &delta_.born, &delta_.regenerated, &delta_.unreserved, &delta_.reserved,
              &delta_.reclaimed, &delta_.returned, &delta_.waiting, &delta_.claimed}) {
            changes += list->size();
        }
        if (const std::size_t grown = delta_.in_service - (std::min)(delta_.in_service, image_.in_service());
            grown > changes) { // so that nothing is allocated for a number alone
            return refuse(std::to_string(grown) + " slots come into service, and only " +
                          std::to_string(changes) + " are in lists");
        }
        changes +=
            now().all_slots.size() - (std::min<std::size_t>)(delta_.in_service, now().all_slots.size());
        image_.former_.reserve(changes);
        now().waiting.reserve(now().waiting.size() + delta_.waiting.size());
        return true;
    }

    void set(std::uint32_t slot, const slot_state& next) {
        image_.former_.push_back({slot, at(slot)});
        number_state& numbers = now().numbers;
        if (at(slot).role == slot_role::object) {
            image_.vacate(at(slot).position);
            --numbers.objects;
        }
        if (next.role == slot_role::object) {
            now().occupied[next.position / 64] |= mask_of(next.position);
            ++numbers.objects;
        }
        numbers.retired -= at(slot).role == slot_role::retired ? 1U : 0U;
        at(slot) = next;
    }

    // ---- Out of the lists

    bool is_in(const slot_list& list, std::size_t i, slot_role role) {
        const std::uint32_t slot = list[i];
        return (slot < now().all_slots.size() && at(slot).role == role) ||
               refuse("slot " + std::to_string(slot) + " is expected to be " + text_of(role) + ", and " +
                          text_of(slot),
                      &list, i);
    }
    bool take_out(const slot_list& list, std::size_t i, slot_role role) {
        if (!is_in(list, i, role)) {
            return false;
        }
        slot_state next = at(list[i]);
        next.role = slot_role::none_yet;
        set(list[i], next);
        return true;
    }
    bool take_out(const slot_list& list, slot_role role) {
        for (std::size_t i = 0; i != list.size(); ++i) {
            if (!take_out(list, i, role)) {
                return false;
            }
        }
        return true;
    }
    /// A load gives back what threads had claimed that are not there: what was claimed here may have been
    /// given back there, and gone out again.
    bool take_out_reclaimed() {
        for (std::size_t i = 0; i != delta_.reclaimed.size(); ++i) {
            const std::uint32_t slot = delta_.reclaimed[i];
            const bool was_claimed = slot < now().all_slots.size() && at(slot).role == slot_role::none_yet;
            if (!was_claimed && !take_out(delta_.reclaimed, i, slot_role::returned)) {
                return false;
            }
        }
        return true;
    }
    bool take_out() {
        for (std::size_t i = 0; i != delta_.taken; ++i) {
            if (!take_out(now().waiting, now().numbers.first_waiting + i, slot_role::waiting)) {
                return false;
            }
        }
        now().numbers.first_waiting += delta_.taken;
        if (!take_out(now().claimed, slot_role::claimed) ||
            !take_out(delta_.unreserved, slot_role::reserved) || !take_out_reclaimed() ||
            !take_out(delta_.gone, slot_role::object)) {
            return false;
        }
        for (const std::uint32_t slot : delta_.gone) {
            ++at(slot).generation; // as an erase does
        }
        for (std::size_t i = 0; i != delta_.edited.size(); ++i) {
            if (!is_in(delta_.edited, i, slot_role::object)) {
                return false;
            }
        }
        return take_out(delta_.moved, slot_role::object);
    }

    bool resize() {
        for (std::uint32_t slot = delta_.in_service; slot < image_.in_service(); ++slot) {
            if (at(slot).role != slot_role::none_yet && at(slot).role != slot_role::retired) {
                return refuse("slot " + std::to_string(slot) + " is in service no more, and " +
                              text_of(slot));
            }
            set(slot, slot_state());
        }
        now().all_slots.resize(delta_.in_service, {.generation = delta_.fresh_generation});
        return true;
    }

    // ---- And into others

    bool is_free(const slot_list& list, std::size_t i) {
        const std::uint32_t slot = list[i];
        return (slot < now().all_slots.size() &&
                (at(slot).role == slot_role::none_yet || at(slot).role == slot_role::retired)) ||
               refuse("slot " + std::to_string(slot) + " is expected to be in no list, and " + text_of(slot),
                      &list, i);
    }
    bool put_in(const slot_list& list, slot_role role) {
        for (std::size_t i = 0; i != list.size(); ++i) {
            if (!is_free(list, i)) {
                return false;
            }
            slot_state next = at(list[i]);
            next.role = role;
            set(list[i], next);
        }
        return true;
    }
    bool put_in(const slot_list& list, std::size_t i, const slot_list& positions, std::uint32_t generation) {
        const std::uint32_t position = positions[i];
        if (position >= end_of_positions_) {
            return refuse("position " + std::to_string(position) +
                              " is given to an object; allowed are those "
                              "below " +
                              std::to_string(end_of_positions_),
                          &positions, i);
        }
        if (image_.is_occupied(position)) {
            return refuse("position " + std::to_string(position) + " is given to two objects", &positions, i);
        }
        set(list[i], {.generation = generation, .position = position, .role = slot_role::object});
        return true;
    }
    bool put_in() {
        const std::size_t objects = now().numbers.objects + delta_.moved.size() + delta_.born.size();
        if (!is_at_most("objects", objects, image_.limits_.objects)) {
            return false;
        }
        end_of_positions_ = *image_.limits_.placement == 0 ? objects : image_.limits_.places;
        for (std::size_t i = 0; i != delta_.moved.size(); ++i) { // of its list there is none twice
            if (!put_in(delta_.moved, i, delta_.moved_to, image_.generation(delta_.moved[i]))) {
                return false;
            }
        }
        for (std::size_t i = 0; i != delta_.born.size(); ++i) {
            if (!is_free(delta_.born, i) ||
                !put_in(delta_.born, i, delta_.born_at, delta_.born_generations[i])) {
                return false;
            }
        }
        return put_in(delta_.reserved, slot_role::reserved) && put_in(delta_.waiting, slot_role::waiting) &&
               put_in(delta_.claimed, slot_role::claimed) && put_in_returned() && regenerate();
    }
    /// Some may have been given back before.
    bool put_in_returned() {
        for (std::size_t i = 0; i != delta_.returned.size(); ++i) {
            const std::uint32_t slot = delta_.returned[i];
            if (slot < now().all_slots.size() && at(slot).role == slot_role::returned) {
                continue;
            }
            if (!is_free(delta_.returned, i)) {
                return false;
            }
            slot_state next = at(slot);
            next.role = slot_role::returned;
            set(slot, next);
        }
        return true;
    }
    bool regenerate() {
        for (std::size_t i = 0; i != delta_.regenerated.size(); ++i) {
            const std::uint32_t slot = delta_.regenerated[i];
            if (slot >= now().all_slots.size()) {
                return refuse("slot " + std::to_string(slot) + ", which has another generation, " +
                                  text_of(slot),
                              &delta_.regenerated, i);
            }
            image_.former_.push_back({slot, at(slot)});
            at(slot).generation = delta_.generations[i];
        }
        now().waiting.insert(now().waiting.end(), delta_.waiting.begin(), delta_.waiting.end());
        now().claims = delta_.claims;
        now().claimed = delta_.claimed;
        number_state& numbers = now().numbers;
        numbers.fresh_generation = delta_.fresh_generation;
        numbers.turn = delta_.turn;
        numbers.claimed_waiting = delta_.claimed_waiting;
        numbers.returned_word = delta_.returned_word;
        return true;
    }

    // ---- What has come of it

    bool is_whole() {
        for (const former_slot& each : image_.former_) {
            if (each.slot < now().all_slots.size() && !is_right(each.slot)) {
                return false;
            }
        }
        for (std::size_t slot = image_.former_in_service_; slot < now().all_slots.size(); ++slot) {
            if (!is_right(static_cast<std::uint32_t>(slot))) {
                return false;
            }
        }
        if (*image_.limits_.placement == 0) { // no other object stands behind the last one
            for (std::size_t position = now().numbers.objects; position < image_.former_numbers_.objects;
                 ++position) {
                if (image_.is_occupied(static_cast<std::uint32_t>(position))) {
                    return refuse("there are " + std::to_string(now().numbers.objects) +
                                  " objects, and one of them is at position " + std::to_string(position));
                }
            }
        }
        return now().numbers.retired == delta_.retired ||
               refuse(counted(now().numbers.retired, "slot", "in no list, and ") +
                      counted(delta_.retired, "slot", "retired"));
    }
    /// What is in no list now is retired.
    bool is_right(std::uint32_t slot) {
        slot_state& changed = at(slot);
        if (changed.role == slot_role::none_yet) {
            changed.role = slot_role::retired;
            ++now().numbers.retired;
        }
        const std::uint32_t last = image_.limits_.last_generation + 1; // of a slot that is used up
        const bool is_object = changed.role == slot_role::object;
        return (changed.generation >= delta_.fresh_generation && changed.generation <= last &&
                lives(changed.generation) == is_object) ||
               refuse("slot " + std::to_string(slot) + " " + text_of(slot) + ", and has generation " +
                      std::to_string(changed.generation) + "; allowed are " + (is_object ? "odd" : "even") +
                      " ones from " + std::to_string(delta_.fresh_generation) + " to " +
                      std::to_string(last));
    }

    static std::string text_of(slot_role role) {
        constexpr std::string_view texts[] = {"in no list", "an object's",       "reserved", "waiting",
                                              "claimed",    "given back unused", "retired"};
        return std::string(texts[static_cast<std::size_t>(role)]);
    }
    std::string text_of(std::uint32_t slot) {
        return slot < now().all_slots.size()
                   ? "is " + text_of(at(slot).role)
                   : "is not among the " + std::to_string(now().all_slots.size()) + " in service";
    }

    pool_image& image_;
    const pool_delta& delta_;
    std::optional<delta_problem> problem_;
    std::uint64_t end_of_positions_ = 0;
    bool has_begun_ = false;
    bool is_complete_ = false;
};

std::optional<delta_problem> pool_image::apply(const pool_delta& delta) {
    return change(*this, delta).apply();
}

void pool_image::forget_gone() noexcept {
    std::size_t& first = state_.numbers.first_waiting;
    if (first > state_.waiting.size() / 2) { // then it pays to move the others
        state_.waiting.erase(state_.waiting.begin(),
                             state_.waiting.begin() + static_cast<std::ptrdiff_t>(first));
        first = 0;
    }
}

void pool_image::undo() noexcept {
    if (former_state_) {
        state_ = std::move(*former_state_);
        former_state_.reset();
        return;
    }
    if (state_.all_slots.size() < former_in_service_) {
        state_.all_slots.resize(former_in_service_); // for which there still is memory
    }
    for (auto each = former_.rbegin(); each != former_.rend(); ++each) {
        slot_state& now = state_.all_slots[each->slot];
        if (now.role == slot_role::object) {
            vacate(now.position);
        }
        now = each->was;
        if (now.role == slot_role::object) {
            state_.occupied.find(now.position / 64)->second |= mask_of(now.position);
        }
    }
    state_.all_slots.resize(former_in_service_);
    state_.waiting.resize(former_waiting_);
    state_.claims.swap(former_claims_);
    state_.claimed.swap(former_claimed_);
    state_.numbers = former_numbers_;
}

} // namespace handlepool::detail
