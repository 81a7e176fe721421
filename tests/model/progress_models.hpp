// SPDX-License-Identifier: MIT
#pragma once

#include "model.hpp"

#include <support/steps/step_bounds.hpp>

#include <array>

namespace handlepool::model {

using support::stepped_operation;

/// What a thread does that is stopped for ever; the others must be able to do all of it but compact.
inline constexpr std::array stopped_operations{stepped_operation::emplace, stepped_operation::find,
                                               stepped_operation::contains, stepped_operation::erase,
                                               stepped_operation::compact};

/// The most accesses to atomics that a call has made in a thread that was not stopped.
inline support::step_counts most_accesses{};

/// In which pool that is.
enum class scene : unsigned {
    roomy,
    tight,        ///< no room is left when all idle slots are used: creation may fail, but not wait
    behind_a_lock ///< a spinlock, so that the model must fail
};
inline constexpr std::array<const char*, 3> scene_names = {"roomy", "tight", "behind a spinlock"};

/// A model whose first thread does `stopped`, and whose second one does everything else.
model_entry progress_model(stepped_operation stopped, scene where);

} // namespace handlepool::model
