// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/snapshots/archive_stream.hpp>
#include <handlepool/detail/snapshots/saved_elements.hpp>
#include <handlepool/detail/snapshots/saved_objects.hpp>
#include <handlepool/detail/snapshots/saved_type.hpp>

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace handlepool {

/// How a snapshot saves a column of a `pool<columns<...>>`: under this name, as bytes, or by an archive; and
/// by which steps it makes its elements of older ones (see upgrade). The name has 1 to 255 bytes, and no
/// control characters.
///
///     handlepool::pool<handlepool::columns<position, health, std::string>> movers(...);
///     game.add("movers", movers, handlepool::named_column("position"), handlepool::named_column("health"),
///              handlepool::named_column("title", string_archive()));
///
/// Names are what files know columns by: their order in the pool may be another one when they are loaded.
template <detail::upgrade_step_like... Steps>
detail::column_schema<detail::no_archive, Steps...> named_column(std::string name, Steps... steps) {
    return {std::move(name), {}, std::tuple<Steps...>(std::move(steps)...)};
}
template <class Archive, detail::upgrade_step_like... Steps>
    requires(!detail::upgrade_step_like<Archive>)
detail::column_schema<Archive, Steps...> named_column(std::string name, Archive archive, Steps... steps) {
    return {std::move(name), std::move(archive), std::tuple<Steps...>(std::move(steps)...)};
}

} // namespace handlepool
