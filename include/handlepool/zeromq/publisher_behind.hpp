// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <stdexcept>

namespace handlepool {

/// A publisher's thread does not keep up with the frames: so many bytes of deltas wait already that there is
/// no room for another one. The message names its frame and size, and how many bytes may wait.
class HANDLEPOOL_EXPORT publisher_behind : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace handlepool
