// SPDX-License-Identifier: MIT
#include "../shared/refusal_text.hpp"

#include <handlepool/detail/snapshots/saved_pool.hpp>
#include <handlepool/detail/time/little_endian.hpp>
#include <handlepool/detail/time/record_bytes.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::detail {

namespace {

constexpr std::uint64_t pool_header_bytes = 12 * sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t);

constexpr std::uint32_t last_placement = 2;

std::uint32_t count_of(std::span<const std::uint32_t> list) noexcept {
    return static_cast<std::uint32_t>(list.size());
}

/// In the order in which they are written.
auto lists_of(const saved_pool& pool) noexcept {
    return std::array<std::span<const std::uint32_t>, 8>{
        pool.generations.all(), pool.owners.all(),     pool.places.all(),      pool.reserved,
        pool.waiting,           pool.allocator.claims, pool.allocator.claimed, pool.allocator.returned};
}

/// Reads how many there are of something.
std::uint32_t read_count(block_reader& from, std::uint64_t most, std::string_view what) {
    const auto count = from.number<std::uint32_t>();
    if (count > most) {
        from.refuse(4, std::to_string(count) + " " + std::string(what) + "; here there are " +
                           std::to_string(most) + " at most");
    }
    return count;
}

/// What is known of a slot while lists are read: what its generation says, until one has named it.
enum class slot_state : std::uint8_t { without_object, with_object, named };

/// Which slots were named already.
class named_slots {
public:
    named_slots(block_reader& from, const saved_pool& pool)
        : from_(from), pool_(pool), states_(pool.generations.size()) {
        std::ranges::transform(pool.generations.all(), states_.begin(), [](std::uint32_t generation) {
            return lives(generation) ? slot_state::with_object : slot_state::without_object;
        });
    }

    /// The last slots that were read: each is in service, in no other list, and in this one once.
    void add(std::span<const std::uint32_t> slots, slot_state expected, std::string_view list) {
        const std::span states(states_);
        for (std::size_t i = 0; i != slots.size(); ++i) {
            const std::uint32_t slot = slots[i];
            if (slot >= states.size() || states[slot] != expected) {
                from_.refuse((slots.size() - i) * sizeof slot,
                             std::string(list) + "slot " + std::to_string(slot) + problem_of(slot));
            }
            states[slot] = slot_state::named;
        }
        count_ += slots.size();
    }

    std::size_t count() const noexcept { return count_; }

private:
    std::string problem_of(std::uint32_t slot) const {
        if (slot >= states_.size()) {
            return " is not among the " + std::to_string(states_.size()) + " in service";
        }
        if (states_[slot] == slot_state::named) {
            return " is named twice";
        }
        return " has generation " + std::to_string(pool_.generations[slot]) +
               (lives(pool_.generations[slot]) ? ", which is that of an object"
                                               : ", which is that of no object");
    }

    block_reader& from_;
    const saved_pool& pool_;
    std::vector<slot_state> states_;
    std::size_t count_ = 0;
};

void require_ascending(block_reader& from, std::span<const std::uint32_t> list, std::uint64_t limit,
                       std::string_view what) {
    std::uint64_t least = 0;
    for (std::size_t i = 0; i != list.size(); ++i) {
        if (list[i] < least || list[i] >= limit) {
            from.refuse((list.size() - i) * sizeof list[i],
                        std::string(what) + " " + std::to_string(list[i]) + " is not from " +
                            std::to_string(least) + " to before " + std::to_string(limit));
        }
        least = std::uint64_t{list[i]} + 1;
    }
}

/// Returns how many slots have an object.
std::size_t read_generations(block_reader& from, saved_pool& pool, const pool_limits_of_snapshot& limits,
                             std::uint32_t count) {
    from.numbers(count, pool.generations);
    const std::uint32_t least = pool.fresh_generation;
    // That of the last object is followed by one of a slot that is used up.
    const std::uint32_t most = limits.last_generation + 1;
    const auto is_wrong = [=](std::uint32_t generation) { return generation < least || generation > most; };
    std::size_t living = 0;
    std::size_t wrong = 0;
    const std::span generations = pool.generations.all();
    for (const std::uint32_t generation : generations) { // without a branch: all at once
        living += lives(generation) ? 1U : 0U;
        wrong += is_wrong(generation) ? 1U : 0U;
    }
    if (wrong != 0) {
        const auto first = std::ranges::find_if(generations, is_wrong);
        from.refuse(static_cast<std::size_t>(generations.end() - first) * sizeof *first,
                    "slot " + std::to_string(first - generations.begin()) + " has generation " +
                        std::to_string(*first) + "; allowed are " + std::to_string(least) + " to " +
                        std::to_string(most));
    }
    return living;
}

} // namespace

std::string_view name_of_placement(std::uint32_t placement) noexcept {
    constexpr std::string_view names[] = {"dense", "stable", "recycling"};
    return placement < std::size(names) ? names[placement] : "unknown";
}

std::uint64_t bytes_of(const saved_pool& pool) noexcept {
    std::uint64_t numbers = 0;
    for (const std::span<const std::uint32_t> list : lists_of(pool)) {
        numbers += list.size();
    }
    return pool_header_bytes + numbers * sizeof(std::uint32_t);
}

