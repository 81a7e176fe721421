// SPDX-License-Identifier: MIT
#include "inspected_pool.hpp"

#include <handlepool/detail/recorder/recorded_event.hpp>
#include <handlepool/detail/slots/slot_history.hpp>
#include <handlepool/policy.hpp>

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace handlepool::inspect_tool {

namespace {

using detail::described_array;
using detail::life_record;

using history_type = detail::slot_history<default_policy>;

constexpr std::size_t slots_at_once = std::size_t{1} << 14;

std::uint64_t difference(std::uint64_t more, std::uint64_t less) noexcept {
    return more > less ? more - less : 0;
}

/// The location of a slot that is reserved for the object with this tag.
std::uint32_t reservation(std::uint32_t tag) noexcept {
    return raw(detail::location::first_no_place) | tag >> 1;
}

/// The words of a life, as life_recorder keeps them.
struct life_words {
    std::array<std::uint64_t, 2> beginning;
    std::array<std::uint64_t, 2> end;
};

/// What two words say of a generation.
std::optional<life_record> record_in(const std::array<std::uint64_t, 2>& words, std::uint32_t generation) {
    const life_record found = life_record::of(words[0], words[1]);
    const bool is_one = found.generation == generation && found.event != detail::life_event::none;
    return is_one ? std::optional(found) : std::nullopt;
}

/// An end that waits for a compaction, as waiting_ends keeps it.
struct waiting_words {
    std::uint64_t life;
    std::array<std::uint64_t, 2> end;
};

/// Calls `visit(first, elements)` for one part of an array after the other, up to `last`, until it returns
/// true.
template <class Element, class Visit>
void for_parts_until(const process_memory& memory, const described_array& array, std::uint64_t last,
                     Visit visit, std::uint64_t at_once = slots_at_once) {
    for (std::uint64_t first = 0; first < last; first += at_once) {
        const auto count = static_cast<std::size_t>(std::min(at_once, last - first));
        if (visit(first, memory.read_touched_array<Element>(address_in(array, first), count))) {
            return;
        }
    }
}

} // namespace

inspected_pool::inspected_pool(const inspected_program& program, const detail::living_pool& listed)
    : program_(program),
      memory_(program.memory()),
      listed_(listed),
      name_(memory_.read_string(listed.name)),
      type_(memory_.read_text(listed_.description.type.first, listed_.description.type.size)),
      columns_(memory_.read_array<detail::described_column>(
          reinterpret_cast<std::uintptr_t>(listed_.description.columns),
          static_cast<std::size_t>(std::min<std::uint64_t>(listed_.description.column_count, 1000)))) {
    require_sensible();
}

// The program may have been damaged, or want to do damage: what is relied on below, and how much is read.
void inspected_pool::require_sensible() const {
    const detail::described_pool& pool = listed_.description;
    constexpr std::uint64_t most_slots = std::uint64_t{1} << 32;
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 46;
    constexpr std::uint64_t most_lives_bits = 20;
    constexpr std::uint64_t most_shards =
        2 * std::uint64_t{detail::thread_index_limit}; // of threads and spawners
    const bool is_sensible =
        !columns_.empty() &&
        std::ranges::all_of(columns_,
                            [](const detail::described_column& each) {
                                return each.elements.stride > 0 &&
                                       each.elements.stride < (std::int64_t{1} << 32);
                            }) &&
        listed_.index_bits >= 1 && listed_.index_bits <= 63 && listed_.handle_bits <= 64 &&
        listed_.generation_bits <= 32 && listed_.pool_id_bits <= 32 &&
        listed_.generation_bits + listed_.pool_id_bits <= 32 &&
        pool.slot_table.stride == sizeof(slot_words) && pool.slot_table.count <= most_slots &&
        pool.lives_bits <= most_lives_bits &&
        (pool.lives.first == nullptr || (pool.lives.stride == sizeof(life_words) &&
                                         pool.lives.count == pool.slot_table.count << pool.lives_bits)) &&
        (pool.history.first == nullptr || pool.history.stride == 2 * sizeof(std::uint64_t)) &&
        (pool.waiting_ends.first == nullptr || pool.waiting_ends.stride == sizeof(waiting_words)) &&
        std::ranges::all_of(std::array{pool.created, pool.erased, pool.reserved, pool.closed},
                            [](const described_array& each) { return each.count <= most_shards; }) &&
        pool.memory_size <= most_bytes &&
        pool.phase_nanoseconds.count == std::tuple_size_v<decltype(pool_counts::phase_nanoseconds)> &&
        pool.phase_nanoseconds.stride == sizeof(std::uint64_t);
    if (!is_sensible && !is_among(listed_, program_.pools())) {
        throw memory_gone(fmt::format("pool '{}' of process {} has ended", name_, memory_.process()));
    }
    if (!is_sensible) {
        throw process_unreadable(
            fmt::format("process {} describes a pool '{}' that can't be", memory_.process(), name_));
    }
}

std::uint64_t inspected_pool::object_bytes() const noexcept {
    std::uint64_t bytes = 0;
    for (const detail::described_column& each : columns_) {
        bytes += static_cast<std::uint64_t>(each.elements.stride);
    }
    return bytes;
}

std::string inspected_pool::layout() const {
    return fmt::format("{}.{}.{}", listed_.index_bits, listed_.generation_bits, listed_.pool_id_bits);
}

// ---- Handles

std::uint64_t inspected_pool::index_of(std::uint64_t handle) const noexcept {
    return handle & ((std::uint64_t{1} << listed_.index_bits) - 1);
}
std::uint32_t inspected_pool::tag_of(std::uint64_t handle) const noexcept {
    const unsigned tag_bits = listed_.generation_bits + listed_.pool_id_bits;
    return static_cast<std::uint32_t>(handle >> listed_.index_bits & ((std::uint64_t{1} << tag_bits) - 1));
}
std::uint32_t inspected_pool::generation_of(std::uint32_t tag) const noexcept {
    return tag & static_cast<std::uint32_t>((std::uint64_t{1} << listed_.generation_bits) - 1);
}

bool inspected_pool::may_be_of(std::uint64_t handle) const noexcept {
    const bool fits = listed_.handle_bits == 64 || handle >> listed_.handle_bits == 0;
    return fits && std::uint64_t{tag_of(handle)} >> listed_.generation_bits == id();
}

inspected_pool::slot_words inspected_pool::slot_at(std::uint64_t index) const {
    return memory_.read<slot_words>(address_in(listed_.description.slot_table, index));
}

std::uint64_t inspected_pool::slots_in_service() const {
    if (slots_in_service_) {
        return *slots_in_service_;
    }
    // The last slot in use may lie behind many that a batch has taken and given back: all that is touched is
    // read.
    const described_array& table = listed_.description.slot_table;
    std::uint64_t last = 0;
    memory_.for_each_touched(
        address_in(table, 0), address_in(table, table.count), [&](std::uint64_t from, std::uint64_t until) {
            while (until - from >= sizeof(slot_words)) { // the table may be told to lie anywhere
                const std::uint64_t count =
                    std::min<std::uint64_t>(slots_at_once, (until - from) / sizeof(slot_words));
                const auto slots = memory_.read_array<slot_words>(from, static_cast<std::size_t>(count));
                from += count * sizeof(slot_words);
                for (std::size_t i = slots.size(); i != 0; --i) {
                    if (slots[i - 1].tag != 0 || slots[i - 1].location != 0) {
                        last = (from - address_in(table, 0)) / sizeof(slot_words) - slots.size() + i;
                        break;
                    }
                }
            }
        });
    slots_in_service_ = last;
    return last;
}

bool inspected_pool::is_alive(std::uint64_t handle) const {
    const std::uint64_t index = index_of(handle);
    return may_be_of(handle) && tag_of(handle) % 2 != 0 && index < listed_.description.slot_table.count &&
           slot_at(index).tag == tag_of(handle);
}

// ---- Counts

template <class Value>
std::uint64_t inspected_pool::sum_of(const described_array& counters) const {
    const auto last = memory_.read<std::uint32_t>(listed_.description.shard_count);
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(last, counters.count); ++i) {
        sum += memory_.read<Value>(address_in(counters, i));
    }
    return sum;
}

