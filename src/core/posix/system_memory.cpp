// SPDX-License-Identifier: MIT
#include "../memory/system_memory.hpp"

#include <handlepool/detail/base/config.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace handlepool::detail::system_memory {

namespace {

// MADV_POPULATE_WRITE, of Linux 5.14, which older headers don't have.
constexpr int populate_write = 23;

constexpr int readable_and_writable = PROT_READ | PROT_WRITE;
constexpr int reserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

} // namespace

std::size_t page_size() noexcept {
    static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

reservation reserve(std::size_t size) noexcept {
    void* const mapping =
        mmap(nullptr, size, memory_by_touch ? readable_and_writable : PROT_NONE, reserved, -1, 0);
    if (mapping == MAP_FAILED) {
        return {.first = nullptr, .error_number = errno};
    }
    return {.first = static_cast<std::byte*>(mapping), .error_number = 0};
}

void unreserve(std::byte* first, std::size_t size) noexcept {
    munmap(first, size);
}

bool commit(std::byte* first, std::size_t size) noexcept {
    return memory_by_touch || mprotect(first, size, readable_and_writable) == 0;
}

bool give_back(std::byte* first, std::size_t size) noexcept {
    if constexpr (!memory_by_touch) {
        return mmap(first, size, PROT_NONE, reserved | MAP_FIXED, -1, 0) != MAP_FAILED;
    }
    // The system keeps pages that are locked in memory, and a filter of system calls may refuse them all.
    return madvise(first, size, MADV_DONTNEED) == 0;
}

void populate(std::byte* first, std::size_t size) noexcept {
    madvise(first, size, populate_write);
}

void prefer_huge_pages(std::byte* first, std::size_t size) noexcept {
    madvise(first, size, MADV_HUGEPAGE);
}

void refuse_huge_pages(std::byte* first, std::size_t size) noexcept {
    madvise(first, size, MADV_NOHUGEPAGE);
}

std::size_t resident_pages(const std::byte* first, std::size_t pages) noexcept {
    std::array<unsigned char, 4096> present{};
    std::size_t count = 0;
    for (std::size_t page = 0; page < pages; page += present.size()) {
        const std::size_t asked = std::min(present.size(), pages - page);
        // Only asks, but its parameter is not const.
        if (mincore(const_cast<std::byte*>(first) + page * page_size(), asked * page_size(),
                    present.data()) == 0) {
            count += static_cast<std::size_t>(
                std::count_if(present.begin(), present.begin() + static_cast<std::ptrdiff_t>(asked),
                              [](unsigned char flags) { return (flags & 1) != 0; }));
        }
    }
    return count;
}

} // namespace handlepool::detail::system_memory
