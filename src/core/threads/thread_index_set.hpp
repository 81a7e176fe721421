// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// Numbers below `64 * Words`, each of which has one owner at a time. Any thread may call any function at any
/// time; a thread that is stopped in one blocks no other.
template <template <class> class Atomic, std::size_t Words>
class thread_index_set {
public:
    static constexpr std::uint32_t size = 64 * Words;

    /// Takes the lowest number that is free; returns `size` when there is none. All that its former owner did
    /// before give_back() happens before the return. Lock-free, linear in the numbers taken.
    std::uint32_t claim() noexcept {
        for (std::uint32_t word = 0; word < Words; ++word) {
            std::uint64_t bits = taken_[word].load(std::memory_order::relaxed);
            while (bits != ~std::uint64_t{0}) {
                const auto bit = static_cast<std::uint32_t>(std::countr_one(bits));
                // (21) acquire: pairs with (20), the former owner of the number
                bits = taken_[word].fetch_or(std::uint64_t{1} << bit, std::memory_order::acquire);
                if ((bits >> bit & 1) == 0) {
                    return word * 64 + bit;
                }
            }
        }
        return size;
    }

    /// Gives a number back. Only its owner; wait-free.
    void give_back(std::uint32_t index) noexcept {
        // (20) release: pairs with (21), the next owner of the number
        taken_[index / 64].fetch_and(~(std::uint64_t{1} << (index % 64)), std::memory_order::release);
    }

private:
    // One bit a number, set while it has an owner.
    std::array<Atomic<std::uint64_t>, Words> taken_{};
};

} // namespace handlepool::detail
