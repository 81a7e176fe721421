// SPDX-License-Identifier: MIT
#pragma once

#include "pool_contender.hpp"
#include "sim_object.hpp"
#include "sim_policy.hpp"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string_view>

namespace handlepool::coherence {

/// A bounded queue for any number of producers and consumers, after Vyukov: each cell has a sequence number
/// that says whether it can be written or read.
class index_queue {
public:
    explicit index_queue(std::size_t size) : cells_("queue cells", std::bit_ceil(size), size) {
        for (std::size_t i = 0; i != cells_.size(); ++i) {
            cells_[i].sequence.store(i, std::memory_order::relaxed);
        }
    }

    /// There must be room.
    void push(std::uint32_t index) noexcept {
        std::uint64_t at = tail_.load(std::memory_order::relaxed);
        while (true) {
            cell& mine = cells_[at & mask()];
            if (mine.sequence.load(std::memory_order::acquire) != at) {
                at = tail_.load(std::memory_order::relaxed);
            } else if (tail_.compare_exchange_weak(at, at + 1, std::memory_order::relaxed)) {
                mine.index = index;
                mine.sequence.store(at + 1, std::memory_order::release);
                return;
            }
        }
    }
    /// There must be one.
    std::uint32_t pop() noexcept {
        std::uint64_t at = head_.load(std::memory_order::relaxed);
        while (true) {
            cell& mine = cells_[at & mask()];
            if (mine.sequence.load(std::memory_order::acquire) != at + 1) {
                at = head_.load(std::memory_order::relaxed);
            } else if (head_.compare_exchange_weak(at, at + 1, std::memory_order::relaxed)) {
                const std::uint32_t index = mine.index;
                mine.sequence.store(at + cells_.size(), std::memory_order::release);
                return index;
            }
        }
    }

private:
    struct cell {
        sim_atomic<std::uint64_t> sequence;
        sim_plain<std::uint32_t> index;
    };
    std::uint64_t mask() const noexcept { return cells_.size() - 1; }

    sim_array<cell> cells_;
    alignas(line_size) sim_atomic<std::uint64_t> head_{0};
    alignas(line_size) sim_atomic<std::uint64_t> tail_{0};
};

/// Slots over one queue that all threads share: each creation takes a slot from it, each erasure gives one
/// back. Objects stay where they are, with holes between them.
class queue_contender {
public:
    static constexpr std::string_view name = "slots over one queue";
    struct handle_type {
        std::uint32_t index = 0;
        std::uint32_t generation = 0;
    };

    explicit queue_contender(std::size_t alive) : slots_("slots", alive + 1024) {}

    handle_type emplace(std::uint64_t seed) {
        const std::uint32_t index = slots_->free.pop();
        sim_atomic<std::uint32_t>& generation = slots_->generations[index];
        const std::uint32_t next = generation.load(std::memory_order::relaxed) + 1;
        ::new (static_cast<void*>(slots_->object(index))) sim_object(seed);
        generation.store(next, std::memory_order::release);
        return {.index = index, .generation = next};
    }
    bool erase(handle_type handle) noexcept {
        std::uint32_t expected = handle.generation;
        if (!slots_->generations[handle.index].compare_exchange_strong(
                expected, handle.generation + 1, std::memory_order::acquire, std::memory_order::relaxed)) {
            return false;
        }
        slots_->object(handle.index)->~sim_object();
        slots_->free.push(handle.index);
        return true;
    }
    std::optional<std::uint64_t> find(handle_type handle) noexcept {
        return slots_->generations[handle.index].load(std::memory_order::acquire) == handle.generation
                   ? std::optional(slots_->object(handle.index)->read())
                   : std::nullopt;
    }
    static void end_frame() {}

private:
    struct slots {
        explicit slots(std::size_t capacity)
            : generations("generations", capacity, capacity),
              objects("objects", capacity * sizeof(sim_object), capacity * sizeof(sim_object)),
              free(capacity) {
            for (std::uint32_t i = 0; i != capacity; ++i) {
                free.push(i);
            }
        }

        sim_object* object(std::uint32_t index) noexcept {
            return reinterpret_cast<sim_object*>(objects.data() + index * sizeof(sim_object));
        }

        sim_array<sim_atomic<std::uint32_t>> generations; // odd while there is an object
        sim_array<std::byte> objects;
        index_queue free;
    };

    simulated<slots> slots_;
};

} // namespace handlepool::coherence
