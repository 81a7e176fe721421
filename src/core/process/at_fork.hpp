// SPDX-License-Identifier: MIT
#pragma once

/// What a child of fork needs from the parent.
namespace handlepool::detail {

/// Has fork call `before` before it, unless that is null, and `after` after it, in the parent and in the
/// child. Does nothing where there is no fork, and where the system has no memory to note it.
// The system forgets the functions with the module that has told it of them. So each module has its own copy:
// a plug-in's functions end with it, also where it uses the rest of the library in the program.
#if !defined(_WIN32)
[[gnu::visibility("hidden")]]
#endif
void at_fork(void (*before)(), void (*after)()) noexcept;

// Called where there is fork before any other object of static storage duration is made: so that the module
// that the others see calls them, and not one that such an object loads, which may be unloaded.

/// Defined in pool_id_registry.cpp. So that no child finds the registries half made.
void make_registries();

/// Defined in recorder/depots.cpp. So that no child finds names_mutex locked by a thread that it has not.
void have_forks_wait_for_names() noexcept;

} // namespace handlepool::detail
