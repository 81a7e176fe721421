// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <stdexcept>

namespace handlepool {

/// A file that is no journal, or one that is damaged before its end. The message names the file, the byte,
/// the frame whose entry is expected there, what is wrong, and what is allowed.
class HANDLEPOOL_EXPORT invalid_journal : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace handlepool
