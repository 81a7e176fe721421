// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace handlepool_bench {

/// The contender: the classic sequential packed array (the ID lookup table of the BitSquid engine). Sparse
/// entries with a generation, dense items, a first-freed-first-used list of free entries linked through the
/// sparse table, and erase that swaps and pops at once. Not for threads; it checks what the pool checks, and
/// allocates only when made.
template <class T>
class packed_array {
public:
    struct handle_type {
        std::uint32_t index;
        std::uint32_t generation;
    };

    explicit packed_array(std::size_t capacity) : sparse_(capacity), items_(capacity), owners_(capacity) {
        for (std::uint32_t i = 0; i != capacity; ++i) {
            sparse_[i] = {.generation = 0, .place = i + 1};
        }
        last_free_ = static_cast<std::uint32_t>(capacity) - 1;
    }

    /// There must be room.
    template <class... Args>
    handle_type emplace(Args&&... args) {
        const std::uint32_t index = first_free_;
        entry& mine = sparse_[index];
        first_free_ = mine.place;
        mine.place = size_;
        items_[size_] = T(std::forward<Args>(args)...);
        owners_[size_] = index;
        ++size_;
        return {.index = index, .generation = mine.generation};
    }

    bool erase(handle_type handle) noexcept {
        if (!contains(handle)) {
            return false;
        }
        entry& mine = sparse_[handle.index];
        ++mine.generation;
        const std::uint32_t hole = mine.place;
        const std::uint32_t last = --size_;
        if (hole != last) {
            items_[hole] = std::move(items_[last]);
            owners_[hole] = owners_[last];
            sparse_[owners_[hole]].place = hole;
        }
        sparse_[last_free_].place = handle.index;
        last_free_ = handle.index;
        return true;
    }

    /// Makes all handles stale, and frees their entries in the order of the items.
    void clear() noexcept {
        for (std::uint32_t position = 0; position != size_; ++position) {
            const std::uint32_t index = owners_[position];
            ++sparse_[index].generation;
            sparse_[last_free_].place = index;
            last_free_ = index;
        }
        size_ = 0;
    }

    bool contains(handle_type handle) const noexcept {
        return handle.index < sparse_.size() && sparse_[handle.index].generation == handle.generation;
    }

    T* find(handle_type handle) noexcept {
        return contains(handle) ? &items_[sparse_[handle.index].place] : nullptr;
    }

    std::span<const T> items() const noexcept { return {items_.data(), size_}; }

private:
    struct entry {
        std::uint32_t generation; // moved on by erase: no handle of a free entry is valid
        std::uint32_t place;      // of the object, or while there is none, the next free entry
    };

    std::vector<entry> sparse_;
    std::vector<T> items_;
    std::vector<std::uint32_t> owners_; // for each item, its entry
    std::uint32_t size_ = 0;
    std::uint32_t first_free_ = 0;
    std::uint32_t last_free_ = 0;
};

} // namespace handlepool_bench
