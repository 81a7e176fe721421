// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <stdexcept>

namespace handlepool {

/// Bytes that are no snapshot: damaged, cut off, or of another format. The message names where they come
/// from, the byte, the block that it is in, what is wrong, and what is allowed.
class HANDLEPOOL_EXPORT invalid_snapshot : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace handlepool
