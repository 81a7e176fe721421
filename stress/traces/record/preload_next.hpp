// SPDX-License-Identifier: MIT
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace handlepool::stress::preload {

// The function of this name behind the recording library; null if there is none. A constructor of the library
// asks for it first, unless a call comes earlier: later, a program may call from a signal's handler, or in a
// child that shares its memory, where nothing can be looked up.
template <class Function>
Function* next(std::atomic<Function*>& function, const char* name) {
    Function* found = function.load(std::memory_order_relaxed);
    if (found == nullptr) {
        found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
        function.store(found, std::memory_order_relaxed);
    }
    return found;
}

} // namespace handlepool::stress::preload
