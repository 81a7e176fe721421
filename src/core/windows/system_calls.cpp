// SPDX-License-Identifier: MIT
#include "../recorder/system_calls.hpp"

#include <windows.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace handlepool::detail {

// The name that SetThreadDescription gives is UTF-16, and not in all versions of the system: a task is named
// instead.
void copy_thread_name(std::span<char> to) noexcept {
    std::snprintf(to.data(), to.size(), "%lu", static_cast<unsigned long>(GetCurrentThreadId()));
}

std::size_t find_callers(const void*, std::uintptr_t caller, std::span<std::uint64_t> to) noexcept {
    std::array<void*, 32> frames{};
    const std::size_t found =
        CaptureStackBackTrace(1, static_cast<ULONG>(frames.size()), frames.data(), nullptr);
    to[0] = caller;
    std::size_t count = 1;
    const auto last = frames.begin() + static_cast<std::ptrdiff_t>(found);
    auto next = std::find(frames.begin(), last, reinterpret_cast<void*>(caller));
    while (next != last && ++next != last && count != to.size()) {
        to[count++] = reinterpret_cast<std::uintptr_t>(*next);
    }
    return count;
}

std::string name_by_tables(std::uintptr_t address) {
    HMODULE module = nullptr;
    std::array<char, 32> number{};
    if (GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                               GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                           reinterpret_cast<LPCSTR>(address - 1), &module) == 0) {
        std::snprintf(number.data(), number.size(), "%#zx", static_cast<std::size_t>(address));
        return number.data();
    }
    std::array<char, MAX_PATH> path{};
    const DWORD length = GetModuleFileNameA(module, path.data(), static_cast<DWORD>(path.size()));
    const std::string_view name(path.data(), length);
    std::snprintf(number.data(), number.size(), "+%#zx",
                  static_cast<std::size_t>(address - 1 - reinterpret_cast<std::uintptr_t>(module)));
    return std::string(name.substr(name.find_last_of('\\') + 1)).append(number.data());
}

} // namespace handlepool::detail