pool_counts inspected_pool::counts() const {
    pool_counts now;
    std::uint64_t left_nursery = 0;
    for (int tries = 0; tries != 3; ++tries) {
        now.at = inspect_tool::now();
        // Erased first, as in the pool's own size(): what happens meanwhile makes the result too large rather
        // than too small.
        now.erased = sum_of<std::uint64_t>(listed_.description.erased) +
                     memory_.read<std::uint64_t>(listed_.description.erased_without_shard);
        now.destroyed = memory_.read<std::uint64_t>(listed_.description.objects_destroyed);
        left_nursery = memory_.read<std::uint64_t>(listed_.description.objects_that_left_nursery);
        now.created = sum_of<std::uint64_t>(listed_.description.created);
        if (inspect_tool::now() - now.at < 1'000'000) { // else much may have happened: it had no processor
            break;
        }
    }
    now.alive = difference(now.created, now.erased);
    const auto closed = sum_of<std::uint64_t>(listed_.description.closed);
    now.reserved = difference(sum_of<std::uint64_t>(listed_.description.reserved), closed);
    now.newborn = difference(now.created, left_nursery);
    now.waiting_removals = difference(now.created, now.alive + now.destroyed);
    now.dense = is_stable() ? difference(left_nursery, now.destroyed)
                            : memory_.read<std::uint32_t>(listed_.description.dense_size);
    now.compaction_nanoseconds = memory_.read<std::uint64_t>(listed_.description.compaction_nanoseconds);
    now.frames = memory_.read<std::uint64_t>(listed_.description.frames);
    now.timed_compactions = memory_.read<std::uint64_t>(listed_.description.timed_compactions);
    now.phase_nanoseconds =
        memory_.read<decltype(now.phase_nanoseconds)>(listed_.description.phase_nanoseconds.first);
    now.bytes_resident =
        resident_bytes(memory_.process(), reinterpret_cast<std::uintptr_t>(listed_.description.memory),
                       listed_.description.memory_size);
    return now;
}

