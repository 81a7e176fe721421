// SPDX-License-Identifier: MIT
#pragma once

/// What a child of fork needs from the parent.
namespace handlepool::detail {

/// Has fork call `before` before it, unless that is null, and `after` after it, in the parent and in the
/// child. Does nothing where there is no fork, and where the system has no memory to note it.
void at_fork(void (*before)(), void (*after)()) noexcept;

/// Defined in pool_id_registry.cpp. Called before main where there is fork, so that no child finds the
/// registries half made.
void make_registries();

} // namespace handlepool::detail
