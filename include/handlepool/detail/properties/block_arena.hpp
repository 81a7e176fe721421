// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/mutex.hpp>
#include <handlepool/detail/memory/virtual_memory.hpp>
#include <handlepool/memory_use.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace handlepool::detail {

/// A block of an arena. Its memory is aligned to 8 bytes.
enum class block : std::uint32_t { none = 0 };

/// Sizes of blocks: 24, 32, 48, 64, 96 ... 49152, 65536 bytes, each a half or a third larger than the one
/// before. A class is the number of a size.
class block_class {
public:
    static constexpr std::uint32_t count = 24;

    explicit constexpr block_class(std::uint32_t number) noexcept : number_(number) {}
    /// The lowest one of at least so many bytes, which are not more than the highest has.
    static constexpr block_class of(std::size_t bytes) noexcept {
        block_class found(0);
        while (found.bytes() < bytes) {
            ++found.number_;
        }
        return found;
    }

    constexpr std::uint32_t number() const noexcept { return number_; }
    constexpr std::size_t bytes() const noexcept {
        return std::size_t{number_ % 2 == 0 ? 24U : 32U} << (number_ / 2);
    }

private:
    std::uint32_t number_;
};

/// Memory in blocks, which are taken and given back without a call of the system's allocator: from a range of
/// address space, one after the other, and after that those that were given back. Threads keep some of each
/// class for themselves, in magazines that they exchange whole with a depot (Bonwick and Adams, "Magazines
/// and Vmem"): what one thread gives back, others take.
///
/// Memory comes from the system a little ahead of its use, many pages in one call: by an eighth of what was
/// used at most, and from the fifth mebibyte on by huge pages, where the system has them. A fault for each
/// page would take as long as all that is done with it. It goes back with the arena.
class HANDLEPOOL_EXPORT block_arena {
public:
    /// Reserves address space. Throws reservation_failed and std::bad_alloc.
    explicit block_arena(std::size_t bytes);
    ~block_arena();

    block_arena(const block_arena&) = delete;
    block_arena& operator=(const block_arena&) = delete;

    /// A block, whose memory may hold anything; nothing when the address space is used up. Any thread, at any
    /// time; constant, blocks other threads briefly.
    std::optional<block> take(block_class size) noexcept;
    /// Of this class, which nobody uses. Any thread, at any time; constant, blocks other threads briefly.
    void give_back(block freed, block_class size) noexcept;

    /// Makes the arena as new, and gives its memory back to the system. Only while nobody uses it or a block;
    /// linear in the memory.
    void clear() noexcept;
    /// Gives back to the system what is ready ahead of its use. Only while nobody else uses the arena.
    void trim() noexcept;

    /// Its memory, until it is given back. Constant.
    std::byte* operator[](block which) noexcept { return base() + offset_of(which); }
    const std::byte* operator[](block which) const noexcept {
        return static_cast<const std::byte*>(memory_.data()) + offset_of(which);
    }

    /// How many blocks are in use: exact while no thread takes or gives back one.
    std::size_t in_use() const noexcept;
    /// Asks the system; linear in the range.
    memory_use memory() const noexcept;

private:
    /// Free blocks of one class, each of which holds the number of the next one.
    struct magazine {
        block first = block::none;
        std::uint32_t size = 0;
    };
    /// What a free block holds; the second is of the first one of a full magazine.
    struct links {
        block next;
        block next_magazine;
    };
    /// One thread's, or that of a few.
    struct alignas(cache_line) shard {
        mutex access; // to what follows
        std::array<magazine, block_class::count> loaded;
        std::array<magazine, block_class::count> spare; // full or empty
        std::size_t taken = 0;
        std::size_t given_back = 0;
    };

    /// Bytes of the memory.
    struct range {
        std::size_t first = 0;
        std::size_t last = 0;
    };

    static constexpr std::size_t unit = 8;
    static constexpr std::size_t offset_of(block which) noexcept {
        return static_cast<std::size_t>(which) * unit;
    }
    /// How many blocks a full magazine has: so many that the depot is rarely asked, and memory that one
    /// thread withholds from others is little.
    static constexpr std::uint32_t magazine_size(block_class size) noexcept;

    shard& own_shard() noexcept;
    magazine full_magazine(block_class size) noexcept;
    void keep_magazine(magazine full, block_class size) noexcept;
    void push(magazine& onto, block freed) noexcept;
    block pop(magazine& from) noexcept;

    /// What is to be populated now, if anything; under the depot's lock. The step before is ready, so that
    /// other threads don't wait for this one.
    range next_to_populate() noexcept;

    std::size_t used() const noexcept { return least(fresh_, memory_.size()); }
    /// No byte from here on has memory.
    std::size_t end_of_touched() const noexcept;
    std::byte* base() noexcept { return static_cast<std::byte*>(memory_.data()); }
    links& links_of(block free) noexcept { return *static_cast<links*>(static_cast<void*>((*this)[free])); }

    virtual_memory memory_;
    std::uint32_t shard_mask_;
    std::unique_ptr<shard[]> shards_;

    alignas(cache_line) mutex depot_access_;       // to what follows
    std::array<block, block_class::count> full_{}; // the first of the first magazine
    std::size_t fresh_ = unit;                     // bytes from here on were never used; no block is at 0
    std::size_t populated_ = 0;                    // bytes from here on are not populated
};

} // namespace handlepool::detail
