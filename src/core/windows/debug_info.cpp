// SPDX-License-Identifier: MIT
#include "../recorder/debug_info.hpp"

namespace handlepool::detail {

std::string name_by_debug_info(std::uintptr_t, int) {
    return {};
}

} // namespace handlepool::detail
