// SPDX-License-Identifier: MIT
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace handlepool::detail {

/// The name of a symbol as C++ has it, or the symbol itself. Throws std::bad_alloc.
inline std::string demangled(const char* symbol) {
    if (!std::string_view(symbol).starts_with("_Z")) {
        return symbol; // of a C function, whose name may be one of a type: "f" is float's
    }
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                      std::free);
    return name != nullptr ? name.get() : symbol;
}

} // namespace handlepool::detail
