// SPDX-License-Identifier: MIT
#pragma once

#include "contender.hpp"

#include <bench/tools/capacity.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

namespace handlepool_bench::peers {

/// What is often built by hand: an array of objects whose free places wait in a concurrent queue, and a
/// generation for each, odd while there is an object. `Queue` is made with (capacity, threads), and has
/// put(thread, index) and take(thread, index), false if it is empty.
///
/// Kind to the contender: an erased object's place is used again at once, so a thread that looks it up at
/// that moment may read the next object, which a real program must prevent.
template <class Queue>
class slots {
public:
    struct handle_type {
        std::uint32_t index;
        std::uint32_t generation;
    };
    static constexpr unsigned fewest_threads = 1;
    static constexpr unsigned most_threads = any_number;
    static constexpr bool checks_handles = true;

    slots(std::size_t alive, unsigned threads)
        : free_(capacity_for(alive) + 1024, threads),
          generations_(capacity_for(alive) + 1024),
          places_(std::make_unique_for_overwrite<place[]>(generations_.size())) {
        for (std::uint32_t i = 0; i != generations_.size(); ++i) {
            free_.put(0, i);
        }
    }

    handle_type create(unsigned thread, std::uint64_t seed) {
        std::uint32_t index = 0;
        if (!free_.take(thread, index)) {
            throw std::length_error("all slots are in use");
        }
        ::new (static_cast<void*>(places_[index].bytes)) object(seed);
        // Nobody else changes the generation of a free slot.
        const std::uint32_t generation = generations_[index].load(std::memory_order::relaxed) + 1;
        generations_[index].store(generation, std::memory_order::release);
        return {.index = index, .generation = generation};
    }

    bool erase(unsigned thread, handle_type handle) {
        std::uint32_t expected = handle.generation;
        if (!generations_[handle.index].compare_exchange_strong(
                expected, expected + 1, std::memory_order::acq_rel, std::memory_order::relaxed)) {
            return false;
        }
        free_.put(thread, handle.index);
        return true;
    }

    template <class Visit>
    bool find(handle_type handle, Visit&& visit) {
        if (generations_[handle.index].load(std::memory_order::acquire) != handle.generation) {
            return false;
        }
        visit(at(handle.index));
        return true;
    }

    template <class Visit>
    void for_each(Visit&& visit) {
        for (std::uint32_t i = 0; i != generations_.size(); ++i) {
            if (is_alive(i)) {
                visit(at(i));
            }
        }
    }

    void end_frame() {}

    std::size_t size() {
        std::size_t count = 0;
        for (std::uint32_t i = 0; i != generations_.size(); ++i) {
            count += is_alive(i) ? 1 : 0;
        }
        return count;
    }

private:
    // Without an object at first, so that memory is touched by the objects that come.
    struct alignas(object) place {
        std::byte bytes[sizeof(object)];
    };

    bool is_alive(std::uint32_t index) const {
        return generations_[index].load(std::memory_order::relaxed) % 2 == 1;
    }
    const object& at(std::uint32_t index) const {
        return *std::launder(reinterpret_cast<const object*>(places_[index].bytes));
    }

    Queue free_;
    std::vector<std::atomic<std::uint32_t>> generations_;
    std::unique_ptr<place[]> places_;
};

} // namespace handlepool_bench::peers
