// SPDX-License-Identifier: MIT
#include "../recorder/system_calls.hpp"

#include "demangled.hpp"

#include <handlepool/detail/recorder/caller.hpp>

#include <dlfcn.h>
#include <pthread.h>

#include <array>
#include <cstdio>
#include <string_view>

#if defined(__ELF__)
#include <elf.h>
#include <link.h>
#endif

namespace handlepool::detail {

namespace {

/// Where the calling thread's stack lies; nowhere when the system doesn't say.
struct stack_range {
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    bool is_known = false;
};
constinit thread_local stack_range own_stack;

stack_range find_stack() noexcept {
    stack_range found{.is_known = true};
#if defined(__APPLE__)
    found.last = reinterpret_cast<std::uintptr_t>(pthread_get_stackaddr_np(pthread_self()));
    found.first = found.last - pthread_get_stacksize_np(pthread_self());
#elif defined(__linux__)
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void* first = nullptr;
        std::size_t size = 0;
        if (pthread_attr_getstack(&attributes, &first, &size) == 0) {
            found.first = reinterpret_cast<std::uintptr_t>(first);
            found.last = found.first + size;
        }
        pthread_attr_destroy(&attributes);
    }
#endif
    return found;
}

// What both ABIs have at a frame pointer.
struct frame_record {
    std::uintptr_t outer;
    std::uintptr_t return_address;
};
#if defined(__x86_64__) || defined(__aarch64__)
constexpr bool has_frame_records = true;
#else
constexpr bool has_frame_records = false;
#endif

bool is_record(std::uintptr_t address, const stack_range& stack) noexcept {
    return address % sizeof(void*) == 0 && address >= stack.first && address < stack.last &&
           stack.last - address >= sizeof(frame_record);
}

} // namespace

void copy_thread_name(std::span<char> to) noexcept {
#if defined(__linux__) || defined(__APPLE__)
    if (pthread_getname_np(pthread_self(), to.data(), to.size()) == 0) {
        return;
    }
#endif
    to.front() = '\0';
}

// The stack of a fiber is none of its thread's: then there is one address.
// Not looked at by AddressSanitizer, for which what is read may lie between variables.
[[gnu::no_sanitize_address]]
std::size_t find_callers(const void* frame, std::uintptr_t caller, std::span<std::uint64_t> to) noexcept {
    if (!own_stack.is_known) {
        own_stack = find_stack();
    }
    std::size_t count = 0;
    to[count++] = caller;
    std::uintptr_t at = reinterpret_cast<std::uintptr_t>(frame);
    if (!has_frame_records || !is_record(at, own_stack)) {
        return count;
    }
    while (count != to.size()) {
        const std::uintptr_t outer = reinterpret_cast<const frame_record*>(at)->outer;
        // What a function without a frame pointer has left there is any word; the stack's own memory can be
        // read whatever it holds.
        if (outer <= at || !is_record(outer, own_stack)) {
            break;
        }
        const std::uintptr_t address = reinterpret_cast<const frame_record*>(outer)->return_address;
        if ((address & native_code::mask) < 4096) {
            break;
        }
        to[count++] = address & native_code::mask;
        at = outer;
    }
    return count;
}

std::string name_by_tables(std::uintptr_t address) {
    Dl_info found{};
    // Before the address, which may be that of the next function.
    if (dladdr(reinterpret_cast<const void*>(address - 1), &found) == 0 || found.dli_fname == nullptr) {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "%#zx", static_cast<std::size_t>(address));
        return text.data();
    }
    std::uintptr_t offset = address - 1 - reinterpret_cast<std::uintptr_t>(found.dli_fbase);
#if defined(__ELF__)
    // What stands at fixed addresses is named by them.
    if (static_cast<const ElfW(Ehdr)*>(found.dli_fbase)->e_type == ET_EXEC) {
        offset = address - 1;
    }
#endif
    const std::string_view path = found.dli_fname;
    std::string text;
    if (found.dli_sname != nullptr) {
        text.append(demangled(found.dli_sname)).append(" (");
    }
    std::array<char, 32> number{};
    std::snprintf(number.data(), number.size(), "+%#zx", static_cast<std::size_t>(offset));
    text.append(path.substr(path.rfind('/') + 1)).append(number.data());
    return found.dli_sname != nullptr ? text + ")" : text;
}

} // namespace handlepool::detail
