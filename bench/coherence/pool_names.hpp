// SPDX-License-Identifier: MIT
#pragma once

#include "address_map.hpp"

#include <string_view>

namespace handlepool::coherence {

/// Says how the words of a pool with this name are called, which is made afterwards with sim_policy.
void name_parts_of_pool(address_map& memory, std::string_view pool);

} // namespace handlepool::coherence