// ---- Lives

void inspected_pool::for_each_living(const std::function<void(const living_object&)>& visit) const {
    const auto visit_some = [&](std::uint64_t first, const std::vector<slot_words>& slots) {
        const std::size_t count = slots.size();
        std::vector<life_words> lives;
        std::vector<std::array<std::uint64_t, 2>> history;
        std::uint64_t frames = 0;
        if (records_lives()) {
            lives = memory_.read_touched_array<life_words>(
                address_in(listed_.description.lives, position_of_life(first, 0)),
                count << listed_.description.lives_bits);
        }
        if (listed_.description.history.first != nullptr) {
            history = memory_.read_touched_array<std::array<std::uint64_t, 2>>(
                address_in(listed_.description.history, first), count);
            frames = memory_.read<std::uint64_t>(listed_.description.frames);
        }
        for (std::size_t i = 0; i != count; ++i) {
            const std::uint32_t tag = slots[i].tag;
            if (tag % 2 == 0) {
                continue;
            }
            living_object one{.handle = std::uint64_t{tag} << listed_.index_bits | (first + i),
                              .index = first + i,
                              .generation = generation_of(tag),
                              .location = slots[i].location};
            if (records_lives()) {
                const auto& words = lives[position_of_life(i, one.generation)].beginning;
                const life_record record = life_record::of(words[0], words[1]);
                if (record.generation == one.generation) {
                    one.beginning = record;
                    one.age = frames_since(record);
                }
            } else if (!history.empty()) {
                // What no compaction has seen yet has been born in this frame.
                one.age =
                    history_type::frames_since_birth(history[i][0], history[i][1], tag, frames).value_or(0);
            }
            visit(one);
        }
        return false;
    };
    // Of slots with many lives a few at once, so that what is read has some megabytes.
    const std::uint64_t at_once =
        records_lives() ? std::max<std::uint64_t>(1, slots_at_once >> listed_.description.lives_bits)
                        : slots_at_once;
    for_parts_until<slot_words>(memory_, listed_.description.slot_table, slots_in_service(), visit_some,
                                at_once);
}

