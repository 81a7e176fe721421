// SPDX-License-Identifier: MIT

// The operator new of libstdc++ calls malloc, that of an allocator's own library may not, and then the
// objects that it creates are not recorded. It is not put between, as malloc is: which operator new is behind
// depends on the library that calls it, as with plug-ins that bring libstdc++. But the summary says so.

#include "preload_log.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

using handlepool::stress::preload::counted_events;
using handlepool::stress::preload::is_recorded;
using handlepool::stress::preload::operator_new_calls_no_malloc;

#if __SIZEOF_SIZE_T__ == 8
constexpr char new_name[] = "_Znwm";
#else
constexpr char new_name[] = "_Znwj";
#endif

// The library that has a function; null where there is none.
const char* library_of(const void* function) {
    Dl_info found{};
    return function != nullptr && ::dladdr(function, &found) != 0 ? found.dli_fname : nullptr;
}

// Libraries are named by the loader once each.
bool is_in(const char* library, const void* function) {
    const char* const other = library_of(function);
    return library != nullptr && other != nullptr && std::strcmp(library, other) == 0;
}

[[gnu::constructor]] void try_operator_new() {
    if (!is_recorded()) {
        return;
    }
    // By this library, and not by the program: also the text of an error that a look-up in vain allocates,
    // and the next look-up frees.
    const counted_events tried;
    void* const found_new = ::dlsym(RTLD_DEFAULT, new_name);
    void* const found_delete = ::dlsym(RTLD_DEFAULT, "_ZdlPv");
    const char* const allocator = library_of(::dlsym(RTLD_NEXT, "malloc"));
    if (is_in(allocator, ::dlsym(RTLD_NEXT, "getpid")) || // libc's own
        !is_in(allocator, found_new) ||
        !is_in(allocator, found_delete)) { // a program's own calls what it likes
        return;
    }
    const std::uint64_t before = tried.so_far();
    void* const object = reinterpret_cast<void* (*)(std::size_t)>(found_new)(1);
    const bool calls_no_malloc = tried.so_far() == before;
    reinterpret_cast<void (*)(void*)>(found_delete)(object); // which may call free all the same
    if (calls_no_malloc) {
        const char* const folder = std::strrchr(allocator, '/');
        operator_new_calls_no_malloc(folder == nullptr ? allocator : folder + 1);
    }
}

} // namespace
