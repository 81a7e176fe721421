// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/snapshots/archive_stream.hpp>
#include <handlepool/detail/snapshots/saved_elements.hpp>
#include <handlepool/detail/snapshots/saved_type.hpp>

#include <type_traits>
#include <utility>

namespace handlepool {

/// How an object that a program saved as an Old becomes a New. A snapshot is given all steps from the oldest
/// version on, and takes those that lead from the one in the file to the present one:
///
///     struct ship_of_spring {
///         float x, y;
///     };
///     struct ship_of_summer {
///         static constexpr std::uint32_t snapshot_version = 1;
///         float x, y;
///         int hull;
///     };
///     struct ship {
///         static constexpr std::uint32_t snapshot_version = 2;
///         double x, y;
///         int hull;
///     };
///     game.add("ships", ships,
///              handlepool::upgrade<ship_of_spring, ship_of_summer>([](const ship_of_spring& old) {
///                  return ship_of_summer{old.x, old.y, 100};
///              }),
///              handlepool::upgrade<ship_of_summer, ship>([](const ship_of_summer& old) {
///                  return ship{old.x, old.y, old.hull};
///              }));
///
/// An Old is what the file has if its version, size, alignment and layout are those of the file; the names of
/// the types mean nothing. One that isn't trivially copyable needs the archive by which it was saved, and
/// then its version alone counts.
///
/// `function(old)` may throw. Then nothing is loaded: a std::exception is told as an invalid_snapshot that
/// names the object; std::bad_alloc, and what is no std::exception, leaves load() as it is.
template <class Old, class New, class Function>
    requires(std::is_trivially_copyable_v<Old> && std::is_invocable_r_v<New, const Function&, Old>)
detail::upgrade_step<Old, New, Function> upgrade(Function function) {
    return {std::move(function), {}};
}
template <class Old, class New, class Function, detail::archive_of<Old> Archive>
    requires(std::is_invocable_r_v<New, const Function&, Old>)
detail::upgrade_step<Old, New, Function, Archive> upgrade(Function function, Archive archive) {
    return {std::move(function), std::move(archive)};
}

} // namespace handlepool
