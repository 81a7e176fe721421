// SPDX-License-Identifier: MIT
#pragma once

/// Two keys with the same hash in bags, found by trying.
namespace handlepool::test {

inline constexpr const char* colliding_keys[] = {"key 108735", "key 160574"};

} // namespace handlepool::test
