// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/memory/poison.hpp>

namespace handlepool::test {

/// Is the byte there closed for AddressSanitizer? Never without it.
inline bool is_poisoned([[maybe_unused]] const void* address) {
#if HANDLEPOOL_ADDRESS_SANITIZER
    return __asan_address_is_poisoned(address) != 0;
#else
    return false;
#endif
}

} // namespace handlepool::test
