// SPDX-License-Identifier: MIT
#include "../memory/system_memory.hpp"

#include <windows.h>
// After it.
#include <psapi.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace handlepool::detail::system_memory {

namespace {

const SYSTEM_INFO& system_info() noexcept {
    static const SYSTEM_INFO info = [] {
        SYSTEM_INFO asked{};
        GetSystemInfo(&asked);
        return asked;
    }();
    return info;
}

} // namespace

std::size_t page_size() noexcept {
    return system_info().dwPageSize;
}

reservation reserve(std::size_t size) noexcept {
    void* const first = VirtualAlloc(nullptr, size, MEM_RESERVE, PAGE_READWRITE);
    if (first == nullptr) {
        return {.first = nullptr, .error_number = ENOMEM}; // there is nothing else to be wrong
    }
    return {.first = static_cast<std::byte*>(first), .error_number = 0};
}

void unreserve(std::byte* first, std::size_t) noexcept {
    VirtualFree(first, 0, MEM_RELEASE);
}

bool commit(std::byte* first, std::size_t size) noexcept {
    return VirtualAlloc(first, size, MEM_COMMIT, PAGE_READWRITE) != nullptr;
}

bool give_back(std::byte* first, std::size_t size) noexcept {
    return VirtualFree(first, size, MEM_DECOMMIT) != FALSE;
}

// Committed pages come when they are touched, and nothing brings them in sooner without changing them.
void populate(std::byte*, std::size_t) noexcept {}

// They want a privilege that few users have, and to be committed when they are reserved.
void prefer_huge_pages(std::byte*, std::size_t) noexcept {}

void refuse_huge_pages(std::byte*, std::size_t) noexcept {}

std::size_t resident_pages(const std::byte* first, std::size_t pages) noexcept {
    std::array<PSAPI_WORKING_SET_EX_INFORMATION, 512> asked{};
    std::size_t count = 0;
    for (std::size_t page = 0; page < pages; page += asked.size()) {
        const std::size_t part = std::min(asked.size(), pages - page);
        for (std::size_t i = 0; i != part; ++i) {
            // Only asks, but its member is not const.
            asked[i].VirtualAddress = const_cast<std::byte*>(first) + (page + i) * page_size();
        }
        if (K32QueryWorkingSetEx(GetCurrentProcess(), asked.data(),
                                 static_cast<DWORD>(part * sizeof(asked[0]))) != FALSE) {
            count += static_cast<std::size_t>(
                std::count_if(asked.begin(), asked.begin() + static_cast<std::ptrdiff_t>(part),
                              [](const auto& one) { return one.VirtualAttributes.Valid != 0; }));
        }
    }
    return count;
}

} // namespace handlepool::detail::system_memory
