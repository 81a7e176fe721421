// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/page_set.hpp>

#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

namespace handlepool::detail {

/// A reserved range of address space, readable and writable, zero at first. Memory is taken from the system
/// page by page as it is touched. Move-only.
///
/// On Windows a range must be *committed* before it is touched: the system promises memory then, which counts
/// against its limit, though a page still comes only when it is touched. Of a large range whose purpose is
/// `in_steps`, only what make_ready() was called for is committed, and it is given back like any memory. All
/// others are committed when they are reserved, and stay so: what they give back is that of the pages alone.
///
/// Ranges of one plan lie in one mapping, and may share pages. None of them ever touches what is not its own.
class HANDLEPOOL_EXPORT virtual_memory {
public:
    static constexpr std::size_t huge_page_size = std::size_t{2} << 20;

    /// Bytes of a page of the system's memory: a power of two, 4 KiB to 64 KiB on the machines of today.
    static std::size_t page_size() noexcept;

    virtual_memory() noexcept = default;

    /// Reserves room for `count` elements of `element_size` bytes, aligned to `alignment` (a power of two, of
    /// any size). The system is asked to use huge pages for what the `expected` elements fill of them. Throws
    /// reservation_failed with `what_for`, the size and the system's reason, and on Windows std::bad_alloc.
    /// With a plan, the memory comes when that is reserved.
    virtual_memory(const allocation_label& what_for, std::size_t count, std::size_t element_size,
                   std::size_t alignment, std::size_t expected);
    ~virtual_memory();

    virtual_memory(virtual_memory&& other) noexcept
        : mapping_(std::exchange(other.mapping_, nullptr)),
          data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          extent_(std::exchange(other.extent_, 0)),
          ready_(std::exchange(other.ready_, {})) {}
    virtual_memory& operator=(virtual_memory&& other) noexcept {
        std::swap(mapping_, other.mapping_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(extent_, other.extent_);
        std::swap(ready_, other.ready_);
        return *this;
    }

    void* data() noexcept { return data_; }
    const void* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

    /// Sees to it that these bytes can be touched; what they hold stays. Where memory comes by touch, and for
    /// a range that is not used in steps, they always can. Any thread, while others use other bytes or call
    /// it for the same. False when the system has no memory. Lock-free; a system call for new pages.
    [[nodiscard]] bool make_ready(std::size_t first, std::size_t last) noexcept {
        if constexpr (memory_by_touch) {
            return true;
        } else {
            return first == last || !in_steps() || commit_missing(first, last);
        }
    }

    /// Makes the bytes from `first` to before `last` zero again, and gives whole pages of them back to the
    /// system; where it doesn't take them, they only become zero.
    void discard(std::size_t first, std::size_t last) noexcept;

    /// Gives whole pages of these bytes back to the system, where it takes them: these are zero then, and the
    /// other bytes as they were. Writes nothing itself. On Windows for ranges in steps only.
    void release(std::size_t first, std::size_t last) noexcept;

    /// Has the pages of these bytes backed at once, in one call instead of a fault each. Changes no byte: any
    /// thread, while others use them. A hint: where the system doesn't, each page comes when it is touched.
    void populate(std::size_t first, std::size_t last) noexcept;

    /// Asks the system to use huge pages for these bytes, from the first whole one on, as they are touched;
    /// if two are whole at least. A hint: where the system has none, small pages serve.
    void prefer_huge_pages(std::size_t first, std::size_t last) noexcept;

    /// The end of the huge page that the byte before `at` may lie in, if these bytes prefer such: so much has
    /// memory together. Else `at`.
    std::size_t end_of_huge_page(std::size_t first, std::size_t last, std::size_t at) const noexcept;

    /// Asks the system not to use huge pages for whole pages of these bytes, though it may do so unasked
    /// elsewhere, so that no more has memory than is touched. A hint.
    void refuse_huge_pages(std::size_t first, std::size_t last) noexcept;

    /// Bytes that are backed by memory now; 0 where the system refuses to say. A page that several ranges of
    /// a plan share counts for the one in which it ends, so that it counts once in their sum.
    std::size_t resident() const noexcept;

private:
    friend class memory_plan;

    struct range {
        std::size_t first;
        std::size_t last;
    };

    // Of a reservation; more is refused before the system is asked.
    static constexpr std::size_t most_bytes = (std::numeric_limits<std::size_t>::max)() / 4;

    /// Bytes at the beginning of a range for which huge pages are asked.
    static std::size_t huge_bytes(std::size_t size, std::size_t expected) noexcept;

    /// Maps `size` bytes for itself.
    void map(const allocation_label& what_for, std::size_t size, std::size_t alignment);
    /// Takes its place in the mapping of a plan: nothing else lies in the `extent` bytes from there on.
    void place(std::byte* data, std::size_t extent) noexcept;

    /// Where memory does not come by touch: commits all, or prepares for steps. Throws like the constructor.
    void make_usable(const allocation_label& what_for, bool in_steps);
    bool in_steps() const noexcept { return ready_.has_pages(); }
    bool commit_missing(std::size_t first, std::size_t last) noexcept;
    /// The page in which a byte lies, counted from that of the first byte; and where a page begins.
    std::size_t page_of(std::size_t offset) const noexcept;
    std::byte* address_of_page(std::size_t page) const noexcept;

    /// Makes bytes zero, but for pages that are not ready, which are.
    void zero(std::size_t first, std::size_t last) noexcept;
    range whole_pages(std::size_t first, std::size_t last) const noexcept;
    range whole_huge_pages(std::size_t first, std::size_t last) const noexcept;
    bool give_back(range pages) noexcept;

    std::byte* mapping_ = nullptr; // its own
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t extent_ = 0; // bytes from `data_` on in which nothing else lies
    // Of a range in steps: the pages that can be touched.
    using page_set_type = std::conditional_t<memory_by_touch, no_page_set, page_set>;
    [[no_unique_address]] page_set_type ready_;
};

} // namespace handlepool::detail
