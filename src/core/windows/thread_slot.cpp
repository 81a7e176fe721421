// SPDX-License-Identifier: MIT
#include "../threads/thread_slot.hpp"

#include <windows.h>

#include <atomic>

namespace handlepool::detail::this_thread {

namespace {

// The system's own, because what a compiler makes of thread_local may be gone before the thread's end is
// told. TLS_OUT_OF_INDEXES until the module is loaded.
constinit std::atomic<DWORD> slot{TLS_OUT_OF_INDEXES};
// In its place when the system has no slot left: then numbers are not given back, and the pool says so when
// it runs out of shards.
constinit thread_local std::uint32_t word_without_slot = 0;

DWORD own_slot() noexcept {
    return slot.load(std::memory_order::relaxed);
}

// Called by the system as a module is loaded, before any of its code runs, and as each thread ends.
void NTAPI on_event(void*, DWORD event, void* process_ends) noexcept {
    switch (event) {
    case DLL_PROCESS_ATTACH:
        slot.store(TlsAlloc(), std::memory_order::relaxed);
        break;
    case DLL_THREAD_DETACH:
        if (const std::uint32_t word = kept_word(); word != 0) {
            TlsSetValue(own_slot(), nullptr);
            thread_ends(word);
        }
        break;
    case DLL_PROCESS_DETACH:
        // Threads that end later would call into what is no longer there.
        if (process_ends == nullptr) {
            TlsFree(slot.exchange(TLS_OUT_OF_INDEXES, std::memory_order::relaxed));
        }
        break;
    default:
        break;
    }
}

} // namespace

std::uint32_t kept_word() noexcept {
    if (own_slot() == TLS_OUT_OF_INDEXES) {
        return word_without_slot;
    }
    // GetLastError() is the caller's.
    const DWORD error = GetLastError();
    void* const word_as_pointer = TlsGetValue(own_slot());
    SetLastError(error);
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(word_as_pointer));
}

void keep_word(std::uint32_t word) noexcept {
    if (own_slot() == TLS_OUT_OF_INDEXES) {
        word_without_slot = word;
        return;
    }
    TlsSetValue(own_slot(), reinterpret_cast<void*>(static_cast<std::uintptr_t>(word)));
}

std::uint32_t system_thread() noexcept {
    return GetCurrentThreadId();
}

} // namespace handlepool::detail::this_thread

// The list of such functions is put together by the linker, in the order of the sections' names: Y comes
// after those by which the C and C++ libraries destroy a thread's objects.
#if defined(_MSC_VER)
#pragma comment(linker, "/INCLUDE:_tls_used")
#pragma comment(linker, "/INCLUDE:handlepool_on_thread_event")
#pragma const_seg(".CRT$XLY")
extern "C" extern const PIMAGE_TLS_CALLBACK handlepool_on_thread_event =
    handlepool::detail::this_thread::on_event;
#pragma const_seg()
#else
extern "C" {
[[gnu::section(".CRT$XLY"), gnu::used]] extern const PIMAGE_TLS_CALLBACK handlepool_on_thread_event =
    handlepool::detail::this_thread::on_event;
}
#endif
