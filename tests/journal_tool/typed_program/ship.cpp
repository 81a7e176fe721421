// SPDX-License-Identifier: MIT
#include "ship.hpp"

namespace game {

std::int32_t ship::count = 0;

engine::engine() : thrust(0), burns(false) {}

} // namespace game