void write(snapshot_writer& to, const saved_pool& pool) {
    to.number(pool.widths);
    to.number(pool.placement);
    to.number(pool.id);
    to.number(pool.fresh_generation);
    to.number(count_of(pool.generations.all()));
    to.number(count_of(pool.owners.all()));
    to.number(count_of(pool.reserved));
    to.number(count_of(pool.waiting));
    to.number(count_of(pool.allocator.claims));
    to.number(count_of(pool.allocator.returned));
    to.number(static_cast<std::uint32_t>(pool.allocator.retired));
    to.number(static_cast<std::uint32_t>(pool.allocator.returned_word));
    to.number(pool.turn);
    to.number(pool.allocator.freelist.claimed);
    for (const std::span<const std::uint32_t> list : lists_of(pool)) {
        to.numbers(list);
    }
}

std::uint32_t objects_in(const snapshot_block& block) noexcept {
    constexpr std::size_t numbers_before = 5;
    return block.payload.size() < pool_header_bytes
               ? 0
               : from_little_endian<std::uint32_t>(&block.payload[numbers_before * sizeof(std::uint32_t)]);
}

saved_pool read_saved_pool(block_reader& from, const pool_limits_of_snapshot& limits, saved_pool memory) {
    saved_pool pool = std::move(memory);
    pool.widths = from.number<std::uint32_t>();
    if (pool.widths != limits.widths) {
        from.refuse(4, problem_of_widths(pool.widths, limits.widths));
    }
    pool.placement = from.number<std::uint32_t>();
    if (limits.placement && pool.placement != *limits.placement) {
        from.refuse(4, "the placement is " + std::string(name_of_placement(pool.placement)) +
                           "; here it is " + std::string(name_of_placement(*limits.placement)));
    }
    from.require_that(pool.placement <= last_placement, 4,
                      "placement " + std::to_string(pool.placement) + " is unknown; known are 0 to 2");
    pool.id = from.number<std::uint32_t>();
    if (pool.id != limits.id.value_or(pool.id)) {
        from.refuse(4, "the pool id is " + std::to_string(pool.id) + "; here it is " +
                           std::to_string(*limits.id));
    }
    from.require_that(pool.id <= limits.last_id, 4,
                      "the pool id is " + std::to_string(pool.id) + "; allowed are 0 to " +
                          std::to_string(limits.last_id));
    pool.fresh_generation = from.number<std::uint32_t>();
    from.require_that(!lives(pool.fresh_generation) && pool.fresh_generation <= limits.last_generation + 1, 4,
                      "fresh slots have generation " + std::to_string(pool.fresh_generation) +
                          "; allowed are even ones to " + std::to_string(limits.last_generation + 1));
    const std::uint32_t in_service = read_count(from, limits.slot_limit, "slots are in service");
    const std::uint32_t objects = read_count(from, limits.objects, "objects");
    const std::uint32_t reserved = read_count(from, in_service, "slots are reserved");
    const std::uint32_t waiting = read_count(from, in_service, "slots wait");
    const std::uint32_t claims = read_count(from, 0xffff, "threads have claimed slots");
    const std::uint32_t returned = read_count(from, in_service, "slots were returned");
    pool.allocator.retired = read_count(from, in_service, "slots are retired");
    pool.allocator.returned_word = from.number<std::uint32_t>();
    from.require_that(pool.allocator.returned_word <= in_service / 64, 4,
                      "a search of returned slots begins at word " +
                          std::to_string(pool.allocator.returned_word) + "; the last one is " +
                          std::to_string(in_service / 64));
    pool.turn = from.number<std::uint64_t>();
    pool.allocator.freelist = {
        .claimed = from.number<std::uint64_t>(), .waiting = waiting, .fresh = in_service};

    const std::size_t living = read_generations(from, pool, limits, in_service);
    if (living != objects) { // else one would be taken for retired
        from.refuse(0, counted(living, "slot", "of an object by the generation, and ") +
                           counted(objects, "object", "there"));
    }
    named_slots named(from, pool);
    from.numbers(objects, pool.owners);
    named.add(pool.owners.all(), slot_state::with_object, "object: ");
    if (pool.placement != 0) {
        from.numbers(objects, pool.places);
        require_ascending(from, pool.places.all(), limits.places, "place");
    }
    from.numbers(reserved, pool.reserved);
    named.add(pool.reserved, slot_state::without_object, "reserved: ");
    from.numbers(waiting, pool.waiting);
    named.add(pool.waiting, slot_state::without_object, "waiting: ");
    from.numbers(claims, pool.allocator.claims);
    std::uint64_t claimed = 0;
    for (const std::uint32_t each : pool.allocator.claims) {
        claimed += each;
    }
    from.require_that(claimed <= in_service, claims * sizeof(std::uint32_t),
                      std::to_string(claimed) + " slots are claimed; there are " +
                          std::to_string(in_service) + " in service");
    from.numbers(claimed, pool.allocator.claimed);
    named.add(pool.allocator.claimed, slot_state::without_object, "claimed: ");
    from.numbers(returned, pool.allocator.returned);
    named.add(pool.allocator.returned, slot_state::without_object, "returned: ");
    const std::size_t left = in_service - named.count();
    from.require_that(left == pool.allocator.retired, 0,
                      counted(left, "slot", "in no list, and ") +
                          counted(pool.allocator.retired, "slot", "retired"));
    return pool;
}

} // namespace handlepool::detail
