// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

/// Address space and memory, as the system gives them: the one part of virtual_memory that each platform has
/// in a file of its own. Addresses and sizes are multiples of the page size.
namespace handlepool::detail::system_memory {

/// Bytes of a page; a power of two.
std::size_t page_size() noexcept;

struct reservation {
    std::byte* first; // null when there is none
    int error_number; // why
};

/// Reserves a range of address space. Its bytes are zero. Where memory does not come by touch, they must be
/// committed before that.
reservation reserve(std::size_t size) noexcept;
/// Gives back a whole range, as it was reserved.
void unreserve(std::byte* first, std::size_t size) noexcept;

/// Sees to it that these bytes can be touched; those that can be already stay as they are. Any thread, at any
/// time. False when the system has no memory.
bool commit(std::byte* first, std::size_t size) noexcept;

/// Gives the memory of these bytes back: they are zero then, and where memory does not come by touch, they
/// must be committed again. False where the system doesn't take it; then nothing has changed.
bool give_back(std::byte* first, std::size_t size) noexcept;

/// Has these pages backed at once, changing no byte. A hint.
void populate(std::byte* first, std::size_t size) noexcept;

/// Has them backed by huge pages as they are touched. A hint.
void prefer_huge_pages(std::byte* first, std::size_t size) noexcept;
/// Has them backed by small pages, whatever the system prefers. A hint.
void refuse_huge_pages(std::byte* first, std::size_t size) noexcept;

/// How many of these pages are backed by memory; 0 where the system refuses to say.
std::size_t resident_pages(const std::byte* first, std::size_t pages) noexcept;

} // namespace handlepool::detail::system_memory