void inspected_pool::for_each_reserved(const std::function<void(std::uint64_t)>& visit) const {
    const auto first_tag = memory_.read<std::uint32_t>(listed_.description.first_tag);
    for_parts_until<slot_words>(memory_, listed_.description.slot_table, slots_in_service(),
                                [&](std::uint64_t first, const auto& slots) {
                                    for (std::size_t i = 0; i != slots.size(); ++i) {
                                        // As in slot_table.
                                        const std::uint32_t next =
                                            (slots[i].tag == 0 ? first_tag : slots[i].tag) + 1;
                                        if (next % 2 != 0 && slots[i].location == reservation(next)) {
                                            visit(std::uint64_t{next} << listed_.index_bits | (first + i));
                                        }
                                    }
                                    return false;
                                });
}

// ---- The store

std::uint64_t inspected_pool::dense_size() const {
    return std::min<std::uint64_t>(memory_.read<std::uint32_t>(listed_.description.dense_size),
                                   dense_positions());
}

std::uint64_t inspected_pool::erased_at(std::uint64_t position) const {
    const auto slot = memory_.read<std::uint32_t>(address_in(listed_.description.owners, position));
    if (slot >= listed_.description.slot_table.count) {
        return 0;
    }
    const slot_words words = slot_at(slot);
    const bool has_rested = words.tag != 0 && words.tag % 2 == 0 && words.location == position;
    return has_rested ? std::uint64_t{words.tag - 1} << listed_.index_bits | slot : 0;
}

std::vector<std::uint32_t> inspected_pool::hashes_at(std::uint32_t first, std::size_t count) const {
    std::vector<std::uint32_t> hashes(count);
    for (const detail::described_column& each : columns_) {
        const auto size = static_cast<std::size_t>(each.elements.stride);
        const auto bytes =
            memory_.read_touched_array<std::byte>(address_in(each.elements, first), size * count);
        for (std::size_t i = 0; i != count; ++i) {
            hashes[i] = static_cast<std::uint32_t>(XXH3_64bits_withSeed(&bytes[i * size], size, hashes[i]));
        }
    }
    return hashes;
}

std::optional<life_record> inspected_pool::record_at(std::uint64_t address, std::uint32_t generation) const {
    return record_in(memory_.read<std::array<std::uint64_t, 2>>(address), generation);
}

// As in waiting_ends: what is read twice, and the same, is whole.
std::optional<life_record> inspected_pool::waiting_end(detail::slot_index slot,
                                                       std::uint32_t generation) const {
    const std::uint64_t wanted = std::uint64_t{raw(slot)} << 32 | generation;
    const described_array& ends = listed_.description.waiting_ends;
    const std::uint64_t last =
        std::min(ends.count, memory_.read<std::uint64_t>(listed_.description.waiting_ends_reach));
    std::optional<life_record> found;
    for_parts_until<waiting_words>(memory_, ends, last, [&](std::uint64_t first, const auto& some) {
        for (std::size_t i = 0; i != some.size() && !found; ++i) {
            if (some[i].life != wanted) {
                continue;
            }
            const auto again = memory_.read<waiting_words>(address_in(ends, first + i));
            if (again.life == wanted && memory_.read<std::uint64_t>(address_in(ends, first + i)) == wanted) {
                found = record_in(again.end, generation);
            }
        }
        return found.has_value();
    });
    return found;
}

std::optional<life_record> inspected_pool::beginning(detail::slot_index slot,
                                                     std::uint32_t generation) const {
    return record_at(address_of_life(slot, generation) + offsetof(life_words, beginning), generation);
}
std::optional<life_record> inspected_pool::end(detail::slot_index slot, std::uint32_t generation,
                                               bool may_wait) const {
    const std::uint64_t address = address_of_life(slot, generation) + offsetof(life_words, end);
    const auto written = record_at(address, generation);
    if ((written && !written->is_undone) || !may_wait) {
        return written;
    }
    const auto waiting = waiting_end(slot, generation);
    return waiting ? waiting : record_at(address, generation); // perhaps it was taken over meanwhile
}

std::uint32_t inspected_pool::frames_since(const life_record& record) const {
    if (!lives_frame_) {
        lives_frame_ = memory_.read<std::uint32_t>(listed_.description.lives_frame);
    }
    const std::uint32_t frames = record.frames_until(*lives_frame_);
    constexpr std::uint32_t most_of_a_look = 1U << 16;                     // frames that may end meanwhile
    return frames > life_record::frame_mask - most_of_a_look ? 0 : frames; // it is later than the look
}

