// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/scratch_array.hpp>
#include <handlepool/detail/recorder/caller.hpp>

#include <cstddef>
#include <optional>

namespace handlepool::detail {

/// try_emplace_n of the pools: has `core` create `count` objects by `construct(memory)`, and writes their
/// handles. Erases what was made, unless all of it was written.
template <class Handle, class Core, class OutputIt, class Construct>
std::optional<OutputIt> emplace_n(Core& core, caller who, std::size_t count, OutputIt out,
                                  Construct construct) {
    using value_type = typename Handle::value_type;
    if (!core.has_room_for(count)) {
        return std::nullopt;
    }
    struct handles {
        ~handles() {
            for (std::size_t i = 0; i != count; ++i) {
                core.uncreate(made[i], who);
            }
        }
        Core& core;
        caller who;
        scratch_array<value_type> made;
        std::size_t count = 0;
    } all{core, who, scratch_array<value_type>(count)};
    if (!core.create_many(
            count, construct, [made = all.made.data()](std::size_t i, auto value) { made[i] = value; },
            who)) {
        return std::nullopt;
    }
    all.count = count;
    for (std::size_t i = 0; i != count; ++i) {
        *out = Handle::from_value(all.made[i]);
        ++out;
    }
    all.count = 0;
    return out;
}

} // namespace handlepool::detail
