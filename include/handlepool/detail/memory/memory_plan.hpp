// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/virtual_memory.hpp>

#include <cstddef>
#include <vector>

namespace handlepool::detail {

/// Collects the arrays of a pool, to put all of them into one mapping. They are made under an
/// `allocation_label` of the plan, and have memory once it is reserved. They must not move in between.
///
/// The arrays of a large pool have pages of their own, as in mappings of their own. Those of a small pool lie
/// close together: a page of memory for each, and a page of page tables for each two megabytes in which one
/// is touched, would cost more than what the pool keeps there. So an array that is used from its end and one
/// that is used from its beginning meet in one page, and the largest ones are the first and the last of
/// all:
///
///     ... second, first shard | small arrays | last moves ... first move | first slot ... | objects ...
///      nobody touches before `---------------------- the window ----------------------'
///
/// Arrays that many pools never use come after the objects.
class HANDLEPOOL_EXPORT memory_plan {
public:
    /// Arrays are laid out for pages of this size, a multiple of the system's.
    explicit memory_plan(std::size_t page_size = virtual_memory::page_size()) noexcept
        : page_size_(page_size), alignment_(page_size) {}

    memory_plan(const memory_plan&) = delete;
    memory_plan& operator=(const memory_plan&) = delete;

    /// An array's memory, of `size` bytes, the first `expected` of which are likely to be used.
    void add(virtual_memory& array, const allocation_label& what_for, std::size_t size, std::size_t alignment,
             std::size_t expected);

    /// Reserves memory for all of them, which lasts as long as what it returns. Throws reservation_failed,
    /// which repeats `what_for`; then no array has any. Once.
    virtual_memory reserve(const allocation_label& what_for);

private:
    struct request {
        virtual_memory* array;
        std::size_t size;
        std::size_t alignment;
        std::size_t expected;
        bool from_end;
        bool rarely;
        bool in_steps;
        std::size_t offset;
    };

    /// The bytes of all requests. Does not overflow once reserve() has checked them.
    std::size_t requested() const noexcept;
    bool is_small() const noexcept;
    void lay_out_with_own_pages();
    void lay_out_close_together();
    void lay_out_pairs(std::vector<request> arrays, bool window);

    /// Puts an array after those that are laid out.
    void put(const request& one, std::size_t offset);
    /// Where it can begin, after those that are laid out.
    std::size_t next_place(const request& one) const noexcept;
    /// Where it begins if it is to end in the first half of a page.
    std::size_t place_before_junction(const request& one) const noexcept;

    std::size_t page_size_;
    std::vector<request> requests_;
    std::vector<request> laid_out_; // in the order of their offsets
    std::size_t size_ = 0;          // of the mapping
    std::size_t alignment_;         // of the mapping
};

} // namespace handlepool::detail
