// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>

namespace handlepool::detail {

/// The mutex of the default policy. A class, so that the policy can name it without including <mutex>.
class mutex : public std::mutex {};

} // namespace handlepool::detail