// As in life_recorder.
std::uint64_t inspected_pool::position_of_life(std::uint64_t slot, std::uint32_t generation) const noexcept {
    const std::uint64_t lanes = std::uint64_t{1} << listed_.description.lives_bits;
    return slot * lanes + (generation >> 1 & (lanes - 1));
}
std::uint64_t inspected_pool::address_of_life(detail::slot_index slot,
                                              std::uint32_t generation) const noexcept {
    return address_in(listed_.description.lives, position_of_life(raw(slot), generation));
}

std::string inspected_pool::describe(std::uint64_t handle) const {
    const std::uint64_t index = index_of(handle);
    const std::uint32_t tag = tag_of(handle);
    const auto first_tag = memory_.read<std::uint32_t>(listed_.description.first_tag);
    detail::handle_report report{
        .null = handle == 0,
        .index = index,
        .generation = generation_of(tag),
        .pool_id = static_cast<std::uint32_t>(std::uint64_t{tag} >> listed_.generation_bits),
        .own_pool_id = id(),
        .first_generation = generation_of(first_tag),
        .slots_in_service = slots_in_service()};
    const bool could_live = may_be_of(handle) && tag % 2 != 0;
    bool is_alive = false;
    if (index < listed_.description.slot_table.count) {
        // As in slot_table.
        const slot_words words = slot_at(index);
        report.slot_generation = generation_of(words.tag);
        is_alive = could_live && words.tag == tag;
        report.cancelled = words.tag == tag + 1 && words.location == raw(detail::location::nowhere);
        report.reserved = could_live && words.tag % 2 == 0 && words.location == reservation(tag);
        if (records_lives()) {
            report.lives_kept = lives_kept();
            const auto tell = [&](const life_record& record) {
                return program_.event_of(record, frames_since(record));
            };
            report.life =
                detail::recorded_life_of(*this, detail::slot_index{static_cast<std::uint32_t>(index)},
                                         report.generation, words.tag == tag + 1, tell);
            if (const auto reset = record_at(reinterpret_cast<std::uintptr_t>(listed_.description.last_reset),
                                             report.first_generation)) {
                report.last_reset = tell(*reset);
            }
        }
        if (listed_.description.history.first != nullptr) {
            const auto stamps =
                memory_.read<std::array<std::uint64_t, 2>>(address_in(listed_.description.history, index));
            const auto now = memory_.read<std::uint64_t>(listed_.description.frames);
            report.frames_since_birth =
                history_type::frames_since_birth(stamps[0], stamps[1], tag, now).value_or(0);
            report.frames_since_death = history_type::frames_since_death(stamps[1], tag, now).value_or(0);
        }
    }
    return detail::describe_handle(name_, is_alive, report);
}

std::optional<object_copy> inspected_pool::copy(std::uint64_t handle) const {
    constexpr int most_tries = 1000;
    for (int i = 0; i != most_tries && is_alive(handle); ++i) {
        const auto frames = memory_.read<std::uint64_t>(listed_.description.frames);
        const auto gate = memory_.read<std::uint32_t>(listed_.description.gate.state);
        const slot_words before = slot_at(index_of(handle));
        if (before.location >= columns_.front().elements.count) {
            continue; // it is just being made
        }
        object_copy made{.location = before.location,
                         .is_dense = before.location < listed_.description.dense_positions};
        for (const detail::described_column& each : columns_) {
            const auto bytes = memory_.read_array<std::byte>(address_in(each.elements, before.location),
                                                             static_cast<std::size_t>(each.elements.stride));
            made.bytes.insert(made.bytes.end(), bytes.begin(), bytes.end());
        }
        // Nothing moves while the gate is open; and what a compaction moves, it moves to another location.
        const slot_words after = slot_at(index_of(handle));
        const bool has_rested = gate != 2 &&
                                memory_.read<std::uint32_t>(listed_.description.gate.state) != 2 &&
                                memory_.read<std::uint64_t>(listed_.description.frames) == frames;
        if (after.tag == before.tag && after.location == before.location && (is_stable() || has_rested)) {
            return made;
        }
    }
    return std::nullopt;
}

} // namespace handlepool::inspect_tool
