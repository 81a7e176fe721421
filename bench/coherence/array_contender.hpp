// SPDX-License-Identifier: MIT
#pragma once

#include "pool_contender.hpp"
#include "sim_object.hpp"
#include "sim_policy.hpp"
#include "ticket_lock.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>

namespace handlepool::coherence {

/// The classic packed array, behind a lock: sparse entries with a generation, dense items, a list of free
/// entries linked through the sparse ones, and erase that swaps and pops at once.
class array_contender {
public:
    static constexpr std::string_view name = "packed array behind a lock";
    struct handle_type {
        std::uint32_t index = 0;
        std::uint32_t generation = 0;
    };

    explicit array_contender(std::size_t alive) : array_("array", alive + 1024) {}

    handle_type emplace(std::uint64_t seed) {
        const std::scoped_lock lock(array_->lock);
        return array_->emplace(seed);
    }
    bool erase(handle_type handle) noexcept {
        const std::scoped_lock lock(array_->lock);
        return array_->erase(handle);
    }
    std::optional<std::uint64_t> find(handle_type handle) noexcept {
        const std::scoped_lock lock(array_->lock);
        return array_->find(handle);
    }
    static void end_frame() {}
    std::size_t size() noexcept { return array_->size; }

private:
    struct entry {
        sim_plain<std::uint32_t> generation; // moved on by erase: no handle of a free entry is valid
        sim_plain<std::uint32_t> place;      // of the object, or while there is none, the next free entry
    };

    struct packed_array {
        explicit packed_array(std::size_t capacity)
            : entries("entries", capacity, capacity),
              items("objects", capacity * sizeof(sim_object), capacity * sizeof(sim_object)),
              owners("owners", capacity, capacity) {
            for (std::uint32_t i = 0; i != capacity; ++i) {
                entries[i].place = i + 1;
            }
            last_free = static_cast<std::uint32_t>(capacity) - 1;
        }
        ~packed_array() {
            for (std::uint32_t i = 0; i != size; ++i) {
                item(i)->~sim_object();
            }
        }
        packed_array(const packed_array&) = delete;
        packed_array& operator=(const packed_array&) = delete;

        sim_object* item(std::uint32_t place) noexcept {
            return reinterpret_cast<sim_object*>(items.data() + place * sizeof(sim_object));
        }
        handle_type emplace(std::uint64_t seed);
        bool erase(handle_type handle) noexcept;
        std::optional<std::uint64_t> find(handle_type handle) noexcept;

        ticket_lock lock;
        sim_array<entry> entries;
        sim_array<std::byte> items;
        sim_array<sim_plain<std::uint32_t>> owners; // for each item, its entry
        // Apart from the lock: who waits must not disturb who works.
        alignas(line_size) sim_plain<std::uint32_t> size{0};
        sim_plain<std::uint32_t> first_free{0};
        sim_plain<std::uint32_t> last_free{0};
    };

    simulated<packed_array> array_;
};

inline array_contender::handle_type array_contender::packed_array::emplace(std::uint64_t seed) {
    const std::uint32_t index = first_free;
    const std::uint32_t place = size;
    entry& mine = entries[index];
    first_free = mine.place;
    mine.place = place;
    ::new (static_cast<void*>(item(place))) sim_object(seed);
    owners[place] = index;
    size = place + 1;
    return {.index = index, .generation = mine.generation};
}

inline bool array_contender::packed_array::erase(handle_type handle) noexcept {
    entry& mine = entries[handle.index];
    if (mine.generation != handle.generation) {
        return false;
    }
    mine.generation = handle.generation + 1;
    const std::uint32_t hole = mine.place;
    const std::uint32_t last = size - 1;
    size = last;
    if (hole != last) {
        *item(hole) = std::move(*item(last));
        const std::uint32_t moved = owners[last];
        owners[hole] = moved;
        entries[moved].place = hole;
    }
    item(last)->~sim_object();
    entries[last_free].place = handle.index;
    last_free = handle.index;
    return true;
}

inline std::optional<std::uint64_t> array_contender::packed_array::find(handle_type handle) noexcept {
    const entry& wanted = entries[handle.index];
    return wanted.generation == handle.generation ? std::optional(item(wanted.place)->read()) : std::nullopt;
}

} // namespace handlepool::coherence
