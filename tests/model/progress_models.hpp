#pragma once

#include "model.hpp"

#include <array>
#include <cstddef>

namespace handlepool::model {

/// What a thread does that is stopped for ever, and what the others must be able to do nevertheless.
enum class operation : unsigned { emplace, find, contains, erase, compact };
inline constexpr std::array<const char*, 5> operation_names = {"emplace", "find", "contains", "erase",
                                                               "compact"};

/// How many accesses to atomics a call of each operation may make in a thread that was not stopped, and the
/// most that one has made. A compaction's end depends on the number of objects.
inline constexpr std::array<std::size_t, operation_names.size()> allowed_accesses = {64, 2, 1, 15, 0};
inline std::array<std::size_t, operation_names.size()> most_accesses{};

/// In which pool that is.
enum class scene : unsigned {
    roomy,
    tight,        ///< no room is left when all idle slots are used: creation may fail, but not wait
    behind_a_lock ///< a spinlock, so that the model must fail
};
inline constexpr std::array<const char*, 3> scene_names = {"roomy", "tight", "behind a spinlock"};

/// A model whose first thread does `stopped`, and whose second one does everything else.
model_entry progress_model(operation stopped, scene where);

} // namespace handlepool::model
