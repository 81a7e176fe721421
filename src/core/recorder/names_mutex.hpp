// SPDX-License-Identifier: MIT
#pragma once

#include "../process/process_state.hpp"

#include <handlepool/detail/base/config.hpp>

namespace handlepool::detail {

/// For what is made when the first name is kept or asked for. Fork waits for it: a child finds that whole.
HANDLEPOOL_EXPORT inline constinit constant_mutex names_mutex;

} // namespace handlepool::detail
