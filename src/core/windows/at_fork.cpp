// SPDX-License-Identifier: MIT
#include "../process/at_fork.hpp"

namespace handlepool::detail {

void at_fork(void (*)(), void (*)()) noexcept {}

} // namespace handlepool::detail
