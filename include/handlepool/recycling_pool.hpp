// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/recycler.hpp>
#include <handlepool/stable_pool.hpp>

/// `recycling_pool<T>` is a stable_pool that destroys no object while it is in use: where a stable_pool's
/// compaction destroys an object, this one calls `clear()`, and the next object in that place takes it over,
/// with whatever memory it owns. For vectors, strings, and what is made of them; see recycler for other
/// types. It differs from stable_pool in this:
///
/// - emplace() without arguments gives a cleared object. With an argument it assigns to a cleared object,
///   `object = argument`; where none is kept yet, the object is constructed from it. So T must be
///   constructible *and* assignable from the argument, and both must mean the same. What can't be assigned is
///   refused at compile time. The same goes for all other functions that create objects.
/// - emplace_with(fill) calls `fill(handle, object)`, which fills the cleared object.
/// - When an assignment throws, the object is cleared and stays kept; a constructor that throws leaves
///   nothing.
/// - T's destructor runs when the pool ends, in reset(), in shrink_to_fit() and by a capture_ring, for
///   objects that are cleared or were moved from. It must not create objects of the same pool.
///   shrink_to_fit() leaves what is kept in the places that other threads have claimed, where they create
///   their next objects: for each thread those of 63 and of up to three more groups of 64.
/// - In stats() a cleared object counts as destroyed. What kept objects own is not in its bytes.
